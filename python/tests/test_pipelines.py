# SPDX-License-Identifier: Apache-2.0
"""Pipelines of scikit-learn that end in an estimator of kfe: cross-validation against scikit-learn's own, without leaks, and figures."""
import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import kfe
from kfe import plot


def _numbers(rows=60, columns=6, seed=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns)) * np.arange(1, columns + 1)
    return X, X[:, 0] - X[:, 1] + 0.3 * random.normal(size=rows)


def _pls(**options):
    return kfe.PLSRegressor(learner="ls", scale="none", **options)


def test_cv_is_that_of_scikit_learn():
    X, y = _numbers()
    pipeline, folds = make_pipeline(StandardScaler(), SelectKBest(f_regression, k=3), _pls(dim=2)), KFold(5, shuffle=True, random_state=0)
    found = kfe.cv(pipeline, X, y, cv=folds, metrics=["rmse", "r2"])
    errors = cross_val_predict(pipeline, X, y, cv=folds) - y
    assert found["pooled"]["rmsecv"] == pytest.approx(np.sqrt(np.mean(errors ** 2)), rel=1e-10)
    each = [split["metrics"]["rmse"] for split in found["splits"]]
    np.testing.assert_allclose(each, -cross_val_score(pipeline, X, y, cv=folds, scoring="neg_root_mean_squared_error"), rtol=1e-9)
    assert "rmsecv" in repr(found).lower() and found["method"] == "pls"
    assert not hasattr(pipeline[-1], "_model")


def test_a_pipeline_without_other_steps_is_the_estimator():
    X, y = _numbers(seed=2)
    weights = np.random.default_rng(3).integers(1, 4, len(y))
    for options in ({}, {"sample_weight": weights}):
        alone = kfe.cv(_pls(dim=2), X, y, folds=4, **options)
        piped = kfe.cv(Pipeline([("none", "passthrough"), ("pls", _pls(dim=2))]), X, y, folds=4, **options)
        for name in ("rmsecv", "q2", "bias", "sep"):
            assert piped["pooled"][name] == pytest.approx(alone["pooled"][name], rel=1e-8, abs=1e-12)
        assert [split["test_rows"] for split in piped["splits"]] == [split["test_rows"] for split in alone["splits"]]


class Remembers(TransformerMixin, BaseEstimator):
    """Notes the rows that it was fitted on."""

    seen: list = []

    def fit(self, X, y=None):
        self.seen.append(frozenset(X[:, 0]))
        return self

    def transform(self, X):
        return X


def test_steps_never_see_test_rows():
    X, y = _numbers(rows=30)
    X[:, 0] = np.arange(30)
    folds = [(np.setdiff1d(np.arange(30), test), test) for test in np.array_split(np.arange(30), 3)]
    for grid in (None, {"dim": [1, 2]}):
        Remembers.seen.clear()
        kfe.cv(make_pipeline(Remembers(), _pls(dim=2)), X, y, cv=folds, grid=grid, inner_folds=3)
        allowed = [frozenset(X[train, 0]) for train, _ in folds]
        assert all(any(rows <= part for part in allowed) for rows in Remembers.seen)
        inner = [rows for rows in Remembers.seen if rows not in allowed]
        assert (len(inner) == 0) if grid is None else len(inner) == 2 * 3 * 3


def test_selection_of_noise_does_not_leak():
    """The best of 500 columns of noise, chosen on all rows, seem to predict; chosen on each training part, they do not."""
    random = np.random.default_rng(4)
    X, y = random.normal(size=(40, 500)), random.normal(size=40)
    leaked = SelectKBest(f_regression, k=5).fit_transform(X, y)
    assert kfe.cv(_pls(dim=1), leaked, y, folds=5)["pooled"]["q2"] > 0.2
    assert kfe.cv(make_pipeline(SelectKBest(f_regression, k=5), _pls(dim=1)), X, y, folds=5)["pooled"]["q2"] < 0


def test_grids_choose_as_scikit_learn_does():
    X, y = _numbers(seed=5)
    outer = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
    pipeline = make_pipeline(StandardScaler(), _pls(dim=1))
    grid = {"standardscaler__with_std": [True, False], "dim": [1, 2, 3]}
    found = kfe.cv(pipeline, X, y, cv=outer, grid=grid, inner_folds=4, refit=True)
    assert len(found["settings"]) == 6 and set(found["best"]) == set(grid)
    assert found.best_estimator_.get_params()["plsregressor__dim"] == found["best"]["dim"]
    np.testing.assert_array_equal(found.best_estimator_.predict(X).shape, (60,))
    for split, (train, test) in zip(found["splits"], outer):
        chosen = split["setting"]
        again = make_pipeline(StandardScaler(with_std=chosen["standardscaler__with_std"]), _pls(dim=chosen["dim"]))
        errors = again.fit(X[train], y[train]).predict(X[test]) - y[test]
        assert split["metrics"]["rmse"] == pytest.approx(np.sqrt(np.mean(errors ** 2)), rel=1e-9)
    whole = GridSearchCV(pipeline, {"standardscaler__with_std": [True, False], "plsregressor__dim": [1, 2, 3]}, cv=4,
                         scoring="neg_root_mean_squared_error").fit(X, y)
    assert whole.best_params_["plsregressor__dim"] == found["best"]["dim"]


def test_classes():
    X, y = kfe.generate("iris")
    pipeline = make_pipeline(StandardScaler(), kfe.KFDClassifier(learner="knn", scale="none"))
    found = kfe.cv(pipeline, X, np.array(["a", "b", "c"])[np.unique(y, return_inverse=True)[1]], folds=3, metrics=["accuracy", "auc"])
    assert found["metrics"]["accuracy"]["mean"] > 0.9 and found["metrics"]["auc"]["mean"] > 0.95


def test_figures_have_the_names_of_the_steps(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = _numbers(columns=2)
    table = pandas.DataFrame(X, columns=["sugar", "salt"])
    pipeline = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), _pls(dim=2)).fit(table, y)
    names = ["sugar", "salt", "sugar^2", "sugar salt", "salt^2"]
    drawn = str(plot.CoefficientsDisplay.from_estimator(pipeline).table()) if hasattr(plot, "CoefficientsDisplay") else ""
    page = kfe.report(pipeline, table, y, path=tmp_path / "page.html")
    assert all(name in page.html for name in names)
    assert not drawn or "sugar^2" in drawn
    assert pipeline[-1]._model.column_names(0) is None  # the user's model is as it was
    assert kfe.evaluate(pipeline, table, y)["metrics"]["rmse"] == pytest.approx(np.sqrt(np.mean((pipeline.predict(table) - y) ** 2)))


def test_figures_show_what_the_last_step_sees():
    X, y = _numbers()
    pipeline = make_pipeline(StandardScaler(), _pls(dim=2)).fit(X, y)
    scaled = pipeline[:-1].transform(X)
    for draw in (lambda model, rows: plot.ScoresDisplay.from_estimator(model, rows, y),
                 lambda model, rows: plot.PredictedDisplay.from_estimator(model, rows, y)):
        whole, last = draw(pipeline, X), draw(pipeline[-1], scaled)
        assert str(whole.table()) == str(last.table())


def test_mistakes():
    X, y = _numbers()
    with pytest.raises(TypeError, match="not Pipeline"):
        kfe.cv(make_pipeline(StandardScaler(), StandardScaler()), X, y)
    with pytest.raises(TypeError, match="features only"):
        kfe.cv(make_pipeline(StandardScaler(), kfe.KPCA()), X, y)
    with pytest.raises(TypeError, match="are a list"):
        kfe.cv(make_pipeline(StandardScaler(), _pls()), X, y, grid={"dim": 3})
    with pytest.raises(ValueError, match="inner_folds"):
        kfe.cv(make_pipeline(StandardScaler(), _pls()), X, y, grid={"dim": [1, 2]}, inner_folds=0)
