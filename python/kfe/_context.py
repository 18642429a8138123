# SPDX-License-Identifier: Apache-2.0
"""Contexts: threads, seed and memory of one call, its warnings and progress, and its interruption."""
from __future__ import annotations

import ctypes
import json
import operator
import os
import re
import signal
import threading
import warnings
import weakref
from ctypes import byref, c_void_p
from typing import Any

from ._errors import KfeWarning, make_error
from ._lib import CANCEL_FN, LOG_FN, PROGRESS_FN, lib

LEVEL_WARNING = 1
WORDING_PYTHON = 2  # kfe_wording in kfe.h
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


class _Process:
    """Whether this process was forked from one that had loaded the library. OpenMP's threads do not exist in such a
    process, although its runtime assumes that they do, so it would wait forever for work given to them.
    """

    forked = False

    @classmethod
    def note_fork(cls) -> None:
        cls.forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Process.note_fork)


def count_threads(n_threads: int | None) -> int:
    """The number of threads for the library; 0 is its own choice."""
    return int(n_threads or 0) or int(_Process.forked)


def parse_memory(memory: int | float | str | None) -> int:
    """Bytes, from a number or from text as on the command line; 0 for None."""
    if memory is None:
        return 0
    if not isinstance(memory, str):
        return int(memory)
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)(i?)(B?)\s*", memory, re.IGNORECASE)
    if not found:
        raise ValueError(f"memory takes a number of bytes or a size such as '500M', '1.5GB' or '8GiB', not {memory!r}")
    base = 1000 if found[4] and not found[3] else 1024
    return int(float(found[1]) * base ** _UNITS[found[2].upper()])


def parse_seed(random_state: Any) -> int | None:
    """A seed from scikit-learn's random_state; None keeps the library's own seed, so that results repeat."""
    if random_state is None:
        return None
    if hasattr(random_state, "randint"):
        return int(random_state.randint(0, 2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(0, 2**31 - 1))
    try:
        seed = operator.index(random_state)
    except TypeError:
        raise ValueError(f"random_state takes an integer, a generator of NumPy or None, not {random_state!r}") from None
    if not 0 <= seed < 2**64:
        raise ValueError(f"random_state must be between 0 and 2**64 - 1, got {random_state}")
    return seed


class Communicator:
    """Processes that share fits and searches (kfe.mpi): an mpi4py communicator, its address, and that of the null communicator."""

    def __init__(self, comm: Any, address: int, null: int):
        self.comm, self.address, self.null = comm, address, null


communicator: Communicator | None = None


class Checkpoint:
    """Where fits save the state of their loops, how often, and whether they go on from it (kfe.checkpoint)."""

    def __init__(self, path: str, every: float, resume: bool):
        self.path, self.every, self.resume = path, every, resume


checkpoint: Checkpoint | None = None
# The calls that processes share.
SHARED = ("kfe_fit", "kfe_cross_validate", "kfe_compare")


class _Events:
    """The events of a call. It does not refer to the context, so that no cycle keeps the context alive."""

    def __init__(self, verbose: int):
        self.verbose = verbose
        self.warnings: list[str] = []
        self.error: BaseException | None = None
        self.interrupted = False
        self.bar: Any = None

    def log(self, _user, level, text):
        try:
            message = text.decode(errors="replace")
            if level <= LEVEL_WARNING:
                self.warnings.append(message)
            elif self.verbose:
                print(f"[kfe] {message}")
        except BaseException as error:  # an exception must not pass through C
            self.error = self.error or error

    def progress(self, _user, stage, done, total):
        try:
            self.bar.update(stage.decode(errors="replace"), done, total)
        except BaseException as error:
            self.error = self.error or error

    def cancel(self, _user):
        # Signal handlers run between these instructions, in the main thread.
        try:
            return int(self.interrupted or self.error is not None)
        except BaseException as error:
            self.error = self.error or error
            return 1

    def on_interrupt(self, _number, _frame):
        self.interrupted = True


class _Interruptible:
    """Makes Ctrl-C set a flag that the library checks, because an exception cannot pass through C."""

    def __init__(self, events: _Events):
        self.events = events
        self.replaced = False

    def __enter__(self):
        if (threading.current_thread() is threading.main_thread()
                and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
            signal.signal(signal.SIGINT, self.events.on_interrupt)
            self.replaced = True

    def __exit__(self, *_exception):
        if self.replaced:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _refuse_zero_bytes(arguments) -> None:
    """Refuses zero bytes: C would end the text there and use another file than the one named."""
    for argument in arguments:
        if isinstance(argument, bytes) and b"\0" in argument:
            raise ValueError(f"{argument.decode(errors='replace')!r} contains a null character")


class Context:
    """One context of the library; freed when nothing refers to it any more."""

    def __init__(self, n_threads: int | None = None, random_state: Any = None, memory: Any = None,
                 verbose: int = 0, device: str | None = None):
        pointer = c_void_p()
        status = lib.kfe_context_new(byref(pointer))
        if status:
            raise make_error(status, "out of memory")
        self.pointer = pointer.value
        self.events = _Events(int(verbose))
        # The finalizer keeps them, because the library calls them until the context is freed.
        self._log = LOG_FN(self.events.log)
        self._cancel = CANCEL_FN(self.events.cancel)
        self._progress = PROGRESS_FN(self.events.progress)
        self._finalizer = weakref.finalize(self, _free_context, self.pointer, self._log, self._cancel,
                                           self._progress)
        lib.kfe_context_on_log(self.pointer, self._log, None)
        if threading.current_thread() is threading.main_thread():
            # Signals arrive only in the main thread; in others, asking would wait for the interpreter's lock.
            lib.kfe_context_on_cancel(self.pointer, self._cancel, None)
        self._show_progress(verbose)
        self.check(lib.kfe_context_set_wording(self.pointer, WORDING_PYTHON))
        self.check(lib.kfe_context_set_threads(self.pointer, count_threads(n_threads)))
        self.check(lib.kfe_context_set_memory(self.pointer, parse_memory(memory)))
        if device is not None:
            self.check(lib.kfe_context_set_device(self.pointer, str(device).encode()))
        seed = parse_seed(random_state)
        if seed is not None:
            lib.kfe_context_set_seed(self.pointer, seed)

    def _show_progress(self, verbose: int) -> None:
        if verbose:
            from ._progress import make_bar
            self.events.bar = make_bar()
        if self.events.bar is not None:
            lib.kfe_context_on_progress(self.pointer, self._progress, None)

    def call(self, function, *arguments) -> None:
        """Calls `function` of the library with this context; raises errors and issues warnings."""
        _refuse_zero_bytes(arguments)
        if checkpoint is not None and function.__name__ == "kfe_fit":
            self.check(lib.kfe_context_set_checkpoint(self.pointer, os.fsencode(checkpoint.path), checkpoint.every,
                                                      int(checkpoint.resume)))
        with _Interruptible(self.events):
            if communicator is not None and function.__name__ in SHARED:
                status = self._call_together(communicator, function, arguments)
            else:
                status = function(self.pointer, *arguments)
        self.check(status)

    def _call_together(self, others: Communicator, function, arguments) -> int:
        """Calls `function` in all processes, which agree on how it ended."""
        self.check(lib.kfe_context_set_cluster(self.pointer, others.address))
        try:
            return lib.kfe_context_agree(self.pointer, function(self.pointer, *arguments))
        finally:
            lib.kfe_context_set_cluster(self.pointer, others.null)

    def quick(self, function, *arguments) -> None:
        """The same for short calls that need no interruption."""
        _refuse_zero_bytes(arguments)
        self.check(function(self.pointer, *arguments))

    def check(self, status: int) -> None:
        events = self.events
        if events.bar is not None:
            events.bar.close()
        error, events.error = events.error, None
        interrupted, events.interrupted = events.interrupted, False
        messages, events.warnings = events.warnings, []
        if interrupted:
            raise KeyboardInterrupt
        if error is not None:
            raise error
        if status:
            raise make_error(status, lib.kfe_error_message(self.pointer).decode(errors="replace"))
        for message in messages:
            warnings.warn(message, KfeWarning, stacklevel=outside())

    def take_json(self, pointer: c_void_p) -> Any:
        """Reads the JSON text that the library wrote, and frees it."""
        return json.loads(self.take_text(pointer))

    def take_text(self, pointer: c_void_p) -> str:
        """Reads a text that the library wrote, and frees it."""
        try:
            return ctypes.string_at(pointer.value).decode()
        finally:
            lib.kfe_string_free(self.pointer, pointer.value)


def _free_context(pointer, *_callbacks):
    lib.kfe_context_free(pointer)


def outside() -> int:
    """The number of frames up to the caller of this package, so that warnings point at the user's line."""
    import sys
    depth, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("kfe", "sklearn"):
        depth, frame = depth + 1, frame.f_back
    return depth
