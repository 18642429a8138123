# SPDX-License-Identifier: Apache-2.0
"""Metrics against scikit-learn, on inputs with ties; tests of significance against SciPy."""
from ctypes import byref, c_char_p, c_double, c_int64, c_void_p

import numpy as np
import pytest

pytest.importorskip("sklearn")
import scipy.stats
from sklearn import metrics

from libkfe import Judged

TOLERANCE = 1e-12  # both sides sum a few hundred numbers around 1


def pointer(array, kind):
    """The array in the library's type, which the caller must keep alive, and its address."""
    if array is None:
        return None, None
    kept = np.ascontiguousarray(array, kind)
    return kept, kept.ctypes.data_as(c_void_p)


def of_classes(kfe, metric, classes, truth, predicted, scores=None, positive=1):
    kept = [pointer(truth, np.int32), pointer(predicted, np.int32), pointer(scores, float)]
    addresses = dict(zip(("truth", "predicted", "scores"), (address for _, address in kept)))
    judged = Judged(rows=len(truth), classes=classes, positive=positive, **addresses)
    out = c_double()
    kfe.call("kfe_metric_compute", c_char_p(metric.encode()), byref(judged), byref(out))
    return out.value


def of_values(kfe, metric, truth, predicted):
    kept = [pointer(truth, float), pointer(predicted, float)]
    judged = Judged(rows=truth.shape[0], cols=truth.shape[1], true_values=kept[0][1], predicted_values=kept[1][1])
    out = c_double()
    kfe.call("kfe_metric_compute", c_char_p(metric.encode()), byref(judged), byref(out))
    return out.value


def paired_test(kfe, a, b, test_share=0.0):
    kept = [pointer(a, float), pointer(b, float)]
    t, p = c_double(), c_double()
    kfe.call("kfe_paired_test", c_int64(len(a)), *(address for _, address in kept), c_double(test_share), byref(t),
             byref(p))
    return t.value, p.value


def make_classes(seed, rows, classes):
    """Predictions that are right half of the time, and scores with few distinct values. The last class is rare."""
    rng = np.random.default_rng(seed)
    truth = np.minimum(rng.integers(0, 2 * classes - 1, rows) // 2, classes - 1)
    predicted = np.where(rng.random(rows) < 0.5, truth, rng.integers(0, classes, rows))
    scores = np.round(rng.normal(size=(rows, classes)) + (truth[:, None] == np.arange(classes)), 1)
    return truth, predicted, scores


CASES = [(seed, rows, classes) for seed, (rows, classes) in
         enumerate([(40, 2), (300, 2), (5000, 2), (60, 3), (400, 5), (2000, 10)])]


@pytest.mark.parametrize("seed, rows, classes", CASES)
def test_counts(kfe, seed, rows, classes):
    truth, predicted, _ = make_classes(seed, rows, classes)
    expected = {
        "accuracy": metrics.accuracy_score(truth, predicted),
        "error": 1 - metrics.accuracy_score(truth, predicted),
        "balanced-accuracy": metrics.balanced_accuracy_score(truth, predicted),
        "f1": metrics.f1_score(truth, predicted, average="macro"),
    }
    for metric, value in expected.items():
        assert of_classes(kfe, metric, classes, truth, predicted) == pytest.approx(value, abs=TOLERANCE), metric


def test_f1_of_classes_in_one_list_only(kfe):
    """Class 2 occurs only in the truth, class 3 only in the predictions, class 4 nowhere."""
    truth, predicted = np.array([0, 0, 1, 1, 2, 2, 0]), np.array([0, 1, 1, 1, 3, 0, 0])
    expected = metrics.f1_score(truth, predicted, average="macro", zero_division=0)
    assert of_classes(kfe, "f1", 5, truth, predicted) == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("seed, rows, classes", CASES)
def test_one_against_the_rest(kfe, seed, rows, classes):
    """Membership in each class is a binary problem; the Hamming loss is the mean of their errors."""
    truth, predicted, scores = make_classes(seed, rows, classes)
    members = truth[:, None] == np.arange(classes)
    by_score = metrics.hamming_loss(members, scores > 0)
    by_label = metrics.hamming_loss(members, predicted[:, None] == np.arange(classes))
    assert np.any(scores == 0)  # a score of zero is not above zero
    assert of_classes(kfe, "ovr-error", classes, truth, predicted, scores) == pytest.approx(by_score, abs=TOLERANCE)
    assert of_classes(kfe, "ovr-error", classes, truth, predicted) == pytest.approx(by_label, abs=TOLERANCE)
    error = 1 - metrics.accuracy_score(truth, predicted)
    assert by_label == pytest.approx(2 * error / classes, abs=TOLERANCE)


@pytest.mark.parametrize("metric, oracle", [("auc", metrics.roc_auc_score),
                                            ("average-precision", metrics.average_precision_score)])
@pytest.mark.parametrize("seed, rows, classes", CASES)
def test_score_curves(kfe, seed, rows, classes, metric, oracle):
    truth, predicted, scores = make_classes(seed, rows, classes)
    each = [oracle(truth == g, scores[:, g]) for g in range(classes)]
    if classes == 2:
        for positive in (0, 1):
            got = of_classes(kfe, metric, 2, truth, predicted, scores, positive)
            assert got == pytest.approx(each[positive], abs=TOLERANCE)
    else:
        got = of_classes(kfe, metric, classes, truth, None, scores)
        assert got == pytest.approx(np.mean(each), abs=TOLERANCE)


@pytest.mark.parametrize("rows, cols", [(2, 1), (50, 1), (3000, 1), (70, 4)])
def test_values(kfe, rows, cols):
    rng = np.random.default_rng(rows)
    truth = rng.normal(size=(rows, cols)) * 10.0 ** rng.integers(-3, 3, cols) + 5
    predicted = truth + 0.3 * rng.normal(size=(rows, cols))
    assert of_values(kfe, "rmse", truth, predicted) == pytest.approx(
        np.sqrt(metrics.mean_squared_error(truth, predicted)), rel=TOLERANCE)
    assert of_values(kfe, "mae", truth, predicted) == pytest.approx(
        metrics.mean_absolute_error(truth, predicted), rel=TOLERANCE)
    # 1 − residual/variation loses the digits that cancel in the variation about a mean of 5
    assert of_values(kfe, "r2", truth, predicted) == pytest.approx(metrics.r2_score(truth, predicted), rel=1e-9)


@pytest.mark.parametrize("count", [2, 5, 10, 100, 3000])
def test_paired_t(kfe, count):
    rng = np.random.default_rng(count)
    for shift in (0, 0.1, 1, 5):
        a, b = rng.normal(size=count), rng.normal(size=count) + shift
        expected = scipy.stats.ttest_rel(a, b)
        t, p = paired_test(kfe, a, b)
        assert t == pytest.approx(expected.statistic, rel=1e-11)
        assert p == pytest.approx(2 * scipy.stats.t.sf(abs(t), count - 1), rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("train, test", [(90, 10), (50, 50)])
def test_corrected_t(kfe, train, test):
    """The plain statistic, reduced by the formula's factor."""
    rng = np.random.default_rng(train)
    a, b = rng.normal(size=30) + 0.5, rng.normal(size=30)
    plain = scipy.stats.ttest_rel(a, b).statistic
    t, p = paired_test(kfe, a, b, test / train)
    expected = plain * np.sqrt((1 / 30) / (1 / 30 + test / train))
    assert t == pytest.approx(expected, rel=1e-11)
    assert p == pytest.approx(2 * scipy.stats.t.sf(abs(expected), 29), rel=1e-9)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 10, 29, 99, 1000, 9999, 100000])
def test_student_tail(kfe, degrees):
    """Pairs with the statistic t: differences m ± 1 with the mean that gives t."""
    signs = np.where(np.arange(degrees + 1) % 2, 1.0, -1.0)
    signs -= signs.mean()
    deviation = signs.std(ddof=1) / np.sqrt(degrees + 1)
    checked = 0
    for wanted in (1e-3, 0.1, 0.5, 1, 1.5, 1.7, 1.8, 2, 2.5, 3, 5, 8, 12, 20, 30, 37, 50):
        t, p = paired_test(kfe, signs + wanted * deviation, np.zeros(degrees + 1))
        assert t == pytest.approx(wanted, rel=1e-6)
        expected = 2 * scipy.stats.t.sf(t, degrees)
        if expected > 1e-300:
            assert p == pytest.approx(expected, rel=1e-10)
            checked += 1
    assert checked >= 15
