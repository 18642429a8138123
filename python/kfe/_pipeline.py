# SPDX-License-Identifier: Apache-2.0
"""Pipelines of scikit-learn that end in an estimator of this package: fitted ones for figures and reports, and their cross-validation,
which fits every step again on each training part."""
from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ._assess import HeldOut, Problem, assess_fits, held_rows, larger_is_better, pool, summarise
from ._results import POOLED


def is_pipeline(estimator: Any) -> bool:
    """Whether this is a pipeline of scikit-learn whose last step is an estimator of this package."""
    from sklearn.pipeline import Pipeline
    from ._base import Extractor
    return isinstance(estimator, Pipeline) and isinstance(estimator.steps[-1][1], Extractor)


class Parts(NamedTuple):
    """A fitted pipeline: what the steps before the last one do, and the last one, whose columns have the names that they give."""

    before: Any  # None: there is no other step
    last: Any

    def apply(self, X: Any) -> Any:
        return X if self.before is None or X is None else self.before.transform(X)


def _names_of(before: Any, given: Any) -> list[str] | None:
    """The names that the steps give to their columns; None if one of them gives no names."""
    try:
        return [str(name) for name in before.get_feature_names_out(given)]
    except (AttributeError, ValueError, TypeError):
        return None


def fitted_parts(pipeline: Any) -> Parts:
    """The parts of a fitted pipeline. The user's model is not changed: names are given to a copy."""
    from ._model import Model
    last = pipeline.steps[-1][1]
    if len(pipeline.steps) == 1:
        return Parts(None, last)
    before = pipeline[:-1]
    names = _names_of(before, getattr(pipeline, "feature_names_in_", None))
    if names is not None and hasattr(last, "_model") and last._model.view_columns == [len(names)] and last._model.column_names(0) is None:
        model = Model.from_bytes(last._model.to_bytes(), last._model.kernels)
        model.name_columns(names)
        last = copy.copy(last)
        last._model = model
    return Parts(before, last)


def _candidates(pipeline: Any, grid: Mapping[str, Any]) -> list[tuple[dict[str, Any], Any]]:
    """The settings of a grid with their pipelines. A name without a step is a parameter of the last step."""
    from sklearn.base import clone
    from sklearn.model_selection import ParameterGrid
    if not isinstance(grid, Mapping):
        raise TypeError("the grid of a pipeline is a dict of lists, such as {'dim': [1, 2], 'scaler__with_std': [True, False]}")
    for name, values in grid.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise TypeError(f"grid {name!r}: the values of a pipeline's parameter are a list")
    known, last = pipeline.get_params(), pipeline.steps[-1][0]
    own = {name: name if name in known and name not in ("memory", "verbose") else f"{last}__{name}" for name in grid}
    return [(setting, clone(pipeline).set_params(**{own[name]: value for name, value in setting.items()}))
            for setting in ParameterGrid({name: list(values) for name, values in grid.items()})]


def _mean_score(pipeline: Any, problem: Problem) -> tuple[float, dict[str, Any]]:
    """The first metric over the splits, larger is better, and all metrics."""
    splits, parts, _ = assess_fits(pipeline, problem)
    metrics = summarise(splits, problem.splits)
    if parts:
        pool(parts, problem.splits, metrics)
    name = problem.metrics[0]
    return (1 if larger_is_better(name) else -1) * metrics[name]["mean"], metrics


def _inner(problem: Problem, train: np.ndarray, divide: Any) -> Problem:
    from ._splits import take_rows
    groups = None if problem.groups is None else problem.groups[train]
    y, weights = problem.y[train], problem.weights_of(train)
    return problem._replace(X=take_rows(problem.X, train), y=y, groups=groups, weights=weights,
                            splits=divide(y, groups, weights, problem.inner_folds))


def _over(found: list[dict[str, Any]]) -> dict[str, dict[str, float | None]]:
    """Metrics of a setting: the average over the searches of the splits."""
    return {name: {part: float(np.mean(known)) if (known := [one[name][part] for one in found if one[name][part] is not None]) else None
                   for part in ("mean", "standard_error", "sd")} for name in found[0]}


def assess_pipeline(pipeline: Any, grid: Mapping[str, Any], problem: Problem, divide: Any) -> dict[str, Any]:
    """Each split fits all steps on its training rows only. With a grid, inner folds of the training rows choose the setting, and every
    inner fit has its own steps too. `divide` makes folds: (y, groups, weights, folds) → splits."""
    start = time.perf_counter()
    candidates = _candidates(pipeline, grid) if grid else [({}, pipeline)]
    outer = [assess_fits(each, problem) for _, each in candidates]
    chosen: list[int] = []
    inner: list[list[dict[str, Any]]] = [[] for _ in candidates]
    for train, _ in problem.splits:
        scores = [0.0]
        if len(candidates) > 1:
            part = _inner(problem, train, divide)
            found = [_mean_score(each, part) for _, each in candidates]
            scores = [score for score, _ in found]
            for rows, (_, metrics) in zip(inner, found):
                rows.append(metrics)
        chosen.append(int(np.argmax(scores)))
    splits = [{**outer[k][0][number], "setting": candidates[k][0]} for number, k in enumerate(chosen)]
    parts: list[HeldOut] = [outer[k][1][number] for number, k in enumerate(chosen) if outer[k][1]]
    held = held_rows(problem, [outer[k][2][number] for number, k in enumerate(chosen)], bool(parts))
    metrics = summarise(splits, problem.splits)
    pooled = {"pooled": pool(parts, problem.splits, metrics)} if parts else {}
    searched = _searched(candidates, outer, inner, problem) if len(candidates) > 1 else {"settings": []}
    return {"method": pipeline.steps[-1][1]._entry.name, "kernels": [], "learner": None, "metrics": metrics, **pooled, "splits": splits,
            "nested": len(candidates) > 1, **searched, **held, "fits": len(candidates) * len(splits) * (1 + problem.inner_folds * bool(grid)),
            "seconds": time.perf_counter() - start}


def _searched(candidates, outer, inner, problem: Problem) -> dict[str, Any]:
    """The settings, with their metrics on inner folds and their errors over the held-out predictions of the splits, and the best."""
    settings = []
    for (setting, _), (_, parts, _), found in zip(candidates, outer, inner):
        row = {"setting": setting, "metrics": _over(found)}
        if parts:
            pooled = pool(parts, problem.splits, {})
            row.update({name: pooled.get(name) for name in POOLED})
        settings.append(row)
    sign = 1 if larger_is_better(problem.metrics[0]) else -1
    best = max(settings, key=lambda each: sign * each["metrics"][problem.metrics[0]]["mean"])
    return {"settings": settings, "best": best["setting"]}


def best_pipeline(pipeline: Any, setting: Mapping[str, Any], X: Any, y: Any, weights: np.ndarray | None) -> Any:
    """The pipeline with this setting, fitted on all rows."""
    made = _candidates(pipeline, {name: [value] for name, value in setting.items()})[0][1]
    return made.fit(X, y, **weight_options(made, weights))


def weight_options(estimator: Any, weights: np.ndarray | None) -> dict[str, Any]:
    """Weights as an argument of fit; a pipeline of ours gives them to its last step."""
    if weights is None:
        return {}
    return {f"{estimator.steps[-1][0]}__sample_weight" if is_pipeline(estimator) else "sample_weight": weights}
