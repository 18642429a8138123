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
from ._errors import InputError, UnsupportedError
from ._partial import add_rows, can_accumulate
from ._spec import make_spec
from ._target import SeenNumbers
from ._validation import check_weights

__all__ = ["fit", "predict", "transform"]

ROWS_PER_LANDMARK = 20
LEAST_SAMPLE = 2000


def fit(estimator, X, y=None, *, sample_weight=None, sample: int | None = None, split_every: int = 8):
    """Fit an estimator on the partitions of a dask collection.

    Parameters
    ----------
    estimator : estimator of this package
        One that has ``partial_fit``; it is fitted in place.
    X : dask.array.Array or dask.dataframe.DataFrame
        The examples, divided by rows.
    y : dask.array.Array, dask.dataframe.Series or array-like, optional
        Their labels or targets, divided as X is, or in memory.
    sample_weight : dask.array.Array, dask.dataframe.Series or array-like, optional
        How many examples each row counts for, divided as X is, or in memory.
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
    parts = _partitions(X, y, sample_weight)
    started = delayed(_start(estimator, parts, sample, compute, delayed))
    model = delayed(copy.deepcopy(estimator))
    sums = [delayed(_add)(started, model, *part) for part in parts]
    while len(sums) > 1:
        sums = [delayed(_merge)(sums[k:k + split_every]) for k in range(0, len(sums), split_every)]
    return _adopt(estimator, *compute(sums[0])[0])


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


def _partitions(X, y, weights) -> list[tuple[Any, Any, Any]]:
    """Rows, targets and weights, as delayed values."""
    if hasattr(X, "to_dask_array"):  # a dataframe keeps its column names
        rows = list(X.to_delayed())
        return list(zip(rows, _frame_parts("y", y, len(rows)), _frame_parts("sample_weight", weights, len(rows))))
    X = _as_array(X)
    rows = X.to_delayed().ravel().tolist()
    return list(zip(rows, _array_parts("y", y, X), _array_parts("sample_weight", weights, X)))


def _frame_parts(name: str, y, count: int) -> list[Any]:
    if y is None:
        return [None] * count
    if not hasattr(y, "to_delayed"):
        raise TypeError(f"with a dask dataframe, {name} is a dask series or dataframe with the same partitions")
    targets = np.ravel(y.to_delayed()).tolist()
    if len(targets) != count:
        raise ValueError(f"X has {count} partitions, but {name} has {len(targets)}")
    return targets


def _array_parts(name: str, y, X) -> list[Any]:
    import dask.array

    if y is None:
        return [None] * X.numblocks[0]
    if hasattr(y, "to_dask_array"):
        y = y.to_dask_array(lengths=True)
    if not isinstance(y, dask.array.Array):
        y = dask.array.from_array(np.asarray(y), chunks=-1)
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, but {name} has {y.shape[0]}")
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
        taken = compute(*[delayed(_take)(*part, each, k) for k, part in enumerate(parts)])
        taken = [part for part in taken if part[0].shape[0]]
        if not taken:
            raise InputError("there are no rows, or all weights are zero, which leaves no examples")
        rows, target, weights = (_stack(blocks) for blocks in zip(*taken))
        model = copy.deepcopy(estimator)
        data = model._prepare(context, rows, target, reset=True, weights=weights)
        try:
            if weights is not None:
                data.set_weights(check_weights(weights, data.rows))
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


def _take(rows, target, weights, count: int, seed: int):
    """Some rows of a partition at random, in their order; rows of weight zero take no part in a fit."""
    able = np.arange(rows.shape[0]) if weights is None else np.flatnonzero(np.asarray(weights))
    index = np.sort(np.random.default_rng(seed).choice(able, min(count, len(able)), replace=False))

    def pick(a):
        return None if a is None else a.iloc[index] if hasattr(a, "iloc") else a[index]
    return pick(rows), pick(target), pick(weights)


def _add(started: bytes, estimator, rows, target, weights):
    """The sums of one partition, its labels, the numbers in its targets and what it says about columns."""
    sums = Accumulator.from_bytes(started)
    if rows.shape[0] == 0:
        return sums.to_bytes(), None, SeenNumbers(), None
    model, seen = copy.deepcopy(estimator), SeenNumbers()
    data = model._prepare(sums.context, rows, target, reset=True, seen=seen, weights=weights)
    try:
        add_rows(sums, data, weights)
    finally:
        data.free()
    columns = {name: value for name, value in vars(model).items() if name.endswith("_in_")}
    return sums.to_bytes(), vars(model).get("_all_classes"), seen, columns


def _merge(parts):
    whole, seen = Accumulator.from_bytes(parts[0][0]), SeenNumbers()
    for _, _, numbers, _ in parts:
        seen.merge(whole.context, numbers)
    for content, _, _, _ in parts[1:]:
        whole.merge(Accumulator.from_bytes(content))
    classes = [c for _, c, _, _ in parts if c is not None]
    columns = next((c for _, _, _, c in parts if c is not None), None)
    return whole.to_bytes(), np.unique(np.concatenate(classes)) if classes else None, seen, columns


def _adopt(estimator, content: bytes, classes, seen: SeenNumbers, columns):
    for name, value in (columns or {}).items():
        setattr(estimator, name, value)
    estimator._declared = None
    if classes is not None:
        estimator._all_classes = estimator.classes_ = classes
    estimator._sums, estimator._seen = Accumulator.from_bytes(content), seen
    estimator._begun = estimator._deciding_params()
    estimator._model  # makes the model now, so that failures appear here
    return estimator


def _apply(rows, estimator, method: str):
    return getattr(estimator, method)(rows)
