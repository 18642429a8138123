# SPDX-License-Identifier: Apache-2.0
"""The Python reference: every public name of the package with its signature and docstring, as they are there."""
import inspect
import re
import sys

INTRODUCTION = """# Python reference

What `help()` says of each name in `kfe`. The [tutorial](../tutorial-python.md) is a gentler beginning, and
[Methods](methods.md) tells which method is for what."""
SHARED = ("fit", "transform", "fit_transform", "predict", "decision_function", "score", "save",
          "get_feature_names_out")


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


def section(heading, name, thing):
    return [heading, "", "```text", signature(name, thing), "", inspect.getdoc(thing) or "", "```", ""]


def make(folder):
    """The page, from the package in `folder`; the library is the one that the package finds (KFE_LIBRARY)."""
    if not (folder / "kfe").is_dir():
        return INTRODUCTION + "\n\nThis source tree is without the Python package.\n"
    sys.path.insert(0, str(folder))
    import kfe

    lines = [INTRODUCTION, "", "## What all estimators do", ""]
    for name in SHARED:
        lines += section(f"### {name}", name, getattr(kfe.KOC, name))
    for name in kfe.__all__:
        thing = getattr(kfe, name)
        lines += section(f"## {name}", f"{'class ' if inspect.isclass(thing) else ''}kfe.{name}", thing)
    return "\n".join(lines)
