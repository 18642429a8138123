# SPDX-License-Identifier: Apache-2.0
"""--weight: a column of weights against the table whose rows are repeated, in every format, and the methods that the page lists."""
import json
import pathlib
import re

import numpy
import pytest

FIT = ["-m", "kfd", "--ridge", "0.1", "--learner", "ls", "--task", "classify"]


@pytest.fixture
def tables(kfe):
    """One table with weights (w.csv, w.npy) and the same with repeated rows (r.csv)."""
    draw = numpy.random.default_rng(2)
    kind = numpy.arange(60) % 3
    weights = numpy.array([1, 2, 3, 0])[numpy.arange(60) // 3 % 4]
    x = (draw.normal(size=(60, 4)) + 1.5 * (kind[:, None] == numpy.arange(4))).round(4)
    table = numpy.column_stack([x[:, :2], weights, x[:, 2:], kind])
    numpy.save(kfe.path("w.npy"), table)
    lines = [[*map(str, row[:2]), str(int(row[2])), *map(str, row[3:5]), str(int(row[5]))] for row in table]
    kfe.write("w.csv", "a,b,n,c,d,kind\n" + "".join(",".join(line) + "\n" for line in lines))
    kfe.write("r.csv", "a,b,c,d,kind\n" + "".join((",".join(line[:2] + line[3:]) + "\n") * int(line[2]) for line in lines))
    return kfe


@pytest.mark.parametrize("file, column", [("w.csv", "n"), ("w.csv", "3"), ("w.npy", "3")])
def test_weights_count_like_repeated_rows(tables, file, column):
    tables.ok("fit", "-q", *FIT, "r.csv", "-o", "r.kfe")
    tables.ok("fit", "-q", *FIT, "--weight", column, file, "-o", "w.kfe")
    expected = json.loads(tables.ok("evaluate", "-q", "--json", "r.kfe", "r.csv").out)
    got = json.loads(tables.ok("evaluate", "-q", "--json", "--weight", column, "w.kfe", file).out)
    assert got["rows"] == 60 and expected["rows"] == 90
    for name, value in expected["metrics"].items():
        assert got["metrics"][name] == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize("method", ["pca", "kpca", "skfa"])
def test_without_labels(tables, method):
    """Rows are counted by their weights also where there is no target."""
    features = []
    for weight, file in (["--weight", "n"], "w.csv"), ([], "r.csv"):
        tables.ok("fit", "-q", "-m", method, "--dim", "2", "--label", "none", "--drop", "kind", *weight, file, "-o", "m.kfe")
        tables.ok("transform", "-q", "m.kfe", "w.csv", "-o", "z.npy")
        features.append(numpy.abs(numpy.load(tables.path("z.npy"))))
    numpy.testing.assert_allclose(*features, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["platt", "isotonic"])
def test_calibrated_probabilities_count_weights(kfe, kind):
    """Columns that say nothing: the probability of a class is its share of the weights."""
    draw = numpy.random.default_rng(5)
    rows = [f"{draw.normal():.4f},{draw.normal():.4f},{3 if i % 2 else 1},{'uv'[i % 2]}" for i in range(400)]
    kfe.write("t.csv", "a,b,n,kind\n" + "\n".join(rows) + "\n")
    means = []
    for weight in ["--weight", "n"], ["--drop", "n"]:
        kfe.ok("fit", "-q", "-m", "none", "--learner", "ls", "--calibration", kind, *weight, "t.csv", "-o", "m.kfe")
        lines = kfe.ok("predict", "-q", "--probabilities", *weight, "m.kfe", "t.csv").out.splitlines()
        assert lines[0] == "label,probability u,probability v"
        means.append(numpy.mean([float(line.split(",")[-1]) for line in lines[1:]]))
    assert means == pytest.approx([0.75, 0.5], abs=0.05)


def explained(kfe, part, *flags):
    kfe.ok("explain", "-q", "--parts", part, *flags, "-o", "explained.csv")
    return {tuple(line.split(",")[1:3]): float(line.split(",")[3]) for line in kfe.path("explained.csv").read_text().splitlines()[1:]}


def test_permutation_importance_counts_weights(kfe):
    """`a` is the class. Its value comes from a row of u with probability 0.1 and from one of v with 0.9, so that a permutation makes 18 % wrong;
    were all rows permuted alike, half would be wrong. Rows of weight zero take no part."""
    rows = [f"{i % 2},{i % 5},{(1, 9)[i % 2]},{'uv'[i % 2]}\n" for i in range(200)]
    kfe.write("t.csv", "a,b,n,kind\n" + "".join(rows) + "".join(f"{i % 2},0,0,{'vu'[i % 2]}\n" for i in range(100)))
    kfe.ok("fit", "-q", "-m", "none", "--learner", "ls", "--weight", "n", "t.csv", "-o", "m.kfe")
    flags = "--metric", "accuracy", "--repeats", 100, "--weight", "n", "m.kfe", "t.csv"
    assert explained(kfe, "permutation", *flags)["a", "loss"] == pytest.approx(0.18, abs=0.03)


def test_derivatives_count_weights(tables):
    """The importance by derivatives on weighted rows, some of weight zero, is that on repeated rows."""
    tables.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--learner", "svm", "r.csv", "-o", "m.kfe")
    weighted = explained(tables, "gradient", "--weight", "n", "m.kfe", "w.csv")
    assert len(weighted) >= 2
    assert weighted == {key: pytest.approx(value, rel=1e-8) for key, value in explained(tables, "gradient", "m.kfe", "r.csv").items()}


def drawn(kfe, figure, *flags):
    kfe.ok("plot", "-q", figure, *flags, "-o", "figure.csv")
    lines = [line for line in kfe.path("figure.csv").read_text().splitlines() if not line.startswith("#")]
    names = lines[0].split(",")
    return [dict(zip(names, line.split(","))) for line in lines[1:]]


def test_figures_count_weights(tables):
    tables.ok("fit", "-q", "-m", "koc", "-k", "rbf", "--learner", "centroid", "r.csv", "-o", "m.kfe")
    told = json.loads(tables.ok("evaluate", "-q", "--json", "--weight", "n", "m.kfe", "w.csv").out)
    test = "m.kfe", "w.csv", "--weight", "n"
    found = {row["metric"]: row for row in drawn(tables, "metrics", *test)}
    for name, value in told["metrics"].items():
        assert float(found[name]["value"]) == pytest.approx(value)
        error = told["standard_errors"][name]
        assert error is None or float(found[name]["standard error"]) == pytest.approx(error)
    for figure, weighed in ("classes", ("examples", "precision", "recall", "F1")), ("calibration", ("examples", "mean probability", "observed share")), \
            ("distributions", ("density",)):
        pairs = list(zip(drawn(tables, figure, *test), drawn(tables, figure, "m.kfe", "r.csv"), strict=True))
        assert pairs
        for one, other in pairs:
            assert [float(one[name]) for name in weighed] == pytest.approx([float(other[name]) for name in weighed])


@pytest.mark.parametrize("command", [("cv", "-m", "koc", "--learner", "centroid"), ("cv", "-m", "koc", "--learner", "centroid", "--split", "random"),
                                     ("cv", "-m", "kpls", "--learner", "ls", "--grid", "dim=1,2"),
                                     ("compare", "-m", "koc", "-m", "pls", "--learner", "ls"), ("tune", "--time", "none", "--trials", 10)])
def test_searches_leave_out_rows_of_weight_zero(tables, command):
    """They are in no fold, so that all numbers are those of a file without them."""
    whole = tables.path("w.csv").read_text().splitlines(keepends=True)
    place = whole[0].strip().split(",").index("n")
    kept = [line for line in whole if line is whole[0] or float(line.split(",")[place]) > 0]
    assert len(kept) < len(whole)
    tables.write("kept.csv", "".join(kept))

    def told(file):
        text = tables.ok(*command, "-q", "--json", "--seed", 3, "--weight", "n", file).out
        return re.sub(r'"((total_)?seconds|row)": [^,\n]*', "", text)  # a row keeps its number

    assert told("w.csv") == told("kept.csv")


def test_cross_validation(tables):
    result = json.loads(tables.ok("cv", "-q", *FIT, "--weight", "n", "--folds", "3", "--json", "w.csv").out)
    assert sum(split["test_rows"] for split in result["splits"]) == 45  # rows of weight zero are in no part
    assert all(split["train_rows"] + split["test_rows"] == 45 for split in result["splits"])


@pytest.mark.parametrize("flags, says", [
    (["-m", "kfd", "--weight", "kind", "--label", "kind", "w.csv"], "names column 6, which is the label"),
    (["-m", "kfd", "--weight", "m", "w.csv"], "--weight names the column 'm', which is not there"),
    (["-m", "kfd", "--weight", "n", "bad.csv"], "bad.csv:3:3: field 3 ('n') is '-1', but the weight of a row (--weight) is a number of at least 0"),
    (["-m", "kfd", "--weight", "n", "zero.csv"], "zero.csv: all weights are zero"),
    (["-m", "kfd", "--weight", "n", "large.csv"], "large.csv: the largest weight is 1e+308, too large to compute with; divide all weights by"),
    (["-m", "kfd", "--weight", "n", "--groups", "n", "w.csv"], "--groups and --weight both name column 3; a column is the group or"),
    (["-m", "kfd", "--weight", "3", "--groups", "3", "w.npy"], "--groups and --weight both name column 3; a column is the group or"),
    (["-m", "kfd", "--weight", "6", "--label", "6", "w.npy"], "--weight names column 6, which is the label"),
    (["-m", "kfd", "--learner", "knn", "--weight", "n", "w.csv"], "learner knn takes no weights of examples; these do: svm"),
    (["-m", "kfd", "--weight", "1", "t.svm"], "are for dense tables"),
    (["-m", "kfd", "--task", "classify", "--class-weight", "1=1e300", "w.csv"], "class weights: 1e+300 and 1 are further apart than a factor of 1e+12"),
    (["-m", "koc", "--task", "classify", "--class-weight", "1=1e-300", "w.csv"], "class weights: 1 and 1e-300 are further apart than a factor of 1e+12"),
    (["-m", "koc", "--task", "classify", "--class-weight", "0=1e300,1=1e300,2=1e300", "w.csv"], "the largest weight is 1e+300, too large to compute with; divide all"),
    (["-m", "none", "--learner", "linear-svm", "--task", "classify", "--class-weights", "1:1e300", "w.csv"], "further apart than a factor of 1e+12"),
    (["-m", "koc", "--weight", "n", "light.csv"], "the rows of class 'u' weigh 2 together and those of class 'v' 2e-15: more than a factor of 1e+12 apart"),
    (["-m", "kpca", "--learner", "ls", "--weight", "n", "light.csv"], "those of class 'v' 2e-15"),
    (["-m", "pls", "--stream", "--weight", "n", "light.csv"], "those of class 'v' 2e-15"),
])
def test_what_is_refused(tables, flags, says):
    tables.write("bad.csv", "a,b,n,kind\n1,2,1,u\n2,1,-1,v\n3,1,1,v\n")
    tables.write("zero.csv", "a,b,n,kind\n1,2,0,u\n2,1,0,v\n3,1,0,v\n")
    tables.write("large.csv", "a,b,n,kind\n1,2,1e308,u\n2,1,1e308,v\n3,1,1,v\n")
    tables.write("light.csv", "a,b,n,kind\n1,2,1,u\n2,1,1e-15,v\n3,1,1,u\n4,3,1e-15,v\n")
    tables.write("t.svm", "1 1:2\n2 1:3\n")
    tables.refused("fit", *flags, "-o", "x.kfe", says=says)


def test_rows_of_little_weight_are_no_fault(tables):
    """Nor is a class of little weight to a fit that does not look at classes."""
    tables.write("light.csv", "a,b,n,kind\n1,2,1,u\n2,1,1e-15,u\n3,1,1,v\n4,3,1e-15,v\n0,3,1e-15,v\n")
    tables.ok("fit", "-q", "-m", "koc", "--weight", "n", "light.csv", "-o", "m.kfe")
    tables.write("light.csv", "a,b,n,kind\n1,2,1,u\n2,1,1,u\n3,1,1,u\n4,3,1e-15,v\n0,3,1e-15,v\n")
    tables.ok("fit", "-q", "-m", "kpca", "--weight", "n", "light.csv", "-o", "m.kfe")


@pytest.mark.parametrize("command, says", [
    (["measure", "-k", "rbf"], "a measure of a kernel counts every row once; leave the column of weights out with --drop"),
    (["convert", "-o", "x.csv"], "convert writes the column of weights with the others; leave --weight out"),
    (["convert", "-k", "rbf", "-o", "x.csv"], "convert writes no weights; leave the column of weights out with --drop"),
])
def test_commands_without_weights(tables, command, says):
    tables.refused(*command, "--weight", "n", "w.csv", says=says)


def test_a_feature_of_the_model_may_be_the_weight(tables):
    """The model reads the column as a feature, whatever else the flag makes of it."""
    tables.ok("fit", "-q", *FIT, "w.csv", "-o", "all.kfe")
    plain = tables.ok("predict", "-q", "--scores", "all.kfe", "w.csv").out
    assert tables.ok("predict", "-q", "--scores", "--weight", "n", "all.kfe", "w.csv").out == plain
    assert tables.ok("predict", "-q", "--scores", "--groups", "n", "all.kfe", "w.csv").out == plain


def test_new_rows_of_weight_zero_are_answered(tables):
    tables.ok("fit", "-q", *FIT, "--weight", "n", "w.csv", "-o", "w.kfe")
    tables.write("new.csv", "a,b,n,c,d\n1,2,0,1,1\n")
    plain = tables.ok("predict", "-q", "w.kfe", "new.csv").out
    assert len(plain.splitlines()) == 2
    assert tables.ok("predict", "-q", "--weight", "n", "w.kfe", "new.csv").out == plain


def test_the_page_lists_what_takes_weights(kfe):
    page = (pathlib.Path(__file__).parents[2] / "docs" / "weights.md").read_text(encoding="utf-8")
    methods, learners = re.findall(r"^\| (methods|learners) \|.*?\n((?:\|.*\n)*)", page, re.MULTILINE)
    for rows, command in (methods, "methods"), (learners, "learners"):
        listed = [name for line in rows[1].splitlines()[1:] for name in re.findall(r"`([a-z0-9-]+)`", line.split("|")[1])]
        entries = json.loads(kfe.ok(command, "--json").out)
        assert sorted(listed) == sorted(entry["name"] for entry in entries if "sample weights" in entry["flags"])


WEIGHTLESS = "0.5,mauve,0,3.5\n0.1,teal,0,0.25\n"


@pytest.mark.parametrize("missing", [[], ["--missing", "most-frequent"]])
@pytest.mark.parametrize("views", [[], ["--view", "left=a", "--view", "right=color"]])
def test_rows_of_weight_zero_make_no_category_and_no_task(kfe, missing, views):
    """Their texts get no column, which would change gamma=auto, and their labels do not decide that the others are numbers."""
    draw = numpy.random.default_rng(3)
    gap = "" if missing else "red"
    rows = [f"{draw.normal():.4f},{['red', 'blue', 'lime', gap][i % 4]},{1 + i % 3},{i % 2}" for i in range(40)]
    header, body = "a,color,n,kind\n", "\n".join(rows) + "\n"
    kfe.write("with.csv", header + WEIGHTLESS + body + WEIGHTLESS)
    kfe.write("without.csv", header + body)
    fit = ["-m", "svm-mkl", "-k", "rbf", *views] if views else ["-m", "kfd", "-k", "rbf:gamma=auto", "--learner", "ls"]
    answers = []
    for name in "with", "without":
        kfe.ok("fit", "-q", *fit, *missing, "--encode", "color", "--weight", "n", f"{name}.csv", "-o", f"{name}.kfe")
        info = json.loads(kfe.ok("info", "--json", f"{name}.kfe").out)
        categories = [column["categories"] for view in info["views"] for column in view.get("encoded", [])]
        assert categories == [["blue", "lime", "red"]]
        answers.append(kfe.ok("predict", "-q", f"{name}.kfe", "without.csv", "--weight", "n").out)
    assert answers[0] == answers[1] and set(answers[0].split()[1:]) <= {"0", "1"}


def test_a_text_column_of_rows_of_weight_zero_only_is_refused(kfe):
    kfe.write("t.csv", "a,color,n,kind\n1,,1,u\n2,red,0,u\n3,,1,v\n4,,1,v\n")
    kfe.refused("fit", "-m", "none", "--learner", "ls", "--encode", "color", "--missing", "mean", "--weight", "n", "t.csv", "-o", "m.kfe",
                says=["has no value in any row of weight above 0"])


@pytest.mark.parametrize("part", ["gradient", "permutation"])
def test_samples_of_explain_go_by_content_and_weight(kfe, part):
    """Of 90 different rows 40 are drawn: the same ones in another order of the rows, and for weights instead of repeated rows."""
    draw = numpy.random.default_rng(8)
    x = draw.normal(size=(90, 3)).round(4)
    weights = numpy.arange(90) % 4
    table = numpy.column_stack([x, weights, x[:, 0] + x[:, 1] ** 2 > 0.5])
    lines = [",".join([*map(str, row[:3]), str(int(row[3])), "uv"[int(row[4])]]) for row in table]
    header = "a,b,c,n,kind\n"
    kfe.write("t.csv", header + "\n".join(lines) + "\n")
    kfe.write("moved.csv", header + "\n".join(lines[i * 7 % 90] for i in range(90)) + "\n")
    kfe.write("repeated.csv", header + "\n".join(lines[i * 7 % 90] for copy in range(3) for i in range(90) if weights[i * 7 % 90] > copy) + "\n")
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--learner", "ls", "--drop", "n", "t.csv", "-o", "m.kfe")
    sampled = [explained(kfe, part, "--rows", "40", *flags, "m.kfe", file)
               for flags, file in (([], "t.csv"), ([], "moved.csv"), (["--weight", "n"], "t.csv"), ([], "repeated.csv"))]
    for one, other in (0, 1), (2, 3):
        assert sampled[one] == {key: pytest.approx(value, rel=1e-9, abs=1e-12) for key, value in sampled[other].items()}
    assert sampled[0] != sampled[2]


def test_permuted_labels_are_those_of_rows_that_count(kfe):
    """A class of rows of weight 0 only is given to no row: the permutation test is that of the table without them."""
    draw = numpy.random.default_rng(6)
    rows = [f"{draw.normal(i % 2):.4f},{1 + i % 3},{'uv'[i % 2]}" for i in range(40)]
    kfe.write("without.csv", "a,n,kind\n" + "\n".join(rows) + "\n")
    kfe.write("with.csv", "a,n,kind\n" + "\n".join(rows + ["3,0,z", "4,0,z", "5,0,u"]) + "\n")
    found = [json.loads(kfe.ok("cv", "--weight", "n", "-m", "oc", "--learner", "ls", "--folds", "3", "--permutations", "5", "--json", file).out)
             for file in ("without.csv", "with.csv")]
    assert found[0]["permutations"]["values"] == found[1]["permutations"]["values"]
    assert found[0]["metrics"] == found[1]["metrics"]


@pytest.mark.parametrize("command", [["cv", "-m", "oc", "--learner", "ls"], ["compare", "-m", "oc", "-m", "pls", "--learner", "ls"],
                                     ["tune", "--time", "none", "--trials", "13"]], ids=lambda c: c[0])
def test_classes_of_weight_zero_change_no_metric(kfe, command):
    """Brier score and average precision of two classes are others than those of three."""
    draw = numpy.random.default_rng(7)
    rows = [f"{draw.normal(i % 2):.4f},{draw.normal():.4f},{1 + i % 3},{'uv'[i % 2]}" for i in range(40)]
    kfe.write("without.csv", "a,b,n,kind\n" + "\n".join(rows) + "\n")
    kfe.write("with.csv", "a,b,n,kind\n" + "\n".join(["9,1,0,a", *rows, "3,1,0,z"]) + "\n")
    found = []
    for file in "without.csv", "with.csv":
        text = kfe.ok(*command, "--weight", "n", "--folds", "3", "--metrics", "accuracy,brier,average-precision", "--json", file).out
        found.append(re.sub(r'"(seconds|rows?)": *[^,}]*', "", text))
    assert found[0] == found[1]


def test_rows_of_weight_zero_change_no_evaluation(kfe):
    """Their classes, which the model may not know, are in no metric, standard error and confusion."""
    draw = numpy.random.default_rng(8)
    rows = [f"{draw.normal(i % 2):.4f},{draw.normal():.4f},{1 + i % 3},{'uv'[i % 2]}" for i in range(40)]
    kfe.write("without.csv", "a,b,n,kind\n" + "\n".join(rows) + "\n")
    kfe.write("with.csv", "a,b,n,kind\n" + "\n".join(["9,1,0,a", *rows, "3,1,0,u", "3,1,0,z"]) + "\n")
    kfe.ok("fit", "-q", "-m", "pls", "--learner", "ls", "--dim", "1", "--weight", "n", "without.csv", "-o", "m.kfe")
    found = []
    for file in "without.csv", "with.csv":
        result = json.loads(kfe.ok("evaluate", "-q", "--weight", "n", "--metrics", "accuracy,brier,f1,auc", "--json", "m.kfe", file).out)
        found.append(result)
    assert found[0]["metrics"] == found[1]["metrics"] and found[0]["confusion"] == found[1]["confusion"]
    assert found[0]["standard_errors"] == pytest.approx(found[1]["standard_errors"], rel=1e-12)
