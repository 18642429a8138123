# SPDX-License-Identifier: Apache-2.0
"""The Python reference: a page for each public name of the package, with its signature and its docstring as Markdown, and their list."""
import inspect
import re
import sys

INTRODUCTION = """# Python reference

What `help()` says of each name in `kfe`, a page for each. The [tutorial](../tutorial-python.md) is a gentler beginning, and
[Methods](methods.md) tells which method is for what."""
SHARED = ("fit", "transform", "fit_transform", "predict", "decision_function", "score", "save",
          "get_feature_names_out")
LISTS = ("Parameters", "Attributes", "Returns", "Raises", "Yields")
HEADING = re.compile(r"^([A-Z][a-z]+)\n-{3,}\n", re.MULTILINE)


def signature(name, thing):
    """As one would write it; annotations are text that the class was made with."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    parameters = [parameter for parameter in found.parameters.values() if parameter.name != "self"]
    written = [re.sub(r": '(.*?)'", r": \1", str(parameter)) for parameter in parameters]
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        written.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    line = f"{name}({', '.join(written)})"
    return line if len(line) <= 100 else f"{name}(\n    " + ",\n    ".join(written) + ")"


# ---- docstrings in NumPy's style as Markdown ----


def escape(text):
    """Text outside of code: what Markdown or HTML would take for markup stands as it is."""
    parts = re.split(r"(``.+?``|`.+?`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<>\[\]|\\])", r"\\\1", part) for part in parts)


def code(lines):
    return ["```python" if lines[0].startswith(">>>") else "```text", *lines, "```"]


def items(text):
    """`name : kind` with the text indented below it, as an item of a list each."""
    lines = []
    for line in text.splitlines():
        if line.startswith(" "):
            lines.append("  " + escape(line.strip()))
        elif line:
            name, _, kind = line.partition(" : ")
            lines.append(f"- **{escape(name)}**" + (f" : {escape(kind)}" if kind else "") + "\\")
    # A break, and nothing behind it, would be shown.
    for number, line in enumerate(lines):
        if line.endswith("\\") and (number + 1 == len(lines) or lines[number + 1].startswith("- ")):
            lines[number] = line[:-1]
    return lines


def paragraphs(text):
    """Text, with examples as code."""
    lines = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines += [*(code(block.splitlines()) if block.startswith(">>>") else [escape(block)]), ""]
    return lines


def body(docstring):
    pieces = HEADING.split(docstring)
    lines = paragraphs(pieces[0])
    for title, text in zip(pieces[1::2], pieces[2::2]):
        lines += [f"**{title}**", "", *(items(text) if title in LISTS else paragraphs(text)), ""]
    return lines


def section(heading, name, thing):
    return [heading, "", "```python", signature(name, thing), "```", "", *body(inspect.getdoc(thing) or "")]


# ---- pages ----


def group_of(thing):
    if not inspect.isclass(thing):
        return "Functions"
    if issubclass(thing, Exception):
        return "Errors"
    if hasattr(thing, "fit"):
        return "Estimators"
    return "Learners" if "Learner" in {base.__name__ for base in thing.__mro__} else "Kernels"


def see_also(kfe, name, thing):
    """Estimators of the same method, its entry among all methods, and what they have in common."""
    if not hasattr(thing, "fit"):
        return []
    entry = thing._entry
    listed = entry.name in {method["name"] for method in kfe.methods()}
    kin = [other for other in kfe.__all__ if other != name and getattr(getattr(kfe, other), "_entry", None) is entry]
    method = [f"[the method {entry.name}](../methods.md#{entry.name})"] if listed else []
    places = [f"[{other}]({other}.md)" for other in kin] + method
    places.append("[what all estimators do](../python.md#what-all-estimators-do)")
    return ["**See also**", "", ", ".join(places), ""]


def summary(thing):
    return escape((inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " "))


def index(kfe, names):
    lines = [INTRODUCTION, ""]
    for group in ("Estimators", "Kernels", "Learners", "Functions", "Errors"):
        members = [name for name in names if group_of(getattr(kfe, name)) == group]
        lines += [f"## {group}", "", "| name | |", "|---|---|"]
        lines += [f"| [{name}](python/{name}.md) | {summary(getattr(kfe, name))} |" for name in members]
        lines += ["", "```{toctree}", ":hidden:", "", *(f"python/{name}" for name in members), "```", ""]
    lines += ["## What all estimators do", ""]
    for name in SHARED:
        lines += section(f"### {name}", name, getattr(kfe.KOCClassifier, name))
    return "\n".join(lines)


def make(folder):
    """Yields the name and text of each page, from the package in `folder`; the library is the one that the package finds
    (KFE_LIBRARY)."""
    if not (folder / "kfe").is_dir():
        yield "python.md", INTRODUCTION + "\n\nThis source tree is without the Python package.\n"
        return
    sys.path.insert(0, str(folder))
    import kfe

    yield "python.md", index(kfe, kfe.__all__)
    for name in kfe.__all__:
        thing = getattr(kfe, name)
        lines = section(f"# {name}", f"{'class ' if inspect.isclass(thing) else ''}kfe.{name}", thing)
        yield f"python/{name}.md", "\n".join(lines + see_also(kfe, name, thing))
