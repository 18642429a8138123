# SPDX-License-Identifier: Apache-2.0
"""kfe explain --parts diagnostics against formulas in NumPy and quantiles of SciPy, and what must not change the numbers."""
import json

import numpy as np
import pytest
from scipy import stats

METHODS = ["pca", "pls", "cr", "opls", "spls", "kpls"]


def problem(rows=40, seed=1):
    """Correlated columns with a target, as a table a1, …, a8, y."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(rows, 3))
    x = hidden @ rng.normal(size=(3, 8)) + 0.2 * rng.normal(size=(rows, 8)) + np.arange(8)
    y = hidden[:, 0] - 2 * hidden[:, 1] + 0.3 * rng.normal(size=rows)
    return x, y


def write(kfe, name, x, y, weights=None):
    names = [f"a{j + 1}" for j in range(x.shape[1])] + ["y"] + ([] if weights is None else ["w"])
    table = np.column_stack([x, y] + ([] if weights is None else [weights]))
    kfe.write(name, ",".join(names) + "\n" + "\n".join(",".join(repr(float(v)) for v in row) for row in table) + "\n")
    return name


def fit(kfe, method, train, *options):
    kernel = ["-k", "linear"] if method == "kpls" else []
    size = ["--predictive", 1, "--orthogonal", 1] if method == "opls" else ["--dim", 2]
    kfe.ok("fit", "-q", "-m", method, *kernel, *size, "--learner", "ls", *([] if "--label" in options else ["--label", "y"]), "--task", "regress", *options, train, "-o", "m.kfe")


def tables(kfe, data, *options):
    found = json.loads(kfe.ok("explain", "-q", "m.kfe", data, "--parts", "linear;diagnostics",
                              *([] if "--examples" in options else ["--examples", "yes"]), *options, "--json").out)["tables"]
    return {name: (np.array([[np.nan if v is None else v for v in row] for row in t["values"]]), t["columns"]) for name, t in found.items()}


def columns(found, name="diagnostics"):
    values, names = found[name]
    return {name: values[:, j] for j, name in enumerate(names)}


def limits(found):
    values = found["limits"][0][:, 0]
    return dict(zip(["t2", "t2-by-moments", "q", "leverage", "distance", "distance-of-all", "dmodx", "studentized"], values))


def by_hand(x, scores, new_x, new_scores, level):
    """Distances and limits from scaled training columns and scores."""
    n, r = scores.shape
    t, e = scores - scores.mean(0), x - x.mean(0)
    inverse = np.linalg.inv(t.T @ t)
    loadings = e.T @ t @ inverse

    def distances(some_x, some_scores):
        u = some_scores - scores.mean(0)
        rest = some_x - x.mean(0) - u @ loadings.T
        return (n - 1) * np.einsum("ij,jk,ik->i", u, inverse, u), (rest ** 2).sum(1), rest

    t2, q, _ = distances(x, scores)
    new_t2, new_q, rest = distances(new_x, new_scores)
    h = [2 * v.mean() ** 2 / v.var(ddof=1) for v in (t2, q)]
    free = min(x.shape[1], n - 1) - r
    distance = h[0] * new_t2 / t2.mean() + h[1] * new_q / q.mean()
    return {"p-value": stats.chi2.sf(distance, sum(h))} | dict(
        t2=new_t2, q=new_q, leverage=1 / n + new_t2 / (n - 1), distance=distance, dmodx=np.sqrt(new_q / (q.sum() / (n - r - 1)))), rest, {
        "t2": r * (n * n - 1) / (n * (n - r)) * stats.f.ppf(level, r, n - r),
        "t2-by-moments": t2.mean() / h[0] * stats.chi2.ppf(level, h[0]),
        "q": q.mean() / h[1] * stats.chi2.ppf(level, h[1]), "leverage": 3 * (r + 1) / n,
        "distance": stats.chi2.ppf(level, sum(h)), "distance-of-all": stats.chi2.ppf(level ** (1 / n), sum(h)), "dmodx": np.sqrt(stats.f.ppf(level, free, free * (n - r - 1))),
        "studentized": stats.t.ppf((1 + level) / 2, n - r - 1)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_numbers_are_those_of_the_formulas(kfe, method, scale):
    x, y = problem()
    new_x, new_y = problem(rows=15, seed=2)
    new_x[3] += 30
    fit(kfe, method, write(kfe, "train.csv", x, y), "--scale", scale)
    write(kfe, "new.csv", new_x, new_y)
    level = 0.975
    train, new = tables(kfe, "train.csv", "--level", level), tables(kfe, "new.csv", "--level", level)
    spread = x.std(0) if scale == "standard" else 1
    expected, rest, expected_limits = by_hand(x / spread, train["scores"][0], new_x / spread, new["scores"][0], level)
    got = columns(new)
    for name, values in expected.items():
        np.testing.assert_allclose(got[name], values, rtol=1e-7, err_msg=name)
    for name, value in expected_limits.items():
        np.testing.assert_allclose(limits(new)[name], value, rtol=1e-7, err_msg=name)
    outlier = (expected["t2"] > expected_limits["t2"]) | (expected["q"] > expected_limits["q"])
    assert outlier[3] and (got["outlier"] == outlier).all()
    np.testing.assert_allclose(new["q-contributions"][0], rest * abs(rest), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(new["t2-contributions"][0].sum(1), expected["t2"], rtol=1e-7)


def test_studentized_residuals_of_least_squares(kfe):
    """With as many features as columns, pls is least squares."""
    x, y = problem()
    x = x[:, :3]
    new_x, new_y = problem(rows=9, seed=2)
    new_x = new_x[:, :3]
    kfe.ok("fit", "-q", "-m", "pls", "--dim", 3, "--learner", "ls", "--label", "y", write(kfe, "train.csv", x, y), "-o", "m.kfe")
    write(kfe, "new.csv", new_x, new_y)
    design = np.column_stack([np.ones(len(x)), x])
    inverse = np.linalg.inv(design.T @ design)
    b = inverse @ design.T @ y
    s = np.sqrt(((y - design @ b) ** 2).sum() / (len(x) - 4))
    for name, sign, some_x, some_y in (("train.csv", -1, x, y), ("new.csv", 1, new_x, new_y)):
        some = np.column_stack([np.ones(len(some_x)), some_x])
        leverage = np.einsum("ij,jk,ik->i", some, inverse, some)
        found = tables(kfe, name)
        np.testing.assert_allclose(columns(found)["leverage"], leverage, rtol=1e-8)
        np.testing.assert_allclose(found["studentized"][0][:, 0], (some_y - some @ b) / (s * np.sqrt(1 + sign * leverage)), rtol=1e-7)
    # such features explain the columns wholly, so that there are no residuals
    assert np.isnan(columns(found)["dmodx"]).all() and np.isnan(limits(found)["q"])


@pytest.mark.parametrize("method", METHODS)
def test_weights_order_and_offsets(kfe, method):
    x, y = problem(rows=24)
    weights = 1 + np.arange(24) % 3
    new_x, new_y = problem(rows=10, seed=5)
    fit(kfe, method, write(kfe, "weighted.csv", x, y, weights), "--weight", "w", "--scale", "none")
    write(kfe, "new.csv", new_x, new_y)
    weighted = tables(kfe, "new.csv")
    order = np.random.default_rng(0).permutation(weights.sum())
    repeated = np.repeat(np.column_stack([x, y]), weights, axis=0)[order]
    fit(kfe, method, write(kfe, "repeated.csv", repeated[:, :-1], repeated[:, -1]), "--scale", "none")
    for other, moved in ((tables(kfe, "new.csv"), False), (None, True)):
        if moved:
            fit(kfe, method, write(kfe, "moved.csv", repeated[:, :-1] + 100, repeated[:, -1]), "--scale", "none")
            write(kfe, "new.csv", new_x + 100, new_y)
            other = tables(kfe, "new.csv")
        for name in ("diagnostics", "limits", "studentized", "t2-contributions", "q-contributions"):
            np.testing.assert_allclose(other[name][0], weighted[name][0], rtol=1e-5, atol=1e-7, err_msg=name)


def test_streams_expect_what_rows_show(kfe):
    """Sums have no rows: limits are those of normally distributed ones, which these are."""
    x, y = problem(rows=4000)
    fit(kfe, "pls", write(kfe, "train.csv", x, y))
    write(kfe, "new.csv", *problem(rows=10, seed=3))
    rows = tables(kfe, "new.csv")
    kfe.ok("fit", "-q", "--stream", "-m", "pls", "--dim", 2, "--learner", "ls", "--label", "y", "train.csv", "-o", "m.kfe")
    sums = tables(kfe, "new.csv")
    for name in ("t2", "q", "leverage", "dmodx"):
        np.testing.assert_allclose(columns(sums)[name], columns(rows)[name], rtol=1e-6)
    for name, value in limits(rows).items():
        np.testing.assert_allclose(limits(sums)[name], value, rtol=0.05, err_msg=name)


@pytest.mark.parametrize("method", ["pca", "pls"])
def test_limits_hold_for_rows_of_the_same_kind(kfe, method):
    x, y = problem(rows=4000)
    fit(kfe, method, write(kfe, "train.csv", x[:2000], y[:2000]))
    write(kfe, "new.csv", x[2000:], y[2000:])
    found = tables(kfe, "new.csv", "--level", 0.9)
    for name in ("t2", "q", "distance"):
        share = (columns(found)[name] > limits(found)[name]).mean()
        assert abs(share - 0.1) < 5 * np.sqrt(0.09 / 2000), (name, share)
    share = (abs(found["studentized"][0]) > limits(found)["studentized"]).mean()
    assert abs(share - 0.1) < 5 * np.sqrt(0.09 / 2000)


def test_sparse_tables(kfe):
    x, y = problem()
    x[abs(x) < 1.5] = 0
    lines = [f"{t!r} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v) for row, t in zip(x, map(float, y))]
    kfe.write("train.svm", "\n".join(lines) + "\n")
    write(kfe, "train.csv", x, y)
    found = []
    for name, label in (("train.svm", "first"), ("train.csv", "y")):
        fit(kfe, "pls", name, "--scale", "none", "--label", label)
        found.append(tables(kfe, name))
        found[-1]["alone"] = tables(kfe, name, "--examples", "no")["diagnostics"] # without residuals of columns
    for name in ("diagnostics", "limits", "q-contributions", "alone"):
        np.testing.assert_allclose(found[0][name][0], found[1][name][0], rtol=1e-8, atol=1e-10, err_msg=name)


def test_rows_are_named_and_the_farthest_come_first(kfe):
    x, y = problem()
    kfe.write("ids.csv", "name," + ",".join(f"a{j}" for j in range(8)) + ",y\n" +
              "\n".join(f"s{i}," + ",".join(map(str, row)) + f",{t}" for i, (row, t) in enumerate(zip(x, y))) + "\n")
    kfe.ok("fit", "-q", "-m", "pca", "--dim", 2, "--id", "name", "--label", "y", "ids.csv", "-o", "m.kfe")
    found = json.loads(kfe.ok("explain", "-q", "m.kfe", "ids.csv", "--id", "name", "--parts", "diagnostics", "--json").out)["tables"]["diagnostics"]
    assert found["rows"][:3] == ["s0", "s1", "s2"] and found["columns"][0] == "t2"
    farthest = found["rows"][int(np.argmax([row[3] for row in found["values"]]))]
    text = kfe.ok("explain", "-q", "m.kfe", "ids.csv", "--id", "name", "--parts", "diagnostics").out
    first = text[text.index("diagnostics:"):].splitlines()[2]
    assert first.split()[0] == farthest


def test_models_that_cannot(kfe):
    x, y = problem()
    write(kfe, "train.csv", x, y)
    kfe.ok("fit", "-q", "-m", "kpca", "--dim", 2, "--label", "y", "train.csv", "-o", "m.kfe")
    assert "fit it with a learner" in kfe.run("explain", "m.kfe", "train.csv", "--parts", "diagnostics", status=2).err
    kfe.ok("fit", "-q", "-m", "none", "--learner", "ls", "--label", "y", "train.csv", "-o", "m.kfe")
    assert "works on the columns themselves" in kfe.run("explain", "m.kfe", "train.csv", "--parts", "diagnostics", status=2).err
    kfe.ok("fit", "-q", "-m", "kpls", "--dim", 2, "--learner", "ls", "--label", "y", "train.csv", "-o", "m.kfe")
    done = kfe.ok("explain", "m.kfe", "train.csv", "--parts", "diagnostics")
    assert "no residuals of columns (q, dmodx, distance): its kernel is not linear" in done.err and "t2" in done.out


def test_classes_are_accepted_by_a_model_of_one(kfe):
    """DD-SIMCA: a PCA of the members; weights count."""
    x, _ = problem()
    random = np.random.default_rng(4)
    fit_rows, held = x[:30], x[30:]
    kfe.ok("fit", "-q", "-m", "pca", "--dim", 2, "--scale", "none", "--label", "none", write_plain(kfe, "members.csv", fit_rows), "-o", "m.kfe")
    others = random.normal(size=(10, x.shape[1])) * 5
    kinds = ["ours"] * len(held) + ["theirs"] * 10
    weights = 1 + np.arange(len(kinds)) % 3
    write_plain(kfe, "new.csv", np.vstack([held, others]), kind=kinds, w=weights)
    given = ("explain", "m.kfe", "new.csv", "--label", "kind", "--weight", "w", "--parts", "diagnostics", "--level", "0.9", "--json")
    found = json.loads(kfe.ok(*given).out)["tables"]
    names, values = found["diagnostics"]["columns"], np.array(found["diagnostics"]["values"])
    p = values[:, names.index("p-value")]
    assert found["accepted"]["rows"] == ["ours", "theirs"] and found["accepted"]["columns"] == ["rows", "accepted"]
    for g, kind in enumerate(("ours", "theirs")):
        own = np.array(kinds) == kind
        np.testing.assert_allclose(found["accepted"]["values"][g], [weights[own].sum(), np.average(p[own] >= 0.1, weights=weights[own])])
    assert found["accepted"]["values"][0][1] > 0.5 > found["accepted"]["values"][1][1]


def write_plain(kfe, name, x, **more):
    columns = {**{f"x{j}": x[:, j] for j in range(x.shape[1])}, **more}
    kfe.write(name, "\n".join([",".join(columns)] + [",".join(str(column[i]) for column in columns.values()) for i in range(len(x))]) + "\n")
    return name


def test_predictions_with_flags(kfe):
    x, y = problem()
    fit(kfe, "pls", write(kfe, "train.csv", x, y))
    x[3] += 40
    write(kfe, "new.csv", x, y)
    kfe.ok("predict", "-q", "m.kfe", "new.csv", "--flag-outliers", "-o", "flags.csv")
    kfe.ok("predict", "-q", "m.kfe", "new.csv", "-o", "plain.csv")
    header, *rows = [line.split(",") for line in kfe.path("flags.csv").read_text().splitlines()]
    assert header == ["value", "t2", "q", "leverage", "distance", "dmodx", "p-value", "outlier"]
    assert [row[0] for row in rows] == kfe.path("plain.csv").read_text().splitlines()[1:]
    found = tables(kfe, "new.csv", "--level", 0.99)["diagnostics"][0]
    np.testing.assert_allclose(np.array(rows, float)[:, 1:], found, rtol=1e-12)
    assert rows[3][-1] == "1" and 1 <= sum(row[-1] == "1" for row in rows) < 5
    loose = kfe.ok("predict", "-q", "m.kfe", "new.csv", "--flag-outliers", "--level", 0.5).out.splitlines()
    assert sum(line.endswith(",1") for line in loose) > 10
    kfe.refused("predict", "m.kfe", "new.csv", "--flag-outliers", "--level", "1.5", says="between 0 and 1")
    kfe.refused("predict", "m.kfe", "new.csv", "--flag-outliers", "--level", "x", says="between 0 and 1")
    kfe.refused("predict", "m.kfe", "new.csv", "--level", "0.9", says="--flag-outliers")
    kfe.ok("fit", "-q", "-m", "kpls", "--dim", 2, "--learner", "ls", "--label", "y", "train.csv", "-o", "m.kfe")
    line = kfe.ok("predict", "-q", "m.kfe", "new.csv", "--flag-outliers").out.splitlines()[1]
    assert line.split(",")[2] in ("", "nan")


def test_figures_have_the_numbers(kfe):
    x, y = problem(rows=52)
    fit(kfe, "pls", write(kfe, "train.csv", x[:40], y[:40]))
    x[44, 2] += 9
    write(kfe, "new.csv", x[40:], y[40:])
    found = tables(kfe, "new.csv")
    kfe.ok("plot", "outliers", "m.kfe", "new.csv", "--label", "y", "-o", "o.json")
    figure = json.loads(kfe.path("o.json").read_text())
    columns_of = {column["name"]: column for column in figure["columns"]}
    row = np.array(columns_of["row"]["numbers"][:12], int) - 1
    assert sorted(row) == list(range(12)) and figure["rows"] == 18
    diagnostics = columns(found)
    np.testing.assert_allclose(columns_of["T²"]["numbers"][:12], diagnostics["t2"][row], rtol=1e-3)
    np.testing.assert_allclose(columns_of["Q"]["numbers"][:12], diagnostics["q"][row], rtol=1e-3)
    t2_limit, q_limit = limits(found)["t2"], limits(found)["q"]
    np.testing.assert_allclose(columns_of["T²"]["numbers"][12:14], t2_limit, rtol=1e-3)
    np.testing.assert_allclose(columns_of["Q"]["numbers"][14:16], q_limit, rtol=1e-3)
    design = np.column_stack([diagnostics["t2"], diagnostics["q"]])  # the distance is linear in both, and so is its limit
    weights = np.linalg.lstsq(design, diagnostics["distance"], rcond=None)[0]
    ends = np.column_stack([columns_of[name]["numbers"][16:] for name in ("T²", "Q")])
    np.testing.assert_allclose(ends @ weights, limits(found)["distance"], rtol=1e-3)
    assert f"{int(diagnostics['outlier'].sum())} of 12 are above the limit of T² or Q. The most distant: 5" in figure["caption"]
    labels = next(series for series in figure["series"] if series["mark"] == "labels")
    names = figure["columns"][labels["label"] - 1]
    above = (diagnostics["t2"] > t2_limit) | (diagnostics["q"] > q_limit)
    assert {row[k] for k, code in enumerate(names["codes"][:12]) if code >= 0} == set(np.flatnonzero(above))
    assert {names["words"][code] for code in names["codes"] if code >= 0} == {str(k + 1) for k in np.flatnonzero(above)}
    kfe.ok("plot", "contributions", "m.kfe", "new.csv", "--label", "y", "-o", "c.json")
    figure = json.loads(kfe.path("c.json").read_text())
    assert ", row 5. " in figure["caption"] and figure["columns"][0]["words"][2] == "a3"
    t2, q = found["t2-contributions"][0][4], found["q-contributions"][0][4]
    np.testing.assert_allclose(figure["columns"][1]["numbers"], t2 / t2.sum(), rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(figure["columns"][2]["numbers"], q / abs(q).sum(), rtol=1e-3, atol=1e-6)
    for name in ("outliers", "contributions"):
        kfe.ok("plot", name, "m.kfe", "new.csv", "--label", "y", "--train", "train.csv", "-o", f"{name}.svg")
        kfe.ok("plot", name, "m.kfe", "new.csv", "--label", "y", "-o", f"{name}.csv")
    kfe.ok("fit", "-q", "-m", "kpls", "--dim", 2, "--learner", "ls", "--label", "y", "train.csv", "-o", "k.kfe")
    kfe.refused("plot", "outliers", "k.kfe", "new.csv", "--label", "y", "-o", "k.svg", says="linear model")


def jackknife(kfe, train, *options):
    found = json.loads(kfe.ok("explain", "-q", "m.kfe", "--parts", "linear;jackknife", "--train", train, *options, "--json").out)["tables"]
    return {name: np.array(found[name]["values"])[:, 0] for name in ("coefficients", "coefficient-sd", "coefficient-low", "coefficient-high")}


def test_jackknife_of_least_squares(kfe):
    """With as many features as columns, pls is least squares, and as many folds as rows leave out each once."""
    x, y = problem(rows=30)
    x = x[:, :3]
    write(kfe, "train.csv", x, y)
    kfe.ok("fit", "-q", "-m", "pls", "--dim", 3, "--learner", "ls", "--label", "y", "train.csv", "-o", "m.kfe")
    found = jackknife(kfe, "train.csv", "--label", "y", "--folds", 100, "--level", 0.9)
    design = np.column_stack([np.ones(30), x])
    left_out = np.array([np.linalg.lstsq(np.delete(design, i, 0), np.delete(y, i), rcond=None)[0][1:] for i in range(30)])
    sd = np.sqrt(29 / 30 * ((left_out - left_out.mean(0)) ** 2).sum(0))
    np.testing.assert_allclose(found["coefficient-sd"], sd, rtol=1e-7)
    t = stats.t.ppf(0.95, 29)
    np.testing.assert_allclose(found["coefficient-low"], found["coefficients"] - t * sd, rtol=1e-7)
    np.testing.assert_allclose(found["coefficient-high"], found["coefficients"] + t * sd, rtol=1e-7)


def test_jackknife_counts_weights_and_not_the_order(kfe):
    x, y = problem(rows=24)
    weights = 1 + np.arange(24) % 3
    write(kfe, "weighted.csv", x, y, weights)
    fit(kfe, "pls", "weighted.csv", "--weight", "w", "--scale", "none")
    weighted = jackknife(kfe, "weighted.csv", "--label", "y", "--weight", "w", "--folds", 6)
    repeated = np.repeat(np.column_stack([x, y]), weights, axis=0)[np.random.default_rng(1).permutation(weights.sum())]
    fit(kfe, "pls", write(kfe, "repeated.csv", repeated[:, :-1], repeated[:, -1]), "--scale", "none")
    other = jackknife(kfe, "repeated.csv", "--label", "y", "--folds", 6)
    for name, values in weighted.items():
        np.testing.assert_allclose(other[name], values, rtol=1e-6, atol=1e-9, err_msg=name)


def test_jackknife_says_what_it_needs(kfe):
    x, y = problem()
    fit(kfe, "pls", write(kfe, "train.csv", x, y))
    kfe.refused("explain", "m.kfe", "--parts", "jackknife", says="--train")
    kfe.ok("fit", "-q", "-m", "kpls", "--dim", 2, "--learner", "ls", "--label", "y", "train.csv", "-o", "k.kfe")
    kfe.refused("explain", "k.kfe", "--parts", "jackknife", "--train", "train.csv", "--label", "y", says="its kernel is not linear")
    kfe.refused("explain", "m.kfe", "--parts", "linear", "--train", "train.csv", "--label", "y", says="add views or jackknife")
