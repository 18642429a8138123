# SPDX-License-Identifier: Apache-2.0
"""PLS with several targets equals scikit-learn's PLSRegression with and without scaled targets, and R's plsr."""
import shutil
import subprocess

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold, cross_val_predict

import kfe

EXACT = {"tol": 1e-30, "max_iter": 100000}  # scikit-learn's loop stops early by default


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 7)) * [1, 2, 3, 1, 5, 1, 9] + 4
    Y = X[:, :3] @ rng.normal(size=(3, 3)) + rng.normal(size=(60, 3))
    return X, Y * [1, 300, 0.01] + [5, 1000, 0]


def ours(scaled, components=3):
    return kfe.PLSRegressor(components, scale=scaled, target_scale=scaled)


@pytest.mark.parametrize("scaled", (True, False))
@pytest.mark.parametrize("components", (1, 3, 5))
def test_it_is_the_regression_of_scikit_learn(data, scaled, components):
    X, Y = data
    model, peer = ours(scaled, components).fit(X, Y), PLSRegression(components, scale=scaled, **EXACT).fit(X, Y)
    new = X[::-1] * 1.1
    np.testing.assert_allclose((model.predict(new) - Y.mean(0)) / Y.std(0), (peer.predict(new) - Y.mean(0)) / Y.std(0), atol=1e-10)
    scale = X.std(0) / Y.std(0)[:, None]
    np.testing.assert_allclose(np.asarray(model.coef_).reshape(3, 7) * scale, _slopes(peer, X) * scale, atol=1e-10)
    # scikit-learn's intercept is the prediction at the mean of X, ours that at X = 0, as in R
    np.testing.assert_allclose(model.intercept_ / Y.std(0), peer.predict(np.zeros((1, 7)))[0] / Y.std(0), atol=1e-9)


def _slopes(peer, X):
    """What one unit of a raw column adds to the predictions, whatever the version of scikit-learn calls coefficients."""
    return (peer.predict(np.eye(X.shape[1])) - peer.predict(np.zeros((1, X.shape[1])))).T


def test_searches_scale_the_targets_of_each_training_part(data):
    X, Y = data
    found = kfe.cv(ours(True), X, Y, cv=KFold(5), metrics=["rmse", "r2"])
    residuals = cross_val_predict(PLSRegression(3, **EXACT), X, Y, cv=KFold(5)) - Y
    for target, own in zip(found["targets"], residuals.T):
        assert target["rmsecv"] == pytest.approx(np.sqrt(np.mean(own ** 2)), rel=1e-9)
    both = kfe.cv(kfe.PLSRegressor(2, scale=False), X, Y, cv=KFold(5), grid={"target_scale": [True, False]})
    assert len({setting["rmsecv"] for setting in both["settings"]}) == 2


def test_units_of_targets_do_not_matter(data):
    X, Y = data
    for dim in (2, "auto"):
        one, other = (kfe.PLSRegressor(dim, scale=True, target_scale=True).fit(X, Y * units) for units in (1, [7, 0.1, 30]))
        np.testing.assert_allclose(one.predict(X) * [7, 0.1, 30], other.predict(X), rtol=1e-8, atol=1e-8)


def test_weights_count_as_repeated_rows(data):
    X, Y = data
    weights = np.arange(60) % 3 + 1
    model = ours(True).fit(X, Y, sample_weight=weights)
    repeated = ours(True).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    np.testing.assert_allclose(model.predict(X) / Y.std(0), repeated.predict(X) / Y.std(0), atol=1e-9)


def test_what_cannot_be_scaled_is_refused(data):
    X, Y = data
    with pytest.raises(ValueError, match="target_scale takes one of none|standard"):
        kfe.PLSRegressor(2, target_scale="maybe").fit(X, Y)
    assert hasattr(kfe.PLSRegressor(2), "partial_fit") and not hasattr(kfe.PLSRegressor(2, target_scale=True), "partial_fit")


R = """
suppressMessages(library(pls))
X <- as.matrix(read.csv("X.csv", header = FALSE)); Y <- as.matrix(read.csv("Y.csv", header = FALSE))
model <- plsr(Y ~ X, ncomp = 3, scale = FALSE, method = "kernelpls", validation = "LOO")
write.csv(drop(coef(model, ncomp = 3, intercept = TRUE)), "coef.csv", row.names = FALSE)
write.csv(RMSEP(model, "CV")$val[1, , 4], "rmsep.csv", row.names = FALSE)
"""


def test_it_is_the_plsr_of_r_without_scaling(data, tmp_path):
    if not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", "library(pls)"], capture_output=True).returncode:
        pytest.skip("R with r-cran-pls is not installed")
    X, Y = data
    for name, table in (("X", X), ("Y", Y)):
        np.savetxt(tmp_path / f"{name}.csv", table, delimiter=",", fmt="%.17g")
    subprocess.run(["Rscript", "-e", R], cwd=tmp_path, check=True, capture_output=True)
    expected = np.loadtxt(tmp_path / "coef.csv", delimiter=",", skiprows=1)
    model = ours(False).fit(X, Y)
    np.testing.assert_allclose(model.intercept_ / Y.std(0), expected[0] / Y.std(0), atol=1e-10)
    np.testing.assert_allclose(np.asarray(model.coef_).reshape(3, 7).T / Y.std(0), expected[1:] / Y.std(0), atol=1e-10)
    found = kfe.cv(ours(False), X, Y, cv=60)
    np.testing.assert_allclose([target["rmsecv"] for target in found["targets"]],
                               np.loadtxt(tmp_path / "rmsep.csv", skiprows=1), rtol=1e-10)
