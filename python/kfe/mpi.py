# SPDX-License-Identifier: Apache-2.0
"""Fits and searches that all processes of an MPI communicator share.

Every process runs the same script, with the same data, and all of them get the fitted estimator:

    from mpi4py import MPI
    import kfe, kfe.mpi

    with kfe.mpi.share(MPI.COMM_WORLD):
        features = kfe.KPCA(kernel="rbf", dim=10).fit(X)

Needs mpi4py and the plug-in libkfe_mpi.so, both built with the MPI whose ``mpirun`` starts the script.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from . import _context

__all__ = ["share"]


@contextlib.contextmanager
def share(comm: Any = None) -> Iterator[None]:
    """Within this block, ``fit``, ``kfe.cv`` and ``kfe.compare`` use all processes of the communicator.

    Every process must make the same calls with the same data; a call that fails in one process raises in all of them. Other calls, such as
    ``transform`` and ``save``, stay in the process that makes them.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, default=None
        None: ``mpi4py.MPI.COMM_WORLD``.
    """
    from mpi4py import MPI
    comm = MPI.COMM_WORLD if comm is None else comm
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm takes a communicator of mpi4py, not {type(comm).__name__}")
    if comm == MPI.COMM_NULL:
        raise ValueError("comm must not be COMM_NULL")
    before = _context.communicator
    _context.communicator = _context.Communicator(comm, MPI._addressof(comm), MPI._addressof(MPI.COMM_NULL))
    try:
        yield
    finally:
        _context.communicator = before
