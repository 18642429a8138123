# SPDX-License-Identifier: Apache-2.0
"""Partial least squares with one and with several targets against scikit-learn, whose weights have norm one and
whose deflation is Wold's, like ours."""
import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.cross_decomposition import PLSRegression

# scikit-learn uses a power iteration that stops when the squared change of the weights falls below its tolerance.
TOLERANCE = 1e-7


def problem(rows, cols, targets, seed=0):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(rows, 4)) * [4, 3, 2, 1]
    x = hidden @ random.normal(size=(4, cols)) + 0.3 * random.normal(size=(rows, cols)) + 5
    y = hidden @ random.normal(size=(4, targets)) + 0.2 * random.normal(size=(rows, targets)) - 2
    return x, y


def up_to_sign(got, expected):
    return got * np.sign(np.sum(got * expected, axis=0))


@pytest.mark.parametrize("rows, cols, targets", [(50, 8, 1), (50, 8, 3), (30, 60, 1), (30, 60, 2)])
def test_scores(kfe, rows, cols, targets):
    x, y = problem(rows, cols, targets)
    new = problem(20, cols, targets, seed=1)[0]
    theirs = PLSRegression(n_components=4, scale=False, tol=1e-15, max_iter=100000).fit(x, y)
    train, test = kfe.features("pls", "dim=4", None, x, x, new, targets=y)
    size = np.abs(theirs.x_scores_).max()
    assert np.abs(up_to_sign(train, theirs.x_scores_) - theirs.x_scores_).max() < TOLERANCE * size
    signs = np.sign(np.sum(train * theirs.x_scores_, axis=0))
    assert np.abs(test * signs - theirs.transform(new)).max() < TOLERANCE * size


def test_kernel_form(kfe):
    """With a linear kernel the dual form equals the primal form."""
    x, y = problem(40, 6, 2)
    theirs = PLSRegression(n_components=3, scale=False, tol=1e-15, max_iter=100000).fit(x, y)
    (dual,) = kfe.features("kpls", "dim=3", "linear", x, x, targets=y)
    size = np.abs(theirs.x_scores_).max()
    assert np.abs(up_to_sign(dual, theirs.x_scores_) - theirs.x_scores_).max() < TOLERANCE * size
