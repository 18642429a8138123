# SPDX-License-Identifier: Apache-2.0
"""Landmarks: the approximation computed again with NumPy from the model's landmarks, and where the argument may stand."""
import numpy as np
import pytest

import kfe

RULES = ["rpcholesky", "random", "sma", "kmeans"]
GAMMA = 0.3


def clouds(n=120, classes=3, seed=5):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[y], y


def rbf(X, Y):
    return np.exp(-GAMMA * ((X[:, None] - Y[None]) ** 2).sum(-1))


def approximation(X, support):
    """C W⁺ Cᵀ for these landmarks."""
    return rbf(X, X[support]) @ np.linalg.pinv(rbf(X[support], X[support]), hermitian=True) @ rbf(X[support], X)


@pytest.mark.parametrize("rule", RULES)
def test_features_without_a_method_have_the_products_of_the_approximation(rule):
    X, _ = clouds()
    model = kfe.NoExtraction(kernel=f"rbf:gamma={GAMMA}", landmarks=15, landmark_by=rule, scale="none").fit(X)
    Z = model.transform(X)
    assert len(model.support_) == len(set(model.support_)) == 15
    assert np.allclose(Z @ Z.T, approximation(X, model.support_), atol=1e-9)
    left = 1 - np.trace(approximation(X, model.support_)) / len(X)
    assert model.landmark_trace_left_[0] == pytest.approx(left, abs=1e-9)


def test_kpca_has_the_eigenvectors_of_the_approximation():
    X, _ = clouds()
    model = kfe.KPCA(dim=4, kernel=f"rbf:gamma={GAMMA}", landmarks=20, scale="none").fit(X)
    P = np.eye(len(X)) - 1 / len(X)
    values, vectors = np.linalg.eigh(P @ approximation(X, model.support_) @ P)
    assert np.allclose(model.eigenvalues_, values[:-5:-1])
    expected = vectors[:, :-5:-1] * np.sqrt(values[:-5:-1])
    got = model.transform(X)
    assert np.allclose(np.abs(expected.T @ got), np.diag(values[:-5:-1]), atol=1e-7)


def test_kernel_ridge_regression_on_landmarks():
    X, _ = clouds()
    y = np.sin(X[:, 0]) + X[:, 1]
    model = kfe.HSICRegressor(kernel=f"rbf:gamma={GAMMA}", landmarks=30, scale="none", learner="ls").fit(X, y)
    assert len(model.support_) <= 30
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("estimator", [kfe.KFD, kfe.KPCA, kfe.KPLS, kfe.SMA])
def test_a_given_matrix_has_the_same_landmarks_in_any_order(estimator):
    """Its rows are other content than the points; with all examples as landmarks it gives what its kernel gives."""
    X, y = clouds()
    K, order = rbf(X, X), np.random.default_rng(3).permutation(len(X))
    given = estimator(kernel="precomputed", landmarks=12).fit(K, y)
    mixed = estimator(kernel="precomputed", landmarks=12).fit(K[order][:, order], y[order])
    assert set(order[mixed.support_]) == set(given.support_)
    same_up_to_sign(mixed.transform(K[:, order]), given.transform(K))
    mine = estimator(kernel=f"rbf:gamma={GAMMA}", landmarks=len(X), scale="none").fit(X, y)
    given = estimator(kernel="precomputed", landmarks=len(X)).fit(K, y)
    same_up_to_sign(mine.transform(X), given.transform(K))


def same_up_to_sign(a, b):
    assert a.shape == b.shape
    assert np.allclose(a * np.sign((a * b).sum(axis=0)), b, atol=1e-7)


def test_sparse_rows_and_strings():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = clouds()
    X[np.abs(X) < 0.7] = 0
    dense = kfe.KFD(kernel=f"rbf:gamma={GAMMA}", landmarks=15, scale="none").fit(X, y)
    csr = kfe.KFD(kernel=f"rbf:gamma={GAMMA}", landmarks=15, scale="none").fit(sparse.csr_matrix(X), y)
    assert np.allclose(dense.transform(X), csr.transform(sparse.csr_matrix(X)), atol=1e-7)
    words = [("ab" if i % 2 else "ba") * (1 + i % 5) + "c" * (i % 3) for i in range(40)]
    model = kfe.KFD(kernel="spectrum:length=2", landmarks=8).fit(words, [i % 2 for i in range(40)])
    assert model.transform(words).shape == (40, 1) and len(model.support_) <= 8


def test_several_kernels_on_views():
    X, y = clouds()
    views = {"left": X[:, :2], "right": X[:, 2:]}
    model = kfe.MKLClassifier(kernel={"left": "rbf", "right": "rbf"}, landmarks=40).fit(views, y)
    exact = kfe.MKLClassifier(kernel={"left": "rbf", "right": "rbf"}).fit(views, y)
    assert len(model.support_) <= 40
    assert abs(model.score(views, y) - exact.score(views, y)) < 0.05


@pytest.mark.parametrize("learner", ["svm", "ls", "knn"])
def test_learners_on_the_kernel(learner):
    X, y = clouds()
    model = kfe.NoExtractionClassifier(kernel=f"rbf:gamma={GAMMA}", landmarks=30, learner=learner).fit(X, y)
    exact = kfe.NoExtractionClassifier(kernel=f"rbf:gamma={GAMMA}", learner="svm").fit(X, y)
    assert model.score(X, y) > exact.score(X, y) - 0.05


def test_svm_on_all_landmarks_is_the_svm_on_the_kernel():
    X, y = clouds(60, 2)
    exact = kfe.NoExtractionClassifier(kernel=f"rbf:gamma={GAMMA}", learner="svm", scale="none").fit(X, y)
    model = kfe.NoExtractionClassifier(kernel=f"rbf:gamma={GAMMA}", learner="svm", scale="none", landmarks=60).fit(X, y)
    assert np.allclose(model.decision_function(X), exact.decision_function(X), atol=1e-2)


def test_search_over_the_number_of_landmarks():
    X, y = clouds()
    result = kfe.cv(kfe.KFDClassifier(learner="centroid", n_threads=1), X, y, grid={"landmarks": [5, 40]}, folds=3)
    assert "landmarks" in str(result)
    both = kfe.compare([kfe.KFDClassifier(learner="centroid", landmarks=20), kfe.KPCAClassifier(learner="centroid", landmarks=20)],
                       X, y, folds=3)
    assert "kfd" in str(both) and "kpca" in str(both)


def test_what_is_refused():
    X, y = clouds()
    with pytest.raises(kfe.InvalidArgumentError, match="landmarks"):
        kfe.KFD(landmarks=0).fit(X, y)
    with pytest.raises(kfe.InvalidArgumentError, match="linear"):
        kfe.PCA(landmarks=5).fit(X)
    with pytest.raises(kfe.InvalidArgumentError, match="there is no kernel"):
        kfe.NoExtraction(landmarks=5).fit(X)
    with pytest.raises(kfe.MemoryLimitError, match="landmarks"):
        kfe.KFD(landmarks=2000, gram="f64", memory="5M").fit(*clouds(4000))
