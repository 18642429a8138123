# SPDX-License-Identifier: Apache-2.0
"""partial_fit: estimators that are fitted block by block, from sums over the rows."""
from __future__ import annotations

import copy
import re

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from ._accumulator import Accumulator
from ._data import Data
from ._errors import KfeError
from ._lib import lib
from ._spec import make_spec
from ._target import SeenNumbers
from ._validation import check_weights

# Parameters that later blocks do not use: the random numbers choose landmarks in the first one.
RUNNING = ("random_state", "n_threads", "memory", "device", "verbose")


def can_accumulate(estimator) -> bool:
    """Whether the parameters permit partial_fit: a linear method, or landmarks; no learner, or ls or centroid."""
    if "_sums" in vars(estimator):
        return True
    if isinstance(getattr(estimator, "class_weight", None), str):  # the first block says why "balanced" is refused
        estimator = clone(estimator).set_params(class_weight=None)
    try:
        context = estimator._context()
        return bool(lib.kfe_spec_accumulates(make_spec(context, estimator).pointer))
    except (KfeError, ValueError, TypeError):
        return False


def add_rows(sums: Accumulator, data: Data, sample_weight) -> None:
    """Adds a block of rows, with weights if there are any."""
    if sample_weight is not None:
        weights = check_weights(sample_weight, data.rows)
        if not weights.any():
            return
        data.set_weights(weights)
    sums.add(data)


class Partial:
    """Fits block by block. The model is made when it is first needed after a block."""

    @available_if(can_accumulate)
    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        """Add a block of examples to the fit; the result is that of one fit on all blocks.

        Linear methods need sums over the rows only. Kernel methods need ``landmarks``, which the first block decides,
        together with the scaling and the width of the kernel: it should have some ten rows for each landmark. Predictors
        need ``learner="ls"`` or ``"centroid"``. The estimator can be pickled between blocks.

        The sums belong to the parameters of the first block, so that a change of a parameter is refused. ``clone`` gives
        an estimator that starts again, as does ``fit``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The examples of this block.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their labels or targets.
        classes : array-like of shape (n_classes,), optional
            All labels that may appear; others are then refused. It may be given in the first call. ``classes_`` are those
            that have appeared.
        sample_weight : array-like of shape (n_samples,), optional
            How many examples each row of this block counts for, as in ``fit``. A block of zeros adds nothing. ``class_weight``
            may name weights of classes; ``"balanced"`` needs the classes of all blocks beforehand and is refused.

        Returns
        -------
        self : object
        """
        first = "_sums" not in vars(self)
        if first:
            self._forget_fit()
            context = self._context()
            sums = Accumulator.new(context, make_spec(context, self))
            self._declared = None if classes is None else np.unique(np.asarray(classes))
            self._begun = self._deciding_params()
            seen = SeenNumbers()
        else:
            sums, seen = self._sums, copy.copy(vars(self).get("_seen", SeenNumbers()))
            self._check_same_params()
            self._check_same_classes(classes)
        data = self._prepare(sums.context, X, y, reset=first, seen=seen, weights=sample_weight)
        try:
            self._check_declared()
            add_rows(sums, data, sample_weight)
        finally:
            data.free()
        self._sums, self._seen = sums, seen
        self._forget_model()
        if "_all_classes" in vars(self):
            self.classes_ = self._all_classes
        return self

    # ---- parameters ----

    def _deciding_params(self) -> dict[str, str]:
        """The parameters that decide the result, as text without addresses, which change when an estimator is pickled."""
        return {name: re.sub(r" at 0x[0-9a-f]+", "", repr(value)) for name, value in self.get_params(deep=False).items()
                if name not in RUNNING}

    def _check_same_params(self) -> None:
        now = self._deciding_params()
        changed = sorted(name for name in now if now[name] != self._begun.get(name))
        if changed:
            raise ValueError(f"{changed[0]} was {self._begun.get(changed[0])} in the first call of partial_fit and is now "
                             f"{now[changed[0]]}, but the blocks so far were summed for the first value; start again with "
                             "sklearn.base.clone(estimator), or set it back")

    # ---- classes ----

    def _check_same_classes(self, classes) -> None:
        if classes is not None and (self._declared is None or np.unique(classes).tolist() != self._declared.tolist()):
            raise ValueError("classes was not given, or was different, in the first call of partial_fit")

    def _check_declared(self) -> None:
        """Refuses labels that `classes` does not list."""
        labels = vars(self).get("_block_classes")
        if self._declared is None or labels is None:
            return
        listed = set(self._declared.tolist())
        unknown = [label for label in labels.tolist() if label not in listed]
        if unknown:
            raise ValueError(f"y has the label {unknown[0]!r}, which classes does not list")

    def _note_labels(self, classes: np.ndarray, reset: bool) -> None:
        """Remembers the labels of all blocks."""
        self._block_classes = classes
        known = None if reset else vars(self).get("_all_classes")
        self._all_classes = classes if known is None else np.union1d(known, classes)

    # ---- the model, when it is needed ----

    def _forget_model(self) -> None:
        for name in ("_model", "records_", *vars(self).get("_published", ())):
            vars(self).pop(name, None)

    def _forget_fit(self) -> None:
        self._forget_model()
        for name in ("_sums", "_seen", "_begun", "classes_", "_all_classes", "_block_classes", "_declared"):
            vars(self).pop(name, None)

    def _finish(self) -> None:
        self._model = self._sums.finish()
        self._publish()
