# SPDX-License-Identifier: Apache-2.0
"""One estimator class for every method in the library's table."""
from __future__ import annotations

import os
from typing import Any, Callable

import numpy as np

from . import _tables as tables
from ._base import Extractor
from ._data import TASK_CLASSES, class_labels
from ._docs import Argument, arguments, docstring, init_source
from ._model import Model
from ._tables import ESTIMATORS, LEARNERS, METHODS, Entry, Param, class_name, python_name

RULE = Entry("rule", "features along directions that a function of yours chooses",
             "Dhanjal, Gunn & Shawe-Taylor 2009, section 3",
             tables.REGRESSION | tables.KERNELS | tables.MULTIVIEW | tables.SPARSE,
             (Param("dim", tables.INT, "auto", 1, 2.0**53, ("auto",),
                    "number of features; auto: 10, or as many as there can be"),
              Param("center", tables.FLAG, "yes", 0, 0, (), "subtract the mean in feature space")))
RULE_ARGUMENT = Argument("rule", "Callable[[Any], Any] | None", None, "callable",
                         "A function of a round (``residual``, ``features``, ``times``) that returns the coefficients "
                         "of the next direction on the examples, or None to end.")
RULE_EXAMPLE = """>>> import kfe
>>> X, y = kfe.generate("iris")
>>> def like_kpls(round):
...     return round.residual @ round.residual.T @ round.times(round.residual[:, 0])
>>> len(kfe.DirectionRule(like_kpls, dim=2).fit_transform(X, y))
150""".splitlines()


def make_class(name: str, entry: Entry, args: list[Argument], example: list[str] | None = None) -> type:
    """An estimator with a constructor of its own: scikit-learn reads parameters from its signature."""
    space: dict[str, Any] = {}
    exec("from __future__ import annotations\n" + init_source(args), space)
    init = space["__init__"]
    init.__qualname__, init.__module__ = f"{name}.__init__", "kfe"
    members = {"__init__": init, "__doc__": docstring(name, entry, args, example), "__module__": "kfe",
               "_entry": entry}
    return type(name, (Extractor,), members)


CLASSES = {name: make_class(name, entry, arguments(entry)) for name, entry in ESTIMATORS.items()}
CLASSES["DirectionRule"] = make_class("DirectionRule", RULE, [RULE_ARGUMENT, *arguments(RULE)], RULE_EXAMPLE)


# ---- models from files ----


def _value(param: Param, text: str) -> Any:
    """The value of a parameter as a model has it."""
    return param._replace(initial=text).default


def _values(rows: tuple[Param, ...], written: dict[str, str]) -> dict[str, Any]:
    return {row.name: _value(row, written[row.name]) for row in rows if row.name in written}


def _parameters(entry: Entry, told: dict[str, Any]) -> dict[str, Any]:
    """Constructor's arguments from what a model tells of itself."""
    found = {python_name(name): value for name, value in _values(entry.params, told["parameters"]).items()}
    found["scale"] = told["views"][0]["scale"]
    if told.get("kernels"):
        kernels = told["kernels"]
        found["kernel"] = kernels[0] if len(kernels) == 1 else kernels
    learner = told.get("learner")
    if learner and learner["name"] in LEARNERS:
        rows = LEARNERS[learner["name"]].params
        found.update(learner=learner["name"], learner_params=_values(rows, learner["parameters"]))
    return found


def from_model(model: Model, labels: np.ndarray | None = None) -> Extractor:
    """A fitted estimator around a model; `labels` are its classes where names alone would not tell them."""
    entry = METHODS.get(model.method, RULE)
    made = CLASSES[class_name(entry.name) if entry is not RULE else "DirectionRule"]
    told = model.describe()
    known = {argument.name for argument in arguments(entry)}
    estimator = made(**{name: value for name, value in _parameters(entry, told).items() if name in known})
    estimator._model = model
    columns = model.view_columns
    estimator.n_features_in_ = sum(columns)
    if len(columns) > 1:
        estimator.view_columns_ = {view["name"]: cols for view, cols in zip(told["views"], columns)}
    if model.column_names:
        estimator.feature_names_in_ = np.array(model.column_names, dtype=object)
    if model.task == TASK_CLASSES:
        estimator.classes_ = np.unique(class_labels(model.class_names)) if labels is None else labels
    estimator._publish()
    return estimator


def load(path: str | os.PathLike, kernels: dict[str, Callable] | None = None) -> Extractor:
    """The estimator that a model file holds, fitted.

    Parameters
    ----------
    path : str or path-like
        A file written by ``save``, or by the command line.
    kernels : dict of callable, optional
        The functions of a model whose kernels are functions of Python, by name.

    Returns
    -------
    estimator : object
        Labels that are all written as integers are integers again; others are text.
    """
    model = Model.load(path)
    if kernels:
        model.bind(kernels)
    return from_model(model)
