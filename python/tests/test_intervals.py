# SPDX-License-Identifier: Apache-2.0
"""Intervals and sets: jackknife+ by refits of scikit-learn, coverage over many draws, weights, groups and files."""
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import kfe


def _draw(random, rows, classes=False):
    X = random.normal(size=(rows, 4))
    if classes:
        return X, (X[:, 0] + random.normal(size=rows) > 0.4).astype(int) + (X[:, 1] + random.normal(size=rows) > 0.8)
    return X, 2 * X[:, 0] - X[:, 1] + random.normal(size=rows) * (1 + np.abs(X[:, 2]))


def _regressor(**options):
    return kfe.PLSRegressor(dim=4, learner="ls", scale="none", **options)


def _jackknife(X, y, new, level, weights):
    """Rows sorted by brute force, each as often as its weight says."""
    low, high = [], []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        model = LinearRegression().fit(X[rest], y[rest], weights[rest])
        wrong = abs(y[i] - model.predict(X[i : i + 1])[0])
        low += [model.predict(new) - wrong] * int(weights[i])
        high += [model.predict(new) + wrong] * int(weights[i])
    n = len(low)
    return np.column_stack([np.sort(low, axis=0)[int(np.floor((1 - level) * (n + 1))) - 1],
                            np.sort(high, axis=0)[int(np.ceil(level * (n + 1))) - 1]])


@pytest.mark.parametrize("level", [0.5, 0.77, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_jackknife_is_that_of_refits(level, weighted):
    random = np.random.default_rng(5)
    X, y = _draw(random, 31)
    new = random.normal(size=(9, 4))
    weights = random.integers(1, 4, len(X)) if weighted else np.ones(len(X), int)
    found = _regressor(conformal="jackknife").fit(X, y, sample_weight=weights).predict_intervals(new, level)
    np.testing.assert_allclose(found, _jackknife(X, y, new, level, weights), rtol=1e-8)


@pytest.mark.parametrize("conformal", ["split", "cross", "jackknife"])
def test_a_weight_of_two_is_a_row_given_twice(conformal):
    random = np.random.default_rng(6)
    X, y = _draw(random, 40)
    weights = random.integers(1, 3, len(X))
    twice = np.repeat(np.arange(len(X)), weights)
    random.shuffle(twice)
    new = random.normal(size=(5, 4))
    once = _regressor(conformal=conformal).fit(X, y, sample_weight=weights).predict_intervals(new, 0.8)
    np.testing.assert_allclose(once, _regressor(conformal=conformal).fit(X[twice], y[twice]).predict_intervals(new, 0.8),
                               rtol=1e-9)


# The coverage of a fit varies; its mean over the draws has the standard error sd/√draws. Five of them: one false alarm in a million.
DRAWS, TESTS = 120, 200


def _coverage(conformal, level, classes):
    random = np.random.default_rng(7)
    shares = []
    for _ in range(DRAWS):
        X, y = _draw(random, 80, classes)
        new, truth = _draw(random, TESTS, classes)
        if classes:
            model = kfe.KFDClassifier(kernel="linear", learner="knn", ridge=0.1, conformal=conformal).fit(X, y)
            sets = model.predict_sets(new, level)
            shares.append(np.mean(sets[np.arange(TESTS), np.searchsorted(model.classes_, truth)]))
        else:
            low, high = _regressor(conformal=conformal).fit(X, y).predict_intervals(new, level).T
            shares.append(np.mean((low <= truth) & (truth <= high)))
    return np.mean(shares), 5 * np.std(shares) / np.sqrt(DRAWS)


@pytest.mark.parametrize("level", [0.6, 0.9])
def test_split_intervals_cover_as_the_theorem_says(level):
    """Between the level and the level + 1/(n + 1), n = 20 being the rows left out."""
    share, error = _coverage("split", level, False)
    assert level - error <= share <= level + 1 / 21 + error


@pytest.mark.parametrize("conformal", ["cross", "jackknife"])
def test_cross_intervals_cover(conformal):
    share, error = _coverage(conformal, 0.9, False)
    assert 0.89 - error <= share <= 0.93 + error


@pytest.mark.parametrize("conformal", ["split", "cross"])
def test_sets_cover(conformal):
    share, error = _coverage(conformal, 0.8, True)
    assert 0.8 - 0.01 - error <= share <= 1  # tied votes make sets larger


def test_sets_of_the_jackknife_are_those_of_refits():
    random = np.random.default_rng(8)
    X, y = _draw(random, 45, classes=True)
    new = random.normal(size=(20, 4))
    make = lambda **options: kfe.KFDClassifier(kernel="linear", learner="ls", ridge=0.1, scale="none", **options)
    model = make(conformal="jackknife").fit(X, y)
    below = np.zeros((len(new), 3))
    margin = lambda scores, g: np.max(np.delete(scores, g, axis=1), axis=1) - scores[:, g]
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        without = make().fit(X[rest], y[rest])
        own = margin(without.decision_function(X[i : i + 1]), y[i])[0]
        scores = without.decision_function(new)
        below += np.column_stack([own < margin(scores, g) for g in range(3)])
    for level in (0.5, 0.9):
        sets = model.predict_sets(new, level)
        assert np.array_equal(sets, below < level * (len(X) + 1))
        assert sets.dtype == bool and 0 < sets.sum() < sets.size


def test_files_targets_and_groups(tmp_path):
    random = np.random.default_rng(9)
    X, y = _draw(random, 60)
    Y = np.column_stack([y, X[:, 3] + random.normal(size=60)])
    model = _regressor(conformal="cross").fit(X, Y)
    found = model.predict_intervals(X[:5], 0.7)
    assert found.shape == (5, 2, 2) and np.all(found[..., 0] < found[..., 1])
    model.save(tmp_path / "m.kfe")
    np.testing.assert_array_equal(kfe.load(tmp_path / "m.kfe").predict_intervals(X[:5], 0.7), found)
    single = _regressor(conformal="cross", random_state=3).fit(X, Y[:, 1])
    both = _regressor(conformal="cross", random_state=3).fit(X, Y)
    np.testing.assert_allclose(single.predict_intervals(X, 0.7), both.predict_intervals(X, 0.7)[:, 1], rtol=1e-8)


def test_predictions_are_those_without_intervals():
    X, y = _draw(np.random.default_rng(10), 50)
    plain = kfe.KPLSRegressor(kernel="rbf", dim=3).fit(X, y)
    with_intervals = kfe.KPLSRegressor(kernel="rbf", dim=3, conformal="split").fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), with_intervals.predict(X))
    wide, narrow = (np.ptp(with_intervals.predict_intervals(X, level), axis=1) for level in (0.9, 0.3))
    assert np.all(wide > narrow)


def test_mistakes():
    X, y = _draw(np.random.default_rng(11), 30)
    with pytest.raises(ValueError, match="conformal='cross'"):
        _regressor().fit(X, y).predict_intervals(X)
    model = _regressor(conformal="split").fit(X, y)
    with pytest.raises(ValueError, match="too few; give a level up to 0.8"):
        model.predict_intervals(X, 0.99)
    for level in (0, 1, -1, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            model.predict_intervals(X, level)
    with pytest.raises(ValueError, match="precomputed"):
        kfe.KPLSRegressor(kernel="precomputed", dim=2, conformal="split").fit(X @ X.T, y)
