# SPDX-License-Identifier: Apache-2.0
"""Explanations of fitted estimators: tables in the user's own columns, and the attributes that linear models have."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from ctypes import byref, c_void_p
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_array, check_is_fitted

from ._arrays import OutMatrix
from ._errors import UnsupportedError
from ._lib import Matrix, lib, shown
from ._result import columns, numbers, tables
from ._result import values as values_of
from ._spec import options_text
from ._target import class_texts, encode_labels


class Table:
    """One table of an explanation: ``values`` with the labels of its ``rows`` and ``columns``."""

    def __init__(self, name: str, about: str, values: np.ndarray, rows: list[str], columns: list[str]):
        self.name, self.about, self.values = name, about, values
        self.rows, self.columns = rows, columns

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __repr__(self) -> str:
        return f"<Table {shown(self.name)}: {len(self.rows)} x {len(self.columns)}, {shown(self.about)}>"

    def to_dataframe(self):
        """The table as a pandas DataFrame with labels."""
        import pandas
        return pandas.DataFrame(self.values, index=self.rows, columns=self.columns)


class Explanation(Mapping):
    """The tables of an explanation by name; ``explanation["vip"]`` is a `Table`."""

    def __init__(self, tables: dict[str, Table]):
        self._tables = tables

    def __getitem__(self, name: str) -> Table:
        return self._tables[name.replace("_", "-")]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return "<Explanation: " + ", ".join(map(shown, self._tables)) + ">"

    def to_dataframe(self):
        """All numbers as one pandas table with the columns table, row, column and value."""
        import pandas
        return pandas.concat([table.to_dataframe().rename_axis("row").reset_index()
                              .melt("row", var_name="column").assign(table=name)[["table", "row", "column", "value"]]
                              for name, table in self._tables.items()], ignore_index=True)


def read_tables(pointer: c_void_p) -> dict[str, Table]:
    """The tables of an explanation, copied. The first column of a table has the labels of its rows."""
    found = {}
    for table in tables(pointer)[1:]:
        labels, *rest = columns(table)
        values = np.column_stack([numbers(column, table.rows) for column in rest]) if rest else np.zeros((table.rows, 0))
        found[table.name.decode()] = Table(table.name.decode(), table.about.decode(), values, list(map(str, values_of(labels, table.rows))),
                                           [column.name.decode() for column in rest])
    return found


def explain(context, model, data, options: dict[str, Any], train=None) -> Explanation:
    pointer = c_void_p()
    model._run(lambda: context.call(lib.kfe_explain_refit, model.pointer, train.pointer if train else None,
                                    data.pointer if data else None, options_text(options), byref(pointer)))
    try:
        return Explanation(read_tables(pointer))
    finally:
        lib.kfe_result_free(pointer)


class Explaining:
    """The part of an estimator that explains it."""

    def explain(self, X=None, y=None, *, train=None, **options) -> Explanation:
        """Why the model decides as it does, in the columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            Examples to explain the model on. Coefficients, loadings and explained variance need none.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Their labels or targets.
        train : pair (X_train, y_train), optional
            For models of several views, training examples on which the model is fitted again without each view in turn:
            the table ``views`` then has a column ``drop``, which says how much worse X is predicted.
        **options
            Options of ``kfe explain``, such as ``examples=True``.

        Returns
        -------
        explanation : mapping of names to tables
        """
        check_is_fitted(self)
        context = self._context()
        data = fitted = None
        try:
            if X is not None:
                data = self._prepare(context, X, y, with_target=y is not None)
                self._label_others(data, y)
            if train is not None:
                X_train, y_train = train
                fitted = self._prepare(context, X_train, y_train, with_target=True)
            return explain(context, self._model, data, options, fitted)
        finally:
            for each in (data, fitted):
                if each is not None:
                    each.free()

    def _label_others(self, data, y) -> None:
        """Classes of rows for a model that knows no target; numbers are none for it."""
        if y is None or self._needs_target() or self._may_use_target() or np.asarray(y).dtype.kind == "f":
            return
        classes, codes = encode_labels(column_or_1d(y, warn=True))
        data.set_labels(class_texts(classes), codes)

    def diagnostics(self, X, y=None, *, level=0.95, contributions=False) -> Explanation:
        """How far rows are from the training data: Hotelling's T², Q residuals (SPE), leverage and DModX, with their limits.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Real targets, for studentized residuals; classes, for a model without a target: the table ``accepted`` says how many rows of
            each are like its training data.
        level : float, default=0.95
            The share of rows like the training data that stays below each limit.
        contributions : bool, default=False
            Also the tables ``t2-contributions`` and ``q-contributions``: what each column adds to T² and Q of each row.

        Returns
        -------
        explanation : mapping of names to tables
            ``diagnostics``, ``limits`` and, with y, ``studentized``.
        """
        return self.explain(X, y, parts="diagnostics", level=level, examples=contributions)

    @property
    def diagnostics_(self) -> Explanation:
        """``diagnostics(X, y)`` of the training rows, found at first use. X and y are those of `fit`, not copies; files and copies
        of the estimator do not have them."""
        check_is_fitted(self)
        if "_training" not in vars(self):
            raise AttributeError("the training rows are not here, since the model was loaded, copied or fitted in parts; use diagnostics(X, y)")
        if "_training_diagnostics" not in vars(self):
            try:
                self._training_diagnostics = self.diagnostics(*self._training)
            except UnsupportedError as error:
                raise AttributeError(str(error)) from None
        return self._training_diagnostics

    def outliers(self, X, *, level=0.99) -> np.ndarray:
        """Which rows are unlike the training data: their T² or Q is above its limit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        level : float, default=0.99
            The share of rows like the training data that stays below each limit.

        Returns
        -------
        outliers : ndarray of bool, shape (n_samples,)
        """
        table = self.diagnostics(X, level=level)["diagnostics"]
        return table.values[:, table.columns.index("outlier")] > 0

    def members(self, X, *, alpha=0.05) -> np.ndarray:
        """Which rows belong to the training data, as DD-SIMCA decides: the p-value of their distance is alpha or more.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        alpha : float, default=0.05
            The share of rows like the training data that is refused.

        Returns
        -------
        members : ndarray of bool, shape (n_samples,)
        """
        table = self.diagnostics(X)["diagnostics"]
        p = table.values[:, table.columns.index("p-value")]
        if np.isnan(p).all():
            raise UnsupportedError("the model has no distance of T² and Q together: it is not linear in its columns, or its features explain them all")
        return p >= alpha

    def _linear_table(self, name: str) -> np.ndarray:
        check_is_fitted(self)
        try:
            tables = explain(self._context(), self._model, None, {"parts": "linear"})
        except UnsupportedError as error:
            raise AttributeError(str(error)) from None
        if name not in tables:
            raise AttributeError(f"this {type(self).__name__} has no {name}")
        return tables[name].values

    def _by_class(self, values: np.ndarray) -> np.ndarray:
        """Rows in the order of classes_, if there is one per class."""
        places = getattr(self, "_class_places", None)
        return values[np.argsort(places)] if places is not None and len(places) == len(values) else values

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the outputs on raw columns, (n_outputs, n_features_in): scaling and centring are undone."""
        return self._by_class(self._linear_table("coefficients").T)

    @property
    def intercept_(self) -> np.ndarray:
        """The outputs where every column is 0, (n_outputs,)."""
        return self._by_class(self._linear_table("intercept")[:, 0])

    @property
    def x_rotations_(self) -> np.ndarray:
        """Features per unit of each scaled column, (n_features_in, n_features_out)."""
        return self._linear_table("rotations")

    @property
    def x_weights_(self) -> np.ndarray:
        """The rotations made orthonormal, (n_features_in, n_features_out)."""
        return self._linear_table("weights")

    @property
    def x_loadings_(self) -> np.ndarray:
        """Loadings of the scaled columns, (n_features_in, n_features_out)."""
        return self._linear_table("x-loadings")

    @property
    def y_loadings_(self) -> np.ndarray:
        """Loadings of the targets, (n_targets, n_features_out); a class counts +1, the others -1."""
        return self._by_class(self._linear_table("y-loadings"))

    @property
    def x_explained_variance_ratio_(self) -> np.ndarray:
        """Share of the variance of the scaled columns that each feature explains."""
        return self._linear_table("x-variance")[:, 0]

    @property
    def y_explained_variance_ratio_(self) -> np.ndarray:
        """Share of the variance of the targets that each feature explains."""
        return self._linear_table("y-variance")[:, 0]

    @property
    def vip_(self) -> np.ndarray:
        """Variable importance in projection, (n_features_in,)."""
        return self._linear_table("vip")[:, 0]

    @property
    def selectivity_ratio_(self) -> np.ndarray:
        """Explained over unexplained variance of each column, (n_features_in, n_targets)."""
        return self._by_class(self._linear_table("selectivity-ratio").T).T

    @property
    def smc_(self) -> np.ndarray:
        """Significance multivariate correlation: F value of each column, (n_features_in, n_targets)."""
        return self._by_class(self._linear_table("smc").T).T

    def inverse_transform(self, Z):
        """Rows from features, in the units of the data.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_features_out)

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_in)
        """
        check_is_fitted(self)
        Z = np.ascontiguousarray(check_array(Z), dtype=float)
        context = self._context()
        out = OutMatrix(context)
        given = Matrix(Z.shape[0], Z.shape[1], Z.shape[1], Z.ctypes.data, None)
        self._model._run(lambda: context.call(lib.kfe_inverse_transform, self._model.pointer, byref(given), out.pointer))
        return out.array()
