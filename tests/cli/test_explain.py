# SPDX-License-Identifier: Apache-2.0
"""kfe explain, predict --all-dims and the table of RMSECV and Q² of cv."""
import csv
import io
import json
import math

import pytest


def regression(kfe):
    """A target that depends on columns a and c only."""
    lines = ["a,b,c,y"]
    for i in range(40):
        a, b, c = math.sin(i), math.cos(3 * i), math.sin(7 * i + 1)
        lines.append(f"{100 * a},{b},{c},{2 * a - 5 * c + 0.01 * math.sin(11 * i)}")
    kfe.write("data.csv", "\n".join(lines) + "\n")


def test_explain_prints_and_saves_the_same_numbers(kfe):
    regression(kfe)
    kfe.ok("fit", "-q", "-m", "pls", "--dim", 3, "--learner", "ls", "data.csv", "-o", "m.kfe")
    text = kfe.ok("explain", "m.kfe").out
    for word in ("coefficients:", "vip:", "x-loadings:", "selectivity-ratio:"):
        assert word in text
    tables = json.loads(kfe.ok("explain", "m.kfe", "--json").out)["tables"]
    assert tables["coefficients"]["rows"] == ["a", "b", "c"]
    for got, expected in zip(tables["coefficients"]["values"], (0.02, 0, -5)):
        assert abs(got[0] - expected) < 0.02
    kfe.ok("explain", "m.kfe", "data.csv", "--examples", "yes", "-o", "all.csv")
    rows = list(csv.DictReader(io.StringIO(kfe.path("all.csv").read_text())))
    assert sum(row["table"] == "scores" for row in rows) == 40 * 3
    vip = [float(row["value"]) for row in rows if row["table"] == "vip"]
    assert vip == [row[0] for row in tables["vip"]["values"]]
    kfe.ok("explain", "m.kfe", "-o", "all.json")
    assert json.loads(kfe.path("all.json").read_text())["tables"].keys() == tables.keys()


def test_explain_quotes_names(kfe):
    kfe.write("odd.csv", '"a,""b""",c,y\n' + "".join(f"{i},{i * i % 7},{3 * i}.5\n" for i in range(12)))
    kfe.ok("fit", "-q", "-m", "pls", "--dim", 1, "--learner", "ls", "odd.csv", "-o", "m.kfe")
    kfe.ok("explain", "m.kfe", "-o", "out.csv")
    rows = list(csv.DictReader(io.StringIO(kfe.path("out.csv").read_text())))
    assert rows[0]["row"] == 'a,"b"'


def test_explain_says_why_not(kfe):
    regression(kfe)
    kfe.ok("fit", "-q", "-m", "kpls", "--learner", "ls", "data.csv", "-o", "m.kfe")
    assert "its kernel is not linear in the columns" in kfe.run("explain", "m.kfe", "--parts", "linear", status=2).err
    refused = kfe.run("explain", "m.kfe", "--parts", "line", status=2).err
    assert "no part 'line'" in refused and "linear, " in refused


def test_all_dims_equals_separate_fits(kfe):
    regression(kfe)
    kfe.ok("fit", "-q", "-m", "pls", "--dim", 3, "--learner", "ls", "data.csv", "-o", "m.kfe")
    kfe.ok("predict", "-q", "m.kfe", "data.csv", "--all-dims", "-o", "path.csv")
    path = list(csv.reader(io.StringIO(kfe.path("path.csv").read_text())))
    assert path[0] == ["dim 1", "dim 2", "dim 3"]
    for dim in (1, 2):
        kfe.ok("fit", "-q", "-m", "pls", "--dim", dim, "--learner", "ls", "data.csv", "-o", "one.kfe")
        kfe.ok("predict", "-q", "one.kfe", "data.csv", "-o", "one.csv")
        one = list(csv.reader(io.StringIO(kfe.path("one.csv").read_text())))
        for got, expected in zip(path[1:], one[1:]):
            assert abs(float(got[dim - 1]) - float(expected[-1])) < 1e-9
    kfe.ok("fit", "-q", "-m", "pls", "--learner", "knn", "data.csv", "-o", "knn.kfe")
    assert "--learner ls" in kfe.run("predict", "knn.kfe", "data.csv", "--all-dims", status=2).err


def test_all_dims_writes_labels(kfe):
    """Words as they are, with quotes where a file needs them; class numbers only where there is no room for words."""
    rows = [f"{i % 7 + 3 * (i % 3)},{i % 5},{i % 11},\"a, b\"\n" if i % 3 == 0 else f"{i % 7 + 3 * (i % 3)},{i % 5},{i % 11},c{i % 3}\n"
            for i in range(60)]
    kfe.write("words.csv", "x,y,z,class\n" + "".join(rows))
    kfe.ok("fit", "-q", "-m", "pls", "--dim", 2, "--learner", "ls", "words.csv", "-o", "m.kfe")
    done = kfe.ok("predict", "m.kfe", "words.csv", "--all-dims", "-o", "path.csv")
    assert "warning" not in done.err
    path = list(csv.reader(io.StringIO(kfe.path("path.csv").read_text())))
    kfe.ok("predict", "-q", "m.kfe", "words.csv", "-o", "last.csv")
    last = list(csv.reader(io.StringIO(kfe.path("last.csv").read_text())))
    assert path[0] == ["dim 1", "dim 2"] and [row[1] for row in path[1:]] == [row[-1] for row in last[1:]]
    assert {cell for row in path[1:] for cell in row} <= {"a, b", "c1", "c2"} and {row[1] for row in path[1:]} >= {"a, b", "c2"}
    assert "the labels are not numbers" in kfe.ok("predict", "m.kfe", "words.csv", "--all-dims", "-o", "path.npy").err


def test_rmsecv_and_q2_by_component(kfe):
    regression(kfe)
    arguments = ("cv", "-q", "-m", "pls", "--learner", "ls", "--grid", "dim=1,2,3", "--inner-folds", 0, "--folds", 4,
                 "--metrics", "rmse", "data.csv")
    result = json.loads(kfe.ok(*arguments, "--json").out)
    y = [float(line.split(",")[-1]) for line in kfe.path("data.csv").read_text().splitlines()[1:]]
    mean = sum(y) / len(y)
    variance = sum((v - mean) ** 2 for v in y) / len(y)
    for row in result["settings"]:
        assert row["rmsecv"] == row["metrics"]["rmse"]["mean"]
        assert abs(row["q2"] - (1 - row["rmsecv"] ** 2 / variance)) < 1e-12
    squares = [split["test_rows"] * split["metrics"]["rmse"] ** 2 for split in result["splits"]]
    best = next(row for row in result["settings"] if row["is_best"])
    assert abs(best["rmsecv"] ** 2 - sum(squares) / len(y)) < 1e-12 and best["rmsecv"] == result["pooled"]["rmsecv"]
    text = kfe.ok(*arguments).out
    assert "RMSECV" in text and f"{result['settings'][1]['rmsecv']:.4g}" in text


def test_probabilities(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    kfe.ok("fit", "-q", "-m", "pls", "--learner", "svm", "--calibration", "isotonic", "iris.csv", "-o", "m.kfe")
    kfe.ok("predict", "-q", "m.kfe", "iris.csv", "--probabilities", "-o", "p.csv")
    rows = list(csv.DictReader(io.StringIO(kfe.path("p.csv").read_text())))
    names = [name for name in rows[0] if name.startswith("probability ")]
    assert len(names) == 3
    for row in rows:
        assert abs(sum(float(row[name]) for name in names) - 1) < 1e-12
    metrics = json.loads(kfe.ok("evaluate", "-q", "m.kfe", "iris.csv", "--json").out)["metrics"]
    truth = [line.split(",")[-1] for line in kfe.path("iris.csv").read_text().splitlines()[1:]]
    loss = -sum(math.log(float(row["probability " + label])) for row, label in zip(rows, truth)) / len(rows)
    assert abs(metrics["log-loss"] - loss) < 1e-12 and "mcc" not in metrics
    kfe.ok("fit", "-q", "-m", "pls", "--learner", "svm", "iris.csv", "-o", "plain.kfe")
    assert "--calibration platt" in kfe.run("predict", "plain.kfe", "iris.csv", "--probabilities", status=2).err
    assert "give one" in kfe.run("predict", "m.kfe", "iris.csv", "--probabilities", "--scores", status=2).err
    assert "for models that predict classes" in kfe.run("fit", "-m", "pls", "--calibration", "platt", "iris.csv", "-o",
                                                        "no.kfe", status=2).err


def test_importance_finds_the_planted_columns(kfe):
    """The target depends on a and c; the text ranks them first, and a sample of rows is announced."""
    lines = [",".join("abcdefghijkl") + ",y"]
    for i in range(120):
        row = [math.sin(12.9898 * (12 * i + j) ** 2 % 78.233) for j in range(12)]
        lines.append(",".join(f"{v:.6f}" for v in row) + f",{2 * row[0] - 5 * row[2] * row[2]:.6f}")
    kfe.write("data.csv", "\n".join(lines) + "\n")
    kfe.ok("fit", "-q", "-m", "kpls", "--dim", 6, "--learner", "ls", "data.csv", "-o", "m.kfe")
    done = kfe.ok("explain", "m.kfe", "data.csv", "--parts", "permutation;gradient", "--rows", 100)
    assert "100 of 120 examples" in done.err
    for table in done.out.split("\n\n"):
        assert {line.split()[0] for line in table.splitlines()[2:4]} == {"a", "c"}
    kfe.ok("fit", "-q", "-m", "kpls", "-k", "laplacian", "--learner", "ls", "data.csv", "-o", "l.kfe")
    assert "the kernel laplacian has no derivative" in kfe.run("explain", "l.kfe", "data.csv", "--parts", "gradient",
                                                               status=2).err
    assert "needs data with labels" in kfe.run("explain", "m.kfe", "--parts", "permutation", status=2).err


def write_views(kfe, folder, rows, shift):
    """The class depends on good and extra; copy is good once more."""
    (kfe.path(folder)).mkdir()
    tables = {name: [] for name in ("good", "copy", "noise", "extra")}
    labels = []
    for i in range(rows):
        good, noise, extra = (math.sin(12.9898 * (3 * i + j + shift) ** 2 % 78.233) for j in range(3))
        for name, value in (("good", good), ("copy", good), ("noise", noise), ("extra", extra)):
            tables[name].append(f"{value:.12g},{value * value:.12g}")
        labels.append("yes" if good + 0.8 * extra > 0 else "no")
    for name, lines in tables.items():
        kfe.write(f"{folder}/{name}.csv", "\n".join(lines) + "\n")
    kfe.write(f"{folder}/labels.csv", "\n".join(labels) + "\n")


def files(folder, names, flag=None):
    return [word for name in names for word in ([flag] if flag else []) + [f"{folder}/{name}.csv"]]


def accuracy(kfe, names):
    """Of a model fitted on these views."""
    kfe.ok("fit", "-q", "-m", "kpls", "-k", "rbf", "--dim", 3, "--learner", "ls", *files("old", names), "--label-file",
           "old/labels.csv", "-o", "some.kfe")
    told = kfe.ok("evaluate", "-q", "some.kfe", *files("new", names), "--label-file", "new/labels.csv", "--json").out
    return json.loads(told)["metrics"]["accuracy"]


def test_dropped_views_equal_fits_without_them(kfe):
    names = ["good", "copy", "noise", "extra"]
    write_views(kfe, "old", 120, 0)
    write_views(kfe, "new", 200, 1000)
    whole = accuracy(kfe, names)
    kfe.path("some.kfe").rename(kfe.path("m.kfe"))
    explain = ["explain", "m.kfe", *files("new", names), "--label-file", "new/labels.csv", "--parts", "views", "--json"]
    train = files("old", names, "--train")
    table = json.loads(kfe.ok(*explain, *train, "--train-labels", "old/labels.csv").out)["tables"]["views"]
    assert table["rows"] == names and table["columns"] == ["loss", "sd", "drop"]
    values = dict(zip(names, table["values"]))
    for name in names:
        assert abs(values[name][2] - (whole - accuracy(kfe, [other for other in names if other != name]))) < 1e-12
    assert values["extra"][2] > 0.1 and min(values[name][0] for name in ("good", "copy", "extra")) > 0.05
    assert max(abs(values[name][2]) for name in ("good", "copy", "noise")) < 0.05 and abs(values["noise"][0]) < 0.05
    # files of other names, and in another order, are told by VIEW=FILE
    kfe.path("old/extra.csv").rename(kfe.path("old/other.csv"))
    train = ["--train", "extra=old/other.csv", *files("old", names[:3], "--train")]
    again = json.loads(kfe.ok(*explain, *train, "--train-labels", "old/labels.csv").out)["tables"]["views"]
    assert again["values"] == table["values"]
    assert "--train-labels" in kfe.run(*explain, *train, status=2).err
    assert "--train FILE" in kfe.run(*explain, "--train-labels", "old/labels.csv", status=2).err
    kfe.ok("plot", "views", "m.kfe", *files("new", names), "--label-file", "new/labels.csv", *train, "--train-labels",
           "old/labels.csv", "--refit", "yes", "-o", "views.csv")
    drawn = {row["view"]: float(row["drop"]) for row in csv.DictReader(io.StringIO(kfe.path("views.csv").read_text()))}
    assert drawn == {name: values[name][2] for name in names}


def test_what_training_data_is_for(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    kfe.ok("fit", "-q", "-m", "kfd", "--learner", "svm", "iris.csv", "-o", "m.kfe")
    assert "needs several of them" in kfe.run("explain", "m.kfe", "iris.csv", "--train", "iris.csv", status=2).err
    kfe.ok("fit", "-q", "-m", "kfd", "--learner", "svm", "--view", "sepal=1-2", "--view", "petal=3-4", "iris.csv", "-o",
           "m.kfe")
    refused = kfe.run("explain", "m.kfe", "iris.csv", "--train", "iris.csv", "--parts", "support", status=2).err
    assert "add views" in refused
    done = kfe.ok("explain", "m.kfe", "iris.csv", "--train", "iris.csv", "--parts", "views")
    assert "drop" in done.out and "on the training data itself" in done.err


def test_losses_do_not_depend_on_other_columns(kfe):
    """Neither their places in the training table nor how many columns are permuted change the loss of a column."""
    regression(kfe)
    lines = [line.split(",") for line in kfe.path("data.csv").read_text().splitlines()]
    kfe.write("other.csv", "".join(",".join(line[k] for k in (2, 1, 0, 3)) + "\n" for line in lines))

    def losses(file, *flags):
        kfe.ok("fit", "-q", "-m", "kpls", "-k", "rbf", "--scale", "standard", "--dim", 2, "--learner", "ls", file, "-o", "m.kfe")
        told = json.loads(kfe.ok("explain", "-q", "--json", "--parts", "permutation", *flags, "m.kfe", "data.csv").out)["tables"]["permutation"]
        return {row: value[0] for row, value in zip(told["rows"], told["values"])}

    found = losses("data.csv")
    assert found == {row: pytest.approx(value, rel=1e-6, abs=1e-9) for row, value in losses("other.csv").items()}
    (row, value), = losses("data.csv", "--top", 1).items()
    assert value == pytest.approx(found[row], rel=1e-12)
