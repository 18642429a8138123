# SPDX-License-Identifier: Apache-2.0
"""Kernels, kernel PCA and PCA against scikit-learn, on dense and sparse data."""
import os
import subprocess

import numpy as np
import pytest

pytest.importorskip("sklearn")
import scipy.sparse
from sklearn import gaussian_process
from sklearn.decomposition import PCA, KernelPCA
from sklearn.metrics import pairwise

from libkfe import Failure


def make(seed, rows, cols, nonnegative=False):
    """Half of the entries are zero; one row is all zeros and one row is repeated."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, cols)) * (rng.random((rows, cols)) < 0.5)
    x[1], x[2] = 0, x[0]
    return np.abs(x) if nonnegative else x


def intersection(x, y):
    return np.minimum(x[:, None, :], y[None, :, :]).sum(axis=2)


KERNELS = [
    ("linear", pairwise.linear_kernel, {}, False),
    ("poly:degree=3,gamma=0.5,coef0=2", pairwise.polynomial_kernel, dict(degree=3, gamma=0.5, coef0=2), False),
    ("rbf:gamma=0.3", pairwise.rbf_kernel, dict(gamma=0.3), False),
    ("rbf:gamma=auto", pairwise.rbf_kernel, {}, False),
    ("laplacian:gamma=0.2", pairwise.laplacian_kernel, dict(gamma=0.2), False),
    ("laplacian", pairwise.laplacian_kernel, {}, False),
    ("exp:sigma=1.5", lambda x, y: gaussian_process.kernels.Matern(1.5, nu=0.5)(x, y), {}, False),
    ("matern:sigma=1.5", lambda x, y: gaussian_process.kernels.Matern(1.5, nu=1.5)(x, y), {}, False),
    ("matern:sigma=1.5,nu=2.5", lambda x, y: gaussian_process.kernels.Matern(1.5, nu=2.5)(x, y), {}, False),
    ("cosine", pairwise.cosine_similarity, {}, False),
    ("sigmoid:gamma=0.1,coef0=0.5", pairwise.sigmoid_kernel, dict(gamma=0.1, coef0=0.5), False),
    ("sigmoid:coef0=1", pairwise.sigmoid_kernel, {}, False),
    ("chi2:gamma=0.7", pairwise.chi2_kernel, dict(gamma=0.7), True),
    ("chi2", pairwise.chi2_kernel, {}, True),
    ("intersection", intersection, {}, True),
]


@pytest.mark.parametrize("rows_kind", ["dense", "csr"])
@pytest.mark.parametrize("columns_kind", ["dense", "csr"])
@pytest.mark.parametrize("kernel, formula, options, nonnegative", KERNELS, ids=[k[0] for k in KERNELS])
def test_kernel(kfe, kernel, formula, options, nonnegative, rows_kind, columns_kind):
    x, y = make(1, 133, 11, nonnegative), make(2, 517, 11, nonnegative)
    kinds = {"dense": lambda m: m, "csr": scipy.sparse.csr_matrix}
    got = kfe.kernel_matrix(kernel, kinds[rows_kind](x), kinds[columns_kind](y))
    expected = formula(x, y, **options)
    # both sides round: a few dozen operations on numbers of this size
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("kernel, formula, options, nonnegative", KERNELS, ids=[k[0] for k in KERNELS])
def test_kernel_with_itself(kfe, kernel, formula, options, nonnegative):
    x = make(3, 200, 7, nonnegative)
    got = kfe.kernel_matrix(kernel, scipy.sparse.csr_matrix(x))
    expected = formula(x, x, **options)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13 * np.abs(expected).max())


def test_gamma_scale_is_that_of_sklearn_on_centred_columns(kfe):
    """sklearn.svm has 1 / (columns · variance of all entries), which constants added to columns change."""
    x = make(4, 60, 5)
    expected = pairwise.rbf_kernel(x, gamma=1 / (x.shape[1] * (x - x.mean(axis=0)).var()))
    np.testing.assert_allclose(kfe.kernel_matrix("rbf:gamma=scale", x), expected, rtol=1e-12)


def test_messages_come_through(kfe):
    with pytest.raises(Failure, match="did you mean 'rbf'"):
        kfe.kernel_matrix("rbfs", make(5, 4, 2))


def assert_equal_up_to_sign(got, expected, tolerance):
    assert got.shape == expected.shape
    signs = np.sign((got * expected).sum(axis=0))
    np.testing.assert_allclose(got * signs, expected, atol=tolerance * np.abs(expected).max())


KPCA = [
    ("rbf:gamma=0.2", dict(kernel="rbf", gamma=0.2)),
    ("poly:degree=2,gamma=0.5,coef0=1", dict(kernel="poly", degree=2, gamma=0.5, coef0=1)),
    ("linear", dict(kernel="linear")),
    ("cosine", dict(kernel="cosine")),
]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("kernel, options", KPCA, ids=[k[0] for k in KPCA])
def test_kernel_pca(kfe, kernel, options, sparse):
    train, new = make(6, 150, 8), make(7, 40, 8)
    oracle = KernelPCA(n_components=4, eigen_solver="dense", **options).fit(train)
    kind = scipy.sparse.csr_matrix if sparse else np.asarray
    got_train, got_new = kfe.features("kpca", "dim=4", kernel, kind(train), kind(train), kind(new))
    assert_equal_up_to_sign(got_train, oracle.transform(train), 1e-9)
    assert_equal_up_to_sign(got_new, oracle.transform(new), 1e-9)


@pytest.mark.parametrize("shape", [(150, 8), (20, 60)], ids=["tall", "wide"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
def test_pca(kfe, shape, sparse):
    train, new = make(8, *shape) + (0 if sparse else 3), make(9, 30, shape[1])
    oracle = PCA(n_components=4, svd_solver="full").fit(train)
    kind = scipy.sparse.csr_matrix if sparse else np.asarray
    got_train, got_new = kfe.features("pca", "dim=4", None, kind(train), kind(train), kind(new))
    assert_equal_up_to_sign(got_train, oracle.transform(train), 1e-9)
    assert_equal_up_to_sign(got_new, oracle.transform(new), 1e-9)


def test_kernel_pca_on_the_command_line(tmp_path):
    """The same through files: numbers survive writing and reading."""
    train, new = make(10, 80, 6), make(11, 25, 6)
    np.save(tmp_path / "train.npy", train)
    np.savetxt(tmp_path / "new.csv", new, delimiter=",", fmt="%.17g")

    def run(*arguments):
        subprocess.run([os.environ["KFE"], *arguments], cwd=tmp_path, check=True, timeout=300)

    run("fit", "-q", "-m", "kpca", "--dim", "3", "-k", "rbf:gamma=0.1", "--label", "none", "train.npy", "-o",
        "m.kfe")
    run("transform", "-q", "m.kfe", "new.csv", "--label", "none", "-o", "z.npy")
    oracle = KernelPCA(n_components=3, kernel="rbf", gamma=0.1, eigen_solver="dense").fit(train)
    assert_equal_up_to_sign(np.load(tmp_path / "z.npy"), oracle.transform(new), 1e-9)
