# SPDX-License-Identifier: Apache-2.0
"""Fitted models of the library."""
from __future__ import annotations

import os
import weakref
from ctypes import byref, c_char_p, c_int64, c_size_t, c_void_p, string_at
from typing import Any, Callable

import numpy as np

from ._arrays import OutMatrix, view
from ._callbacks import kernel_callback
from ._context import Context
from ._data import Data
from ._lib import PartInfo, lib

STYLE_JSON = 1


class Model:
    """A model, the context that made it, and the Python functions of its kernels.

    Models are immutable, so any number of threads may use one model, each with a context of its own.
    """

    def __init__(self, context: Context, pointer: int, kernels: dict[str, Callable] | None = None,
                 kept: Any = None):
        self.context = context
        self.pointer = pointer
        self.kernels = kernels or {}
        self._finalizer = weakref.finalize(self, _free_model, pointer, context, kept)

    # ---- making ----

    @classmethod
    def fit(cls, context: Context, spec, data: Data) -> "Model":
        pointer = c_void_p()
        try:
            context.call(lib.kfe_fit, spec.pointer, data.pointer, byref(pointer))
        except BaseException:
            lib.kfe_model_free(pointer)
            raise
        return cls(context, pointer.value, spec.kernels, spec.callbacks)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Model":
        context, pointer = Context(), c_void_p()
        context.call(lib.kfe_model_load, os.fsencode(path), byref(pointer))
        return cls(context, pointer.value)

    @classmethod
    def from_bytes(cls, content: bytes, kernels: dict[str, Callable] | None = None) -> "Model":
        context, pointer = Context(), c_void_p()
        context.call(lib.kfe_model_load_bytes, c_char_p(content), len(content), byref(pointer))
        model = cls(context, pointer.value)
        model.bind(kernels or {})
        return model

    def bind(self, kernels: dict[str, Callable]) -> None:
        """Binds Python functions to the kernels that need them."""
        callbacks = {name: kernel_callback(self.context.events, function, name) for name, function in kernels.items()}
        for name, callback in callbacks.items():
            self.context.call(lib.kfe_model_bind_kernel, self.pointer, name.encode(), callback, None)
        self.kernels = dict(kernels)
        self._callbacks = callbacks

    # ---- saving and loading ----

    def save(self, path: str | os.PathLike) -> None:
        self.context.call(lib.kfe_model_save, self.pointer, os.fsencode(path))

    def to_bytes(self) -> bytes:
        context, content, size = Context(), c_void_p(), c_size_t()
        context.call(lib.kfe_model_save_bytes, self.pointer, byref(content), byref(size))
        try:
            return string_at(content.value, size.value)
        finally:
            lib.kfe_string_free(context.pointer, content)

    def to_onnx(self, precision: str) -> bytes:
        context, content, size = Context(), c_void_p(), c_size_t()
        context.call(lib.kfe_model_export_onnx_bytes, self.pointer, f"precision={precision}".encode(), byref(content),
                     byref(size))
        try:
            return string_at(content.value, size.value)
        finally:
            lib.kfe_string_free(context.pointer, content)

    def __reduce__(self):
        return Model.from_bytes, (self.to_bytes(), self.kernels)

    # ---- applying ----

    def _run(self, call: Callable[[], Any]) -> Any:
        """Runs a call; kernels that are Python functions report to the context that made the model."""
        try:
            return call()
        finally:
            error, self.context.events.error = self.context.events.error, None
            if error is not None:
                raise error

    def transform(self, context: Context, data: Data) -> np.ndarray:
        out = OutMatrix(context)
        self._run(lambda: context.call(lib.kfe_transform, self.pointer, data.pointer, out.pointer))
        return out.array()

    def predict(self, context: Context, data: Data) -> tuple[np.ndarray, OutMatrix]:
        """Class numbers or values, and the decision values."""
        answers, scores = OutMatrix(context), OutMatrix(context)
        self._run(lambda: context.call(lib.kfe_predict, self.pointer, data.pointer, answers.pointer, scores.pointer))
        return answers.array(), scores

    def predict_path(self, context: Context, data: Data) -> np.ndarray:
        """Class numbers, (n_samples, n_features_out, 1), or values, (n_samples, n_features_out, n_targets)."""
        out = OutMatrix(context)
        self._run(lambda: context.call(lib.kfe_predict_path, self.pointer, data.pointer, out.pointer))
        return out.array().reshape(len(out.array()), self.dim, -1)

    def probabilities(self, context: Context, data: Data) -> np.ndarray:
        """Probabilities of the classes, in the library's order."""
        answers, found = OutMatrix(context), OutMatrix(context)
        self._run(lambda: context.call(lib.kfe_predict_probabilities, self.pointer, data.pointer, answers.pointer,
                                       found.pointer))
        return found.array()

    def intervals(self, context: Context, data: Data, level: float) -> np.ndarray:
        """The ends of the intervals of each target, or for each class whether it is in the set, in the library's order."""
        answers, found = OutMatrix(context), OutMatrix(context)
        self._run(lambda: context.call(lib.kfe_predict_intervals, self.pointer, data.pointer, level, answers.pointer,
                                       found.pointer))
        return found.array()

    @property
    def calibration(self) -> str:
        name = lib.kfe_model_calibration(self.pointer)
        return name.decode() if name else "none"

    def class_scores(self, context: Context, scores: OutMatrix) -> np.ndarray:
        out = OutMatrix(context)
        context.call(lib.kfe_class_scores, self.pointer, scores.pointer, out.pointer)
        return out.array()

    # ---- inspecting ----

    @property
    def method(self) -> str:
        return lib.kfe_model_method(self.pointer).decode()

    @property
    def learner(self) -> str | None:
        name = lib.kfe_model_learner(self.pointer)
        return name.decode() if name else None

    @property
    def predicts(self) -> bool:
        return lib.kfe_model_outputs(self.pointer) > 0

    @property
    def task(self) -> int:
        return lib.kfe_model_task(self.pointer)

    @property
    def dim(self) -> int:
        return lib.kfe_model_dim(self.pointer)

    @property
    def class_names(self) -> list[str]:
        return [lib.kfe_model_class_name(self.pointer, k).decode()
                for k in range(lib.kfe_model_classes(self.pointer))]

    @property
    def view_columns(self) -> list[int]:
        return [lib.kfe_model_cols(self.pointer, v) for v in range(lib.kfe_model_views(self.pointer))]

    @property
    def source_columns(self) -> int:
        """Columns of the first view before categories are encoded."""
        return lib.kfe_model_source_cols(self.pointer, 0)

    def column_names(self, view: int) -> np.ndarray | None:
        """The names of all columns of a view; None if a column has no name."""
        names = [lib.kfe_model_column_name(self.pointer, view, j) for j in range(self.view_columns[view])]
        return np.array([name.decode() for name in names], dtype=object) if names and all(names) else None

    def name_columns(self, names: list[str]) -> None:
        """Names the columns of a model of one view that was fitted without names."""
        texts = (c_char_p * len(names))(*(name.encode() for name in names))
        self.context.call(lib.kfe_model_set_column_names, self.pointer, 0, texts)

    def steps(self, view: int) -> str:
        """The steps that prepare the rows of a view, as text."""
        context, text = Context(), c_void_p()
        context.call(lib.kfe_model_prepare, self.pointer, view, byref(text))
        return context.take_text(text)

    def prepared_names(self, view: int) -> np.ndarray | None:
        """The names of the columns of a view after its steps; None if a column has no name."""
        names = [lib.kfe_model_prepared_name(self.pointer, view, j) for j in range(lib.kfe_model_prepared_cols(self.pointer, view))]
        return np.array([name.decode() for name in names], dtype=object) if names and all(names) else None

    def feature_names(self) -> np.ndarray:
        """What the features are called as columns of a table."""
        context, found = Context(), []
        for j in range(self.dim):
            text = c_void_p()
            context.call(lib.kfe_model_feature_name, self.pointer, j, byref(text))
            found.append(context.take_text(text))
        return np.array(found, dtype=object)

    @property
    def is_kernel_projector(self) -> bool:
        return lib.kfe_model_support_size(self.pointer) > 0

    def coefficients(self) -> np.ndarray | None:
        rows = c_int64()
        address = lib.kfe_model_coefficients(self.pointer, byref(rows))
        return view(address, (rows.value, self.dim), self) if address else None

    def offset(self) -> np.ndarray:
        address = lib.kfe_model_offset(self.pointer)
        return view(address, (self.dim,), self) if address else np.zeros(self.dim)

    def support_index(self) -> np.ndarray | None:
        address = lib.kfe_model_support_index(self.pointer)
        return view(address, (lib.kfe_model_support_size(self.pointer),), self, "<i8") if address else None

    def scaling(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The numbers that scaling subtracts from the columns of a view, and those by which it divides them."""
        cols = (lib.kfe_model_prepared_cols(self.pointer, number),)
        shift, factor = lib.kfe_model_shift(self.pointer, number), lib.kfe_model_factor(self.pointer, number)
        return (view(shift, cols, self) if shift else np.zeros(cols),
                1 / view(factor, cols, self) if factor else np.ones(cols))

    def part_matrix(self, address: int | None, rows: int, cols: int) -> np.ndarray | None:
        return view(address, (rows, cols), self) if address else None

    def parts(self) -> list[PartInfo]:
        """The parts of a localized model; an empty list for other models."""
        found = []
        while part := lib.kfe_model_part(self.pointer, len(found)):
            found.append(part.contents)
        return found

    def gate(self) -> tuple[np.ndarray, np.ndarray]:
        """V and v₀ of a localized model's gate."""
        dim, count = c_int64(), len(self.parts())
        weights = lib.kfe_model_gate_weights(self.pointer, byref(dim))
        V = view(weights, (dim.value, count), self) if weights else np.eye(count)
        return V, view(lib.kfe_model_gate_offset(self.pointer), (count,), self)

    def records(self) -> dict[str, np.ndarray]:
        """All records of the fit, by the library's names."""
        found, index, count = {}, 0, c_int64()
        while name := lib.kfe_model_record_name(self.pointer, index):
            address = lib.kfe_model_record(self.pointer, name, byref(count))
            found[name.decode()] = view(address, (count.value,), self).copy()
            index += 1
        return found

    def describe(self) -> dict[str, Any]:
        context, text = Context(), c_void_p()
        context.call(lib.kfe_model_describe, self.pointer, STYLE_JSON, byref(text))
        return context.take_json(text)


def _free_model(pointer, _context, _kept):
    lib.kfe_model_free(pointer)
