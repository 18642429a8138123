# SPDX-License-Identifier: Apache-2.0
"""Output files: links, permissions, leftovers, checks before the work starts, and control characters on a terminal."""
import os
import pty
import shutil
import subprocess
import tempfile

import pytest

from conftest import KFE, SMALL

EVIL = "\x1b]0;evil\x07"


def commands(output):
    """Every command that writes a file, with arguments that read small.csv and m.kfe."""
    return {
        "fit": ["fit", "-q", "-m", "koc", "small.csv", "-o", output],
        "transform": ["transform", "-q", "m.kfe", "small.csv", "-o", output],
        "predict": ["predict", "-q", "p.kfe", "small.csv", "-o", output],
        "convert": ["convert", "-q", "small.csv", output],
        "generate": ["generate", "-q", "twonorm", "--n", "20", "-o", output],
        "cv": ["cv", "-q", "-m", "koc", "--learner", "knn", "--folds", "2", "small.csv", "--save", output],
    }


@pytest.fixture
def ready(kfe):
    kfe.model()
    kfe.ok("fit", "-q", "-m", "koc", "--learner", "knn", "small.csv", "-o", "p.kfe")
    return kfe


@pytest.mark.parametrize("name", commands(""))
def test_links_are_followed(ready, name):
    ready.path("kept").mkdir()
    os.symlink("kept/target.csv", ready.path("link.csv"))  # a dangling link
    ready.ok(*commands("link.csv")[name])
    assert ready.path("link.csv").is_symlink()
    first = ready.path("kept/target.csv").read_bytes()
    ready.ok(*commands("link.csv")[name])
    assert ready.path("link.csv").is_symlink() and ready.path("kept/target.csv").read_bytes() == first
    assert os.listdir(ready.path("kept")) == ["target.csv"]


@pytest.mark.parametrize("name", [name for name in commands("") if name != "generate"])
def test_outputs_are_checked_before_the_work(ready, name):
    """The inputs are broken: a command that read them first would complain about them instead."""
    for broken in ("small.csv", "m.kfe", "p.kfe"):
        ready.write(broken, "not what it should be")
    ready.path("folder").mkdir()
    assert "is a directory" in ready.refused(*commands("folder")[name])
    assert "make it first" in ready.refused(*commands("nowhere/out.csv")[name])
    os.symlink("loop.csv", ready.path("loop.csv"))
    assert "circle" in ready.refused(*commands("loop.csv")[name])
    assert "shorter name" in ready.refused(*commands("x" * 252 + ".csv")[name])


@pytest.fixture
def open_folder():
    """A folder that every user may use; pytest's folders are private."""
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["fit", "convert"])
def test_read_only_file_is_refused(ready, name, open_folder):
    for source in ("small.csv", "m.kfe"):
        shutil.copy(ready.path(source), open_folder)
        os.chmod(os.path.join(open_folder, source), 0o644)
    output = os.path.join(open_folder, "out.csv")
    with open(output, "w") as file:
        file.write("precious")
    os.chmod(output, 0o444)
    options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        done = subprocess.run([KFE, *commands("out.csv")[name]], cwd=open_folder, capture_output=True, text=True,
                              timeout=300, **options)
    except PermissionError:
        pytest.skip("another user may not run this build of kfe")
    assert done.returncode == 2 and "you may not write it" in done.stderr, done.stderr
    assert open(output).read() == "precious"
    assert sorted(os.listdir(open_folder)) == ["m.kfe", "out.csv", "small.csv"]


def test_long_name(ready):
    name = "x" * 251 + ".csv"
    ready.ok(*commands(name)["convert"])
    assert ready.path(name).exists() and not [f for f in ready.files() if f.endswith(".part")]


def test_leftovers_of_killed_runs_are_removed(ready):
    ready.write("out.csv.0123abcd.part", "half")
    ready.write("other.csv.0123abcd.part", "somebody else's")
    ready.ok(*commands("out.csv")["convert"])
    assert "out.csv.0123abcd.part" not in ready.files() and "other.csv.0123abcd.part" in ready.files()


def on_terminal(kfe, *arguments):
    """Standard output and error together, as a terminal gets them."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([KFE, *arguments], cwd=kfe.folder, stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    process.wait(timeout=300)
    return shown


@pytest.fixture
def evil(kfe):
    """Names of classes, columns and a file that contain control sequences."""
    text = SMALL.replace(",a\n", f",{EVIL}a\n").replace("x,y", f"{EVIL}x,y")
    kfe.write(f"{EVIL}.csv", text)
    kfe.ok("fit", "-q", "-m", "koc", "--learner", "knn", f"{EVIL}.csv", "-o", "e.kfe")
    return kfe


@pytest.mark.parametrize("arguments", [
    ["fit", "-m", "koc", f"{EVIL}.csv", "-o", f"{EVIL}.kfe"],
    ["info", "e.kfe"],
    ["predict", "e.kfe", f"{EVIL}.csv"],
    ["evaluate", "e.kfe", f"{EVIL}.csv"],
    ["evaluate", "e.kfe", f"{EVIL}.csv", "--json"],
    ["cv", "-m", "koc", "--learner", "knn", "--folds", "2", f"{EVIL}.csv"],
    ["convert", f"{EVIL}.csv", "-"],
    ["convert", f"missing{EVIL}.csv", "-"],
    ["fit", "-m", EVIL, f"{EVIL}.csv", "-o", "x.kfe"],
    ["fit", f"--{EVIL}", f"{EVIL}.csv"],
    [EVIL],
    ["methods", EVIL],
], ids=lambda arguments: "-".join(arguments[:2]).replace(EVIL, "EVIL"))
def test_a_terminal_is_not_told_what_to_do(evil, arguments):
    shown = on_terminal(evil, *arguments)
    assert b"\x07" not in shown and b"\x1b]" not in shown, shown
    assert b"evil" in shown or arguments[0] == "info", shown


def test_pipes_and_messages(evil):
    """Data in a pipe keeps its bytes; a message never contains control characters."""
    assert EVIL in evil.ok("predict", "-q", "e.kfe", f"{EVIL}.csv").out
    assert EVIL in evil.ok("convert", "-q", f"{EVIL}.csv", "-").out
    assert "\\x1b]0;evil\\x07" in evil.refused("info", f"missing{EVIL}.kfe")
    assert "\x1b" not in evil.refused("fit", "-m", EVIL, f"{EVIL}.csv", "-o", "x.kfe")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("command", [["tune", "--trials", "2", "--time", "none", "-o"],
                                     ["cv", "-m", "oc", "--learner", "knn", "--save"]])
def test_results_are_printed_before_the_model_cannot_be_saved(kfe, command):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    done = kfe.run(*command, "/dev/full", "iris.csv", status=2)
    assert "No space left" in done.err and "accuracy" in done.out


@pytest.mark.parametrize("command", [["fit", "-q", "-m", "koc"], ["cv", "-q", "-m", "koc", "--learner", "knn", "--folds", "2"],
                                     ["tune", "-q", "--time", "1s"]])
@pytest.mark.parametrize("flag", ["-o", "--output", "--save"])
def test_a_model_is_written_by_either_flag(ready, command, flag):
    ready.ok(*command, "small.csv", flag, "either.kfe")
    assert ready.path("either.kfe").stat().st_size > 0


@pytest.mark.parametrize("command", [["fit", "-m", "koc", "small.csv", "-o", "new.kfe", "--report"], ["evaluate", "m.kfe", "small.csv", "--report"],
                                     ["cv", "-m", "koc", "--learner", "knn", "small.csv", "--report"], ["report", "m.kfe", "-o"],
                                     ["reproduce", "anything", "--report"]], ids=lambda command: command[0])
def test_reports_are_pages(kfe, command):
    kfe.model()
    kfe.refused(*command, "page.txt", says="'page.txt': reports are HTML pages; give a name that ends in .html")
    assert "page.txt" not in kfe.files()


def test_a_folder_of_data_that_does_not_exist_is_named(kfe):
    kfe.refused("reproduce", "anything", "--data", "nowhere", says="--data: there is no folder nowhere")


def test_metrics_are_checked_before_data_is_read(ready):
    ready.ok("fit", "-q", "-m", "koc", "--learner", "knn", "small.csv", "-o", "m.kfe")
    ready.refused("evaluate", "m.kfe", "nowhere.csv", "--metrics", "acuracy", says="did you mean 'accuracy'?")
    ready.refused("evaluate", "m.kfe", "nowhere.csv", "--metrics", "rmse", says="metric rmse is for real targets")
    ready.refused("evaluate", "m.kfe", "nowhere.csv", "--metrics", "f1", says="nowhere.csv")
