# SPDX-License-Identifier: Apache-2.0
"""Estimator classes for every method in the library's table: a transformer, a classifier, a regressor."""
from __future__ import annotations

import inspect
import os
from typing import Any, Callable

import numpy as np

from . import _tables as tables
from ._base import Extractor
from ._data import TASK_CLASSES, class_labels
from ._docs import Argument, Described, arguments, docstring, init_source
from ._model import Model
from ._names import EstimatorType
from ._predict import MIXINS
from ._tables import ESTIMATORS, LEARNERS, METHODS, Entry, Param, class_name, predictor_names, python_name

RULE = Entry("rule", "features along directions that a function of yours chooses",
             "Dhanjal, Gunn & Shawe-Taylor 2009, section 3",
             tables.REGRESSION | tables.KERNELS | tables.MULTIVIEW | tables.SPARSE,
             (Param("dim", tables.INT, "auto", 1, 2.0**53, ("auto",),
                    "number of features; auto: 10, or as many as there can be"),
              Param("center", tables.FLAG, "yes", 0, 0, (), "subtract the mean in feature space")))
RULE_ARGUMENT = Argument("rule", "Callable[[Any], Any] | None", None, "callable",
                         "A function of a state (``iteration``, ``residual``, ``features``, ``times``) that returns the "
                         "coefficients of the next direction on the examples, or None to end.")
RULE_EXAMPLE = """>>> import kfe
>>> X, y = kfe.generate("iris")
>>> def like_kpls(state):
...     return state.residual @ state.residual.T @ state.times(state.residual[:, 0])
>>> len(kfe.DirectionRule(like_kpls, dim=2).fit_transform(X, y))
150""".splitlines()
RULE_EXAMPLES = {
    "Classifier": [*RULE_EXAMPLE[:-2], ">>> model = kfe.DirectionRuleClassifier(like_kpls, dim=2, kernel=\"linear\").fit(X, y)",
                   ">>> model.score(X, y) > 0.9", "True"],
    "Regressor": [*RULE_EXAMPLE[:-2],
                  ">>> kfe.DirectionRuleRegressor(like_kpls, dim=2).fit(X[:, :3], X[:, 3]).score(X[:, :3], X[:, 3]) > 0.8",
                  "True"],
}


def make_class(bases: tuple[type, ...], what: Described, example: list[str] | None = None) -> type:
    """An estimator class with a constructor of its own, because scikit-learn reads parameters from the signature."""
    space: dict[str, Any] = {}
    exec("from __future__ import annotations\n" + init_source(what.args), space)
    init = space["__init__"]
    init.__qualname__, init.__module__ = f"{what.name}.__init__", "kfe"
    init.parameter_names = names = tuple(argument.name for argument in what.args)
    signature = inspect.signature(init)
    signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    members = {"__init__": init, "__doc__": docstring(what, example), "__module__": "kfe", "__signature__": signature,
               "_entry": what.entry, "_parameter_names": names, "_predictors": tuple(predictor_names(what.name, what.entry))}
    return EstimatorType(what.name, bases, members)


def estimator_arguments(entry: Entry, kind: str = "") -> list[Argument]:
    """Constructor arguments of a method's estimator, or of a direction rule's."""
    return [RULE_ARGUMENT] * (entry is RULE) + arguments(entry, kind)


def _family(name: str, entry: Entry) -> dict[str, type]:
    """The transformer of a method, and its classifier and regressor."""
    example = RULE_EXAMPLE if entry is RULE else None
    base = make_class((Extractor,), Described(name, entry, "", estimator_arguments(entry)), example)
    made = {name: base}
    for other in base._predictors:
        kind = other[len(name):]
        made[other] = make_class((MIXINS[kind], base), Described(other, entry, kind, estimator_arguments(entry, kind)),
                                 RULE_EXAMPLES[kind] if entry is RULE else None)
        made[other]._predictors = base._predictors
    return made


CLASSES = {name: made for method, entry in {**ESTIMATORS, "DirectionRule": RULE}.items()
           for name, made in _family(method, entry).items()}


# ---- estimators from model files ----


def _value(param: Param, text: str) -> Any:
    """The Python value of a parameter in a model."""
    return param._replace(initial=text).default


def _values(rows: tuple[Param, ...], written: dict[str, str]) -> dict[str, Any]:
    return {row.name: _value(row, written[row.name]) for row in rows if row.name in written}


def _unweighted(kernel: str) -> str:
    """A kernel without the weight that the fit found; the next fit finds it again."""
    name, _, options = kernel.partition(":")
    kept = [option for option in options.split(",") if option and not option.startswith("weight=")]
    return ":".join(part for part in (name, ",".join(kept)) if part)


def _kernel(told: dict[str, Any], functions: dict[str, Callable]) -> Any:
    """The kernels of a model as a constructor argument: one kernel, a list or, with several views, a dict."""
    found: dict[str, list[Any]] = {}
    for kernel, view in zip(told["kernels"], told["kernel_views"]):
        kernel = _unweighted(kernel) if "weights" in told["records"] else kernel
        name, _, rest = kernel.partition(":")
        function = functions.get(rest.split(",")[0]) if name == "user" else None
        found.setdefault(view, []).append(function or kernel)
    by_view = {view: kernels[0] if len(kernels) == 1 else kernels for view, kernels in found.items()}
    first = next(iter(by_view.values()))
    return first if len(told["views"]) == 1 or callable(first) else by_view  # a function applies to all views


def _view_places(told: dict[str, Any]) -> dict[str, np.ndarray]:
    """The columns of each view of a model whose views are columns of one table."""
    view_of = np.array(told["division"]["views"])
    return {view["name"]: np.flatnonzero(view_of == number + 1) for number, view in enumerate(told["views"])}


def _encoded_columns(told: dict[str, Any]) -> dict[Any, int]:
    """Columns of categories: the number of each in the table, by name or (without names) by number."""
    places = _view_places(told) if "division" in told else {}
    found = {}
    for view in told["views"]:
        for row in view.get("encoded", ()):
            place = row["column"] - 1
            place = int(places[view["name"]][place]) if places else place
            found[row.get("name", place)] = place
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _parameters(entry: Entry, told: dict[str, Any], functions: dict[str, Callable]) -> dict[str, Any]:
    """Constructor arguments from a model's description."""
    found = {python_name(name): value for name, value in _values(entry.params, told["parameters"]).items()}
    found["scale"] = told["views"][0]["scale"]
    found["missing"] = told["views"][0]["missing"].replace("-", "_")
    encoded = _encoded_columns(told)
    if encoded and (len(told["views"]) == 1 or "division" in told):
        found["encode"] = list(encoded)
    if "division" in told:
        found["views"] = {view: places.tolist() for view, places in _view_places(told).items()}
    if told.get("kernels"):
        found["kernel"] = _kernel(told, functions)
    if told["task"] == "real":
        found["task"] = "regress"  # for transformers
    learner = told.get("learner")
    if learner and learner["name"] in LEARNERS:
        rows = LEARNERS[learner["name"]].params
        found.update(learner=learner["name"], learner_params=_values(rows, learner["parameters"]))
    return found


def _kind_of(model: Model) -> str:
    """The kind of a model, as in class names; "": features only."""
    if not model.predicts:
        return ""
    return "Classifier" if model.task == TASK_CLASSES else "Regressor"


def from_model(model: Model, labels: np.ndarray | None = None) -> Extractor:
    """A fitted estimator from a model; `labels` are its classes if names alone would not give them."""
    entry = METHODS.get(model.method, RULE)
    kind = _kind_of(model)
    made = CLASSES[(class_name(entry.name) if entry is not RULE else "DirectionRule") + kind]
    told = model.describe()
    known = {argument.name for argument in arguments(entry, kind)}
    found = _parameters(entry, told, model.kernels)
    steps = [model.steps(view) for view in range(len(told["views"]))]
    if any(each != "none" for each in steps):
        found["prepare"] = steps[0] if len(steps) == 1 else {view["name"]: each for view, each in zip(told["views"], steps)}
    estimator = made(**{name: value for name, value in found.items() if name in known})
    estimator._model = model
    _remember_columns(estimator, model, told)
    if model.task == TASK_CLASSES:
        estimator.classes_ = np.unique(class_labels(model.class_names)) if labels is None else labels
    estimator._publish()
    return estimator


def _remember_columns(estimator: Extractor, model: Model, told: dict[str, Any]) -> None:
    views = [view["name"] for view in told["views"]]
    estimator._encoded_columns = list(_encoded_columns(told).values())
    columns, names = model.view_columns, [model.column_names(view) for view in range(len(views))]
    estimator.n_features_in_ = sum(columns)
    if "division" in told:
        _remember_division(estimator, told)
    elif len(views) > 1:
        estimator.view_columns_ = dict(zip(views, columns))
        estimator.view_feature_names_in_ = {view: found for view, found in zip(views, names) if found is not None}
    elif estimator._encoded_columns:
        _remember_categories(estimator, model, told["views"][0]["encoded"], names[0])
    elif names[0] is not None:
        estimator.feature_names_in_ = names[0]


def _remember_division(estimator: Extractor, told: dict[str, Any]) -> None:
    """The one table that the views are columns of."""
    names, places = told["division"].get("column_names"), _view_places(told)
    estimator._view_places = places
    estimator.n_features_in_ = len(told["division"]["views"])
    estimator.view_columns_ = {view: len(columns) for view, columns in places.items()}
    estimator.view_feature_names_in_ = {}
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator.view_feature_names_in_ = {view: estimator.feature_names_in_[columns] for view, columns in places.items()}


def _remember_categories(estimator: Extractor, model: Model, encoded: list[dict[str, Any]], names: np.ndarray | None) -> None:
    """The columns of X before the library encodes some of them."""
    estimator.n_features_in_ = model.source_columns
    if names is None:
        return
    found = list(names)
    for row in encoded:
        place = row["column"] - 1
        found[place:place + len(row["categories"])] = [row["name"]]
    estimator.feature_names_in_ = np.array(found, dtype=object)


def load(path: str | os.PathLike, kernels: dict[str, Callable] | None = None) -> Extractor:
    """Load a fitted estimator from a model file.

    Parameters
    ----------
    path : str or path-like
        A file written by ``save``, or by the command line.
    kernels : dict of callable, optional
        The Python functions of the model's kernels, by name.

    Returns
    -------
    estimator : object

    Notes
    -----
    A file contains labels as text. If all look like integers, they are loaded as integers, whether they were integers,
    whole real numbers or text such as "7"; if all are True or False, as booleans; otherwise as text. ``score`` compares
    labels as text, so it does not depend on their type.

    The parameters are those of the fit, with numbers instead of words such as ``gamma=scale``. With several views
    ``kernel`` is a dict by view. Methods with kernel weights store only the kernels with a positive weight. A clone of
    the estimator therefore starts with these kernels, without their weights, and with the default kernel for views that
    have none left.
    """
    model = Model.load(path)
    if kernels:
        model.bind(kernels)
    return from_model(model)
