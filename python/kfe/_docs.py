# SPDX-License-Identifier: Apache-2.0
"""Signatures and documentation of estimators, from the library's tables."""
from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

from . import _tables as tables
from ._tables import FIT_OPTIONS, Entry, Param, python_name

WIDTH = 100


class Argument(NamedTuple):
    """One parameter of a constructor."""

    name: str
    type: str  # as a type hint
    default: Any
    words: str  # in the documentation
    help: str


_HINTS = {tables.INT: "int", tables.REAL: "float", tables.CHOICE: "str", tables.FLAG: "bool", tables.TEXT: "str"}
_WORDS = {tables.INT: "int", tables.REAL: "float", tables.FLAG: "bool", tables.TEXT: "str"}


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:g}"


def _range(param: Param) -> str:
    """The limits of a number, without infinite ones."""
    smallest, largest = 2.3e-308, 9e15
    low = "" if param.min < -largest else "above 0" if 0 < param.min < smallest else f"from {_number(param.min)}"
    high = "" if param.max >= largest else f"to {_number(param.max)}"
    return " ".join(part for part in (low, high) if part)


def _describe(param: Param) -> str:
    choices = "{" + ", ".join(repr(word) for word in param.words) + "}"
    if param.kind == tables.CHOICE:
        return choices + (" or bool" if param.name == "scale" else "")
    words = _WORDS[param.kind]
    if param.kind in (tables.INT, tables.REAL):
        limits = _range(param)
        words += f" {limits}" if limits else ""
        words += f" or {choices}" if param.words else ""
    return words


def _argument(param: Param) -> Argument:
    hint = _HINTS[param.kind]
    if param.name in ("class-weight", "class-weights"):
        hint = "str | Mapping[Any, float]"
    if param.name == "scale":
        hint = "str | bool"
    if param.name == "prepare":
        hint = "str | Sequence[Any] | Mapping[Any, Any]"
    if param.words and param.kind in (tables.INT, tables.REAL):
        hint += " | str"
    help_text = param.help
    if param.name == "prepare":
        help_text = ("steps that prepare each row before the scaling, one after the other: ``\"snv,sg:window=11,derivative=1\"`` or "
                     "``[\"snv\", (\"sg\", {\"window\": 11})]``; by view a dict. They stand in the model. ``kfe.steps()`` lists them; "
                     "``scale=\"auto\"`` then leaves the columns as the steps make them")
    text = help_text[:1].upper() + help_text[1:]
    return Argument(python_name(param.name), hint, param.default, _describe(param), text.rstrip(".") + ".")


_KERNEL = ("The kernel: an object such as ``kfe.RBF(gamma=0.5)``; a name with parameters, as in \"rbf:gamma=0.5\", "
           "(\"rbf\", {\"gamma\": 0.5}) or {\"name\": \"rbf\", \"gamma\": 0.5}; \"precomputed\"; a function of two rows; or a "
           "list or sum of these, whose weighted sum is used. ``kfe.kernels()`` lists them.")
_VIEWS = " With several views also a dict of kernels, or lists of them, by view, or ``kfe.ViewKernels``."
_COLUMNS = Argument("views", "Mapping[str, Any] | None", None, "dict",
                    "Views as groups of columns of one table: numbers, a range, a slice or a mask, or names of a "
                    "DataFrame's columns, by view, as in ``{\"left\": range(0, 3), \"right\": [3, 4]}``. With it X is one "
                    "table, so that scikit-learn's searches work with views. None: X is one view, or several tables.")
_GAMMA = Argument("gamma", "float | str | None", None, "float or str",
                  "The parameter gamma of the kernel, as a shortcut: ``gamma=0.5`` is ``kernel=\"rbf:gamma=0.5\"``.")
_OWN_LEARNER = "None: the method predicts by itself."
_DEFAULT_LEARNER = {"Classifier": "None: ``\"svm\"``, a linear SVM.", "Regressor": "None: ``\"ls\"``, least squares."}
_LEARNER_PARAMS = [
    Argument("learner_params", "Mapping[str, Any] | str | None", None, "dict or str",
             "Parameters of the learner, in addition to those in its name."),
]
_TASK = Argument("task", "str", "auto", "{'auto', 'classify', 'regress'}",
                 "What y is. 'auto' takes text, truth values and integers with at most 20 different values as classes, "
                 "other numbers as real values, with a warning if they are whole.")
_MISSING = Argument("missing", "str", "error", "{'error', 'mean', 'median', 'most_frequent', 'nipals'}",
                    "What to do with NaN in X: refuse it, or fill in the mean, median or most frequent value of its column "
                    "in the training rows, also in new data. 'nipals', for PCA, PLS, PLSDA and OPLS, fills in nothing: the fit "
                    "and the features of new rows are regressions on the values that are there.")
_ENCODE = Argument("encode", "Any", None, "'auto', list or None",
                   "Columns of X that hold categories: their names or numbers, or 'auto' for all that hold text. Each category of "
                   "the training rows becomes a column of zeros and ones; a category that occurs only in new data gives "
                   "zeros and a warning. With 'auto', an ordered categorical column becomes the numbers 1, 2, ... of its categories. "
                   "None: X is numbers.")
_RUNNING = [
    Argument("random_state", "int | RandomState | None", None, "int or RandomState",
             "Seed of everything random. None is always the same seed."),
    Argument("n_threads", "int | None", None, "int",
             "Threads to use; None is one per core, or as OMP_NUM_THREADS in the environment says, and one in a "
             "process that was forked (multiprocessing)."),
    Argument("memory", "int | str | None", None, "int or str",
             "The memory limit, in bytes or as in \"8G\"; None is 70 % of the free memory."),
    Argument("device", "str | None", None, "str",
             "Where kernel matrices are computed: 'cpu', 'cuda' (an NVIDIA GPU; 'cuda:1' is the second one), or 'auto', a GPU if there "
             "is one and the problem is large. None is as KFE_DEVICE in the environment says, else the CPU. ``kfe.devices()`` "
             "lists them."),
    Argument("verbose", "int", 0, "int", "Tell what is being done; with tqdm installed, show progress."),
]


def _learner(entry: Entry, kind: str) -> Argument:
    unless_given = _OWN_LEARNER if entry.has(tables.PREDICTOR) else _DEFAULT_LEARNER[kind]
    return Argument("learner", "Any", None, "object or str",
                    f"The {kind.lower()} on the features: an object such as ``kfe.SVM(C=10)``, or its name with parameters, "
                    f"\"svm:C=10\". "
                    f"``kfe.learners()`` lists them. {unless_given}")


def _kernel_arguments(entry: Entry, kind: str) -> list[Argument]:
    if entry.has(tables.KERNELS):
        several = entry.has(tables.MULTIVIEW)
        return [Argument("kernel", "Kernel", entry.kernel or "rbf", "object, str, callable, tuple, list or dict",
                         _KERNEL + (_VIEWS if several else "")), _GAMMA, *([_COLUMNS] if several else [])]
    if entry.name == "none":
        without = ("None: the learner works on the columns." if kind else
                   "It needs ``landmarks``, which turn it into features. None: the features are the columns.")
        return [Argument("kernel", "Kernel", None, "object, str, callable, tuple, list or dict",
                         f"{_KERNEL} {without}"), _GAMMA]
    return []


def arguments(entry: Entry, kind: str = "") -> list[Argument]:
    """The parameters of an estimator's constructor, in order. `kind`: "" for a transformer, else "Classifier" or
    "Regressor"."""
    found = [_argument(param) for param in entry.params] + _kernel_arguments(entry, kind)
    found += [*(_argument(param) for param in FIT_OPTIONS), _MISSING, _ENCODE]
    if kind:
        found += [_learner(entry, kind), *_LEARNER_PARAMS]
    elif entry.has(tables.REGRESSION) and entry.name != "none":
        found.append(_TASK)
    return found + _RUNNING


def kernel_arguments(entry: Entry) -> list[Argument]:
    """The parameters of a kernel's constructor."""
    return [_argument(param)._replace(name=python_name(param.name, frozenset())) for param in entry.params]


def init_source(args: list[Argument]) -> str:
    """The source of a constructor that stores its arguments, as scikit-learn requires."""
    lines = ["def __init__("]
    for number, argument in enumerate(["self", *args]):
        if number == 2:
            lines.append("    *,")
        lines.append("    self," if argument == "self" else
                     f"    {argument.name}: {argument.type} = {argument.default!r},")
    lines.append(") -> None:")
    lines += [f"    self.{argument.name} = {argument.name}" for argument in args] or ["    pass"]
    return "\n".join(lines) + "\n"


def _paragraph(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def _item(name: str, kind: str, text: str) -> list[str]:
    return [f"{name} : {kind}", _paragraph(text, "    ")]


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, "-" * len(title), *lines]


def is_localized(entry: Entry) -> bool:
    """Whether a method's models have parts and a gate."""
    return any(param.name == "gate" for param in entry.params)


def _localized_attributes() -> list[str]:
    lines = _item("projections_", "list of ndarray of shape (n_columns, local_dim)",
                  "Local projections, one for each part (a view with a kernel); None where the columns themselves are "
                  "compared.")
    lines += _item("gate_projections_", "list of ndarray of shape (n_columns, gate_dim)",
                   "The gate's projection of each part's columns; None where the gate does not see them.")
    lines += _item("gate_weights_", "ndarray of shape (gate_dim, n_parts)", "V of the gate softmax(zV + v₀).")
    lines += _item("gate_offset_", "ndarray of shape (n_parts,)", "v₀ of the gate.")
    return lines + _item("support_", "ndarray of shape (n_support,)", "Training rows of the support vectors.")


def _global_attributes(entry: Entry) -> list[str]:
    lines = []
    if entry.has(tables.KERNELS) and entry.name != "gkdr":  # whose directions are on columns
        lines += _item("dual_coef_", "ndarray of shape (n_support, n_features_out)",
                       "Coefficients of the features on the support.")
        if not entry.has(tables.SYNTHETIC) or entry.has(tables.DERIVATIVE):
            lines += _item("support_", "ndarray of shape (n_support,)", "Training rows of the support.")
    elif entry.name != "none":
        lines += _item("components_", "ndarray of shape (n_features_out, n_features_in)", "The directions.")
        lines += _item("diagnostics_", "mapping of names to tables", "``diagnostics(X, y)`` of the training rows, found at first use.")
    lines += _item("offset_", "ndarray of shape (n_features_out,)", "What is subtracted from the features.")
    if entry.has(tables.WEIGHTS):
        lines += _item("kernel_weights_", "ndarray of shape (n_kernels,)", "The weights found.")
    return lines


def _attributes(entry: Entry, kind: str) -> list[str]:
    lines = _localized_attributes() if is_localized(entry) else _global_attributes(entry)
    if kind == "Classifier" or (not kind and (entry.has(tables.SUPERVISION) or entry.compares_views)):
        lines += _item("classes_", "ndarray of shape (n_classes,)", "The labels, if y was labels.")
    lines += _item("records_", "dict of ndarray",
                   "All that the fit recorded. Each record is also an attribute of its name with an underscore: "
                   "``eigenvalues_``, ``objective_``; but ``alignment`` is ``alignment_path_`` and ``weights`` is "
                   "``kernel_weights_``.")
    lines += _item("scaling_", "str",
                   "How the columns were scaled and, of ``scale=\"auto\"``, why; with several views, a dict.")
    lines += _item("scale_mean_, scale_sd_", "ndarray of shape (n_features_in_,)",
                   "What scaling subtracts from each column and divides it by: mean and standard deviation with "
                   "``scale=\"standard\"``, zeros and ones where columns are not scaled; with several views, dicts.")
    lines += _item("n_features_in_", "int", "Number of columns seen in fit.")
    lines += _item("feature_names_in_", "ndarray of str", "Names of the columns, if X was one table and had them.")
    if entry.has(tables.MULTIVIEW):
        lines += _item("view_columns_", "dict of int", "Number of columns of each view, if X was several.")
        lines += _item("view_feature_names_in_", "dict of ndarray of str",
                       "Names of the columns of views that had them.")
    return lines


def _example(name: str, entry: Entry, kind: str) -> list[str]:
    data = '"banana", n=150' if entry.has(tables.TWO_CLASSES) else '"iris"'
    lines = [">>> import kfe", f">>> X, y = kfe.generate({data})"]
    if kind == "Regressor":
        return lines + [f">>> len(kfe.{name}().fit(X[:, :3], X[:, 3]).predict(X[:, :3]))", "150"]
    if kind:
        return lines + [f">>> len(kfe.{name}().fit(X, y).predict(X))", "150"]
    return lines + [f">>> features = kfe.{name}().fit_transform(X, y)", ">>> len(features)", "150"]


def _summary(name: str, entry: Entry, kind: str) -> list[str]:
    """The first paragraphs of a docstring."""
    summary = entry.summary[:1].upper() + entry.summary[1:].rstrip(".") + "."
    if not kind:
        return [_paragraph(summary), "", _paragraph(f"This is the method ``{entry.name}`` of the command line.")]
    method = name[: -len(kind)]
    return [_paragraph(f"{kind} on the features of `{method}`: {entry.summary.rstrip('.')}."), "",
            _paragraph(f"This is the method ``{entry.name}`` of the command line with a learner. ``transform`` gives the "
                       "features.")]


class Described(NamedTuple):
    """The contents of a docstring."""

    name: str
    entry: Entry
    kind: str  # as in `arguments`
    args: list[Argument]


def docstring(what: Described, example: list[str] | None = None) -> str:
    """Documentation in NumPy's style."""
    lines = _summary(what.name, what.entry, what.kind)
    parameters = []
    for argument in what.args:
        shown = "default=None" if argument.default is None else f"default={argument.default!r}"
        parameters += _item(argument.name, f"{argument.words}, {shown}", argument.help)
    lines += _section("Parameters", parameters)
    lines += _section("Attributes", _attributes(what.entry, what.kind))
    lines += _section("References", [_paragraph(what.entry.reference.rstrip(".") + ".")])
    lines += _section("Examples", example or _example(what.name, what.entry, what.kind))
    return "\n".join(lines) + "\n"


def kernel_docstring(name: str, entry: Entry, args: list[Argument]) -> str:
    """Documentation of a kernel's class."""
    summary = entry.summary[:1].upper() + entry.summary[1:].rstrip(".") + "."
    lines = [_paragraph(summary), "", _paragraph(f"This is the kernel ``{entry.name}`` of the command line, ``{entry.reference}``.")]
    parameters = []
    for argument in args:
        parameters += _item(argument.name, f"{argument.words}, default={argument.default!r}", argument.help)
    lines += _section("Parameters", parameters)
    return "\n".join(lines + _section("Examples", [">>> import kfe", f">>> kfe.{name}()", f"{name}()"])) + "\n"


def learner_docstring(name: str, entry: Entry, args: list[Argument]) -> str:
    """Documentation of a learner's class."""
    summary = entry.summary[:1].upper() + entry.summary[1:].rstrip(".") + "."
    lines = [_paragraph(summary), "", _paragraph(f"This is the learner ``{entry.name}`` of the command line, for the parameter "
                                                 "``learner`` of estimators.")]
    parameters = []
    for argument in args:
        parameters += _item(argument.name, f"{argument.words}, default={argument.default!r}", argument.help)
    lines += _section("Parameters", parameters)
    return "\n".join(lines + _section("Examples", [">>> import kfe", f">>> kfe.{name}()", f"{name}()"])) + "\n"
