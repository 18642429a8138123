# SPDX-License-Identifier: Apache-2.0
"""The argument ``prepare`` of estimators: chains of steps as the text that the library takes."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._tables import as_text


def _step(step: Any) -> str:
    """A step: "sg:window=11", ("sg", {"window": 11}) or {"name": "sg", "window": 11}."""
    if isinstance(step, str):
        return step
    if isinstance(step, Mapping) and "name" in step:
        name, settings = step["name"], {key: value for key, value in step.items() if key != "name"}
    elif isinstance(step, (tuple, list)) and len(step) == 2 and isinstance(step[0], str) and isinstance(step[1], Mapping):
        name, settings = step
    else:
        raise TypeError(f"a step is a name, such as 'snv', or ('sg', {{'window': 11}}), not {step!r}; kfe.steps() lists them")
    written = ",".join(f"{key.replace('_', '-')}={as_text(value)}" for key, value in settings.items())
    return f"{name}:{written}" if written else name


def _chain(chain: Any) -> str:
    if chain is None:
        return "none"
    if isinstance(chain, str):
        return chain
    if isinstance(chain, Mapping) or (isinstance(chain, tuple) and len(chain) == 2 and isinstance(chain[1], Mapping)):
        return _step(chain)  # one step alone
    if isinstance(chain, (list, tuple)):
        return ",".join(map(_step, chain)) or "none"
    raise TypeError(f"prepare takes steps, such as 'snv,sg:window=11' or ['snv', ('sg', {{'window': 11}})], not {chain!r}")


def chain_text(chain: Any) -> str:
    """A chain, or a dict of chains by view; its key None is for all other views."""
    if isinstance(chain, Mapping) and "name" not in chain:
        return ";".join(_chain(each) if view is None else f"{view}={_chain(each)}" for view, each in chain.items()) or "none"
    return _chain(chain)
