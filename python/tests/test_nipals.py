# SPDX-License-Identifier: Apache-2.0
"""missing="nipals" against NIPALS written out from its definition with loops over masks, against another package, and by invariances."""
import io

import numpy as np
import pytest
from sklearn.model_selection import KFold

import kfe

N, D = 50, 9
METHODS = {"pca": (kfe.PCA, {"dim": 3}, None), "pls": (kfe.PLS, {"dim": 3}, 1), "pls2": (kfe.PLS, {"dim": 3}, 3),
           "opls": (kfe.OPLS, {"orthogonal": 2}, 1), "opls2": (kfe.OPLS, {"orthogonal": 2}, 3)}


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def full(rng):
    x = rng.normal(size=(N, 3)) @ rng.normal(size=(3, D)) + 0.3 * rng.normal(size=(N, D)) + rng.normal(size=D)
    return x, x[:, :4] @ rng.normal(size=(4, 3)) + 0.2 * rng.normal(size=(N, 3))


@pytest.fixture
def gaps(full, rng):
    x, y = full
    return np.where(rng.random(x.shape) < 0.15, np.nan, x), y


def targets_of(y, count):
    return None if count is None else y[:, 0] if count == 1 else y


def fitted(name, x, y, **more):
    method, parameters, count = METHODS[name]
    weights = {k: more.pop(k) for k in list(more) if k == "sample_weight"}
    return method(missing="nipals", n_threads=1, **{"scale": "none", **parameters, **more}).fit(x, targets_of(y, count), **weights)


class Nipals:
    """Regressions on observed entries. W, P: of the components in the order of extraction."""

    def __init__(self, x):
        self.seen = ~np.isnan(x)
        self.mean = np.nanmean(x, axis=0)
        self.rest = np.where(self.seen, x - self.mean, 0)
        self.t, self.w, self.p = [], [], []

    def rows(self, w):
        return self.rest @ w / (self.seen @ (w * w))

    def columns(self, t):
        return self.rest.T @ t / (self.seen.T @ (t * t))

    def take(self, w, p=None):
        t = self.rows(w)
        p = self.columns(t) if p is None else p
        self.rest = np.where(self.seen, self.rest - np.outer(t, p), 0)
        self.t.append(t), self.w.append(w), self.p.append(p)
        return t


def slopes(n, y):
    """XᵀY as if all were observed: the slopes of the columns on each target, times the target's sum of squares."""
    return n.rest.T @ y / (n.seen.T @ (y * y)) * (y * y).sum(0)


def by_hand(name, x, y):
    """The features of the training rows."""
    n = Nipals(x)
    count = METHODS[name][2]
    if name == "pca":
        for _ in range(3):
            p = np.linalg.svd(n.rest)[2][0]
            for _ in range(100000):
                before, p = p, n.columns(n.rows(p))
                p /= np.linalg.norm(p)
                if np.linalg.norm(p - before) < 1e-15:
                    break
            n.take(p, p)
        return np.array(n.t).T
    y = y[:, :count] - y[:, :count].mean(0)
    if name.startswith("pls"):
        for _ in range(3):
            t = n.take(np.linalg.svd(slopes(n, y))[0][:, 0])
            y = y - np.outer(t, t @ y / (t @ t))
        return np.array(n.t).T
    w = np.linalg.svd(slopes(n, y), full_matrices=False)[0]
    for _ in range(2):
        predictive, images = Nipals(x), []
        predictive.rest = n.rest
        for k in range(count):
            t = predictive.rows(w[:, k])
            images.append(predictive.columns(t) * (t @ t))
            predictive.take(w[:, k], w[:, k])
        images = np.array(images).T
        n.take(np.linalg.svd(images - w @ (w.T @ images))[0][:, 0])
    orthogonal = list(n.t)
    return np.array([n.take(w[:, k], w[:, k]) for k in range(count)] + orthogonal).T


def same_but_signs(ours, theirs, rtol=1e-9):
    signs = np.sign((ours * theirs).sum(0))
    np.testing.assert_allclose(ours, theirs * signs, atol=rtol * np.abs(theirs).max())


@pytest.mark.parametrize("name", METHODS)
def test_the_definition(name, gaps):
    x, y = gaps
    same_but_signs(fitted(name, x, y).transform(x), by_hand(name, x, y))


@pytest.mark.parametrize("name", METHODS)
def test_complete_data_gives_the_ordinary_fit(name, full):
    x, y = full
    method, parameters, count = METHODS[name]
    ordinary = method(scale="none", n_threads=1, **parameters).fit(x, targets_of(y, count))
    ours = fitted(name, x, y)
    np.testing.assert_allclose(ours.transform(x), ordinary.transform(x), atol=1e-10 * np.abs(ordinary.transform(x)).max())
    np.testing.assert_allclose(ours.x_loadings_, ordinary.x_loadings_, atol=1e-9)


@pytest.mark.parametrize("targets", [1])
def test_another_package(targets, gaps):
    nipals = pytest.importorskip("nipals.nipals")
    x, y = gaps
    theirs = nipals.PLS(x, y[:, :targets])
    theirs.fit(ncomp=3, center=True, scale=False, tol=1e-14, maxiter=50000)
    same_but_signs(fitted("pls", x, y).transform(x), np.asarray(theirs.scores), 1e-8)
    theirs = nipals.Nipals(x)
    theirs.fit(ncomp=3, center=True, scale=False, tol=1e-14, maxiter=50000)
    u = np.asarray(theirs.scores)
    ours = fitted("pca", x, y).transform(x)
    same_but_signs(ours / np.linalg.norm(ours, axis=0), u / np.linalg.norm(u, axis=0), 1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_order_weights_units_and_offsets(name, gaps, rng):
    x, y = gaps
    expected = fitted(name, x, y).transform(x)
    near = {"atol": 1e-9 * np.abs(expected).max()}
    order = rng.permutation(N)
    np.testing.assert_allclose(fitted(name, x[order], y[order]).transform(x), expected, **near)
    np.testing.assert_allclose(fitted(name, x + np.arange(D), y).transform(x + np.arange(D)), expected, **near)
    np.testing.assert_allclose(fitted(name, 8 * x, y).transform(8 * x), 8 * expected, atol=8 * near["atol"])
    weights = rng.integers(0, 3, N)
    rows = np.repeat(np.arange(N), weights)
    weighted = fitted(name, x, y, sample_weight=weights, scale="standard")
    np.testing.assert_allclose(weighted.transform(x), fitted(name, x[rows], y[rows], scale="standard").transform(x), **near)


def test_columns_are_standardised_by_observed_entries(gaps):
    x, y = gaps
    z = (x - np.nanmean(x, 0)) / np.nanstd(x, 0)
    np.testing.assert_allclose(fitted("pls", x, y, scale="standard").transform(x), fitted("pls", z, y).transform(z), atol=1e-9)


def test_new_rows_are_regressed_on_what_they_have(gaps, rng):
    """Row by row from weights and loadings; a row without gaps goes through the same matrix as ever, one without values has the features 0."""
    x, y = gaps
    model, n = fitted("pls", x, y), Nipals(x)
    residual = y[:, :1] - y[:, :1].mean()
    for _ in range(3):
        t = n.take(np.linalg.svd(slopes(n, residual))[0][:, 0])
        residual = residual - np.outer(t, t @ residual / (t @ t))
    new = np.where(rng.random((40, D)) < 0.4, np.nan, rng.normal(size=(40, D)))
    new[0], new[1] = np.nan, 1.0
    expected = np.zeros((40, 3))
    for i, row in enumerate(new):
        seen = ~np.isnan(row)
        rest = (row - n.mean)[seen]
        for a, (w, p) in enumerate(zip(n.w, n.p)):
            if seen.any():
                expected[i, a] = w[seen] @ rest / (w[seen] @ w[seen])
                rest = rest - expected[i, a] * p[seen]
    signs = np.sign((model.transform(x) * np.array(n.t).T).sum(0))
    np.testing.assert_allclose(model.transform(new), expected * signs, atol=1e-9)
    np.testing.assert_allclose(model.transform(new[1:2]), model.transform(new)[1:2], atol=1e-12)
    assert (model.transform(new[:1]) == 0).all()


def test_a_saved_model_is_the_same(gaps, tmp_path):
    x, y = gaps
    model = kfe.OPLSRegressor(orthogonal=2, missing="nipals", n_threads=1).fit(x, y[:, 0])
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe")
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    np.testing.assert_array_equal(loaded.transform(x), model.transform(x))


def test_folds_see_their_training_rows_alone(gaps):
    x, y = gaps
    folds = KFold(5, shuffle=True, random_state=0)
    model = kfe.PLSRegressor(dim=2, missing="nipals", scale="standard", n_threads=1)
    found = kfe.cv(model, x, y[:, 0], cv=folds)
    expected = np.empty(N)
    for train, test in folds.split(x):
        expected[test] = model.fit(x[train], y[train, 0]).predict(x[test])
    rmse = np.sqrt(np.mean((expected - y[:, 0]) ** 2))
    assert found["pooled"]["rmsecv"] == pytest.approx(rmse, rel=1e-9)


def test_classes(gaps):
    x, y = gaps
    labels = np.where(y[:, 0] > 0.5, "high", np.where(y[:, 0] < -0.5, "low", "middle"))
    model = kfe.PLSDAClassifier(dim=4, missing="nipals", n_threads=1).fit(x, labels)
    coded = (labels[:, None] == np.unique(labels)).astype(float)
    n, rest = Nipals(x), coded - coded.mean(0)
    for _ in range(4):
        t = n.take(np.linalg.svd(slopes(n, rest))[0][:, 0])
        rest = rest - np.outer(t, t @ rest / (t @ t))
    same_but_signs(model.transform(x), np.array(n.t).T)
    assert model.score(x, labels) > 0.8
    assert model.predict_proba(x).sum(1) == pytest.approx(1)


def test_diagnostics_are_over_observed_entries(gaps):
    """Q is the mean square over the observed columns, times the number of columns; T² is that of the features."""
    x, y = gaps
    model = fitted("pca", x, y)
    z = model.transform(x)
    n = Nipals(x)
    assert model.x_loadings_.shape == (D, 3)
    for p in model.x_loadings_.T:
        n.take(p, p)
    q = (n.rest ** 2).sum(1) / n.seen.mean(1)
    found = model.diagnostics(x, contributions=True)
    table = found["diagnostics"]
    np.testing.assert_allclose(table.values[:, table.columns.index("q")], q, rtol=1e-6)
    centred = z - z.mean(0)
    t2 = (centred @ np.linalg.inv(centred.T @ centred / (N - 1)) * centred).sum(1)
    np.testing.assert_allclose(table.values[:, table.columns.index("t2")], t2, rtol=1e-8)
    np.testing.assert_allclose(found["q-contributions"].values, n.rest * abs(n.rest), rtol=1e-5, atol=1e-9)
    assert np.isfinite(found["t2-contributions"].values).all()


def test_what_is_refused(gaps):
    x, y = gaps
    with pytest.raises(ValueError, match="'nipals'.* is for pca, pls, plsda and opls, not for method kfd"):
        kfe.KFDClassifier(missing="nipals").fit(x, y[:, 0] > 0)
    with pytest.raises(ValueError, match="combine the columns of a row"):
        kfe.PLS(missing="nipals", prepare="snv").fit(x, y[:, 0])
    empty = x.copy()
    empty[7] = np.nan
    with pytest.raises(ValueError, match="row 8 has no value in any column"):
        kfe.PLS(missing="nipals").fit(empty, y[:, 0])
    empty = x.copy()
    empty[:, 2] = np.nan
    with pytest.raises(ValueError, match="column 3 has no value in any row"):
        kfe.PLS(missing="nipals").fit(empty, y[:, 0])
