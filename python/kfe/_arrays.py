# SPDX-License-Identifier: Apache-2.0
"""The library's memory as NumPy arrays, and NumPy arrays for the library, without copies."""
from __future__ import annotations

import weakref
from ctypes import byref, c_char_p, c_void_p, cast
from typing import Any

import numpy as np

from ._lib import Matrix, lib


class _View:
    """Memory at an address, as an array interface for NumPy; `owner` stays alive as long as an array refers to it."""

    def __init__(self, address: int, shape: tuple[int, ...], kind: str, owner: Any, read_only: bool = True,
                 strides: tuple[int, ...] | None = None):
        self.owner = owner
        self.__array_interface__ = {"data": (address, read_only), "shape": shape, "typestr": kind, "version": 3,
                                    "strides": strides}


def view(address: int | None, shape: tuple[int, ...], owner: Any, kind: str = "<f8") -> np.ndarray:
    """A read-only array on memory that belongs to `owner`."""
    if not address or 0 in shape:
        return np.zeros(shape, kind)
    return np.asarray(_View(address, shape, kind, owner))


class OutMatrix:
    """A matrix that the library fills; this object frees it with the context that made it."""

    def __init__(self, context):
        self.matrix = Matrix()
        self._finalizer = weakref.finalize(self, _free_matrix, self.matrix, context)

    def array(self) -> np.ndarray:
        """The values as a writable array; the memory is freed when the array and this object are gone."""
        matrix = self.matrix
        shape = (matrix.rows, matrix.cols)
        if not matrix.values or 0 in shape:
            return np.zeros(shape)
        strides = None if matrix.stride == matrix.cols else (8 * matrix.stride, 8)
        return np.asarray(_View(matrix.values, shape, "<f8", self, read_only=False, strides=strides))

    @property
    def pointer(self):
        return byref(self.matrix)


def _free_matrix(matrix, _context):
    lib.kfe_matrix_free(byref(matrix))


def string_array(strings: list[bytes]) -> np.ndarray:
    """Addresses of zero-terminated strings for the library; valid while `strings` exists."""
    if any(b"\0" in text for text in strings):
        raise ValueError("text must not contain the character of code 0")
    return np.fromiter((cast(c_char_p(text), c_void_p).value for text in strings), np.uint64, len(strings))
