# SPDX-License-Identifier: Apache-2.0
"""Views as groups of columns of one table (the estimators' parameter ``views``)."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._spec import is_precomputed


def _numbers(view: str, columns: Any, count: int) -> np.ndarray:
    """Column numbers from numbers, a slice or a mask."""
    if isinstance(columns, slice):
        return np.arange(count)[columns]
    found = np.asarray(list(columns))
    if found.dtype == bool and len(found) == count:
        return np.flatnonzero(found)
    if found.dtype.kind not in "iu" or len(found) == 0:
        raise ValueError(f"view {view!r} needs the numbers or the names of its columns, not {columns!r}")
    if found.min() < -count or found.max() >= count:
        raise ValueError(f"view {view!r} has the column {found.max() if found.max() >= count else found.min()}, but X has "
                         f"{count} columns, from 0 to {count - 1}")
    return found % count


def _by_name(view: str, columns: list[str], names: np.ndarray | None) -> np.ndarray:
    if names is None:
        raise ValueError(f"view {view!r} names its columns, but X has no names; give X as a DataFrame, or the columns' numbers")
    places = {name: place for place, name in enumerate(names)}
    missing = [name for name in columns if name not in places]
    if missing:
        raise ValueError(f"view {view!r} has the column {missing[0]!r}, but X has {', '.join(map(str, names[:10]))}"
                         f"{', ...' if len(names) > 10 else ''}")
    return np.array([places[name] for name in columns])


def find_columns(views: Any, count: int, names: np.ndarray | None) -> dict[str, np.ndarray]:
    """The column numbers of each view."""
    if not isinstance(views, Mapping) or not views:
        raise ValueError(f"views is a dict of columns by view, such as {{'left': range(0, 3), 'right': [3, 4]}}, not {views!r}")
    found = {}
    for view, columns in views.items():
        columns = [columns] if isinstance(columns, (str, int, np.integer)) else columns
        if not isinstance(columns, (slice, Iterable)):
            raise ValueError(f"view {view!r} needs a list of columns, not {columns!r}")
        listed = columns if isinstance(columns, slice) else list(columns)
        by_name = not isinstance(listed, slice) and listed and all(isinstance(each, str) for each in listed)
        found[str(view)] = _by_name(view, listed, names) if by_name else _numbers(view, listed, count)
    return found


def note_division(estimator, table: Any) -> None:
    """Finds the columns of each view in a validated table; the library divides it."""
    if is_precomputed(estimator.kernel):
        raise ValueError("views= divides columns of a table, which a kernel matrix does not have; give one matrix for each view")
    names = getattr(estimator, "feature_names_in_", None)
    found = {view: np.unique(columns) for view, columns in find_columns(estimator.views, table.shape[1], names).items()}
    estimator.view_columns_ = {view: len(columns) for view, columns in found.items()}
    estimator.view_feature_names_in_ = {} if names is None else {view: names[columns] for view, columns in found.items()}
    estimator._view_places = found
