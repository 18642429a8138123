# SPDX-License-Identifier: Apache-2.0
"""Kernels as objects, one class for every kernel in the library's table, and conversions between the ways to write them.

Objects have scikit-learn's get_params and set_params, so that searches vary ``kernel__gamma``. This module does not
import scikit-learn.
"""
from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Iterator

from ._docs import Argument, init_source, kernel_arguments, kernel_docstring
from ._tables import KERNEL_ENTRIES, Entry, as_text, find_kernel, python_name

KERNEL_CLASS_NAMES = {"rbf": "RBF", "poly": "Polynomial"}


class Parameters:
    """The base of objects whose parameters scikit-learn reads, sets and copies."""

    _names: tuple[str, ...]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep`, also those of nested kernels as ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        params : dict
        """
        found = {name: self._get(name) for name in self._names}
        if deep:
            for name, value in list(found.items()):
                if isinstance(value, Parameters):
                    found.update({f"{name}__{key}": inner for key, inner in value.get_params().items()})
        return found

    def set_params(self, **params: Any):
        """Set parameters; those of nested kernels as ``name__parameter``.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        self : object
        """
        for name, value in params.items():
            own, _, inner = name.partition("__")
            if own not in self._names:
                close = difflib.get_close_matches(own, self._names, 1)
                hint = f" (did you mean {close[0]!r}?)" if close else f"; it has {', '.join(self._names)}"
                raise ValueError(f"{type(self).__name__} has no parameter {own!r}{hint}")
            if inner:
                self._set(own, with_params(self._get(own), {inner: value}))
            else:
                self._set(own, value)
        return self

    def _get(self, name: str) -> Any:
        return getattr(self, name)

    def _set(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self.get_params(deep=False) == other.get_params(deep=False)

    __hash__ = None  # type: ignore[assignment]  # parameters change


class _Sums:
    """Sums and multiples of kernels."""

    __array_ufunc__ = None  # NumPy's numbers leave the product to __rmul__

    def __add__(self, other: Any) -> "KernelSum":
        if not is_kernel(other):
            return NotImplemented
        return KernelSum(*_addends(self), *_addends(other))

    def __radd__(self, other: Any) -> "KernelSum":
        return KernelSum(*_addends(other), *_addends(self)) if is_kernel(other) else NotImplemented

    def __mul__(self, factor: Any):
        if isinstance(factor, (_Sums, str)):
            raise TypeError("products of kernels are not available; sums are, and multiples such as 0.5 * kfe.RBF()")
        return self._times(float(factor))

    __rmul__ = __mul__


class Kernel(_Sums, Parameters):
    """A kernel of the library; its subclasses are made from the table of kernels."""

    _entry: ClassVar[Entry]

    def __str__(self) -> str:
        """The kernel as the library reads it: "rbf:gamma=0.5"."""
        given = {row.name: self._get(python_name(row.name, frozenset())) for row in self._entry.params}
        options = [f"{row.name}={as_text(given[row.name])}" for row in self._entry.params
                   if as_text(given[row.name]) != as_text(row.default)]
        return ":".join(part for part in (self._entry.name, ",".join(options)) if part)

    def __repr__(self) -> str:
        rows = ((python_name(row.name, frozenset()), row.default) for row in self._entry.params)
        changed = [f"{name}={self._get(name)!r}" for name, default in rows if repr(self._get(name)) != repr(default)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _times(self, factor: float) -> "Kernel":
        return type(self)(**{**self.get_params(), "weight": factor * float(self.weight)})

    def __call__(self, X, Y=None):
        """The kernel matrix between the rows of X and those of Y (None: X); see `kernel_matrix`."""
        from ._sources import kernel_matrix
        return kernel_matrix(self, X, Y)


class KernelSum(_Sums, Parameters):
    """A sum of kernels, each with its weight.

    ``kfe.RBF(gamma=0.1) + 0.5 * kfe.Linear()`` makes one. Its parameters are called ``k1``, ``k2`` and so on, so that
    a search varies ``kernel__k1__gamma``. Methods that learn weights (``MKL`` and others) find new ones.

    Parameters
    ----------
    *kernels : object
        Kernels, written in any way that estimators accept.
    **named : object
        The same by name: ``k1=``, ``k2=`` and so on, as ``clone`` passes them.

    Examples
    --------
    >>> import kfe
    >>> kfe.RBF(gamma=0.1) + 0.5 * kfe.Linear()
    RBF(gamma=0.1) + Linear(weight=0.5)
    """

    def __init__(self, *kernels: Any, **named: Any):
        self.kernels = [*kernels, *(named[f"k{number}"] for number in range(len(kernels) + 1, len(kernels) + len(named) + 1))]
        if not self.kernels:
            raise ValueError("a sum needs at least one kernel")

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"k{number + 1}" for number in range(len(self.kernels)))

    def _get(self, name: str) -> Any:
        return self.kernels[int(name[1:]) - 1]

    def _set(self, name: str, value: Any) -> None:
        self.kernels[int(name[1:]) - 1] = value

    def __repr__(self) -> str:
        return " + ".join(repr(kernel) for kernel in self.kernels)

    def _times(self, factor: float) -> "KernelSum":
        return KernelSum(*(factor * as_object(kernel) for kernel in self.kernels))


class ViewKernels(Parameters):
    """Kernels by view, so that a search can vary their parameters: ``kernel__fac__gamma``.

    A dict of kernels is accepted too, but its parameters cannot be searched.

    Parameters
    ----------
    **kernels : object
        The kernel of each view, or a list of them.

    Examples
    --------
    >>> import kfe
    >>> kfe.ViewKernels(fac=kfe.RBF(gamma=0.1), kar="linear").get_params()["fac__gamma"]
    0.1
    """

    def __init__(self, **kernels: Any):
        self.kernels = kernels

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.kernels)

    def _get(self, name: str) -> Any:
        return self.kernels[name]

    def _set(self, name: str, value: Any) -> None:
        self.kernels[name] = value

    def __repr__(self) -> str:
        return f"ViewKernels({', '.join(f'{view}={kernel!r}' for view, kernel in self.kernels.items())})"


def _make_class(name: str, entry: Entry) -> type:
    args: list[Argument] = kernel_arguments(entry)
    space: dict[str, Any] = {}
    exec("from __future__ import annotations\n" + init_source(args), space)
    init = space["__init__"]
    init.__qualname__, init.__module__ = f"{name}.__init__", "kfe"
    return type(name, (Kernel,), {"__init__": init, "__doc__": kernel_docstring(name, entry, args), "__module__": "kfe",
                                  "_entry": entry, "_names": tuple(argument.name for argument in args)})


def kernel_class_name(kernel: str) -> str:
    return KERNEL_CLASS_NAMES.get(kernel) or kernel[:1].upper() + kernel[1:]


CLASSES = {kernel_class_name(name): _make_class(kernel_class_name(name), entry)
           for name, entry in KERNEL_ENTRIES.items()}
for _class in (KernelSum, ViewKernels):
    _class.__module__ = "kfe"


# ---- conversions between the ways to write kernels ----


def _is_pair(kernel: Any) -> bool:
    """Whether the kernel is a pair such as ("rbf", {"gamma": 0.1})."""
    return isinstance(kernel, tuple) and len(kernel) == 2 and isinstance(kernel[0], str) and isinstance(kernel[1], Mapping)


def _is_named(kernel: Any) -> bool:
    """Whether the kernel is a dict such as {"name": "rbf", "gamma": 0.1}; other dicts are kernels by view."""
    return isinstance(kernel, Mapping) and isinstance(kernel.get("name"), str) and find_kernel(kernel["name"]) is not None


def is_kernel(value: Any) -> bool:
    """Whether the value is one kernel or a sum of kernels."""
    return isinstance(value, (str, _Sums)) or callable(value) or _is_pair(value) or _is_named(value)


def by_view(kernel: Any) -> Mapping[str, Any] | None:
    """Kernels by view; None if they are not given by view."""
    if isinstance(kernel, ViewKernels):
        return kernel.kernels
    return kernel if isinstance(kernel, Mapping) and not _is_named(kernel) else None


def _addends(kernel: Any) -> list[Any]:
    return list(kernel.kernels) if isinstance(kernel, KernelSum) else [kernel]


def kernel_list(kernel: Any) -> list[Any]:
    """Kernels as a list of texts and functions; those of several views are concatenated."""
    if kernel is None:
        return []
    views = by_view(kernel)
    if views is not None:
        return [item for each in views.values() for item in kernel_list(each)]
    if isinstance(kernel, KernelSum):
        return [item for each in kernel.kernels for item in kernel_list(each)]
    if _is_pair(kernel) or _is_named(kernel) or isinstance(kernel, Kernel):
        return [kernel_text(kernel)]
    if isinstance(kernel, (list, tuple)):
        return [item for each in kernel for item in kernel_list(each)]
    return [kernel]


def _options(params: Mapping[str, Any]) -> str:
    return ",".join(f"{name.rstrip('_').replace('_', '-')}={as_text(value)}" for name, value in params.items())


def kernel_text(kernel: Any) -> str:
    """One kernel as the library reads it."""
    if isinstance(kernel, (str, Kernel)):
        return str(kernel)
    if _is_pair(kernel):
        return f"{kernel[0]}:{_options(kernel[1])}" if kernel[1] else kernel[0]
    if _is_named(kernel):
        return kernel_text((kernel["name"], {name: value for name, value in kernel.items() if name != "name"}))
    raise TypeError(f"a kernel is a name such as 'rbf:gamma=0.5', an object such as kfe.RBF(gamma=0.5), a pair "
                    f"('rbf', {{'gamma': 0.5}}) or a dict {{'name': 'rbf', 'gamma': 0.5}}, not {type(kernel).__name__}")


def entry_of(kernel: Any) -> Entry | None:
    """The table entry of a kernel that is given by name."""
    return find_kernel(kernel.split(":")[0]) if isinstance(kernel, str) else None


def kernel_entries(kernel: Any) -> Iterator[Entry]:
    """The table entries of all kernels that are given by name."""
    for item in kernel_list(kernel):
        entry = entry_of(item)
        if entry:
            yield entry


def _typed(entry: Entry, name: str, text: str) -> Any:
    """The value of a parameter that is given as text; a range such as "0.1..10/5" stays text."""
    row = next((row for row in entry.params if row.name == name), None)
    try:
        return text if row is None else row._replace(initial=text).default
    except ValueError:
        return text


def as_object(kernel: Any) -> Any:
    """A kernel as an object with parameters; functions and lists of kernels are returned unchanged."""
    if isinstance(kernel, Parameters) or not is_kernel(kernel):
        return kernel
    if not isinstance(kernel, str) and callable(kernel):
        return kernel
    name, _, options = kernel_text(kernel).partition(":")
    entry = find_kernel(name)
    if entry is None:
        return kernel
    given = dict(option.partition("=")[::2] for option in options.split(",") if option)
    values = {python_name(key.replace("_", "-"), frozenset()): _typed(entry, key.replace("_", "-"), text)
              for key, text in given.items()}
    made = CLASSES[kernel_class_name(entry.name)]()
    return made.set_params(**values)


def with_params(kernel: Any, params: Mapping[str, Any]) -> Any:
    """A kernel as an object with these parameters set."""
    found = as_object(kernel)
    if not hasattr(found, "set_params"):
        raise ValueError(f"{found!r} has no parameters to set; give kernels as objects, such as kfe.RBF(), a sum of them, "
                         "or kfe.ViewKernels")
    return found.set_params(**params)


def with_gamma(texts: list[Any], gamma: Any) -> list[Any]:
    """The kernels with the estimator's gamma, where they have that parameter."""
    if gamma is None:
        return texts
    found = [_set_gamma(text, gamma) for text in texts]
    if not any(_has_gamma(text) for text in texts):
        names = ", ".join(text.split(":")[0] if isinstance(text, str) else "a function" for text in texts)
        raise ValueError(f"gamma={gamma!r} was given, but the kernel has no such parameter ({names or 'there is none'})")
    return found


def _has_gamma(text: Any) -> bool:
    entry = entry_of(text)
    return entry is not None and any(row.name == "gamma" for row in entry.params)


def _set_gamma(text: Any, gamma: Any) -> Any:
    if not _has_gamma(text):
        return text
    name, _, options = text.partition(":")
    if any(option.partition("=")[0] == "gamma" for option in options.split(",")):
        raise ValueError(f"gamma={gamma!r} was given, but the kernel {text!r} has one already; give one of them")
    return f"{name}:{','.join(part for part in (options, f'gamma={as_text(gamma)}') if part)}"
