# SPDX-License-Identifier: Apache-2.0
"""scale=auto standardises dense columns whose ranges differ by more than tenfold, says so, and stores it in the
model."""
import json
import math
import random
import re

import pytest


def table(factors, rows=60, shift=0.0, seed=1):
    """Two classes that the first column separates; column j is multiplied by factors[j]."""
    draw = random.Random(seed)
    lines = []
    for i in range(rows):
        sign = 1 if i % 2 else -1
        numbers = [(draw.gauss(2 * sign if j == 0 else 0, 1) + shift) * factor for j, factor in enumerate(factors)]
        lines.append(",".join(f"{x:.6f}" for x in numbers) + f",{'ab'[i % 2]}\n")
    return "".join(lines)


def scaling(kfe, *arguments):
    """The scaling stored in the model, and the messages of the fit."""
    done = kfe.ok("fit", *arguments, "-o", "m.kfe")
    views = json.loads(kfe.ok("info", "m.kfe", "--json").out)["views"]
    return [view["scale"] for view in views], done.err


NOTICE = "so the columns are standardised"


def test_uneven_columns_are_standardised_and_even_ones_are_not(kfe):
    kfe.write("uneven.csv", table([1, 100, 1]))
    kfe.write("even.csv", table([1, 3, 1]))
    kinds, said = scaling(kfe, "-m", "koc", "uneven.csv")
    assert kinds == ["standard"]
    assert NOTICE in said and "--scale none leaves them as they are" in said
    kinds, said = scaling(kfe, "-m", "koc", "even.csv")
    assert kinds == ["none"] and NOTICE not in said
    kinds, said = scaling(kfe, "-m", "koc", "--scale", "none", "uneven.csv")
    assert kinds == ["none"] and NOTICE not in said
    assert NOTICE not in scaling(kfe, "-q", "-m", "koc", "uneven.csv")[1]


def test_columns_that_are_left_alone_are_mentioned(kfe):
    kfe.write("wide.csv", table([1, 5, 1]))
    kinds, said = scaling(kfe, "-m", "koc", "wide.csv")
    assert kinds == ["none"] and "as within one unit, so they are left as they are; --scale standard standardises" in said
    kfe.write("genes.csv", table([10 ** (j % 4) for j in range(30)], rows=20))
    kinds, said = scaling(kfe, "-m", "koc", "genes.csv")
    assert kinds == ["none"] and "more columns than different rows" in said
    kfe.write("same.csv", table([1, 1, 1]))
    assert "ranges of the columns" not in scaling(kfe, "-m", "koc", "same.csv")[1]
    # fits that leave rows out, for probabilities and intervals, say nothing of their own
    for flags in (("plsda", "--dim", "2"), ("kfd", "--learner", "svm", "--calibration", "platt"), ("koc", "--learner", "knn", "--conformal", "cross")):
        assert scaling(kfe, "-m", *flags, "genes.csv")[1].count("ranges of the columns") == 1


def test_grids_of_whole_numbers(kfe):
    kfe.write("even.csv", table([1, 5, 1]))
    search = ("cv", "-q", "-m", "splsda", "--folds", "2", "--inner-folds", "2", "even.csv", "--json")

    def tried(*grid):
        found = json.loads(kfe.ok(*search, *grid).out)
        return [row["parameters"] for row in found["settings"]]

    assert tried("--grid", "dim=1:3", "--keep", "2") == ["dim=1", "dim=2", "dim=3"]
    assert tried("--grid", "keep=1:3:lin3", "--dim", "1") == ["keep=1", "keep=2", "keep=3"]
    kfe.refused(*search, "--grid", "dim=1:9:2", says="dim takes values as a,b,c, as lo:hi (whole numbers), or N of them as lo:hi:linN")


def test_the_decision_is_in_the_line_of_the_fit_and_in_the_model(kfe):
    """Also where the ranges are so much alike that no message explains them; not where the user decides."""
    for factors, rows, line, reason in (([1, 100, 1], 60, ", columns standardised, ", "differ by a factor of"),
                                        ([1, 1, 1], 60, ", columns not scaled, ", ", at most 10)"),
                                        ([10 ** (j % 4) for j in range(30)], 20, ", columns not scaled, ", "more columns than different rows)")):
        kfe.write("t.csv", table(factors, rows))
        kinds, said = scaling(kfe, "-m", "koc", "t.csv")
        view = next(each for each in kfe.ok("info", "m.kfe").out.splitlines() if each.startswith("view"))
        assert line in said.splitlines()[-1] and f"scaling {kinds[0]} (auto: the ranges of the columns differ" in view and reason in view
        told = json.loads(kfe.ok("info", "m.kfe", "--json").out)["views"][0]["scaling"]
        assert f"scaling {told}" in view and told.startswith(kinds[0])
        kfe.ok("report", "m.kfe", "--test", "t.csv", "-o", "r.html")
        assert f'Scaling: {told}. ' in re.search('<p class="lead">(.*?)</p>', kfe.path("r.html").read_text(), re.S)[1]
    kinds, said = scaling(kfe, "-m", "koc", "--scale", "yes", "t.csv")
    assert kinds == ["standard"] and ", columns" not in said.splitlines()[-1] and "(auto" not in kfe.ok("info", "m.kfe").out


@pytest.mark.parametrize("factors", [[1, 100, 1], [1, 4, 1]])
def test_the_choice_does_not_depend_on_what_should_not_matter(kfe, factors):
    """Constants added to columns, the order of rows and columns, repeated rows, weights, and the unit of a column that is standardised."""
    rows = [line.split(",") for line in table(factors).splitlines()]
    columns = {"plain": rows,
               "shifted": [[r[0], repr(float(r[1]) + 1000), r[2], r[3]] for r in rows],
               "reversed": rows[::-1],
               "mirrored": [[r[2], r[1], r[0], r[3]] for r in rows],
               "twice": rows + rows,
               "constant": [[r[0], "7", r[1], r[2], r[3]] for r in rows],
               "weighted": [[*r[:3], "0.01", r[3]] for r in rows] + [["1e6", "0", "0", "0", "a"]],
               "unit": [[r[0], repr(float(r[1]) * 2.54), r[2], r[3]] for r in rows]}
    features = {}
    for name, lines in columns.items():
        kfe.write("t.csv", "".join(",".join(line) + "\n" for line in lines))
        weight = ["--weight", "4"] if name == "weighted" else []
        kinds, _ = scaling(kfe, "-m", "kpca", "--dim", "2", *weight, "t.csv")
        assert kinds == ["standard" if factors[1] > 10 else "none"], name
        kernel = json.loads(kfe.ok("info", "m.kfe", "--json").out)["kernels"][0]
        features[name] = float((kernel if isinstance(kernel, str) else kernel["kernel"]).split("gamma=")[1].split(",")[0])
    if factors[1] <= 10:
        del features["unit"]
    assert all(gamma == pytest.approx(features["plain"], rel=1e-9) for gamma in features.values()), features


def test_auto_is_the_fit_with_standard(kfe):
    kfe.write("uneven.csv", table([1, 100, 1]))
    features = []
    for scale in ["auto", "standard"]:
        kfe.ok("fit", "-q", "-m", "kpca", "--dim", "3", "--scale", scale, "uneven.csv", "-o", "m.kfe")
        features.append(kfe.ok("transform", "m.kfe", "uneven.csv").out)
    assert features[0] == features[1]


@pytest.mark.parametrize("kernel, scaled", [("rbf", True), ("laplacian", True), ("linear", True), ("poly", True),
                                            ("chi2", False), ("intersection", False)])
def test_kernels_for_histograms_are_left_alone(kfe, kernel, scaled):
    kfe.write("positive.csv", table([1, 100, 1], shift=9))
    assert scaling(kfe, "-m", "koc", "-k", kernel, "positive.csv")[0] == ["standard" if scaled else "none"]


def test_sparse_strings_and_given_matrices_are_left_alone(kfe):
    rows = [line.split(",") for line in table([1, 100]).splitlines()]
    kfe.write("sparse.svm", "".join(f"{'+1' if r[2] == 'a' else '-1'} 1:{r[0]} 2:{r[1]}\n" for r in rows))
    assert scaling(kfe, "-m", "koc", "sparse.svm")[0] == ["none"]
    points = [[float(x) for x in r[:2]] for r in rows[:8]]
    kfe.write("k.csv", "".join(",".join(str(10 ** (2 * ((i == 3) + (j == 3))) * math.exp(-(p[0] - q[0]) ** 2))
                                        for j, q in enumerate(points)) + "\n" for i, p in enumerate(points)))
    kfe.write("labels.csv", "".join(f"{r[2]}\n" for r in rows[:8]))
    assert scaling(kfe, "-m", "koc", "-k", "precomputed", "k.csv", "--label-file", "labels.csv")[0] == ["none"]


def test_columns_alone_are_left_alone(kfe):
    kfe.write("uneven.csv", table([1, 100, 1]))
    assert scaling(kfe, "-m", "none", "uneven.csv")[0] == ["none"]
    assert scaling(kfe, "-m", "none", "--learner", "knn", "uneven.csv")[0] == ["standard"]


def fold_scores(kfe, *arguments):
    result = json.loads(kfe.ok("cv", "-q", "--json", "--folds", "5", "--metrics", "accuracy", *arguments).out)
    return [split["metrics"]["accuracy"] for split in result["splits"]]


@pytest.mark.parametrize("kernel", ["rbf:gamma=0.3", "rbf"])
def test_every_training_part_learns_its_own_scaling(kfe, kernel):
    """One example is an outlier. Its own fold has training rows of equal spreads; the other folds do not."""
    kfe.write("even.csv", table([1, 3, 1, 1]))
    kfe.write("uneven.csv", table([1, 100, 1, 1]))
    kfe.write("outlier.csv", table([1, 3, 1, 1]) + "0,4000,0,0,a\n")
    common = ["-m", "kpca", "--dim", "1", "-k", kernel, "--learner", "knn", "--neighbors", "3"]
    found = {(name, scale): fold_scores(kfe, *common, "--scale", scale, f"{name}.csv")
             for name in ["even", "uneven", "outlier"] for scale in ["auto", "standard", "none"]}
    assert found["uneven", "auto"] == found["uneven", "standard"] != found["uneven", "none"]
    assert found["even", "auto"] == found["even", "none"] != found["even", "standard"]
    unlike = [f for f in range(5) if found["outlier", "auto"][f] != found["outlier", "standard"][f]]
    assert len(unlike) == 1
    assert found["outlier", "auto"][unlike[0]] == found["outlier", "none"][unlike[0]]


def test_cross_validation_says_what_it_scales(kfe):
    kfe.write("uneven.csv", table([1, 100, 1]))
    common = ["cv", "-m", "koc", "--learner", "centroid", "--folds", "3", "uneven.csv"]
    assert NOTICE in kfe.ok(*common).err
    assert NOTICE not in kfe.ok(*common, "--scale", "standard").err
    assert NOTICE not in kfe.ok(*common, "--grid", "scale=none,standard").err
