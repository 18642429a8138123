# SPDX-License-Identifier: Apache-2.0
"""Specs of the library, made from the parameters of an estimator."""
from __future__ import annotations

import weakref
from ctypes import byref, c_int, c_void_p
from typing import Any, Callable, Iterable, Mapping

from ._callbacks import callback_name, kernel_callback, rule_callback
from ._context import Context
from ._errors import UnsupportedError
from ._kernels import by_view, kernel_entries, kernel_list, kernel_text, with_gamma
from ._learners import learner_text
from ._steps import chain_text
from ._lib import lib
from ._tables import FIT_OPTIONS, LEARNERS, TEXT, Entry, Param, as_text, options_text, python_name

MISFIT_ONE_CLASS, MISFIT_TWO_CLASSES = 6, 7  # kfe_misfit in kfe.h


def kernel_flags(kernel: Any) -> int:
    """All flags of the kernels that are given by name."""
    flags = 0
    for entry in kernel_entries(kernel):
        flags |= entry.flags
    return flags


def is_precomputed(kernel: Any) -> bool:
    return any(entry.name == "precomputed" for entry in kernel_entries(kernel))


def split_learner(learner: str, params: dict[str, Any] | str | None) -> tuple[str, bytes | None]:
    """The learner's name and its options; those after a colon come first."""
    name, _, inline = learner.partition(":")
    more = params.encode() if isinstance(params, str) else options_text(_learner_names(name, params or {}))
    return name, b",".join(part for part in (inline.encode(), more) if part) or None


def _learner_names(learner: str, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters under the library's names: class_weights and scikit-learn's class_weight are class-weights."""
    rows = LEARNERS[learner].params if learner in LEARNERS else ()
    known = {python_name(row.name, frozenset()): row.name for row in rows}
    if "class_weights" in known:
        known["class_weight"] = known["class_weights"]
    return {known.get(name, name): value for name, value in params.items()}


def one_value(row: Param, value: Any) -> Any:
    """The value of a parameter; refuses several values for a number, a word or a boolean."""
    several = isinstance(value, (list, tuple, dict, set)) or getattr(value, "ndim", 0) > 0
    if several and row.kind != TEXT:
        name = python_name(row.name)
        raise ValueError(f"{name} takes one value, not {type(value).__name__} {value!r}; to try several, search: "
                         f"GridSearchCV(..., {{{name!r}: [...]}}) or kfe.cv(..., grid={{{name!r}: [...]}})")
    return value


class Spec:
    """A spec of the library, with the Python functions that it calls."""

    def __init__(self, context: Context, pointer: int):
        self.context = context
        self.pointer = pointer
        self.kernels: dict[str, Callable] = {}
        self.callbacks: list[Any] = []
        self._finalizer = weakref.finalize(self, _free_spec, pointer, context, self.callbacks)

    @classmethod
    def of_method(cls, context: Context, entry: Entry) -> "Spec":
        pointer = c_void_p()
        context.quick(lib.kfe_spec_parse, entry.name.encode(), None, None, byref(pointer))
        return cls(context, pointer.value)

    @classmethod
    def of_rule(cls, context: Context, rule: Callable) -> "Spec":
        pointer, callback = c_void_p(), rule_callback(context.events, rule)
        context.quick(lib.kfe_spec_new_rule, f"rule-{callback_name(rule)}".encode()[:60], callback, None, None, None,
                     byref(pointer))
        spec = cls(context, pointer.value)
        spec.callbacks.append(callback)
        return spec

    def set(self, name: str, value: Any) -> None:
        self.context.quick(lib.kfe_spec_set, self.pointer, name.encode(), as_text(value).encode())

    def set_params(self, rows: Iterable, values: dict[str, Any]) -> None:
        """Sets the parameters that are not None; None means the default."""
        for row in rows:
            value = values[python_name(row.name)]
            if value is not None:
                self.set(row.name, chain_text(value) if row.name == "prepare" else one_value(row, value))

    def add_kernels(self, kernel: Any, gamma: Any = None) -> None:
        views = by_view(kernel)
        if views is not None:
            self._set_view_kernels(views, gamma)
            return
        for item in with_gamma(kernel_list(kernel), gamma):
            if callable(item):
                self._add_function(item)
            else:
                self.context.quick(lib.kfe_spec_add_kernel, self.pointer, kernel_text(item).encode())

    def _set_view_kernels(self, kernels: Mapping[str, Any], gamma: Any) -> None:
        if not hasattr(lib, "kfe_spec_set_view_kernel"):
            raise UnsupportedError("this libkfe does not support kernels for single views; use a newer one, or a list of kernels")
        pairs = [(view, item) for view, kernel in kernels.items() for item in kernel_list(kernel)]
        items = with_gamma([item for _, item in pairs], gamma)
        for (view, _), item in zip(pairs, items):
            if callable(item):
                raise ValueError(f"the kernel of view {view!r} is a function, which can only be for all views")
            self.context.quick(lib.kfe_spec_set_view_kernel, self.pointer, str(view).encode(), kernel_text(item).encode())

    def _add_function(self, function: Callable) -> None:
        name = callback_name(function)
        if name in self.kernels:
            name = f"{name}_{len(self.kernels)}"
        callback = kernel_callback(self.context.events, function, name)
        self.callbacks.append(callback)
        self.kernels[name] = function
        self.context.quick(lib.kfe_spec_add_user_kernel, self.pointer, name.encode(), callback, None)

    def set_learner(self, learner: str | None, params: dict[str, Any] | str | None) -> None:
        if learner is None:
            if params:
                raise ValueError("learner_params were given without a learner: the method predicts by itself; name one, "
                                 "such as learner='svm'")
            return
        learner = learner_text(learner)
        if not isinstance(learner, str):
            raise TypeError(f"learner is the name of one of the library's ({', '.join(LEARNERS)}), not "
                            f"{type(learner).__name__}; an estimator of scikit-learn goes behind this one, in a "
                            "Pipeline")
        name, options = split_learner(learner, params)
        self.context.quick(lib.kfe_spec_set_learner, self.pointer, name.encode(), options)


    def check(self, data: Any = None) -> int:
        """Raises unless the spec can be fitted on the data (None: on any data). Returns the reason (``MISFIT_...``) if
        the caller words the error itself."""
        misfit = c_int()
        status = lib.kfe_spec_check(self.context.pointer, self.pointer, data.pointer if data else None, byref(misfit))
        if misfit.value not in (MISFIT_ONE_CLASS, MISFIT_TWO_CLASSES):
            self.context.check(status)
        return misfit.value


def _free_spec(pointer, _context, _callbacks):
    lib.kfe_spec_free(pointer)


def make_spec(context: Context, estimator: Any) -> Spec:
    """The spec of an estimator. The method is set before the learner, because their parameters may share names."""
    values = {name: getattr(estimator, name) for name in estimator._parameter_names}
    entry = estimator._entry
    if "rule" in values:
        spec = Spec.of_rule(context, values["rule"])
    else:
        spec = Spec.of_method(context, entry)
    spec.set_params(entry.params, values)
    spec.set_params(FIT_OPTIONS, values)
    spec.add_kernels(values.get("kernel"), values.get("gamma"))
    if "learner" in values:
        spec.set_learner(estimator._used_learner(), values["learner_params"])
    return spec
