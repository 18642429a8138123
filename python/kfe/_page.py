# SPDX-License-Identifier: Apache-2.0
"""Figures and reports of the library: descriptions of figures for `kfe.plot`, SVG pictures, and HTML pages."""
from __future__ import annotations

import html
import json
import os
import pathlib
from collections.abc import Mapping
from ctypes import byref, c_void_p, string_at
from typing import Any

import numpy as np

from . import _tables as tables
from ._context import Context
from ._lib import lib, shown
from ._spec import options_text


def figures() -> dict[str, str]:
    """The figures that the library draws, with one line on each.

    Returns
    -------
    figures : dict
        Names as `kfe plot` takes them, and what each shows.
    """
    return {info.name.decode(): info.summary.decode() for info in tables.table_rows(lib.kfe_figure)}


def _results_text(results: Any) -> bytes:
    """The JSON of a search as the library writes it: settings are text there."""
    def plain(value: Any, key: str = "") -> Any:
        if isinstance(value, Mapping):
            if key in ("setting", "best"):
                return {name: tables.as_text(each) for name, each in value.items()}
            return {name: plain(each, name) for name, each in value.items() if not name.startswith("_")}
        if isinstance(value, (list, tuple)):
            return [plain(each) for each in value]
        if isinstance(value, np.generic):
            value = value.item()
        return None if isinstance(value, float) and not np.isfinite(value) else value

    return json.dumps(plain(results)).encode()


def _labelled(estimator: Any, context: Context, X: Any, y: Any) -> Any:
    """A data set of X with y, also for estimators that do not use y: figures colour examples by it."""
    if y is None or estimator._needs_target():
        return estimator._prepare(context, X, y, with_target=y is not None)
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import type_of_target
    from ._target import class_texts, encode_labels
    data = estimator._prepare(context, X, with_target=False)
    if type_of_target(y).startswith("continuous"):
        data.set_targets(np.asarray(y, dtype=float).reshape(len(y), -1))
    else:
        classes, codes = encode_labels(column_or_1d(y))
        data.set_labels(class_texts(classes), codes)
    return data


class Source:
    """A kfe_report with what its figures are drawn from; a context manager, since it borrows model and data."""

    def __init__(self, estimator: Any = None, test: Any = None, train: Any = None, results: Any = None, **options: Any):
        if isinstance(estimator, (str, os.PathLike)):
            from ._estimators import load
            estimator = load(estimator)
        if estimator is not None:
            from sklearn.utils.validation import check_is_fitted
            from ._pipeline import fitted_parts, is_pipeline
            if is_pipeline(estimator):
                check_is_fitted(estimator.steps[-1][1])
                parts = fitted_parts(estimator)
                estimator = parts.last
                train, test = ((parts.apply(pair[0]), *pair[1:]) if pair is not None and pair[0] is not None else pair
                               for pair in (train, test))
            check_is_fitted(estimator)
            if not hasattr(estimator, "_model"):
                raise TypeError(f"figures are drawn from estimators of kfe, not from {type(estimator).__name__}")
        self.estimator, self.results, self.data = estimator, results, []
        self.context = estimator._context() if estimator is not None else Context()
        self.pointer, self.parsed = c_void_p(), c_void_p()
        self.context.call(lib.kfe_report_new, options_text({k: v for k, v in options.items() if v is not None}),
                          byref(self.pointer))
        try:
            self._fill(train, test)
        except BaseException:
            self.__exit__()
            raise

    def _set_results(self) -> None:
        self.context.call(lib.kfe_result_parse, _results_text(self.results), byref(self.parsed))
        self.context.call(lib.kfe_report_set_results, self.pointer, self.parsed)

    def _fill(self, train: Any, test: Any) -> None:
        if self.estimator is not None:
            self.context.call(lib.kfe_report_set_model, self.pointer, self.estimator._model.pointer)
            pointers = [self._wrap(pair) for pair in (train, test)]
            self.context.call(lib.kfe_report_set_data, self.pointer, *pointers)
        if self.results is not None:
            self._set_results()

    def _wrap(self, pair: Any) -> Any:
        if pair is None or pair[0] is None:
            return None
        data = _labelled(self.estimator, self.context, *pair)
        self.data.append(data)
        return data.pointer

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_exception) -> None:
        lib.kfe_report_free(self.pointer)
        lib.kfe_result_free(self.parsed)
        for data in self.data:
            data.free()

    def _take(self, function, *arguments) -> str:
        text = c_void_p()
        call = lambda: self.context.call(function, self.pointer, *arguments, byref(text))  # noqa: E731
        call() if self.estimator is None else self.estimator._model._run(call)
        try:
            return string_at(text.value).decode()
        finally:
            lib.kfe_string_free(self.context.pointer, text)

    def figure(self, kind: str, style: str = "json") -> Any:
        text = self._take(lib.kfe_report_figure, kind.encode(), style.encode())
        return json.loads(text) if style == "json" else text

    def add(self, facts: Mapping[str, str]) -> None:
        for name, value in facts.items():
            self.context.call(lib.kfe_report_add_fact, self.pointer, name.encode(), str(value).encode())

    def page(self) -> str:
        return self._take(lib.kfe_report_html)


class Page:
    """An HTML report: ``html`` is its text; a notebook shows it in a frame."""

    def __init__(self, text: str):
        self.html = text

    def save(self, path: str | os.PathLike) -> None:
        """Write the page to a file."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Page of {len(self.html) / 1e6:.1f} MB; save(path) writes it>"

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html, quote=True)}" style="width:100%;height:80vh;border:0" '
                'title="report"></iframe>')


def report(source: Any, X: Any = None, y: Any = None, *, train: tuple[Any, Any] | None = None,
           path: str | os.PathLike | None = None, title: str | None = None, positive: str | None = None,
           metric: str | None = None) -> Page:
    """Make a page with every figure of a fitted estimator, or of the result of `cv` or `compare`.

    Parameters
    ----------
    source : estimator, path of a model file, or result of `cv` or `compare`
        A pipeline of scikit-learn that ends in an estimator of this package is shown as its last step sees the examples.
    X, y : array-like, optional
        Test examples, on which predictions are judged.
    train : tuple (X, y), optional
        Training examples, shown beside the test examples.
    path : path-like, optional
        Where to write the page.
    title, positive, metric : str, optional
        The title; the class of the ROC and precision-recall curves; the metric of figures about a search.

    Returns
    -------
    page : Page
        The page; ``page.save(path)`` writes it, and a notebook shows it.
    """
    options = {"title": title, "positive": positive, "metric": metric}
    results = source if isinstance(source, Mapping) else None
    estimator = getattr(source, "best_estimator_", None) if results is not None else source
    with Source(estimator, (X, y), train, results, **options) as made:
        made.add({"kfe": lib.kfe_version().decode(), "source": _describe(source)})
        page = Page(made.page())
    if path is not None:
        page.save(path)
    return page


def _describe(source: Any) -> str:
    return type(source).__name__ if isinstance(source, Mapping) else repr(source)


# ---- representations for notebooks ----


def table_html(rows: list[dict[str, Any]], most: int = 50) -> str:
    """Rows as an HTML table; names are escaped."""
    names = list(dict.fromkeys(name for row in rows for name in row))

    def cell(value: Any) -> str:
        return html.escape(f"{value:.4g}" if isinstance(value, float) else "" if value is None else shown(str(value)))

    head = "".join(f"<th>{html.escape(shown(str(name)))}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{cell(row.get(name))}</td>" for name in names) + "</tr>" for row in rows[:most])
    more = f"<p>and {len(rows) - most} more rows</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def result_text(results: Any) -> str:
    """Results as the tables that the command line prints."""
    context, parsed, text = Context(), c_void_p(), c_void_p()
    context.quick(lib.kfe_result_parse, _results_text(results), byref(parsed))
    try:
        context.quick(lib.kfe_result_describe, parsed, 0, byref(text))
        return string_at(text.value).decode().rstrip("\n")
    finally:
        lib.kfe_string_free(context.pointer, text)
        lib.kfe_result_free(parsed)


def picture_html(results: Mapping[str, Any], *kinds: str) -> str:
    """The first of these figures that the results have, as SVG."""
    for kind in kinds:
        try:
            with Source(results=results) as made:
                return made.figure(kind, "svg")
        except ValueError:
            continue
    return ""
