# SPDX-License-Identifier: Apache-2.0
"""The number of features of a grid by one standard error, a randomisation test and Q²: computed by hand from predictions of
scikit-learn, and as R's pls chooses it."""
import os
import shutil
import subprocess

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold

import kfe

DIMS = [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.fixture(scope="module", params=[1, 2, 3])
def spectra(request):
    """Three factors of falling size, of which the last adds little, and columns of noise."""
    rng = np.random.default_rng(request.param)
    T = rng.normal(size=(60, 3)) * [6, 3, 1]
    X = T @ rng.normal(size=(3, 12)) + rng.normal(size=(60, 12))
    return X, T @ [0.5, 0.8, 0.25] + rng.normal(size=60) * 0.9


def held_out(X, y, cv):
    """Residuals by row and number of features, and the squared errors of each fold."""
    residuals, fold = np.empty((len(y), len(DIMS))), np.empty(len(y), int)
    for number, (train, test) in enumerate(cv.split(X)):
        fold[test] = number
        for k, dim in enumerate(DIMS):
            fitted = PLSRegression(dim, scale=False, tol=1e-14, max_iter=5000).fit(X[train], y[train])
            residuals[test, k] = fitted.predict(X[test]).ravel() - y[test]
    return residuals, fold


def chosen(X, y, rule, **options):
    return kfe.cv(kfe.PLSRegressor(scale=False), X, y, cv=KFold(6), grid={"dim": DIMS}, inner_folds=0, choose=rule, **options)["best"]["dim"]


def test_one_standard_error(spectra):
    X, y = spectra
    residuals, fold = held_out(X, y, KFold(6))
    mse = (residuals ** 2).mean(0)
    best = int(mse.argmin())
    assert chosen(X, y, "min") == DIMS[best]
    found = kfe.cv(kfe.PLSRegressor(scale=False), X, y, cv=KFold(6), grid={"dim": DIMS}, inner_folds=0, choose="one-se")
    error = found["settings"][best]["metrics"]["rmse"]["standard_error"]  # its formula: test_estimates.py
    assert found["best"]["dim"] == DIMS[int(np.argmax(np.sqrt(mse) <= np.sqrt(mse[best]) + error))] <= DIMS[best]
    assert [row["setting"]["dim"] for row in found["settings"] if row["is_best"]] == [found["best"]["dim"]]


def test_q2_stops_where_rmsecv_no_longer_falls(spectra):
    X, y = spectra
    press = (held_out(X, y, KFold(6))[0] ** 2).sum(0)
    k = 0
    while k + 1 < len(DIMS) and 1 - press[k + 1] / press[k] >= 1 - 0.95 ** 2:
        k += 1
    assert chosen(X, y, "q2") == DIMS[k]


def randomisation(residuals, flips=20000, level=0.01):
    """Van der Voet's test; None if a p-value is too near to the level for 999 flips."""
    best = int((residuals ** 2).mean(0).argmin())
    rng = np.random.default_rng(0)
    for k in range(best):
        d = residuals[:, k] ** 2 - residuals[:, best] ** 2
        p = (((2 * rng.integers(0, 2, size=(flips, len(d))) - 1) @ d >= d.sum()).sum() + 0.5) / (flips + 1)
        if abs(p - level) < 0.008:
            return None
        if p > level:
            return DIMS[k]
    return DIMS[best]


def test_randomisation_test_of_van_der_voet(spectra):
    X, y = spectra
    expected = randomisation(held_out(X, y, KFold(6))[0])
    if expected is not None:
        assert chosen(X, y, "permutation") == expected


def test_each_training_part_chooses_by_the_rule(spectra):
    """Nested: the choice of a split looks at the inner folds of its own training part."""
    X, y = spectra
    few = kfe.cv(kfe.PLSRegressor(scale=False), X, y, folds=4, grid={"dim": DIMS}, choose="permutation")
    most = kfe.cv(kfe.PLSRegressor(scale=False), X, y, folds=4, grid={"dim": DIMS})
    assert all(a["setting"]["dim"] <= b["setting"]["dim"] for a, b in zip(few["splits"], most["splits"]))
    assert few["settings"] and [row["metrics"] for row in few["settings"]] == [row["metrics"] for row in most["settings"]]


def test_classes_and_refusals(iris):
    X, y = iris
    names = np.array(["a", "b", "c"])[np.searchsorted(np.unique(y), y)]
    found = {rule: kfe.cv(kfe.PLSClassifier(), X, names, grid={"dim": [1, 2, 3]}, folds=5, inner_folds=0, choose=rule)["best"]["dim"]
             for rule in ("min", "one-se", "permutation")}
    assert found["one-se"] <= found["min"] and found["permutation"] <= found["min"]
    with pytest.raises(ValueError, match="choose='q2'"):
        kfe.cv(kfe.PLSClassifier(), X, names, grid={"dim": [1, 2, 3]}, folds=5, choose="q2")
    with pytest.raises(ValueError, match="only Python can vary"):
        kfe.cv(kfe.KPLSClassifier(), X, names, grid={"kernel": ["rbf", kfe.Polynomial(degree=2, coef0=2.0)], "dim": [1, 2]}, choose="one-se")
    with pytest.warns(kfe.KfeWarning, match="the grid has none"):
        kfe.cv(kfe.KOCClassifier(learner="knn"), X, names, grid={"neighbors": [1, 3]}, folds=3, choose="one-se")


def test_as_r_chooses(spectra, tmp_path):
    """selectNcomp of R's pls, on the same folds; it also tries no component, which never does here."""
    if not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", "library(pls)"], capture_output=True).returncode:
        pytest.skip("R's pls is not installed")
    X, y = spectra
    if randomisation(held_out(X, y, KFold(6))[0]) is None:
        pytest.skip("a p-value is too near to the level")
    np.savetxt(tmp_path / "d.csv", np.column_stack([y, X]), delimiter=",")
    code = """
        suppressMessages(library(pls)); d <- as.matrix(read.csv("d.csv", header = FALSE)); set.seed(1)
        data <- list(y = d[, 1], X = d[, -1]); folds <- split(seq_len(60), rep(1:6, each = 10))
        model <- plsr(y ~ X, 8, data = data, validation = "CV", segments = folds)
        cat(selectNcomp(model, "randomization", nperm = 9999, alpha = 0.01))"""
    done = subprocess.run(["Rscript", "-e", code], cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    assert done.returncode == 0, done.stderr
    assert chosen(X, y, "permutation") == int(done.stdout)


# ---- dim=auto ----

def test_rules_of_automatic_numbers_follow_from_the_errors_that_the_model_keeps(spectra):
    X, y = spectra
    chosen = {rule: kfe.PLSRegressor(choose=rule).fit(X, y) for rule in ("min", "one-se", "permutation", "q2")}
    left = np.r_[1, chosen["min"].records_["cv-unexplained-variance"]]
    error = chosen["min"].records_["cv-unexplained-error"]
    dims = {rule: model.transform(X).shape[1] for rule, model in chosen.items()}
    assert dims["min"] == np.argmin(left)
    assert dims["one-se"] == np.argmax(left <= left.min() + error[np.argmin(left) - 1])
    gains = np.sqrt(left[1:] / left[:-1]) <= 0.95
    assert dims["q2"] == np.argmin(np.r_[gains, False])
    assert 1 <= dims["permutation"] <= dims["min"]
    for rule, model in chosen.items():
        assert np.array_equal(model.records_["cv-unexplained-variance"], chosen["min"].records_["cv-unexplained-variance"])
    order = np.random.default_rng(0).permutation(len(y))
    assert kfe.PLSRegressor(choose="permutation").fit(X[order], y[order]).transform(X).shape[1] == dims["permutation"]


def test_a_feature_that_matters_is_not_taken_for_chance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) * [5, 1]
    y = X[:, 0] + X[:, 1] + 0.01 * rng.normal(size=80)
    assert kfe.PLSRegressor(choose="permutation").fit(X, y).transform(X).shape[1] == 2


def test_searches_pass_the_rule_to_fits_that_choose(spectra):
    X, y = spectra
    for rule in ("q2", "permutation"):
        inside = kfe.cv(kfe.PLSRegressor(choose=rule), X, y, folds=4)
        passed = kfe.cv(kfe.PLSRegressor(), X, y, folds=4, choose=rule)
        assert inside["metrics"] == passed["metrics"]
    assert hasattr(kfe.PLSRegressor(), "partial_fit") and not hasattr(kfe.PLSRegressor(choose="q2"), "partial_fit")
    with pytest.warns(kfe.KfeWarning, match="choose is a rule for dim='auto'"):
        kfe.PLSRegressor(dim=2, choose="q2").fit(X, y)
