# SPDX-License-Identifier: Apache-2.0
"""Long fits that can continue after the process was killed."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager

from . import _context

__all__ = ["checkpoint"]


def checkpoint(path: str | os.PathLike, every: float = 60, resume: bool = False) -> AbstractContextManager[None]:
    """Within this block, one ``fit`` saves the state of its long loops to a file, from which a later run can continue.

    Products with the kernel matrix that are repeated many times (eigenvectors, linear systems), pursuit, joint and localized learning
    save their state. The file is deleted when the block ends without an exception, so save the model inside it.

    Parameters
    ----------
    path : str or path
        The file. It is written whole or not at all.
    every : float, default=60
        Seconds between two checkpoints; 0: as often as possible. Saving never takes more than a twentieth of the time.
    resume : bool, default=False
        Continue from the file if it exists. A file from a fit with other parameters or other data raises ``kfe.InputError``.

    Examples
    --------
    >>> import kfe
    >>> X, y = kfe.generate("twonorm", n=300)
    >>> with kfe.checkpoint("fit.state", resume=True):      # doctest: +SKIP
    ...     kfe.SMA(kernel="rbf", dim=20).fit(X, y).save("model.kfe")
    """
    path = os.fspath(path)
    if not path or "\0" in path:
        raise ValueError(f"path must name a file, not {path!r}")
    return _save_state(_context.Checkpoint(path, float(every), bool(resume)))


@contextlib.contextmanager
def _save_state(where: _context.Checkpoint) -> Iterator[None]:
    before = _context.checkpoint
    _context.checkpoint = where
    try:
        yield
    finally:
        _context.checkpoint = before
    if _context.communicator is None or _context.communicator.comm.rank == 0:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(where.path)
