# SPDX-License-Identifier: Apache-2.0
"""Distances of rows from the training data, against formulas in NumPy; tests/cli/test_diagnostics.py has the limits."""
import copy
import pickle

import numpy as np
import pytest

import kfe


def problem(rows=50, seed=0):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(rows, 3))
    return hidden @ random.normal(size=(3, 7)) + 0.1 * random.normal(size=(rows, 7)) + 3, hidden[:, :2] + 0.1 * random.normal(size=(rows, 2))


def test_diagnostics_are_those_of_the_formulas():
    x, y = problem()
    model = kfe.PLSRegressor(dim=2, learner="ls", scale="none").fit(x, y)
    found = model.diagnostics(x, y, level=0.9)
    t = model.transform(x)
    t -= t.mean(0)
    leverage = np.einsum("ij,jk,ik->i", t, np.linalg.inv(t.T @ t), t)
    rest = x - x.mean(0) - t @ np.linalg.lstsq(t, x - x.mean(0), rcond=None)[0]
    table = found["diagnostics"]
    np.testing.assert_allclose(table.values[:, table.columns.index("t2")], leverage * (len(x) - 1), rtol=1e-9)
    np.testing.assert_allclose(table.values[:, table.columns.index("q")], (rest ** 2).sum(1), rtol=1e-9)
    e = y - model.predict(x)
    s = np.sqrt((e ** 2).sum(0) / (len(x) - 3))
    np.testing.assert_allclose(found["studentized"].values, e / s / np.sqrt(1 - 1 / len(x) - leverage)[:, None], rtol=1e-8)
    assert "q-contributions" not in found
    parts = model.diagnostics(x, contributions=True)
    np.testing.assert_allclose(parts["t2-contributions"].values.sum(1), leverage * (len(x) - 1), rtol=1e-8)
    np.testing.assert_allclose(parts["q-contributions"].values, rest * abs(rest), rtol=1e-6, atol=1e-12)


def test_limits_widen_with_the_level():
    x, y = problem()
    model = kfe.PCA(dim=2).fit(x)
    narrow, wide = (model.diagnostics(x, level=level)["limits"] for level in (0.9, 0.99))
    for name in ("t2", "q", "distance", "dmodx"):
        place = narrow.rows.index(name)
        assert narrow.values[place, 0] < wide.values[place, 0]


def test_outliers_off_and_within_the_features():
    x, y = problem()
    model = kfe.PCA(dim=3, scale="none").fit(x)
    far = x.mean(0) + 8 * (x[:1] - x.mean(0))
    off = x[1:2] + 5 * np.linalg.svd(x - x.mean(0))[2][-1]
    centre = x.mean(0, keepdims=True)
    assert model.outliers(np.vstack([far, off, centre])).tolist() == [True, True, False]


def test_models_without_features_say_so():
    x, y = problem()
    with pytest.raises(kfe.UnsupportedError, match="fit it with a learner"):
        kfe.KPCA(dim=2).fit(x).outliers(x)


def test_smc_is_the_f_of_the_formula():
    x, y = problem()
    model = kfe.PLSRegressor(dim=2, learner="ls", scale="none").fit(x, y)
    n = len(x)
    for k in range(2):
        b = model.coef_[k]
        along = np.outer((x - x.mean(0)) @ b, b) / (b @ b)
        rest = x - x.mean(0) - along
        np.testing.assert_allclose(model.smc_[:, k], (along ** 2).sum(0) / ((rest ** 2).sum(0) / (n - 2)), rtol=1e-8)


def test_jackknife_intervals_contain_the_planted_coefficients():
    random = np.random.default_rng(3)
    x = random.normal(size=(200, 5))
    b = np.array([2, -1, 0, 0.5, 0])
    y = x @ b + 0.5 * random.normal(size=200)
    model = kfe.PLSRegressor(dim=5, learner="ls", scale="none").fit(x, y)
    found = model.explain(train=(x, y), parts="jackknife", folds=20, level=0.999)
    low, high = found["coefficient-low"].values[:, 0], found["coefficient-high"].values[:, 0]
    assert ((low < b) & (b < high)).all() and (high - low < 0.4).all()
    assert (low < model.coef_[0]).all() and (model.coef_[0] < high).all()


def test_diagnostics_of_the_training_rows(tmp_path):
    x, y = problem()
    model = kfe.PLSRegressor(dim=2, learner="ls").fit(x, y)
    assert "_training_diagnostics" not in vars(model)  # found at first use
    for name, table in model.diagnostics(x, y).items():
        np.testing.assert_array_equal(model.diagnostics_[name].values, table.values)
    first = model.diagnostics_
    assert model.diagnostics_ is first and model.fit(x[:40], y[:40]).diagnostics_ is not first
    assert len(model.diagnostics_["studentized"].values) == 40
    model.save(tmp_path / "m.kfe")
    for other in (kfe.load(tmp_path / "m.kfe"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        with pytest.raises(AttributeError, match="training rows are not here"):
            other.diagnostics_
    with pytest.raises(AttributeError, match="cannot compare examples"):
        kfe.KPCA(dim=2).fit(x).diagnostics_


def test_training_rows_with_weights_are_repeated_rows():
    x, y = problem()
    weights = 1 + np.arange(50) % 2
    once = kfe.PLSRegressor(dim=2, learner="ls").fit(x, y, sample_weight=weights).diagnostics_
    twice = kfe.PLSRegressor(dim=2, learner="ls").fit(np.repeat(x, weights, 0), np.repeat(y, weights, 0)).diagnostics_
    for name in ("diagnostics", "studentized"):
        np.testing.assert_allclose(np.repeat(once[name].values, weights, 0), twice[name].values, rtol=1e-7, atol=1e-9)


def test_members_are_those_of_dd_simca():
    """Pomerantsev & Rodionova (2014) with moments: the scaled distances of a class are chi-square together."""
    stats = pytest.importorskip("scipy.stats")
    x, _ = problem(40)
    others = np.random.default_rng(2).normal(size=(9, 7)) * 3 + 3
    model = kfe.PCA(dim=2, scale="none").fit(x)
    loadings = np.linalg.svd(x - x.mean(0))[2][:2].T
    sizes = np.linalg.svd(x - x.mean(0))[1][:2] ** 2 / (len(x) - 1)

    def measure(rows):
        t = (rows - x.mean(0)) @ loadings
        return (t ** 2 / sizes).sum(1), ((rows - x.mean(0) - t @ loadings.T) ** 2).sum(1)

    degrees = [2 * known.mean() ** 2 / known.var(ddof=1) for known in measure(x)]
    every = np.vstack([x, others])
    distance = sum(d * new / known.mean() for d, new, known in zip(degrees, measure(every), measure(x)))
    p = stats.chi2.sf(distance, sum(degrees))
    table = model.diagnostics(every)["diagnostics"]
    np.testing.assert_allclose(table.values[:, table.columns.index("p-value")], p, rtol=1e-6, atol=1e-300)
    np.testing.assert_array_equal(model.members(every, alpha=0.1), p >= 0.1)
    assert model.members(x).mean() > 0.85 and not model.members(others).any()
    accepted = model.diagnostics(every, np.repeat(["ours", "theirs"], [40, 9]), level=0.9)["accepted"]
    np.testing.assert_allclose(accepted.values, [[40, (p[:40] >= 0.1).mean()], [9, 0]])
    with pytest.raises(kfe.UnsupportedError, match="no distance"):
        kfe.PCA(dim=7).fit(x).members(x)
