# SPDX-License-Identifier: Apache-2.0
"""kcca and kgcca against generalized eigenproblems of SciPy and classical canonical correlation, and on planted data."""
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.cross_decomposition import CCA

import kfe

GAMMAS = {"a": 0.2, "b": 0.1, "c": 0.3}


def make_views(n=90, seed=3):
    """Three tables that share two hidden signals."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2))
    return {
        "a": np.column_stack([np.sin(hidden[:, 0]), hidden[:, 1], rng.normal(size=n)]) + 0.3 * rng.normal(size=(n, 3)),
        "b": np.column_stack([hidden[:, 0] ** 3, hidden.sum(axis=1)]) + 0.3 * rng.normal(size=(n, 2)),
        "c": np.column_stack([hidden[:, 1] - hidden[:, 0], rng.normal(size=(n, 2))]) + 0.3 * rng.normal(size=(n, 3)),
    }


def part(views, names):
    return {name: views[name] for name in names}


def kernels_of(names):
    return {name: f"rbf:gamma={GAMMAS[name]}" for name in names}


class Centred:
    """The centred kernel matrix of a view on coordinates orthogonal to the vector of ones, where it is positive definite."""

    def __init__(self, name, x, ridge):
        n = len(x)
        self.x, self.gamma = x, GAMMAS[name]
        self.centring = np.eye(n) - 1 / n
        self.raw = np.exp(-self.gamma * cdist(x, x, "sqeuclidean"))
        self.full = self.centring @ self.raw @ self.centring
        self.basis = scipy.linalg.null_space(np.ones((1, n)))
        self.k = self.basis.T @ self.full @ self.basis
        self.ridge = ridge * np.trace(self.full)

    def features(self, alpha, new):
        """Of new points, for coefficients alpha in the coordinates of `basis`."""
        rows = np.exp(-self.gamma * cdist(new, self.x, "sqeuclidean")) - self.raw.mean(axis=0)
        return rows @ self.basis @ alpha


def pairs_by_scipy(parts, dim):
    """The eigenproblem of Bach and Jordan as it is written: Σ_u≠v K_u K_v against K_v² + ridge·K_v."""
    sizes = [len(p.k) for p in parts]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    left, right = np.zeros((starts[-1],) * 2), np.zeros((starts[-1],) * 2)
    for u, p in enumerate(parts):
        rows = slice(starts[u], starts[u + 1])
        right[rows, rows] = p.k @ p.k + p.ridge * p.k + 1e-13 * np.trace(p.k) ** 2 * np.eye(len(p.k))  # rounding
        for v, q in enumerate(parts):
            if u != v:
                left[rows, starts[v]:starts[v + 1]] = p.k @ q.k
    values, vectors = scipy.linalg.eigh(left, right)
    order = np.argsort(values)[::-1][:dim]
    scale = np.sqrt(len(parts) * len(parts[0].x))
    return values[order], [scale * vectors[starts[v]:starts[v + 1], order] for v in range(len(parts))]


def same_up_to_signs(got, expected, tolerance=1e-6):
    assert got.shape == expected.shape
    signs = np.sign((got * expected).sum(axis=0))
    np.testing.assert_allclose(got * signs, expected, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_kcca_is_the_generalized_eigenproblem(names):
    views, new = part(make_views(), names), part(make_views(25, seed=4), names)
    parts = [Centred(name, views[name], 0.01) for name in names]
    values, alphas = pairs_by_scipy(parts, 3)
    ours = kfe.KCCA(dim=3, ridge=0.01, kernel=kernels_of(names)).fit(views)
    np.testing.assert_allclose(ours.criterion_, values, rtol=1e-7)
    expected = [p.features(alpha, new[name]) for p, alpha, name in zip(parts, alphas, names)]
    same_up_to_signs(ours.transform(new), np.mean(expected, axis=0))
    every = kfe.KCCA(dim=3, ridge=0.01, features="all", kernel=kernels_of(names)).fit(views).transform(new)
    same_up_to_signs(every, np.hstack(expected))
    second = kfe.KCCA(dim=3, ridge=0.01, features="b", kernel=kernels_of(names)).fit(views).transform(new)
    np.testing.assert_allclose(second, every[:, 3:6], rtol=1e-9, atol=1e-12)
    train = [p.features(alpha, views[name]) for p, alpha, name in zip(parts, alphas, names)]
    pairs = [np.corrcoef(train[u][:, j], train[v][:, j])[0, 1] for j in range(3) for u in range(len(names)) for v in range(u)]
    np.testing.assert_allclose(ours.correlations_, np.reshape(pairs, (3, -1)).mean(axis=1), rtol=1e-6)
    with_sum = [[np.corrcoef(one[:, j], sum(train)[:, j])[0, 1] for j in range(3)] for one in train]
    np.testing.assert_allclose(np.reshape(ours.view_correlations_, (len(names), 3)), with_sum, rtol=1e-6)


@pytest.mark.parametrize("ridge", [1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100])
def test_ridges_over_six_decades(ridge):
    views, new = part(make_views(), "ab"), part(make_views(25, seed=4), "ab")
    parts = [Centred(name, views[name], ridge) for name in "ab"]
    values, alphas = pairs_by_scipy(parts, 2)
    ours = kfe.KCCA(dim=2, ridge=ridge, kernel=kernels_of("ab")).fit(views)
    np.testing.assert_allclose(ours.criterion_, values, rtol=1e-6)
    same_up_to_signs(ours.transform(new), (parts[0].features(alphas[0], new["a"]) + parts[1].features(alphas[1], new["b"])) / 2, 1e-4)
    smoothers = sum(p.full @ np.linalg.inv(p.full + p.ridge * np.eye(90)) for p in parts)
    np.testing.assert_allclose(kfe.KGCCA(dim=2, ridge=ridge, kernel=kernels_of("ab")).fit(views).criterion_,
                               np.linalg.eigvalsh(smoothers)[::-1][:2], rtol=1e-8)


def test_kgcca_is_the_shared_eigenproblem():
    names, views, new = "abc", make_views(), make_views(25, seed=4)
    parts = [Centred(name, views[name], 0.02) for name in names]
    n = len(views["a"])
    smoothers = [p.full @ np.linalg.inv(p.full + p.ridge * np.eye(n)) for p in parts]
    values, vectors = np.linalg.eigh(sum(smoothers))
    values, shared = values[::-1][:4], vectors[:, ::-1][:, :4] * np.sqrt(n)
    ours = kfe.KGCCA(dim=4, ridge=0.02, kernel=kernels_of(names)).fit(views)
    np.testing.assert_allclose(ours.criterion_, values, rtol=1e-8)
    same_up_to_signs(ours.transform(views), shared)
    alphas = [np.linalg.solve(p.k + p.ridge * np.eye(n - 1), p.basis.T @ shared) for p in parts]
    expected = [p.features(alpha, new[name]) for p, alpha, name in zip(parts, alphas, names)]
    same_up_to_signs(ours.transform(new), sum(expected) / values)
    every = kfe.KGCCA(dim=4, ridge=0.02, features="all", kernel=kernels_of(names)).fit(views).transform(new)
    same_up_to_signs(every, np.hstack(expected))


def test_linear_kernels_give_classical_canonical_correlations():
    views = part(make_views(300), "ab")
    ours = kfe.KCCA(dim=2, ridge=1e-10, features="all", kernel="linear").fit(views)
    bases = [np.linalg.qr(x - x.mean(axis=0))[0] for x in views.values()]
    left, singular, right = np.linalg.svd(bases[0].T @ bases[1])
    np.testing.assert_allclose(ours.correlations_, singular, rtol=1e-6)
    same_up_to_signs(ours.transform(views), np.sqrt(300) * np.hstack([bases[0] @ left[:, :2], bases[1] @ right[:2].T]), 1e-5)
    theirs = CCA(n_components=2, max_iter=5000, tol=1e-12).fit(views["a"], views["b"]).transform(views["a"], views["b"])
    np.testing.assert_allclose(ours.correlations_, [np.corrcoef(theirs[0][:, j], theirs[1][:, j])[0, 1] for j in range(2)], rtol=1e-4)


def planted(n, seed):
    """Two tables of ten columns each whose canonical correlations are 0.9, 0.7 and 0.5, in random directions."""
    rng, correlations = np.random.default_rng(seed), np.array([0.9, 0.7, 0.5])
    one = rng.normal(size=(n, 10))
    other = rng.normal(size=(n, 10))
    other[:, :3] = correlations * one[:, :3] + np.sqrt(1 - correlations ** 2) * other[:, :3]
    turns = [scipy.stats.ortho_group.rvs(10, random_state=7 + v) for v in range(2)]
    return {"one": one @ turns[0], "other": other @ turns[1]}, [turn[:3].T for turn in turns], correlations


def test_planted_pairs_are_found():
    views, directions, correlations = planted(2000, 5)
    ours = kfe.KCCA(dim=3, features="all", kernel="linear").fit(views)
    np.testing.assert_allclose(ours.correlations_, correlations, atol=0.04)
    features = ours.transform(views)
    for v, name in enumerate(views):
        found = np.linalg.lstsq(views[name], features[:, 3 * v:3 * v + 3], rcond=None)[0]
        for j in range(3):
            assert np.degrees(scipy.linalg.subspace_angles(found[:, [j]], directions[v][:, [j]])[0]) < 10


def circle(n, seed):
    """An angle, seen as a point of a circle and by its square; the other columns are noise."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(-2.5, 2.5, n)
    return {"point": np.column_stack([np.cos(angle), np.sin(angle), rng.normal(size=(n, 2))]) + 0.05 * rng.normal(size=(n, 4)),
            "square": np.column_stack([angle ** 2, rng.normal(size=n)]) + 0.05 * rng.normal(size=(n, 2))}


@pytest.mark.parametrize("estimator", [kfe.KCCA, kfe.KGCCA])
def test_a_planted_curve_is_found_on_new_rows(estimator):
    train, new = circle(400, 1), circle(300, 2)
    found = {}
    for kernel in ("rbf:gamma=median", "linear"):
        both = estimator(dim=1, features="all", kernel=kernel, scale="standard").fit(train).transform(new)
        found[kernel] = np.corrcoef(both.T)[0, 1]
    assert found["rbf:gamma=median"] > 0.9
    linear = estimator(dim=1, features="joint", kernel="linear", scale="standard").fit(train).transform(new)
    curved = estimator(dim=1, features="joint", scale="standard").fit(train).transform(new)
    assert abs(np.corrcoef(curved[:, 0], new["point"][:, 0])[0, 1]) > 0.8
    assert linear.shape == curved.shape


def held_out_correlation(ridge, train, new):
    both = kfe.KCCA(dim=1, ridge=ridge, features="all", scale="standard").fit(train).transform(new)
    return np.corrcoef(both.T)[0, 1]


def test_the_ridge_is_chosen_on_training_rows():
    train, new = circle(250, 11), circle(400, 12)
    fixed = [held_out_correlation(10.0 ** p, train, new) for p in range(-5, 1)]
    assert held_out_correlation("auto", train, new) > max(fixed) - 0.03
    assert min(fixed) < max(fixed) - 0.05  # the choice matters
    order = np.random.default_rng(0).permutation(250)
    shuffled = {name: x[order] for name, x in train.items()}
    ridges = [kfe.KCCA(dim=1, scale="standard").fit(views).ridge_ for views in (train, shuffled)]
    assert ridges[0] == ridges[1]


@pytest.mark.parametrize("estimator", [kfe.KCCA, kfe.KGCCA])
def test_weights_are_repetitions(estimator):
    views, new = make_views(60), make_views(20, seed=4)
    weights = np.arange(60) % 4
    repeated = {name: np.repeat(x, weights, axis=0) for name, x in views.items()}
    for landmarks in ("none", 60):
        make = lambda: estimator(dim=3, ridge=0.01, landmarks=landmarks, scale="standard")
        expected = make().fit(repeated).transform(new)
        same_up_to_signs(make().fit(views, sample_weight=weights).transform(new), expected)


@pytest.mark.parametrize("estimator", [kfe.KCCA, kfe.KGCCA])
def test_landmarks(estimator):
    views, new = make_views(400), make_views(60, seed=4)
    exact = estimator(dim=2, ridge=0.01).fit(views)
    every = estimator(dim=2, ridge=0.01, landmarks=400).fit(views)
    same_up_to_signs(every.transform(new), exact.transform(new), 1e-4)
    some = estimator(dim=2, ridge=0.01, landmarks=80).fit(views)
    assert len(some.support_) <= 80
    for j in range(2):
        assert abs(np.corrcoef(some.transform(new)[:, j], exact.transform(new)[:, j])[0, 1]) > 0.98


@pytest.mark.parametrize("estimator", [kfe.KCCA, kfe.KGCCA])
def test_the_same_data_in_other_forms(estimator, tmp_path):
    views, new = make_views(), make_views(20, seed=4)
    model = estimator(dim=3, ridge=0.01).fit(views)
    expected = model.transform(new)
    model.save(tmp_path / "views.kfe")
    np.testing.assert_array_equal(kfe.load(tmp_path / "views.kfe").transform(new), expected)
    sparse = {name: sp.csr_matrix(x) for name, x in views.items()}
    same_up_to_signs(estimator(dim=3, ridge=0.01).fit(sparse).transform({name: sp.csr_matrix(x) for name, x in new.items()}), expected)
    order = np.random.default_rng(1).permutation(len(views["a"]))
    same_up_to_signs(estimator(dim=3, ridge=0.01).fit({name: x[order] for name, x in views.items()}).transform(new), expected)
    matrices = {name: np.exp(-0.2 * cdist(x, x, "sqeuclidean")) for name, x in views.items()}
    rows = {name: np.exp(-0.2 * cdist(x, views[name], "sqeuclidean")) for name, x in new.items()}
    given = estimator(dim=3, ridge=0.01, kernel="precomputed").fit(matrices).transform(rows)
    same_up_to_signs(given, estimator(dim=3, ridge=0.01, kernel="rbf:gamma=0.2").fit(views).transform(new))


def test_views_of_strings_and_numbers():
    rng = np.random.default_rng(2)
    strand = rng.integers(0, 2, 80)
    text = ["".join(rng.choice(list("acgt"), 30, p=[0.4, 0.1, 0.1, 0.4] if s else [0.1, 0.4, 0.4, 0.1])) for s in strand]
    numbers = strand[:, None] + 0.3 * rng.normal(size=(80, 2))
    model = kfe.KCCA(dim=1, kernel={"text": "spectrum:length=2", "numbers": "linear"}).fit({"text": text, "numbers": numbers})
    shared = model.transform({"text": text, "numbers": numbers})[:, 0]
    assert abs(np.corrcoef(shared, strand)[0, 1]) > 0.9


def test_one_view_is_compared_with_the_target():
    x, y = kfe.generate("iris")
    ours = kfe.KCCA(dim=2, ridge=0.001, kernel="rbf:gamma=0.3").fit(x, y)
    n = len(x)
    centring = np.eye(n) - 1 / n
    k = centring @ np.exp(-0.3 * cdist(x, x, "sqeuclidean")) @ centring
    indicators = centring @ (np.asarray(y)[:, None] == np.unique(y)[None])
    expected = k @ np.linalg.solve(k + 0.001 * np.trace(k) * np.eye(n), indicators)
    assert np.degrees(scipy.linalg.subspace_angles(ours.transform(x), np.linalg.svd(expected)[0][:, :2]).max()) < 1e-3
    with pytest.raises(ValueError, match="kcca compares views, but there is one and no target"):
        kfe.KCCA().fit(x)
    with pytest.raises(ValueError, match="there is no view 'd'"):
        kfe.KCCA(features="d").fit(make_views())


def test_a_learner_uses_joint_features():
    views, new = make_views(200), make_views(200, seed=9)
    labels = lambda tables: np.where(tables["a"][:, 1] > 0, "yes", "no")
    model = kfe.KGCCAClassifier(dim=4, learner="ls").fit(views, labels(views))
    assert np.mean(model.predict(new) == labels(new)) > 0.8
    result = kfe.cv(kfe.KCCAClassifier(dim=2, learner="centroid"), views, labels(views), folds=3)
    assert result["metrics"]["accuracy"]["mean"] > 0.7
