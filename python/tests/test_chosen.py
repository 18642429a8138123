# SPDX-License-Identifier: Apache-2.0
"""Steps that choose columns, ``cars`` and ``stability``, against programs in NumPy, and that they leak nothing into validations."""
import numpy as np
import pytest

import kfe

# Few columns may be chosen, or none by the threshold, which fits say.
pytestmark = pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
PLANTED = (3, 8)


def planted(rows, columns, seed=0, noise=0.5):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((rows, columns))
    return x, 2 * x[:, PLANTED[0]] - x[:, PLANTED[1]] + noise * draw.standard_normal(rows)


def model(prepare, **settings):
    return kfe.PLSRegressor(dim=2, prepare=prepare, **settings)


def chosen(fitted):
    return [int(name) - 1 for name in fitted._model.describe()["views"][0]["steps"][0]["chosen"]]


def shares(prepare, x, y, seeds):
    """The mean share of the runs that keep each column."""
    columns = [fit.explain(parts="chosen")["chosen"].values[:, 0] for fit in (model(prepare, random_state=s).fit(x, y) for s in range(seeds))]
    return np.mean(columns, axis=0)


# ---- NumPy ----

def pls_coefficients(x, y, dim):
    """NIPALS with deflation of the columns."""
    x, y = x - x.mean(0), y - y.mean()
    left, weights, loadings, slopes = x.copy(), [], [], []
    for _ in range(min(dim, x.shape[1], len(x) - 1)):
        w = left.T @ y
        if np.linalg.norm(w) < 1e-9:
            break
        w /= np.linalg.norm(w)
        t = left @ w
        p = left.T @ t / (t @ t)
        weights.append(w), loadings.append(p), slopes.append(y @ t / (t @ t))
        left = left - np.outer(t, p)
    w, p = np.array(weights).T, np.array(loadings).T
    return w @ np.linalg.solve(p.T @ w, np.array(slopes))


def cars(x, y, runs, dim, draw):
    """Which columns each run leaves (Li et al. 2009)."""
    p = x.shape[1]
    k = np.log(p / 2) / (runs - 1)
    a = (p / 2) ** (1 / (runs - 1))
    left, kept = np.arange(p), np.zeros((runs, p))
    for i in range(1, runs + 1):
        rows = draw.choice(len(x), int(0.8 * len(x) + 0.5), replace=False)
        sizes = np.abs(pls_coefficients(x[rows][:, left], y[rows], dim))
        order = np.argsort(-sizes)[:max(2, int(p * a * np.exp(-k * i) + 0.5))]
        drawn = draw.choice(order, p, p=sizes[order] / sizes[order].sum())
        left = left[np.unique(drawn)]
        kept[i - 1, left] = 1
    return kept.mean(0)


def stability(x, y, runs, keep, draw):
    """How often the columns of largest covariance are the same on random halves."""
    often = np.zeros(x.shape[1])
    for _ in range(runs):
        rows = draw.choice(len(x), len(x) // 2, replace=False)
        often[np.argsort(-np.abs((x[rows] - x[rows].mean(0)).T @ (y[rows] - y[rows].mean())))[:keep]] += 1
    return often / runs


def test_runs_of_cars_keep_columns_as_often_as_in_numpy():
    x, y = planted(40, 14)
    draw = np.random.default_rng(1)
    expected = np.mean([cars(x, y, 8, 2, draw) for _ in range(60)], axis=0)
    assert np.abs(shares("cars:runs=8,dim=2,folds=4", x, y, 60) - expected).max() < 0.07


def test_halves_of_stability_use_columns_as_often_as_in_numpy():
    x, y = planted(40, 14)
    expected = stability(x, y, 3000, 3, np.random.default_rng(1))
    assert np.abs(shares("stability:keep=3", x, y, 30) - expected).max() < 0.05


def test_stability_keeps_what_reaches_the_threshold():
    x, y = planted(60, 40)
    for threshold in (0.6, 0.9):
        fitted = model(f"stability:threshold={threshold},keep=4").fit(x, y)
        table = fitted.explain(parts="chosen")["chosen"].values
        assert np.array_equal(table[:, 1] == 1, table[:, 0] >= threshold) and 1 <= table[:, 1].sum() <= 4 / (2 * threshold - 1)
        assert chosen(fitted) == list(np.flatnonzero(table[:, 1]))


# ---- what they are for ----

@pytest.mark.parametrize("step", ["cars:dim=3", "stability:dim=2,errors=2"])
def test_planted_columns_are_found_and_the_model_is_that_of_these_columns(step, tmp_path):
    x, y = planted(80, 60)
    fitted = model(f"standard,{step}").fit(x, y)
    kept = [int(name) - 1 for name in fitted._model.describe()["views"][0]["steps"][1]["chosen"]]
    assert set(PLANTED) <= set(kept) and len(kept) < 30
    plain = model("standard").fit(x[:, kept], y)
    assert np.allclose(fitted.predict(x), plain.predict(x[:, kept]), rtol=1e-9)
    assert np.allclose(fitted.transform(x), plain.transform(x[:, kept]), rtol=1e-9)
    fitted.save(tmp_path / "model.kfe")
    again = kfe.load(tmp_path / "model.kfe")
    assert np.array_equal(again.predict(x), fitted.predict(x)) and np.array_equal(fitted.predict(x[:1]), fitted.predict(x)[:1])


@pytest.mark.parametrize("step", ["cars", "stability"])
def test_classes(step):
    x, y = planted(120, 30, noise=0.1)
    labels = np.where(y > 1, "high", np.where(y > -1, "middle", "low"))
    fitted = kfe.PLSDA(dim=2, prepare=f"{step}:dim=2").fit(x, labels)
    assert PLANTED[0] in chosen(fitted) and len(chosen(fitted)) < 20
    renamed = np.where(labels == "high", "a", np.where(labels == "middle", "z", "b"))
    assert chosen(kfe.PLSDA(dim=2, prepare=f"{step}:dim=2").fit(x, renamed)) == chosen(fitted)


@pytest.mark.parametrize("step", ["cars:runs=20,dim=3", "stability:dim=2"])
def test_order_and_repetition_of_rows_do_not_matter(step):
    x, y = planted(50, 25)
    expected = chosen(model(step).fit(x, y))
    order = np.random.default_rng(2).permutation(50)
    assert chosen(model(step).fit(x[order], y[order])) == expected
    weights = np.where(np.arange(50) % 3 == 0, 2.0, 1.0)
    repeated = np.repeat(np.arange(50), weights.astype(int))
    weighted = chosen(model(step).fit(x, y, sample_weight=weights))
    assert chosen(model(step).fit(x[repeated], y[repeated])) == weighted
    absent = np.where(np.arange(50) < 5, 0.0, 1.0)
    assert chosen(model(step).fit(x, y, sample_weight=absent)) == chosen(model(step).fit(x[5:], y[5:]))


@pytest.mark.parametrize("step, seems", [("cars:runs=30,dim=3", 0.4), ("stability:errors=4,threshold=0.6", 0.05)])
def test_noise_shows_that_columns_are_chosen_inside_each_fold(step, seems):
    """On noise, columns chosen on all rows seem to predict rows left out; columns chosen in each training part do not."""
    inside, outside = [], []
    for seed in range(4):
        draw = np.random.default_rng(seed)
        x, y = draw.standard_normal((50, 200)), draw.standard_normal(50)
        inside.append(kfe.cv(model(step), x, y, folds=5)["pooled"]["q2"])
        outside.append(kfe.cv(model("none"), x[:, chosen(model(step).fit(x, y))], y, folds=5)["pooled"]["q2"])
    assert np.mean(inside) < 0 and np.mean(outside) > seems


def test_grids_and_several_views():
    x, y = planted(60, 40)
    found = kfe.cv(kfe.PLSRegressor(dim=2), x, y, grid={"prepare": ["none", "cars:runs=10,dim=3"]}, folds=4)
    assert "cars" in str(found)
    found = kfe.cv(model("stability:runs=20"), x, y, grid={"prepare.stability.threshold": [0.6, 0.9]}, folds=4)
    assert "threshold" in str(found)
    fitted = kfe.KPLSRegressor(dim=2, kernel="linear", prepare={"a": "cars:runs=10,dim=2", "b": "none"}).fit({"a": x[:, :20], "b": x[:, 20:]}, y)
    assert set(PLANTED) <= set(chosen(fitted)) and len(chosen(fitted)) < 20


def test_jackknife_compares_columns_of_the_data():
    x, y = planted(60, 12, noise=0.1)
    fitted = model("stability:keep=3").fit(x, y)
    tables = fitted.explain(train=(x, y), parts="jackknife", folds=5)
    low, high = (tables[f"coefficient-{end}"].values[:, 0] for end in ("low", "high"))
    for j, slope in zip(PLANTED, (2, -1)):
        assert low[j] < slope < high[j]
    assert len(low) == 12 and (high - low)[[j for j in range(12) if j not in chosen(fitted)]].min() < 1e-12
    with pytest.raises(kfe.UnsupportedError, match="step cars chooses other columns in each of them, and step snv leaves"):
        model("snv,cars").fit(x, y).explain(train=(x, y), parts="jackknife")


def test_refusals():
    x, y = planted(40, 10)
    with pytest.raises(kfe.InputError, match="step cars chooses columns by how they predict a target, and the data has none"):
        kfe.PCA(prepare="cars").fit(x)
    with pytest.raises(kfe.InputError, match="6 different rows"):
        model("stability").fit(x[:5], y[:5])
    assert hasattr(model("snv"), "partial_fit") and not hasattr(model("cars"), "partial_fit")
    assert not hasattr(kfe.KPLSRegressor(dim=2, landmarks=20, prepare="cars"), "partial_fit")
