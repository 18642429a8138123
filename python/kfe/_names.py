# SPDX-License-Identifier: Apache-2.0
"""Parameter names as users type them: accepted aliases, and help with unknown names."""
from __future__ import annotations

import difflib
import warnings
from abc import ABCMeta
from typing import Any

from ._context import outside
from ._tables import FIT_OPTIONS, Entry, python_name

# Other packages' names of our parameters.
ALIASES = {"n_components": "dim"}


def former_names(entry: Entry) -> dict[str, str]:
    """Current names by former name."""
    return {python_name(row.alias): python_name(row.name) for row in (*entry.params, *FIT_OPTIONS) if row.alias}


def rename_params(entry: Entry, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters under their current names; a FutureWarning announces the new name of a former one."""
    former = former_names(entry)
    names = {**ALIASES, **former}
    found = {name: value for name, value in params.items() if name not in names}
    for name in [name for name in params if name in names]:
        if names[name] in found:
            reason = f"{name} is the former name of" if name in former else f"{name} is another name of"
            raise TypeError(f"{reason} {names[name]}: give one of them")
        if name in former:
            warnings.warn(f"{name} is now called {names[name]}; the former name will be removed", FutureWarning,
                          stacklevel=outside())
        found[names[name]] = params[name]
    return found


def _reason(cls: type, name: str, known: tuple[str, ...]) -> str:
    """Why an estimator has no parameter of this name, and what to write instead."""
    if name in ("learner", "learner_params"):
        others = " or ".join(f"{other}({name}=...)" for other in cls._predictors)
        return f"{cls.__name__} gives features only and has no {name}; use {others} to predict"
    if name == "class_weights":
        return (f"{cls.__name__} has no parameter {name!r}: class_weight weighs the examples of a class for everything, "
                f"learner='svm', learner_params={{'class_weights': ...}} only for the learner")
    if name == "task":
        return f"{cls.__name__} has no parameter 'task': its name says what it predicts"
    close = difflib.get_close_matches(name, known, 1)
    return f"{cls.__name__} has no parameter {name!r}" + (f" (did you mean {close[0]!r}?)" if close else "")


class EstimatorType(ABCMeta):
    """The metaclass of the estimators: it reads argument names before the constructor does."""

    def __call__(cls, *args, **params):
        known = getattr(cls.__init__, "parameter_names", None)  # missing in a class that a user derives
        if known is not None:
            params = rename_params(cls._entry, params)
            for name in params:
                if name not in known:
                    raise TypeError(_reason(cls, name, known))
        return super().__call__(*args, **params)
