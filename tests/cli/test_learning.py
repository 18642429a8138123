# SPDX-License-Identifier: Apache-2.0
"""Models that predict: fit --learner, predict, evaluate, cv, compare, and input that they refuse."""
import csv
import io
import json
import os
import pty
import re
import shutil
import subprocess

import numpy as np
import pytest

from conftest import KFE

sklearn_metrics = pytest.importorskip("sklearn.metrics")

PIPELINE = ("-m", "koc", "-k", "rbf:gamma=0.3")
LEARNERS = ("knn", "svm", "linear-svm", "ls", "centroid")


def clouds(seed, rows, classes, apart=1.5):
    """Overlapping Gaussian clouds in three dimensions, and the number of each row's cloud."""
    random = np.random.default_rng(seed)
    code = np.arange(rows) % classes
    centres = apart * np.eye(max(classes, 3))[:, :3]
    return centres[code] + random.normal(size=(rows, 3)), code


def table(x, labels):
    return "a,b,c,kind\n" + "".join(
        ",".join(repr(float(v)) for v in row) + f",{label}\n" for row, label in zip(x, labels))


def write_clouds(kfe, names=("red", "green", "blue"), train=90, test=60):
    for file, seed, rows in (("train.csv", 1, train), ("test.csv", 2, test)):
        x, code = clouds(seed, rows, len(names))
        kfe.write(file, table(x, [names[c] for c in code]))


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def labels_of(kfe, name):
    return [row["kind"] for row in rows_of(kfe.path(name).read_text())]


# ---- predicting ----

@pytest.mark.parametrize("learner", LEARNERS)
def test_predictions_before_and_after(kfe, learner):
    write_clouds(kfe)
    for model in ("one.kfe", "two.kfe"):
        summary = kfe.ok("fit", *PIPELINE, "--learner", learner, "train.csv", "-o", model).err
        assert f"then {learner}" in summary and "90 examples" in summary
    shutil.copy(kfe.path("one.kfe"), kfe.path("copy.kfe"))
    texts = {kfe.ok("predict", model, "test.csv", "--scores").out for model in ("one.kfe", "two.kfe", "copy.kfe")}
    assert len(texts) == 1
    predicted = [row["label"] for row in rows_of(texts.pop())]
    truth = labels_of(kfe, "test.csv")
    assert set(predicted) <= {"red", "green", "blue"} and len(predicted) == 60
    assert np.mean(np.array(predicted) == truth) > 0.5  # chance gives a third


def test_scores_say_what_they_are_for(kfe):
    write_clouds(kfe)
    names = ["blue", "green", "red"]
    for multiclass, columns in (("ovo", ["score blue : green", "score blue : red", "score green : red"]),
                                ("ovr", [f"score {name}" for name in names]),
                                ("chain", ["score blue : later", "score green : later"])):
        kfe.ok("fit", "-q", *PIPELINE, "--learner", "svm", "--multiclass", multiclass, "train.csv", "-o", "m.kfe")
        rows = rows_of(kfe.ok("predict", "m.kfe", "test.csv", "--scores").out)
        assert list(rows[0]) == ["label"] + columns
        for row in rows:
            scores = [float(row[c]) for c in columns]
            if multiclass == "ovr":
                expected = names[int(np.argmax(scores))]
            elif multiclass == "chain":
                expected = names[next((i for i, s in enumerate(scores) if s > 0), 2)]
            else:
                votes = [0, 0, 0]
                for (a, b), score in zip(((0, 1), (0, 2), (1, 2)), scores):
                    votes[a if score > 0 else b] += 1
                expected = names[int(np.argmax(votes))]
            assert row["label"] == expected


def test_formats_of_predictions(kfe):
    write_clouds(kfe, names=("2", "5"))
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "linear-svm", "train.csv", "-o", "m.kfe")
    text = kfe.ok("predict", "m.kfe", "test.csv", "--scores").out
    expected = np.array([list(row.values()) for row in rows_of(text)], float)
    for name in ("p.csv", "p.npy", "p.npz", "p.svm", "p.tsv"):
        kfe.ok("predict", "m.kfe", "test.csv", "--scores", "-o", name)
    assert kfe.path("p.csv").read_text() == text
    assert kfe.path("p.tsv").read_text().replace("\t", ",") == text
    np.testing.assert_array_equal(np.load(kfe.path("p.npy")), expected)
    archive = np.load(kfe.path("p.npz"))
    np.testing.assert_array_equal(archive["y"], expected[:, 0])
    np.testing.assert_array_equal(archive["X"], expected[:, 1:])
    for line, row in zip(kfe.path("p.svm").read_text().splitlines(), expected):
        label, *entries = line.split()
        assert float(label) == row[0] and [float(e.split(":")[1]) for e in entries] == list(row[1:])
    kfe.ok("predict", "m.kfe", "test.csv", "-o", "bare.npz")
    assert list(np.load(kfe.path("bare.npz"))) == ["y"]
    kfe.ok("predict", "m.kfe", "test.csv", "-o", "bare.npy")
    np.testing.assert_array_equal(np.load(kfe.path("bare.npy")), expected[:, :1])


def test_labels_that_are_text(kfe):
    write_clouds(kfe, names=('"one, two"', '"say ""x"""', "plain"))
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "knn", "train.csv", "-o", "m.kfe")
    predicted = {row["label"] for row in rows_of(kfe.ok("predict", "m.kfe", "test.csv").out)}
    assert predicted == {"one, two", 'say "x"', "plain"}
    kfe.refused("predict", "m.kfe", "test.csv", "-o", "p.npy", says=("text", ".csv"))


def test_the_label_column_may_be_missing(kfe):
    write_clouds(kfe)
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "ls", "train.csv", "-o", "m.kfe")
    bare = "".join(line.rsplit(",", 1)[0] + "\n" for line in kfe.path("test.csv").read_text().splitlines())
    kfe.write("bare.csv", bare)
    assert kfe.ok("predict", "m.kfe", "bare.csv").out == kfe.ok("predict", "m.kfe", "test.csv").out
    kfe.refused("evaluate", "m.kfe", "bare.csv", says=("labels", "--label"))


def test_numbers_are_predicted_too(kfe):
    random = np.random.default_rng(3)
    for file, rows in (("train.csv", 80), ("test.csv", 40)):
        x = random.uniform(-2, 2, size=(rows, 3))
        kfe.write(file, table(x, (repr(float(v)) for v in 3 * x[:, 0] - x[:, 1] + 0.5)))
    kfe.ok("fit", "-q", "-m", "none", "--learner", "ls", "train.csv", "-o", "m.kfe")
    truth = np.array(labels_of(kfe, "test.csv"), float)
    rows = rows_of(kfe.ok("predict", "m.kfe", "test.csv").out)
    assert list(rows[0]) == ["value"]
    np.testing.assert_allclose([float(row["value"]) for row in rows], truth, atol=1e-9)  # the target is linear
    kfe.ok("fit", "-q", "-m", "kpca", "-k", "rbf:gamma=0.1", "--dim", 5, "--learner", "svm", "train.csv", "-o", "m.kfe")
    predicted = np.array([float(row["value"]) for row in rows_of(kfe.ok("predict", "m.kfe", "test.csv").out)])
    metrics = json.loads(kfe.ok("evaluate", "m.kfe", "test.csv", "--json").out)["metrics"]
    assert set(metrics) == {"rmse", "mae", "r2"}
    np.testing.assert_allclose(metrics["rmse"], np.sqrt(np.mean((predicted - truth) ** 2)), rtol=1e-12)
    np.testing.assert_allclose(metrics["mae"], np.mean(np.abs(predicted - truth)), rtol=1e-12)
    np.testing.assert_allclose(metrics["r2"], sklearn_metrics.r2_score(truth, predicted), rtol=1e-10)
    kfe.refused("predict", "m.kfe", "test.csv", "--scores", says="--scores")


def test_ready_kernels_and_sparse_data(kfe):
    x, code = clouds(5, 40, 2, apart=3)
    gram = x @ x.T
    kfe.write("gram.csv", "".join(",".join(map(repr, map(float, row))) + f",{'ab'[c]}\n" for row, c in zip(gram, code)))
    kfe.ok("fit", "-q", "-m", "none", "-k", "precomputed", "--learner", "svm", "gram.csv", "-o", "ready.kfe")
    kfe.write("x.csv", table(x, ["ab"[c] for c in code]))
    kfe.ok("fit", "-q", "-m", "none", "-k", "linear", "--learner", "svm", "x.csv", "-o", "linear.kfe")
    ready = rows_of(kfe.ok("predict", "ready.kfe", "gram.csv", "--scores").out)
    linear = rows_of(kfe.ok("predict", "linear.kfe", "x.csv", "--scores").out)
    assert [r["label"] for r in ready] == [r["label"] for r in linear]
    np.testing.assert_allclose([float(r["score a : b"]) for r in ready], [float(r["score a : b"]) for r in linear],
                               atol=2e-2)  # the solver's tolerance is 1e-3
    kfe.ok("convert", "x.csv", "x.svm")
    for file in ("x.csv", "x.svm"):
        kfe.ok("fit", "-q", "-m", "none", "--learner", "linear-svm", file, "-o", f"{file}.kfe")
    dense, sparse = (rows_of(kfe.ok("predict", f"{f}.kfe", f, "--scores").out) for f in ("x.csv", "x.svm"))
    assert [r["label"] for r in dense] == [r["label"] for r in sparse]


def test_info_shows_the_learner(kfe):
    write_clouds(kfe)
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "svm", "--C", 7, "train.csv", "-o", "m.kfe")
    text = kfe.ok("info", "m.kfe").out
    assert "svm (C=7," in text and "support vectors" in text
    learner = json.loads(kfe.ok("info", "--json", "m.kfe").out)["learner"]
    assert learner["name"] == "svm" and learner["parameters"]["C"] == "7" and learner["outputs"] == 3
    assert 0 < learner["support_vectors"] <= 90
    kfe.ok("fit", "-q", *PIPELINE, "train.csv", "-o", "m.kfe")
    assert json.loads(kfe.ok("info", "--json", "m.kfe").out)["learner"] is None


# ---- evaluating ----

def test_metrics_of_three_classes(kfe):
    write_clouds(kfe)
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "linear-svm", "train.csv", "-o", "m.kfe")
    rows = rows_of(kfe.ok("predict", "m.kfe", "test.csv", "--scores").out)
    truth, predicted = labels_of(kfe, "test.csv"), [row["label"] for row in rows]
    done = kfe.ok("evaluate", "m.kfe", "test.csv", "--json")
    assert "60 examples" in done.err
    result = json.loads(done.out)
    names = result["confusion"]["classes"]
    assert names == ["blue", "green", "red"] and result["rows"] == 60
    np.testing.assert_array_equal(result["confusion"]["matrix"],
                                  sklearn_metrics.confusion_matrix(truth, predicted, labels=names))
    metrics = result["metrics"]
    np.testing.assert_allclose(metrics["accuracy"], sklearn_metrics.accuracy_score(truth, predicted))
    np.testing.assert_allclose(metrics["error"], 1 - metrics["accuracy"])
    np.testing.assert_allclose(metrics["balanced-accuracy"], sklearn_metrics.balanced_accuracy_score(truth, predicted))
    np.testing.assert_allclose(metrics["f1"], sklearn_metrics.f1_score(truth, predicted, average="macro"))
    members = np.array(truth)[:, None] == np.array(names)
    accepted = np.array([[float(row[f"score {name}"]) > 0 for name in names] for row in rows])
    np.testing.assert_allclose(metrics["ovr-error"], sklearn_metrics.hamming_loss(members, accepted))
    aucs, precisions = [], []
    assert [curve["class"] for curve in result["curves"]] == names
    for curve in result["curves"]:
        is_class = np.array(truth) == curve["class"]
        scores = np.array([float(row[f"score {curve['class']}"]) for row in rows])
        aucs.append(sklearn_metrics.roc_auc_score(is_class, scores))
        precisions.append(sklearn_metrics.average_precision_score(is_class, scores))
        false, true, thresholds = sklearn_metrics.roc_curve(is_class, scores, drop_intermediate=False)
        points = np.array(curve["roc"], float)
        np.testing.assert_allclose(points[:, 0], false)
        np.testing.assert_allclose(points[:, 1], true)
        np.testing.assert_array_equal(points[1:, 2], thresholds[1:])
        assert curve["roc"][0] == [0, 0, None]
        for recall, precision, threshold in curve["precision_recall"]:
            called = scores >= threshold
            np.testing.assert_allclose(recall, np.sum(called & is_class) / np.sum(is_class))
            np.testing.assert_allclose(precision, np.sum(called & is_class) / np.sum(called))
    np.testing.assert_allclose(metrics["auc"], np.mean(aucs))
    np.testing.assert_allclose(metrics["average-precision"], np.mean(precisions))


def test_the_positive_class(kfe):
    write_clouds(kfe, names=("no", "yes"))
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "svm", "train.csv", "-o", "m.kfe")
    column = "score no : yes"
    scores = np.array([float(r[column]) for r in rows_of(kfe.ok("predict", "m.kfe", "test.csv", "--scores").out)])
    truth = np.array(labels_of(kfe, "test.csv"))
    for flags, positive, sign in (((), "yes", -1), (("--positive", "no"), "no", 1)):
        result = json.loads(kfe.ok("evaluate", "m.kfe", "test.csv", "--json", "--metrics", "auc;average-precision",
                                   *flags).out)
        assert [curve["class"] for curve in result["curves"]] == [positive]
        assert list(result["metrics"]) == ["auc", "average-precision"]
        np.testing.assert_allclose(result["metrics"]["auc"],
                                   sklearn_metrics.roc_auc_score(truth == positive, sign * scores))
        np.testing.assert_allclose(result["metrics"]["average-precision"],
                                   sklearn_metrics.average_precision_score(truth == positive, sign * scores))
    kfe.refused("evaluate", "m.kfe", "test.csv", "--positive", "maybe", says="maybe")


def test_text_shows_what_was_taken_for_what(kfe):
    write_clouds(kfe)
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "knn", "train.csv", "-o", "m.kfe")
    matrix = json.loads(kfe.ok("evaluate", "m.kfe", "test.csv", "--json").out)["confusion"]["matrix"]
    done = kfe.ok("evaluate", "-q", "m.kfe", "test.csv")
    assert done.err == "" and re.search(r"^accuracy +0\.\d+ ± 0\.\d+$", done.out, re.M)
    for name, row in zip(("blue", "green", "red"), matrix):
        assert re.search(rf"^ *{name} +" + " +".join(map(str, row)) + "$", done.out, re.M), done.out


def test_labels_that_the_model_never_saw_count_as_wrong(kfe):
    write_clouds(kfe)
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "knn", "train.csv", "-o", "m.kfe")
    predicted = [row["label"] for row in rows_of(kfe.ok("predict", "m.kfe", "test.csv").out)]
    lines = kfe.path("test.csv").read_text().splitlines()
    kfe.write("new.csv", "\n".join([lines[0], lines[1].rsplit(",", 1)[0] + ",mauve"] + lines[2:]) + "\n")
    done = kfe.ok("evaluate", "m.kfe", "new.csv", "--json")
    assert "warning" in done.err and "mauve" in done.err
    result = json.loads(done.out)
    truth = labels_of(kfe, "new.csv")
    names = result["confusion"]["classes"]
    assert sorted(names) == ["blue", "green", "mauve", "red"] and names[-1] == "mauve"
    np.testing.assert_array_equal(result["confusion"]["matrix"],
                                  sklearn_metrics.confusion_matrix(truth, predicted, labels=names))
    np.testing.assert_allclose(result["metrics"]["accuracy"], sklearn_metrics.accuracy_score(truth, predicted))
    assert np.sum(result["confusion"]["matrix"][-1]) == 1 and result["confusion"]["matrix"][-1][-1] == 0


def test_one_class_in_the_truth_leaves_areas_undefined(kfe):
    write_clouds(kfe, names=("no", "yes"))
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "ls", "train.csv", "-o", "m.kfe")
    lines = kfe.path("test.csv").read_text().splitlines()
    kfe.write("one.csv", "\n".join([lines[0]] + [l for l in lines if l.endswith(",yes")]) + "\n")
    result = json.loads(kfe.ok("evaluate", "m.kfe", "one.csv", "--json").out)
    assert result["metrics"]["auc"] is None and result["metrics"]["accuracy"] is not None
    assert re.search(r"^auc +-$", kfe.ok("evaluate", "m.kfe", "one.csv").out, re.M)


# ---- choosing ----

def test_cross_validation(kfe):
    write_clouds(kfe)
    flags = ("-m", "koc", "-k", "rbf", "--learner", "linear-svm", "--grid", "gamma=0.1:1:log3", "--grid", "C=1,10",
             "--folds", 3, "--inner-folds", 2, "train.csv")
    done = kfe.ok("cv", *flags, "--save", "best.kfe")
    assert "accuracy" in done.out and "±" in done.out and "gamma=" in done.out
    assert "train.csv: 90 examples" in done.err and "36 fits" in done.err  # 6 settings on 3 × 2 inner folds
    assert kfe.ok("cv", "-q", *flags).err == ""
    best = json.loads(kfe.ok("info", "--json", "best.kfe").out)
    assert best["learner"]["parameters"]["C"] in ("1", "10") and best["train_rows"] == 90
    result = json.loads(kfe.ok("cv", *flags, "--json").out)
    assert [split["fold"] for split in result["splits"]] == [1, 2, 3]
    again = json.loads(kfe.ok("cv", *flags, "--json").out)
    assert result["metrics"] == again["metrics"]


def test_comparison(kfe):
    write_clouds(kfe)
    done = kfe.ok("compare", "train.csv", "-k", "rbf:gamma=0.3", "--learner", "knn", "--folds", 3)
    for method in ("oc", "koc", "kfd", "kda-qr", "akda-qr", "pca", "kpca", "knn"):
        assert re.search(rf"^{method} ", done.out, re.M), done.out
    assert "skipped: kb (takes two classes)" in done.err and "\033" not in done.out
    done = kfe.ok("compare", "train.csv", "-m", "koc", "-m", "kpca:dim=2", "-k", "rbf", "--grid", "gamma=0.1,1",
                  "--learner", "svm", "--C", 5, "--folds", 3, "--inner-folds", 2, "--json")
    methods = json.loads(done.out)["methods"]
    assert [m["method"].split(":")[0] for m in methods] == ["koc", "kpca"]
    x = np.random.default_rng(0).normal(size=(30, 3))
    kfe.write("real.csv", table(x, (repr(float(v)) for v in x[:, 0])))
    done = kfe.ok("compare", "real.csv", "--learner", "ls", "--folds", 3)
    assert "koc (needs classes)" in done.err and re.search(r"^ls ", done.out, re.M)


def test_methods_that_predict_need_no_learner(kfe):
    write_clouds(kfe)
    flags = ("-k", "rbf:gamma=0.3", "--folds", 3, "train.csv")
    result = json.loads(kfe.ok("cv", "-m", "svm-joint", "--save", "joint.kfe", *flags, "--json").out)
    assert result["learner"] is None and result["metrics"]["accuracy"]["mean"] > 0.6
    accuracy = json.loads(kfe.ok("evaluate", "joint.kfe", "train.csv", "--json").out)
    assert accuracy["metrics"]["accuracy"] > 0.6
    with_learner = json.loads(kfe.ok("cv", "-m", "svm-joint", "--learner", "knn", *flags, "--json").out)
    assert with_learner["learner"] == "knn"
    done = kfe.ok("compare", *flags)
    assert re.search(r"^svm-joint ", done.out, re.M) and not re.search(r"^koc ", done.out, re.M)
    assert "koc (needs --learner)" in done.err
    kfe.refused("compare", "-m", "svm-joint", "-m", "koc", *flags, says="koc needs a learner")
    assert "themselves need none" in kfe.ok("cv", "--help").out


def read_all(terminal):
    """What was written to a terminal, which comes in pieces; the end is an error (EIO)."""
    text = b""
    try:
        while piece := os.read(terminal, 1 << 16):
            text += piece
    except OSError:
        pass
    return text


def test_the_best_is_bold_on_a_terminal(kfe):
    write_clouds(kfe)
    arguments = ["compare", "-q", "train.csv", "-m", "koc", "-m", "pca:dim=1", "--learner", "knn", "--folds", "3"]
    for extra, bold in (([], True), (["--bold", "none"], False)):
        terminal, side = pty.openpty()
        subprocess.run([KFE, *arguments, *extra], cwd=kfe.folder, stdout=side, check=True)
        os.close(side)
        text = read_all(terminal)
        os.close(terminal)
        assert b"koc" in text and (b"\033[1m" in text) == bold
    assert "**" in kfe.ok(*arguments).out


def test_comparing_ready_kernels_leaves_out_what_needs_columns(kfe):
    x, code = clouds(5, 40, 2, apart=3)
    kfe.write("gram.csv", "".join(",".join(map(repr, map(float, row))) + f",{'ab'[c]}\n"
                                  for row, c in zip(x @ x.T, code)))
    done = kfe.ok("compare", "gram.csv", "-k", "precomputed", "--learner", "svm", "--folds", 2)
    assert "pca (needs columns of numbers)" in done.err and "akda-qr (needs columns" in done.err
    assert re.search(r"^koc ", done.out, re.M) and re.search(r"^svm ", done.out, re.M)


# ---- refused input ----

@pytest.mark.parametrize("arguments, says", [
    (("fit", *PIPELINE, "--learner", "svn", "train.csv", "-o", "m.kfe"), ("svn", "did you mean svm?", "kfe learners")),
    (("fit", *PIPELINE, "--C", "1", "train.csv", "-o", "m.kfe"), ("--C", "svm, linear-svm", "--learner")),
    (("fit", *PIPELINE, "--learner", "knn", "--C", "1", "train.csv", "-o", "m.kfe"), ("learner knn", "--C")),
    (("fit", *PIPELINE, "--learner", "svm", "--epsilom", "1", "train.csv", "-o", "m.kfe"), "--epsilon"),
    (("fit", *PIPELINE, "--learner", "svm", "--C", "0", "train.csv", "-o", "m.kfe"), ("C", "0")),
    (("fit", *PIPELINE, "--learner", "svm:C=-1", "train.csv", "-o", "m.kfe"), ("C", "-1")),
    (("fit", "-m", "kpca", "--learner", "svm", "--label", "none", "x.csv", "-o", "m.kfe"), "label"),
    (("fit", "-m", "kpca", "--learner", "svm", "one.csv", "-o", "m.kfe"), "class"),
    (("fit", "-m", "none", "--learner", "svm", "row.csv", "-o", "m.kfe"), ()),
    (("predict", "features.kfe", "train.csv"), ("features only", "--learner")),
    (("evaluate", "features.kfe", "train.csv"), ("features only", "--learner")),
    (("predict", "model.kfe"), "data"),
    (("predict",), "a model and data"),
    (("predict", "train.csv", "train.csv"), "train.csv"),
    (("predict", "model.kfe", "folder"), ("folder", "directory")),
    (("predict", "model.kfe", "empty.csv"), ("empty.csv", "empty")),
    (("evaluate", "model.kfe", "nan.csv"), "nan.csv:3:2"),
    (("predict", "model.kfe", "train.csv", "-o", "p.xlsx"), ".csv"),
    (("predict", "model.kfe", "train.csv", "-o", "absent/p.csv"), "absent"),
    (("evaluate", "model.kfe", "train.csv", "--metrics", "acuracy"), ("acuracy", "accuracy")),
    (("evaluate", "model.kfe", "train.csv", "--metrics", "rmse"), ("rmse", "real targets")),
    (("evaluate", "model.kfe", "x.csv", "--label", "none"), "labels"),
    (("evaluate", "model.kfe", "train.csv", "--metric", "f1"), "--metrics"),
    (("cv", *PIPELINE, "train.csv"), "--learner"),
    (("cv", "--learner", "knn", "train.csv"), "-m METHOD"),
    (("cv", *PIPELINE, "--learner", "knn", "--grid", "gamna=1,2", "train.csv"), ("gamna", "gamma")),
    (("cv", *PIPELINE, "--learner", "knn", "--grid", "gamma", "train.csv"), "gamma"),
    (("cv", *PIPELINE, "--learner", "knn", "--metrics", "acuracy", "train.csv"), "accuracy"),
    (("cv", *PIPELINE, "--learner", "knn", "--folds", "1", "train.csv"), "folds"),
    (("cv", *PIPELINE, "--learner", "knn", "--folds", "1000", "train.csv"), "folds"),
    (("cv", *PIPELINE, "--learner", "knn", "--save", "-", "train.csv"), "-o needs a file"),
    (("cv", *PIPELINE, "--learner", "knn", "--label", "none", "x.csv"), "labels"),
    (("cv", *PIPELINE, "--learner", "svm", "--grid", "C=0,1", "train.csv"), "C"),
    (("compare", "train.csv", "-m", "koc"), "--learner"),
    (("compare", "train.csv", "-m", "kox", "--learner", "knn"), ("kox", "koc", "kfe methods")),
    (("compare", "train.csv", "-m", "koc", "--learner", "knn", "--grid", "nothing=1"), "nothing"),
    (("compare", "train.csv", "-m", "koc:dim=x", "--learner", "knn"), "dim"),
    (("compare", "train.csv", "-m", "koc", "--C", "1", "--learner", "knn"), "--C"),
    (("reproduce",), "--list"),
    (("learners", "svn"), "svm"),
])
def test_refused(kfe, arguments, says):
    write_clouds(kfe)
    kfe.write("x.csv", "".join(line.rsplit(",", 1)[0] + "\n" for line in kfe.path("train.csv").read_text().splitlines()))
    kfe.write("one.csv", "1,2,3,a\n2,3,4,a\n5,1,0,a\n")
    kfe.write("row.csv", "1,2,3,a\n")
    kfe.write("empty.csv", "")
    kfe.write("nan.csv", "1,2,3,red\n1,1,1,blue\n2,nan,1,red\n")
    kfe.path("folder").mkdir()
    kfe.ok("fit", "-q", *PIPELINE, "train.csv", "-o", "features.kfe")
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "knn", "train.csv", "-o", "model.kfe")
    kfe.refused(*arguments, says=says)


def test_the_kinds_of_targets_must_match(kfe):
    write_clouds(kfe, names=("1", "2"))
    kfe.ok("fit", "-q", *PIPELINE, "--learner", "knn", "train.csv", "-o", "m.kfe")
    kfe.refused("evaluate", "m.kfe", "test.csv", "--task", "regress", says=("classes", "numbers"))
    kfe.ok("fit", "-q", "-m", "none", "--learner", "ls", "--task", "regress", "train.csv", "-o", "m.kfe")
    assert "rmse" in kfe.ok("evaluate", "m.kfe", "test.csv").out  # few distinct numbers, but not classes
    kfe.refused("evaluate", "m.kfe", "test.csv", "--metrics", "accuracy", says=("accuracy", "rmse"))


def test_a_class_with_fewer_members_than_folds(kfe):
    x, code = clouds(4, 30, 2)
    labels = ["ab"[c] for c in code]
    labels[0] = labels[1] = "rare"
    kfe.write("train.csv", table(x, labels))
    done = kfe.ok("cv", "-m", "koc", "-k", "rbf:gamma=0.3", "--learner", "knn", "--folds", 5, "train.csv")
    assert "warning" in done.err and "rare" in done.err
    assert "nan" not in done.out


def test_carriage_returns(kfe):
    write_clouds(kfe)
    for name in ("train.csv", "test.csv"):
        kfe.write("dos-" + name, kfe.path(name).read_bytes().replace(b"\n", b"\r\n"))
    for prefix in ("", "dos-"):
        kfe.ok("fit", "-q", *PIPELINE, "--learner", "svm", f"{prefix}train.csv", "-o", f"{prefix}m.kfe")
    assert kfe.ok("predict", "m.kfe", "test.csv").out == kfe.ok("predict", "dos-m.kfe", "dos-test.csv").out
    assert kfe.ok("evaluate", "-q", "m.kfe", "test.csv").out == kfe.ok("evaluate", "-q", "dos-m.kfe", "dos-test.csv").out


# ---- what a model stores about its training file ----

FIRST = "class,x,y\n" + "".join(f"{i % 2},{i % 2 * 3 + 0.1 * i},{(i * 7) % 5}\n" for i in range(20))


def test_label_is_where_it_was_in_training(kfe):
    kfe.write("first.csv", FIRST)
    kfe.ok("fit", "-q", "-m", "none", "--learner", "knn", "--label", "first", "first.csv", "-o", "m.kfe")
    assert "accuracy            1\n" in kfe.ok("evaluate", "m.kfe", "first.csv").out
    named = kfe.ok("predict", "m.kfe", "first.csv", "--label", "class").out
    assert kfe.ok("predict", "m.kfe", "first.csv").out == named
    kfe.write("bare.csv", "\n".join(line.split(",", 1)[1] for line in FIRST.splitlines()) + "\n")
    assert kfe.ok("predict", "m.kfe", "bare.csv").out == named


def test_columns_must_have_the_names_of_training(kfe):
    kfe.write("first.csv", FIRST)
    kfe.ok("fit", "-q", "-m", "none", "--learner", "knn", "--label", "first", "first.csv", "-o", "m.kfe")
    swapped = "\n".join(",".join([c, y, x]) for c, x, y in (line.split(",") for line in FIRST.splitlines()))
    kfe.write("swapped.csv", swapped + "\n")
    assert kfe.ok("predict", "m.kfe", "swapped.csv").out == kfe.ok("predict", "m.kfe", "first.csv").out
    short = "\n".join(",".join([x, c]) for c, x, y in (line.split(",") for line in FIRST.splitlines()))
    kfe.write("short.csv", short + "\n")
    kfe.refused("predict", "m.kfe", "short.csv", says="missing: 'y'")


def test_output_does_not_overwrite_input(kfe):
    kfe.write("first.csv", FIRST)
    for command in (["fit", "-m", "none", "--learner", "knn", "first.csv", "-o", "first.csv"],
                    ["fit", "-m", "none", "--learner", "knn", "first.csv", "-o", "./first.csv"],
                    ["cv", "-m", "none", "--learner", "knn", "first.csv", "--save", "first.csv"]):
        kfe.refused(*command, says="overwrite")
    assert kfe.path("first.csv").read_text() == FIRST


def test_positive_class_of_several(kfe):
    write_clouds(kfe)
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.3", "--learner", "ls", "train.csv", "-o", "m.kfe")
    found = {json.loads(kfe.ok("evaluate", "-q", "m.kfe", "train.csv", "--metrics", "auc", "--positive", name,
                               "--json").out)["metrics"]["auc"] for name in ("red", "green", "blue")}
    assert len(found) == 3


def test_methods_that_fail_do_not_end_a_comparison(kfe):
    kfe.write("same.csv", "x,y,class\n" + "".join(f"1,1,{'ab'[i % 2]}\n" for i in range(20)))
    done = kfe.ok("compare", "same.csv", "-m", "kfd", "-m", "none", "--learner", "knn", "--folds", 2)
    assert "kfd is skipped" in done.err and "knn " in done.out
    assert re.search(r"^kfd +failed: ", done.out, re.M)


def test_settings_that_fail_do_not_end_a_search(kfe):
    rows = np.random.default_rng(0).uniform(1e5, 3e5, size=(40, 3))
    kfe.write("large.csv", table(rows, ["ab"[i % 2] for i in range(40)]))
    flags = ["-m", "koc", "-k", "poly", "--scale", "none", "--learner", "knn", "--folds", 2, "--inner-folds", 2, "large.csv"]
    done = kfe.ok("cv", *flags, "--grid", "degree=100,1")
    assert "4 of 10 fits failed and are left out; the first: " in done.err
    assert "failed: degree=100 on 4 of 4 splits: " in done.out and "best setting degree=1" in done.out
    settings = json.loads(kfe.ok("cv", *flags, "--grid", "degree=100,1", "--json").out)["settings"]
    assert settings[0]["failed_splits"] == 4 and settings[0]["failed"] in done.out and settings[1]["failed"] is None
    assert settings[0]["failed"] in kfe.run("cv", "-q", *flags, "--grid", "degree=100,90", status=2).err



def test_groups_are_kept_together(kfe):
    """Three rows per subject, and a column that identifies the subject: groups remove the advantage of that column."""
    random = np.random.default_rng(3)
    subject = np.repeat(np.arange(30), 3)
    x = random.normal(size=(30, 2))[subject] + 0.01 * random.normal(size=(90, 2))
    labels = np.array(["a", "b"])[random.integers(0, 2, 30)][subject]
    kfe.write("s.csv", "x,subject,y,kind\n" + "".join(f"{a},{s},{b},{kind}\n" for (a, b), s, kind in zip(x, subject, labels)))
    flags = ["cv", "-m", "none", "--learner", "knn", "--neighbors", "1", "--json"]
    kfe.write("plain.csv", "x,y,kind\n" + "".join(f"{a},{b},{kind}\n" for (a, b), kind in zip(x, labels)))
    leaking = json.loads(kfe.ok(*flags, "plain.csv").out)["metrics"]["accuracy"]["mean"]
    fair = json.loads(kfe.ok(*flags, "s.csv", "--groups", "subject").out)
    assert leaking > 0.9 > 0.75 > fair["metrics"]["accuracy"]["mean"]
    assert all(split["test_rows"] % 3 == 0 for split in fair["splits"])
    each = json.loads(kfe.ok(*flags, "s.csv", "--groups", "2", "--split", "leave-group-out").out)
    assert len(each["splits"]) == 30
    kfe.refused("cv", "-m", "none", "--learner", "knn", "s.csv", "--groups", "who", says="--groups names the column 'who', which is not there")
    kfe.refused("cv", "-m", "none", "--learner", "knn", "s.csv", "--split", "leave-group-out", says="with --groups")


def test_permutation_test_of_a_search(kfe):
    write_clouds(kfe, train=45)
    flags = ["-m", "none", "--learner", "knn", "--grid", "neighbors=1,5", "--folds", 3, "--inner-folds", 2, "train.csv"]
    done = kfe.ok("cv", *flags, "--permutations", 9)
    assert "p 0.1: how likely permuted labels are to do as well (9 permutations)" in done.out
    assert len(json.loads(kfe.ok("cv", *flags, "--permutations", 9, "--json").out)["permutations"]["values"]) == 9


def test_kernels_and_learners_are_axes_of_a_grid(kfe):
    write_clouds(kfe, train=45)
    result = json.loads(kfe.ok("cv", "-m", "kpca", "--learner", "knn", "--grid", "kernel=rbf,laplacian", "--grid", "gamma=0.1,1",
                               "--grid", "learner=knn,svm", "--grid", "C=1,10", "--inner-folds", 0, "train.csv", "--json").out)
    settings = [setting["setting"] for setting in result["settings"]]
    assert len(settings) == 16 and {s["kernel"] for s in settings} == {"rbf", "laplacian"}
    assert {s["learner"] for s in settings} == {"knn", "svm"}
    kfe.refused("cv", "-m", "kpca", "--learner", "knn", "--grid", "kernel=rbf,rbg", "train.csv", says="rbg")
    kfe.refused("cv", "-m", "kpca", "--learner", "knn", "--grid", "learner=svm,kn", "train.csv", says="kn")


def test_tune(kfe):
    write_clouds(kfe)
    flags = ["train.csv", "--time", "none", "--trials", "30"]
    done = kfe.ok("tune", *flags, "-o", "best.kfe")
    assert re.search(r"^ +1  \S", done.out, re.M) and "(standard error; standard deviation over 5 splits" in done.out
    best = re.search(r"^best: (\S+)", done.out, re.M)[1].split(":")[0]
    found = json.loads(kfe.ok("info", "--json", "best.kfe").out)
    assert best == (found["plain_learner"] or found["method"])
    assert "train.csv: 90 examples" in done.err and kfe.ok("tune", "-q", *flags).err == ""
    result = json.loads(kfe.ok("tune", *flags, "--json").out)
    assert result["best"]["method"] == found["method"] and len(result["honest"]["splits"]) == 5
    kfe.refused("tune", "train.csv", "--time", "soon", says="--time takes a time such as 60s, 10m or 2h, or none")
    kfe.refused("tune", "train.csv", "--time", "1e-9s", says="raise --time")
    kfe.refused("tune", "train.csv", "-o", "-", says="-o needs a file")


def test_one_progress_line_for_a_search(kfe):
    """Counts the fits of the whole search and the time left; on a terminal only."""
    kfe.ok("generate", "-q", "banana", "--n", "700", "-o", "b.csv")
    flags = ["cv", "-m", "none", "-k", "rbf", "--learner", "svm", "--grid", "gamma=0.1:10:log8", "--grid", "C=0.1:100:log8",
             "--folds", "5", "--inner-folds", "5", "b.csv", "--threads", "1"]
    ours, theirs = os.openpty()
    with subprocess.Popen([KFE, *flags], cwd=kfe.folder, stdout=subprocess.PIPE, stderr=theirs,
                          env={**os.environ, "TERM": "xterm"}) as child:
        os.close(theirs)
        shown = b""
        while b" left" not in shown:
            try:
                more = os.read(ours, 4096)
            except OSError:
                break
            if not more:
                break
            shown += more
        child.terminate()
    os.close(ours)
    assert re.search(rb"fit \d+ of 1605, \d+ (s|min) left", shown), shown
    assert b"extracting" not in shown


def test_former_names_of_flags_still_work_and_are_not_shown(kfe):
    kfe.ok("generate", "-q", "rings", "--n", "60", "-o", "rings.csv")
    for former, now in (("machine-C", "svm-C"), ("max-rounds", "max-iter")):
        text = kfe.ok("fit", "-m", "mkl", "--help").out
        assert f"--{now}" in text and f"--{former}" not in text
        kfe.ok("fit", "-q", "-m", "mkl", "-k", "rbf:gamma=1", "-k", "linear", f"--{former}", "2", "rings.csv", "-o", "old.kfe")
        kfe.ok("fit", "-q", f"--{former}", "2", "-m", "mkl", "-k", "rbf:gamma=1", "-k", "linear", "rings.csv", "-o", "old2.kfe")
        kfe.ok("fit", "-q", "-m", "mkl", "-k", "rbf:gamma=1", "-k", "linear", f"--{now}", "2", "rings.csv", "-o", "new.kfe")
        shown = [json.loads(kfe.ok("info", "--json", name).out)["parameters"] for name in ("old.kfe", "old2.kfe", "new.kfe")]
        assert shown[0] == shown[1] == shown[2]


def test_ten_thousand_classes_are_no_burden(kfe):
    """The confusion matrix would have 10^8 cells: the pairs that occur are kept instead."""
    rows = [(f"{i % 100}", f"{i // 100}", f"c{i}") for i in range(10000)]
    kfe.write("many.csv", "x,y,class\n" + "".join(",".join(row) + "\n" for row in rows))
    wrong = [(x, y, "c7" if k == 3 else label) for k, (x, y, label) in enumerate(rows[::200])]
    kfe.write("some.csv", "x,y,class\n" + "".join(",".join(row) + "\n" for row in wrong))
    kfe.ok("fit", "-q", "-m", "none", "--learner", "knn", "--neighbors", 1, "many.csv", "-o", "m.kfe")
    text = kfe.ok("evaluate", "-q", "m.kfe", "some.csv", "--memory", "200M").out
    assert re.search(r"^ +c7 +c600 +1$", text, re.M)
    result = json.loads(kfe.ok("evaluate", "-q", "m.kfe", "some.csv", "--memory", "200M", "--json").out)["confusion"]
    names = result["classes"]
    pairs = {(names[g], names[h]): count for g, h, count in result["pairs"]}
    assert pairs == {(label, found): 1 for (_, _, label), (_, _, found) in zip(wrong, rows[::200])}


def test_the_scale_of_one_target_does_not_matter_to_pls(kfe):
    """python/tests/test_target_scale.py has several targets. Sums over rows refuse the option."""
    kfe.write("t.csv", "a,b,t\n" + "".join(f"{i % 7},{i * i % 11},{100 * (i % 7) + i * i % 11 + i % 3 + 0.5}\n" for i in range(40)))
    found = []
    for scale in ("none", "standard"):
        fit = ("fit", "-q", "-m", "pls", "--dim", 1, "--learner", "ls", "--target-scale", scale, "t.csv", "-o", "m.kfe")
        kfe.ok(*fit)
        found.append([float(line) for line in kfe.ok("predict", "-q", "m.kfe", "t.csv").out.splitlines()[1:]])
    assert found[0] == pytest.approx(found[1], rel=1e-10)
    assert "leave out --target-scale" in kfe.refused(*fit, "--stream")
