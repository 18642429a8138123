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
