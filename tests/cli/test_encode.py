# SPDX-License-Identifier: Apache-2.0
"""Columns of categories (--encode): the same features as a table that was encoded by hand."""
import numpy
import pytest

COLORS = ["blue", "green", "red"]
SIZES = ["L", "M", "S"]
FIT = ["-q", "-m", "kfd", "-k", "rbf:gamma=0.3", "--ridge", "0.01", "--learner", "svm", "--scale", "none"]


def rows(count=60, seed=1):
    draw = numpy.random.default_rng(seed)
    return [(round(draw.normal(), 4), COLORS[draw.integers(3)], SIZES[draw.integers(3)], "ab"[draw.integers(2)]) for _ in range(count)]


def by_hand(row):
    return [row[0], *(int(row[1] == color) for color in COLORS), *(int(row[2] == size) for size in SIZES), row[3]]


def write(kfe, name, table, header="x,color,size,kind"):
    kfe.write(name, "\n".join([header, *(",".join(map(str, row)) for row in table)]) + "\n")
    return name


def numbers(output):
    return numpy.array([[float(cell) for cell in line.split(",")] for line in output.splitlines()[1:]])


def test_the_features_are_those_of_a_table_encoded_by_hand(kfe):
    table, new = rows(), rows(20, seed=2)
    write(kfe, "t.csv", table)
    write(kfe, "new.csv", [row[:3] for row in new], "x,color,size")
    write(kfe, "hand.csv", [by_hand(row) for row in table], "x,b,g,r,L,M,S,kind")
    write(kfe, "hand-new.csv", [by_hand(row)[:-1] for row in new], "x,b,g,r,L,M,S")
    kfe.ok("fit", *FIT, "--encode", "auto", "t.csv", "-o", "m.kfe")
    kfe.ok("fit", *FIT, "hand.csv", "-o", "hand.kfe")
    numpy.testing.assert_array_equal(numbers(kfe.ok("transform", "-q", "m.kfe", "new.csv").out),
                                     numbers(kfe.ok("transform", "-q", "hand.kfe", "hand-new.csv").out))
    assert kfe.ok("predict", "-q", "m.kfe", "new.csv").out == kfe.ok("predict", "-q", "hand.kfe", "hand-new.csv").out
    assert kfe.ok("evaluate", "-q", "m.kfe", "t.csv").out == kfe.ok("evaluate", "-q", "hand.kfe", "hand.csv").out
    same = ["cv", *FIT, "--folds", 3, "--json"]
    result = [kfe.ok(*same, "--encode", "2-3", "t.csv").out, kfe.ok(*same, "hand.csv").out]
    accuracies = [[line for line in each.splitlines() if '"accuracy"' in line] for each in result]
    assert accuracies[0] == accuracies[1] and accuracies[0]
    assert "encoded     column 2 (color), 3 categories: blue green red" in kfe.ok("info", "m.kfe").out


def test_an_unseen_category_is_zeros_and_counted(kfe):
    write(kfe, "t.csv", rows())
    write(kfe, "new.csv", [(1, "pink", "M"), (2, "red", "XL"), (3, "mauve", "S")], "x,color,size")
    kfe.ok("fit", "-q", "-m", "pca", "--dim", 7, "--scale", "none", "--encode", "auto", "t.csv", "-o", "m.kfe")
    told = kfe.ok("transform", "m.kfe", "new.csv").err
    assert told.count("warning") == 1
    assert "3 cells hold a category that the training data did not have, the first 'pink' in column 2 ('color')" in told


@pytest.mark.parametrize("arguments, says", [
    (["-m", "kpca", "-k", "precomputed", "--label", "none", "--encode", "1", "square.csv"], "precomputed kernel matrix has no columns of categories"),
    (["-m", "kpca", "-k", "spectrum", "--encode", "auto", "words.csv"], "--encode is for columns of categories, not for examples that are strings"),
    (["-m", "kfd", "-k", "rbf", "--encode", "auto", "t.svm"], "--encode is for text tables (CSV, TSV, ARFF); libsvm files have no columns of text"),
    (["-m", "kfd", "-k", "rbf", "t.csv"], "encode the column as categories (--encode)"),
    (["-m", "kfd", "-k", "rbf", "--encode", "shape", "t.csv"], "--encode names the column 'shape', which is not there"),
])
def test_what_cannot_be_encoded_is_refused(kfe, arguments, says):
    write(kfe, "t.csv", rows())
    kfe.write("t.svm", "1 1:2\n2 1:3\n")
    kfe.write("words.csv", "abcd,1\nabce,2\n")
    kfe.write("square.csv", "2,1\n1,2\n")
    kfe.refused("fit", *arguments, "-o", "m.kfe", says=says)


def test_a_model_without_categories_takes_none(kfe):
    write(kfe, "t.csv", [(a, len(b), d) for a, b, _, d in rows()], "x,n,kind")
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--learner", "svm", "t.csv", "-o", "m.kfe")
    kfe.refused("predict", "--encode", "auto", "m.kfe", "t.csv", says="the model has learned no categories")


def test_names_of_rows_are_doubted(kfe):
    write(kfe, "t.csv", [(f"n{i}", row[0], row[3]) for i, row in enumerate(rows(20))], "who,x,kind")
    told = kfe.ok("fit", "-m", "kfd", "-k", "rbf", "--encode", "auto", "t.csv", "-o", "m.kfe").err
    assert "column 1 ('who') has a different text in every row" in told and "--id" in told
