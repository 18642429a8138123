# SPDX-License-Identifier: Apache-2.0
"""Functions of Python as kernels and as direction rules. What they raise is kept and raised after the call."""
from __future__ import annotations

import math
from typing import Callable

import numpy as np

from ._arrays import _View, view
from ._lib import KERNEL_FN, RULE_FN

STATUS_CANCEL = 9


def _shown(row: np.ndarray) -> str:
    return np.array2string(row, threshold=6, edgeitems=3, max_line_width=1000)


def _copy(address: int | None, shape: tuple[int, ...]) -> np.ndarray:
    return np.array(view(address, shape, None))


def kernel_callback(events, function: Callable, name: str):
    """κ(x, y) on two rows; `name` is what messages call it."""
    nan = float("nan")

    def kernel(_user, x, y, cols):
        if events.interrupted or events.error is not None:
            return nan  # the call ends when the library next looks; until then, lose no time
        try:
            # Copies: the function may keep them, and the memory behind x and y ends with the call.
            a, b = _copy(x, (cols,)), _copy(y, (cols,))
            value = float(function(a, b))
            if not math.isfinite(value):
                raise ValueError(f"the kernel function {name} returned {value} for rows {_shown(a)} and {_shown(b)}")
            return value
        except BaseException as error:  # noqa: B902: C cannot carry it
            events.error = events.error or error
            return nan

    return KERNEL_FN(kernel)


class DeflationState:
    """What a direction rule sees at the beginning of an iteration.

    Attributes
    ----------
    iteration : int
        From 0; as many features have been found.
    residual : ndarray of shape (n_samples, n_targets)
        The centred target, minus what the features found so far explain.
    features : ndarray of shape (iteration, n_samples)
        The features found so far, orthonormal.
    """

    def __init__(self, info):
        self._info = info
        self.iteration = int(info.iteration)
        self.n_samples = int(info.examples)
        self.residual = _copy(info.residual, (info.examples, info.targets))
        self.features = _copy(info.features, (info.iteration, info.examples))

    def _end(self) -> None:
        self._info = None

    def times(self, vectors: np.ndarray) -> np.ndarray:
        """The kernel matrix, centred if so asked, times one or several columns."""
        if self._info is None:
            raise RuntimeError("times() works only while the rule is running")
        columns = np.ascontiguousarray(vectors, np.float64).reshape(self.n_samples, -1)
        out = np.empty_like(columns)
        status = self._info.times(self._info.handle, columns.ctypes.data, columns.shape[1], out.ctypes.data)
        if status:
            raise ArithmeticError("the product with the kernel matrix failed")
        return out.reshape(np.shape(vectors))


def rule_callback(events, function: Callable):
    """A function of a DeflationState that returns coefficients on the examples, or None to end."""

    def rule(_user, info, direction):
        try:
            rows = info.contents.examples
            current = DeflationState(info.contents)
            try:
                chosen = function(current)
            finally:
                current._end()
            if chosen is not None:
                out = np.asarray(_View(direction, (rows,), "<f8", None, read_only=False))
                out[:] = np.asarray(chosen, np.float64)
            return 0
        except BaseException as error:  # noqa: B902
            events.error = events.error or error
            return STATUS_CANCEL

    return RULE_FN(rule)


def callback_name(function: Callable) -> str:
    """What a model calls a function of the user's; letters, digits, and what the library lets through."""
    name = getattr(function, "__name__", type(function).__name__)
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in name)
