# SPDX-License-Identifier: Apache-2.0
"""mbpls and block-splsda against the definitions in NumPy, the package mbpls, PLS on the scaled views, splsda, and planted columns."""
import numpy as np
import pytest
import scipy.sparse as sp

import kfe


def signals(seed=0, n=60):
    """Two views of three hidden signals, and a target."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 3))
    mixing = np.random.default_rng(99)
    views = {"wide": 5 * hidden @ mixing.normal(size=(3, 10)) + rng.normal(size=(n, 10)) + 3,
             "long": hidden[:, :2] @ mixing.normal(size=(2, 30)) + rng.normal(size=(n, 30))}
    return views, hidden @ [1, 2, -1] + 0.1 * rng.normal(size=n)


def planted(seed=1, n=90, spread=1.0):
    """Three views in which some columns rise in one of three classes; the others are noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    views = {name: rng.normal(size=(n, d)) for name, d in (("rna", 40), ("mirna", 25), ("protein", 30))}
    views["rna"][:, :6] += 2 * np.repeat(np.eye(3), 2, axis=1)[y]
    views["mirna"][:, :3] += 2 * np.eye(3)[y]
    views["protein"][:, :3] += spread * np.eye(3)[y]
    return views, y


def scaled(views):
    return {name: (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0).sum()) for name, x in views.items()}


def columns(views):
    return np.hstack(list(views.values()))


def take(views, rows):
    return {name: x[rows] for name, x in views.items()}


# ---- mbpls ----

def test_super_scores_are_pls_on_views_of_equal_variance():
    views, y = signals()
    new, _ = signals(1)
    ours = kfe.MBPLSRegressor(dim=4, scale="none").fit(views, y)
    means = {name: (new[name] - x.mean(axis=0)) / np.sqrt(x.var(axis=0).sum()) for name, x in views.items()}
    theirs = kfe.PLSRegressor(dim=4, scale="none").fit(columns(scaled(views)), y)
    np.testing.assert_allclose(ours.transform(new), theirs.transform(columns(means)), atol=1e-10)
    sklearn = pytest.importorskip("sklearn.cross_decomposition").PLSRegression(4, scale=False).fit(columns(scaled(views)), y)
    np.testing.assert_allclose(ours.predict(new), np.ravel(sklearn.predict(columns(means))), atol=1e-8)


def multiblock_pls(blocks, y, dim):
    """Westerhuis, Kourti & MacGregor (1998): block scores, their super weights, and deflation by super scores."""
    blocks, y = [block.copy() for block in blocks], (y - y.mean(axis=0)).reshape(len(y), -1)
    scores, supers, weights = [], [], []
    for _ in range(dim):
        u = y[:, 0]
        for _ in range(2000):
            parts = [block.T @ u for block in blocks]
            parts = [part / np.linalg.norm(part) for part in parts]
            t = np.column_stack([block @ part for block, part in zip(blocks, parts)])
            w = t.T @ u / np.linalg.norm(t.T @ u)
            super_score = t @ w
            q = y.T @ super_score
            u = y @ q / (q @ q)
        scores.append(t)
        weights.append(w)
        supers.append(super_score)
        blocks = [block - np.outer(super_score, super_score @ block) / (super_score @ super_score) for block in blocks]
        y = y - np.outer(super_score, super_score @ y) / (super_score @ super_score)
    return np.array(scores), np.array(supers).T, np.array(weights).T


@pytest.mark.parametrize("targets", [1, 3])
def test_block_scores_and_weights_are_those_of_the_paper(targets):
    views, y = signals()
    y = y if targets == 1 else np.column_stack([y, views["wide"][:, 0] ** 2, views["long"][:, 0]])
    scores, supers, weights = multiblock_pls(list(scaled(views).values()), y, 3)
    ours = kfe.MBPLS(dim=3, scale="none", features="all").fit(views, y)
    got = ours.transform(views).reshape(len(y), 2, 3)
    signs = np.sign(np.einsum("jib,ibj->jb", scores, got))
    np.testing.assert_allclose(got * signs.T, scores.transpose(1, 2, 0), atol=1e-6)
    np.testing.assert_allclose(ours.view_weights_.reshape(2, 3), weights, atol=1e-7)
    joint = kfe.MBPLS(dim=3, scale="none").fit(views, y)
    assert np.abs(np.abs(joint.transform(views)) - np.abs(supers)).max() < 1e-6
    np.testing.assert_array_equal(joint.view_weights_, ours.view_weights_)
    explained = [np.linalg.norm((y - y.mean(axis=0)).T @ t) ** 2 / (t @ t) for t in supers.T]
    np.testing.assert_allclose(joint.view_importance_, np.sqrt(2 * weights ** 2 @ explained / np.sum(explained)), atol=1e-8)
    x = list(scaled(views).values())
    shares = [[np.sum((t @ block) ** 2) / (t @ t) / np.sum(block ** 2) for t in supers.T] for block in x]
    np.testing.assert_allclose(joint.view_variance_.reshape(2, 3), shares, atol=1e-8)
    r = np.array([np.corrcoef(scores[j].T) for j in range(3)])
    np.testing.assert_allclose(np.abs(joint.score_correlations_.reshape(3, 2, 2)), np.abs(r), atol=1e-6)


def test_the_package_mbpls_agrees():
    package = pytest.importorskip("mbpls.mbpls")
    views, y = signals()
    blocks = list(scaled(views).values())
    theirs = package.MBPLS(3, method="NIPALS", standardize=False).fit([block.copy() for block in blocks], y - y.mean())
    ours = kfe.MBPLS(dim=3, scale="none").fit(views, y)
    np.testing.assert_allclose(ours.view_weights_.reshape(2, 3) ** 2, theirs.A_, atol=1e-8)
    np.testing.assert_allclose(*(np.abs(t / np.linalg.norm(t, axis=0)) for t in (ours.transform(views), theirs.Ts_)), atol=1e-8)
    np.testing.assert_allclose(ours.view_variance_.reshape(2, 3), theirs.explained_var_xblocks_, atol=1e-8)


def test_one_view_is_pls():
    views, y = signals()
    new, _ = signals(1)
    models = [kind(dim=3, scale="none").fit(views["long"], y) for kind in (kfe.MBPLSRegressor, kfe.PLSRegressor)]
    np.testing.assert_allclose(*(model.predict(new["long"]) for model in models), atol=1e-9)


def test_the_unit_of_a_view_does_not_matter():
    views, y = signals()
    other = {**views, "long": 1000 * views["long"] - 5}
    np.testing.assert_allclose(*(kfe.MBPLSRegressor(dim=3, scale="none").fit(each, y).predict(each) for each in (views, other)), atol=1e-7)


# ---- block-splsda ----

@pytest.mark.parametrize("keep", [[8, 3, 5], 5, "all"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rule", ["max", "centroid", "threshold"])
def test_one_view_is_splsda(keep, classes, rule):
    views, y = planted()
    x, y = views["rna"][y < classes], y[y < classes]
    models = [kind(dim=3, keep=keep, class_rule=rule, scale="none").fit(x, y) for kind in (kfe.BlockSparsePLSDAClassifier, kfe.SparsePLSDAClassifier)]
    np.testing.assert_allclose(*(model.transform(x) for model in models), atol=1e-8)
    np.testing.assert_allclose(*(model.decision_function(x) for model in models), atol=1e-8)
    np.testing.assert_array_equal(*(model.keep_ for model in models))


def shrink(a, most):
    limit = np.sort(np.abs(a))[::-1][most] if most < len(a) else 0
    a = np.sign(a) * np.maximum(np.abs(a) - limit, 0)
    return a / np.linalg.norm(a)


def block_splsda(views, y, keep, design):
    """Scores and directions by the definition, one component after the other: keep[v][j] columns, design[u][v]."""
    original = [x - x.mean(axis=0) for x in views.values()]
    blocks = [x / np.sqrt((x ** 2).sum() / len(y)) for x in original]
    dummies = (y[:, None] == np.unique(y)).astype(float)
    target = dummies - dummies.mean(axis=0)
    if target.shape[1] == 2:
        target = target[:, 1:]
    target = target / np.sqrt((target ** 2).sum() / len(y))
    scores, directions, sides = [], [], []
    for j in range(len(keep[0])):
        leading = np.linalg.svd(np.vstack([x.T @ target for x in blocks]))[2][0]
        a = [shrink(x.T @ (target @ leading), keep[v][j]) for v, x in enumerate(blocks)]
        t = [x @ each for x, each in zip(blocks, a)]
        for _ in range(3000):
            w = target.T @ sum(t)
            side = target @ (w / np.linalg.norm(w))
            for v, x in enumerate(blocks):
                a[v] = shrink(x.T @ (side + sum(design[u][v] * t[u] for u in range(len(t)) if u != v)), keep[v][j])
                t[v] = x @ a[v]
        scores.append([x @ each for x, each in zip(original, a)])
        directions.append([each.copy() for each in a])
        sides.append(side)
        for v in range(len(blocks)):
            q = t[v] / np.linalg.norm(t[v])
            blocks[v], original[v] = (x - np.outer(q, q @ x) for x in (blocks[v], original[v]))
        target = target - sum(np.outer(each, each @ target) / (each @ each) for each in t) / len(t)
    return np.array(scores).transpose(2, 1, 0), directions, np.array(sides)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("design", [0.0, 0.4, [[0, 1, 0.2], [1, 0, 0.5], [0.2, 0.5, 0]]])
def test_scores_are_those_of_the_definition(kind, design):
    views, y = planted()
    keep = {"rna": [8, 5], "mirna": [4, 3], "protein": [6, 2]}
    links = np.full((3, 3), design) if np.isscalar(design) else np.array(design)
    t, directions, sides = block_splsda(views, y, list(keep.values()), links)
    given = {name: kind(x) for name, x in views.items()}
    ours = kfe.BlockSparsePLSDAClassifier(dim=2, keep=keep, design=design, scale="none").fit(given, y)
    got = ours.transform(given).reshape(90, 3, 2)
    np.testing.assert_allclose(got * np.sign((got * t).sum(axis=0)), t, atol=1e-6)
    np.testing.assert_array_equal(ours.keep_.reshape(3, 2), [[np.count_nonzero(d[v]) for d in directions] for v in range(3)])
    assert ours.last_change_[0] < 1e-10
    # predictions: the average of what each view predicts by least squares, by the correlation of its scores with the dummies
    dummies = (y[:, None] == np.arange(3)).astype(float)
    weights = np.array([np.mean([abs(np.corrcoef(t[:, v, j], sides[j])[0, 1]) for j in range(2)]) for v in range(3)])
    np.testing.assert_allclose(ours.prediction_weights_, weights / weights.sum(), atol=1e-7)
    fitted = [(lambda d: d @ np.linalg.lstsq(d, dummies, rcond=None)[0])(np.column_stack([np.ones(90), t[:, v]])) for v in range(3)]
    np.testing.assert_allclose(ours.decision_function(given), np.tensordot(weights / weights.sum(), fitted, 1) - 0.5, atol=1e-6)
    r = np.array([np.corrcoef(t[:, :, j].T) for j in range(2)])
    np.testing.assert_allclose(np.abs(ours.score_correlations_.reshape(2, 3, 3)), np.abs(r), atol=1e-6)
    assert (ours.score_correlations_[1:3] > 0).all()  # signs agree


def test_no_direction_nearby_agrees_more():
    """With all columns, the objective of the first component is as large as directions of length one make it, and larger than at a start."""
    views, y = planted()
    ours = kfe.BlockSparsePLSDAClassifier(dim=1, keep="all", design=0.7, scale="none").fit(views, y)
    blocks = list(scaled(views).values())
    dummies = (y[:, None] == np.arange(3)).astype(float)
    target = (dummies - dummies.mean(axis=0)) / np.sqrt(dummies.var(axis=0).sum())
    loadings = np.split(ours.components_.max(axis=0) + ours.components_.min(axis=0), [40, 65])

    def objective(a, v):
        t = [x @ each / np.linalg.norm(each) for x, each in zip(blocks, a)]
        side = target @ v / np.linalg.norm(v)
        return (sum(each @ side for each in t) + 0.7 * sum(t[u] @ t[w] for w in range(3) for u in range(w))) / len(y)

    v = target.T @ sum(x @ a / np.linalg.norm(a) for x, a in zip(blocks, loadings))
    best = objective(loadings, v)
    np.testing.assert_allclose(ours.criterion_[0], best, atol=1e-12)
    rng = np.random.default_rng(5)
    for size in (1e-3, 1e-1, 1, 10):
        for _ in range(50):
            moved = [a + size * np.linalg.norm(a) * rng.normal(size=len(a)) / np.sqrt(len(a)) for a in loadings]
            assert objective(moved, v + size * np.linalg.norm(v) * rng.normal(size=3)) <= best + 1e-12


def test_design_makes_the_views_agree():
    views, y = planted(spread=0.5)
    models = [kfe.BlockSparsePLSDA(dim=1, keep=10, design=design, scale="none").fit(views, y) for design in (0, 0.5, 1)]
    agreement = [model.score_correlations_.sum() for model in models]
    assert agreement == sorted(agreement) and agreement[0] < agreement[2]


def test_planted_columns_are_found_and_predict():
    views, y = planted()
    new, truth = planted(2)
    ours = kfe.BlockSparsePLSDAClassifier(dim=2, keep={"rna": 6, "mirna": 3, "protein": 3}, scale="standard").fit(views, y)
    used = np.flatnonzero(np.abs(ours.components_).max(axis=0))
    assert len(set(used) & {*range(6), *range(40, 43), *range(65, 68)}) >= 11
    assert (ours.predict(new) == truth).mean() > 0.95
    single = [(kfe.SparsePLSDAClassifier(dim=2, keep=6).fit(views[name], y).predict(new[name]) == truth).mean() for name in views]
    assert (ours.predict(new) == truth).mean() > max(single)


@pytest.mark.parametrize("estimator", [kfe.BlockSparsePLSDAClassifier(dim=2, keep=[8, 4], class_rule="threshold"), kfe.MBPLSClassifier(dim=2, learner="ls")])
def test_weights_repeat_rows_and_their_order_does_not_matter(estimator):
    views, y = planted()
    weights = 1 + np.arange(len(y)) % 3
    order = np.random.default_rng(3).permutation(len(y))
    expected = type(estimator)(**estimator.get_params()).fit(take(views, np.repeat(np.arange(len(y)), weights)), np.repeat(y, weights))
    weighed = type(estimator)(**estimator.get_params()).fit(take(views, order), y[order], sample_weight=weights[order])
    np.testing.assert_allclose(weighed.decision_function(views), expected.decision_function(views), atol=1e-8)


@pytest.mark.parametrize("estimator", [kfe.BlockSparsePLSDAClassifier(dim=2), kfe.MBPLSClassifier(dim=2)])
def test_a_model_file_says_the_same(estimator, tmp_path):
    views, y = planted()
    model = estimator.fit(views, y)
    model.save(tmp_path / "m.kfe")
    again = kfe.load(tmp_path / "m.kfe")
    shuffled = {name: views[name] for name in ("protein", "rna", "mirna")}
    np.testing.assert_array_equal(again.decision_function(shuffled), model.decision_function(views))
    np.testing.assert_allclose(model.decision_function({name: sp.csr_matrix(x) for name, x in views.items()}), model.decision_function(views), atol=1e-10)


def test_wrong_numbers_are_refused():
    views, y = planted()
    for wrong in ("", "0", "2.5", "rna:", "dna:5", "rna:5;mirna"):
        with pytest.raises(ValueError, match="keep"):
            kfe.BlockSparsePLSDA(dim=1, keep=wrong).fit(views, y)
    for wrong in ("", 2, -0.1, [0, 1], [[0, 1, 0], [0, 0, 0], [0, 0, 0]]):
        with pytest.raises(ValueError, match="design"):
            kfe.BlockSparsePLSDA(dim=1, design=wrong).fit(views, y)
    fitted = [kfe.BlockSparsePLSDA(dim=2, keep=keep).fit(views, y).keep_ for keep in ("3;rna:7;2;protein:4", {"1": [7, 2], "mirna": 3, "3": 4})]
    np.testing.assert_array_equal(*fitted)
    np.testing.assert_array_equal(fitted[0], [7, 2, 3, 3, 4, 4])


def test_a_view_that_does_not_vary_is_refused_or_ignored():
    views, y = planted()
    views["flat"] = np.ones((90, 4))
    with pytest.raises(ValueError, match="a view has no direction"):
        kfe.BlockSparsePLSDA(dim=1).fit(views, y)
    ours = kfe.MBPLS(dim=2, scale="none").fit(views, y)
    assert ours.view_importance_[3] == 0 and ours.view_importance_[:3].min() > 0


# ---- keep=auto: one view after the other ----

def test_auto_of_one_view_is_that_of_splsda():
    views, y = planted()
    models = [kind(keep="auto", scale="none").fit(views["rna"], y) for kind in (kfe.BlockSparsePLSDAClassifier, kfe.SparsePLSDAClassifier)]
    np.testing.assert_array_equal(*(model.keep_ for model in models))
    np.testing.assert_allclose(*(model.transform(views["rna"]) for model in models), atol=1e-8)


def test_auto_takes_numbers_that_were_to_be_tried():
    views, y = planted()
    new, truth = planted(2)
    values = [3, 6, 9]
    auto = kfe.BlockSparsePLSDAClassifier(dim=2, keep="auto", keep_values=values).fit(views, y)
    assert set(auto.keep_) <= {*values, 25, 30, 40}
    given = {name: auto.keep_.reshape(3, 2)[v].astype(int) for v, name in enumerate(views)}
    same = kfe.BlockSparsePLSDAClassifier(dim=2, keep=given).fit(views, y)
    np.testing.assert_array_equal(same.transform(new), auto.transform(new))
    assert (auto.predict(new) == truth).mean() > 0.9
    with pytest.raises(ValueError, match="keep_values"):
        kfe.BlockSparsePLSDAClassifier(dim=2, keep="auto", keep_values="5;x").fit(views, y)


def test_auto_chooses_by_content():
    views, y = planted()
    weights = 1 + np.arange(len(y)) % 2
    order = np.random.default_rng(3).permutation(len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    chosen = [kfe.BlockSparsePLSDA(dim=2, keep="auto").fit(take(views, repeated), y[repeated]),
              kfe.BlockSparsePLSDA(dim=2, keep="auto").fit(take(views, order), y[order], sample_weight=weights[order])]
    np.testing.assert_array_equal(*(model.keep_ for model in chosen))
    np.testing.assert_allclose(*(model.transform(views) for model in chosen), atol=1e-9)


def test_one_view_after_the_other_is_about_as_good_as_all_combinations():
    """Errors of predicted dummies on left-out rows, over the same folds for every combination of two numbers in three views."""
    views, y = planted(7, n=60)
    values = [3, 12]
    auto = kfe.BlockSparsePLSDAClassifier(dim=1, keep="auto", keep_values=values, calibration="none").fit(views, y)
    dummies = (y[:, None] == np.arange(3)).astype(float)
    order = np.random.default_rng(1).permutation(60) % 5

    def errors(keep):
        rest = np.empty(60)
        for fold in range(5):
            model = kfe.BlockSparsePLSDAClassifier(dim=1, keep=keep, calibration="none").fit(take(views, order != fold), y[order != fold])
            rest[order == fold] = ((model.decision_function(take(views, order == fold)) + 0.5 - dummies[order == fold]) ** 2).sum(axis=1)
        return rest

    tried = [errors(dict(zip(views, (a, b, c)))) for a in (*values, "all") for b in (*values, "all") for c in (*values, "all")]
    best = min(tried, key=np.sum)
    ours = errors(dict(zip(views, auto.keep_.astype(int))))
    assert ours.sum() <= best.sum() + 2 * best.std() * np.sqrt(60)
    assert ours.sum() < max(each.sum() for each in tried)


def test_number_of_components_and_names_of_features():
    views, y = planted()
    model = kfe.BlockSparsePLSDAClassifier(keep=5).fit(views, y)
    names = list(model.get_feature_names_out())
    assert names[:2] == ["rna_LV1", "rna_LV2"] and len(names) % 3 == 0 and len(names) <= 12
    assert model.cv_unexplained_variance_[0] < 0.8
    blocks = kfe.MBPLS(dim=2, features="all").fit(views, y)
    assert list(blocks.get_feature_names_out()) == ["rna_LV1", "rna_LV2", "mirna_LV1", "mirna_LV2", "protein_LV1", "protein_LV2"]
    assert list(kfe.MBPLS(dim=2).fit(views, y).get_feature_names_out()) == ["LV1", "LV2"]


def test_figures_show_what_the_model_knows():
    pytest.importorskip("matplotlib").use("Agg")
    from kfe import plot
    views, y = planted()
    model = kfe.BlockSparsePLSDAClassifier(dim=2, keep=5, calibration="none").fit(views, y)
    shown = plot.score_correlations(model).table()
    np.testing.assert_allclose(shown["correlation"], model.score_correlations_, atol=0.006)
    assert list(shown["view"][:3]) == ["rna", "mirna", "protein"] == list(shown["other view"][::3][:3])
    np.testing.assert_allclose(plot.view_weights(model).table()["weight in predictions"], model.prediction_weights_, rtol=1e-3)
    joint = kfe.MBPLS(dim=1).fit(views, y)
    np.testing.assert_allclose(plot.view_weights(joint).table()["importance of the view"], joint.view_importance_, rtol=1e-3)
    with pytest.raises(ValueError, match="mbpls or block-splsda"):
        plot.view_weights(kfe.PLS(dim=1).fit(views["rna"], y))
