# SPDX-License-Identifier: Apache-2.0
"""Checks of X in scikit-learn's words, for its old and new versions. Checks of y are in _target."""
from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _get_feature_names

from . import _tables as tables
from ._kernels import by_view
from ._spec import is_precomputed, kernel_flags

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6
    def validate_data(estimator, X, **options):
        return estimator._validate_data(X, **options)

# The layouts that the library works on; others are converted to the first.
LAYOUT = dict(dtype=[np.float64, np.float32], order="C")


def check_sparse(X: Any) -> None:
    """Refuses a CSR matrix with inconsistent arrays: compiled code would read beyond their ends."""
    if not issparse(X) or X.format != "csr":
        return
    starts, entries = np.asarray(X.indptr), min(len(X.indices), len(X.data))
    if len(starts) != X.shape[0] + 1 or starts[0] != 0 or np.any(np.diff(starts.astype(np.int64)) < 0):
        raise ValueError(f"the indptr of the CSR matrix must have {X.shape[0] + 1} values that begin with 0 and never fall")
    if starts[-1] > entries:
        raise ValueError(f"the indptr of the CSR matrix ends at {starts[-1]}, but its data and indices have {entries} entries")
    columns = X.indices[:starts[-1]]
    if len(columns) and (columns.min() < 0 or columns.max() >= X.shape[1]):
        raise ValueError(f"the indices of the CSR matrix must lie between 0 and {X.shape[1] - 1}, but range from "
                         f"{columns.min()} to {columns.max()}")


# scikit-learn 1.6 renamed it.
FINITE = "ensure_all_finite" if "ensure_all_finite" in inspect.signature(check_array).parameters else "force_all_finite"
FILLS = {"error": "error", "mean": "mean", "median": "median", "most_frequent": "most-frequent",
         "most-frequent": "most-frequent", "nipals": "nipals"}


def check_missing(missing: str) -> str:
    """The library's name for the way in which missing values are filled."""
    if missing not in FILLS:
        raise ValueError(f"missing is one of 'error', 'mean', 'median', 'most_frequent' and 'nipals', not {missing!r}")
    return FILLS[missing]


def finite_rule(estimator) -> dict[str, Any]:
    """The option of scikit-learn's checks that accepts or refuses NaNs."""
    return {FINITE: True if check_missing(estimator.missing) == "error" else "allow-nan"}


def check_table(table: Any, **options):
    """One table in the library's form: dense rows of float64 or float32, or CSR."""
    check_sparse(table)
    return check_array(table, accept_sparse=["csr"], **LAYOUT, **options)


def validate(estimator, X, reset: bool, finite: bool = True):
    """One table in the library's form. finite=False: NaNs and infinities are not looked for."""
    check_sparse(X)
    takes_sparse = estimator._entry.has(tables.SPARSE) and not is_precomputed(getattr(estimator, "kernel", None))
    sparse = ["csr"] if takes_sparse else False
    rule = finite_rule(estimator) if finite else {FINITE: False}
    try:
        return validate_data(estimator, X, reset=reset, accept_sparse=sparse, **LAYOUT, **rule)
    except ValueError as error:
        if "could not convert string" not in str(error) or getattr(estimator, "encode", None) is not None:
            raise
        raise ValueError(f"{error}; columns of text are encoded as categories with encode='auto' (see also "
                         "kernels on strings, such as kernel='spectrum')") from None


def is_views(X: Any) -> bool:
    """Whether X is several tables: a dict, or a list of two-dimensional arrays."""
    if isinstance(X, dict):
        return not issparse(X)  # a SciPy matrix may be a dict, too
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(len(getattr(table, "shape", ())) == 2 for table in X)


def _named_views(X: Any, expected: dict[str, int] | None) -> dict[str, Any]:
    """Views by name. Views in a list are named by position, or as in the fit; a dict may have any order."""
    if isinstance(X, dict):
        named = {str(name): table for name, table in X.items()}
        return {name: named[name] for name in expected} if expected and set(expected) == set(named) else named
    names = list(expected) if expected and len(expected) == len(X) else [f"view{k + 1}" for k in range(len(X))]
    return dict(zip(names, X))


def _check_view(estimator, name: str, table: Any):
    """A table, or strings if the view's kernel is on strings."""
    kernel = getattr(estimator, "kernel", None)
    views = by_view(kernel)
    own = kernel if views is None else views.get(name)
    try:
        return check_strings(table) if kernel_flags(own) & tables.STRINGS else check_table(table, **finite_rule(estimator))
    except ValueError as error:
        raise ValueError(f"view {name!r}: {error}") from None


def _check_view_names(estimator, found: dict[str, np.ndarray]) -> None:
    """Refuses tables whose column names or their order differ from those of the fit."""
    for view, names in found.items():
        expected = getattr(estimator, "view_feature_names_in_", {}).get(view)
        if expected is not None and list(names) != list(expected):
            raise ValueError(f"The feature names should match those that were passed during fit: view {view!r} has the "
                             f"columns {', '.join(names)}, but {type(estimator).__name__} was fitted on "
                             f"{', '.join(expected)} there. Give the views in the order of the fit, or as a dict.")


def check_views(estimator, X: Any, reset: bool) -> dict[str, Any]:
    expected = None if reset else getattr(estimator, "view_columns_", None)
    views = _named_views(X, expected)
    if not views:
        raise ValueError("X is empty: give at least one view, such as {'name': array}")
    checked = {name: _check_view(estimator, name, table) for name, table in views.items()}
    check_consistent_length(*checked.values())
    columns = {name: 1 if isinstance(table, list) else table.shape[1] for name, table in checked.items()}
    named = {name: _get_feature_names(table) for name, table in views.items()}
    named = {name: names for name, names in named.items() if names is not None}
    if reset:
        estimator.n_features_in_ = sum(columns.values())
        estimator.view_columns_ = columns
        estimator.view_feature_names_in_ = named
        vars(estimator).pop("feature_names_in_", None)
    elif expected is not None and columns != expected:
        raise ValueError(f"X has views of these features: {columns}, but {type(estimator).__name__} is expecting "
                         f"{expected} features as input")
    else:
        _check_view_names(estimator, named)
    return checked


def refuse_one_table(estimator) -> None:
    """Refuses a single table if the estimator was fitted on several views."""
    views = ", ".join(f"{name} ({columns} features)" for name, columns in estimator.view_columns_.items())
    raise ValueError(f"{type(estimator).__name__} was fitted on the views {views}, but X is one table; give X as a "
                     "list or dict of arrays, one for each view")


def check_strings(X: Any) -> list[str]:
    strings = list(np.asarray(X, dtype=object).ravel())
    if not strings or not all(isinstance(string, str) for string in strings):
        raise ValueError("a kernel on strings takes a list of strings, one for each example; for columns of numbers use a kernel "
                         "on numbers, such as kernel='rbf'")
    return strings


def check_weights(sample_weight: Any, rows: int) -> np.ndarray:
    """The weights of the examples as numbers, one for each row."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        return np.full(rows, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    return weights
