# SPDX-License-Identifier: Apache-2.0
"""Flags of learners: anywhere on the line, in the help, in completion and on the man pages."""
import json
import shutil
import subprocess

import pytest

from conftest import KFE

LEARNERS = ("knn", "svm", "linear-svm", "ls", "centroid")


def test_flags_of_learners_may_stand_anywhere(kfe):
    kfe.ok("generate", "iris", "-o", "train.csv")
    forms = (["--learner", "svm", "--C", "7"], ["--C=7", "--learner=svm"], ["--learner", "svm:C=7"])
    models = []
    for form in forms:
        kfe.ok("fit", "-q", *form, "-m", "koc", "-k", "rbf:gamma=0.3", "train.csv", "-o", "m.kfe")
        models.append(kfe.path("m.kfe").read_bytes())
    assert models[0] == models[1] == models[2]


def test_help_shows_both_families(kfe):
    text = kfe.ok("fit", "-m", "koc", "--learner", "svm", "--help").out
    assert "Flags of method koc" in text and "Flags of learner svm" in text
    assert "--clusters-per-class" in text and "--class-weights" in text
    listed = kfe.ok("fit", "--help").out
    assert "kfe fit -m NAME --help" in listed and "kfe fit --learner NAME --help" in listed
    for entry in json.loads(kfe.ok("learners", "--json").out):
        assert entry == json.loads(kfe.ok("learners", entry["name"], "--json").out)
        for command in ("fit", "cv", "compare"):
            text = kfe.ok(command, "--learner", entry["name"], "--help").out
            for param in entry["parameters"]:
                assert f"--{param['name']}" in text and f"  {param['name']}" in kfe.ok("learners", entry["name"]).out
    for flag in ("--folds", "--repeats", "--inner-folds", "--metrics", "--split-file"):
        assert flag in kfe.ok("cv", "--help").out and flag in kfe.ok("compare", "--help").out
    assert "--bold" in kfe.ok("compare", "--help").out and "--positive" in kfe.ok("evaluate", "--help").out
    assert "-o, --output" in kfe.ok("reproduce", "--help").out
    json.loads(kfe.ok("reproduce", "--list", "--json").out)


def test_completion_knows_learners(kfe):
    kfe.write("complete.sh", kfe.ok("help", "--completion", "bash").out)

    def complete(*words):
        script = ("source ./complete.sh; COMP_WORDS=(kfe \"$@\"); COMP_CWORD=$#; _kfe; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-c", script, "bash", *words], cwd=kfe.folder, capture_output=True, check=True)
        assert done.stderr == b""
        return done.stdout.decode().split()

    assert set(LEARNERS) <= set(complete("fit", "--learner", ""))
    assert complete("fit", "--learner", "svm", "--cl") == ["--class-weight", "--class-weights"]
    flags = complete("cv", "-m", "koc", "--learner", "svm", "--")
    assert {"--C", "--clusters-per-class", "--grid", "--inner-folds", "--scale", "--label"} <= set(flags)
    assert "--class-weights" not in complete("cv", "-m", "koc", "--")
    assert complete("learners", "kn") == ["knn"]
    assert complete("ev") == ["evaluate"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("page", ["fit", "predict", "evaluate", "cv", "compare", "reproduce", "learners"])
def test_man_pages_render(kfe, page):
    source = subprocess.run([KFE, "help", "--man", page], capture_output=True, check=True).stdout
    done = subprocess.run(["groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-P-cbou"], input=source, capture_output=True,
                          check=True)
    assert done.stderr == b"", done.stderr.decode()
    text = done.stdout.decode()
    assert f"kfe-{page}" in text.replace("‐", "-").replace("−", "-")
    if page in ("fit", "cv", "compare"):
        assert "class-weights" in text.replace("‐", "-").replace("−", "-") and "LEARNERS" in text
