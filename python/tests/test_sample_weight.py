# SPDX-License-Identifier: Apache-2.0
"""Weights of examples: fit(sample_weight=...) against repeated rows, and what is refused."""
import inspect

import numpy as np
import pytest

import kfe
from kfe import _tables

WEIGHTS = np.array([1, 2, 3, 0])


def problem(rows=60, seed=3):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 3
    X = rng.normal(size=(rows, 4)) + 1.5 * (y[:, None] == np.arange(4))
    return X, y, WEIGHTS[np.arange(rows) // 3 % 4]


@pytest.mark.parametrize("estimator", [kfe.KFDClassifier(ridge=0.1), kfe.KPCAClassifier(learner="svm:stop=1e-9"), kfe.PLSClassifier(learner="ls")],
                         ids=repr)
def test_weights_count_like_repeated_rows(estimator):
    X, y, w = problem()
    estimator.set_params(n_threads=1)
    weighted = estimator.fit(X, y, sample_weight=w).decision_function(X)
    repeated = estimator.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-3, atol=1e-3)


def test_regression_equals_weighted_least_squares():
    X, _, w = problem()
    w = w + 0.25
    y = X @ [1, -2, 0.5, 3] + np.sin(5 * X[:, 0])
    root = np.sqrt(w)[:, None]
    expected = np.linalg.lstsq(root * np.c_[X, np.ones(len(X))], root[:, 0] * y, rcond=None)[0]
    got = kfe.PLSRegressor(dim=4, learner="ls", scale="none").fit(X, y, sample_weight=w)
    np.testing.assert_allclose(got.predict(X), np.c_[X, np.ones(len(X))] @ expected, rtol=1e-9)


TAKING = [name for name, entry in _tables.ESTIMATORS.items() if entry.has(_tables.SAMPLE_WEIGHTS)]


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
@pytest.mark.parametrize("name", TAKING)
def test_ones_change_nothing_and_zeros_remove(name):
    """Ridges by leave-one-out and SVMs included: a row of weight zero is not there."""
    X, y, _ = problem()
    y = y % 2
    kept = np.arange(len(X)) % 5 != 0
    few = {"max_iter": 3} if name == "SLMC" else {}  # rounding grows from one iteration of its search to the next
    estimator = getattr(kfe, name)(n_threads=1, **few)
    plain = estimator.fit(X, y).transform(X)
    ones = estimator.fit(X, y, sample_weight=np.ones(len(X))).transform(X)
    np.testing.assert_allclose(np.abs(ones), np.abs(plain), rtol=1e-6, atol=1e-6 * np.abs(plain).max())
    removed = estimator.fit(X[kept], y[kept], sample_weight=np.ones(kept.sum())).transform(X)
    np.testing.assert_array_equal(estimator.fit(X, y, sample_weight=kept).transform(X), removed)


@pytest.mark.parametrize("weights, message", [
    (np.r_[-1.0, np.ones(59)], "weight of row 1 is -1"),
    (np.r_[1, np.nan, np.ones(58)], "weight of row 2 is not a finite number"),
    (np.zeros(60), "all weights are zero"),
    (np.ones(59), "expected"),
    (np.ones((60, 2)), "1D"),
])
def test_wrong_weights(weights, message):
    X, y, _ = problem()
    with pytest.raises(ValueError, match=message):
        kfe.KFD().fit(X, y, sample_weight=weights)


def test_what_takes_no_weights_says_what_does():
    X, y, w = problem()
    with pytest.raises(kfe.UnsupportedError, match="learner knn takes no weights of examples; these do: svm"):
        kfe.KFDClassifier(learner="knn").fit(X, y, sample_weight=w)
    for name, entry in _tables.ESTIMATORS.items():
        takes = "sample_weight" in inspect.signature(getattr(kfe, name)().fit).parameters
        assert takes == entry.has(_tables.SAMPLE_WEIGHTS), name


def test_read_takes_no_weights(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,n,kind\n1,2,u\n2,1,v\n", encoding="utf-8")
    with pytest.raises(ValueError, match="the weights in the column 'n' would be lost.*sample_weight"):
        kfe.read(path, weight="n")
    X, _ = kfe.read(path, drop="n")
    np.testing.assert_array_equal(X, [[1], [2]])
