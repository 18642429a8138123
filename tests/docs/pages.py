# SPDX-License-Identifier: Apache-2.0
"""Pages of the documentation as scripts: their files are written, their commands run, their output compared."""
import importlib
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
                   re.DOTALL | re.MULTILINE)
# Indented, as in the README; a block begins with a command.
INDENTED = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)


def need_package():
    """The Python package; skips where the tree or what it needs is missing, and fails where it cannot be imported."""
    if not (ROOT / "python" / "kfe").is_dir():
        pytest.skip("this source tree is without the Python package")
    pytest.importorskip("sklearn")
    return importlib.import_module("kfe")


class Step:
    """A command, and the output that the page shows for it; None where it shows none."""

    def __init__(self, command, shown):
        self.command, self.shown = command, "\n".join(shown) if shown else None


def steps(text):
    """The commands of a block in which they stand behind "$ "."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return [Step(command, shown) for command, shown in found]


def blocks(page):
    """("file", name, text) and ("steps", list) of a page, in its order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in FENCE.finditer(text):
        if block["file"]:
            yield "file", block["file"], block["text"]
        elif block["language"] == "console":
            yield "steps", steps(block["text"])


def indented_steps(page):
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    for block in INDENTED.finditer(text):
        dedented = "\n".join(line[4:] for line in block[0].splitlines())
        yield from steps(dedented)


def run(step, folder):
    done = subprocess.run(["bash", "-c", step.command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", timeout=300, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert done.returncode == 0, f"$ {step.command}\nstatus {done.returncode}\n{done.stdout}"
    if step.shown is not None:
        difference = compare(step.shown, done.stdout)
        assert difference is None, f"$ {step.command}\n{difference}\nIt printed:\n{done.stdout}"


# ---- output ----


def is_number(token):
    return re.fullmatch(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", token) is not None


def same(shown, got):
    """Words are the same; numbers, which other processors round otherwise, nearly."""
    if is_number(shown) and is_number(got):
        return abs(float(shown) - float(got)) <= 0.02 + 0.03 * abs(float(shown))
    number = r"\d+\.\d{2,}"
    if re.sub(number, "#", shown) != re.sub(number, "#", got):
        return False
    return all(same(a, b) for a, b in zip(re.findall(number, shown), re.findall(number, got)))


def tokens(text):
    """Lines as lists of words, without times: those before "s", and the column called seconds."""
    lines, place = [], None  # of the column called seconds, while its table goes on
    for line in text.splitlines():
        words = re.sub(r"\b[\d.]+ s\b", "TIME", line).split()
        if not words:
            place = None
        elif "seconds" in words:
            place = -1 if words[-1] == "seconds" else words.index("seconds")
        elif place is not None and -1 <= place < len(words) and is_number(words[place]):
            del words[place]
        if words:
            lines.append(words)
    return lines


def compare(shown, got):
    """None, or the first line that differs."""
    expected, found = tokens(shown), tokens(got)
    for a, b in zip(expected, found):
        if len(a) != len(b) or not all(map(same, a, b)):
            return f"shown: {' '.join(a)}\nfound: {' '.join(b)}"
    return None if len(expected) == len(found) else f"{len(expected)} lines are shown, {len(found)} were found"
