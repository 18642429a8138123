# SPDX-License-Identifier: Apache-2.0
"""Words of a file are shown escaped wherever the command prints them, also into a pipe, which may end on a terminal."""
import json
import subprocess

import pytest

from conftest import KFE, SMALL
from model_file import rewrite

PAGE = "</script><img src=x>"
EVIL = "x\x1b[2J\x9b31m\u202etxt\nfeatures    9\x7f" + PAGE
SHOWN = "x\\x1b[2J\\xc2\\x9b31m\\xe2\\x80\\xaetxt\\x0afeatures    9\\x7f"
OBEYED = ("\x1b", "\x9b", "\u202e", "\x7f", "\nfeatures    9")

# ---- every word of a model ----


def leaves(value, place=()):
    """The places of all texts in metadata, also in its texts that are JSON."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        yield from leaves(json.loads(value), (*place, "JSON"))
    elif isinstance(value, (dict, list)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*place, key))
    elif isinstance(value, str):
        yield place


def planted(value, place, word):
    """The value with a word planted at a place."""
    if not place:
        return word(value)
    if place[0] == "JSON":
        return json.dumps(planted(json.loads(value), place[1:], word))
    value[place[0]] = planted(value[place[0]], place[1:], word)
    return value


MODELS = {
    "encoded": (["--encode", "auto", "--missing", "most-frequent"], "colors.csv"),
    "prepared": (["--view", "l=x,y", "--view", "r=z", "--prepare", "l=standard,cut:keep=1..1;r=log:offset=1"], "numbers.csv"),
}
COMMANDS = [["info", "m.kfe"], ["info", "--json", "m.kfe"], ["explain", "m.kfe"], ["explain", "--json", "m.kfe"], ["explain", "m.kfe", "DATA"],
            ["evaluate", "m.kfe", "DATA"], ["evaluate", "--json", "m.kfe", "DATA"], ["predict", "m.kfe", "DATA"], ["transform", "m.kfe", "DATA"],
            ["predict", "--flag-outliers", "--probabilities", "m.kfe", "DATA"],
            ["report", "m.kfe", "--test", "DATA", "-o", "r.html"], ["plot", "confusion", "m.kfe", "DATA", "-o", "p.svg"],
            ["export", "m.kfe", "-o", "m.onnx"]]
WRITES_DATA = {"predict", "transform"}  # where words stay as they are


def write_tables(kfe):
    draw = [(f"{(7 * i) % 5}.{i}", f"{(3 * i) % 4}", f"{i % 6}.5", "ab"[i % 2]) for i in range(24)]
    kfe.write("numbers.csv", "id,x,y,z,kind\n" + "".join(f"{i},{','.join(row)}\n" for i, row in enumerate(draw)))
    colors = ["red", "blue", "", "green"]
    kfe.write("colors.csv", "id,x,color,kind\n" + "".join(f"{i},{row[0]},{colors[i % 4]},{row[3]}\n" for i, row in enumerate(draw)))


def header_of(raw):
    return json.loads(raw[8:8 + int.from_bytes(raw[:8], "little")])


def is_safe(text):
    return not any(what in text for what in OBEYED)


def run(kfe, *command):
    """The command may refuse such a file; what it then says is safe too."""
    done = subprocess.run([KFE, *command], cwd=kfe.folder, capture_output=True, timeout=300)
    assert done.returncode in (0, 2), (command, done.stderr)
    done.out, done.err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    return done


def check_all(kfe, data, place):
    """Runs every command; returns whether `info` showed the word. What it refuses, every command refuses alike."""
    for template in COMMANDS:
        command = [data if word == "DATA" else word for word in template]
        done = run(kfe, *command)
        assert is_safe(done.err) and (command[0] in WRITES_DATA or is_safe(done.out)), (place, command, done.out, done.err)
        if "--json" in command and done.out:
            json.loads(done.out)
        if template == COMMANDS[0]:
            shown = SHOWN in done.out
            if done.returncode:
                return False
    for name in ["r.html", "p.svg"]:
        if kfe.path(name).exists():
            page = kfe.path(name).read_text()
            assert "\x1b" not in page and PAGE not in page, (place, name)
            kfe.path(name).unlink()
    return shown


@pytest.mark.parametrize("model", MODELS)
def test_every_word_of_a_model_is_escaped(kfe, monkeypatch, model):
    monkeypatch.setenv("KFE_CHARTS", "")
    write_tables(kfe)
    flags, data = MODELS[model]
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=1", "--learner", "svm", "--calibration", "platt", "--id", "id", *flags, data, "-o", "m.kfe")
    clean = kfe.path("m.kfe").read_bytes()
    header = header_of(clean)
    shown = set()
    for place in leaves(header["__metadata__"]):
        for word in (lambda old: EVIL, lambda old: old + EVIL):
            kfe.path("m.kfe").write_bytes(clean)
            rewrite(kfe.path("m.kfe"), lambda metadata: planted(metadata, place, word))
            if check_all(kfe, data, place):
                shown.add(place[0])
    for name in header:
        if name != "__metadata__":
            kfe.path("m.kfe").write_bytes(clean)
            rewrite(kfe.path("m.kfe"), lambda metadata: None, {name: name + EVIL})
            if check_all(kfe, data, name):
                shown.add(name)
    assert shown >= {"method", "parameters", "kfe_version", "views", "classes", "learner", "record.learner-c"}, shown


def test_json_and_predictions_keep_the_words(kfe):
    kfe.write("small.csv", SMALL)
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.5", "--learner", "svm", "small.csv", "-o", "m.kfe")
    rewrite(kfe.path("m.kfe"), lambda metadata: metadata.update(classes=json.dumps(["a", EVIL])))
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
