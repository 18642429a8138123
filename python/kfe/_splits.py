# SPDX-License-Identifier: Apache-2.0
"""Training and test parts: from scikit-learn's splitters, from users, and from the library."""
from __future__ import annotations

from ctypes import byref, c_int64, c_void_p
from typing import Any, NamedTuple

import numpy as np

from ._arrays import view
from ._data import Data
from ._lib import lib
from ._tables import options_text
from ._target import count_rows
from ._validation import is_views

Split = tuple[np.ndarray, np.ndarray]  # training and test rows, from 0

# Options of the library that determine how rows are divided.
DEFAULT_FOLDS = 5
DIVIDING = ("split", "folds", "repeats", "train_size", "stratified", "split_file")


class Division(NamedTuple):
    """The user's division of the rows."""

    cv: Any  # None, a number of folds, a splitter of scikit-learn, or pairs of training and test rows
    groups: Any  # a label for each row; rows of a group stay together; None: no groups

    @property
    def is_explicit(self) -> bool:
        """Whether cv gives the splits themselves; otherwise the library makes them."""
        return not (self.cv is None or isinstance(self.cv, (int, np.integer)))

    def codes(self, rows: int) -> np.ndarray | None:
        """The groups as numbers, for the library."""
        if self.groups is None:
            return None
        if len(self.groups) != rows:
            raise ValueError(f"groups has {len(self.groups)} labels, but y has {rows} rows")
        return group_codes(self.groups)


def group_codes(groups: Any) -> np.ndarray:
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < 2:
        raise ValueError("groups needs at least two different groups")
    return codes.ravel().astype(np.int64)


def with_folds(division: Division, options: dict[str, Any]) -> dict[str, Any]:
    """The options with cv's number of folds; with groups, at most as many folds as there are groups."""
    if division.is_explicit:
        given = [name for name in DIVIDING if name in options]
        if given:
            raise ValueError(f"cv says how the rows are divided; {given[0]} is an option of the library's own splits")
        return options
    found = options if division.cv is None else {**options, "folds": int(division.cv)}
    if division.groups is None or found.get("split", "folds") != "folds":
        return found
    return {**found, "folds": min(int(found.get("folds", DEFAULT_FOLDS)), len(np.unique(np.asarray(division.groups))))}


def explicit_splits(division: Division, X: Any, y: Any) -> list[Split] | None:
    """The pairs of training and test rows that cv gives; None: the library makes them."""
    if not division.is_explicit:
        return None
    rows = len(y)
    if hasattr(division.cv, "split"):
        table = np.zeros((rows, 1)) if is_views(X) or isinstance(X, list) else X
        pairs = division.cv.split(table, y, division.groups)
    else:
        pairs = division.cv
    return [_checked(number, pair, rows) for number, pair in enumerate(pairs)]


def give_splits(data: Data, splits: list[Split] | None, groups: np.ndarray | None, weights: np.ndarray | None = None) -> None:
    """Hands groups and weights of rows and the user's splits over to the library, which nests its searches in them."""
    if weights is not None:
        data.set_weights(weights)
    if groups is not None:
        data.set_groups(groups)
    for train, test in splits or ():
        data.add_split(train, test)


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
