# SPDX-License-Identifier: Apache-2.0
"""Explanations of linear models against scikit-learn's PLSRegression and PCA, and against formulas in NumPy."""
import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA

import kfe

TOLERANCE = 1e-10


def problem(rows=60, cols=9, targets=1, seed=0):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(rows, 4)) * [4, 3, 2, 1]
    x = hidden @ random.normal(size=(4, cols)) + 0.3 * random.normal(size=(rows, cols)) + 5
    y = hidden @ random.normal(size=(4, targets)) + 0.2 * random.normal(size=(rows, targets)) - 2
    return x * np.logspace(-1, 1, cols), y


def pls_by_hand(x, y, dim):
    """NIPALS with exact singular vectors: weights, loadings of X and of Y, scores."""
    x, y = x - x.mean(0), y - y.mean(0)
    W, P, Q, T = [], [], [], []
    for _ in range(dim):
        w = np.linalg.svd(x.T @ y)[0][:, 0]
        t = x @ w
        W.append(w), P.append(x.T @ t / (t @ t)), Q.append(y.T @ t / (t @ t)), T.append(t)
        x, y = x - np.outer(t, P[-1]), y - np.outer(t, Q[-1])
    return tuple(np.array(part).T for part in (W, P, Q, T))


def signs(got, expected):
    return np.sign(np.sum(got * expected, axis=0))


@pytest.mark.parametrize("targets", [1, 3])
def test_pls_equals_nipals(targets):
    x, y = problem(targets=targets)
    model = kfe.PLSRegressor(dim=4, learner="ls", scale="none").fit(x, y)
    W, P, Q, T = pls_by_hand(x, y, 4)
    s = signs(model.x_weights_, W)
    np.testing.assert_allclose(model.x_weights_ * s, W, atol=TOLERANCE)
    np.testing.assert_allclose(model.x_loadings_ * s, P, rtol=TOLERANCE, atol=TOLERANCE)
    np.testing.assert_allclose(model.y_loadings_ * s, Q, rtol=TOLERANCE, atol=TOLERANCE)
    np.testing.assert_allclose(model.explain(x, examples=True)["scores"].values * s, T, rtol=1e-9, atol=1e-9)
    yc = y - y.mean(0)
    left = [np.sum((yc - T[:, :k] @ Q[:, :k].T) ** 2) for k in range(5)]
    share = -np.diff(left) / left[0]
    np.testing.assert_allclose(model.y_explained_variance_ratio_, share, atol=TOLERANCE)
    xc = x - x.mean(0)
    x_left = [np.sum((xc - T[:, :k] @ P[:, :k].T) ** 2) for k in range(5)]
    np.testing.assert_allclose(model.x_explained_variance_ratio_, -np.diff(x_left) / x_left[0], atol=TOLERANCE)
    vip = np.sqrt(x.shape[1] * (W ** 2 @ share) / share.sum())
    np.testing.assert_allclose(model.vip_, vip, rtol=TOLERANCE)
    for k in range(targets):
        fitted = T @ Q[k]
        explained = (xc.T @ fitted) ** 2 / (fitted @ fitted)
        ratio = explained / (np.sum(xc ** 2, 0) - explained)
        np.testing.assert_allclose(model.selectivity_ratio_[:, k], ratio, rtol=1e-8)


def test_pls_equals_scikit_learn():
    x, y = problem()
    theirs = PLSRegression(n_components=4, scale=False, tol=1e-15).fit(x, y)
    model = kfe.PLSRegressor(dim=4, learner="ls", scale="none").fit(x, y)
    s = signs(model.x_weights_, theirs.x_weights_)
    for name in ("x_weights_", "x_loadings_", "x_rotations_", "y_loadings_"):
        expected = getattr(theirs, name)
        size = np.abs(expected).max()
        np.testing.assert_allclose(getattr(model, name) * s, expected, atol=TOLERANCE * size)
    np.testing.assert_allclose(model.coef_.ravel(), np.ravel(theirs.coef_), rtol=TOLERANCE)
    scores = model.transform(x[:5])
    np.testing.assert_allclose(model.inverse_transform(scores), theirs.inverse_transform(scores * s), rtol=1e-10)


@pytest.mark.parametrize("scale", ["none", "standard", "minmax", "unit-norm"])
@pytest.mark.parametrize("make", [
    lambda scale: kfe.PLSRegressor(dim=3, learner="ls", scale=scale),
    lambda scale: kfe.PCARegressor(dim=3, learner="ls", scale=scale),
    lambda scale: kfe.KPLSRegressor(dim=3, kernel="linear", learner="ls", scale=scale),
])
def test_raw_coefficients_predict(make, scale):
    x, y = problem(targets=2)
    model = make(scale).fit(x, y)
    expected = model.predict(x)
    got = x @ model.coef_.T + model.intercept_
    size = np.abs(x).max() * np.abs(model.coef_).max() + np.abs(model.intercept_).max()
    assert np.abs(got - expected).max() < 1e-12 * size


@pytest.mark.parametrize("targets", [1, 3])
def test_y_scores_equal_scikit_learn(targets):
    random = np.random.default_rng(8)
    x = random.normal(size=(40, 6))
    y = x @ random.normal(size=(6, targets)) + 0.1 * random.normal(size=(40, targets))
    theirs = PLSRegression(n_components=3, scale=False, tol=1e-15).fit(x, y)
    ours = kfe.PLSRegressor(dim=3, learner="ls", scale="none").fit(x, y if targets > 1 else y[:, 0])
    new = random.normal(size=(7, 6)), random.normal(size=(7, targets))
    expected = theirs.transform(*new)[1]
    found = ours.explain(new[0], new[1] if targets > 1 else new[1][:, 0], parts="linear", examples=True)
    sign = np.sign((found["rotations"].values * theirs.x_rotations_).sum(axis=0))
    size = np.linalg.norm(found["rotations"].values, axis=0) / np.linalg.norm(theirs.x_rotations_, axis=0)
    np.testing.assert_allclose(found["y-scores"].values / (sign * size), expected, rtol=1e-8, atol=1e-8)


def test_raw_coefficients_of_classifiers():
    x, y = kfe.generate("iris")
    for model in (kfe.NoneClassifier(learner="linear-svm") if hasattr(kfe, "NoneClassifier") else None,
                  kfe.PLSClassifier(dim=2, learner="ls"), kfe.OCClassifier(learner="linear-svm")):
        if model is None:
            continue
        model.fit(x, y)
        outputs = x @ model.coef_.T + model.intercept_
        assert (model.classes_[outputs.argmax(axis=1)] == model.predict(x)).all()


def test_coefficients_with_missing_values():
    x, y = problem()
    x[::7, 2] = np.nan
    model = kfe.PLSRegressor(dim=3, learner="ls", scale="standard", missing="mean").fit(x, y)
    filled = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    np.testing.assert_allclose(filled @ model.coef_.T + model.intercept_, model.predict(x).reshape(-1, 1), rtol=1e-10)


def test_pca_inverse_is_the_projection():
    x, _ = problem()
    ours, theirs = kfe.PCA(dim=3, scale="none").fit(x), PCA(3).fit(x)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(x)), theirs.inverse_transform(theirs.transform(x)),
                               rtol=1e-9)
    np.testing.assert_allclose(ours.x_explained_variance_ratio_, theirs.explained_variance_ratio_, atol=TOLERANCE)


@pytest.mark.parametrize("targets", [1, 2])
def test_path_equals_refits(targets):
    x, y = problem(targets=targets)
    new = problem(20, targets=targets, seed=1)[0]
    y = y[:, 0] if targets == 1 else y
    path = kfe.PLSRegressor(dim=5, learner="ls").fit(x, y).predict_path(new)
    for k in range(1, 6):
        np.testing.assert_allclose(path[:, k - 1], kfe.PLSRegressor(dim=k, learner="ls").fit(x, y).predict(new), rtol=1e-8)
    labels = np.array(["a", "b", "c"])[(np.arange(len(x)) * 7) % 3]
    classified = kfe.KPLSClassifier(dim=4, learner="ls").fit(x, labels).predict_path(new)
    for k in range(1, 5):
        assert (classified[:, k - 1] == kfe.KPLSClassifier(dim=k, learner="ls").fit(x, labels).predict(new)).all()


def test_what_does_not_apply_is_said():
    x, y = kfe.generate("iris")
    model = kfe.KOCClassifier(learner="knn").fit(x, y)
    assert not hasattr(model, "coef_")
    with pytest.raises(kfe.UnsupportedError, match="kernel is not linear"):
        model.explain(parts="linear")
    with pytest.raises(kfe.UnsupportedError, match="learner is knn"):
        model.predict_path(x)
    with pytest.raises(kfe.UnsupportedError):
        model.inverse_transform(model.transform(x))
    assert not hasattr(kfe.PCA().fit(x), "vip_")


def test_saved_models_keep_their_loadings(tmp_path):
    x, y = problem()
    model = kfe.PLSRegressor(dim=3, learner="ls").fit(x, y)
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe")
    np.testing.assert_array_equal(loaded.x_loadings_, model.x_loadings_)
    np.testing.assert_array_equal(loaded.vip_, model.vip_)


def test_tables_have_labels():
    pandas = pytest.importorskip("pandas")
    x, y = problem(cols=3)
    frame = pandas.DataFrame(x, columns=["alpha", "beta", "gamma"])
    explanation = kfe.PLSRegressor(dim=2, learner="ls").fit(frame, y[:, 0]).explain()
    table = explanation["x_loadings"].to_dataframe()
    assert list(table.index) == ["alpha", "beta", "gamma"] and list(table.columns) == ["LV 1", "LV 2"]
    assert set(explanation.to_dataframe().columns) == {"table", "row", "column", "value"}


def test_a_metric_mixes_the_columns(tmp_path):
    """A linear method behind a metric with fewer columns saves, has coefficients on the columns, but no loadings."""
    x, y = problem()
    kfe.PCA(dim=3, scale="none").fit(x).save(tmp_path / "distance.kfe")
    model = kfe.PLSRegressor(dim=2, learner="ls", distance=str(tmp_path / "distance.kfe")).fit(x, y)
    model.save(tmp_path / "m.kfe")
    with pytest.warns(kfe.KfeWarning):
        np.testing.assert_allclose(x @ model.coef_.T + model.intercept_, model.predict(x).reshape(60, 1), rtol=1e-9)
    with pytest.warns(kfe.KfeWarning, match="keeps no loadings"):
        assert "x-loadings" not in model.explain(parts="linear")
    assert model.predict_path(x).shape == (60, 2)
