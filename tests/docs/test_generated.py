# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/generate.py are complete, and the commands on them work."""
import json
import os
import re
import subprocess
import sys

import pages
import pytest

pytest.importorskip("sklearn")  # the page on Python imports the package
pytestmark = pytest.mark.skipif(bool(os.environ.get("KFE_SANITIZE")),
                                reason="Python cannot load a library that was built with sanitizers")
KFE, LIBRARY = os.environ.get("KFE", "kfe"), os.environ.get("KFE_LIBRARY", "libkfe.so")


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8", **options).stdout


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The text of each generated page, by its name."""
    folder = tmp_path_factory.mktemp("site") / "source"
    script = pages.ROOT / "docs" / "generate.py"
    subprocess.run([sys.executable, "-B", str(script), KFE, LIBRARY, str(folder)], check=True)
    assert (folder / "index.md").is_file() and (folder / "conf.py").is_file()
    root = folder / "reference"
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in root.rglob("*.*")}


@pytest.mark.parametrize("page, command", [("methods.md", ["methods"]), ("kernels.md", ["kernels"]),
                                           ("learners.md", ["learners"]), ("steps.md", ["steps"]), ("generators.md", ["generate", "--list"])])
def test_catalogues_are_complete(reference, page, command):
    entries = json.loads(output(KFE, *command, "--json"))
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", reference[page], re.DOTALL | re.MULTILINE))
    assert list(sections) == [entry["name"] for entry in entries]
    for entry in entries:
        rows = re.findall(r"^\| `(.*?)` \| (\w+) \| (?:`(.*?)`)? ", sections[entry["name"]], re.MULTILINE)
        assert rows == [(p["name"], p["type"], p["default"]) for p in entry["parameters"]]


def test_every_function_is_in_the_c_reference(reference):
    exported = re.findall(r" T (kfe_\w+)", output("nm", "-D", "--defined-only", LIBRARY))
    described = re.findall(r"^(?:\.\. c:function::| {15}) .*?\b(kfe_\w+)\(", reference["c.rst"], re.MULTILINE)
    assert len(described) > 80 and sorted(described) == sorted(exported)


def test_comments_stay_with_their_functions(reference):
    assert re.search(r"c:function:: const char \*kfe_status_text\(kfe_status status\)\n\n   The text of a status",
                     reference["c.rst"])
    assert re.search(r"c:struct:: kfe_deflation_state\n\n   The state that a direction rule sees", reference["c.rst"])


def test_places_in_files_are_no_links(reference):
    assert r'"file\:line\:column: "' in reference["c.rst"]


def test_parameters_are_lists(reference):
    koc = reference["python/KOC.md"]
    assert "- **dim** : int" in koc and "- **n\\_threads** : int, default=None" in koc and "- **dual\\_coef\\_** :" in koc
    assert koc.index("**Parameters**") < koc.index("**Attributes**") < koc.index("**Examples**") < koc.index("**See also**")
    assert "```python\n>>> import kfe\n" in koc and not re.search(r"^-{3,}$", koc, re.MULTILINE)
    assert "[KOCClassifier](KOCClassifier.md), [the method koc](../methods.md#koc)" in koc


def test_every_public_name_has_a_page(reference):
    names = {name[len("python/"):-len(".md")] for name in reference if name.startswith("python/")}
    listed = re.findall(r"^\| \[(\w+)\]\(python/(\w+)\.md\) \| \S", reference["python.md"], re.MULTILINE)
    assert len(listed) > 100 and all(name == page for name, page in listed) and {name for name, _ in listed} == names
    for group in ("Kernels", "Learners", "Errors"):
        assert 4 < len(re.findall(r"^\| \[", reference["python.md"].split(f"## {group}\n")[1].split("\n## ")[0], re.MULTILINE)) < 20


def test_every_command_is_there(reference):
    listed = re.findall(r"^  (\w+) +\w", output(KFE, "help").split("Commands:")[1].split("\n\n")[0], re.MULTILINE)
    assert re.findall(r"^## kfe (\w+)$", reference["commands.md"], re.MULTILINE) == listed and "fit" in listed


def test_examples_of_methods_work(reference, tmp_path):
    """Runs each example on two views of two crescents, with the labels in a separate file."""
    text = output(KFE, "generate", "banana", "--n", "40")
    header, *rows = [line.split(",") for line in text.splitlines()]
    wide = [[*row[:2], str(float(row[0]) * float(row[1])), row[2]] for row in rows]
    write = lambda name, lines: (tmp_path / name).write_text("".join(",".join(line) + "\n" for line in lines))
    write("train.csv", [header, *rows])
    write("view1.csv", [["a", "b"], *(row[:2] for row in wide)])
    write("view2.csv", [["c", "d"], *(row[1:3] for row in wide)])
    write("labels.csv", [["label"], *([row[3]] for row in wide)])
    commands = re.findall(r"^kfe fit .*$", reference["methods.md"], re.MULTILINE)
    assert len(commands) > 25
    for command in commands:
        subprocess.run(["bash", "-c", command + " -q --threads 1"], cwd=tmp_path, check=True, timeout=120)
        (tmp_path / "model.kfe").unlink()
