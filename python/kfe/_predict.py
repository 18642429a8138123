# SPDX-License-Identifier: Apache-2.0
"""Mixins that make a transformer a classifier or a regressor."""
from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, column_or_1d

from . import _tables as tables
from ._model import Model
from ._target import CLASSES, REAL, class_texts, encode_labels

# The default learners of methods without a predictor of their own.
DEFAULT_LEARNERS = {"classifier": "svm", "regressor": "ls"}


def _written(labels) -> np.ndarray:
    """Labels as text, as in model files."""
    classes, codes = encode_labels(column_or_1d(labels))
    return np.array(class_texts(classes))[codes]


def settle_ties(scores: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Raises the predicted class's score to the next larger number. The library breaks ties by the order in which it saw
    the classes, not by the order of the columns."""
    tied = np.flatnonzero(np.argmax(scores, axis=1) != predicted)
    scores[tied, predicted[tied]] = np.nextafter(scores[tied].max(axis=1), np.inf)
    return scores


class Predicting:
    """The common part of classifiers and regressors."""

    _estimator_type: ClassVar[str]

    def _needs_target(self) -> bool:
        return True

    def _used_learner(self) -> Any:
        """The learner of the fit; None: the method has its own predictor."""
        if self.learner is None and not self._entry.has(tables.PREDICTOR):
            return DEFAULT_LEARNERS[self._estimator_type]
        return self.learner


def _is_calibrated(estimator) -> bool:
    """Whether the estimator gives probabilities: as its model says or, before the fit, as its parameter says."""
    model = vars(estimator).get("_model")
    if model is not None:
        return model.calibration != "none"
    if estimator.calibration == "auto":
        return estimator.learner is None and estimator._entry.has(tables.PROBABILITIES)
    return estimator.calibration != "none"


class Classifying(Predicting):
    """A classifier on the features of a method."""

    _estimator_type = "classifier"

    def _target_kind(self) -> str:
        return CLASSES

    def predict(self, X):
        """Predict the labels of examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        _, (answers, _) = self._ask(X, Model.predict)
        return self.classes_[self._class_places[answers[:, 0].astype(np.intp)]]

    @available_if(_is_calibrated)
    def predict_proba(self, X):
        """Probabilities of the classes, for estimators fitted with ``calibration="platt"`` or ``"isotonic"``, and by default
        for methods such as plsda that give them.

        The most probable class may differ from ``predict`` where a decision is close.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._ask(X, Model.probabilities)[1][:, np.argsort(self._class_places)]

    def predict_path(self, X):
        """Predict with the first 1, 2, ... features: one column for each number of features.

        For the learner ``"ls"`` and methods whose first features do not depend on dim, such as pls.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples, n_features_out)
        """
        return self.classes_[self._class_places[self._ask(X, Model.predict_path)[1][:, :, 0].astype(np.intp)]]

    def predict_sets(self, X, level=0.9):
        """Sets of classes that hold the true class with probability ``level``, for estimators fitted with
        ``conformal="split"``, ``"cross"`` or ``"jackknife"``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        level : float between 0 and 1

        Returns
        -------
        sets : bool ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; a row may have several classes or none.
        """
        _, found = self._ask(X, Model.intervals, float(level))
        return found[:, np.argsort(self._class_places)] != 0

    def decision_function(self, X):
        """Scores of the classes; higher scores mean more likely.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, one score: positive means the second of ``classes_``.
        """
        context, (answers, scores) = self._ask(X, Model.predict)
        places = self._class_places
        predicted = places[answers[:, 0].astype(np.intp)]
        if len(places) > 2:
            return settle_ties(self._model.class_scores(context, scores)[:, np.argsort(places)], predicted)
        values = scores.array()
        first = values[:, 0] if values.shape[1] == 1 else values[:, 0] - values[:, 1]
        second = first if places[0] == 1 else -first
        return settle_ties(np.column_stack([np.zeros(len(second)), second]), predicted)[:, 1]

    def score(self, X, y, sample_weight=None):
        """Accuracy of the predicted labels.

        Labels are compared as text: 1, 1.0 and "1" are equal. So a model has the same score after saving and
        loading.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        score : float
        """
        predicted = self.predict(X)
        check_consistent_length(predicted, y, sample_weight)
        return float(np.average(_written(y) == _written(predicted), weights=sample_weight))


class Regressing(Predicting):
    """A regressor on the features of a method."""

    _estimator_type = "regressor"

    def _target_kind(self) -> str:
        return REAL

    def predict(self, X):
        """Predict the values of examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        _, (answers, _) = self._ask(X, Model.predict)
        return answers[:, 0].copy() if answers.shape[1] == 1 else answers

    def predict_path(self, X):
        """Predict with the first 1, 2, ... features, for the learner ``"ls"`` and methods whose first features do not depend
        on dim, such as pls.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples, n_features_out) or (n_samples, n_features_out, n_targets)
        """
        _, path = self._ask(X, Model.predict_path)
        return path[:, :, 0] if path.shape[2] == 1 else path

    def predict_intervals(self, X, level=0.9):
        """Intervals that hold the true value with probability ``level``, for estimators fitted with
        ``conformal="split"``, ``"cross"`` or ``"jackknife"``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        level : float between 0 and 1

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_targets, 2)
            The lower and the upper end.
        """
        _, found = self._ask(X, Model.intervals, float(level))
        return found if found.shape[1] == 2 else found.reshape(len(found), -1, 2)

    def score(self, X, y, sample_weight=None):
        """R² of the predicted values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        score : float
        """
        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))


MIXINS = {"Classifier": Classifying, "Regressor": Regressing}
