# SPDX-License-Identifier: Apache-2.0
"""What is assumed about data: labels, columns, missing values; and that it is said."""
import numpy
import pytest


def write(kfe, name, rows, header=None):
    lines = ([header] if header else []) + [",".join(map(str, row)) for row in rows]
    (kfe.folder / name).write_text("\n".join(lines) + "\n")
    return name


def points(count, label):
    """`count` rows of two columns, and the label of each."""
    draw = numpy.random.default_rng(3)
    return [[*draw.normal(size=2).round(6), label(i)] for i in range(count)]


# ---- classes or real values ----


@pytest.mark.parametrize("label, assumed, doubt", [
    (lambda i: i % 20, "20 classes (0, 1, 2, 3, 4, …)", None),
    (lambda i: i % 21, "a real target (0 to 20)", "more than 20 different whole numbers"),
    (lambda i: f"{i % 2}.0", "a real target (0 to 1)", "whole numbers stored as real ones"),
    (lambda i: i % 7 / 2, "a real target (0 to 3)", None),
    (lambda i: i % 2 == 0, "2 classes (False, True)", None),
    (lambda i: ["1", "1.0", "+1", "10", "9"][i % 5], "3 classes (1, 9, 10)", None),
])
def test_what_labels_are_is_printed_and_asked(kfe, label, assumed, doubt):
    write(kfe, "t.csv", points(60, label))
    fit = ["fit", "-m", "kpls", "-k", "rbf", "t.csv", "-o", "m.kfe"]
    said = kfe.ok(*fit).err
    assert assumed in said
    assert ("--task classify" in said and doubt in said) if doubt else "--task" not in said
    for answer in "classify", "regress":
        if assumed.startswith("a real"):
            assert "--task" not in kfe.ok(*fit, "--task", answer).err


def test_cv_and_compare_print_it_too(kfe):
    write(kfe, "t.csv", points(40, lambda i: i % 3))
    for command in ["cv", "-m", "koc"], ["compare", "-m", "koc", "-m", "kfd"]:
        said = kfe.ok(*command, "-k", "rbf", "--learner", "centroid", "--folds", 2, "t.csv").err
        assert "40 examples, 2 columns, 3 classes (0, 1, 2)" in said


def test_a_model_knows_what_labels_are(kfe):
    """Labels of new data are read as the model has them, however they are written."""
    write(kfe, "t.csv", points(60, lambda i: i % 30))
    kfe.ok("fit", "-q", "-m", "kpls", "-k", "rbf", "--learner", "knn", "--task", "classify", "t.csv", "-o", "c.kfe")
    kfe.ok("fit", "-q", "-m", "kpls", "-k", "rbf", "--learner", "ls", "--task", "regress", "t.csv", "-o", "r.kfe")
    write(kfe, "few.csv", points(60, lambda i: f"{i % 30}.0")[:6])
    for model in "c.kfe", "r.kfe":
        assert "--task" not in kfe.ok("predict", model, "few.csv").err
        assert "--task" not in kfe.ok("evaluate", model, "few.csv").err
    write(kfe, "unknown.csv", points(6, lambda i: "unknown"))
    kfe.ok("predict", "r.kfe", "unknown.csv")


def test_equal_labels_are_one_class_in_training_and_test(kfe):
    rows = points(60, lambda i: i % 2)
    rows = [[a, b, int(a > 0)] for a, b, _ in rows]
    write(kfe, "train.csv", rows)
    write(kfe, "test.csv", [[a, b, f"+{label}.00"] for a, b, label in rows])
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--learner", "svm", "train.csv", "-o", "m.kfe")
    same = [kfe.ok("evaluate", "-q", "m.kfe", name, "--metrics", "accuracy").out for name in ("train.csv", "test.csv")]
    assert same[0] == same[1]
    assert set(kfe.ok("predict", "m.kfe", "test.csv").out.split()) == {"label", "0", "1"}
