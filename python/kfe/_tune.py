# SPDX-License-Identifier: Apache-2.0
"""tune: the search for a method, a kernel and settings that suit the data."""
from __future__ import annotations

from collections.abc import Mapping
from ctypes import byref, c_void_p
from typing import Any

import numpy as np

from ._lib import lib
from ._model import Model
from ._results import Result, typed
from ._result import take
from ._select import _let_go, _weights, _wrap_best
from ._steps import chain_text
from ._tables import as_text, options_text


class Tuning(Result):
    """The result of `tune`: a dict with ``best_estimator_``, which is fitted on all data."""

    def _rows(self) -> list[dict[str, Any]]:
        return [{**{key: row.get(key) for key in ("candidate", "mean", "standard_error", "seconds")},
                 "setting": ", ".join(f"{name}={value}" for name, value in row.get("setting", {}).items())}
                for row in self["ranking"]]

    def to_dataframe(self):
        """One row per candidate, best first."""
        import pandas
        rows = [{**{key: value for key, value in row.items() if key != "setting"}, **row.get("setting", {})}
                for row in self["ranking"]]
        return pandas.DataFrame(rows)


def _chains(prepare: Any) -> str:
    """Chains to try, as text: one, or a list of them."""
    return "|".join(map(chain_text, prepare)) if isinstance(prepare, (list, tuple)) else chain_text(prepare)


def _step_grid(grid: Any) -> str:
    """Values of settings of steps, as text: ``{"sg.window": [7, 11]}`` or the text itself."""
    if not isinstance(grid, Mapping):
        return grid or ""
    return ";".join(f"{name}={values if isinstance(values, str) else ','.join(map(as_text, np.atleast_1d(values)))}" for name, values in grid.items())


def tune(X, y, *, sample_weight: Any = None, time: float | str | None = 60, trials: int = 0, prepare: Any = "none", grid: Any = None,
         task: str = "auto",
         random_state: Any = None, n_threads: int | None = None, memory: Any = None, device: str | None = None,
         verbose: int = 0, **options: Any) -> Tuning:
    """Search for the method, the kernel and the settings that suit the data best.

    Tries methods, kernels, widths, ridges and classifiers or regressors, and baselines without a method, by successive
    halving on inner folds. The error of the whole procedure is measured on examples that did not influence the choice.
    Unless the time limit ends the search, the result depends only on the data, the options and random_state.

    Parameters
    ----------
    X, y : array-like
    sample_weight : array-like of shape (n_samples,), optional
        How many examples each row counts for, in the fits and in the metrics. Candidates that take no weights are not tried.
    time : float or str, optional, default=60
        Seconds for the search, or text such as ``"10m"``; None: no limit.
    trials : int, default=0
        Try this many settings, spread evenly over all candidates; 0: all.
    prepare : str, list or dict, default='none'
        Chains of steps to try before every candidate: a list of them, or text, ``"none|snv|snv,sg:derivative=1"``. A chain is
        written as for the estimators. It is learned on training rows only.
    grid : dict or str, optional
        Settings of these steps to try: ``{"sg.window": [7, 11, 15]}``.
    task : {'auto', 'classify', 'regress'}, default='auto'
    random_state, n_threads, memory, device, verbose
        As for the estimators.
    **options
        As the flags of ``kfe tune``: ``assess``, ``folds``, ``kernel``, ``metrics``, ``positive``.

    Returns
    -------
    result : Tuning
        A dict with ``best``, ``honest`` and ``ranking``; ``best_estimator_`` is fitted on all the data, and
        ``to_dataframe`` makes a table of the ranking.

    Examples
    --------
    >>> import kfe
    >>> X, y = kfe.generate("iris")
    >>> result = kfe.tune(X, y, trials=20, time=None)
    >>> result["honest"]["metrics"]["accuracy"]["mean"] > 0.9
    True
    >>> result.best_estimator_.predict(X[:2]).tolist()
    ['setosa', 'setosa']
    """
    from ._estimators import CLASSES
    carrier = CLASSES["KPLS"](task=task, random_state=random_state, n_threads=n_threads, memory=memory,
                              device=device, verbose=verbose)
    context, best, found = carrier._context(), c_void_p(), c_void_p()
    data = carrier._prepare(context, X, y, reset=True, weights=sample_weight)
    options = {"time": "none" if time is None else time, "trials": trials, "prepare": _chains(prepare),
               "grid": _step_grid(grid), **options}
    try:
        if sample_weight is not None:
            data.set_weights(_weights(sample_weight, data.rows))
        context.call(lib.kfe_tune, data.pointer, options_text(options), byref(best), byref(found))
    except BaseException:
        _let_go(found, best)
        raise
    finally:
        data.free()
    result = Tuning(typed(take(found)))
    result.best_estimator_ = _wrap_best(carrier, Model(context, best.value, [], []), y)
    return result
