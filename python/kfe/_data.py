# SPDX-License-Identifier: Apache-2.0
"""Arrays as data sets of the library. Dense float64 and float32 in C order and CSR are wrapped without copying."""
from __future__ import annotations

import ctypes
import weakref
from ctypes import byref, c_char_p, c_void_p
from typing import Any, Sequence

import numpy as np

from ._arrays import string_array, view
from ._context import Context
from ._errors import UnsupportedError
from ._lib import lib

TASK_NONE, TASK_CLASSES, TASK_REAL = range(3)


class Data:
    """A data set and the arrays that it refers to."""

    def __init__(self, context: Context, pointer: int, kept: Any = None):
        self.context = context
        self.pointer = pointer
        self._finalizer = weakref.finalize(self, _free_data, pointer, context, kept)

    def free(self) -> None:
        self._finalizer()

    @property
    def rows(self) -> int:
        return lib.kfe_data_rows(self.pointer)

    def _check_count(self, what: str, given: int, expected: int) -> None:
        """Refuses another number of entries: the library gets an address and reads one entry per row."""
        if given != expected:
            raise ValueError(f"there are {given} {what}, but the data has {expected}")

    def set_labels(self, names: Sequence[str], codes: np.ndarray) -> None:
        """Row i belongs to the class named names[codes[i]]."""
        self._check_count("labels", len(codes), self.rows)
        written = [name.encode() for name in names]
        addresses = np.ascontiguousarray(string_array(written)[codes])
        self.context.quick(lib.kfe_data_set_labels, self.pointer, addresses.ctypes.data)

    def set_targets(self, targets: np.ndarray) -> None:
        self._check_count("targets", len(targets), self.rows)
        columns = np.ascontiguousarray(targets, np.float64).reshape(len(targets), -1)
        self.context.quick(lib.kfe_data_set_targets, self.pointer, columns.shape[1], columns.ctypes.data)

    def encode(self, texts: Any, model: Any = None) -> None:
        """Encodes columns of categories, with those of a model or (None) with those that are learned. `texts` is as in
        _encode."""
        self._check_count("texts in a column", len(texts.words[0]), self.rows)
        distinct = sorted({word for words in texts.words for word in words if word is not None})
        written = [word.encode() for word in distinct]
        places = {None: 0, **dict(zip(distinct, string_array(written).tolist()))}
        addresses = np.array([[places[word] for word in words] for words in texts.words], np.uint64)
        target = (self.pointer,) if model is None else (model.pointer, self.pointer)
        function = lib.kfe_data_encode if model is None else lib.kfe_data_encode_for_model
        self.context.quick(function, *target, len(texts.columns), texts.columns.ctypes.data, addresses.ctypes.data)

    def divide(self, views: dict[str, np.ndarray]) -> None:
        """Makes views of groups of columns, given by number. The library does the same for new data of the model."""
        names = (c_char_p * len(views))(*(str(view).encode() for view in views))
        lists = (c_char_p * len(views))(*(",".join(str(column + 1) for column in columns).encode() for columns in views.values()))
        self.context.quick(lib.kfe_data_divide, self.pointer, len(views), names, lists)

    def set_groups(self, groups: np.ndarray) -> None:
        """Groups of rows, as numbers, that cross-validation keeps together."""
        self._check_count("groups", len(groups), self.rows)
        codes = np.ascontiguousarray(groups, np.int64)
        self.context.quick(lib.kfe_data_set_groups, self.pointer, codes.ctypes.data)

    def set_weights(self, weights: np.ndarray) -> None:
        """How many examples each row counts for."""
        self._check_count("sample_weight", len(weights), self.rows)
        numbers = np.ascontiguousarray(weights, np.float64)
        self.context.quick(lib.kfe_data_set_weights, self.pointer, numbers.ctypes.data)

    def add_split(self, train: np.ndarray, test: np.ndarray) -> None:
        """A training and a test part that cross-validation uses instead of its own."""
        parts = [np.ascontiguousarray(part, np.int64) for part in (train, test)]
        self.context.quick(lib.kfe_data_add_split, self.pointer, len(parts[0]), parts[0].ctypes.data, len(parts[1]),
                           parts[1].ctypes.data)

    def set_missing(self, fill: str) -> None:
        """Treats NaNs as missing values, which every fit fills."""
        self.context.quick(lib.kfe_data_set_missing, self.pointer, fill.encode())

    def set_column_names(self, names: Sequence[str]) -> None:
        self._check_count("names of columns", len(names), lib.kfe_data_cols(self.pointer, 0))
        written = [str(name).encode() for name in names]
        addresses = string_array(written)  # its address alone does not keep it alive
        self.context.quick(lib.kfe_data_set_column_names, self.pointer, 0, addresses.ctypes.data)

    def to_arrays(self) -> tuple[Any, np.ndarray | None]:
        """The first view, dense or sparse, and a copy of the target: labels as text or integers, or real numbers."""
        rows, cols = lib.kfe_data_rows(self.pointer), lib.kfe_data_cols(self.pointer, 0)
        if lib.kfe_data_is_sparse(self.pointer, 0):
            return self._csr(rows, cols), self._target(rows)
        x = np.empty((rows, cols))
        for i in range(rows):
            self.context.check(lib.kfe_data_row(self.context.pointer, self.pointer, 0, i, x.ctypes.data + 8 * i * cols))
        return x, self._target(rows)

    def _csr(self, rows: int, cols: int) -> Any:
        from scipy.sparse import csr_matrix
        indptr = view(lib.kfe_data_csr_row_start(self.pointer, 0), (rows + 1,), self, "<i8").copy()
        entries = (int(indptr[-1]),)
        parts = (view(lib.kfe_data_csr_values(self.pointer, 0), entries, self).copy(),
                 view(lib.kfe_data_csr_columns(self.pointer, 0), entries, self, "<i4").copy(), indptr)
        return csr_matrix(parts, shape=(rows, cols))

    def _target(self, rows: int) -> np.ndarray | None:
        task = lib.kfe_data_task(self.pointer)
        if task == TASK_CLASSES:
            names = [lib.kfe_data_class_name(self.pointer, k).decode()
                     for k in range(lib.kfe_data_classes(self.pointer))]
            codes = np.fromiter((lib.kfe_data_class_of(self.pointer, i) for i in range(rows)), np.int64, rows)
            return class_labels(names)[codes]
        if task == TASK_REAL:
            cols = ctypes.c_int64()
            values = lib.kfe_data_targets(self.pointer, byref(cols))
            targets = view(values, (rows, cols.value), self).copy()
            return targets[:, 0] if cols.value == 1 else targets
        return None


def _free_data(pointer, _context, _kept):
    lib.kfe_data_free(pointer)


def class_labels(names: Sequence[str]) -> np.ndarray:
    """Class names as labels: booleans or integers if all are written as such, otherwise text."""
    if names and set(names) <= {"False", "True"}:
        return np.array([name == "True" for name in names])
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        numbers = []
    if numbers and [str(number) for number in numbers] == list(names):
        return np.array(numbers)
    return np.array(names, dtype=str)


def _wrap_dense(context: Context, x: np.ndarray) -> Data:
    pointer = c_void_p()
    rows, cols = x.shape
    single = x.dtype == np.float32
    if single and not hasattr(lib, "kfe_data_wrap_dense_f32"):  # an older library
        x, single = x.astype(np.float64), False
    wrap_rows = lib.kfe_data_wrap_dense_f32 if single else lib.kfe_data_wrap_dense
    context.quick(wrap_rows, rows, cols, cols, x.ctypes.data, byref(pointer))
    return Data(context, pointer.value, x)


MOST_COLUMNS = 2**31 - 1  # the library's column numbers of sparse rows are int32


def _wrap_csr(context: Context, x: Any) -> Data:
    if x.shape[1] > MOST_COLUMNS:
        raise ValueError(f"X has {x.shape[1]} columns, but sparse data can have {MOST_COLUMNS} at most")
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    kept = (np.ascontiguousarray(x.indptr, np.int64), np.ascontiguousarray(x.indices, np.int32),
            np.ascontiguousarray(x.data, np.float64))
    pointer = c_void_p()
    context.quick(lib.kfe_data_wrap_csr, *x.shape, *(array.ctypes.data for array in kept), byref(pointer))
    return Data(context, pointer.value, kept)


def _wrap_text(context: Context, strings: Sequence[str]) -> Data:
    written = [str(string).encode() for string in strings]
    pointer = c_void_p()
    addresses = string_array(written)  # its address alone does not keep it alive
    context.quick(lib.kfe_data_from_text, len(written), addresses.ctypes.data, byref(pointer))
    return Data(context, pointer.value)


def _wrap_views(context: Context, views: dict[str, Any], column_names: dict[str, Sequence[str]]) -> Data:
    if not hasattr(lib, "kfe_data_join_views"):
        raise UnsupportedError("this libkfe cannot join views from memory; use a newer one, or one array")
    parts = [wrap(context, x) for x in views.values()]
    for name, part in zip(views, parts):
        if name in column_names:
            part.set_column_names(column_names[name])
    pointers = (c_void_p * len(parts))(*(part.pointer for part in parts))
    names = (c_char_p * len(parts))(*(name.encode() for name in views))
    pointer = c_void_p()
    context.quick(lib.kfe_data_join_views, len(parts), pointers, names, byref(pointer))
    return Data(context, pointer.value, parts)


def wrap(context: Context, x: Any, column_names: dict[str, Sequence[str]] | None = None) -> Data:
    """A data set from validated input: an array, a CSR matrix, a list of strings, or a dict of views. `column_names` are
    the names of the views' columns, by view."""
    if isinstance(x, dict):
        return _wrap_views(context, x, column_names or {})
    if isinstance(x, list):
        return _wrap_text(context, x)
    if isinstance(x, np.ndarray):
        return _wrap_dense(context, x)
    return _wrap_csr(context, x)
