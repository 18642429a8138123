# SPDX-License-Identifier: Apache-2.0
"""Python functions as kernels and as direction rules. Their exceptions are kept and raised after the library's call."""
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
    """κ(x, y) on two rows; messages call the kernel `name`."""
    nan = float("nan")

    def kernel(_user, x, y, cols):
        if events.interrupted or events.error is not None:
            return nan  # the library stops at its next check; until then, return quickly
        try:
            # Copies, because the function may keep them and the memory of x and y is valid only during the call.
            a, b = _copy(x, (cols,)), _copy(y, (cols,))
            value = float(function(a, b))
            if not math.isfinite(value):
                raise ValueError(f"the kernel function {name} returned {value} for rows {_shown(a)} and {_shown(b)}")
            return value
        except BaseException as error:  # noqa: B902  (an exception cannot pass through C)
            events.error = events.error or error
            return nan

    return KERNEL_FN(kernel)


class DeflationState:
    """The state that a direction rule sees at the beginning of an iteration.

    Attributes
    ----------
    iteration : int
        The number of features found so far.
    residual : ndarray of shape (n_samples, n_targets)
        The centred target minus the part that the features found so far explain.
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
        """The kernel matrix, centred if requested, times one or several columns."""
        if self._info is None:
            raise RuntimeError("times() works only while the rule is running")
        columns = np.ascontiguousarray(vectors, np.float64).reshape(self.n_samples, -1)
        out = np.empty_like(columns)
        status = self._info.times(self._info.handle, columns.ctypes.data, columns.shape[1], out.ctypes.data)
        if status:
            raise ArithmeticError("the product with the kernel matrix failed")
        return out.reshape(np.shape(vectors))


def rule_callback(events, function: Callable):
    """A rule from a function of a DeflationState that returns coefficients on the examples, or None to end."""

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
    """The name of a user's function in a model: letters, digits and other characters that the library allows."""
    name = getattr(function, "__name__", type(function).__name__)
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in name)
