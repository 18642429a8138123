# SPDX-License-Identifier: Apache-2.0
"""Fits on dask arrays and dataframes: every partition becomes sums over its rows, which are merged as a tree.

>>> import kfe.dask                                                                        # doctest: +SKIP
>>> model = kfe.dask.fit(kfe.KFDClassifier(landmarks=1000, learner="ls"), X, y)            # doctest: +SKIP
>>> kfe.dask.predict(model, X).compute()                                                   # doctest: +SKIP

The estimators are those with ``partial_fit``: linear methods, and kernel methods with ``landmarks``. The result is an ordinary
fitted estimator. No worker holds more than a partition, and only sums travel.
"""
from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ._accumulator import Accumulator
from ._errors import UnsupportedError
from ._partial import can_accumulate
from ._spec import make_spec

__all__ = ["fit", "predict", "transform"]

ROWS_PER_LANDMARK = 20
LEAST_SAMPLE = 2000


def fit(estimator, X, y=None, *, sample: int | None = None, split_every: int = 8):
    """Fit an estimator on the partitions of a dask collection.

    Parameters
    ----------
    estimator : estimator of this package
        One that has ``partial_fit``; it is fitted in place.
    X : dask.array.Array or dask.dataframe.DataFrame
        The examples, divided by rows.
    y : dask.array.Array, dask.dataframe.Series or array-like, optional
        Their labels or targets, divided as X is, or in memory.
    sample : int, optional
        Rows that decide scaling, kernel width and landmarks, taken from all partitions alike; by default 20 for each landmark and
        at least 2000. Linear methods need none.
    split_every : int
        Sums that are merged in one task.

    Returns
    -------
    estimator : object
    """
    from dask import compute, delayed

    if not can_accumulate(estimator):
        raise UnsupportedError("this estimator cannot be fitted from sums over rows: use a linear method, or a kernel method with "
                               "landmarks, and the learner 'ls' or 'centroid'")
    estimator._forget_fit()
    parts = _partitions(X, y)
    started = delayed(_start(estimator, parts, sample, compute, delayed))
    model = delayed(copy.deepcopy(estimator))
    sums = [delayed(_add)(started, model, rows, target) for rows, target in parts]
    while len(sums) > 1:
        sums = [delayed(_merge)(sums[k:k + split_every]) for k in range(0, len(sums), split_every)]
    content, classes, columns = compute(sums[0])[0]
    return _adopt(estimator, content, classes, columns)


def transform(estimator, X):
    """The features of a dask array or dataframe, as a dask array.

    Parameters
    ----------
    estimator : fitted estimator
    X : dask.array.Array or dask.dataframe.DataFrame

    Returns
    -------
    features : dask.array.Array
    """
    width = int(estimator._model.dim)
    table = _as_array(X)
    return table.map_blocks(_apply, estimator, "transform", dtype=float, chunks=(table.chunks[0], (width,)))


def predict(estimator, X):
    """The predictions for a dask array or dataframe, as a dask array.

    Parameters
    ----------
    estimator : fitted classifier or regressor
    X : dask.array.Array or dask.dataframe.DataFrame

    Returns
    -------
    predictions : dask.array.Array
    """
    table = _as_array(X)
    kind = estimator.classes_.dtype if hasattr(estimator, "classes_") else float
    return table.map_blocks(_apply, estimator, "predict", dtype=kind, drop_axis=1)


# ---- partitions ----

def _as_array(X):
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    return X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X


def _partitions(X, y) -> list[tuple[Any, Any]]:
    """Pairs of rows and targets, as delayed values."""
    if hasattr(X, "to_dask_array"):  # a dataframe keeps its column names
        rows = list(X.to_delayed())
        return list(zip(rows, _frame_targets(X, y, len(rows))))
    X = _as_array(X)
    rows = X.to_delayed().ravel().tolist()
    return list(zip(rows, _array_targets(X, y)))


def _frame_targets(X, y, count: int) -> list[Any]:
    if y is None:
        return [None] * count
    if not hasattr(y, "to_delayed"):
        raise TypeError("with a dask dataframe, y is a dask series or dataframe with the same partitions")
    targets = np.ravel(y.to_delayed()).tolist()
    if len(targets) != count:
        raise ValueError(f"X has {count} partitions, but y has {len(targets)}")
    return targets


def _array_targets(X, y) -> list[Any]:
    import dask.array

    if y is None:
        return [None] * X.numblocks[0]
    if hasattr(y, "to_dask_array"):
        y = y.to_dask_array(lengths=True)
    if not isinstance(y, dask.array.Array):
        y = dask.array.from_array(np.asarray(y), chunks=-1)
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, but y has {y.shape[0]}")
    y = y.rechunk((X.chunks[0], *((-1,) * (y.ndim - 1))))
    return y.to_delayed().ravel().tolist()


# ---- tasks ----

def _start(estimator, parts, sample, compute, delayed) -> bytes:
    """The accumulator that every partition copies."""
    context = estimator._context()
    sums = Accumulator.new(context, make_spec(context, estimator))
    landmarks = getattr(estimator, "landmarks", None)
    if isinstance(landmarks, (int, np.integer)):
        wanted = sample or max(LEAST_SAMPLE, ROWS_PER_LANDMARK * landmarks)
        each = -(-wanted // len(parts))
        taken = compute(*[delayed(_take)(rows, target, each, k) for k, (rows, target) in enumerate(parts)])
        taken = [(x, t) for x, t in taken if len(x)]
        model = copy.deepcopy(estimator)
        data = model._prepare(context, _stack([x for x, _ in taken]), _stack([t for _, t in taken]), reset=True)
        try:
            sums.start(data)
        finally:
            data.free()
    return sums.to_bytes()


def _stack(blocks):
    if blocks[0] is None:
        return None
    if hasattr(blocks[0], "iloc"):
        import pandas
        return pandas.concat(blocks)
    if hasattr(blocks[0], "tocsr"):
        from scipy import sparse
        return sparse.vstack(blocks).tocsr()
    return np.concatenate(blocks)


def _take(rows, target, count: int, seed: int):
    """Some rows of a partition at random, in their order."""
    size = rows.shape[0]
    index = np.sort(np.random.default_rng(seed).choice(size, min(count, size), replace=False))
    pick = (lambda a: a.iloc[index]) if hasattr(rows, "iloc") else (lambda a: a[index])
    return pick(rows), None if target is None else (target.iloc[index] if hasattr(target, "iloc") else target[index])


def _add(started: bytes, estimator, rows, target):
    """The sums of one partition, its labels and what it says about columns."""
    sums = Accumulator.from_bytes(started)
    if rows.shape[0] == 0:
        return sums.to_bytes(), None, None
    model = copy.deepcopy(estimator)
    data = model._prepare(sums.context, rows, target, reset=True)
    try:
        sums.add(data)
    finally:
        data.free()
    columns = {name: value for name, value in vars(model).items() if name.endswith("_in_")}
    return sums.to_bytes(), vars(model).get("_all_classes"), columns


def _merge(parts):
    whole = Accumulator.from_bytes(parts[0][0])
    for content, _, _ in parts[1:]:
        whole.merge(Accumulator.from_bytes(content))
    classes = [c for _, c, _ in parts if c is not None]
    columns = next((c for _, _, c in parts if c is not None), None)
    return whole.to_bytes(), np.unique(np.concatenate(classes)) if classes else None, columns


def _adopt(estimator, content: bytes, classes, columns):
    for name, value in (columns or {}).items():
        setattr(estimator, name, value)
    estimator._declared = None
    if classes is not None:
        estimator._all_classes = estimator.classes_ = classes
    estimator._sums = Accumulator.from_bytes(content)
    estimator._begun = estimator._deciding_params()
    estimator._model  # makes the model now, so that failures appear here
    return estimator


def _apply(rows, estimator, method: str):
    return getattr(estimator, method)(rows)
