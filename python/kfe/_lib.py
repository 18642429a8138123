# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libkfe."""
from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import sys
import warnings
from collections.abc import Iterator

from ._abi import (CANCEL_FN, KERNEL_FN, LOG_FN, OPTIONAL, PROGRESS_FN, PROTOTYPES, RULE_FN, EntryInfo, Explained, Matrix,
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
        return named
    for path in [HERE / "libkfe.so", *_built(), pathlib.Path(sys.prefix, "lib", INSTALLED)]:
        if path.is_file():
            return str(path)
    return INSTALLED


@contextlib.contextmanager
def _sleeping_threads() -> Iterator[None]:
    """OpenMP threads that wait for work sleep instead of spinning, unless the environment says how they wait.

    An OpenMP runtime reads the variable while it is loaded, so it is set only for that time. A runtime that another
    package loaded before stays as it is.
    """
    if any(name in os.environ for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")):
        yield
        return
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        yield
    finally:
        os.environ.pop("OMP_WAIT_POLICY", None)


def load_library(path: str | None = None) -> ctypes.CDLL:
    path = path or find_library()
    try:
        with _sleeping_threads():
            library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"kfe needs its library, which cannot be loaded: {error}. Install it, build it, or name "
                          "it in the environment variable KFE_LIBRARY.") from None
    try:
        declare(library)
    except AttributeError as error:
        raise ImportError(f"{path} is too old for this package: {error}") from None
    declare(library, {name: prototype for name, prototype in OPTIONAL.items() if hasattr(library, name)})
    _warn_of_slow_blas(library)
    return library


def _warn_of_slow_blas(library: ctypes.CDLL) -> None:
    core = library.kfe_blas_advice()
    if core:
        warnings.warn("OpenBLAS does not know this processor and is several times slower than it could be; set "
                      f"OPENBLAS_CORETYPE={core.decode()} in the environment before Python starts", RuntimeWarning, stacklevel=2)


lib = load_library()
