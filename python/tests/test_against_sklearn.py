# SPDX-License-Identifier: Apache-2.0
"""Methods that scikit-learn has too give the same numbers."""
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import decomposition, metrics, svm
from sklearn.cross_decomposition import PLSRegression
from sklearn.neighbors import KNeighborsClassifier

import kfe

RNG = np.random.default_rng(3)
X, NEW = RNG.normal(size=(90, 7)), RNG.normal(size=(30, 7))
Y = X @ RNG.normal(size=(7, 2)) + 0.1 * RNG.normal(size=(90, 2))


def assert_same_up_to_signs(got, expected, tolerance=1e-9):
    signs = np.sign((got * expected).sum(axis=0))
    np.testing.assert_allclose(got * signs, expected, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("kernel, options", [("rbf:gamma=0.2", dict(kernel="rbf", gamma=0.2)),
                                             ("poly:degree=2", dict(kernel="poly", degree=2, gamma=1, coef0=1)),
                                             ("linear", dict(kernel="linear")), ("cosine", dict(kernel="cosine"))])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_kpca(kernel, options, kind):
    theirs = decomposition.KernelPCA(n_components=4, eigen_solver="dense", **options).fit(X)
    ours = kfe.KPCA(dim=4, kernel=kernel).fit(kind(X))
    assert_same_up_to_signs(ours.transform(kind(NEW)), theirs.transform(NEW))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)


def test_kpca_precomputed():
    theirs = decomposition.KernelPCA(n_components=4, kernel="rbf", gamma=0.2, eigen_solver="dense").fit(X)
    ours = kfe.KPCA(dim=4, kernel="precomputed").fit(metrics.pairwise.rbf_kernel(X, gamma=0.2))
    assert_same_up_to_signs(ours.transform(metrics.pairwise.rbf_kernel(NEW, X, gamma=0.2)), theirs.transform(NEW))


def test_pca():
    theirs = decomposition.PCA(n_components=3, svd_solver="full").fit(X)
    ours = kfe.PCA(dim=3).fit(X)
    assert_same_up_to_signs(ours.transform(NEW), theirs.transform(NEW))
    assert_same_up_to_signs(ours.components_.T, theirs.components_.T)
    np.testing.assert_allclose(ours.transform(NEW), NEW @ ours.components_.T - ours.offset_, atol=1e-12)


def test_pls():
    theirs = PLSRegression(n_components=3, scale=False, tol=1e-15, max_iter=100000).fit(X, Y)
    ours = kfe.PLSRegressor(dim=3, learner="ls").fit(X, Y)
    assert_same_up_to_signs(ours.transform(NEW), theirs.transform(NEW), 1e-7)
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), atol=1e-7)
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y))


@pytest.mark.parametrize("kernel, formula, options", [
    ("linear", metrics.pairwise.linear_kernel, {}),
    ("rbf:gamma=0.3", metrics.pairwise.rbf_kernel, dict(gamma=0.3)),
    ("poly:degree=3,gamma=0.5,coef0=2", metrics.pairwise.polynomial_kernel, dict(degree=3, gamma=0.5, coef0=2)),
    ("laplacian:gamma=0.2", metrics.pairwise.laplacian_kernel, dict(gamma=0.2)),
    ("cosine", metrics.pairwise.cosine_similarity, {}),
    ("chi2:gamma=0.7", metrics.pairwise.chi2_kernel, dict(gamma=0.7)),
])
def test_kernels(kernel, formula, options):
    a, b = np.abs(X), np.abs(NEW)
    np.testing.assert_allclose(kfe.kernel_matrix(kernel, a, b), formula(a, b, **options), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kfe.kernel_matrix(kernel, sp.csr_matrix(a)), formula(a, **options), rtol=1e-12,
                               atol=1e-13)


def test_learners(iris):
    x, y = iris
    ours = kfe.NoExtractionClassifier(kernel="rbf:gamma=0.5", learner="svm", learner_params={"C": 2, "multiclass": "ovo"})
    theirs = svm.SVC(kernel="rbf", gamma=0.5, C=2).fit(x, y)
    np.testing.assert_array_equal(ours.fit(x, y).predict(x), theirs.predict(x))
    ours, theirs = kfe.NoExtractionClassifier(learner="knn:neighbors=5"), KNeighborsClassifier(5).fit(x[::2], y[::2])
    np.testing.assert_array_equal(ours.fit(x[::2], y[::2]).predict(x[1::2]), theirs.predict(x[1::2]))


def test_two_class_margins(clouds):
    x, y = clouds
    theirs = svm.SVC(kernel="rbf", gamma=0.5, C=2, tol=1e-6).fit(x, y)
    ours = kfe.NoExtractionClassifier(kernel="rbf:gamma=0.5", learner="svm:C=2,stop=1e-6").fit(x, y)
    np.testing.assert_allclose(ours.decision_function(x), theirs.decision_function(x), atol=1e-4)
