# SPDX-License-Identifier: Apache-2.0
"""Messages of the library name parameters neutrally: {missing=mean}, never --missing mean (src/core/wording.h)."""
import json
import pathlib
import re

import pytest

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src"
WORDING = SOURCES / "core" / "wording.c"  # the only file that knows how hosts spell parameters
MARK = re.compile(r"\{([A-Za-z][A-Za-z0-9-]*)(?:=([^{}]*))?\}")
FLAG = re.compile(r"(?<![-\w])--[A-Za-z][\w-]*")
TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\])'|\"(?:\\.|[^\"\\\n])*\"", re.S)

# These calls do not translate marks: a mark in their strings would reach the user unchanged.
UNTRANSLATED = ("kfe_i_text_puts", "kfe_i_text_printf", "kfe_i_text_add", "snprintf", "json_string", "json_pack")


def sources():
    return [path for path in sorted(SOURCES.rglob("*.[ch]")) if path != WORDING]


def literals(text):
    """Yields adjacent string literals joined, with their positions; skips comments and character constants."""
    joined, end = [], None
    for token in TOKEN.finditer(text):
        if token.group()[0] != '"':
            continue
        if joined and end is not None and not text[end:token.start()].strip(" \n\\"):
            joined[-1][1] += token.group()[1:-1]
        else:
            joined.append([token.start(), token.group()[1:-1]])
        end = token.end()
    return joined


def enclosing_call(text, place):
    """The function whose arguments contain this position; '' outside of calls."""
    depth = 0
    for i in range(place - 1, -1, -1):
        if text[i] == ")":
            depth += 1
        elif text[i] == "(" and depth > 0:
            depth -= 1
        elif text[i] == "(":
            name = re.search(r"(\w+)\s*$", text[:i])
            if name and name.group(1) not in ("if", "return"):
                return name.group(1)
        elif text[i] in ";{}" and depth == 0:
            return ""
    return ""


def where(path, text, place):
    return f"{path.relative_to(SOURCES.parent)}:{text.count(chr(10), 0, place) + 1}"


@pytest.fixture
def parameters(kfe):
    """All parameters of the tables and the command line, with their allowed words ([]: any value)."""
    known = {}

    def add_flags(*arguments):
        # "  --missing WORD" starts the help of a flag; its words are in the parenthesis at the end.
        for help_text in re.split(r"\n(?=\s+(?:-\w, )?--)", kfe.ok(*arguments, "--help").out):
            name = re.match(r"\s+(?:-\w, )?--([\w-]+)", help_text)
            if name:
                known.setdefault(name.group(1), []).append(" ".join(help_text.split()))

    overview = kfe.ok("help").out
    for command in re.findall(r"^  ([a-z]+)  ", overview, re.M):
        add_flags(command)
    for family, flag in (("method", "-m"), ("learner", "--learner")):
        for entry in json.loads(kfe.ok(family + "s", "--json").out):
            add_flags("fit", *(["-m", "koc"] if family == "learner" else []), flag, entry["name"])
            known.setdefault(family, []).append(entry["name"])
    for entry in json.loads(kfe.ok("kernels", "--json").out):
        known.setdefault("kernel", []).append(entry["name"])
        for param in entry["parameters"]:
            known.setdefault(param["name"], []).append(" ".join(map(str, param.values())))
    return known


SPECIAL = {"methods", "kernels", "learners", "steps", "metrics", "figures", "labels", "view", "view-kernel", "bind-kernel", "transfer"}


def test_the_special_words_are_those_of_the_library():
    assert SPECIAL == set(re.findall(r'^ *\{"([\w-]+)",', WORDING.read_text(), re.M))


def test_marked_names_exist(parameters):
    wrong, seen = [], 0
    assert {"missing", "memory", "gamma", "scale", "neighbors"} <= parameters.keys()
    for path in sources():
        text = path.read_text()
        for place, string in literals(text):
            for mark in MARK.finditer(string):
                name, value = mark.groups()
                seen += 1
                if name in SPECIAL:
                    continue
                helps = parameters.get(name)
                if helps is None:
                    wrong.append(f"{where(path, text, place)}: no parameter is called '{name}'")
                elif value and value not in ("yes", "no") and re.fullmatch(r"[a-z][a-z0-9-]*", value) and not any(
                        re.search(rf"(?<![\w-]){value}(?![\w-])", text) for text in helps):
                    wrong.append(f"{where(path, text, place)}: '{name}' does not take '{value}'")
    assert not wrong, "\n".join(wrong)
    assert seen > 20


def test_marks_stand_where_they_are_translated():
    wrong = []
    for path in sources():
        text = path.read_text()
        for place, string in literals(text):
            call = enclosing_call(text, place)
            if MARK.search(string) and call in UNTRANSLATED:
                wrong.append(f"{where(path, text, place)}: {call} does not translate {string!r}")
    assert not wrong, "\n".join(wrong)


def test_no_string_of_the_library_has_a_flag():
    wrong = []
    for path in sources():
        text = path.read_text()
        for place, string in literals(text):
            flag = FLAG.search(string)
            if flag:
                wrong.append(f"{where(path, text, place)}: '{flag.group()}' in \"{string}\"")
    assert not wrong, "\n".join(wrong)
