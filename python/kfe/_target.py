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
KINDS = {"auto": EITHER, "classify": CLASSES, "regress": REAL}


def check_task(task: str) -> str:
    if task not in KINDS:
        raise ValueError(f"task is one of 'auto', 'classify' and 'regress', not {task!r}")
    return task


def count_rows(X: Any) -> int:
    first = next(iter(X.values())) if isinstance(X, dict) else X
    return len(first) if isinstance(first, list) else first.shape[0]


def validate_target(context: Context, estimator, X, y) -> tuple[np.ndarray, bool]:
    """y as an array, and whether it contains real values."""
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
    return y, kind == REAL or (kind == EITHER and _is_real(context, y))


def _is_real(context: Context, y: np.ndarray) -> bool:
    """Text and booleans are classes, several columns are real values, and for numbers the library decides."""
    if y.ndim == 2 and y.shape[1] > 1:
        return True
    if y.dtype.kind not in "iuf":
        return False
    values = np.ascontiguousarray(y.ravel(), np.float64)
    task = lib.kfe_guess_task(context.pointer, len(values), values.ctypes.data, int(y.dtype.kind == "f"))
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
