# SPDX-License-Identifier: Apache-2.0
"""Cross-validation, comparison, evaluation and measures of kernels: cv, compare, evaluate, measure."""
from __future__ import annotations

import os
import textwrap
from ctypes import byref, c_char_p, c_void_p
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from ._context import Context
from ._data import TASK_CLASSES
from ._kernels import Kernel, by_view, kernel_list, kernel_text
from ._lib import lib
from ._model import Model
from ._results import Comparison, CrossValidation, Evaluation, Measures, typed
from ._result import take
from ._spec import make_spec
from ._steps import chain_text
from ._tables import as_text, option_rows, options_text, python_name

Grid = Mapping[str, Any]

# scikit-learn's names of our metrics.
METRICS = {"roc_auc": "auc", "neg_root_mean_squared_error": "rmse", "neg_mean_absolute_error": "mae"}


# ---- options and grids ----


def documented(option: Callable) -> Callable:
    """Replaces the word OPTIONS in a docstring by the list of a table's options."""
    def decorate(function: Callable) -> Callable:
        lines = []
        for row in option_rows(option):
            text = f"- ``{python_name(row.name)}`` (default {row.default!r}): {row.help.rstrip('.')}."
            lines.append(textwrap.fill(text, 112, initial_indent=8 * " ", subsequent_indent=10 * " "))
        function.__doc__ = function.__doc__.replace(8 * " " + "OPTIONS", "\n".join(lines))
        return function
    return decorate


def clean_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with the library's names of metrics; options that are None are dropped."""
    found = {name: value for name, value in options.items() if value is not None}
    if "metrics" in found:
        names = found["metrics"].split(";") if isinstance(found["metrics"], str) else found["metrics"]
        found["metrics"] = [METRICS.get(name, name.replace("_", "-")) for name in names]
    return found


def clean_grid(grid: Grid | Iterable[str] | str | None) -> dict[str, Any] | list[str]:
    """A grid with the library's names of parameters; grids given as text are not changed."""
    if grid is None:
        return {}
    if isinstance(grid, str):
        return [grid]
    if not isinstance(grid, Mapping):
        return list(grid)
    found = {}
    for name, values in grid.items():
        short = name.removeprefix("kernel__").removeprefix("learner__")
        if isinstance(values, str) or not isinstance(values, Iterable):
            values = [values] if short in ("kernel", "learner") or not isinstance(values, str) else values
        found["dim" if short == "n_components" else short] = values
    return found


def _grid_texts(grid: dict[str, Any] | list[str]) -> list[bytes]:
    """Grids as "NAME=a,b,c"; a value that is text, such as "0.01:10:log7", is passed unchanged."""
    if isinstance(grid, list):
        return [text.encode() for text in grid]
    written = []
    for name, values in grid.items():
        if name == "prepare":
            text = "|".join(map(chain_text, [values] if isinstance(values, str) else values))
        else:
            text = values if isinstance(values, str) else ",".join(as_text(value) for value in values)
        written.append(f"{name.rstrip('_').replace('_', '-')}={text}".encode())
    return written


def _strings(texts: Sequence[bytes]):
    """The texts, with NULL at the end."""
    return (c_char_p * (len(texts) + 1))(*texts)


# ---- estimators ----


def _fresh(estimator):
    """An unfitted copy; the user's estimator is not changed."""
    from sklearn.base import clone
    _check_own(estimator)
    return clone(estimator)


def _check_own(estimator) -> None:
    from ._base import Extractor
    from ._predict import Predicting
    if not isinstance(estimator, Extractor):
        what = estimator.__name__ + ", a class" if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(f"this function takes an estimator of this package, such as kfe.KOCClassifier(), not {what}; "
                        "other estimators of scikit-learn go into kfe.compare, or its own cross_val_score")
    if not isinstance(estimator, Predicting):
        others = " or ".join(f"kfe.{other}" for other in estimator._predictors)
        raise TypeError(f"{type(estimator).__name__} gives features only and cannot predict; use {others} here")


def _let_go(result: c_void_p, model: c_void_p | None = None) -> None:
    """Frees the results of a call that was interrupted."""
    lib.kfe_result_free(result)
    lib.kfe_model_free(model)


def _wrap_best(estimator, model: Model, y):
    """An estimator of the best setting, with the user's labels and the original estimator's threads, memory and
    verbosity."""
    from ._estimators import from_model
    running = ("random_state", "n_threads", "memory", "device", "verbose")
    labels = np.unique(y) if model.task == TASK_CLASSES else None
    return from_model(model, labels).set_params(**{name: getattr(estimator, name) for name in running})


# ---- searches of the library ----


def _search(estimator, X, y, grid, splits: list | None, options: dict[str, Any], refit: bool, groups: Any = None,
            weights: Any = None) -> CrossValidation:
    """The library's cross-validation, on its own splits (None) or on given ones."""
    from ._splits import give_splits
    context = estimator._context()
    spec, grids = make_spec(context, estimator), _grid_texts(grid)
    spec.check()
    data = estimator._prepare(context, X, y, reset=True, weights=weights)
    best, found = c_void_p(), c_void_p()
    try:
        give_splits(data, splits, groups, weights)
        context.call(lib.kfe_cross_validate, spec.pointer, _strings(grids), data.pointer,
                     options_text(options), byref(best) if refit else None, byref(found))
    except BaseException:
        _let_go(found, best)
        raise
    finally:
        data.free()
    result = CrossValidation(typed(take(found)))
    if refit:
        result.best_estimator_ = _wrap_best(estimator, Model(context, best.value, spec.kernels, spec.callbacks), y)
    return result


def _inner_folds(options: Mapping[str, Any]) -> int:
    return int(options.get("inner_folds", next(row.default for row in option_rows(lib.kfe_cv_option)
                                               if row.name == "inner-folds")))


def _library_axis(axis: str, values: Any) -> list[str] | None:
    """The kernels or learners of a grid as the library's grids list them. None: some cannot be listed, such as functions,
    kernels of several parameters and learners with parameters."""
    from ._learners import learner_text
    try:
        texts = [kernel_text(value) if axis == "kernel" else learner_text(value) for value in values]
    except TypeError:
        return None
    separators = "," if axis == "kernel" else ",:"
    return texts if all(isinstance(text, str) and not set(separators) & set(text) for text in texts) else None


def _library_grid(estimators: Sequence[Any], grid: Any) -> Any:
    """The grid as the library's searches take it. None: Python runs the searches over kernels and learners."""
    from ._assess import AXES
    axes = [axis for axis in AXES if isinstance(grid, dict) and axis in grid]
    if "kernel" in axes and not all(isinstance(getattr(each, "kernel", None), (str, Kernel)) for each in estimators):
        return None
    listed = {axis: _library_axis(axis, grid[axis]) for axis in axes}
    return None if None in listed.values() else {**grid, **listed} if axes else grid


def _with_own_parameters(result: CrossValidation, estimator: Any, grid: Any) -> CrossValidation:
    """The result of a search over kernels or learners, each setting with the parameters that its kernel and learner have. The
    library fits settings that differ in others once, but lists all of them."""
    from ._assess import AXES, variants
    if not isinstance(grid, dict) or not any(axis in grid for axis in AXES):
        return result
    own = {tuple(each.setting.get(axis) for axis in AXES): {name.rstrip("_").replace("_", "-") for name in each.grid}
           for each in variants(estimator, grid)}

    def trimmed(setting):
        names = own.get(tuple(setting.get(axis) for axis in AXES))
        return setting if names is None else {name: value for name, value in setting.items() if name in AXES or name in names}

    rows = [{**row, "setting": trimmed(row["setting"])} for row in result.get("settings") or ()]
    result["settings"] = [row for k, row in enumerate(rows) if all(row["setting"] != before["setting"] for before in rows[:k])]
    for holder, key in [(result, "best"), *((split, "setting") for split in result["splits"])]:
        if holder.get(key):
            holder[key] = trimmed(holder[key])
    return result


def _weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    from ._validation import check_weights
    return None if sample_weight is None else check_weights(sample_weight, rows)


def _problem(estimator, X, y, division, options: dict[str, Any], weights: np.ndarray | None):
    """The problem to assess, with the user's splits or else the library's."""
    from sklearn.base import is_regressor
    from ._assess import Problem
    from ._splits import DIVIDING, explicit_splits, give_splits, library_splits
    y = np.asarray(y)
    groups, splits = division.codes(len(y)), explicit_splits(division, X, y)
    if splits is None:
        data = estimator._prepare(estimator._context(), X, y, reset=True, weights=weights)
        try:
            give_splits(data, None, groups, weights)
            splits = library_splits(data, {name: value for name, value in options.items() if name in DIVIDING})
        finally:
            data.free()
    metrics = options.get("metrics") or ["rmse" if is_regressor(estimator) else "accuracy"]
    rest = {name: value for name, value in options.items() if name not in DIVIDING}
    return Problem(X, y, splits, groups, weights, _inner_folds(options), metrics, {**rest, "metrics": metrics})


def _nested(estimator, grid, problem) -> dict[str, Any]:
    from ._assess import Search, assess_nested
    from ._splits import give_splits, group_codes, library_splits
    if problem.inner_folds < 2:
        raise ValueError("a grid over kernels or learners needs inner_folds of at least 2")
    if problem.options.get("choose", "min") != "min":
        raise ValueError("choose is a rule for grids of parameters; this grid has kernels or learners that only Python can vary")

    def inner(train):
        data = estimator._prepare(estimator._context(), problem.part(estimator, train, train), problem.y[train], reset=True,
                                  weights=problem.weights_of(train))
        groups = None if problem.groups is None else group_codes(problem.groups[train])
        folds = problem.inner_folds if groups is None else min(problem.inner_folds, int(groups.max()) + 1)
        try:
            give_splits(data, None, groups, problem.weights_of(train))
            return library_splits(data, {"folds": folds})
        finally:
            data.free()

    options = {**problem.options, "inner_folds": 0}
    return typed(assess_nested(estimator, grid, problem._replace(options=options), Search(_search, inner)))


def _cv_pipeline(pipeline, X, y, grid: Any, division, options: dict[str, Any], refit: bool,
                 weights: np.ndarray | None) -> CrossValidation:
    """Cross-validation of a pipeline, which Python runs: the library sees the columns that the steps give, fold by fold."""
    from sklearn.base import clone
    from ._pipeline import assess_pipeline, best_pipeline
    from ._splits import give_splits, group_codes, library_splits
    pipeline = clone(pipeline)
    last, grid = pipeline.steps[-1][1], {} if grid is None else grid
    _check_own(last)
    places = lambda rows: np.arange(rows, dtype=float).reshape(-1, 1)  # noqa: E731  the library's folds depend on y alone

    def divide(y, groups, weights, folds):
        codes = None if groups is None else group_codes(groups)
        data = clone(last)._prepare(last._context(), places(len(y)), y, reset=True, weights=weights)
        try:
            give_splits(data, None, codes, weights)
            return library_splits(data, {"folds": folds if codes is None else min(folds, int(codes.max()) + 1)})
        finally:
            data.free()

    problem = _problem(clone(last), places(len(np.asarray(y))) if not division.is_explicit else X, y, division, options, weights)
    if grid and problem.inner_folds < 2:
        raise ValueError("a grid over the steps of a pipeline needs inner_folds of at least 2")
    result = assess_pipeline(pipeline, grid, problem._replace(X=X), divide)
    found = CrossValidation(result)
    if refit:
        found.best_estimator_ = best_pipeline(pipeline, result.get("best") or {}, X, y, weights)
    return found


@documented(lib.kfe_cv_option)
def cv(estimator, X, y, *, grid: Grid | Iterable[str] | None = None, cv: Any = None, groups: Any = None,
       sample_weight: Any = None, refit: bool = False, **options: Any) -> CrossValidation:
    """Nested cross-validation of a classifier or regressor.

    Settings of a grid are compared on inner folds of each training part, so that test rows never influence the choice.
    Settings and splits share kernel matrices.

    Parameters
    ----------
    estimator : object
        A classifier or regressor of this package. Its random_state, n_threads, memory, device and verbose apply. Or a
        ``Pipeline`` of scikit-learn that ends in one: every step is fitted again on each training part. Its grid names
        steps, ``{"scaler__with_std": [True, False], "dim": [1, 2]}``; names without a step belong to the last one.
    X, y : array-like
    grid : dict, optional
        Values to try for parameters of the kernel, the method, the learner or the fit: ``{"gamma": [0.1, 1]}`` or
        ``{"gamma": "0.01:10:log7"}``. ``"kernel"`` and ``"learner"`` can be axes too:
        ``{"kernel": ["rbf", kfe.Laplacian()], "learner": ["svm", "knn"], "gamma": [0.1, 1]}``; a parameter varies
        only for kernels and learners that have it.
    cv : int, splitter or iterable, optional
        A number of folds, a splitter of scikit-learn such as ``KFold(5, shuffle=True)``, or pairs of training and
        test rows. None: by the options.
    groups : array-like of shape (n_samples,), optional
        A label for each row. Rows of one group stay together, in the splits and in the inner folds.
    sample_weight : array-like of shape (n_samples,), optional
        How many examples each row counts for, in the fits and in the metrics of the test rows.
    refit : bool, default=False
        Fit the best setting on all data, as ``best_estimator_`` of the result.
    **options
        Options of cross-validation:

        OPTIONS

    Returns
    -------
    result : CrossValidation
        A dict; ``to_dataframe`` converts it to a table with one row per split.

    Examples
    --------
    >>> import kfe
    >>> X, y = kfe.generate("iris")
    >>> result = kfe.cv(kfe.KOCClassifier(learner="knn"), X, y, grid={"gamma": [0.1, 1]}, folds=3)
    >>> result["metrics"]["accuracy"]["mean"] > 0.9
    True
    """
    from ._pipeline import is_pipeline
    from ._splits import Division, explicit_splits, with_folds
    division = Division(cv, groups)
    options, rows = with_folds(division, clean_options(options)), len(np.asarray(y))
    weights = _weights(sample_weight, rows)
    if is_pipeline(estimator):
        return _cv_pipeline(estimator, X, y, grid, division, options, refit, weights)
    estimator, grid = _fresh(estimator), clean_grid(grid)
    whole = _library_grid([estimator], grid)
    if whole is not None:
        result = _search(estimator, X, y, whole, explicit_splits(division, X, np.asarray(y)), options, refit,
                         division.codes(rows), weights)
        return _with_own_parameters(result, estimator, grid)
    result = _nested(estimator, grid, _problem(estimator, X, y, division, options, weights))
    return _finish_nested(result, X, y, refit, weights)


def _finish_nested(result: dict[str, Any], X, y, refit: bool, weights: np.ndarray | None) -> CrossValidation:
    """The result, with the best setting fitted on all data if requested."""
    from ._assess import apply_setting
    best = result.pop("_best")
    found = CrossValidation(result)
    if refit:
        found.best_estimator_ = apply_setting(best["variant"].estimator, best["own"]).fit(X, y, sample_weight=weights)
    for setting in found["settings"]:
        for key in ("variant", "own"):
            setting.pop(key)
    return found


# ---- comparison ----


def _named_estimators(estimators: Any) -> list[tuple[str | None, Any]]:
    if hasattr(estimators, "fit") or not isinstance(estimators, Iterable):
        raise TypeError(f"estimators is a list of estimators to compare, not {type(estimators).__name__}")
    pairs = estimators.items() if isinstance(estimators, Mapping) else estimators
    found = [(each[0], each[1]) if isinstance(each, tuple) and len(each) == 2 else (None, each) for each in pairs]
    if not found:
        raise ValueError("there is nothing to compare")
    return found


def _is_baseline(estimator: Any) -> bool:
    """Whether this is an estimator from scikit-learn or from another package that follows its conventions."""
    from sklearn.base import is_classifier, is_regressor
    from ._base import Extractor
    is_object = not isinstance(estimator, (Extractor, type))
    return is_object and hasattr(estimator, "get_params") and (is_classifier(estimator) or is_regressor(estimator))


def _label(estimator: Any) -> str:
    """The label of an estimator, as in the library: the method and the parameters that were changed."""
    entry = estimator._entry
    changed = [f"{row.name}={as_text(getattr(estimator, python_name(row.name)))}" for row in entry.params
               if repr(getattr(estimator, python_name(row.name))) != repr(row.default)]
    return ":".join(part for part in (entry.name, ",".join(changed)) if part)


def _distinct(labels: list[str], estimators: list[Any]) -> list[str]:
    """Distinct labels: equal ones are replaced by the estimators' texts and, if those are equal too, numbered."""
    found = [repr(estimator).replace("\n", " ") if labels.count(label) > 1 else label
             for label, estimator in zip(labels, estimators)]
    return [f"{label} ({found[:k].count(label) + 1})" if found.count(label) > 1 else label for k, label in enumerate(found)]


@documented(lib.kfe_compare_option)
def compare(estimators: Iterable[Any], X, y, *, grid: Grid | Iterable[str] | None = None, cv: Any = None,
            groups: Any = None, sample_weight: Any = None, **options: Any) -> Comparison:
    """Compare several estimators on the same splits, and test which of them differ.

    Parameters
    ----------
    estimators : list or dict
        Classifiers or regressors of this package and, as baselines, of scikit-learn: estimators, pairs of a label
        and an estimator, or a dict of them. The grid does not vary baselines. The random_state, n_threads, memory and
        verbose of this package's first estimator apply to all.
    X, y : array-like
    grid : dict, optional
        As for `cv`; a parameter varies only for estimators that have it.
    cv : int, splitter or iterable, optional
        As for `cv`.
    groups : array-like of shape (n_samples,), optional
        As for `cv`.
    sample_weight : array-like of shape (n_samples,), optional
        As for `cv`; baselines must take it too.
    **options
        Options of the comparison:

        OPTIONS

    Returns
    -------
    result : Comparison
        A dict; ``to_dataframe`` and ``differences`` convert it to tables.

    Examples
    --------
    >>> import kfe
    >>> from sklearn.svm import SVC
    >>> X, y = kfe.generate("iris")
    >>> kfe.compare([kfe.KFDClassifier(), SVC()], X, y, cv=3).to_dataframe().index.tolist()
    ['kfd', 'SVC']
    """
    from ._splits import Division, with_folds
    named = [(name, each if _is_baseline(each) else _fresh(each)) for name, each in _named_estimators(estimators)]
    division, grid = Division(cv, groups), clean_grid(grid)
    options = with_folds(division, clean_options(options))
    own = [each for _, each in named if not _is_baseline(each)]
    weights = _weights(sample_weight, len(np.asarray(y)))
    plain = len(own) == len(named) and all(name is None for name, _ in named)
    whole = _library_grid(own, grid)
    if plain and not division.is_explicit and whole is not None:
        return _compare_own(own, X, y, whole, None, options, division.codes(len(np.asarray(y))), weights)
    if not own:
        raise ValueError("compare needs at least one estimator of this package; scikit-learn has cross_val_score")
    return _compare_here(named, grid, _problem(own[0], X, y, division, options, weights))


def _compare_own(estimators: list[Any], X, y, grid, splits: list | None, options: dict[str, Any], groups: Any = None,
                 weights: Any = None) -> Comparison:
    """The library's comparison, on its own splits (None) or on given ones."""
    from ._splits import give_splits
    context = estimators[0]._context()
    specs, grids, found = [make_spec(context, item) for item in estimators], _grid_texts(grid), c_void_p()
    data = estimators[0]._prepare(context, X, y, reset=True, weights=weights)
    pointers = (c_void_p * len(specs))(*(spec.pointer for spec in specs))
    try:
        give_splits(data, splits, groups, weights)
        context.call(lib.kfe_compare, len(specs), pointers, _strings(grids), data.pointer,
                     options_text(options), byref(found))
    except BaseException:
        _let_go(found)
        raise
    finally:
        data.free()
    return Comparison(typed(take(found)))


def _compare_here(named: list[tuple[str | None, Any]], grid, problem) -> Comparison:
    """A comparison that Python combines: with baselines, users' labels, or nested searches."""
    from ._assess import assess_baseline, differences, larger_is_better
    own = [each for _, each in named if not _is_baseline(each)]
    whole = _library_grid(own, grid)
    if whole is None:
        results = [_finish_nested(_nested(each, grid, problem), None, None, False, None) for each in own]
        failed: list[Any] = []
    else:
        told = _compare_own(own, problem.X, problem.y, whole, problem.splits, problem.options, problem.groups,
                            problem.weights)
        results, failed = told["methods"], told["failed"]
        if len(results) < len(own):
            raise ValueError(f"not all estimators can be compared on this data: {failed}")
    labels = _distinct([name or (type(each).__name__ if _is_baseline(each) else _label(each)) for name, each in named],
                       [each for _, each in named])
    queue, methods = iter(results), []
    for label, (_, each) in zip(labels, named):
        methods.append(assess_baseline(each, label, problem) if _is_baseline(each) else {**next(queue), "label": label})
    metric = problem.metrics[0]
    sign = 1 if larger_is_better(metric) else -1
    best = max(methods, key=lambda method: sign * method["metrics"][metric]["mean"])["label"]
    share = sum(len(test) for _, test in problem.splits) / sum(len(train) for train, _ in problem.splits)
    return Comparison({"metric": metric, "best": best, "methods": methods, "failed": failed,
                       "differences": differences(methods, metric, share)})


# ---- evaluation and measures ----


@documented(lib.kfe_evaluate_option)
def evaluate(estimator, X, y, *, sample_weight: Any = None, **options: Any) -> Evaluation:
    """Compute metrics of a fitted estimator's predictions.

    Parameters
    ----------
    estimator : object or path
        A fitted estimator, a fitted pipeline that ends in one, or the path of a model file.
    X, y : array-like
    sample_weight : array-like of shape (n_samples,), optional
        How many examples each row counts for in the metrics.
    **options
        Options of evaluation:

        OPTIONS

    Returns
    -------
    result : Evaluation
        A dict with metrics, the confusion matrix, and the points of the ROC and precision-recall curves.
    """
    from ._pipeline import fitted_parts, is_pipeline
    if isinstance(estimator, (str, os.PathLike)):
        from ._estimators import load
        estimator = load(estimator)
    if is_pipeline(estimator):
        parts = fitted_parts(estimator)
        X, estimator = parts.apply(X), parts.last
    _check_own(estimator)
    from sklearn.utils.validation import check_is_fitted
    check_is_fitted(estimator)
    context, found = estimator._context(), c_void_p()
    data = estimator._prepare(context, X, y)
    try:
        if sample_weight is not None:
            data.set_weights(_weights(sample_weight, data.rows))
        context.call(lib.kfe_evaluate, estimator._model.pointer, data.pointer, options_text({"curves": True, **clean_options(options)}),
                     byref(found))
    except BaseException:
        _let_go(found)
        raise
    finally:
        data.free()
    return Evaluation(take(found))


def _named_kernels(kernels: Any) -> list[str]:
    """Kernels in the form of the library's measure; those of views as "VIEW=KERNEL"."""
    views = by_view(kernels)
    if views is not None:
        return [f"{view}={kernel}" for view, own in views.items() for kernel in _named_kernels(own)]
    names = kernel_list(kernels)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"kernels are given by name here, such as 'rbf:gamma=0.5', not as {type(name).__name__}; "
                            "compute the matrix of a kernel of your own and measure it as X with kernels='precomputed'")
    return names


def measure(X, y, kernels: Any = "rbf", *, task: str = "auto", scale: str = "none",
            n_threads: int | None = None, **options: Any) -> Measures:
    """Measure how well kernels suit the labels, without a fit: alignment, HSIC, effective rank.

    Parameters
    ----------
    X, y : array-like
    kernels : object, str, list or dict, default="rbf"
        A kernel or a list of kernels, as estimators accept them. With several views also a dict that gives a kernel, or a
        list of kernels, by view.
    task : {'auto', 'classify', 'regress'}, default='auto'
    scale : str, default='none'
        Scaling of the columns, as for the estimators.
    n_threads : int, optional
    **options
        As the flags of ``kfe measure``.

    Returns
    -------
    measures : Measures
        A list with one dict per kernel; ``to_dataframe`` converts it to a table.
    """
    from ._estimators import CLASSES
    names = _named_kernels(kernels)
    carrier = CLASSES["KPLS"](kernel=kernels, task=task, n_threads=n_threads)
    context, found = carrier._context(), c_void_p()
    data = carrier._prepare(context, X, y, reset=True)
    if scale != "none":
        options["scale"] = scale
    texts = [name.encode() for name in names]
    try:
        context.call(lib.kfe_measure, data.pointer, len(texts), _strings(texts), options_text(options), byref(found))
    except BaseException:
        _let_go(found)
        raise
    finally:
        data.free()
    return Measures(take(found))
