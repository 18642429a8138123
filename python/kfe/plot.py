# SPDX-License-Identifier: Apache-2.0
"""Plots on matplotlib axes, in the style of scikit-learn's displays.

Every function takes ``ax=`` and returns a display, which has ``figure_`` and ``ax_`` and can be drawn again with ``plot``:

>>> import kfe, kfe.plot                                                     # doctest: +SKIP
>>> X, y = kfe.generate("iris")                                              # doctest: +SKIP
>>> kfe.plot.scores(kfe.KOC(kernel="rbf:gamma=0.2").fit(X, y), X, y)         # doctest: +SKIP

The numbers of a plot are a table, ``display.table()``: plots are drawn from the same descriptions as the figures of
``kfe plot`` and of reports.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ._drawing import axes_for, draw_panel
from ._lib import shown
from ._page import Source

__all__ = ["Display", "ScoresDisplay", "ScreeDisplay", "PathDisplay", "DimChoiceDisplay", "PermutationTestDisplay", "RocDisplay", "PrecisionRecallDisplay",
           "ConfusionDisplay", "GateDisplay", "CvCurveDisplay", "CvSurfaceDisplay", "ComparisonDisplay", "ViewsDisplay",
           "LoadingsDisplay", "LoadingWeightsDisplay", "RotationsDisplay", "CoefficientsDisplay", "VipDisplay",
           "SelectivityRatioDisplay", "SmcDisplay", "ImportanceDisplay", "SpectraDisplay", "OutliersDisplay", "LeverageDisplay", "ContributionsDisplay", "ViewWeightsDisplay", "ScoreCorrelationsDisplay",
           "ResidualsDisplay", "CalibrationDisplay", "GateRegionsDisplay", "PredictedDisplay", "scores", "scree", "path",
           "dim_choice", "permutation_test", "roc", "precision_recall", "confusion", "calibration", "gate", "gate_regions", "views", "cv_curve", "cv_surface", "comparison",
           "loadings", "loading_weights", "rotations", "coefficients", "vip", "selectivity_ratio", "smc", "importance", "spectra", "outliers", "leverage",
           "contributions", "view_weights", "score_correlations", "predicted", "residuals"]

# ---- displays ----


class Display:
    """A plot: ``description`` has its numbers, ``ax_`` and ``figure_`` are where it was drawn last.

    Make one with ``from_estimator``, ``from_predictions`` or ``from_results``, whichever the display has.
    """

    kind = ""

    def __init__(self, description: dict):
        self.description = description

    def plot(self, ax=None):
        """Draw on matplotlib axes.

        Parameters
        ----------
        ax : matplotlib axes, or an array of them for plots of several panels, optional

        Returns
        -------
        display : this display
        """
        axes = axes_for(self.description, ax)
        for number, one in enumerate(axes):
            draw_panel(one, self.description, number)
        self.ax_ = axes[0] if len(axes) == 1 else axes
        self.figure_ = axes[0].figure
        return self

    def table(self):
        """The numbers of the plot as a pandas table."""
        import pandas
        columns = {}
        for column in self.description["columns"]:
            words = column.get("words")
            columns[column["name"]] = (column["numbers"] if words is None else
                                       [words[code] if code >= 0 else None for code in column["codes"]])
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {shown(self.description['caption'])}>"

    @classmethod
    def _draw(cls, source: Source, ax, *kinds: str):
        with source:
            for kind in kinds[:-1]:
                try:
                    return cls(source.figure(kind)).plot(ax)
                except ValueError:
                    continue
            return cls(source.figure(kinds[-1])).plot(ax)


class _OfEstimator(Display):
    @classmethod
    def from_estimator(cls, estimator, X=None, y=None, *, train=None, ax=None, **options):
        """Draw the plot of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator of kfe, or the path of a model file
        X, y : array-like, optional
            Examples to show, with labels or targets.
        train : tuple (X, y), optional
            Training examples, shown beside them.
        ax : matplotlib axes, optional
        **options
            Options of the figure, such as ``positive`` for `roc`.
        """
        return cls._draw(Source(estimator, (X, y), train, **options), ax, *cls.kind.split())


class _OfResults(Display):
    @classmethod
    def from_results(cls, results, *, metric=None, ax=None):
        """Draw the plot of a search.

        Parameters
        ----------
        results : result of `kfe.cv` or `kfe.compare`
        metric : str, optional
            The metric to show; the first one unless given.
        ax : matplotlib axes, optional
        """
        return cls._draw(Source(results=results, metric=metric), ax, *cls.kind.split())


class ScoresDisplay(Display):
    """Examples by two of their features."""

    @classmethod
    def from_estimator(cls, estimator, X, y=None, *, features=(1, 2), train=None, ax=None):
        """Draw two features of examples.

        Parameters
        ----------
        estimator : fitted estimator of kfe, or the path of a model file
        X, y : array-like
            Examples to show, with labels or targets.
        features : pair of int
            The features on the axes, counted from 1.
        train : tuple (X, y), optional
            Training examples, shown as outlines beside them.
        ax : matplotlib axes, optional
        """
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        if getattr(getattr(last, "_model", None), "dim", 2) < 2:
            features = (1, 1)
        return cls._draw(Source(estimator, (X, y), train, x=features[0], y=features[1]), ax, "scatter")

    @classmethod
    def from_predictions(cls, features, y=None, *, axes=(1, 2), ax=None):
        """Draw features that were computed before.

        Parameters
        ----------
        features : array-like of shape (n_samples, n_features)
            What ``transform`` returned.
        y : array-like of shape (n_samples,), optional
            Labels, which colour the examples.
        axes : pair of int
            The features on the axes, counted from 1.
        ax : matplotlib axes, optional
        """
        values = np.asarray(features, dtype=float)
        labels = np.zeros(len(values), dtype=int) if y is None else np.asarray(y)
        classes = np.unique(labels)
        order = np.argsort(np.searchsorted(classes, labels), kind="stable")
        counts = [int((labels == label).sum()) for label in classes]
        names = [f"feature {number}" for number in axes]
        columns = [{"name": "row", "numbers": (order + 1).tolist()},
                   {"name": "class", "words": [str(label) for label in classes],
                    "codes": np.searchsorted(classes, labels)[order].tolist()},
                   *({"name": name, "numbers": values[order, number - 1].tolist()} for name, number in zip(names, axes))]
        series = [{"mark": "points", "colour": _colour(k), "style": k, "first": sum(counts[:k]), "count": counts[k], "x": 3, "y": 4,
                   **({} if y is None else {"name": str(label)})} for k, label in enumerate(classes)]
        return cls(_describe("Examples by their features", "Examples by two of their features.", columns,
                             {"x": {"title": names[0]}, "y": {"title": names[1]}}, series)).plot(ax)


class ScreeDisplay(_OfEstimator):
    """Eigenvalues and their cumulative share."""

    kind = "scree"


class PathDisplay(_OfEstimator):
    """Records of the fit by number of features or by iteration."""

    kind = "path convergence"


class DimChoiceDisplay(_OfEstimator):
    """What each number of features leaves unexplained, and the number that a fit with ``dim="auto"`` chose."""

    kind = "dim-choice"


class ViewWeightsDisplay(_OfEstimator):
    """Importance of the views of mbpls, or their weights in predictions of block-splsda."""

    kind = "view-weights"


class ScoreCorrelationsDisplay(_OfEstimator):
    """Correlations between the scores of the views of mbpls or block-splsda."""

    kind = "score-correlations"


class GateDisplay(_OfEstimator):
    """Shares of the gate of a localized model."""

    kind = "gate"


class GateRegionsDisplay(_OfEstimator):
    """Which part of a localized model has the largest share at each place."""

    kind = "gate-regions"


class ViewsDisplay(_OfEstimator):
    """What each view is worth: the loss when it is permuted, the share of a gate and the loss when it is dropped."""

    kind = "views"


class LoadingsDisplay(_OfEstimator):
    """Loadings P of a linear model by column."""

    kind = "loadings"


class LoadingWeightsDisplay(_OfEstimator):
    """Weights W of a linear model by column."""

    kind = "loading-weights"


class RotationsDisplay(_OfEstimator):
    """Rotations R of a linear model by column."""

    kind = "rotations"


class SpectraDisplay(_OfEstimator):
    """Rows as lines over the axis of their columns, raw and as the model prepares them."""

    kind = "spectra"


class OutliersDisplay(_OfEstimator):
    """Hotelling's T² against Q residuals of examples, with limits."""

    kind = "outliers"


class LeverageDisplay(_OfEstimator):
    """Studentized residuals against leverage, with limits."""

    kind = "leverage"


class ContributionsDisplay(_OfEstimator):
    """What each column adds to T² and Q of an example."""

    kind = "contributions"


class CoefficientsDisplay(_OfEstimator):
    """Coefficients of a linear model by column, in the units of the data; with training examples, their jack-knife intervals."""

    kind = "coefficients"


class VipDisplay(_OfEstimator):
    """Variable importance in projection; columns above 1 matter more than the average column."""

    kind = "vip"


class SelectivityRatioDisplay(_OfEstimator):
    """Explained over unexplained variance of each column along the predicted target."""

    kind = "selectivity-ratio"


class SmcDisplay(_OfEstimator):
    """Significance multivariate correlation: F value of each column, its part along the regression against the rest."""

    kind = "smc"


class ImportanceDisplay(_OfEstimator):
    """Permutation importance: how much worse predictions get when the values of a column are exchanged among the examples."""

    kind = "permutation"


class CvCurveDisplay(_OfResults):
    """The metric of a search over one parameter."""

    kind = "cv-curve"


class CvSurfaceDisplay(_OfResults):
    """The metric of a search over two parameters."""

    kind = "cv-surface"


class PermutationTestDisplay(_OfResults):
    """The metric with permuted labels, and the value observed."""

    kind = "permutation-test"


class ComparisonDisplay(_OfResults):
    """Methods compared on the same splits; grey lines join those that do not differ."""

    kind = "comparison"


def _describe(title: str, caption: str, columns: list[dict], panel: dict, series: list[dict], **flags: Any) -> dict:
    """A description in the form that the library writes."""
    axes = {letter: {"title": "", **panel.get(letter, {})} for letter in "xyz"}
    rows = len(columns[0].get("numbers", columns[0].get("codes")))
    return {"title": title, "caption": caption, "rows": rows, "columns": columns, "across": 1,
            "panels": [{"reference": panel.get("reference", "none"), **axes}], "series": series, **flags}


def _colour(style: int) -> str:
    return ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1")[style % 7]


def _curves(y_true, y_score, pos_label, curve, area, names, caption, reference):
    """One curve per class: `curve` gives its points, `area` its legend."""
    y_true, y_score = np.asarray(y_true), np.asarray(y_score, dtype=float)
    classes = np.unique(y_true)
    if y_score.ndim == 1:
        pairs = [(pos_label if pos_label is not None else classes[-1], y_score)]
    elif y_score.shape[1] != len(classes):
        raise ValueError(f"y_score has {y_score.shape[1]} columns, but y_true has {len(classes)} classes")
    else:
        pairs = [(label, y_score[:, k]) for k, label in enumerate(classes) if pos_label is None or label == pos_label]
    x, y, codes, series = [], [], [], []
    for number, (label, values) in enumerate(pairs):
        one, other = curve(y_true == label, values)
        series.append({"name": f"{area(y_true == label, values)} {label}", "mark": "line", "colour": _colour(number),
                       "style": number, "first": len(x), "count": len(one), "x": 2, "y": 3})
        x.extend(one)
        y.extend(other)
        codes.extend([number] * len(one))
    columns = [{"name": "class", "words": [str(label) for label, _ in pairs], "codes": codes},
               {"name": names[0], "numbers": x}, {"name": names[1], "numbers": y}]
    panel = {"x": {"title": names[0], "range": [0, 1]}, "y": {"title": names[1], "range": [0, 1.01]}, "reference": reference}
    return _describe(caption, caption, columns, panel, series, square=True)


def _events(y_true, y_prob, pos_label):
    """The predicted probability of each example and whether it came true."""
    classes = np.unique(y_true)
    if y_prob.ndim == 1 or y_prob.shape[1] == 1:
        return y_prob.ravel(), y_true == (pos_label if pos_label is not None else classes[-1])
    if y_prob.shape[1] != len(classes):
        raise ValueError(f"y_prob has {y_prob.shape[1]} columns, but y_true has {len(classes)} classes")
    if pos_label is None and len(classes) == 2:
        pos_label = classes[-1]
    if pos_label is not None:
        return y_prob[:, np.flatnonzero(classes == pos_label)[0]], y_true == pos_label
    return y_prob.max(axis=1), classes[y_prob.argmax(axis=1)] == y_true


class RocDisplay(_OfEstimator):
    """True positives against false positives over all thresholds."""

    kind = "roc"

    @classmethod
    def from_predictions(cls, y_true, y_score, *, pos_label=None, ax=None):
        """Draw the curves of scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
        y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
            Higher scores mean more likely; columns are the sorted classes.
        pos_label : label, optional
            Only the curve of this class.
        ax : matplotlib axes, optional
        """
        from sklearn.metrics import roc_auc_score, roc_curve
        return cls(_curves(y_true, y_score, pos_label, lambda t, s: roc_curve(t, s)[:2],
                           lambda t, s: f"AUC {roc_auc_score(t, s):.3f}", ("false positive rate", "true positive rate"),
                           "ROC curves", "diagonal")).plot(ax)


class PrecisionRecallDisplay(_OfEstimator):
    """Precision against recall over all thresholds."""

    kind = "precision-recall"

    @classmethod
    def from_predictions(cls, y_true, y_score, *, pos_label=None, ax=None):
        """Draw the curves of scores; see `RocDisplay.from_predictions`."""
        from sklearn.metrics import average_precision_score, precision_recall_curve
        return cls(_curves(y_true, y_score, pos_label, lambda t, s: precision_recall_curve(t, s)[1::-1],
                           lambda t, s: f"AP {average_precision_score(t, s):.3f}", ("recall", "precision"),
                           "Precision and recall", "none")).plot(ax)


class CalibrationDisplay(_OfEstimator):
    """How often predictions of each probability come true."""

    kind = "calibration"

    @classmethod
    def from_predictions(cls, y_true, y_prob, *, pos_label=None, n_bins=10, ax=None):
        """Draw the reliability diagram of probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            Probabilities of ``pos_label``, or of the sorted classes. With several classes, the most probable one is judged.
        pos_label : label, optional
            The class whose probability is judged; with two classes the last one unless given.
        n_bins : int
            The number of bins of equal width.
        ax : matplotlib axes, optional
        """
        predicted, true = _events(np.asarray(y_true), np.asarray(y_prob, dtype=float), pos_label)
        bins = np.clip((predicted * n_bins).astype(int), 0, n_bins - 1)
        filled = np.unique(bins)
        rows = [(predicted[bins == b].mean(), true[bins == b].mean(), int((bins == b).sum())) for b in filled]
        names = ("mean probability", "observed share", "examples")
        columns = [{"name": name, "numbers": [row[k] for row in rows]} for k, name in enumerate(names)]
        series = [{"mark": "line", "colour": _colour(0), "style": 0, "count": len(rows), "x": 1, "y": 2, "dotted": True}]
        panel = {"x": {"title": "predicted probability", "range": [0, 1]}, "y": {"title": "observed share", "range": [0, 1.02]},
                 "reference": "diagonal"}
        return cls(_describe("Calibration", "How often predictions of each probability come true.", columns, panel,
                             series)).plot(ax)


class ConfusionDisplay(_OfEstimator, _OfResults):
    """How often each class was predicted as which."""

    kind = "confusion"

    @classmethod
    def from_predictions(cls, y_true, y_pred, *, ax=None):
        """Draw the matrix of predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
        ax : matplotlib axes, optional
        """
        from sklearn.metrics import confusion_matrix
        labels = np.unique(np.concatenate([np.asarray(y_true), np.asarray(y_pred)]))
        matrix = confusion_matrix(y_true, y_pred, labels=labels)
        rows, cols = np.nonzero(matrix)
        words = [str(label) for label in labels]
        columns = [{"name": "true class", "words": words, "codes": rows.tolist()},
                   {"name": "predicted class", "words": words, "codes": cols.tolist()},
                   {"name": "count", "numbers": matrix[rows, cols].tolist()}]
        series = [{"mark": "heat", "colour": _colour(0), "style": 0, "count": len(rows), "x": 2, "y": 1, "z": 3}]
        panel = {"x": {"title": "predicted class"}, "y": {"title": "true class"}}
        return cls(_describe("Confusion matrix", "Confusion matrix", columns, panel, series, square=True, counts=True,
                             reversed=True)).plot(ax)


class ResidualsDisplay(_OfEstimator, _OfResults):
    """Errors of the predictions against the predicted values."""

    kind = "residuals"

    @classmethod
    def from_predictions(cls, y_true, y_pred, *, ax=None):
        """Draw the residuals of predicted values.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
        ax : matplotlib axes, optional
        """
        truth, predicted = (np.asarray(each, dtype=float).ravel() for each in (y_true, y_pred))
        columns = [{"name": name, "numbers": values.tolist()} for name, values in
                   (("target", truth), ("predicted", predicted), ("residual", truth - predicted))]
        series = [{"mark": "points", "colour": _colour(0), "style": 0, "count": len(truth), "x": 2, "y": 3}]
        panel = {"x": {"title": "predicted value"}, "y": {"title": "residual (true − predicted)"}, "reference": "zero"}
        return cls(_describe("Residuals", "Residuals", columns, panel, series)).plot(ax)


class PredictedDisplay(_OfEstimator, _OfResults):
    """Predicted against true numbers."""

    kind = "predicted"

    @classmethod
    def from_predictions(cls, y_true, y_pred, *, ax=None):
        """Draw predicted values over true ones.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
        ax : matplotlib axes, optional
        """
        truth, predicted = (np.asarray(each, dtype=float).ravel() for each in (y_true, y_pred))
        columns = [{"name": "target", "numbers": truth.tolist()}, {"name": "predicted", "numbers": predicted.tolist()}]
        series = [{"mark": "points", "colour": _colour(0), "style": 0, "count": len(truth), "x": 1, "y": 2}]
        panel = {"x": {"title": "true value"}, "y": {"title": "predicted value"}, "reference": "diagonal"}
        return cls(_describe("Predicted and true values", "Predicted and true values", columns, panel, series)).plot(ax)


# ---- functions ----


def scores(estimator, X, y=None, *, features=(1, 2), train=None, ax=None):
    """Plot two features of examples, counted from 1, coloured by class or target."""
    return ScoresDisplay.from_estimator(estimator, X, y, features=features, train=train, ax=ax)


def scree(estimator, *, ax=None):
    """Plot the eigenvalues of pca or kpca and their cumulative share."""
    return ScreeDisplay.from_estimator(estimator, ax=ax)


def path(estimator, *, ax=None):
    """Plot what the fit recorded by number of features or, for iterative methods, by iteration."""
    return PathDisplay.from_estimator(estimator, ax=ax)


def dim_choice(estimator, *, ax=None):
    """Plot the cross-validated error by number of features, with a cross at the number that ``dim="auto"`` chose."""
    return DimChoiceDisplay.from_estimator(estimator, ax=ax)


def roc(estimator, X, y, *, positive=None, ax=None):
    """Plot ROC curves of a classifier."""
    return RocDisplay.from_estimator(estimator, X, y, positive=positive, ax=ax)


def precision_recall(estimator, X, y, *, positive=None, ax=None):
    """Plot precision-recall curves of a classifier."""
    return PrecisionRecallDisplay.from_estimator(estimator, X, y, positive=positive, ax=ax)


def confusion(estimator, X=None, y=None, *, ax=None):
    """Plot the confusion matrix of a classifier. The result of `kfe.cv` or `kfe.compare` in place of the estimator
    draws its held-out predictions."""
    if isinstance(estimator, dict):
        return ConfusionDisplay.from_results(estimator, ax=ax)
    return ConfusionDisplay.from_estimator(estimator, X, y, ax=ax)


def calibration(estimator, X, y, *, positive=None, ax=None):
    """Plot how often the probabilities of a classifier come true; the plot has two panels."""
    return CalibrationDisplay.from_estimator(estimator, X, y, positive=positive, ax=ax)


def view_weights(estimator, *, ax=None):
    """Plot how much each view of mbpls or block-splsda counts."""
    return ViewWeightsDisplay.from_estimator(estimator, ax=ax)


def score_correlations(estimator, *, ax=None):
    """Plot how much the scores of the views of mbpls or block-splsda agree, component by component."""
    return ScoreCorrelationsDisplay.from_estimator(estimator, ax=ax)


def gate(estimator, *, ax=None):
    """Plot how much the gate of lmkl or sldr uses each part."""
    return GateDisplay.from_estimator(estimator, ax=ax)


def gate_regions(estimator, X, y=None, *, ax=None):
    """Plot which part of lmkl or sldr has the largest share at each place."""
    return GateRegionsDisplay.from_estimator(estimator, X, y, ax=ax)


def views(estimator, X, y, *, train=None, ax=None):
    """Importance of views for the predictions of X; with ``train`` also by fits without each view. See `ViewsDisplay`."""
    return ViewsDisplay.from_estimator(estimator, X, y, train=train, ax=ax, refit=train is not None)


def cv_curve(results, *, metric=None, ax=None):
    """Plot the metric of `kfe.cv` over one parameter, with one line per setting of the others."""
    return CvCurveDisplay.from_results(results, metric=metric, ax=ax)


def cv_surface(results, *, metric=None, ax=None):
    """Plot the metric of `kfe.cv` over two parameters as a heat map."""
    return CvSurfaceDisplay.from_results(results, metric=metric, ax=ax)


def permutation_test(results, *, ax=None):
    """Plot a histogram of the metric with permuted labels, of a search with ``permutations``, and the value observed."""
    return PermutationTestDisplay.from_results(results, ax=ax)


def comparison(results, *, metric=None, ax=None):
    """Plot `kfe.compare`: means with standard deviations, mean ranks, and groups of methods that do not differ."""
    return ComparisonDisplay.from_results(results, metric=metric, ax=ax)


def loadings(estimator, *, ax=None):
    """Plot the loadings P of a linear method by column, with X ≈ TPᵀ."""
    return LoadingsDisplay.from_estimator(estimator, ax=ax)


def loading_weights(estimator, *, ax=None):
    """Plot the weights W of a linear method by column: its rotations made orthonormal, one feature after the other."""
    return LoadingWeightsDisplay.from_estimator(estimator, ax=ax)


def rotations(estimator, *, ax=None):
    """Plot the rotations R of a linear method by column, with T = XR."""
    return RotationsDisplay.from_estimator(estimator, ax=ax)


def spectra(estimator, X, y=None, *, ax=None):
    """Plot some rows over the axis of their columns, coloured by class or target; with steps, the plot has two panels, raw and prepared."""
    return SpectraDisplay.from_estimator(estimator, X, y, ax=ax)


def outliers(estimator, X, y=None, *, train=None, ax=None):
    """Plot Hotelling's T² against Q residuals: how far examples are from the training data of a linear method, with limits."""
    return OutliersDisplay.from_estimator(estimator, X, y, train=train, ax=ax)


def leverage(estimator, X, y, *, train=None, ax=None):
    """Plot studentized residuals of a regressor against leverage, with limits; flagged rows have their names."""
    return LeverageDisplay.from_estimator(estimator, X, y, train=train, ax=ax)


def contributions(estimator, X, *, row=None, ax=None):
    """Plot which columns make an example distant: ``row``, counted from 1, or the most distant one. The plot has two panels."""
    return ContributionsDisplay.from_estimator(estimator, X, ax=ax, row=row)


def coefficients(estimator, *, train=None, ax=None):
    """Plot the coefficients of a linear classifier or regressor by column; with ``train``, a pair (X, y), their jack-knife intervals."""
    return CoefficientsDisplay.from_estimator(estimator, train=train, ax=ax)


def vip(estimator, *, ax=None):
    """Plot the variable importance in projection of a linear method."""
    return VipDisplay.from_estimator(estimator, ax=ax)


def selectivity_ratio(estimator, *, ax=None):
    """Plot the selectivity ratio of each column of a linear method."""
    return SelectivityRatioDisplay.from_estimator(estimator, ax=ax)


def smc(estimator, *, ax=None):
    """Plot the significance multivariate correlation of each column of a linear method, with its 95 % limit."""
    return SmcDisplay.from_estimator(estimator, ax=ax)


def importance(estimator, X, y, *, ax=None):
    """Plot the permutation importance of columns on examples that the estimator was not fitted on."""
    return ImportanceDisplay.from_estimator(estimator, X, y, ax=ax)


def predicted(estimator, X=None, y=None, *, ax=None):
    """Plot predicted against true numbers of a regressor. The result of `kfe.cv` or `kfe.compare` in place of the estimator
    draws its held-out predictions."""
    if isinstance(estimator, dict):
        return PredictedDisplay.from_results(estimator, ax=ax)
    return PredictedDisplay.from_estimator(estimator, X, y, ax=ax)


def residuals(estimator, X=None, y=None, *, ax=None):
    """Plot the residuals of a regressor against its predictions. The result of `kfe.cv` or `kfe.compare` in place of the estimator
    draws its held-out predictions."""
    if isinstance(estimator, dict):
        return ResidualsDisplay.from_results(estimator, ax=ax)
    return ResidualsDisplay.from_estimator(estimator, X, y, ax=ax)
