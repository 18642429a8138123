# SPDX-License-Identifier: Apache-2.0
"""Former names of parameters: estimators still take them, with a FutureWarning that says the name of today."""
from __future__ import annotations

import functools
import warnings
from typing import Any, Callable

from ._context import _outside
from ._tables import FIT_OPTIONS, Entry, python_name


def former_names(entry: Entry) -> dict[str, str]:
    """The names of today, by former name."""
    return {python_name(row.alias): python_name(row.name) for row in (*entry.params, *FIT_OPTIONS) if row.alias}


def renamed(names: dict[str, str], params: dict[str, Any]) -> dict[str, Any]:
    """`params` with today's names in place of former ones."""
    found = {name: value for name, value in params.items() if name not in names}
    for name in params.keys() & names.keys():
        if names[name] in found:
            raise TypeError(f"{name} is the former name of {names[name]}: give one of them")
        warnings.warn(f"{name} is now called {names[name]}; the former name will be removed", FutureWarning,
                      stacklevel=_outside())
        found[names[name]] = params[name]
    return found


def taking_former_names(init: Callable, names: dict[str, str]) -> Callable:
    """A constructor that understands former names too; its signature, which scikit-learn reads, stays the same."""
    if not names:
        return init

    @functools.wraps(init)
    def wrapped(self, *args, **params):
        init(self, *args, **renamed(names, params))

    return wrapped
