# SPDX-License-Identifier: Apache-2.0
"""Cross-validation, comparison, evaluation and measures of kernels: cv, compare, evaluate, measure."""
from __future__ import annotations

import os
from ctypes import byref, c_char_p, c_void_p
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from ._context import Context
from ._data import TASK_CLASSES
from ._kernels import by_view, kernel_list
from ._lib import lib
from ._model import STYLE_JSON, Model
from ._spec import make_spec
from ._tables import as_text, options_text

Grid = Mapping[str, Any]


class Report(dict):
    """A result as a dict, the same that the command line prints with ``--json``."""

    def to_dataframe(self):
        """The numbers as a table, for pandas to show."""
        raise NotImplementedError


class CrossValidation(Report):
    """The outcome of `cv`. ``best_estimator_`` is there if it was asked for."""

    def to_dataframe(self):
        """One row for each split: where it was, what was chosen, what was measured."""
        import pandas
        return pandas.DataFrame([_split_row(split) for split in self["splits"]])


class Comparison(Report):
    """The outcome of `compare`."""

    def to_dataframe(self):
        """One row for each method, with mean and standard deviation of each metric."""
        import pandas
        rows = [{"label": method["label"], **_summary(method)} for method in self["methods"]]
        return pandas.DataFrame(rows).set_index("label")

    def differences(self):
        """One row for each pair of methods, with tests of whether they differ."""
        import pandas
        rows = [{"a": pair["a"], "b": pair["b"], "difference": pair["difference"],
                 **{f"{test}_{key}": value for test in ("paired", "corrected") for key, value in pair[test].items()}}
                for pair in self["differences"]]
        return pandas.DataFrame(rows)


class Evaluation(Report):
    """The outcome of `evaluate`."""

    def to_dataframe(self):
        """The metrics, one row."""
        import pandas
        return pandas.DataFrame([self["metrics"]])


class Measures(list):
    """The outcome of `measure`: a dict for each kernel."""

    def to_dataframe(self):
        """One row for each kernel."""
        import pandas
        return pandas.DataFrame(list(self)).set_index("kernel")


def _split_row(split: dict[str, Any]) -> dict[str, Any]:
    row = {key: value for key, value in split.items() if key not in ("setting", "metrics")}
    return {**row, **split["setting"], **split["metrics"]}


def _summary(method: dict[str, Any]) -> dict[str, float]:
    return {f"{name}_{part}": values[part] for name, values in method["metrics"].items() for part in ("mean", "sd")}


def _grid_texts(grid: Grid | Iterable[str] | None) -> list[bytes]:
    """Grids as "NAME=a,b,c"; a value that is text, such as "0.01:10:log7", goes as it is."""
    if grid is None:
        return []
    if not isinstance(grid, Mapping):
        return [text.encode() for text in ([grid] if isinstance(grid, str) else grid)]
    written = []
    for name, values in grid.items():
        text = values if isinstance(values, str) else ",".join(as_text(value) for value in values)
        written.append(f"{name.rstrip('_').replace('_', '-')}={text}".encode())
    return written


def _strings(texts: Sequence[bytes]):
    return (c_char_p * len(texts))(*texts)


def cv(estimator, X, y, *, grid: Grid | Iterable[str] | None = None, refit: bool = False,
       **options: Any) -> CrossValidation:
    """Nested cross-validation of a classifier or regressor.

    Settings of a grid are compared on inner folds of each training part, so that the choice does not see what it
    is measured on. Kernel matrices are shared among settings and splits.

    Parameters
    ----------
    estimator : object
        A classifier or regressor of this package. Its random_state, n_threads, memory and verbose hold.
    X, y : array-like
    grid : dict, optional
        Values to try of parameters of the kernel, the method, the learner or the fit: ``{"gamma": [0.1, 1]}`` or
        ``{"gamma": "0.01:10:log7"}``.
    refit : bool, default=False
        Fit the best setting on all the data, as ``best_estimator_`` of the result.
    **options
        As the flags of ``kfe cv``: ``folds``, ``repeats``, ``inner_folds``, ``metrics`` and so on.

    Returns
    -------
    report : CrossValidation
        A dict; ``to_dataframe`` makes a table of it.

    Examples
    --------
    >>> import kfe
    >>> X, y = kfe.generate("iris")
    >>> report = kfe.cv(kfe.KOCClassifier(learner="knn"), X, y, grid={"gamma": [0.1, 1]}, folds=3)
    >>> report["metrics"]["accuracy"]["mean"] > 0.9
    True
    """
    estimator = _fresh(estimator)
    context = estimator._context()
    spec, grids = make_spec(context, estimator), _grid_texts(grid)
    spec.check()
    data = estimator._prepare(context, X, y, reset=True)
    best, text = c_void_p(), c_void_p()
    try:
        context.call(lib.kfe_cross_validate, spec.pointer, len(grids), _strings(grids), data.pointer,
                     options_text(options), STYLE_JSON, byref(best) if refit else None, byref(text))
    except BaseException:
        _let_go(context, text, best)
        raise
    finally:
        data.free()
    report = CrossValidation(context.take_json(text))
    if refit:
        report.best_estimator_ = _wrap_best(estimator, Model(context, best.value, spec.kernels, spec.callbacks), y)
    return report


def _fresh(estimator):
    """A copy that has seen no data; the user's stays as it is."""
    from sklearn.base import clone
    _check_own(estimator)
    return clone(estimator)


def _check_own(estimator) -> None:
    from ._base import Extractor
    from ._predict import Predicting
    if not isinstance(estimator, Extractor):
        what = estimator.__name__ + ", a class" if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(f"an estimator of this package is taken here, such as kfe.KOCClassifier(), not {what}; "
                        "pipelines and estimators of scikit-learn go into its cross_val_score and GridSearchCV")
    if not isinstance(estimator, Predicting):
        others = " or ".join(f"kfe.{other}" for other in estimator._predictors)
        raise TypeError(f"{type(estimator).__name__} gives features only and cannot predict; use {others} here")


def _let_go(context: Context, text: c_void_p, model: c_void_p | None = None) -> None:
    """Free the results of a call that was interrupted."""
    lib.kfe_string_free(context.pointer, text)
    lib.kfe_model_free(model)


def _wrap_best(estimator, model: Model, y):
    """An estimator of the best setting, with the labels as they were and running as the one it came from."""
    from ._estimators import from_model
    running = ("random_state", "n_threads", "memory", "verbose")
    labels = np.unique(y) if model.task == TASK_CLASSES else None
    return from_model(model, labels).set_params(**{name: getattr(estimator, name) for name in running})


def compare(estimators: Iterable[Any], X, y, *, grid: Grid | Iterable[str] | None = None,
            **options: Any) -> Comparison:
    """Several estimators on the same splits, with tests of which differ.

    Parameters
    ----------
    estimators : list
        Classifiers, or regressors, of this package. The random_state, n_threads, memory and verbose of the first hold
        for all.
    X, y : array-like
    grid : dict, optional
        As of `cv`; a parameter is varied for the estimators that have it.
    **options
        As the flags of ``kfe compare``.

    Returns
    -------
    report : Comparison
        A dict; ``to_dataframe`` and ``differences`` make tables of it.
    """
    if hasattr(estimators, "fit") or not isinstance(estimators, Iterable):
        raise TypeError(f"estimators is a list of estimators to compare, not {type(estimators).__name__}")
    estimators = [_fresh(estimator) for estimator in estimators]
    if not estimators:
        raise ValueError("there is nothing to compare")
    context = estimators[0]._context()
    specs, grids, text = [make_spec(context, item) for item in estimators], _grid_texts(grid), c_void_p()
    data = estimators[0]._prepare(context, X, y, reset=True)
    pointers = (c_void_p * len(specs))(*(spec.pointer for spec in specs))
    try:
        context.call(lib.kfe_compare, len(specs), pointers, len(grids), _strings(grids), data.pointer,
                     options_text(options), STYLE_JSON, byref(text))
    except BaseException:
        _let_go(context, text)
        raise
    finally:
        data.free()
    return Comparison(context.take_json(text))


def evaluate(estimator, X, y, **options: Any) -> Evaluation:
    """Metrics of a fitted estimator's predictions.

    Parameters
    ----------
    estimator : object or path
        Fitted, or the file of a model.
    X, y : array-like
    **options
        ``metrics=["accuracy", "f1"]``, ``positive="label"``.

    Returns
    -------
    report : Evaluation
        A dict with metrics, confusion matrix, and the points of the ROC and precision-recall curves.
    """
    if isinstance(estimator, (str, os.PathLike)):
        from ._estimators import load
        estimator = load(estimator)
    _check_own(estimator)
    from sklearn.utils.validation import check_is_fitted
    check_is_fitted(estimator)
    context, text = estimator._context(), c_void_p()
    data = estimator._prepare(context, X, y)
    try:
        context.call(lib.kfe_evaluate, estimator._model.pointer, data.pointer, options_text(options), STYLE_JSON,
                     byref(text))
    except BaseException:
        _let_go(context, text)
        raise
    finally:
        data.free()
    return Evaluation(context.take_json(text))


def _named_kernels(kernels: Any) -> list[str]:
    """Kernels as the library's measure takes them; those of views as "VIEW=KERNEL"."""
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
    """How well kernels suit the labels, before any fit: alignment, HSIC, effective rank.

    Parameters
    ----------
    X, y : array-like
    kernels : object, str, list or dict, default="rbf"
        A kernel, or a list of them, as estimators take them. With several views also a dict of kernels, or lists of
        them, by view.
    task : {'auto', 'classify', 'regress'}, default='auto'
    scale : str, default='none'
        Scaling of the columns, as of the estimators.
    n_threads : int, optional
    **options
        As the flags of ``kfe measure``.

    Returns
    -------
    measures : Measures
        A list with a dict for each kernel; ``to_dataframe`` makes a table of it.
    """
    from ._estimators import CLASSES
    names = _named_kernels(kernels)
    carrier = CLASSES["KPLS"](kernel=kernels, task=task, n_threads=n_threads)
    context, text = carrier._context(), c_void_p()
    data = carrier._prepare(context, X, y, reset=True)
    if scale != "none":
        options["scale"] = scale
    texts = [name.encode() for name in names]
    try:
        context.call(lib.kfe_measure, data.pointer, len(texts), _strings(texts), options_text(options), STYLE_JSON,
                     byref(text))
    except BaseException:
        _let_go(context, text)
        raise
    finally:
        data.free()
    return Measures(context.take_json(text))
