# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libkfe."""
from __future__ import annotations

import ctypes
import os
import pathlib
import sys
import warnings

from ._abi import (CANCEL_FN, KERNEL_FN, LOG_FN, OPTIONAL, PROGRESS_FN, PROTOTYPES, RULE_FN, EntryInfo, Matrix,
                   ParamInfo, PartInfo, declare)


HERE = pathlib.Path(__file__).resolve().parent
INSTALLED = "libkfe.0.dylib" if sys.platform == "darwin" else "libkfe.so.0"


def _has_sanitizers(folder: pathlib.Path) -> bool:
    """Whether the library was built with sanitizers; it would end a Python process that was built without them."""
    cache = folder / "CMakeCache.txt"
    lines = cache.read_text().splitlines() if cache.is_file() else []
    return any(line.startswith("KFE_SANITIZE:") and not line.endswith("=") for line in lines)


def _built() -> list[pathlib.Path]:
    """Libraries in the build folders of the source tree that contains this package, if there is one."""
    source = HERE.parent.parent
    if not (source / "include" / "kfe.h").is_file():
        return []
    folders = sorted(source.glob("build*"), key=lambda folder: (folder.name != "build", folder.name))
    return [folder / "libkfe.so" for folder in folders
            if (folder / "libkfe.so").is_file() and not _has_sanitizers(folder)]


def find_library() -> str:
    """The path of the library: KFE_LIBRARY, else inside the package, else in the build tree, else that of Python's prefix
    (conda), else the system's."""
    named = os.environ.get("KFE_LIBRARY")
    if named:
        if not os.path.isabs(named):
            raise ImportError(f"KFE_LIBRARY is '{named}', but code is loaded only from an absolute path; write the whole path of the library")
        return named
    for path in [HERE / "libkfe.so", *_built(), pathlib.Path(sys.prefix, "lib", INSTALLED)]:
        if path.is_file():
            return str(path)
    return INSTALLED


def load_library(path: str | None = None) -> ctypes.CDLL:
    path = path or find_library()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"kfe needs its library, which cannot be loaded: {error}. Install it, build it, or name "
                          "it in the environment variable KFE_LIBRARY.") from None
    try:
        declare(library)
    except AttributeError as error:
        raise ImportError(f"{path} is too old for this package: {error}") from None
    declare(library, {name: prototype for name, prototype in OPTIONAL.items() if hasattr(library, name)})
    library.kfe_let_threads_sleep()  # another package may have loaded OpenMP, too late for OMP_WAIT_POLICY
    _warn_of_slow_blas(library)
    return library


def _warn_of_slow_blas(library: ctypes.CDLL) -> None:
    core = library.kfe_blas_advice()
    if core:
        warnings.warn("OpenBLAS does not know this processor and is several times slower than it could be; set "
                      f"OPENBLAS_CORETYPE={core.decode()} in the environment before Python starts", RuntimeWarning, stacklevel=2)


lib = load_library()


def shown(text: str) -> str:
    """Text of a file or of data as it may be printed: control characters, which a terminal would obey, are escaped."""
    raw = text.encode(errors="replace")
    buffer = ctypes.create_string_buffer(lib.kfe_escape(raw, None, 0) + 1)
    lib.kfe_escape(raw, buffer, len(buffer))
    return buffer.value.decode()
