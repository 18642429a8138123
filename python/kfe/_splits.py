# SPDX-License-Identifier: Apache-2.0
"""Training and test parts: from scikit-learn's splitters, from users, and from the library."""
from __future__ import annotations

import contextlib
import os
import tempfile
from ctypes import byref, c_int64, c_void_p
from typing import Any, Iterator, NamedTuple

import numpy as np

from ._arrays import view
from ._data import Data
from ._lib import lib
from ._tables import options_text
from ._target import count_rows
from ._validation import is_views

Split = tuple[np.ndarray, np.ndarray]  # training and test rows, from 0

# Options of the library that determine how rows are divided.
DIVIDING = ("split", "folds", "repeats", "train_size", "stratified", "split_file")


class Division(NamedTuple):
    """The user's division of the rows."""

    cv: Any  # None, a number of folds, a splitter of scikit-learn, or pairs of training and test rows
    groups: Any  # a label for each row; rows of a group stay together; None: no groups

    @property
    def is_explicit(self) -> bool:
        return self.groups is not None or not (self.cv is None or isinstance(self.cv, (int, np.integer)))


def with_folds(division: Division, options: dict[str, Any]) -> dict[str, Any]:
    """The options with cv's number of folds."""
    if division.is_explicit:
        given = [name for name in DIVIDING if name in options and not (name == "folds" and division.cv is None)]
        if given:
            raise ValueError(f"cv and groups say how the rows are divided; {given[0]} is an option of the library's own splits")
        return {name: value for name, value in options.items() if name != "folds"}
    return options if division.cv is None else {**options, "folds": int(division.cv)}


def group_splits(groups: Any, folds: int) -> list[Split]:
    """As many folds as requested, or one per group if there are fewer groups; no group is in both parts."""
    from sklearn.model_selection import GroupKFold
    groups = np.asarray(groups)
    count = len(np.unique(groups))
    if count < 2:
        raise ValueError("groups needs at least two different groups")
    return list(GroupKFold(min(folds, count)).split(np.zeros(len(groups)), groups=groups))


def explicit_splits(division: Division, X: Any, y: Any, folds: int) -> list[Split]:
    """The pairs of training and test rows that cv and groups define."""
    rows = len(y)
    if division.groups is not None and len(division.groups) != rows:
        raise ValueError(f"groups has {len(division.groups)} labels, but y has {rows} rows")
    if division.cv is None or isinstance(division.cv, (int, np.integer)):
        return group_splits(division.groups, folds if division.cv is None else int(division.cv))
    if hasattr(division.cv, "split"):
        table = np.zeros((rows, 1)) if is_views(X) or isinstance(X, list) else X
        pairs = division.cv.split(table, y, division.groups)
    else:
        pairs = division.cv
    return [_checked(number, pair, rows) for number, pair in enumerate(pairs)]


def _checked(number: int, pair: Any, rows: int) -> Split:
    """Rows in increasing order, from numbers or from a mask."""
    try:
        train, test = (np.asarray(part) for part in pair)
    except (TypeError, ValueError):
        raise ValueError("cv is a number of folds, a splitter of scikit-learn, or pairs (training rows, test rows)") from None
    parts = [np.flatnonzero(part) if part.dtype == bool else np.unique(part) for part in (train, test)]
    for part in parts:
        if len(part) == 0 or part.dtype.kind not in "iu" or part[0] < 0 or part[-1] >= rows:
            raise ValueError(f"split {number + 1} of cv needs row numbers between 0 and {rows - 1} in both parts")
    if len(np.intersect1d(*parts)):
        raise ValueError(f"split {number + 1} of cv has rows in both parts")
    return parts[0], parts[1]


@contextlib.contextmanager
def split_file(splits: list[Split]) -> Iterator[str]:
    """A temporary file with the splits in the library's format."""
    handle, path = tempfile.mkstemp(suffix=".txt", prefix="kfe-splits-")
    try:
        with os.fdopen(handle, "w") as file:
            for parts in splits:
                for word, part in zip(("train", "test"), parts):
                    file.write(f"{word} {' '.join(map(str, np.asarray(part) + 1))}\n")
        yield path
    finally:
        os.unlink(path)


def library_splits(data: Data, options: dict[str, Any]) -> list[Split]:
    """The library's splits of the data with these options and the seed of the data's context."""
    pointer, count = c_void_p(), c_int64()
    data.context.call(lib.kfe_splits_make, data.pointer, options_text(options), byref(pointer))
    try:
        found = []
        for index in range(lib.kfe_splits_count(pointer)):
            parts = []
            for part in (lib.kfe_splits_train, lib.kfe_splits_test):
                address = part(pointer, index, byref(count))
                parts.append(view(address, (count.value,), None, "<i8").copy())
            found.append((parts[0], parts[1]))
        return found
    finally:
        lib.kfe_splits_free(pointer)


def take_rows(X: Any, rows: np.ndarray, columns: np.ndarray | None = None) -> Any:
    """Some rows of a table, of strings or of all views; for kernel matrices also some `columns` (None: all)."""
    from sklearn.utils import _safe_indexing
    if is_views(X):
        named = X.items() if isinstance(X, dict) else enumerate(X)
        taken = {name: take_rows(table, rows, columns) for name, table in named}
        return taken if isinstance(X, dict) else list(taken.values())
    found = _safe_indexing(X, rows)
    return found if columns is None else _safe_indexing(found, columns, axis=1)


def row_count(X: Any) -> int:
    if is_views(X):
        return row_count(next(iter(X.values())) if isinstance(X, dict) else X[0])
    return count_rows(X) if hasattr(X, "shape") else len(X)
