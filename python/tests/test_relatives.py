# SPDX-License-Identifier: Apache-2.0
"""gkdr, lfda, klfda, opls, kopls2 and spls against their papers' formulas, written again with NumPy, and on planted data."""
import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import kfe


def same_up_to_signs(got, expected, tolerance=1e-7):
    assert got.shape == expected.shape
    signs = np.sign((got * expected).sum(axis=0))
    np.testing.assert_allclose(got * signs, expected, atol=tolerance * np.abs(expected).max())


def angle(a, b):
    """The largest principal angle between two column spans, in degrees."""
    return np.degrees(scipy.linalg.subspace_angles(a, b).max())


SIX_DECADES = [1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3]
UNITS = [1e-3, 1, 1e3]

# ---- gkdr ----

def gradient_matrix(x, h, gamma, ridge):
    """The matrix of Fukumizu & Leng with the kernel matrix h on the targets, centred, by its formula."""
    k = np.exp(-gamma * cdist(x, x, "sqeuclidean"))
    inverse, centring = np.linalg.inv(k + ridge * np.eye(len(x))), np.eye(len(x)) - 1 / len(x)
    middle = inverse @ centring @ h @ centring @ inverse
    total = 0
    for j in range(len(x)):
        nabla = -2 * gamma * k[:, [j]] * (x[j] - x)  # row i: the gradient of k(x_i, ·) at x_j
        total = total + nabla.T @ middle @ nabla
    return total / len(x)


@pytest.mark.parametrize("ridge", SIX_DECADES)
def test_gkdr_is_its_formula(ridge):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(80, 5))
    y = np.column_stack([np.sin(x[:, 0] + x[:, 1]), x[:, 2] ** 2])
    y = (y - y.mean(axis=0)) / y.std(axis=0)
    for label_kernel, h in (("linear", y @ y.T), ("rbf:gamma=0.7", np.exp(-0.7 * cdist(y, y, "sqeuclidean")))):
        values, vectors = np.linalg.eigh(gradient_matrix(x, h, 0.3, ridge))
        ours = kfe.GKDR(dim=3, kernel="rbf:gamma=0.3", iterations=1, ridge=ridge, label_kernel=label_kernel).fit(x, y)
        same_up_to_signs(ours.transform(x), x @ vectors[:, ::-1][:, :3])
        np.testing.assert_allclose(ours.eigenvalues_, values[::-1][:3], rtol=1e-8)


def test_gkdr_finds_what_changes_only_the_spread():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(800, 6))
    y = np.exp(x @ [0.8, -0.6, 0, 0, 0, 0]) * rng.normal(size=800)
    planted = np.array([[0.8, -0.6, 0, 0, 0, 0]]).T
    for label_kernel, right in (("linear", False), ("rbf:gamma=median", True)):
        ours = kfe.GKDR(dim=1, label_kernel=label_kernel, iterations=3).fit(x, y)
        found = np.linalg.lstsq(x, ours.transform(x), rcond=None)[0]
        assert (angle(found, planted) < 15) == right
    with pytest.raises(ValueError, match="kernel sigmoid cannot be a label kernel"):
        kfe.GKDR(label_kernel="sigmoid").fit(x, y)


@pytest.mark.parametrize("iterations", ["auto", 1, 4])
def test_gkdr_finds_a_planted_plane(iterations):
    rng = np.random.default_rng(2)
    plane = np.linalg.qr(rng.normal(size=(12, 2)))[0]
    x = rng.normal(size=(600, 12))
    z = x @ plane
    y = z[:, 0] + z[:, 1] ** 2 + 0.1 * rng.normal(size=600)
    ours = kfe.GKDR(dim=2, iterations=iterations).fit(x, y)
    found = np.linalg.lstsq(x, ours.transform(x), rcond=None)[0]
    assert angle(found, plane) < (10 if iterations == 1 else 5)


def fifty_columns(n, seed=0):
    rng = np.random.default_rng(seed)
    plane = np.linalg.qr(rng.normal(size=(50, 2)))[0]
    x = rng.normal(size=(n, 50))
    target = x @ plane[:, 0] + (x @ plane[:, 1]) ** 2
    return x, target + 0.1 * target.std() * rng.normal(size=n), plane


def test_gkdr_walks_down_to_a_plane_in_many_columns():
    """One step misses it by more than 25 degrees: its regression is fitted in all columns."""
    x, y, plane = fifty_columns(500)
    assert angle(kfe.GKDR(dim=2, iterations=1).fit(x, y).components_.T, plane) > 25
    ours = kfe.GKDR(dim=2).fit(x, y)
    assert angle(ours.components_.T, plane) < 20
    assert ours.steps_ == 8 and ours.width_ in (1, 1.75)


def test_gkdr_finds_a_plane_in_fifty_columns_to_a_hundredth():
    """2,000 rows: the cosine of the largest angle is above 0.99, where one step stays below."""
    rng = np.random.default_rng(200)
    plane = np.linalg.qr(rng.normal(size=(50, 2)))[0]
    x = rng.normal(size=(2000, 50))
    target = np.sin(x @ plane[:, 0]) + (x @ plane[:, 1]) ** 2
    y = target + 0.1 * target.std() * rng.normal(size=2000)
    one, ours = (np.cos(np.radians(angle(kfe.GKDR(dim=2, iterations=steps).fit(x, y).components_.T, plane))) for steps in (1, "auto"))
    assert one < 0.99 < ours


def test_gkdr_takes_one_step_where_more_do_not_pay():
    """The target depends on all columns alike, so that no direction may be left out before the end."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(80, 3))
    ours = kfe.GKDR(dim=3).fit(x, (x ** 2).sum(axis=1))
    assert ours.steps_ == 1


def test_gkdr_does_not_depend_on_the_order_of_rows_or_on_offsets():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(80, 6))
    y = np.sin(x[:, 0] + x[:, 1]) + x[:, 2] ** 2 + 0.1 * rng.normal(size=80)
    order = rng.permutation(80)
    found = kfe.GKDR(dim=2, scale="none").fit(x, y).components_.T
    assert angle(kfe.GKDR(dim=2, scale="none").fit(x[order], y[order]).components_.T, found) < 1e-4
    assert angle(kfe.GKDR(dim=2, scale="none").fit(x + 100, y).components_.T, found) < 1e-4


def test_gkdr_keeps_a_width_that_was_given():
    x, y, _ = fifty_columns(300)
    assert kfe.GKDR(dim=2, kernel="rbf:gamma=0.02").fit(x, y).width_ == 1


# ---- lfda and klfda ----

def local_scatters(f, y, neighbours=7):
    """Within- and between-class scatter of Sugiyama (2007), by sums over pairs."""
    n, distances = len(f), cdist(f, f)
    within, between = 0, 0
    width = np.empty(n)
    for i in range(n):
        mates = np.sort(distances[i, y == y[i]])
        width[i] = mates[min(neighbours, len(mates) - 1)]
    for i in range(n):
        for j in range(n):
            size = (y == y[i]).sum()
            affinity = np.exp(-distances[i, j] ** 2 / (width[i] * width[j])) if y[i] == y[j] else 0
            outer = np.outer(f[i] - f[j], f[i] - f[j]) / 2
            within = within + affinity / size * outer
            between = between + (affinity * (1 / n - 1 / size) if y[i] == y[j] else 1 / n) * outer
    return within, between


def local_fisher(f, y, ridge, dim):
    within, between = local_scatters(f, y)
    values, vectors = scipy.linalg.eigh(between, within + ridge * np.eye(f.shape[1]))
    return values[::-1][:dim], f @ vectors[:, ::-1][:, :dim]


def three_classes(seed=3, n=60, d=4):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, d)) + 1.5 * np.eye(3, d)[y], y


@pytest.mark.parametrize("ridge", SIX_DECADES)
def test_lfda_is_its_definition(ridge):
    x, y = three_classes()
    values, expected = local_fisher(x - x.mean(axis=0), y, ridge, 3)
    ours = kfe.LFDA(dim=3, ridge=ridge).fit(x, y)
    same_up_to_signs(ours.transform(x), expected)
    np.testing.assert_allclose(ours.criterion_, values, rtol=1e-8)


@pytest.mark.parametrize("ridge", SIX_DECADES)
def test_klfda_is_lfda_in_feature_space(ridge):
    x, y = three_classes()
    k = np.exp(-0.2 * cdist(x, x, "sqeuclidean"))
    p = np.eye(len(x)) - 1 / len(x)
    values, vectors = np.linalg.eigh(p @ k @ p)
    keep = values > 1e-10
    _, expected = local_fisher(vectors[:, keep] * np.sqrt(values[keep]), y, ridge, 2)
    same_up_to_signs(kfe.KLFDA(dim=2, ridge=ridge, kernel="rbf:gamma=0.2").fit(x, y).transform(x), expected, 1e-6)
    linear = kfe.KLFDA(dim=2, ridge=ridge, kernel="linear").fit(x, y).transform(x)
    same_up_to_signs(linear, kfe.LFDA(dim=2, ridge=ridge).fit(x, y).transform(x), 1e-6)


def multimodal(seed, n=200):
    """The first class lies on both sides of the second along the first column; the others are noise of larger variance."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 5)) * [0.5, 3, 3, 3, 3]
    x[:, 0] += np.where(y == 0, 4 * rng.choice([-1, 1], n), 0)
    return x, y


def neighbour_error(train, y, test, truth):
    return (y[cdist(test, train).argmin(axis=1)] != truth).mean()


def test_local_discriminants_keep_classes_of_several_clusters():
    (x, y), (new, truth) = multimodal(4), multimodal(5)
    errors = {}
    for name, method in [("lfda", kfe.LFDA(dim=1, ridge="thousandth")), ("klfda", kfe.KLFDA(dim=1, ridge="thousandth", kernel="linear")),
                         ("kfd", kfe.KFD(dim=1, kernel="linear"))]:
        method.fit(x, y)
        errors[name] = neighbour_error(method.transform(x), y, method.transform(new), truth)
    assert errors["lfda"] < 0.05 and errors["klfda"] < 0.05 and errors["kfd"] > 0.2


def test_classes_that_are_single_points():
    """The scatter within classes is rounding error; the ridge is taken from the scatter between them."""
    x, y = np.repeat(np.random.default_rng(9).normal(size=(3, 4)), 10, axis=0), np.repeat(np.arange(3), 10)
    for method in (kfe.LFDA(dim=2), kfe.KLFDA(dim=2), kfe.KLFDA(dim=2, kernel="linear")):
        f = method.fit(x, y).transform(x)
        assert np.isfinite(f).all() and np.linalg.matrix_rank(f[::10] - f[0]) == 2


# ---- opls and kopls2 ----

def opls(x, y, orthogonal):
    """O-PLS of Trygg & Wold (2002) for one target: predictive scores of the filtered data, then orthogonal scores."""
    e, y = x - x.mean(axis=0), y - y.mean()
    w = e.T @ y / np.linalg.norm(e.T @ y)
    scores = []
    for _ in range(orthogonal):
        t = e @ w
        p = e.T @ t / (t @ t)
        w_o = p - (w @ p) * w
        w_o /= np.linalg.norm(w_o)
        t_o = e @ w_o
        e = e - np.outer(t_o, e.T @ t_o / (t_o @ t_o))
        scores.append(t_o)
    return np.column_stack([e @ w, *scores])


def kopls(k, y, predictive, orthogonal):
    """K-OPLS as in Rantalainen et al. (2007): deflates the kernel matrix from both sides. Returns scores up to their scale."""
    p = np.eye(len(k)) - 1 / len(k)
    k, y = p @ k @ p, y - y.mean(axis=0)
    first, scores = k, []
    c, s, _ = np.linalg.svd(y.T @ k @ y)
    u, s = y @ c[:, :predictive], s[:predictive]
    right = np.eye(len(k))  # what the one-sided deflation multiplies with
    t = first.T @ u / np.sqrt(s)
    for _ in range(orthogonal):
        inner = t.T @ (k - t @ t.T) @ t
        c_o, s_o, _ = np.linalg.svd(inner)
        t_o = (k - t @ t.T) @ t @ c_o[:, 0] / np.sqrt(s_o[0])
        t_o /= np.linalg.norm(t_o)
        q = np.eye(len(k)) - np.outer(t_o, t_o)
        right, k = right @ q, q @ k @ q
        t = (first @ right).T @ u / np.sqrt(s)
        scores.append(t_o)
    return np.column_stack([t, *scores])


def spectra(seed=6, n=50, d=8):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 3))
    x = hidden @ rng.normal(size=(3, d)) + 0.2 * rng.normal(size=(n, d)) + 3
    return x, hidden[:, 0] + 0.1 * rng.normal(size=n), np.column_stack([hidden[:, 0], hidden[:, 1] ** 2])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("orthogonal", [0, 1, 3])
def test_opls_is_the_algorithm_of_the_paper(orthogonal, unit):
    x, y, _ = spectra()
    x = unit * x
    same_up_to_signs(kfe.OPLS(orthogonal=orthogonal).fit(x, y).transform(x), opls(x, y, orthogonal))


def test_kopls2_with_a_linear_kernel_is_opls():
    x, y, two = spectra()
    for target in (y, two):
        same_up_to_signs(kfe.KOPLS2(orthogonal=2, kernel="linear").fit(x, target).transform(x),
                         kfe.OPLS(orthogonal=2).fit(x, target).transform(x))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("predictive", [1, 2])
def test_kopls2_is_the_algorithm_of_the_paper(predictive, unit):
    x, _, two = spectra()
    two = unit * two
    k = np.exp(-0.05 * cdist(x, x, "sqeuclidean"))
    ours = kfe.KOPLS2(predictive=predictive, orthogonal=2, kernel="rbf:gamma=0.05").fit(x, two).transform(x)
    theirs = kopls(k, two, predictive, 2)
    same_up_to_signs(ours / np.linalg.norm(ours, axis=0), theirs / np.linalg.norm(theirs, axis=0), 1e-6)


def test_orthogonal_features_do_not_covary_with_the_target():
    x, y, _ = spectra()
    f = kfe.OPLS(orthogonal=3).fit(x, y).transform(x)
    assert np.abs(f[:, 1:].T @ (y - y.mean())).max() < 1e-9 * np.linalg.norm(f) * np.linalg.norm(y)


@pytest.mark.parametrize("value", [0, 1, 0.1, 1e6 / 3])
def test_constant_data_is_refused(value):
    """The mean of equal numbers differs from them by rounding, which must not become a feature."""
    x, y = np.full((30, 4), value), np.arange(30) % 3
    for method in (kfe.OPLS(), kfe.LFDA(), kfe.KOPLS2(kernel="linear")):
        with pytest.raises(kfe.InputError):
            method.fit(x, y)
    varied = np.column_stack([x, np.random.default_rng(0).normal(size=30)])
    assert np.isfinite(kfe.OPLS(orthogonal=0).fit(varied, y).transform(varied)).all()


def test_planted_interference_is_filtered():
    """A strong component that has nothing to do with the target leaves the predictive feature."""
    rng = np.random.default_rng(7)
    signal, interference = rng.normal(size=200), 5 * rng.normal(size=200)
    x = np.outer(signal, [1, 1, 0, 0]) + np.outer(interference, [1, 0, 1, 1]) + 0.05 * rng.normal(size=(200, 4))
    plain, filtered = (kfe.OPLS(orthogonal=o).fit(x, signal).transform(x)[:, 0] for o in (0, 1))
    assert abs(np.corrcoef(plain, signal)[0, 1]) < 0.9 and abs(np.corrcoef(filtered, signal)[0, 1]) > 0.99


# ---- spls ----

def sparse_pls(x, y, keep, dim):
    """Sparse PLS of Lê Cao et al.: soft-thresholded directions, regression deflation; scores of unit directions on deflated data."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    scores = []
    for _ in range(dim):
        c = x.T @ y

        def shrink(a):
            limit = np.sort(np.abs(a))[::-1][keep] if keep < len(a) else 0
            a = np.sign(a) * np.maximum(np.abs(a) - limit, 0)
            return a / np.linalg.norm(a)

        u = shrink(np.linalg.svd(c)[0][:, 0])
        for _ in range(2000 if y.shape[1] > 1 else 0):
            v = c.T @ u
            u = shrink(c @ (v / np.linalg.norm(v)))
        t = x @ u
        x = x - np.outer(t, x.T @ t / (t @ t))
        y = y - np.outer(t, y.T @ t / (t @ t))
        scores.append(t)
    return np.column_stack(scores)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_spls_is_the_algorithm_of_the_paper(columns, kind, unit):
    x, _, two = spectra(d=20)
    x = unit * x
    y = two[:, :columns]
    ours = kfe.SparsePLS(dim=2, keep=5).fit(kind(x), y)
    theirs = sparse_pls(x, y, 5, 2)
    same_up_to_signs(ours.transform(kind(x)), theirs, 1e-6)
    used = (np.abs(ours.components_) > 0).any(axis=0).sum()
    assert used <= 10 and used == ours.columns_used_


def test_spls_that_keeps_all_is_pls():
    x, y, _ = spectra()
    same_up_to_signs(kfe.SparsePLS(dim=3, keep="all").fit(x, y).transform(x), kfe.PLS(dim=3).fit(x, y).transform(x))


def test_spls_says_when_a_direction_has_not_settled():
    def fit(seed):
        rng = np.random.default_rng(seed)
        return kfe.SparsePLS(dim=3, keep=15).fit(rng.normal(size=(40, 30)), rng.normal(size=(40, 4)))

    with pytest.warns(kfe.KfeWarning, match="spls: a direction still changes by"):
        assert fit(18).last_change_ > 1e-10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit(3).last_change_ < 1e-10


def test_spls_finds_the_genes_that_matter():
    rng = np.random.default_rng(8)
    y = np.arange(60) % 3
    x = rng.normal(size=(60, 500))
    x[:, :6] += 3 * np.repeat(np.eye(3), 2, axis=1)[y]
    ours = kfe.SparsePLS(dim=2, keep=4).fit(x, y)
    assert set(np.flatnonzero(np.abs(ours.components_).max(axis=0))) <= set(range(6))
