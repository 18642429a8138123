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
    np.testing.assert_array_equal(sure.argmax(axis=1), model.predict(x))
    fine = kfe.PLSDAClassifier(dim=2, calibration="platt").fit(x, y).predict_proba(x)
    assert 0 < np.abs(sure - fine).max() < 0.3
    two = kfe.PLSDAClassifier(dim=2, class_rule="threshold").fit(x, y > 0)
    new, _ = blobs(seed=2, apart=0.4)
    np.testing.assert_array_equal(two.predict_proba(new)[:, 1] > 0.5, two.predict(new))
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
    result = kfe.cv(kfe.PLSDAClassifier(), x, y, metrics=["accuracy", "log-loss"])
    assert result["metrics"]["log-loss"]["mean"] < 0.7
    found = kfe.cv(kfe.PLSDAClassifier(), x, y, grid={"dim": [1, 2, 3], "class_rule": ["max", "threshold"]})
    assert len(found["settings"]) == 6


def test_real_targets_are_refused():
    x, _ = blobs()
    with pytest.raises(ValueError, match="label type"):
        kfe.PLSDA().fit(x, x[:, 0])


# ---- spls and splsda with a number of columns per direction ----

def sparse_pls(x, targets, keep):
    """Scores of Lê Cao et al. (2008, 2011), regression mode: direction h keeps keep[h] columns; data and targets are deflated."""
    x, y = x - x.mean(axis=0), targets - targets.mean(axis=0)
    scores, used = [], []
    for most in keep:
        c = x.T @ y

        def shrink(a):
            limit = np.sort(np.abs(a))[::-1][most] if most < len(a) else 0
            a = np.sign(a) * np.maximum(np.abs(a) - limit, 0)
            return a / np.linalg.norm(a)

        u = shrink(np.linalg.svd(c)[0][:, 0])
        for _ in range(3000):
            v = c.T @ u
            u = shrink(c @ (v / np.linalg.norm(v)))
        t = x @ u
        x = x - np.outer(t, x.T @ t / (t @ t))
        y = y - np.outer(t, y.T @ t / (t @ t))
        scores.append(t)
        used.append(np.count_nonzero(u))
    return np.column_stack(scores), used


def planted(seed=8, rows=60, d=40):
    """Two columns rise in each of three classes; the others are noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 3
    x = rng.normal(size=(rows, d))
    x[:, :6] += 2 * np.repeat(np.eye(3), 2, axis=1)[y]
    return x, y


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_splsda_is_least_squares_on_the_scores_of_the_paper(kind):
    x, y = planted()
    t, used = sparse_pls(x, dummies_of(y), [8, 3, 5])
    ours = kfe.SparsePLSDAClassifier(dim=3, keep=[8, 3, 5]).fit(kind(x), y)
    np.testing.assert_array_equal(ours.keep_, used)
    features = ours.transform(kind(x))
    np.testing.assert_allclose(features * np.sign((features * t).sum(axis=0)), t, atol=1e-6)
    design = np.column_stack([np.ones(len(t)), t])
    predicted = design @ np.linalg.lstsq(design, dummies_of(y), rcond=None)[0]
    np.testing.assert_allclose(ours.decision_function(kind(x)), predicted - 0.5, atol=1e-6)
    assert hasattr(ours, "predict_proba")


def test_the_last_number_is_that_of_all_that_follow():
    x, y = planted()
    np.testing.assert_array_equal(kfe.SparsePLS(dim=3, keep="6,2").fit(x, y).transform(x), kfe.SparsePLS(dim=3, keep=[6, 2, 2]).fit(x, y).transform(x))
    np.testing.assert_array_equal(kfe.SparsePLS(dim=2, keep=[4, "all"]).fit(x, y).keep_, [4, 40])
    for wrong in ("", "5;", "0", "2.5", "-1", "five"):
        with pytest.raises(ValueError, match="keep"):
            kfe.SparsePLS(dim=2, keep=wrong).fit(x, y)


def test_auto_finds_the_columns_that_differ():
    x, y = planted(d=400)
    ours = kfe.SparsePLSDAClassifier(keep="auto").fit(x, y)
    assert ours.keep_.max() <= 10 and set(range(6)) <= set(np.flatnonzero(np.abs(ours.components_).max(axis=0)))
    new, truth = planted(seed=9, d=400)
    assert (ours.predict(new) == truth).mean() > 0.85
    given = kfe.SparsePLSDAClassifier(dim=ours.transform(x).shape[1], keep=ours.keep_.astype(int)).fit(x, y)
    np.testing.assert_array_equal(given.transform(x), ours.transform(x))


@pytest.mark.parametrize("estimator", [kfe.SparsePLSDAClassifier, kfe.SparsePLS])
def test_auto_chooses_by_content(estimator):
    x, y = planted()
    weights = 1 + np.arange(len(y)) % 3
    order = np.random.default_rng(3).permutation(len(y))
    chosen = [estimator(dim=3, keep="auto").fit(np.repeat(x, weights, axis=0), np.repeat(y, weights)),
              estimator(dim=3, keep="auto").fit(x[order], y[order], sample_weight=weights[order])]
    np.testing.assert_array_equal(*(model.keep_ for model in chosen))
    np.testing.assert_allclose(*(model.transform(x) for model in chosen), atol=1e-9)


def test_first_directions_do_not_depend_on_their_number():
    x, y = planted()
    np.testing.assert_array_equal(kfe.SparsePLS(dim=3, keep="auto").fit(x, y).keep_[:2], kfe.SparsePLS(dim=2, keep="auto").fit(x, y).keep_)
