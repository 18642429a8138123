# SPDX-License-Identifier: Apache-2.0
"""Columns of categories: the parameter ``encode`` of estimators. The library encodes; this module finds columns and texts."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from ._spec import kernel_flags
from ._tables import STRINGS
from ._validation import check_missing, is_views


class Texts(NamedTuple):
    """Columns of categories and the text of each row in them; None where it is missing."""

    columns: np.ndarray  # numbers, increasing
    words: list[list[str | None]]


def _column(X: Any, number: int) -> np.ndarray:
    return np.asarray(X.iloc[:, number] if hasattr(X, "iloc") else X[:, number], dtype=object)


def _is_missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _holds_text(X: Any, number: int) -> bool:
    if hasattr(X, "iloc") and str(X.dtypes.iloc[number]) == "category":
        return True
    return any(isinstance(value, str) for value in _column(X, number))


def _listed(columns: Any, X: Any) -> list[int]:
    """Columns by name or number."""
    columns = [columns] if isinstance(columns, (str, int, np.integer)) else list(columns)
    names, count, found = list(getattr(X, "columns", ())), X.shape[1], []
    for column in columns:
        if column in names and not isinstance(column, (bool, np.bool_)):
            found += [place for place, name in enumerate(names) if name == column]
        elif isinstance(column, (int, np.integer)) and -count <= column < count:
            found.append(int(column) % count)
        else:
            known = f"the columns {', '.join(map(str, names[:10]))}" if names else f"{count} columns, from 0 to {count - 1}"
            raise ValueError(f"encode names the column {column!r}, but X has {known}{', ...' if len(names) > 10 else ''}")
    return sorted(set(found))


def _find_columns(encode: Any, X: Any, ordered: Any = ()) -> list[int]:
    if isinstance(encode, str) and encode == "auto":
        return [number for number in range(X.shape[1]) if number not in ordered and _holds_text(X, number)]
    return _listed(encode, X)


def _ordered_columns(encode: Any, X: Any) -> dict[int, list[str]]:
    """The categories of the ordered columns of a DataFrame, in their order. A column that is named is encoded all the same."""
    if not (isinstance(encode, str) and encode == "auto" and hasattr(X, "iloc")):
        return {}
    return {number: [str(value) for value in kind.categories] for number, kind in enumerate(X.dtypes) if getattr(kind, "ordered", False)}


def _places(X: Any, number: int, categories: list[str]) -> np.ndarray:
    """1, 2, ... by the place of each text among ordered categories; NaN where it is missing."""
    known = {word: place for place, word in enumerate(categories, 1)}
    places = np.empty(len(X))
    for row, value in enumerate(_column(X, number)):
        if not _is_missing(value) and str(value) not in known:
            name = X.columns[number] if hasattr(X, "columns") else number
            raise ValueError(f"column {name!r} of X holds {str(value)!r} in row {row}, which is not among the ordered categories of "
                             f"the fit: {' < '.join(categories[:10])}{' < ...' if len(categories) > 10 else ''}")
        places[row] = np.nan if _is_missing(value) else known[str(value)]
    return places


def _put_places(X: Any, ordered: dict[int, list[str]]) -> Any:
    """X with numbers in its ordered columns."""
    if ordered:
        X = X.copy()
    for number, categories in ordered.items():
        places = _places(X, number, categories)
        if hasattr(X, "iloc"):
            X[X.columns[number]] = places
        else:
            X[:, number] = places
    return X


def _words(estimator, X: Any, number: int) -> list[str | None]:
    words = [None if _is_missing(value) else str(value) for value in _column(X, number)]
    if None in words and check_missing(estimator.missing) == "error":
        name = X.columns[number] if hasattr(X, "columns") else number
        raise ValueError(f"column {name!r} of X has a missing value in row {words.index(None)}; fill it in, or use "
                         "missing='most_frequent'")
    return words


def _without_texts(X: Any, columns: list[int]) -> Any:
    """X with zeros in the columns of text, for the checks of scikit-learn."""
    X = X.copy()
    for number in columns:
        if hasattr(X, "iloc"):
            X[X.columns[number]] = 0.0
        else:
            X[:, number] = 0.0
    return X


def split_texts(estimator, X: Any, reset: bool) -> tuple[Any, Texts | None]:
    """X as numbers, and the texts of its columns of categories. A fit finds the columns; new data has the same."""
    encode = getattr(estimator, "encode", None)
    if encode is None:
        return X, None
    if is_views(X) or issparse(X):
        raise ValueError(f"encode is for the columns of one dense table, not for {'sparse data' if issparse(X) else 'several'}")
    if kernel_flags(getattr(estimator, "kernel", None)) & STRINGS:
        raise ValueError("encode is for columns of categories, but the kernel takes examples that are strings; leave one of them out")
    X = X if hasattr(X, "iloc") else np.asarray(X, dtype=object)
    if X.ndim != 2:
        return X, None  # refused by the checks that follow
    if reset:
        estimator._ordered_columns = _ordered_columns(encode, X)
        estimator._encoded_columns = _find_columns(encode, X, estimator._ordered_columns)
    X = _put_places(X, {number: words for number, words in getattr(estimator, "_ordered_columns", {}).items() if number < X.shape[1]})
    columns = [number for number in estimator._encoded_columns if number < X.shape[1]]
    words = [_words(estimator, X, number) for number in columns]
    return _without_texts(X, columns), Texts(np.array(columns, np.int64), words)
