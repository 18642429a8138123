# SPDX-License-Identifier: Apache-2.0
"""Checks of y: classes or real values, and classes in the library's form."""
from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, column_or_1d

from ._context import Context
from ._data import TASK_REAL
from ._lib import lib

CLASSES, REAL, EITHER = "classes", "real", "either"
MOST_NUMBER_CLASSES = 20  # more different whole numbers are real values (kfe_guess_task)
KINDS = {"auto": EITHER, "classify": CLASSES, "regress": REAL}


def check_task(task: str) -> str:
    if task not in KINDS:
        raise ValueError(f"task is one of 'auto', 'classify' and 'regress', not {task!r}")
    return task


def count_rows(X: Any) -> int:
    first = next(iter(X.values())) if isinstance(X, dict) else X
    return len(first) if isinstance(first, list) else first.shape[0]


class SeenNumbers:
    """The numbers in the targets of blocks: as many as decide whether they are classes or real values."""

    def __init__(self) -> None:
        self.values = np.empty(0)
        self.floating = False
        self.real: bool | None = None  # what the first block was taken as; None: it had no numbers

    def add(self, context: Context, values: np.ndarray, floating: bool) -> bool:
        """Whether a block is real values, by the rule for all blocks so far; refuses a block that contradicts the blocks before."""
        values = np.concatenate([self.values, values])
        fractional = values[values != np.floor(values)]
        self.values = fractional[:1] if len(fractional) else np.unique(values)[:MOST_NUMBER_CLASSES + 1]
        self.floating = self.floating or floating
        real = _ask(context, self.values, self.floating)
        if self.real is None:
            self.real = real
        elif self.real != real:
            raise ValueError("the targets of the first blocks were taken as classes, but with those of the other blocks they are real "
                             "values: more than 20 different whole numbers, fractional, or of a floating-point type; set "
                             "task='classify' if they are classes, or task='regress'")
        return real

    def merge(self, context: Context, other: "SeenNumbers") -> None:
        """Adds the blocks of another; both were taken as something already."""
        if other.real is not None:
            self.add(context, other.values, other.floating)


def validate_target(context: Context, estimator, X, y, seen: SeenNumbers | None = None, weights: Any = None) -> tuple[np.ndarray, bool]:
    """y as an array, and whether it contains real values; `seen` are the blocks before, to which it is added. Rows of weight 0 have no say."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    kind = estimator._target_kind()
    if kind == CLASSES:
        y = column_or_1d(y, warn=True)
        _check_y(y, estimator=estimator)
    else:
        if kind == REAL and np.asarray(y).dtype.kind in "US":
            raise ValueError(f"{type(estimator).__name__} takes numbers as y, not text; classes are for a classifier")
        y = _check_y(y, multi_output=True, y_numeric=kind == REAL, estimator=estimator)
        y = y.toarray() if issparse(y) else y
    if len(y) != count_rows(X):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{count_rows(X)}, {len(y)}]")
    return y, kind == REAL or (kind == EITHER and _is_real(context, _with_a_say(y, weights), seen or SeenNumbers()))


def _with_a_say(y: np.ndarray, weights: Any) -> np.ndarray:
    """The rows of weight above 0; all rows if there are none, or if the weights are still to be refused."""
    weights = None if weights is None else np.asarray(weights)
    if weights is None or weights.shape != (len(y),):
        return y
    counts = weights > 0
    return y[counts] if counts.any() else y


def _is_real(context: Context, y: np.ndarray, seen: SeenNumbers) -> bool:
    """Text and booleans are classes, several columns are real values, and for numbers the library decides."""
    if y.ndim == 2 and y.shape[1] > 1:
        return True
    if y.dtype.kind not in "iuf":
        return False
    return seen.add(context, np.asarray(y.ravel(), np.float64), y.dtype.kind == "f")


def _ask(context: Context, values: np.ndarray, floating: bool) -> bool:
    values = np.ascontiguousarray(values, np.float64)
    task = lib.kfe_guess_task(context.pointer, len(values), values.ctypes.data, int(floating))
    context.check(0)  # issues the warning
    return task == TASK_REAL


def encode_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted distinct labels, and for each row the index of its label."""
    if y.dtype.kind == "i" and len(y) and int(y.max()) - int(y.min()) < len(y):
        least = int(y.min())
        places = y.astype(np.intp) - least  # counting is much faster than sorting
        present = np.bincount(places) > 0
        return (np.flatnonzero(present) + least).astype(y.dtype), (np.cumsum(present) - 1)[places]
    if y.dtype.kind not in "iub":
        check_classification_targets(y)
    return np.unique(y, return_inverse=True)


def class_texts(classes: np.ndarray) -> list[str]:
    """Class names as in files: 1.0 is written as 1."""
    if classes.dtype.kind == "f" and np.all(classes == np.floor(classes)):
        return [str(int(label)) for label in classes]
    return [str(label) for label in classes]
