# SPDX-License-Identifier: Apache-2.0
"""The optima of rkopls, kb and skfe, computed again with NumPy and SciPy from the definitions alone."""
import numpy as np
import pytest

import kfe

linalg = pytest.importorskip("scipy.linalg")
RIDGES = [1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100]


def clouds(n=36, classes=2, seed=5):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 3)) + 1.2 * np.eye(3)[y], y


def rbf(X, Y, gamma=0.3):
    return np.exp(-gamma * ((X[:, None] - Y[None]) ** 2).sum(-1))


def parallel(a, b):
    """The absolute cosine of the angle between two vectors."""
    return abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.parametrize("ridge", RIDGES)
def test_rkopls_solves_its_eigenproblem(ridge):
    X, y = clouds(classes=3)
    model = kfe.ReducedKOPLS(kernel="rbf:gamma=0.3", support=12, ridge=ridge).fit(X, y)
    S = X[model.support_]
    Kr, Kss = rbf(X, S), rbf(S, S)
    Kr = Kr - Kr.mean(axis=0)
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    Y /= np.linalg.norm(Y)
    left, right = Kr.T @ Y @ Y.T @ Kr, Kr.T @ Kr + ridge * Kss
    values, vectors = linalg.eigh(left, right)
    np.testing.assert_allclose(model.criterion_, values[::-1][:len(model.criterion_)], rtol=1e-6, atol=1e-9)
    features = model.transform(X)
    assert features.shape[1] == 2
    # With three balanced classes the two eigenvalues may be close, so the test compares the spaces.
    ours, theirs = linalg.orth(features - features.mean(axis=0)), linalg.orth(Kr @ vectors[:, -2:])
    assert np.linalg.norm(ours - theirs @ (theirs.T @ ours)) < 1e-5


@pytest.mark.parametrize("loss", ["exp", "log"])
@pytest.mark.parametrize("ridge", RIDGES)
def test_kb_takes_the_leading_direction_in_every_iteration(ridge, loss):
    X, y = clouds()
    model = kfe.KernelBoosting(4, kernel="rbf:gamma=0.3", ridge=ridge, loss=loss, center=False).fit(X, y)
    features, sign = model.transform(X), np.where(y == y[0], 1, -1)
    K, Q, losses = rbf(X, X), np.zeros((len(X), len(X))), []
    for t in range(features.shape[1]):
        margin = np.outer(sign, sign) * Q
        D = np.exp(-margin) if loss == "exp" else 1 / (1 + np.exp(margin))
        losses.append(np.sum(np.exp(-margin) if loss == "exp" else np.log1p(np.exp(-margin))))
        M = D * np.outer(sign, sign)
        values, vectors = linalg.eigh(K @ M @ K, K @ K + ridge * K + 1e-12 * np.eye(len(K)))
        if values[-1] - values[-2] > 1e-6 * abs(values[-1]):
            assert parallel(features[:, t], K @ vectors[:, -1]) > 1 - 1e-5
        q = features[:, t] / np.abs(features[:, t]).max()
        agree = np.outer(sign, sign) * np.outer(q, q)
        right, wrong = np.sum(D * np.clip(agree, 0, None)), np.sum(D * np.clip(-agree, 0, None))
        step = 0.5 * np.log(right / max(wrong, right / len(X) ** 2))
        np.testing.assert_allclose(features[:, t] ** 2, step * q**2, rtol=1e-5, atol=1e-12)
        Q += np.outer(features[:, t], features[:, t])
    assert np.all(np.diff(losses) < 1e-9)


def alignment(features, y):
    """⟨XXᵀ, YYᵀ⟩ / (‖XXᵀ‖ ‖YYᵀ‖), where Y is the class indicator."""
    Y = np.eye(y.max() + 1)[y]
    return np.sum((Y.T @ features) ** 2) / np.linalg.norm(features.T @ features) / np.linalg.norm(Y.T @ Y)


def on_subspace(K, W):
    """The features of the subspace that W spans, orthonormal in feature space."""
    return K @ W @ np.real(linalg.inv(linalg.sqrtm(W.T @ K @ W)))


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
@pytest.mark.parametrize("init", ["koc", "kpca", "random"])
def test_skfe_ends_where_no_direction_raises_the_alignment(init):
    X, y = clouds(classes=3)
    K = rbf(X, X)
    model = kfe.SKFE(2, kernel="rbf:gamma=0.3", max_iter=3000, tolerance=1e-7, init=init, random_state=2).fit(X, y)
    features = model.transform(X)
    reached = alignment(features, y)
    assert reached == pytest.approx(model.alignment_path_[-1], abs=1e-8)
    W = np.linalg.lstsq(K, features, rcond=None)[0]
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(40):
        direction = rng.normal(size=W.shape)
        direction *= np.linalg.norm(W) / np.linalg.norm(direction)
        for step in (1e-3, -1e-3):
            gains.append(alignment(on_subspace(K, W + step * direction), y) - reached)
    # A gradient would show as a gain in one of the two directions.
    assert max(gains) < 1e-6


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
def test_skfe_keeps_the_best_of_its_starts():
    X, y = clouds(classes=3)
    ends = [kfe.SKFE(2, kernel="rbf:gamma=0.3", max_iter=300, restarts=restarts, random_state=4).fit(X, y)
            for restarts in (0, 3)]
    best = [alignment(model.transform(X), y) for model in ends]
    assert best[1] >= best[0] - 1e-9
