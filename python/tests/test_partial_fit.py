# SPDX-License-Identifier: Apache-2.0
"""partial_fit gives the model of one fit on all blocks, and the estimator survives pickling between them."""
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import kfe


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    x = rng.normal(size=(240, 4)) + 1.5 * np.eye(4)[y]
    return x * [1, 10, 1, 0.1] + [0, 100, 0, 0], np.array(["a", "b", "c"])[y]


def blocks(x, y):
    order = np.argsort(y, kind="stable")[::-1]  # the first class comes last
    return [(x[part], y[part]) for part in np.array_split(order, 5)]


def agree(a, b):
    b = b * np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(b, a, rtol=1e-7, atol=1e-7 * np.abs(a).max())


@pytest.mark.parametrize("estimator", [kfe.PCA(dim=3), kfe.OC(), kfe.PLS(dim=2), kfe.ContinuumRegression(dim=2)])
def test_linear_transformers(rows, estimator):
    x, y = rows
    whole = clone(estimator).fit(x, y)
    for bx, by in blocks(x, y):
        estimator.partial_fit(bx, by)
    agree(whole.transform(x[:20]), estimator.transform(x[:20]))
    np.testing.assert_allclose(estimator.scale_mean_, whole.scale_mean_, rtol=1e-10)


def test_classifier_with_late_classes_and_pickling(rows):
    x, y = rows
    whole = kfe.PLSClassifier(dim=3, learner="ls").fit(x, y)
    parts = kfe.PLSClassifier(dim=3, learner="ls")
    for k, (bx, by) in enumerate(blocks(x, y)):
        parts.partial_fit(bx if k % 2 else sparse.csr_matrix(bx).toarray(), by, classes=["a", "b", "c"] if k == 0 else None)
        parts = pickle.loads(pickle.dumps(parts))
    assert parts.classes_.tolist() == ["a", "b", "c"]
    assert (parts.predict(x) == whole.predict(x)).all()
    np.testing.assert_allclose(parts.decision_function(x), whole.decision_function(x), rtol=1e-6, atol=1e-8)


def test_landmarks_start_with_the_first_block(rows):
    x, y = rows
    whole = kfe.KFDClassifier(kernel="rbf:gamma=0.2", landmarks=30, learner="ls").fit(x, y)
    parts = kfe.KFDClassifier(kernel="rbf:gamma=0.2", landmarks=30, learner="ls").partial_fit(x, y)
    np.testing.assert_allclose(parts.decision_function(x[:9]), whole.decision_function(x[:9]), rtol=1e-6, atol=1e-8)
    before = parts.predict(x)
    parts.partial_fit(x[:50], y[:50])
    assert (parts.predict(x) == before).mean() > 0.9


def test_fit_begins_again(rows):
    x, y = rows
    model = kfe.PCA(dim=2).partial_fit(x[:50])
    model.fit(x)
    agree(kfe.PCA(dim=2).fit_transform(x), model.transform(x))
    model.partial_fit(x[:60])
    agree(kfe.PCA(dim=2).fit(x[:60]).transform(x), model.transform(x))


def test_who_has_it():
    assert hasattr(kfe.PCA(), "partial_fit") and hasattr(kfe.KPLS(landmarks=10), "partial_fit")
    assert not hasattr(kfe.KPLS(), "partial_fit") and not hasattr(kfe.SMA(), "partial_fit")
    assert not hasattr(kfe.PCAClassifier(), "partial_fit")  # its learner is svm


def test_wrong_blocks(rows):
    x, y = rows
    model = kfe.OC().partial_fit(x[:30], y[:30], classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(x[:30, :3], y[:30])
    with pytest.raises(ValueError, match="classes does not list"):
        model.partial_fit(x[:30], np.full(30, "z"))
    with pytest.raises(ValueError, match="first call"):
        model.partial_fit(x[:30], y[:30], classes=["a"])
    with pytest.raises(kfe.InputError, match="two classes"):
        kfe.OC().partial_fit(x[:3], ["a"] * 3).transform(x)


def test_parameters_stay_as_they_were(rows):
    x, y = rows
    model = kfe.KFDClassifier(kernel="rbf:gamma=0.2", landmarks=30, learner="ls", ridge=0.1).partial_fit(x, y)
    model.set_params(ridge=10, n_threads=1)
    with pytest.raises(ValueError, match=r"ridge was 0.1 in the first call of partial_fit and is now 10.*clone"):
        model.partial_fit(x, y)
    pickle.loads(pickle.dumps(model)).set_params(ridge=0.1).partial_fit(x, y)
    with pytest.raises(ValueError, match="kernel was"):
        model.set_params(ridge=0.1, kernel__gamma=1.0).partial_fit(x, y)
    again = clone(model.set_params(ridge=10)).partial_fit(x, y)
    expected = kfe.KFDClassifier(kernel="rbf:gamma=1", landmarks=30, learner="ls", ridge=10).fit(x, y)
    np.testing.assert_allclose(again.decision_function(x[:9]), expected.decision_function(x[:9]), rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("error::FutureWarning")
@pytest.mark.parametrize("labels, classes", [(np.arange(30) % 3, ["0", "1", "2"]), (np.array(["a", "b", "c"] * 10), [0, 1, 2])])
def test_classes_of_another_kind_are_refused(rows, labels, classes):
    x, _ = rows
    with pytest.raises(ValueError, match="which classes does not list"):
        kfe.OC().partial_fit(x[:30], labels, classes=classes)
    model = kfe.OC().partial_fit(x[:30], labels, classes=np.unique(labels))
    with pytest.raises(ValueError, match="was different"):
        model.partial_fit(x[:30], labels, classes=classes)


# ---- classes or real values ----

def in_blocks(y, *sizes):
    """A transformer that takes either, fitted on blocks of these targets."""
    x = np.random.default_rng(0).normal(size=(len(y), 3))
    model = kfe.PLS(dim=2)
    for part in np.split(np.arange(len(y)), np.cumsum(sizes)[:-1]):
        model.partial_fit(x[part], y[part])
    return model, kfe.PLS(dim=2).fit(x, y), x


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
@pytest.mark.parametrize("y", [np.arange(60) % 7, np.r_[np.arange(30), np.arange(30) % 5], np.arange(60) / 7,
                               np.r_[np.arange(30) / 7, np.arange(30) % 4], (np.arange(60) % 4).astype(float)],
                         ids=["few", "many, then few", "fractional", "fractional, then whole", "whole, of a floating type"])
def test_numbers_in_blocks_are_taken_as_those_of_one_fit(y):
    found, whole, x = in_blocks(y, 30, 30)
    assert hasattr(found, "classes_") == hasattr(whole, "classes_")
    agree(whole.transform(x), found.transform(x))


@pytest.mark.parametrize("y, sizes", [(np.arange(60) % 30, (15, 15, 30)), (np.arange(60), (15, 45))])
def test_classes_that_become_too_many_in_later_blocks_are_refused(y, sizes):
    with pytest.warns(kfe.KfeWarning), pytest.raises(ValueError, match="first blocks were taken as classes.*task='classify'.*task='regress'"):
        in_blocks(y, *sizes)


def test_a_block_that_is_refused_leaves_no_trace():
    x = np.random.default_rng(0).normal(size=(60, 3))
    model = kfe.PLS(dim=2).partial_fit(x[:30], np.arange(30) % 3)
    with pytest.raises(ValueError, match="task='classify'"), pytest.warns(kfe.KfeWarning):
        model.partial_fit(x, np.arange(60))
    model = pickle.loads(pickle.dumps(model)).partial_fit(x[30:], np.arange(30) % 3)
    agree(kfe.PLS(dim=2).fit(x, np.arange(60) % 3).transform(x), model.transform(x))


@pytest.mark.parametrize("task", ["classify", "regress"])
def test_a_task_that_is_given_holds_for_all_blocks(task):
    x, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 30
    model = kfe.PLS(dim=2, task=task)
    for part in np.array_split(np.arange(60), 4):
        model.partial_fit(x[part], y[part])
    agree(kfe.PLS(dim=2, task=task).fit(x, y).transform(x), model.transform(x))
