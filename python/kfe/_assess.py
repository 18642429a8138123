# SPDX-License-Identifier: Apache-2.0
"""Assessments that Python combines from searches of the library: grids over kernels and learners that it cannot
list, inner folds that keep groups together, and estimators of scikit-learn as baselines."""
from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from ctypes import byref, c_double
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _tables as tables
from ._abi import Judged
from ._context import Context
from ._errors import UnsupportedError
from ._kernels import kernel_list, kernel_text
from ._learners import learner_text
from ._lib import lib
from ._results import POOLED
from ._spec import is_precomputed
from ._splits import Split, take_rows

AXES = ("kernel", "learner")  # grid axes that are not parameters of the library's grids
MOST_HELD_OUT = 2000  # KFE_HELD_OUT_ROWS
SIGNIFICANT = 0.05  # as in the library's results


class Problem(NamedTuple):
    """The data, the splits and the options of an assessment."""

    X: Any
    y: np.ndarray
    splits: list[Split]
    groups: np.ndarray | None
    weights: np.ndarray | None
    inner_folds: int
    metrics: list[str]
    options: dict[str, Any]  # options of the library's search, except those that divide rows

    def part(self, estimator: Any, rows: np.ndarray, train: np.ndarray) -> Any:
        pairwise = is_precomputed(getattr(estimator, "kernel", None))
        return take_rows(self.X, rows, train if pairwise else None)

    def weights_of(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.weights is None else np.ascontiguousarray(self.weights[rows])


# ---- metrics ----


def larger_is_better(metric: str) -> bool:
    for info in tables.table_rows(lib.kfe_metric):
        if info.name.decode() == metric:
            return info.formula.decode().startswith("larger")
    raise ValueError(f"there is no metric {metric!r}")


def _scores(estimator: Any, X: Any, classes: np.ndarray) -> np.ndarray | None:
    """Scores of all classes; None if the estimator has none."""
    for name in ("predict_proba", "decision_function"):
        method = getattr(estimator, name, None)
        if method is None or not np.array_equal(getattr(estimator, "classes_", ()), classes):
            continue
        values = np.asarray(method(X), dtype=float)
        values = np.column_stack([-values, values]) if values.ndim == 1 else values
        if values.shape[1] == len(classes):
            return np.ascontiguousarray(values)
    return None


def _address(numbers: np.ndarray | None) -> int | None:
    return None if numbers is None else numbers.ctypes.data


def _measure(names: list[str], judged: Judged) -> dict[str, float]:
    context, found = Context(), {}
    for name in names:
        out = c_double()
        context.quick(lib.kfe_metric_compute, name.encode(), byref(judged), byref(out))
        found[name] = out.value
    return found


def class_metrics(estimator: Any, X: Any, truth: np.ndarray, names: list[str], weights: np.ndarray | None) -> dict[str, float]:
    """Metrics of a classifier from scikit-learn."""
    predicted = np.asarray(estimator.predict(X))
    classes = np.unique(np.concatenate([estimator.classes_, truth, predicted]))
    codes = [np.ascontiguousarray(np.searchsorted(classes, labels), np.int32) for labels in (truth, predicted)]
    scores = _scores(estimator, X, classes)
    return _measure(names, Judged(rows=len(truth), classes=len(classes), positive=len(classes) - 1, truth=_address(codes[0]),
                                  predicted=_address(codes[1]), scores=_address(scores), weights=_address(weights)))


class HeldOut(NamedTuple):
    """Residuals and targets of the test rows of a split, one column per target, and their weights."""

    residuals: np.ndarray
    targets: np.ndarray
    weights: np.ndarray


def held_out(estimator: Any, X: Any, truth: np.ndarray, weights: np.ndarray | None) -> HeldOut:
    targets, predicted = (np.asarray(each, dtype=float).reshape(len(truth), -1) for each in (truth, estimator.predict(X)))
    return HeldOut(predicted - targets, targets, np.ones(len(truth)) if weights is None else weights)


def value_metrics(estimator: Any, X: Any, truth: np.ndarray, names: list[str], weights: np.ndarray | None) -> dict[str, float]:
    """Metrics of a regressor from scikit-learn."""
    rows = len(truth)
    values = [np.ascontiguousarray(np.asarray(each, dtype=float).reshape(rows, -1)) for each in (truth, estimator.predict(X))]
    return _measure(names, Judged(rows=rows, cols=values[0].shape[1], true_values=_address(values[0]),
                                  predicted_values=_address(values[1]), weights=_address(weights)))


# ---- results in the library's format ----


def summarise(measured: list[dict[str, Any]], splits: list[Split]) -> dict[str, dict[str, float | None]]:
    """Mean, standard error and standard deviation of each metric over the splits."""
    return {name: _estimate(name, np.array([one["metrics"][name] for one in measured], dtype=float), splits)
            for name in (measured[0]["metrics"] if measured else ())}


def pool(parts: list[HeldOut], splits: list[Split], metrics: dict[str, dict[str, float | None]]) -> dict[str, float]:
    """Errors over all held-out predictions, as src/select/pool.c has them; they replace the means of rmse and r2 over splits."""
    mass = np.array([part.weights.sum() for part in parts])
    total, count = mass.sum(), len(parts)
    mean = sum(part.weights @ part.targets for part in parts) / total
    errors, squares = (np.array([part.weights @ part.residuals ** power for part in parts]) for power in (1, 2))
    spreads = np.array([part.weights @ (part.targets - mean) ** 2 for part in parts])
    mse, bias, share = squares.sum(0) / total, errors.sum(0) / total, squares.sum(0) / spreads.sum(0)
    rmse, q2 = float(np.sqrt(mse.mean())), float(1 - share.mean())
    overlap = sum(len(test) for _, test in splits) / sum(len(train) for train, _ in splits)
    factor = np.sqrt(count / (count - 1) * (1 + count * overlap)) if count > 1 else np.nan
    of_rmse = np.linalg.norm((squares - mass[:, None] * mse).mean(1)) / (2 * rmse * total) if rmse > 0 else 0
    of_r2 = np.linalg.norm((share * spreads - squares) / spreads.sum(0), axis=0).mean()
    for name, value, error in (("rmse", rmse, of_rmse), ("r2", q2, of_r2)):
        if name in metrics:
            known = [each for each in (metrics[name]["standard_error"], float(factor * error)) if each is not None and np.isfinite(each)]
            metrics[name].update(mean=value, standard_error=max(known, default=None))
    return {"predictions": float(total), "rmsecv": rmse, "rmsecv_error": float(factor * of_rmse) if np.isfinite(factor) else None, "q2": q2, "bias": float(bias.mean()),
            "sep": float(np.sqrt((total * (mse - bias ** 2) / (total - 1)).mean()))}


def _estimate(name: str, values: np.ndarray, splits: list[Split]) -> dict[str, float | None]:
    """As src/select/estimate.c: the larger of the corrected resampled and the binomial standard error."""
    train, test = (np.array([len(part) for part in parts], dtype=float) for parts in zip(*splits))
    sd, errors = None, []
    if len(values) > 1:
        sd = float(values.std(ddof=1)) if np.isfinite(values).all() else None
    if sd is not None:
        errors.append(sd * float(np.sqrt(1 / len(values) + test.sum() / train.sum())))
    if name in ("accuracy", "error"):
        share = float(values @ test / test.sum())
        rows = len(np.unique(np.concatenate([part for _, part in splits])))
        errors.append(float(np.sqrt(share * (1 - share) / rows)))
    return {"mean": float(values.mean()) if np.isfinite(values).all() else None, "standard_error": max(errors, default=None), "sd": sd}


def _split_entry(number: int, split: Split, measured: dict[str, float], setting: dict[str, Any], seconds: float) -> dict[str, Any]:
    return {"repeat": 1, "fold": number + 1, "train_rows": len(split[0]), "test_rows": len(split[1]), "setting": setting,
            "metrics": measured, "support_vectors": None, "seconds": seconds, "failed": None}


def held_rows(problem: Problem, predictions: list[np.ndarray], is_real: bool) -> dict[str, Any]:
    """The table of held-out predictions as the library makes it; empty if they are not kept."""
    keep, rows = problem.options.get("held_out", "auto"), []
    if keep in ("no", False) or (keep not in ("yes", True) and sum(map(len, predictions)) > MOST_HELD_OUT):
        return {}

    def shown(value):
        if not is_real:
            return str(value)
        numbers = [float(each) for each in np.ravel(value)]
        return numbers[0] if len(numbers) == 1 else {str(k + 1): each for k, each in enumerate(numbers)}

    for number, ((_, test), predicted) in enumerate(zip(problem.splits, predictions)):
        for row, value in zip(test, predicted):
            weight = {} if problem.weights is None else {"weight": float(problem.weights[row])}
            rows.append({"row": int(row) + 1, "split": number + 1, "repeat": 1, "fold": number + 1, **weight, "truth": shown(problem.y[row]),
                         "prediction": shown(value)})
    return {"held_out": rows}


def assess_fits(estimator: Any, problem: Problem) -> tuple[list[dict[str, Any]], list[HeldOut], list[np.ndarray]]:
    """Fits an estimator that follows scikit-learn's conventions on each training part. Returns for each split what was measured, the residuals of
    numbers, and the predictions of its test rows."""
    from sklearn.base import clone, is_regressor
    from ._pipeline import weight_options
    measure: Callable = value_metrics if is_regressor(estimator) else class_metrics
    splits, parts, predictions = [], [], []
    for number, (train, test) in enumerate(problem.splits):
        start = time.perf_counter()
        options = weight_options(estimator, problem.weights_of(train))
        fitted = clone(estimator).fit(take_rows(problem.X, train), problem.y[train], **options)
        measured = measure(fitted, take_rows(problem.X, test), problem.y[test], problem.metrics, problem.weights_of(test))
        splits.append(_split_entry(number, (train, test), measured, {}, time.perf_counter() - start))
        predictions.append(np.asarray(fitted.predict(take_rows(problem.X, test))))
        if is_regressor(estimator):
            parts.append(held_out(fitted, take_rows(problem.X, test), problem.y[test], problem.weights_of(test)))
    return splits, parts, predictions


def assess_baseline(estimator: Any, label: str, problem: Problem) -> dict[str, Any]:
    """Assesses an estimator from scikit-learn on the same splits, without tuning it."""
    from sklearn.utils.validation import has_fit_parameter
    from ._pipeline import is_pipeline
    if problem.weights is not None and not is_pipeline(estimator) and not has_fit_parameter(estimator, "sample_weight"):
        raise UnsupportedError(f"sample_weight: {label} takes no weights of examples; leave it or the weights out")
    splits, parts, predictions = assess_fits(estimator, problem)
    metrics = summarise(splits, problem.splits)
    pooled = {"pooled": pool(parts, problem.splits, metrics)} if parts else {}
    return {"label": label, "method": type(estimator).__name__, "kernels": [], "learner": None, "metrics": metrics, **pooled,
            "splits": splits, **held_rows(problem, predictions, bool(parts)), "fits": len(splits), "seconds": sum(split["seconds"] for split in splits)}


def differences(methods: list[dict[str, Any]], metric: str, share: float) -> list[dict[str, Any]]:
    """Tests of every pair of methods, as in the library's comparison."""
    context, found = Context(), []
    for a, b in itertools.combinations(methods, 2):
        values = [np.array([split["metrics"][metric] for split in method["splits"]], dtype=float) for method in (a, b)]
        row = {"a": a["label"], "b": b["label"], "difference": float(np.mean(values[0] - values[1]))}
        for name, overlap in (("paired", 0.0), ("corrected", share)):
            t, p = c_double(), c_double()
            context.quick(lib.kfe_paired_test, len(values[0]), values[0].ctypes.data, values[1].ctypes.data, overlap, byref(t),
                          byref(p))
            row[name] = {"t": t.value, "p": p.value, "significant": bool(p.value < SIGNIFICANT)}
        found.append(row)
    return found


# ---- nested searches over kernels and learners, and with groups ----


class Variant(NamedTuple):
    """One choice of kernel and learner, with the part of the grid that applies to it."""

    estimator: Any
    setting: dict[str, Any]
    grid: dict[str, Any]


def _applies(name: str, estimator: Any) -> bool:
    """Whether a grid parameter belongs to the estimator's kernel, method, learner or fit."""
    rows = [*estimator._entry.params, *tables.FIT_OPTIONS]
    for kernel in kernel_list(getattr(estimator, "kernel", None)):
        entry = tables.find_kernel(kernel.split(":")[0]) if isinstance(kernel, str) else None
        rows += entry.params if entry else ()
    learner = learner_text(estimator._used_learner())
    entry = tables.LEARNERS.get(learner.split(":")[0]) if isinstance(learner, str) else None
    rows += entry.params if entry else ()
    return any(name.rstrip("_").replace("_", "-") in (row.name, row.alias) for row in rows)


def _shown(axis: str, value: Any) -> Any:
    try:
        return kernel_text(value) if axis == "kernel" else learner_text(value)
    except TypeError:
        return repr(value)


def variants(estimator: Any, grid: Mapping[str, Any]) -> list[Variant]:
    """The estimator with each kernel and learner of the grid."""
    from sklearn.base import clone
    axes = {name: list(grid[name]) for name in AXES if name in grid}
    rest = {name: values for name, values in grid.items() if name not in axes}
    made = []
    for chosen in itertools.product(*axes.values()):
        one = clone(estimator).set_params(**dict(zip(axes, chosen)))
        made.append(Variant(one, {axis: _shown(axis, value) for axis, value in zip(axes, chosen)}, rest))
    used = {name for variant in made for name in rest if _applies(name, variant.estimator)}
    return [variant._replace(grid={name: values for name, values in rest.items()
                                   if name not in used or _applies(name, variant.estimator)}) for variant in made]


class Search(NamedTuple):
    """Chooses a setting on one training part: the library's search with explicit splits."""

    run: Callable  # (estimator, X, y, grid, splits, options, refit, groups, weights) → result, with best_estimator_ if refit
    inner: Callable  # training rows → splits of them


def assess_nested(estimator: Any, grid: Mapping[str, Any], problem: Problem, search: Search) -> dict[str, Any]:
    """Each training part chooses kernel, learner and parameters on its own inner splits."""
    from ._select import evaluate
    from sklearn.base import is_regressor
    choices, splits, parts, tried, start = variants(estimator, grid), [], [], {}, time.perf_counter()
    predictions = []
    for number, (train, test) in enumerate(problem.splits):
        begin = time.perf_counter()
        inner = search.inner(train)
        best = None
        for choice in choices:
            result = search.run(choice.estimator, problem.part(estimator, train, train), problem.y[train], choice.grid, inner,
                                problem.options, False, None, problem.weights_of(train))
            best = _better(best, choice, result, problem.metrics[0])
            _note(tried, choice, result)
        fitted = apply_setting(best[1].estimator, best[2]).fit(problem.part(estimator, train, train), problem.y[train],
                                                               sample_weight=problem.weights_of(train))
        measured = evaluate(fitted, problem.part(estimator, test, train), problem.y[test],
                            sample_weight=problem.weights_of(test), metrics=problem.metrics)
        splits.append(_split_entry(number, (train, test), dict(measured["metrics"]), {**best[1].setting, **best[2]},
                                    time.perf_counter() - begin))
        predictions.append(np.asarray(fitted.predict(problem.part(estimator, test, train))))
        if is_regressor(fitted):
            parts.append(held_out(fitted, problem.part(estimator, test, train), problem.y[test], problem.weights_of(test)))
    settings = list(tried.values())
    if is_regressor(estimator):
        _pool_settings(settings, choices, problem, search)
    metric, sign = problem.metrics[0], 1 if larger_is_better(problem.metrics[0]) else -1
    for each in settings:
        each["metrics"] = {name: _over_searches(values) for name, values in each["metrics"].items()}
    best = max(settings, key=lambda each: sign * each["metrics"][metric]["mean"])
    metrics = summarise(splits, problem.splits)
    pooled = {"pooled": pool(parts, problem.splits, metrics)} if parts else {}
    return {"method": estimator._entry.name, "kernels": [], "learner": None, "metrics": metrics, **pooled, "splits": splits,
            **held_rows(problem, predictions, is_regressor(estimator)), "nested": True, "settings": settings, "best": best["setting"], "fits": len(settings) * len(splits),
            "seconds": time.perf_counter() - start, "_best": best}


def _pool_settings(settings: list[dict[str, Any]], choices: list[Variant], problem: Problem, search: Search) -> None:
    """Gives each setting its errors over the held-out predictions of the splits asked for, as the library's searches do."""
    errors = {}
    for choice in choices:
        result = search.run(choice.estimator, problem.X, problem.y, choice.grid, problem.splits, problem.options, False, None,
                            problem.weights)
        for row in result.get("settings") or [{"setting": {}, **result["pooled"]}]:
            errors[repr({**choice.setting, **row["setting"]})] = {name: row.get(name) for name in POOLED}
    for each in settings:
        each.update(errors[repr(each["setting"])])


def _over_searches(found: list[dict[str, Any]]) -> dict[str, float | None]:
    """Mean, standard error and standard deviation of a setting in searches that share most of their rows: the average of each."""
    known = {part: [one[part] for one in found if one[part] is not None] for part in ("mean", "standard_error", "sd")}
    return {part: float(np.mean(values)) if values else None for part, values in known.items()}


def _rows_of(result: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The settings of a search with their metrics; a search without a grid has one setting."""
    rows = [(row["setting"], row["metrics"]) for row in result.get("settings") or ()
            if not row.get("failed")]
    return rows or [({}, result["metrics"])]


def _better(best: Any, choice: Variant, result: dict[str, Any], metric: str) -> Any:
    """(score, variant, setting) of the best choice so far; the first of equals."""
    sign = 1 if larger_is_better(metric) else -1
    for setting, metrics in _rows_of(result):
        score = sign * metrics[metric]["mean"]
        if best is None or score > best[0]:
            best = (score, choice, setting)
    return best


def _note(tried: dict[str, Any], choice: Variant, result: dict[str, Any]) -> None:
    for setting, metrics in _rows_of(result):
        whole = {**choice.setting, **setting}
        row = tried.setdefault(repr(whole), {"setting": whole, "metrics": {name: [] for name in metrics}, "variant": choice,
                                             "own": setting})
        for name, value in metrics.items():
            row["metrics"][name].append(value)


def apply_setting(estimator: Any, setting: Mapping[str, Any]) -> Any:
    """The estimator with the parameters that a search of the library chose."""
    from sklearn.base import clone
    from ._kernels import as_object
    made = clone(estimator)
    for name, value in setting.items():
        own = name.rstrip("_").replace("-", "_")
        python = tables.python_name(name)
        if python in made._parameter_names and python != "gamma":
            made.set_params(**{python: value})
        elif any(own in getattr(as_object(kernel), "_names", ()) for kernel in kernel_list(getattr(made, "kernel", None))):
            made.kernel = _kernels_with(made.kernel, own, value)
        else:
            made.learner_params = _learner_with(made.learner_params, name, value)
    return made


def _learner_with(params: Any, name: str, value: Any) -> Any:
    if isinstance(params, str):
        return f"{params},{name}={tables.as_text(value)}"
    return {**(params or {}), name: value}


def _kernels_with(kernel: Any, name: str, value: Any) -> Any:
    """The kernels with this value, where they have the parameter."""
    from ._kernels import KernelSum, ViewKernels, as_object, by_view
    views = by_view(kernel)
    if views is not None:
        return ViewKernels(**{view: _kernels_with(own, name, value) for view, own in views.items()})
    texts = kernel_list(kernel)
    found = [as_object(text) for text in texts]
    for each in found:
        if name in getattr(each, "_names", ()):
            each.set_params(**{name: value})
    return found[0] if len(found) == 1 else KernelSum(*found)
