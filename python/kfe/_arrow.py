# SPDX-License-Identifier: Apache-2.0
"""Tables of other libraries: anything with ``__arrow_c_stream__``, and Parquet and Feather files through pyarrow."""
from __future__ import annotations

import ctypes
import os
from typing import Any

# The first bytes of a file: what it is, and the functions of pyarrow that read it.
_MAGIC = {b"PAR1": "a Parquet", b"ARROW1": "a Feather", b"FEA1": "a Feather", b"\xff\xff\xff\xff": "an Arrow stream"}


def _kind_of(path: str | os.PathLike) -> str | None:
    try:
        with open(path, "rb") as file:
            head = file.read(8)
    except OSError:
        return None  # the library says why
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def _read_file(path: str | os.PathLike, kind: str) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f"{os.fspath(path)} is {kind} file, which pyarrow reads: install it with 'pip install pyarrow'") from None
    try:
        if kind == "a Parquet":
            return pa.parquet.read_table(path)
        if kind == "a Feather":
            return pa.feather.read_table(path)
        with pa.OSFile(os.fspath(path)) as file:
            return pa.ipc.open_stream(file).read_all()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{os.fspath(path)}: {kind} file that cannot be read: {error}") from error


def arrow_table(source: Any) -> Any:
    """The table that a source is or holds; None: it is a path for the library."""
    if hasattr(source, "__arrow_c_stream__"):
        return source
    if not isinstance(source, (str, bytes, os.PathLike)):
        raise TypeError(f"a path or a table with __arrow_c_stream__ is needed (polars, pyarrow, pandas from 2.2 on), not {type(source).__name__}")
    kind = _kind_of(source)
    return None if kind is None else _read_file(source, kind)


def stream_pointer(table: Any) -> tuple[int, Any]:
    """The address of the table's stream, and what must stay alive while it is used."""
    capsule = table.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, b"arrow_array_stream"), capsule
