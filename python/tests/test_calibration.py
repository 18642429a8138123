# SPDX-License-Identifier: Apache-2.0
"""Calibrated probabilities on held-out data of five sets, and their metrics against scikit-learn's."""
import csv
import os
import pathlib

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import brier_score_loss, cohen_kappa_score, log_loss, matthews_corrcoef

import kfe

SETS = [("banana", {"n": 300}), ("twonorm", {"n": 300}), ("ringnorm", {"n": 300}), ("waveform", {"n": 300}),
        ("rings", {"n": 300})]


def halves(name, options):
    x, y = kfe.generate(name, random_state=3, **options)
    order = np.random.default_rng(0).permutation(len(x))
    return x[order[::2]], y[order[::2]], x[order[1::2]], y[order[1::2]]


@pytest.mark.parametrize("calibration", ["platt", "isotonic"])
def test_lower_log_loss_on_held_out_data(calibration):
    """On each of five sets, below the sigmoid or softmax of the decision values."""
    for name, options in SETS:
        x, y, new, truth = halves(name, options)
        model = kfe.KPCAClassifier(dim=8, learner="svm", calibration=calibration).fit(x, y)
        p = model.predict_proba(new)
        assert p.shape == (len(new), len(model.classes_)) and (p >= 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        values = model.decision_function(new)
        plain = np.column_stack([expit(-values), expit(values)]) if values.ndim == 1 else softmax(values, axis=1)
        assert log_loss(truth, p, labels=model.classes_) < log_loss(truth, plain, labels=model.classes_), name


# Sets of KFE_DATA. Isotonic curves are for a thousand training examples or more, so their sets have two thousand.
REAL = {"platt": ("wdbc", "wine", "ionosphere", "diabetes_pima", "spectf"),
        "isotonic": ("banana", "satimage", "titanic", "waveform", "ringnorm")}
SPLITS = {"platt": 5, "isotonic": 1}  # the sets for platt are small, so one split is chance


def real_halves(name, seed):
    path = pathlib.Path(os.environ.get("KFE_DATA") or "no-data") / name / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"KFE_DATA does not name a folder with {name}/{name}.csv")
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    order = np.random.default_rng(seed).permutation(len(rows))[:2000]
    x, y = np.array([[float(value) for value in rows[i][:-1]] for i in order]), np.array([rows[i][-1] for i in order])
    return x[::2], y[::2], x[1::2], y[1::2]


@pytest.mark.parametrize("calibration, name", [(kind, name) for kind, names in REAL.items() for name in names])
def test_lower_log_loss_on_real_data(calibration, name):
    """The mean over random halves, below that of the sigmoid or softmax of the decision values."""
    losses = []
    for seed in range(SPLITS[calibration]):
        x, y, new, truth = real_halves(name, seed)
        model = kfe.KPCAClassifier(dim=8, learner="svm", scale="standard", calibration=calibration).fit(x, y)
        values = model.decision_function(new)
        plain = np.column_stack([expit(-values), expit(values)]) if values.ndim == 1 else softmax(values, axis=1)
        losses.append([log_loss(truth, each, labels=model.classes_) for each in (model.predict_proba(new), plain)])
    calibrated, uncalibrated = np.mean(losses, axis=0)
    assert calibrated < uncalibrated


def test_evaluate_uses_the_probabilities():
    x, y, new, truth = halves("waveform", {"n": 300})
    model = kfe.PLSClassifier(learner="svm", calibration="platt").fit(x, y)
    metrics = kfe.evaluate(model, new, truth, metrics=["log-loss", "brier", "mcc", "kappa"])["metrics"]
    p, predicted = model.predict_proba(new), model.predict(new)
    assert metrics["log-loss"] == pytest.approx(log_loss(truth, p, labels=model.classes_), rel=1e-10)
    onehot = np.asarray(truth)[:, None] == model.classes_[None, :]
    assert metrics["brier"] == pytest.approx(np.mean(np.sum((p - onehot) ** 2, axis=1)), rel=1e-10)
    assert metrics["mcc"] == pytest.approx(matthews_corrcoef(truth, predicted), rel=1e-12)
    assert metrics["kappa"] == pytest.approx(cohen_kappa_score(truth, predicted), rel=1e-12)


def test_two_class_brier_is_that_of_one_class():
    x, y, new, truth = halves("banana", {"n": 200})
    model = kfe.KPCAClassifier(dim=5, learner="svm", calibration="platt").fit(x, y)
    got = kfe.evaluate(model, new, truth, metrics=["brier"])["metrics"]["brier"]
    second = np.asarray(truth) == model.classes_[1]
    assert got == pytest.approx(brier_score_loss(second, model.predict_proba(new)[:, 1]), rel=1e-10)


def test_cv_calibrates_inside_of_each_split():
    x, y = kfe.generate("banana", n=150, random_state=1)
    plain = kfe.cv(kfe.KPCAClassifier(dim=4, learner="svm"), x, y, metrics=["log-loss", "mcc"], folds=3)
    calibrated = kfe.cv(kfe.KPCAClassifier(dim=4, learner="svm", calibration="platt"), x, y,
                        metrics=["log-loss", "mcc"], folds=3)
    assert calibrated["metrics"]["log-loss"]["mean"] < plain["metrics"]["log-loss"]["mean"]
    assert calibrated["metrics"]["mcc"] == plain["metrics"]["mcc"]


def test_off_unless_asked():
    x, y = kfe.generate("iris")
    model = kfe.PLSClassifier(learner="ls").fit(x, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ValueError, match="calibration"):
        kfe.PLSRegressor(calibration="platt").fit(x[:, :3], x[:, 3])


@pytest.mark.parametrize("calibration", ["platt", "isotonic"])
def test_saved_with_the_model(calibration, tmp_path):
    x, y = kfe.generate("iris")
    model = kfe.PLSClassifier(learner="svm", calibration=calibration).fit(x, y)
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe")
    np.testing.assert_array_equal(loaded.predict_proba(x), model.predict_proba(x))


def test_every_decision_gives_distributions():
    """One-vs-rest, pairs of classes, votes of neighbours; classes that are easy to tell get high probabilities."""
    x, y = kfe.generate("iris")
    for learner in ("ls", "svm", "linear-svm", "knn", "centroid"):
        model = kfe.PLSClassifier(learner=learner, calibration="platt").fit(x, y)
        p = model.predict_proba(x)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        agree = model.classes_[p.argmax(axis=1)] == model.predict(x)
        assert agree.mean() > 0.9, learner
        assert p[np.arange(150), np.searchsorted(model.classes_, y)].mean() > 0.6, learner
