# SPDX-License-Identifier: Apache-2.0
"""RMSECV, Q², bias and SEP over all held-out rows equal those of scikit-learn's cross_val_predict, for every splitter."""
import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit

import kfe

SPLITTERS = (LeaveOneOut(), KFold(7), ShuffleSplit(5, test_size=0.3, random_state=0))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 6)) * [1, 2, 3, 4, 5, 6] + 5
    return X, X[:, :2] @ [[1, 20], [2, 0]] + rng.normal(size=(40, 2)) * [0.5, 9]


def by_hand(make, X, y, cv, weights=None):
    """From scikit-learn's predictions of each test part."""
    weights = np.ones(len(y)) if weights is None else weights
    rows = [(test, make(train).predict(X[test]).reshape(len(test), -1)) for train, test in cv.split(X)]
    at = np.concatenate([test for test, _ in rows])
    w, truth = weights[at], y.reshape(len(y), -1)[at]
    e = np.concatenate([predicted for _, predicted in rows]) - truth
    mse, bias = np.average(e ** 2, axis=0, weights=w), np.average(e, axis=0, weights=w)
    spread = np.average((truth - np.average(truth, axis=0, weights=w)) ** 2, axis=0, weights=w)
    return {"predictions": w.sum(), "rmsecv": np.sqrt(mse.mean()), "q2": np.mean(1 - mse / spread), "bias": bias.mean(),
            "sep": np.sqrt(np.mean((mse - bias ** 2) * w.sum() / (w.sum() - 1)))}


def without_error(pooled):
    return {name: value for name, value in pooled.items() if name != "rmsecv_error"}


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize("targets", (1, 2))
def test_pooled_errors_are_those_of_the_predictions(data, cv, targets):
    X, y = data[0], data[1][:, 0] if targets == 1 else data[1]
    expected = by_hand(lambda train: PLSRegression(3, scale=False, tol=1e-20, max_iter=10000).fit(X[train], y[train]), X, y, cv)
    found = kfe.cv(kfe.PLSRegressor(3, scale=False), X, y, cv=cv, metrics=["rmse", "r2"])
    assert without_error(found["pooled"]) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found["metrics"]["rmse"]["mean"] == found["pooled"]["rmsecv"] and found["metrics"]["r2"]["mean"] == found["pooled"]["q2"]
    assert f"RMSECV {expected['rmsecv']:.4g}, Q2 {expected['q2']:.4g}" in str(found)
    for j, own in enumerate(found.get("targets", ())):
        alone = by_hand(lambda train: _Column(PLSRegression(3, scale=False, tol=1e-20, max_iter=10000).fit(X[train], y[train]), j), X, y[:, j], cv)
        assert {name: own[name] for name in alone} == pytest.approx(alone, rel=1e-9, abs=1e-9)
    assert len(found.get("targets", ())) == (0 if targets == 1 else 2)


class _Column:
    def __init__(self, model, column):
        self.model, self.column = model, column

    def predict(self, X):
        return self.model.predict(X)[:, self.column]


def test_settings_are_pooled_on_the_splits_that_were_asked_for(data):
    X, y = data[0], data[1][:, 0]
    for options in ({}, {"inner_folds": 0}):
        found = kfe.cv(kfe.PLSRegressor(scale=False), X, y, cv=LeaveOneOut(), grid={"dim": [1, 2, 4]}, **options)
        for setting in found["settings"]:
            dim = setting["setting"]["dim"]
            expected = by_hand(lambda train: PLSRegression(dim, scale=False).fit(X[train], y[train]), X, y, LeaveOneOut())
            expected.pop("predictions")
            assert {name: setting[name] for name in expected} == pytest.approx(expected, rel=1e-9, abs=1e-9)
    best = min(found["settings"], key=lambda setting: setting["rmsecv"])
    assert found["best"] == best["setting"] and best["metrics"]["rmse"]["mean"] == best["rmsecv"]
    assert {"rmsecv", "q2", "bias", "sep"} <= set(found.settings())


def test_weights_count_and_baselines_are_pooled_alike(data):
    X, y = data[0], data[1][:, 0]
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    for cv in SPLITTERS:
        expected = by_hand(lambda train: LinearRegression().fit(X[train], y[train], weights[train]), X, y, cv, weights)
        found = kfe.compare([kfe.PLSRegressor(6, scale=False), LinearRegression()], X, y, cv=cv, sample_weight=weights,
                            metrics=["rmse", "r2"])
        ours, theirs = found["methods"]  # pls with all features is least squares
        for method in (ours, theirs):
            assert without_error(method["pooled"]) == pytest.approx(expected, rel=1e-6, abs=1e-6)
        for name in ("rmse", "r2"):
            assert ours["metrics"][name]["mean"] == pytest.approx(theirs["metrics"][name]["mean"], rel=1e-6)
        assert ours["pooled"]["rmsecv_error"] == pytest.approx(theirs["pooled"]["rmsecv_error"], rel=1e-6)
        for name in ("rmse", "r2"):
            assert 0.5 < ours["metrics"][name]["standard_error"] / theirs["metrics"][name]["standard_error"] < 2


def test_searches_of_python_pool_too(data):
    """Kernels with two parameters cannot be listed, so that Python searches; each setting has its errors on the splits asked for."""
    X, y = data[0], data[1][:, 0]
    found = kfe.cv(kfe.KPLSRegressor(dim=3), X, y, cv=KFold(4), grid={"kernel": ["rbf:gamma=0.01", kfe.Polynomial(degree=2, coef0=2.0), "linear"], "dim": [2, 3]})
    assert found["pooled"]["predictions"] == 40 and found["metrics"]["rmse"]["mean"] == found["pooled"]["rmsecv"]
    assert len(found["settings"]) == 6
    for setting in found["settings"]:
        def fitted(train, of=setting["setting"]):
            return kfe.KPLSRegressor(dim=of["dim"], kernel=of["kernel"]).fit(X[train], y[train])
        expected = by_hand(fitted, X, y, KFold(4))
        expected.pop("predictions")
        assert {name: setting[name] for name in expected} == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert setting["rmsecv_error"] > 0
    assert "pooled" not in kfe.cv(kfe.PLSClassifier(2), X, y > np.median(y), folds=3)


def test_one_choice_for_all_splits_pools_where_settings_were_compared(data):
    """With tuning_splits few settings are fitted on the outer splits: their errors are those on the inner folds."""
    X, y = data[0], data[1][:, 0]
    found = kfe.cv(kfe.PLSRegressor(), X, y, folds=4, grid={"dim": [1, 2, 3]}, tuning_splits=2, inner_folds=3)
    for setting in found["settings"]:
        assert setting["rmsecv"] == setting["metrics"]["rmse"]["mean"] and setting["rmsecv_error"] > 0
    assert found["best"] == min(found["settings"], key=lambda each: each["rmsecv"])["setting"]


def test_the_curve_has_bands_and_marks_the_choice(data):
    """The cross is at the chosen setting; the caption says what the points are."""
    pytest.importorskip("matplotlib")
    import kfe.plot
    X, y = data[0], data[1][:, 0]
    for options, nested in (({"inner_folds": 0}, False), ({}, True)):
        found = kfe.cv(kfe.PLSRegressor(), X, y, folds=5, grid={"dim": [1, 2, 3, 4]}, **options)
        drawn = kfe.plot.cv_curve(found)
        table, made = drawn.table(), drawn.description
        np.testing.assert_allclose(table["standard error of RMSECV"], [each["rmsecv_error"] for each in found["settings"]], rtol=1e-3)
        assert [each["spread"] for each in made["series"] if each["mark"] == "line" and not each.get("panel")] == [6]
        crosses = [each for each in made["series"] if each.get("crosses")]
        assert len(crosses) == 2 and {table["dim"][each["first"]] for each in crosses} == {found["best"]["dim"]}
        assert ("inner folds" in made["caption"]) == nested and "held-out predictions" in made["caption"]
