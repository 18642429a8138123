# SPDX-License-Identifier: Apache-2.0
"""Importance of columns and views, derivatives against finite differences, and pre-images."""
import numpy as np
import pytest

import kfe


def planted(rows=200, cols=8, seed=0):
    """A target that depends on columns 1 and 4 only."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, cols)) * np.logspace(-1, 1, cols) + 3
    z = (x - 3) / np.logspace(-1, 1, cols)
    return x, np.sin(1.5 * z[:, 1]) + z[:, 4] ** 2 + 0.05 * random.normal(size=rows)


MODELS = [
    lambda: kfe.KPLSRegressor(dim=6, kernel="rbf", learner="ls", scale="standard"),
    lambda: kfe.KPLSRegressor(dim=6, kernel="poly:degree=2", learner="ls", scale="minmax"),
    lambda: kfe.KPCARegressor(dim=12, kernel="rbf", learner="svm", scale="standard"),
    lambda: kfe.KernelSVR(kernel="rbf", scale="standard") if hasattr(kfe, "KernelSVR") else
    kfe.KPLSRegressor(dim=3, kernel=["rbf", "linear"], learner="ls", scale="standard"),
    lambda: kfe.PLSRegressor(dim=3, learner="svm", scale="standard"),
    lambda: kfe.KPLSRegressor(dim=4, kernel="sigmoid:gamma=0.01", learner="ls", scale="standard"),
    lambda: kfe.RFMRegressor(scale="standard", distance="full", iterations=2, held_out=0),
    lambda: kfe.RFMRegressor(scale="standard", distance="diagonal", iterations=2, held_out=0),
]


@pytest.mark.parametrize("make", MODELS)
def test_gradients_equal_finite_differences(make):
    x, y = planted(80)
    model, new = make().fit(x, y), planted(6, seed=1)[0]
    got = model.explain(new, examples=True, parts="gradient")["gradients"].values
    for j in range(x.shape[1]):
        step = np.zeros(x.shape[1])
        step[j] = 1e-4 * x[:, j].std()
        slope = (model.predict(new + step) - model.predict(new - step)) / (2 * step[j])
        np.testing.assert_allclose(got[:, j], slope, rtol=1e-4, atol=1e-5 * np.abs(got).max())


LOCALIZED = [
    lambda: kfe.LMKLClassifier(kernel=["linear", "rbf:gamma=0.1"], scale="standard"),
    lambda: kfe.SLDRClassifier(kernel=["linear", "poly:degree=2"], local_dim=2, max_iter=5, scale="standard"),
]


@pytest.mark.parametrize("make", LOCALIZED)
def test_gradients_of_localized_models_equal_finite_differences(make):
    x, y = planted(60)
    labels = np.where(y > np.median(y), "up", "down")
    model, new = make().fit(x, labels), planted(6, seed=1)[0]
    got = model.explain(new, examples=True, parts="gradient")["gradients"].values
    sign = None
    for j in range(x.shape[1]):
        step = np.zeros(x.shape[1])
        step[j] = 1e-4 * x[:, j].std()
        slope = (model.decision_function(new + step) - model.decision_function(new - step)) / (2 * step[j])
        if sign is None:  # the output belongs to the first class, the decision value to the second
            sign = -1 if np.dot(got[:, j], slope) < 0 else 1
        np.testing.assert_allclose(sign * got[:, j], slope, rtol=1e-4, atol=1e-5 * np.abs(got).max())


@pytest.mark.parametrize("part", ["permutation", "gradient"])
def test_importance_finds_the_planted_columns(part):
    x, y = planted()
    model = kfe.KPLSRegressor(dim=8, kernel="rbf", learner="ls", scale="standard").fit(x, y)
    new, truth = planted(seed=1)
    importance = model.explain(new, truth, parts=part)[part].values[:, 0]
    assert set(np.argsort(importance)[-2:]) == {1, 4}
    assert np.sort(importance)[-2] > 2 * np.sort(importance)[-3]


def test_permutation_of_classes():
    x, _ = planted()
    labels = np.where((x[:, 1] - 3) * 5 + (x[:, 4] - 3) / 1.4 > 0, "up", "down")
    model = kfe.KFDClassifier(learner="svm", scale="standard").fit(x, labels)
    table = model.explain(x, labels, parts="permutation", metric="auc", repeats=3, rows=100)["permutation"]
    assert set(np.argsort(table.values[:, 0])[-2:]) == {1, 4} and table.columns == ["loss", "sd"]
    again = model.explain(x, labels, parts="permutation", metric="auc", repeats=3, rows=100)["permutation"]
    np.testing.assert_array_equal(again.values, table.values)


def test_a_column_that_is_not_used_loses_nothing():
    x, y = planted()
    x[:, 0] = 7.0
    model = kfe.PLSRegressor(dim=2, learner="ls").fit(x, y)
    table = model.explain(x, y, parts="permutation")["permutation"].values
    assert abs(table[0, 0]) < 1e-12 and table[1, 0] > 0


def test_kernels_without_derivative_are_refused():
    x, y = planted(60)
    model = kfe.KPLSRegressor(dim=2, kernel="laplacian", learner="ls").fit(x, y)
    with pytest.raises(kfe.UnsupportedError, match="laplacian has no derivative"):
        model.explain(x, y, parts="gradient")
    assert "permutation" in model.explain(x, y) and "gradient" not in model.explain(x, y)


def test_views_beside_the_shares_of_the_gate():
    random = np.random.default_rng(2)
    y = np.repeat([0, 1], 30)
    views = {"good": random.normal(size=(60, 3)) + 2.5 * y[:, None], "noise": random.normal(size=(60, 3))}
    for model in (kfe.SLDRClassifier(local_dim=1, max_iter=20), kfe.KFDClassifier(kernel="linear", learner="svm")):
        table = model.fit(views, y).explain(views, y, parts="views")["views"]
        assert table.rows == ["good", "noise"]
        assert table.values[0, 0] > 0.2 and table.values[0, 0] > table.values[1, 0]
        if len(table.columns) == 3:
            np.testing.assert_allclose(table.values[:, 2].sum(), 1)


def test_support_and_distances():
    x, y = planted(40)
    model = kfe.KPLSRegressor(dim=4, kernel="rbf", learner="ls", scale="none").fit(x, y)
    explained = model.explain(x, examples=True, parts="support")
    np.testing.assert_allclose(explained["support-distance"].values, 0, atol=1e-12)
    far = x[:1] + np.eye(8)[0] * 5
    nearest = np.sqrt(((far - x) ** 2).sum(axis=1)).min()
    assert model.explain(far, examples=True, parts="support")["support-distance"].values[0, 0] == pytest.approx(nearest)
    assert explained["support"].rows[0] == "row 1" and (explained["support"].values > 0).all()


def test_pre_images():
    """With all components every training row is its own pre-image; noise is removed with few."""
    random = np.random.default_rng(4)
    x = random.normal(size=(12, 2)) * 2
    model = kfe.KPCA(dim=11, kernel="rbf:gamma=0.5", scale="standard").fit(x)
    np.testing.assert_allclose(model.inverse_transform(model.transform(x)), x, atol=1e-6)
    angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = circle + 0.1 * random.normal(size=circle.shape)
    model = kfe.KPCA(dim=4, kernel="rbf:gamma=1", scale="none").fit(noisy)
    clean = model.inverse_transform(model.transform(noisy))
    assert np.hypot(*clean.T).std() < 0.6 * np.hypot(*noisy.T).std()


def test_linear_kpca_inverts_like_pca():
    x, _ = planted(30)
    ours, plain = kfe.KPCA(dim=3, kernel="linear", scale="none").fit(x), kfe.PCA(dim=3, scale="none").fit(x)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(x)), plain.inverse_transform(plain.transform(x)),
                               rtol=1e-7)


def test_pre_images_count_weights():
    """The mean of weighted rows is that of repeated rows."""
    random = np.random.default_rng(8)
    x, weights = random.normal(size=(40, 3)), random.integers(0, 4, 40)
    weighted = kfe.KPCA(dim=3, kernel="rbf:gamma=0.3", scale="none").fit(x, sample_weight=weights)
    repeated = kfe.KPCA(dim=3, kernel="rbf:gamma=0.3", scale="none").fit(np.repeat(x, weights, axis=0))
    clean = [model.inverse_transform(model.transform(x[:5])) for model in (weighted, repeated)]
    np.testing.assert_allclose(*clean, atol=1e-6)
    np.testing.assert_array_equal(weighted.support_, np.flatnonzero(weights))


def test_pre_images_that_are_not_unique_are_announced():
    x = np.array([[-3.0], [-2.9], [2.9], [3.0]])
    model = kfe.KPCA(dim=1, kernel="rbf:gamma=1", scale="none").fit(x)
    with pytest.warns(kfe.KfeWarning, match="not unique"):
        model.inverse_transform(np.array([[0.0]]))
    with pytest.raises(kfe.UnsupportedError, match="linear models and for kpca"):
        kpls = kfe.KPLS(dim=1).fit(x, np.arange(4.0))
        kpls.inverse_transform(kpls.transform(x))


def test_dropped_views_equal_refits():
    plot = pytest.importorskip("kfe.plot")
    random = np.random.default_rng(3)
    good, noise, extra = (random.normal(size=(500, 2)) for _ in range(3))
    y = np.where(good[:, 0] + 0.8 * extra[:, 0] > 0, "yes", "no")
    views = {"good": good, "copy": good, "noise": noise, "extra": extra}

    def part(rows, without=None):
        return {name: table[rows] for name, table in views.items() if name != without}

    def make():
        return kfe.KPLSClassifier(dim=2, kernel="rbf", learner="ls")

    old, new = slice(0, 150), slice(150, None)
    model = make().fit(part(old), y[old])
    table = model.explain(part(new), y[new], train=(part(old), y[old]), parts="views")["views"].to_dataframe()
    for name in views:
        rest = make().fit(part(old, name), y[old])
        lost = model.score(part(new), y[new]) - rest.score(part(new, name), y[new])
        assert table.loc[name, "drop"] == pytest.approx(lost, abs=1e-12)
    assert table.loc["extra", "drop"] > 0.1 and table.loc[["good", "copy", "extra"], "loss"].min() > 0.02
    assert table.loc[["good", "copy", "noise"], "drop"].abs().max() < 0.05
    assert "drop" not in model.explain(part(new), y[new], parts="views")["views"].columns
    shown = plot.views(model, part(new), y[new], train=(part(old), y[old])).table().set_index("view")
    np.testing.assert_allclose(shown["drop"][table.index], table["drop"], rtol=1e-3)
