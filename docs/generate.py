#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the sources of the site into one folder: the pages of docs/ as they are, and pages made from what the library
says of itself, so that no table is written twice.

usage: generate.py KFE LIBRARY FOLDER     KFE: the command; LIBRARY: libkfe.so; FOLDER is made anew"""
import pathlib
import shutil
import subprocess
import sys

import gallery_page
import header_page
import python_page
import tables

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
FLOAT_MAX, SMALLEST, LARGEST_INTEGER = 1.7976931348623157e308, 2.2250738585072014e-308, 2**53


# ---- entries of tables ----


def cell(text):
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def number(value):
    return f"{value:.15g}"


def value_range(param):
    """What a parameter may be, in words: the range of a number, the words of a choice."""
    words = [f"`{word}`" for word in param.words.split("|")] if param.words else []
    if param.type in ("choice", "flag", "text"):
        return ", ".join(words)
    lowest, highest = param.min, param.max
    below = "any" if lowest <= -FLOAT_MAX else "above 0" if lowest == SMALLEST else f"from {number(lowest)}"
    unbounded = highest >= (LARGEST_INTEGER if param.type == "integer" else FLOAT_MAX)
    text = below if unbounded else f"{below} to {number(highest)}"
    return ", ".join([text, *words])


def parameter_table(params):
    if not params:
        return ["It has no parameters.", ""]
    rows = ["| parameter | type | default | values | what it does |", "|---|---|---|---|---|"]
    for param in params:
        default = f"`{param.default}`" if param.default else ""
        rows.append(f"| `{param.name}` | {param.type} | {default} | {cell(value_range(param))} | {cell(param.help)} |")
    return [*rows, ""]


def sentence(summary):
    """A line of a table with a capital letter and a full stop, unless it begins with a name."""
    first = summary.split()[0]
    return cell(summary[:1].upper() + summary[1:] if first.isalpha() else summary) + "."


def entry_section(entry, formula_title, example):
    """One entry of a table. The formula or paper comes as code or text, whichever it is."""
    formula = f"`{entry.formula}`" if formula_title == "Formula" else cell(entry.formula)
    traits = [f"- {trait}" for trait in entry.traits]
    command = ["```sh", example(entry), "```", ""] if example else []
    return [f"## {entry.name}", "", sentence(entry.summary), "", f"{formula_title}: {formula}", "",
            *traits, "" if traits else None, *parameter_table(entry.params), *command]


def catalogue(title, introduction, entries, formula_title, example=None):
    lines = [f"# {title}", "", introduction, ""]
    for entry in entries:
        lines += [line for line in entry_section(entry, formula_title, example) if line is not None]
    return "\n".join(lines)


def method_example(method):
    """A command that fits the method to data of two classes."""
    names = {param.name for param in method.params}
    words = ["kfe fit -m", method.name]
    if "several views or kernels" in " ".join(method.traits) and any(name.startswith("gate") for name in names):
        return " ".join([*words, "view1.csv view2.csv --label-file labels.csv -o model.kfe"])
    if method.weighs_kernels:
        words.append("-k rbf:gamma=0.01..10/4")
    elif method.takes_kernels:
        words.append("-k rbf:gamma=0.5")
    if any(param.name == "dim" and param.default != "auto" for param in method.params):
        words.append("--dim 2")
    if method.name == "none":
        words.append("--learner svm")
    return " ".join([*words, "train.csv -o model.kfe"])


def metric_page(metrics):
    lines = ["# Metrics", "", "What `kfe evaluate`, `cv` and `compare` measure predictions by (`--metrics`).", "",
             "| metric | of | what it is | |", "|---|---|---|---|"]
    for metric in metrics:
        kind = "real targets" if metric.takes_reals else "classes"
        lines.append(f"| `{metric.name}` | {kind} | {cell(metric.summary)} | {cell(metric.formula)} |")
    return "\n".join(lines) + "\n"


# ---- the command ----


def command_page(kfe):
    def output(*arguments):
        return subprocess.run([kfe, *arguments], check=True, capture_output=True, encoding="utf-8").stdout.strip("\n")

    overview = output("help")
    listed = overview.split("Commands:\n")[1].split("\n\n")[0]
    lines = ["# Commands", "", "What `kfe help` and `kfe COMMAND --help` print.", "", "```text", overview, "```", ""]
    for command in (line.split()[0] for line in listed.splitlines()):
        lines += [f"## kfe {command}", "", "```text", output(command, "--help"), "```", ""]
    return "\n".join(lines)


# ---- all of it ----


def reference_pages(kfe, library):
    yield "methods.md", catalogue(
        "Methods", "What `kfe fit -m` takes, with the parameters that each has of its own: a flag of the command line, "
        "a key in `kfe_spec_parse`, an argument in Python. `kfe methods` prints the list.",
        library.entries("method"), "Source", method_example)
    yield "kernels.md", catalogue(
        "Kernels, one by one", "What `-k` takes, written `name:key=value,…`. [Kernels](../kernels.md) has what they "
        "have in common: sums, families, widths.", library.entries("kernel"), "Formula")
    yield "learners.md", catalogue(
        "Learners", "What `--learner` takes: it learns on the features, so that the model predicts.",
        library.entries("learner"), "Source")
    yield "steps.md", catalogue(
        "Steps", "What `--prepare` takes, written `step:key=value,…` and separated by commas. [Preparing](../prepare.md) has the order of things.",
        library.entries("step"), "Formula")
    yield "generators.md", catalogue(
        "Generators", "Example data that `kfe generate` makes. The same `--seed` gives the same data.",
        library.entries("generator"), "Source", lambda entry: f"kfe generate {entry.name} -o data.csv")
    yield "metrics.md", metric_page(library.entries("metric"))
    yield "commands.md", command_page(kfe)
    headers = [(ROOT / "include" / name).read_text(encoding="utf-8") for name in ("kfe.h", "kfe_arrow.h")]
    yield "c.rst", header_page.make(*headers)
    yield from python_page.make(ROOT / "python")


def main(kfe, library_path, folder):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "reference" / "python").mkdir(parents=True)
    for pattern in ("*.md", "*.png", "conf.py"):
        for path in DOCS.glob(pattern):
            shutil.copy(path, folder)
    library = tables.Library(library_path, (ROOT / "include" / "kfe.h").read_text(encoding="utf-8"))
    for name, text in reference_pages(kfe, library):
        (folder / "reference" / name).write_text(text, encoding="utf-8")
    (folder / "gallery.md").write_text(gallery_page.make(ROOT, library_path, folder), encoding="utf-8")
    shutil.copy(ROOT / "bench" / "RESULTS.md", folder / "reference" / "measurements.md")
    for name in ("CONTRIBUTING", "CHANGELOG"):
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8").replace("](docs/", "](../")
        (folder / "reference" / f"{name.lower()}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
