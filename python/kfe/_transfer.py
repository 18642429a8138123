# SPDX-License-Identifier: Apache-2.0
"""Models of one instrument, made models of another."""
from __future__ import annotations

import copy
from ctypes import byref, c_void_p
from typing import Any

from ._lib import lib
from ._model import Model


def transfer(estimator: Any, how: str = "pds", *, slave: Any, master: Any = None, y: Any = None, train: tuple[Any, Any] | None = None,
             sample_weight: Any = None) -> Any:
    """Adapt a fitted estimator, whose training data one instrument (the master) measured, to another instrument (the slave).

    Parameters
    ----------
    estimator : fitted estimator
    how : str, default="pds"
        ``"pds:window=5,dim=2"``: piecewise direct standardisation; ``"epo:dim=1"``: external parameter orthogonalisation;
        ``"slope-bias"``: predictions become bias + slope * prediction, ``"slope-bias:slope=no"`` corrects the bias alone.
    slave : array-like of shape (n_samples, n_features)
        What the second instrument measured.
    master : array-like of shape (n_samples, n_features), optional
        The same samples, in the same order, on the first instrument; for pds and epo.
    y : array-like, optional
        Reference values of the slave's samples; for slope-bias.
    train : pair (X_train, y_train), optional
        For epo: the training data, on which the estimator is fitted again after the projection.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples.

    Returns
    -------
    estimator : object
        A copy for the second instrument; the one that was given stays as it is.
    """
    from sklearn.utils.validation import check_is_fitted

    from ._validation import check_weights
    check_is_fitted(estimator)
    context, pointer, made = estimator._context(), c_void_p(), []

    def prepare(X, y=None, weights=None):
        if X is None:
            return None
        data = estimator._prepare(context, X, y, with_target=y is not None)
        made.append(data)
        if weights is not None:
            data.set_weights(check_weights(weights, data.rows))
        return data.pointer

    try:
        spectra = prepare(slave, y, sample_weight)
        estimator._model._run(lambda: context.call(lib.kfe_transfer, estimator._model.pointer, how.encode(), prepare(master), spectra,
                                                   prepare(*train) if train is not None else None, byref(pointer)))
    finally:
        for data in made:
            data.free()
    return _with_model(estimator, context, pointer.value)


def _with_model(estimator: Any, context, pointer: int) -> Any:
    """A copy of the estimator with another model; sums of partial fits stay behind."""
    model = Model(context, pointer)
    model.bind(estimator._model.kernels)
    found = copy.copy(estimator)
    found.__dict__.pop("_sums", None)
    found._model = model
    found._publish()
    return found
