# SPDX-License-Identifier: Apache-2.0
"""PLS discriminants against scikit-learn's PLS on dummies and the rules written again with NumPy."""
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
import scipy.stats

import kfe

cross_decomposition = pytest.importorskip("sklearn.cross_decomposition")


def blobs(seed=1, sizes=(30, 20, 10), d=12, apart=1.5):
    """Classes of unequal sizes that overlap."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    centres = np.random.default_rng(99).normal(size=(len(sizes), d))
    return apart * centres[y] + rng.normal(size=(len(y), d)), y


def dummies_of(y):
    return (y[:, None] == np.unique(y)).astype(float)


def sklearn_pls(x, y, dim):
    return cross_decomposition.PLSRegression(dim, scale=False, tol=1e-15, max_iter=10000).fit(x, y)


# ---- plsda ----

@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_plsda_is_pls_on_dummies(kind):
    x, y = blobs()
    new, _ = blobs(seed=2)
    ours = kfe.PLSDAClassifier(dim=3).fit(kind(x), y)
    predicted = sklearn_pls(x, dummies_of(y), 3).predict(new)
    np.testing.assert_allclose(ours.decision_function(kind(new)), predicted - 0.5, atol=1e-7)
    np.testing.assert_array_equal(ours.predict(kind(new)), predicted.argmax(axis=1))


def test_two_classes_have_one_dummy():
    x, y = blobs(sizes=(25, 15))
    new, _ = blobs(seed=2, sizes=(25, 15))
    predicted = sklearn_pls(x, y.astype(float), 2).predict(new).ravel()
    np.testing.assert_array_equal(kfe.PLSDAClassifier(dim=2).fit(x, y).predict(new), predicted > 0.5)


def test_centroid_is_the_nearest_mean_of_the_features():
    x, y = blobs()
    new, _ = blobs(seed=2)
    theirs = sklearn_pls(x, dummies_of(y), 2)
    means = np.array([theirs.transform(x)[y == g].mean(axis=0) for g in range(3)])
    nearest = ((theirs.transform(new)[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(kfe.PLSDAClassifier(dim=2, class_rule="centroid").fit(x, y).predict(new), nearest)


def test_thresholds_are_where_the_densities_cross():
    x, y = blobs()
    new, _ = blobs(seed=2)
    theirs = sklearn_pls(x, dummies_of(y), 2)
    fitted = theirs.predict(x)
    expected = []
    for g in range(3):
        inside, outside = (scipy.stats.norm(part.mean(), part.std()) for part in (fitted[y == g, g], fitted[y != g, g]))
        expected.append(scipy.optimize.brentq(lambda t: inside.logpdf(t) - outside.logpdf(t), outside.mean(), inside.mean(), xtol=1e-14))
    ours = kfe.PLSDAClassifier(dim=2, class_rule="threshold").fit(x, y)
    np.testing.assert_allclose(ours.class_thresholds_, expected, atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(new), theirs.predict(new) - expected, atol=1e-6)


def test_thresholds_find_a_rare_class():
    """One dummy in ten is one: its predictions stay small, so that the largest dummy misses most of its members."""
    x, y = blobs(sizes=(180, 20), apart=0.5)
    new, truth = blobs(seed=2, sizes=(180, 20), apart=0.5)
    found = {rule: (kfe.PLSDAClassifier(dim=2, class_rule=rule).fit(x, y).predict(new)[truth == 1] == 1).mean() for rule in ("max", "threshold")}
    balanced = (kfe.PLSDAClassifier(dim=2, class_weight="balanced").fit(x, y).predict(new)[truth == 1] == 1).mean()
    assert min(found["threshold"], balanced) > found["max"] + 0.2


@pytest.mark.parametrize("rule", ["max", "centroid", "threshold"])
def test_weights_repeat_rows_and_their_order_does_not_matter(rule):
    x, y = blobs()
    new, _ = blobs(seed=2)
    weights = 1 + np.arange(len(y)) % 3
    order = np.random.default_rng(3).permutation(len(y))
    expected = kfe.PLSDAClassifier(dim=2, class_rule=rule).fit(np.repeat(x, weights, axis=0), np.repeat(y, weights))
    weighed = kfe.PLSDAClassifier(dim=2, class_rule=rule).fit(x[order], y[order], sample_weight=weights[order])
    np.testing.assert_allclose(weighed.decision_function(new), expected.decision_function(new), atol=1e-9)
    np.testing.assert_allclose(weighed.predict_proba(new), expected.predict_proba(new), atol=1e-6)


def test_probabilities_come_by_default():
    x, y = blobs()
    model = kfe.PLSDAClassifier(dim=2).fit(x, y)
    sure = model.predict_proba(x)
    assert sure.shape == (60, 3) and np.abs(sure.sum(axis=1) - 1).max() < 1e-12
    np.testing.assert_array_equal(sure, kfe.PLSDAClassifier(dim=2, calibration="platt").fit(x, y).predict_proba(x))
    for other in (kfe.PLSDAClassifier(calibration="none"), kfe.PLSDAClassifier(learner="svm"), kfe.PLSClassifier()):
        assert not hasattr(other, "predict_proba") and not hasattr(other.fit(x, y), "predict_proba")


def test_a_class_of_one_example_gets_no_probabilities():
    x, y = blobs()
    y[-1] = 3
    model = kfe.PLSDAClassifier(dim=2).fit(x, y)
    assert model.predict(x).shape == (60,) and not hasattr(model, "predict_proba")


def test_a_learner_takes_the_place_of_the_rule():
    x, y = blobs()
    same = [kfe.PLSDAClassifier(dim=2, learner="svm").fit(x, y), kfe.PLSClassifier(dim=2, learner="svm").fit(x, y)]
    np.testing.assert_array_equal(*(model.decision_function(x) for model in same))


def test_cv_takes_its_grid():
    x, y = blobs()
    report = kfe.cv(kfe.PLSDAClassifier(), x, y, metrics=["accuracy", "log-loss"])
    assert report["metrics"]["log-loss"]["mean"] < 0.7
    found = kfe.cv(kfe.PLSDAClassifier(), x, y, grid={"dim": [1, 2, 3], "class_rule": ["max", "threshold"]})
    assert len(found["settings"]) == 6


def test_real_targets_are_refused():
    x, _ = blobs()
    with pytest.raises(ValueError, match="label type"):
        kfe.PLSDA().fit(x, x[:, 0])
