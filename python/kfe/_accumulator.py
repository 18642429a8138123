# SPDX-License-Identifier: Apache-2.0
"""Sums over rows, from which the library makes models (kfe_accumulator in kfe.h): for partial_fit and kfe.dask."""
from __future__ import annotations

import weakref
from ctypes import byref, c_char_p, c_size_t, c_void_p, string_at

from ._context import Context
from ._data import Data
from ._lib import lib
from ._model import Model


class Accumulator:
    """Sums over the rows added so far, and the context that reports their errors."""

    def __init__(self, context: Context, pointer: int):
        self.context = context
        self.pointer = pointer
        self._finalizer = weakref.finalize(self, _free, pointer, context)

    @classmethod
    def new(cls, context: Context, spec) -> "Accumulator":
        pointer = c_void_p()
        context.call(lib.kfe_accumulator_new, spec.pointer, byref(pointer))
        return cls(context, pointer.value)

    @classmethod
    def from_bytes(cls, content: bytes) -> "Accumulator":
        context, pointer = Context(), c_void_p()
        # not through Context.call, which refuses zero bytes in text
        context.check(lib.kfe_accumulator_load_bytes(context.pointer, c_char_p(content), len(content), byref(pointer)))
        return cls(context, pointer.value)

    def start(self, data: Data) -> None:
        """Lets these rows decide what must be known before the first sum; they are not added."""
        self.context.call(lib.kfe_accumulator_start, self.pointer, data.pointer)

    def add(self, data: Data) -> None:
        self.context.call(lib.kfe_accumulator_add, self.pointer, data.pointer)

    def merge(self, other: "Accumulator") -> None:
        self.context.call(lib.kfe_accumulator_merge, self.pointer, other.pointer)

    def finish(self) -> Model:
        pointer = c_void_p()
        self.context.call(lib.kfe_accumulator_finish, self.pointer, byref(pointer))
        return Model(self.context, pointer.value)

    @property
    def rows(self) -> int:
        return lib.kfe_accumulator_rows(self.pointer)

    def to_bytes(self) -> bytes:
        content, size = c_void_p(), c_size_t()
        self.context.call(lib.kfe_accumulator_save_bytes, self.pointer, byref(content), byref(size))
        try:
            return string_at(content.value, size.value)
        finally:
            lib.kfe_string_free(self.context.pointer, content)

    def __reduce__(self):
        return Accumulator.from_bytes, (self.to_bytes(),)

    def __deepcopy__(self, memo):
        return Accumulator.from_bytes(self.to_bytes())


def _free(pointer, _context):
    lib.kfe_accumulator_free(pointer)
