# SPDX-License-Identifier: Apache-2.0
"""Learners as objects, one class for every learner in the library's table.

Like kernels, they have scikit-learn's get_params and set_params, so that searches vary ``learner__C``. This module does not
import scikit-learn.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ._docs import init_source, kernel_arguments, learner_docstring
from ._kernels import Parameters
from ._tables import LEARNERS, Entry, as_text, python_name

CLASS_NAMES = {"svm": "SVM", "linear-svm": "LinearSVM", "ls": "LeastSquares", "knn": "NearestNeighbors", "centroid": "NearestCentroid"}


class Learner(Parameters):
    """A classifier or regressor on features; its subclasses are made from the table of learners."""

    _entry: ClassVar[Entry]

    def _changed(self) -> dict[str, Any]:
        """Parameters that are not at their defaults, by the library's names."""
        given = {row.name: self._get(python_name(row.name, frozenset())) for row in self._entry.params}
        return {row.name: given[row.name] for row in self._entry.params if as_text(given[row.name]) != as_text(row.default)}

    def __str__(self) -> str:
        """The learner as the library reads it: "svm:C=10"."""
        options = ",".join(f"{name}={as_text(value)}" for name, value in self._changed().items())
        return ":".join(part for part in (self._entry.name, options) if part)

    def __repr__(self) -> str:
        changed = (f"{python_name(name, frozenset())}={value!r}" for name, value in self._changed().items())
        return f"{type(self).__name__}({', '.join(changed)})"


def _make_class(name: str, entry: Entry) -> type:
    args = kernel_arguments(entry)
    space: dict[str, Any] = {}
    exec("from __future__ import annotations\n" + init_source(args), space)
    init = space["__init__"]
    init.__qualname__, init.__module__ = f"{name}.__init__", "kfe"
    return type(name, (Learner,), {"__init__": init, "__doc__": learner_docstring(name, entry, args), "__module__": "kfe",
                                   "_entry": entry, "_names": tuple(argument.name for argument in args)})


def learner_class_name(learner: str) -> str:
    return CLASS_NAMES.get(learner) or "".join(part.capitalize() for part in learner.split("-"))


CLASSES = {learner_class_name(name): _make_class(learner_class_name(name), entry) for name, entry in LEARNERS.items()}


def learner_text(learner: Any) -> Any:
    """A learner as the library reads it; None and everything else that is not a learner are returned unchanged."""
    return str(learner) if isinstance(learner, Learner) else learner


def with_params(learner: Any, params: Mapping[str, Any]) -> Learner:
    """A learner as an object with these parameters set."""
    if isinstance(learner, Learner):
        return learner.set_params(**params)
    name, _, options = (learner or "").partition(":")
    if name not in LEARNERS:
        raise ValueError(f"{learner!r} has no parameters to set; give a learner as an object, such as kfe.SVM(C=1)")
    entry = LEARNERS[name]
    known = {row.name: row for row in entry.params}
    made = CLASSES[learner_class_name(name)]()
    for option in filter(None, options.split(",")):
        key, _, text = option.partition("=")
        row = known.get(key.replace("_", "-"))
        value = text if row is None else row._replace(initial=text).default
        made.set_params(**{python_name(key.replace("_", "-"), frozenset()): value})
    return made.set_params(**params)
