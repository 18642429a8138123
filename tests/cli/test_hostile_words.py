# SPDX-License-Identifier: Apache-2.0
"""Words of a file are shown escaped wherever the command prints them, also into a pipe, which may end on a terminal."""
import json

import pytest

from conftest import SMALL
from model_file import rewrite

EVIL = "x\x1b[2J\x9b31m\u202etxt\nfeatures    9\x7f"
OBEYED = ("\x1b", "\x9b", "\u202e", "\x7f", "\nfeatures    9")
WORDS = ["method", "parameters", "kfe_version", "label_name", "view", "columns", "classes", "learner", "learner parameters"]


def plant(metadata, word):
    if word == "view":
        views = json.loads(metadata["views"])
        views[0]["name"] = EVIL
        metadata["views"] = json.dumps(views)
    elif word == "columns":
        views = json.loads(metadata["views"])
        views[0]["column_names"] = [f"{EVIL}{j}" for j in range(views[0]["columns"])]
        metadata["views"] = json.dumps(views)
    elif word == "classes":
        metadata["classes"] = json.dumps(["a", EVIL])
    elif word.startswith("learner"):
        learner = json.loads(metadata["learner"])
        learner["name" if word == "learner" else "parameters"] = EVIL
        metadata["learner"] = json.dumps(learner)
    else:
        metadata[word] = EVIL


def hostile(kfe, word):
    kfe.write("small.csv", SMALL)
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.5", "--learner", "svm", "small.csv", "-o", "m.kfe")
    rewrite(kfe.path("m.kfe"), lambda metadata: plant(metadata, word))
    return "m.kfe"


def is_safe(text):
    return not any(what in text for what in OBEYED)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("command", [("info", "m.kfe"), ("info", "--json", "m.kfe"), ("explain", "m.kfe"), ("explain", "--json", "m.kfe"),
                                     ("explain", "m.kfe", "small.csv"), ("evaluate", "m.kfe", "small.csv"),
                                     ("evaluate", "--json", "m.kfe", "small.csv"), ("export", "m.kfe", "-o", "m.onnx")],
                         ids=" ".join)
def test_what_the_command_prints_is_escaped(kfe, word, command):
    hostile(kfe, word)
    done = run(kfe, command)
    assert is_safe(done.out) and is_safe(done.err), (done.out, done.err)
    if command == ("info", "m.kfe") and word not in ("label_name", "columns"):
        assert "x\\x1b[2J\\xc2\\x9b31m\\xe2\\x80\\xaetxt\\x0afeatures    9\\x7f" in done.out
    if "--json" in command and done.out:
        json.loads(done.out)


def run(kfe, command):
    """The command may refuse such a file; what it then says is safe too."""
    try:
        return kfe.ok(*command)
    except AssertionError:
        return kfe.run(*command, status=2)


def test_json_and_predictions_keep_the_words(kfe):
    hostile(kfe, "classes")
    assert EVIL in json.loads(kfe.ok("info", "--json", "m.kfe").out)["classes"]
    kfe.ok("predict", "-q", "m.kfe", "small.csv", "-o", "p.csv")
    assert EVIL.encode() in kfe.path("p.csv").read_bytes()
    assert EVIL in kfe.ok("predict", "-q", "m.kfe", "small.csv").out


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"\xc3", b"\xed\xa0\x80"], ids=["bytes", "half", "surrogate"])
def test_names_that_are_not_utf8(kfe, raw):
    kfe.write("odd.csv", SMALL.encode().replace(b"x,y", b"x" + raw + b",y"))
    kfe.ok("fit", "-m", "koc", "--learner", "knn", "odd.csv", "-o", "m.kfe")
    for command in (("info", "m.kfe"), ("evaluate", "m.kfe", "odd.csv"), ("explain", "m.kfe", "odd.csv"),
                    ("info", "--json", "m.kfe"), ("evaluate", "--json", "m.kfe", "odd.csv")):
        done = kfe.ok(*command)
        assert raw not in done.stdout and raw not in done.stderr
        done.stdout.decode()
        done.stderr.decode()


# ---- names that are cut ----


def labelled(first, second):
    return "x,y,class\n" + "".join(f"{i % 7},{(3 * i) % 5},{(first, second)[i % 2]}\n" for i in range(24))


@pytest.mark.parametrize("letter", ["k", "ä", "漢"])
def test_confusion_tables_mark_what_they_cut(kfe, letter):
    long, fits = letter * 15 + "one" + letter * 5, letter * 16
    kfe.write("d.csv", labelled(long, fits))
    kfe.ok("fit", "-q", "-m", "koc", "--learner", "knn", "d.csv", "-o", "m.kfe")
    header = kfe.ok("evaluate", "m.kfe", "d.csv").out.splitlines()
    header = header[header.index("true class in rows, predicted class in columns") + 1]
    assert sorted(header.split()) == sorted([letter * 15 + "…", fits])


def test_explanations_mark_what_they_cut(kfe):
    name, fits = "w" * 40, "v" * 24
    kfe.write("d.csv", labelled("a", "b").replace("x,y,", f"{name},{fits},"))
    kfe.ok("fit", "-q", "-m", "pls", "--learner", "ls", "d.csv", "-o", "m.kfe")
    words = kfe.ok("explain", "m.kfe").out.split()
    assert "w" * 23 + "…" in words and fits in words and "w" * 24 not in words


def test_summaries_mark_what_they_cut(kfe):
    kfe.write("d.csv", labelled("l" * 41, "m" * 40))
    err = kfe.ok("fit", "-m", "koc", "d.csv", "-o", "m.kfe").err
    assert "l" * 40 + "…" in err and "m" * 40 + ")" in err
