# SPDX-License-Identifier: Apache-2.0
"""The part of kfe.h that the tests need, through ctypes."""
import ctypes
import os
import pathlib
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_void_p

import numpy as np
import scipy.sparse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "kfe"))
from _abi import Judged, Matrix  # noqa: E402  (the structures of kfe.h)


class Failure(Exception):
    """A failed call, with the library's message."""


class Kfe:
    """One context of the library."""

    def __init__(self, path=os.environ.get("KFE_LIBRARY", "libkfe.so")):
        self.library = ctypes.CDLL(path)
        self.library.kfe_error_message.restype = c_char_p
        self.library.kfe_error_message.argtypes = [c_void_p]
        self.context = c_void_p()
        assert self.library.kfe_context_new(byref(self.context)) == 0

    def call(self, name, *arguments):
        if getattr(self.library, name)(self.context, *arguments) != 0:
            raise Failure(self.library.kfe_error_message(self.context).decode())

    def free(self, kind, pointer):
        getattr(self.library, f"kfe_{kind}_free")(pointer)

    def close(self):
        self.free("context", self.context)

    def wrap(self, x):
        """A data set that refers to the memory of x, and the objects that must stay alive for it."""
        data = c_void_p()
        if scipy.sparse.issparse(x):
            x = x.tocsr().sorted_indices()
            kept = (x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data.astype(float))
            pointers = [array.ctypes.data_as(c_void_p) for array in kept]
            self.call("kfe_data_wrap_csr", c_int64(x.shape[0]), c_int64(x.shape[1]), *pointers, byref(data))
        else:
            kept = np.ascontiguousarray(x, float)
            self.call("kfe_data_wrap_dense", c_int64(x.shape[0]), c_int64(x.shape[1]), c_int64(x.shape[1]),
                      kept.ctypes.data_as(c_void_p), byref(data))
        return data, kept

    def take(self, matrix):
        """Copies the values of a library matrix and frees the matrix."""
        flat = np.ctypeslib.as_array(ctypes.cast(matrix.values, POINTER(c_double)), (matrix.rows * matrix.stride,))
        values = flat.reshape(matrix.rows, matrix.stride)[:, :matrix.cols].copy()
        self.free("matrix", byref(matrix))
        return values

    def kernel_matrix(self, kernel, x, y=None):
        rows, kept_rows = self.wrap(x)
        columns, kept_columns = (None, None) if y is None else self.wrap(y)
        matrix = Matrix()
        try:
            self.call("kfe_kernel_matrix", kernel.encode(), rows, columns, byref(matrix))
        finally:
            self.free("data", rows)
            if columns:
                self.free("data", columns)
        del kept_rows, kept_columns
        return self.take(matrix)

    def features(self, method, params, kernel, train, *others, targets=None):
        """Fits on `train`, with real targets if given; returns the features of each of `others`."""
        spec, model = c_void_p(), c_void_p()
        data, kept = self.wrap(train)
        if targets is not None:
            columns = np.ascontiguousarray(targets, float).reshape(len(targets), -1)
            self.call("kfe_data_set_targets", data, c_int64(columns.shape[1]), columns.ctypes.data_as(c_void_p))
        self.call("kfe_spec_parse", method.encode(), params.encode(), kernel and kernel.encode(), byref(spec))
        self.call("kfe_fit", spec, data, byref(model))
        results = []
        for x in others:
            other, kept_other = self.wrap(x)
            matrix = Matrix()
            self.call("kfe_transform", model, other, byref(matrix))
            results.append(self.take(matrix))
            self.free("data", other)
            del kept_other
        for kind, pointer in (("model", model), ("spec", spec), ("data", data)):
            self.free(kind, pointer)
        del kept
        return results
