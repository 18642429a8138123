# SPDX-License-Identifier: Apache-2.0
"""Data from generators and files, kernel matrices, and lists of methods, kernels, learners and generators."""
from __future__ import annotations

import os
from ctypes import byref, c_char_p, c_void_p
from typing import Any

import numpy as np

from ._arrays import OutMatrix
from ._arrow import arrow_table, stream_pointer
from ._context import Context
from ._data import Data, wrap
from ._kernels import entry_of, kernel_text
from ._lib import lib
from ._tables import (GENERATORS, KERNEL_ENTRIES, LEARNERS, METHODS, STEPS, STRINGS, Entry, class_name,
                      options_text, table_rows)


def generate(name: str, random_state: int | None = None, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Generate a data set from the literature.

    Parameters
    ----------
    name : str
        ``kfe.generators()`` lists them.
    random_state : int, optional
        The seed.
    **options
        Options of the generator, such as ``n=300``.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> import kfe
    >>> X, y = kfe.generate("banana", n=100)
    >>> X.shape
    (100, 2)
    """
    context, pointer = Context(random_state=random_state), c_void_p()
    context.call(lib.kfe_data_generate, name.encode(), options_text(options), byref(pointer))
    return Data(context, pointer.value).to_arrays()


def read(path: Any, model: Any = None, **options: Any) -> tuple[Any, np.ndarray | None]:
    """Read a table as the command line does: CSV, TSV, ARFF, LIBSVM, MatrixMarket, FASTA or NumPy, compressed or not; also Parquet
    and Feather files, if pyarrow is installed, and tables in memory.

    Parameters
    ----------
    path : str, path-like, or a table with ``__arrow_c_stream__``
        Tables of polars, pandas (from version 2.2 on) and pyarrow have this method: their columns are gathered without an
        intermediate array.
    model : fitted estimator or path of a model, optional
        The model that the data is for. Its number of columns determines whether the file has a label column.
    **options
        Options of reading: ``label="species"``, ``header="yes"``, ``missing="mean"`` and so on. There is no ``weight``:
        weights are an argument of fits, ``sample_weight``.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        A CSR matrix if the file is sparse, as LIBSVM's are.
    y : ndarray of shape (n_samples,), or None without labels
    """
    if options.get("weight"):
        raise ValueError(f"read() returns X and y only, so the weights in the column {options['weight']!r} would be lost: read the "
                         "column as one of X and give it to fit as sample_weight, or leave it out with drop=")
    context, pointer = Context(), c_void_p()
    table = arrow_table(path)
    if table is not None:
        if model is not None:
            raise ValueError("model= is for files; choose the columns of a table with select= and label=")
        stream, _owner = stream_pointer(table)
        context.call(lib.kfe_data_from_arrow_stream, stream, options_text(options), byref(pointer))
        return Data(context, pointer.value).to_arrays()
    name = os.fsencode(path)
    if model is None:
        context.call(lib.kfe_data_read, name, options_text(options), byref(pointer))
    else:
        context.call(lib.kfe_data_read_for_model, _model_of(model).pointer, 1, (c_char_p * 1)(name), None,
                     options_text(options), byref(pointer))
    return Data(context, pointer.value).to_arrays()


def _model_of(model: Any):
    """The fitted model of an estimator, or the one in a file."""
    from sklearn.utils.validation import check_is_fitted

    from ._model import Model
    if isinstance(model, (str, os.PathLike)):
        return Model.load(model)
    check_is_fitted(model)
    return model._model


def kernel_matrix(kernel: Any, X, Y=None, n_threads: int | None = None) -> np.ndarray:
    """Compute the kernel matrix between the rows of X and those of Y (None: X).

    Parameters
    ----------
    kernel : object, str, tuple or dict
        A kernel such as ``kfe.RBF(gamma=0.5)`` or "rbf:gamma=0.5"; words such as gamma=scale get their values from Y.
    X, Y : array-like or sparse matrix of shape (n_samples, n_features)
    n_threads : int, optional

    Returns
    -------
    K : ndarray of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> import kfe
    >>> kfe.kernel_matrix("poly:degree=2", [[1.0], [2.0]])
    array([[ 4.,  9.],
           [ 9., 25.]])
    """
    from ._validation import check_strings, check_table
    kernel = kernel_text(kernel)
    entry = entry_of(kernel)
    strings = entry is not None and entry.has(STRINGS)
    tables = [None if table is None else check_strings(table) if strings else check_table(table)
              for table in (X, Y)]
    context = Context(n_threads)
    rows, columns = (None if table is None else wrap(context, table) for table in tables)
    out = OutMatrix(context)
    context.call(lib.kfe_kernel_matrix, kernel.encode(), rows.pointer, columns.pointer if columns else None,
                 out.pointer)
    return out.array()


def _listing(entries: dict[str, Entry]) -> list[dict[str, Any]]:
    return [{"name": entry.name, "summary": entry.summary, "reference": entry.reference,
             "parameters": {param.name: param.default for param in entry.params}} for entry in entries.values()]


def devices() -> list[dict[str, Any]]:
    """List the CPU and the accelerators that ``device=`` takes, and what is missing for those that are not usable.

    Examples
    --------
    >>> import kfe
    >>> kfe.devices()[0]["name"]
    'cpu'
    """
    context, devices = Context(), c_void_p()
    context.call(lib.kfe_devices, byref(devices))
    try:
        return [{"name": entry.name.decode(), "description": entry.description.decode(errors="replace"),
                 "usable": bool(entry.usable), "memory": entry.memory, "free_memory": entry.free_memory}
                for entry in table_rows(lambda index: lib.kfe_device_list_entry(devices, index))]
    finally:
        lib.kfe_device_list_free(devices)


def methods() -> list[dict[str, Any]]:
    """List the methods, with the names of their estimators."""
    return [{**row, "estimator": class_name(row["name"])} for row in _listing(METHODS)]


def kernels() -> list[dict[str, Any]]:
    """List the kernels, with their formulas as references."""
    return _listing(KERNEL_ENTRIES)


def learners() -> list[dict[str, Any]]:
    """List the classifiers and regressors that can be fitted on features."""
    return _listing(LEARNERS)


def steps() -> list[dict[str, Any]]:
    """List the steps that ``prepare`` takes, with their formulas as references."""
    return _listing(STEPS)


def generators() -> list[dict[str, Any]]:
    """List the generators of data."""
    return _listing(GENERATORS)
