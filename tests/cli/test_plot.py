# SPDX-License-Identifier: Apache-2.0
"""kfe plot: every figure is well-formed SVG, whatever the names are; formats and messages."""
import csv
import io
import json
import os
import shutil
import xml.etree.ElementTree

import pytest

HOSTILE = ['<script>alert(1)</script>', 'a"b\'c', "</svg>", "&amp;", "=1+1"]


@pytest.fixture
def hostile(kfe):
    """A model with hostile names of columns and classes, and its data in a file with a hostile name."""
    rows = [[f"{(i * 7) % 11 + i % 5}", f"{(i * 5) % 7 - i % 5}", f"{i % 13}", HOSTILE[i % 5]] for i in range(60)]
    text = io.StringIO()
    csv.writer(text).writerows([["<b>x</b>", 'y"', "z&", "class"], *rows])
    name = kfe.write("<i>&.csv", text.getvalue())
    kfe.ok("fit", "-q", "-m", "pca", "--dim", "3", "--learner", "centroid", name, "-o", "m.kfe")
    return name


def parse(kfe, name):
    root = xml.etree.ElementTree.parse(kfe.path(name)).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [e for e in root.iter() if e.tag.rsplit("}")[-1] in ("script", "b", "i", "image", "a")]
    return root


def figures(kfe):
    return [line.split()[0] for line in kfe.ok("plot", "--list").out.splitlines() if not line.startswith(" ")]


def test_every_figure_is_svg_or_says_what_it_needs(kfe, hostile):
    assert DRAWN <= set(figures(kfe))
    for figure in figures(kfe):
        if figure in DRAWN:
            kfe.ok("plot", figure, "m.kfe", hostile, "-o", f"{figure}.svg")
            parse(kfe, f"{figure}.svg")
        else:
            says = kfe.refused("plot", figure, "m.kfe", hostile, "-o", f"{figure}.svg")
            assert "needs" in says or "only a table" in says, says


DRAWN = {"scatter", "scatter3d", "matrix", "distributions", "confusion", "classes", "roc", "precision-recall", "scree",
         "loadings", "loading-weights", "rotations", "variance", "coefficients", "vip", "selectivity-ratio", "smc", "calibration", "permutation", "gradient"}


def test_names_are_shown_as_they_are(kfe, hostile):
    kfe.ok("plot", "confusion", "m.kfe", hostile, "-o", "c.svg")
    texts = [e.text for e in parse(kfe, "c.svg").iter() if e.tag.endswith("text")]
    assert "<script>alert(1)</…" in texts  # cut after 18 characters
    assert 'a"b\'c' in texts and "</svg>" in texts and "&amp;" in texts
    kfe.ok("plot", "loadings", "m.kfe", hostile, "-o", "l.svg")
    texts = [e.text for e in parse(kfe, "l.svg").iter() if e.tag.endswith("text")]
    assert "<b>x</b>" in texts


def test_neighbouring_bars_differ_in_grey(kfe, hostile):
    kfe.ok("plot", "classes", "m.kfe", hostile, "-o", "c.svg")
    bars = [e for e in parse(kfe, "c.svg").iter() if e.tag.endswith("rect") and e.get("fill", "#fff") != "#fff"]
    light = [bar for bar in bars if bar.get("fill-opacity")]
    assert len(bars) == 2 * len(light) > 0 and len({bar.get("fill") for bar in light}) == 1  # precision is solid, recall light


def test_figures_of_a_search(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    cv = kfe.ok("cv", "-q", "-m", "koc", "-k", "rbf", "--learner", "knn", "--grid", "gamma=0.1,1,10", "--grid",
                "neighbors=1,3", "--folds", "3", "iris.csv", "--json").out
    kfe.write("cv.json", cv)
    for figure in ("cv-curve", "cv-surface"):
        kfe.ok("plot", figure, "cv.json", "-o", f"{figure}.svg")
        parse(kfe, f"{figure}.svg")
    kfe.ok("plot", "cv-surface", "cv.json", "-o", "s.csv")
    table = list(csv.DictReader(kfe.path("s.csv").open()))
    assert len(table) == 6
    for row in table:  # the numbers of the search, in full precision
        setting = next(s for s in json.loads(cv)["settings"]
                       if s["setting"] == {"gamma": row["gamma"], "neighbors": row["neighbors"]})
        assert float(row["accuracy"]) == setting["metrics"]["accuracy"]["mean"]


def test_tables_of_a_search(kfe):
    """The estimate with its setting and the p-values of all pairs are those of the JSON."""
    kfe.ok("generate", "iris", "-o", "iris.csv")
    cv = kfe.ok("cv", "-q", "-m", "koc", "-k", "rbf", "--learner", "knn", "--grid", "gamma=0.1,1", "--folds", "3", "iris.csv", "--json").out
    kfe.write("cv.json", cv)
    kfe.ok("plot", "estimate", "cv.json", "-o", "e.csv")
    (row,) = csv.DictReader(kfe.path("e.csv").open())
    found = json.loads(cv)
    assert float(row["mean"]) == found["metrics"]["accuracy"]["mean"] and float(row["test parts"]) == 3
    assert row["setting chosen"] == f"gamma={found['best']['gamma']}"
    compared = kfe.ok("compare", "-q", "-m", "kfd", "-m", "koc", "-m", "pca", "--learner", "knn", "--folds", "3", "iris.csv", "--json").out
    kfe.write("compare.json", compared)
    kfe.ok("plot", "differences", "compare.json", "-o", "d.csv")
    table = list(csv.DictReader(kfe.path("d.csv").open()))
    pairs = json.loads(compared)["differences"]
    assert [(row["a"], row["b"]) for row in table] == [(pair["a"], pair["b"]) for pair in pairs] and len(table) == 3
    for row, pair in zip(table, pairs):
        p = pair["corrected"]["p"]
        assert row["p, corrected"] == "" if p is None else float(row["p, corrected"]) == p


def test_lines_without_bands_promise_none(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    for values, says in (("1,3", "bands are one"), ("1,3,5,7", "the table has their standard errors")):
        kfe.write("cv.json", kfe.ok("cv", "-q", "-m", "koc", "-k", "rbf", "--learner", "knn", "--grid", "gamma=0.1,0.3,1,3,10", "--grid",
                                    f"neighbors={values}", "--folds", "3", "iris.csv", "--json").out)
        assert says in json.loads(kfe.ok("plot", "cv-curve", "cv.json", "-o", "-", "--format", "json").out)["caption"]


def test_names_of_kernels_are_short(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf:gamma=0.123456789", "-k", "linear", "iris.csv", "-o", "m.kfe")
    kfe.ok("plot", "weights", "m.kfe", "-o", "w.csv")
    assert "rbf:gamma=0.1235" in [row["kernel"] for row in csv.DictReader(kfe.path("w.csv").open())]


def test_a_wide_linear_model_has_permutation_importance(kfe):
    """Predicting with a linear model costs columns x features, not columns squared, so that there is time to permute."""
    columns = 6000
    kfe.write("wide.csv", "".join(",".join([str((i * 7 + j * j) % 13 + (9 * (i % 2) if j == 17 else 0)) for j in range(columns)] + ["ab"[i % 2]])
                                  + "\n" for i in range(60)))
    kfe.ok("fit", "-q", "-m", "pls", "--dim", "2", "--learner", "centroid", "wide.csv", "-o", "m.kfe")
    kfe.ok("plot", "permutation", "m.kfe", "wide.csv", "-o", "p.csv")
    assert len(list(csv.DictReader(kfe.path("p.csv").open()))) >= 20


def test_the_diagonal_of_a_scatter_matrix_has_names(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    kfe.ok("fit", "-q", "-m", "pca", "--dim", "3", "iris.csv", "-o", "m.kfe")
    kfe.ok("plot", "matrix", "m.kfe", "iris.csv", "-o", "m.svg")
    bold = [e.text for e in parse(kfe, "m.svg").iter() if e.get("class") == "panel"]
    assert bold == ["PC 1", "PC 2", "PC 3"]


def test_rmsecv_and_q2_by_number_of_features(kfe):
    kfe.write("line.csv", "a,b,c,t\n" + "".join(f"{i},{i * i % 7},{i * 3 % 11},{2 * i + 3 * (i * i % 7) + 0.5 * (i % 3)}\n" for i in range(40)))
    cv = kfe.ok("cv", "-q", "-m", "pls", "--learner", "ls", "--task", "regress", "--grid", "dim=1,2,3", "line.csv", "--json").out
    kfe.write("cv.json", cv)
    kfe.ok("plot", "cv-curve", "cv.json", "-o", "c.csv")
    table = [[float(row[k]) for k in ("dim", "RMSECV", "Q2")] for row in csv.DictReader(kfe.path("c.csv").open())]
    assert table == [[float(s["setting"]["dim"]), s["rmsecv"], s["q2"]] for s in json.loads(cv)["settings"]]
    kfe.ok("plot", "cv-curve", "cv.json", "-o", "c.svg")
    assert {"RMSECV", "Q2"} <= {e.text for e in parse(kfe, "c.svg").iter() if e.tag.endswith("text")}


def test_the_curve_marks_the_choice(kfe):
    """A cross at the setting that the result calls best, also where inner folds chose a setting whose RMSECV is not the lowest."""
    kfe.write("line.csv", "a,b,c,t\n" + "".join(f"{i},{i * i % 7},{i * 3 % 11},{2 * i + 3 * (i * i % 7) + 0.5 * (i % 3)}\n" for i in range(40)))
    for options, nested in ((("--inner-folds", "0"), False), ((), True)):
        cv = kfe.ok("cv", "-q", "-m", "pls", "--learner", "ls", "--task", "regress", "--grid", "dim=1,2,3", *options, "line.csv", "--json").out
        kfe.write("cv.json", cv)
        found, made = json.loads(cv), json.loads(kfe.ok("plot", "cv-curve", "cv.json", "-o", "-", "--format", "json").out)
        dims = [column["numbers"] for column in made["columns"] if column["name"] == "dim"][0]
        crosses = [one for one in made["series"] if one.get("crosses")]
        assert [dims[one.get("first", 0)] for one in crosses] == [float(found["best"]["dim"])] * 2
        assert ("inner folds" in made["caption"]) == nested and "over held-out predictions" in made["caption"]
        errors = [column["numbers"] for column in made["columns"] if column["name"] == "standard error of RMSECV"][0]
        assert errors == pytest.approx([one["rmsecv_error"] for one in found["settings"]], rel=1e-3)


def test_the_number_of_features_that_a_fit_chose(kfe):
    kfe.write("line.csv", "a,b,c,d,t\n" + "".join(f"{i},{i * i % 7},{i * 3 % 11},{i * 5 % 13},{2 * i + 3 * (i * i % 7) + 0.5 * (i % 3)}\n" for i in range(60)))
    kfe.ok("fit", "-q", "-m", "pls", "--learner", "ls", "--task", "regress", "line.csv", "-o", "m.kfe")
    told = json.loads(kfe.ok("info", "m.kfe", "--json").out)
    made = json.loads(kfe.ok("plot", "dim-choice", "m.kfe", "-o", "-", "--format", "json").out)
    columns = {column["name"]: column["numbers"] for column in made["columns"]}
    assert columns["unexplained variance"] == pytest.approx(told["records"]["cv-unexplained-variance"], rel=1e-3)
    assert columns["standard error"] == pytest.approx(told["records"]["cv-unexplained-error"], rel=1e-3)
    assert columns["chosen"] == [float(j + 1 == told["features"]) for j in range(4)]
    cross = [one for one in made["series"] if one.get("crosses")][0]
    assert cross.get("first", 0) == told["features"] - 1 and cross["name"] == "chosen"
    kfe.ok("fit", "-q", "-m", "pls", "--dim", "2", "--learner", "ls", "--task", "regress", "line.csv", "-o", "m.kfe")
    kfe.refused("plot", "dim-choice", "m.kfe", "-o", "d.csv", says="was chosen by cross-validation")


def test_tables_have_bias_and_sep(kfe):
    kfe.write("line.csv", "a,b,t\n" + "".join(f"{i},{i * i % 7},{2 * i + 3 * (i * i % 7) + 0.5 * (i % 3)}\n" for i in range(40)))
    kfe.write("cv.json", kfe.ok("cv", "-q", "-m", "pls", "--dim", "1", "--learner", "ls", "--task", "regress", "line.csv", "--json").out)
    kfe.ok("plot", "estimate", "cv.json", "-o", "e.csv")
    pooled = json.loads(kfe.path("cv.json").read_text())["pooled"]
    table = {row["metric"]: row["mean"] for row in csv.DictReader(kfe.path("e.csv").open())}
    assert float(table["bias"]) == pooled["bias"] and float(table["SEP"]) == pooled["sep"]
    kfe.ok("fit", "-q", "-m", "pls", "--dim", "1", "--learner", "ls", "--task", "regress", "line.csv", "-o", "m.kfe")
    kfe.ok("plot", "metrics", "m.kfe", "line.csv", "-o", "e.csv")
    kfe.ok("plot", "predicted", "m.kfe", "line.csv", "-o", "p.csv")
    residuals = [float(row["predicted"]) - float(row["target"]) for row in csv.DictReader(kfe.path("p.csv").open())]
    table = {row["metric"]: row["value"] for row in csv.DictReader(kfe.path("e.csv").open())}
    bias = sum(residuals) / 40
    assert float(table["bias"]) == pytest.approx(bias, abs=1e-9)
    assert float(table["SEP"]) == pytest.approx((sum((e - bias) ** 2 for e in residuals) / 39) ** 0.5)


def test_the_permutation_test_is_a_histogram(kfe):
    """The outline has as many permutations as there were, over the bins they fall into; the line stands at the value observed."""
    kfe.ok("generate", "iris", "-o", "iris.csv")
    cv = kfe.ok("cv", "-q", "-m", "pca", "--dim", "1", "--learner", "knn", "--folds", "3", "--permutations", "40", "iris.csv", "--json").out
    kfe.write("cv.json", cv)
    found, permuted = json.loads(cv), json.loads(cv)["permutations"]["values"]
    permuted = [row["value"] if isinstance(row, dict) else row for row in permuted]
    kfe.ok("plot", "permutation-test", "cv.json", "-o", "p.csv")
    rows = list(csv.DictReader(kfe.path("p.csv").open()))
    outline = [(float(row["accuracy"]), float(row["permutations"])) for row in rows if row["what"] == "permuted"]
    assert outline[0][1] == outline[-1][1] == 0 and outline[0][0] == min(permuted) and outline[-1][0] == pytest.approx(max(permuted))
    bins = [(left, right, height) for (left, height), (right, _) in zip(outline[1:-1:2], outline[2:-1:2])]
    assert sum(height for _, _, height in bins) == len(permuted) == 40 and len(bins) == 7
    for k, (left, right, height) in enumerate(bins):
        inside = sum(left - 1e-12 <= value < right - 1e-12 or (k == 6 and value >= left - 1e-12) for value in permuted)
        assert height == pytest.approx(inside, abs=sum(abs(value - edge) < 1e-9 for value in permuted for edge in (left, right)))
    observed = [float(row["accuracy"]) for row in rows if row["what"] == "observed"]
    assert observed == [found["metrics"]["accuracy"]["mean"]] * 2
    caption = json.loads(kfe.ok("plot", "permutation-test", "cv.json", "-o", "-", "--format", "json").out)["caption"]
    assert f"p {found['permutations']['p']:.3g}" in caption and "in 40 permutations" in caption
    kfe.write("none.json", kfe.ok("cv", "-q", "-m", "pca", "--learner", "knn", "--folds", "3", "iris.csv", "--json").out)
    kfe.refused("plot", "permutation-test", "none.json", "-o", "p.csv", says="with permutations")


def test_regions_of_the_gate(kfe):
    """Examples belong to the part with the largest share; on a border two parts share the largest one."""
    rows = [(((i * 37) % 101) / 10 - 5, ((i * 59) % 97) / 10 - 5) for i in range(120)]
    kfe.write("d.csv", "u,v,class\n" + "".join(f"{u},{v},{'ab'[(u > 0) ^ (v > u * u / 5)]}\n" for u, v in rows))
    fit = ("fit", "-q", "-m", "lmkl", "-k", "linear", "-k", "poly:degree=2", "--seed", 1, "d.csv")
    kfe.ok(*fit, "-o", "m.kfe")
    kfe.ok(*fit, "--features", "shares", "-o", "s.kfe")
    kfe.ok("plot", "gate-regions", "m.kfe", "d.csv", "-o", "g.csv")
    table = list(csv.DictReader(kfe.path("g.csv").open()))
    examples, border = [r for r in table if r["row"]], [r for r in table if not r["row"] and r["u"]]

    def shares(points):
        kfe.write("p.csv", "u,v\n" + "".join(f"{r['u']},{r['v']}\n" for r in points))
        kfe.ok("transform", "-q", "s.kfe", "p.csv", "-o", "z.csv")
        with kfe.path("z.csv").open() as file:
            return [[float(x) for x in row] for row in csv.reader(file) if row[0][0] in "-.0123456789"]

    assert len(examples) == 120 and border
    for row, both in zip(examples, shares(examples)):
        assert float(row["share"]) == pytest.approx(max(both))
        assert row["part"].startswith("linear" if both[0] > both[1] else "poly")
    assert all(both[0] == pytest.approx(0.5, abs=1e-6) for both in shares(border))
    kfe.ok("plot", "gate-regions", "m.kfe", "d.csv", "-o", "g.svg")
    parse(kfe, "g.svg")


def test_comparison_ranks_methods(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    text = kfe.ok("compare", "-q", "-m", "kfd", "-m", "koc", "-m", "pca", "--learner", "knn", "iris.csv", "--json").out
    kfe.write("compare.json", text)
    kfe.ok("plot", "comparison", "compare.json", "-o", "c.csv")
    results = json.loads(text)
    values = {m["label"]: [s["metrics"]["accuracy"] for s in m["splits"]] for m in results["methods"]}
    table = [row for row in csv.DictReader(kfe.path("c.csv").open()) if row["accuracy"]]
    assert {row["method"] for row in table} == set(values)
    for row in table:
        own = values[row["method"]]
        ranks = [1 + sum(0.5 if v[s] == own[s] else v[s] > own[s] for m, v in values.items() if m != row["method"])
                 for s in range(len(own))]
        assert float(row["mean rank"]) == pytest.approx(sum(ranks) / len(ranks), rel=1e-12)
    for figure in ("comparison", "time"):
        kfe.ok("plot", figure, "compare.json", "-o", f"{figure}.svg")
        parse(kfe, f"{figure}.svg")


@pytest.mark.parametrize("classes", [2, 3])
def test_calibration_counts_what_came_true(kfe, classes):
    kfe.ok("generate", "waveform", "--n", 150, "--seed", 1, "-o", "all.csv")
    lines = kfe.path("all.csv").read_text().splitlines()
    kfe.write("train.csv", "\n".join(line for line in lines if classes == 3 or not line.endswith(",2")) + "\n")
    kfe.ok("fit", "-q", "-m", "kpca", "--dim", 3, "--learner", "svm", "--calibration", "platt", "train.csv", "-o", "m.kfe")
    kfe.ok("predict", "-q", "m.kfe", "train.csv", "--probabilities", "-o", "p.csv")
    kfe.ok("plot", "-q", "calibration", "m.kfe", "train.csv", "-o", "c.csv")
    truth = [line.rsplit(",", 1)[1] for line in kfe.path("train.csv").read_text().splitlines()[1:]]
    bins = [[0, 0.0, 0] for _ in range(10)]
    for row, label in zip(csv.DictReader(kfe.path("p.csv").open()), truth):
        shares = {key.split(" ", 1)[1]: float(value) for key, value in row.items() if key.startswith("probability ")}
        event = max(shares) if classes == 2 else max(shares, key=shares.get)  # the later class is the positive one
        chosen = bins[min(9, int(10 * shares[event]))]
        chosen[0], chosen[1], chosen[2] = chosen[0] + 1, chosen[1] + shares[event], chosen[2] + (label == event)
    table = [row for row in csv.DictReader(kfe.path("c.csv").open()) if row["probabilities"] == "calibrated (platt)"]
    expected = [(n, p / n, k / n) for n, p, k in bins if n]
    assert [float(row["examples"]) for row in table] == [n for n, _, _ in expected]
    assert [float(row["mean probability"]) for row in table] == pytest.approx([p for _, p, _ in expected], abs=1e-9)
    assert [float(row["observed share"]) for row in table] == pytest.approx([k for _, _, k in expected], abs=1e-9)


def test_importance_finds_the_planted_column(kfe):
    """Only the second of thirty columns tells the classes apart. The numbers are those of `kfe explain`."""
    rows = [[f"{((i * (3 + 2 * j)) % 17) / 17 + (4 * (i % 2) if j == 1 else 0)}" for j in range(30)] + ["ab"[i % 2]] for i in range(90)]
    kfe.write("d.csv", ",".join(f"c{j}" for j in range(30)) + ",class\n" + "".join(",".join(row) + "\n" for row in rows))
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--learner", "svm", "d.csv", "-o", "m.kfe")
    for figure, value in (("permutation", "loss"), ("gradient", "share of squared derivatives")):
        kfe.ok("plot", figure, "m.kfe", "d.csv", "-o", f"{figure}.csv")
        table = list(csv.DictReader(kfe.path(f"{figure}.csv").open()))
        assert table[0]["column"] == "c1" and all(float(table[0][value]) > 3 * float(row[value]) for row in table[1:])
    explained = json.loads(kfe.ok("explain", "-q", "m.kfe", "d.csv", "--parts", "permutation", "--top", 3, "--json").out)
    rows = explained["tables"]["permutation"]["rows"]
    assert rows[0] == "c1" and len(rows) == 3


def test_many_names_are_bars_and_a_scale_is_a_spectrum(kfe):
    """Genes: the largest coefficients, largest first. Wavelengths: every column in its order."""
    rows = [[(i * (7 + j)) % 23 + (9 * (i % 2) if j == 30 else 0) for j in range(60)] + ["ab"[i % 2]] for i in range(50)]
    for name, columns in (("genes.csv", [f"{'TPBRMYC'[j % 5:]}{60 - j}" for j in range(60)]), ("spectrum.csv", [f"nm{900 + 5 * j}" for j in range(60)])):
        kfe.write(name, ",".join(columns) + ",class\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
        kfe.ok("fit", "-q", "-m", "pls", "--dim", 2, "--learner", "ls", "--scale", "standard", name, "-o", "m.kfe")
        for figure in ("loadings", "loading-weights", "rotations", "coefficients"):
            kfe.ok("plot", figure, "m.kfe", "-o", "f.csv")
            table = list(csv.reader(kfe.path("f.csv").open()))[1:]
            sizes = [max(abs(float(value)) for value in row[1:]) for row in table]
            if name == "genes.csv":
                assert len(table) == 40 and sizes == sorted(sizes, reverse=True)
                assert table[0][0] == columns[30] or figure == "loadings"  # columns that say nothing of the class have loadings too
            else:
                assert [row[0] for row in table] == columns
                assert [float(row[1]) for row in table] == [900 + 5 * j for j in range(60)]


@pytest.mark.parametrize("unit, title, is_reversed", [(" nm", "wavelength (nm)", False), (" cm-1", "wavenumber (cm⁻¹)", True)])
def test_few_wavelengths_are_an_axis(kfe, unit, title, is_reversed):
    """Lines over positions, not bars sorted by size; wavenumbers fall from left to right in every picture."""
    rows = [[(i * (7 + j)) % 23 + (9 * (i % 2) if j == 3 else 0) for j in range(12)] + ["ab"[i % 2]] for i in range(50)]
    kfe.write("few.csv", ",".join(f"{1000.5 + 2 * j}{unit}" for j in range(12)) + ",class\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    kfe.ok("fit", "-q", "-m", "pls", "--dim", 2, "--learner", "ls", "few.csv", "-o", "m.kfe")
    for figure in ("vip", "coefficients", "loadings", "rotations", "smc", "selectivity-ratio", "permutation", "contributions"):
        kfe.ok("plot", figure, "m.kfe", "few.csv", "--train", "few.csv", "-o", "f.json")
        drawn = json.loads(kfe.path("f.json").read_text())
        x = drawn["columns"][drawn["series"][0]["x"] - 1]
        assert x["name"] == title and x["numbers"] == [1000.5 + 2 * j for j in range(12)]
        assert all(series["mark"] == "line" for series in drawn["series"])
        for panel in drawn["panels"]:
            assert panel["x"].get("reversed", False) == is_reversed and panel["x"]["title"] == title
            assert panel["x"]["range"] == [1000.5, 1022.5]
        kfe.ok("plot", figure, "m.kfe", "few.csv", "-o", "f.svg")
        line = [e.get("d") for e in parse(kfe, "f.svg").iter() if e.tag.endswith("path") and "2px" not in e.get("d") and e.get("stroke-width") == "1.8"][0]
        places = [float(point.split()[0]) for point in line[1:].replace("L", "M").split("M")]
        assert places == sorted(places, reverse=is_reversed)


def test_published_numbers_beside_ours(kfe):
    found = [{"row": r, "column": c, "metric": m, "paper": p, "paper-sd": None, "ours": o, "sd": 0.5, "splits": 3, "difference": d,
              "seconds": 1.0, "setting": None, "failed": None, "note": n}
             for r, c, m, p, o, d, n in (("<a>", "svm", "error", 9.5, 9.0, -1.5, None), ("<a>", "kfd", "error", 8, 8.25, 2.0, None),
                                         ("b", "svm", "error", 4, None, None, "needs b.csv under --data DIR"))]
    figure = {"table": "results", "series": "column", "x": "paper", "y": "ours", "spread": "sd", "diagonal": True, "caption": "<Both>."}
    kfe.write("t.json", json.dumps({"name": "t", "title": "A <b>table</b>", "paper": "Someone & else", "over": None,
                                    "remarks": ["A remark."], "results": found, "figure": figure}))
    kfe.ok("plot", "described", "t.json", "-o", "t.csv")
    table = list(csv.DictReader(kfe.path("t.csv").open()))
    assert {(r["row"], r["column"], r["paper"], r["ours"]) for r in table} == {
        ("<a>", "svm", "9.5", "9"), ("<a>", "kfd", "8", "8.25"), ("b", "svm", "4", "")}
    assert "paper-sd" not in table[0]
    assert next(r["note"] for r in table if r["row"] == "b") == "needs b.csv under --data DIR"
    kfe.ok("plot", "described", "t.json", "-o", "t.svg")
    parse(kfe, "t.svg")
    kfe.ok("report", "t.json", "-o", "t.html")
    page = kfe.path("t.html").read_text()
    assert "<h1>A &lt;b&gt;table&lt;/b&gt;</h1>" in page and "<dd>Someone &amp; else" in page and "<dd>A remark." in page
    assert page.index("<li>b: needs b.csv under --data DIR</li>") < page.index("<figure")


def test_reproduced_curves_and_scatter_plots(kfe):
    """The figures have the numbers of the JSON, and the points of the files that -o writes."""
    curve = kfe.write("c.json", json.dumps({
        "kind": "curve", "title": "t", "paper": "p", "metrics": ["accuracy"], "over": {"name": "d", "parameter": "dim", "values": [1, 2]},
        "protocol": {"folds": 2}, "rows": [{"name": "iris", "generate": "iris"}],
        "columns": [{"name": "PCA", "method": "pca", "learner": "centroid"}]}))
    results = json.loads(kfe.ok("reproduce", "-q", curve, "--json", "--report", "c.html").out)
    kfe.write("r.json", json.dumps(results))
    kfe.ok("plot", "described", "r.json", "-o", "r.csv")
    table = list(csv.DictReader(kfe.path("r.csv").open()))
    assert [(float(r["d"]), float(r["ours"])) for r in table] == [(r["d"], r["ours"]) for r in results["results"]]
    assert len(table) == 2 and results["over"] == "d"
    scatter = kfe.ok("reproduce", "-q", "004-figure1", "--json", "-o", "out", "--report", "s.html").out
    kfe.write("s.json", scatter)
    kfe.ok("plot", "described", "s.json", "-o", "s.csv")
    points = [(r["feature 1"], r["feature 2"]) for r in csv.DictReader(kfe.path("s.csv").open()) if (r["row"], r["column"]) == ("iris", "SVD rank 3")]
    with kfe.path("out/004-figure1-iris-SVD_rank_3.csv").open() as file:
        written = [row[:2] for row in csv.reader(file)]
    assert sorted((float(x), float(y)) for x, y in points) == pytest.approx(sorted((float(x), float(y)) for x, y in written[-150:]))


def test_residuals_of_a_regressor(kfe):
    kfe.write("line.csv", "a,b,t\n" + "".join(f"{i},{i * i % 7},{2 * i + 0.5 * (i % 3)}\n" for i in range(40)))
    kfe.ok("fit", "-q", "-m", "pls", "--dim", "2", "--learner", "ls", "--task", "regress", "line.csv", "-o", "m.kfe")
    kfe.ok("plot", "residuals", "m.kfe", "line.csv", "-o", "r.csv")
    kfe.ok("predict", "m.kfe", "line.csv", "-o", "p.csv")
    predicted = [float(line.split(",")[0]) for line in kfe.path("p.csv").read_text().split()[-40:]]
    for row in csv.DictReader(kfe.path("r.csv").open()):
        i = int(row["row"]) - 1
        assert float(row["residual"]) == pytest.approx(2 * i + 0.5 * (i % 3) - predicted[i], abs=1e-9)
    for figure in ("predicted", "residuals", "path", "loadings", "coefficients", "vip", "variance"):
        kfe.ok("plot", figure, "m.kfe", "line.csv", "-o", f"{figure}.svg")
        parse(kfe, f"{figure}.svg")


def test_thousands_of_classes(kfe):
    count = 10000
    kfe.write("many.csv", "x,y,class\n" + "".join(f"{i % 100},{i // 100},<{i}>\n" for i in range(count)))
    kfe.write("some.csv", "x,y,class\n" + "".join(f"{i % 100},{i // 100},<{i}>\n" for i in range(0, count, 100)))
    kfe.ok("fit", "-q", "-m", "none", "--learner", "knn", "--neighbors", "1", "many.csv", "-o", "m.kfe")
    for figure in ("scatter", "confusion", "roc", "distributions"):
        kfe.ok("plot", figure, "m.kfe", "some.csv", "-o", f"{figure}.svg")
        parse(kfe, f"{figure}.svg")
        assert kfe.path(f"{figure}.svg").stat().st_size < 1_000_000
    kfe.ok("plot", "confusion", "m.kfe", "some.csv", "-o", "c.csv")
    table = list(csv.DictReader(kfe.path("c.csv").open()))
    assert len(table) == 100 and all(row["true class"] == row["predicted class"] for row in table)


def test_axes_are_the_features_asked_for(kfe, hostile):
    kfe.ok("plot", "scatter", "m.kfe", hostile, "--x", "3", "--y", "1", "-o", "s.json")
    figure = json.loads(kfe.path("s.json").read_text())
    shares = json.loads(kfe.ok("explain", "m.kfe", "--json").out)["tables"]["x-variance"]["values"]
    assert [figure["panels"][0][axis]["title"] for axis in "xy"] == [f"PC {k} ({100 * shares[k - 1][0]:.1f} %)" for k in (3, 1)]
    kfe.refused("plot", "scatter", "m.kfe", hostile, "--x", "4", "-o", "s.svg", says="feature 4 cannot be an axis")


def test_refusals(kfe, hostile):
    kfe.refused("plot", "scater", "m.kfe", hostile, "-o", "s.svg", says="did you mean scatter?")
    kfe.refused("plot", "scatter", "m.kfe", hostile, says="-o FILE")
    kfe.refused("plot", "scatter", "m.kfe", hostile, "-o", "s.pdf", says="format of s.pdf is not known")
    kfe.refused("plot", "scatter", "m.kfe", hostile, "--format", "pdf", "-o", "s", says="'pdf' is not a format")
    kfe.refused("plot", "scatter", "m.kfe", hostile, "-o", hostile, "--format", "svg", says="overwrite the input")
    kfe.refused("plot", "cv-curve", "m.kfe", "-o", "s.svg", says="needs the JSON of cv")
    kfe.write("bad.json", "{nonsense")
    kfe.refused("plot", "cv-curve", "bad.json", "-o", "s.svg", says="not JSON")


@pytest.mark.parametrize("figure, says", [
    ("permutation", "it needs a model that predicts from columns, and at least two labelled rows of data; given: a model of kfd and 1 row of data"),
    ("gradient", "it needs a model whose kernels have derivatives, and at least two rows of data; given: a model of kfd and 1 row of data"),
    ("gate-regions", "it needs a model with a gate over several parts, of lmkl or sldr, and data; given: a model of kfd and 1 row of data"),
])
def test_a_refusal_says_what_is_given(kfe, figure, says):
    kfe.write("t.csv", "a,b,kind\n1,2,u\n2,1,v\n3,4,u\n4,1,v\n")
    kfe.write("one.csv", "a,b,kind\n1,2,u\n")
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--learner", "ls", "t.csv", "-o", "k.kfe")
    kfe.refused("plot", figure, "k.kfe", "one.csv", "-o", "p.svg", says=f"{figure} cannot be drawn: {says}")
    kfe.refused("plot", figure, "k.kfe", "-o", "p.svg", says="given: a model of kfd and no data")


def test_png_needs_a_converter(kfe, hostile):
    kfe.refused("plot", "scatter", "m.kfe", hostile, "-o", "s.png", says="librsvg2-bin", env={"PATH": "/nowhere"})
    if not shutil.which("rsvg-convert"):
        pytest.skip("rsvg-convert is not installed")
    kfe.ok("plot", "scatter", "m.kfe", hostile, "-o", "s.png", env=dict(os.environ))
    assert kfe.path("s.png").read_bytes().startswith(b"\x89PNG")


def test_axes_of_bars_end_where_the_data_ends(kfe):
    """Two features with four series of bars: no tick beyond the features."""
    kfe.write("line.csv", "".join(f"{i},{i * i % 7},{i * 3 % 11},{2 * i + 3 * (i * i % 7) + 0.5 * (i % 3)}\n" for i in range(40)))
    kfe.ok("fit", "-q", "-m", "pls", "--dim", 2, "--learner", "ls", "--task", "regress", "line.csv", "-o", "m.kfe")
    kfe.ok("plot", "variance", "m.kfe", "-o", "v.svg")
    ticks = [e.text for e in parse(kfe, "v.svg").iter() if e.tag.endswith("text") and e.get("text-anchor") == "middle" and e.text]
    assert [tick for tick in ticks if tick[-1].isdigit()] == ["LV 1", "LV 2"]


def scores_of(kfe, *options):
    kfe.ok("plot", "scatter", "m.kfe", *options, "-o", "s.json")
    return json.loads(kfe.path("s.json").read_text())


def test_the_ellipse_is_that_of_hotelling(kfe):
    """On the ellipse, T² of two components is 2(n² − 1)/(n(n − 2))·F(0.95; 2, n − 2)."""
    stats = pytest.importorskip("scipy.stats")
    np = pytest.importorskip("numpy")
    kfe.ok("generate", "iris", "-o", "iris.csv")
    kfe.ok("fit", "-q", "-m", "pca", "--dim", "2", "iris.csv", "-o", "m.kfe")
    figure = scores_of(kfe, "iris.csv")
    x, y, a, b, c = figure["panels"][0]["ellipse"]
    kfe.ok("transform", "-q", "m.kfe", "iris.csv", "-o", "t.csv")
    scores = np.loadtxt(kfe.path("t.csv"), delimiter=",", skiprows=1)
    n, inverse = len(scores), np.linalg.inv(np.cov(scores.T))
    for angle in (0.0, 1.0, 2.5):
        point = np.array([x + a * np.cos(angle), y + b * np.cos(angle) + c * np.sin(angle)]) - scores.mean(0)
        assert point @ inverse @ point == pytest.approx(2 * (n * n - 1) / (n * (n - 2)) * stats.f.ppf(0.95, 2, n - 2), rel=1e-6)
    kfe.ok("plot", "scatter", "m.kfe", "iris.csv", "-o", "s.svg")
    assert any(e.get("d", "").count("L") == 71 for e in parse(kfe, "s.svg").iter())


def test_the_features_that_separate_best_are_shown_first(kfe):
    """The third principal component tells the classes apart, or follows the target; in the order of the rows or another."""
    rows = [(9 * ((i * 7) % 13) / 13, 4 * ((i * 5) % 11) / 11, 0.9 * (i % 2) + 0.1 * ((i * 3) % 7) / 7) for i in range(60)]
    for name, target in (("c.csv", ["ab"[i % 2] for i in range(60)]), ("r.csv", [f"{3 * row[2] + 0.01}" for row in rows])):
        lines = [",".join(map(str, row)) + f",{y}\n" for row, y in zip(rows, target)]
        kfe.write(name, "".join(lines))
        kfe.write("reversed.csv", "".join(lines[::-1]))
        kfe.ok("fit", "-q", "-m", "pca", "--dim", "3", "--scale", "none", name, "-o", "m.kfe")
        for train in (name, "reversed.csv"):
            panel = scores_of(kfe, "--train", train)["panels"][0]
            assert "PC 3" in panel["y"]["title"] and panel["x"]["title"][:4] in ("PC 1", "PC 2")
        assert scores_of(kfe, name)["panels"][0]["y"]["title"].startswith("PC 2")  # without training data, the first two
        assert scores_of(kfe, "--train", name, "--x", "1", "--y", "2")["panels"][0]["y"]["title"].startswith("PC 2")


def test_points_of_one_feature_are_beside_each_other(kfe):
    kfe.write("two.csv", "".join(f"{i},{(i * i) % 17},{'ab'[i % 2]}\n" for i in range(30)))
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "linear", "--learner", "centroid", "two.csv", "-o", "m.kfe")
    figure = scores_of(kfe, "two.csv")
    shift = figure["columns"][figure["series"][0]["shift"] - 1]["numbers"]
    assert len(set(shift)) == 30 and max(map(abs, shift)) <= 0.3 and figure["panels"][0]["x"]["title"] == "LD 1"


def test_densities_have_area_one_and_weights_are_repeated_rows(kfe):
    rows = [f"{(i * 7) % 13 + 20 * (i % 2)},{(i * i) % 11},{'ab'[i % 2]}" for i in range(40)]
    kfe.write("w.csv", "x,y,c,w\n" + "".join(f"{row},{1 + i % 2}\n" for i, row in enumerate(rows)))
    kfe.write("r.csv", "x,y,c\n" + "".join(f"{row}\n" * (1 + i % 2) for i, row in enumerate(rows)))
    tables = []
    kfe.ok("fit", "-q", "-m", "pca", "--dim", "2", "--scale", "none", "r.csv", "-o", "m.kfe")
    for name, weights in (("w.csv", ["--weight", "w"]), ("r.csv", [])):
        kfe.ok("plot", "distributions", "m.kfe", name, *weights, "--label", "c", "-o", "d.csv")
        table = list(csv.DictReader(kfe.path("d.csv").open()))
        tables.append([[float(row["value"]), float(row["density"])] for row in table])
        for group in {(row["feature"], row["class"]) for row in table}:
            own = [(float(r["value"]), float(r["density"])) for r in table if (r["feature"], r["class"]) == group]
            assert sum((q[0] - p[0]) * (p[1] + q[1]) / 2 for p, q in zip(own, own[1:])) == pytest.approx(1, abs=0.02)
    assert [value for row in tables[0] for value in row] == pytest.approx([value for row in tables[1] for value in row], rel=1e-6, abs=1e-9)


def test_orthogonal_features_are_called_so(kfe):
    kfe.write("o.csv", "".join(f"{i},{i * i % 7},{i * 3 % 11},{2 * i + 3 * (i * i % 7) + 0.5 * (i % 3)}\n" for i in range(40)))
    for method in ("opls", "kopls2"):
        kfe.ok("fit", "-q", "-m", method, "--orthogonal", "2", "--task", "regress", "o.csv", "-o", "m.kfe")
        names = [c["name"] for c in scores_of(kfe, "o.csv", "--task", "regress")["columns"]]
        assert names[-3:] == ["predictive 1", "orthogonal 1", "orthogonal 2"]
    kfe.ok("fit", "-q", "-m", "opls", "--orthogonal", "2", "--task", "regress", "o.csv", "-o", "m.kfe")
    assert json.loads(kfe.ok("explain", "m.kfe", "--json").out)["tables"]["x-loadings"]["columns"] == ["predictive 1", "orthogonal 1", "orthogonal 2"]


@pytest.mark.parametrize("target", ["class", "real"])
def test_spectra_are_the_rows_and_what_steps_make_of_them(kfe, target):
    rows = [[(i * (7 + j)) % 23 + 0.5 for j in range(12)] for i in range(30)]
    ends = ["ab"[i % 2] if target == "class" else str(i + 0.25) for i in range(30)]
    kfe.write("s.csv", ",".join(f"{4000 - 2 * j} cm-1" for j in range(12)) + ",y\n"
              + "".join(",".join(map(str, row)) + f",{end}\n" for row, end in zip(rows, ends)))
    kfe.ok("fit", "-q", "-m", "pls", "--dim", 2, "--prepare", "cut:keep=3990..,vector", "s.csv", "-o", "m.kfe")
    kfe.ok("plot", "spectra", "m.kfe", "s.csv", "-o", "f.json")
    figure = json.loads(kfe.path("f.json").read_text())
    assert [panel["title"] for panel in figure["panels"]] == ["raw", "prepared"] and all(p["x"]["reversed"] for p in figure["panels"])
    assert figure["columns"][1]["numbers"] == [4000 - 2 * j for j in range(12)] + [4000 - 2 * j for j in range(6)]
    shown = {column["name"]: column["numbers"] for column in figure["columns"][2:]}
    distinct = {tuple(row) for row in rows}
    assert len(shown) == len(distinct)
    for name, values in shown.items():
        row = rows[int(name.split()[1]) - 1]
        length = sum(value * value for value in row[:6]) ** 0.5
        assert values == pytest.approx(row + [value / length for value in row[:6]], rel=1e-3)
    names = {series["name"] for series in figure["series"] if "name" in series}
    assert names == ({"a", "b"} if target == "class" else {"target 0.25", f"target {max(map(float, ends)):.4g}"}) or target == "real"
    for form in ("svg", "csv"):
        kfe.ok("plot", "spectra", "m.kfe", "s.csv", "-o", f"f.{form}")
    kfe.write("n.csv", "".join(f"{i},{i * i % 7},{'ab'[i % 2]}\n" for i in range(20)))
    kfe.ok("fit", "-q", "-m", "pca", "n.csv", "-o", "m.kfe")
    kfe.refused("plot", "spectra", "m.kfe", "n.csv", "-o", "f.svg", says="named by positions")


def test_kernel_pca_names_its_shares_of_the_variance(kfe):
    """With a linear kernel they are those of PCA; with any kernel, a weight of 2 is a row given twice, and all shares add up to 1."""
    kfe.ok("generate", "iris", "-o", "iris.csv")
    head, *rows = kfe.path("iris.csv").read_text().splitlines()
    kfe.write("w.csv", f"{head},w\n" + "".join(f"{row},{1 + i % 2}\n" for i, row in enumerate(rows)))
    kfe.write("r.csv", f"{head}\n" + "".join(f"{row}\n" * (1 + i % 2) for i, row in enumerate(rows)))

    def titles(table, *flags):
        kfe.ok("fit", "-q", "--dim", "4", *flags, table, "-o", "m.kfe")
        figure = json.loads(kfe.ok("plot", "scatter", "m.kfe", table, *(flags[-2:] if "--weight" in flags else ()), "-o", "-", "--format", "json").out)
        return [column["title"] for column in figure["columns"] if column["name"].startswith("PC ")]

    assert titles("iris.csv", "-m", "kpca", "-k", "linear") == titles("iris.csv", "-m", "pca")
    rbf = ("-m", "kpca", "-k", "rbf:gamma=0.2", "--label", "species")
    assert titles("w.csv", *rbf, "--weight", "w") == titles("r.csv", *rbf)
    kfe.ok("fit", "-q", "-m", "kpca", "-k", "rbf:gamma=0.2", "--dim", "149", "--tolerance", "1e-14", "iris.csv", "-o", "m.kfe")
    records = json.loads(kfe.ok("info", "m.kfe", "--json").out)["records"]
    assert abs(sum(records["eigenvalues"]) / records["eigenvalue-sum"][0] - 1) < 1e-9


def test_names_beside_a_square_panel_have_its_room(kfe):
    rows = [(i % 7 + 2 * (i % 3), i * i % 5 - i % 3, ["plus", "regular unleaded gasoline", "super premium gasoline"][i % 3]) for i in range(60)]
    kfe.write("t.csv", "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    kfe.ok("fit", "-q", "-m", "plsda", "t.csv", "-o", "m.kfe")
    kfe.ok("plot", "roc", "m.kfe", "t.csv", "-o", "r.svg")
    texts = [e.text or "" for e in parse(kfe, "r.svg").iter() if e.tag.endswith("text")]
    assert any(text.startswith("AUC") and text.endswith("regular unleaded gasoline") for text in texts)
    kfe.ok("plot", "confusion", "m.kfe", "t.csv", "-o", "c.svg")
    names = [e for e in parse(kfe, "c.svg").iter() if e.tag.endswith("text") and (e.text or "").startswith("super") and e.get("text-anchor") == "end"
             and e.get("transform") is None]
    assert len(names) == 1 and float(names[0].get("x")) - 7 * len(names[0].text) > 5  # it does not cross the title of the axis
