# SPDX-License-Identifier: Apache-2.0
"""Views as columns of one table (--view NAME=COLUMNS): the same models as with a file for each view."""
import pytest

FIT = ["fit", "-m", "mkl", "-k", "rbf", "--learner", "svm"]


@pytest.fixture
def flowers(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    rows = [line.split(",") for line in kfe.path("iris.csv").read_text().splitlines()]
    for name, places in ("sepal", [0, 1]), ("petal", [2, 3, 4]):
        kfe.write(f"{name}.csv", "".join(",".join(row[j] for j in places) + "\n" for row in rows))
    return kfe


@pytest.mark.parametrize("columns", [("1-2", "3-4"), ("sepal*", "petal_length,petal_width"), ("2,1", "3,4")])
def test_columns_are_the_same_as_files(flowers, columns):
    flowers.ok(*FIT, "-q", "--view", f"sepal={columns[0]}", "--view", f"petal={columns[1]}", "iris.csv", "-o", "columns.kfe")
    flowers.ok(*FIT, "-q", "sepal.csv", "petal.csv", "-o", "files.kfe")
    expected = flowers.ok("predict", "-q", "--scores", "files.kfe", "sepal.csv", "petal.csv").out
    assert flowers.ok("predict", "-q", "--scores", "columns.kfe", "iris.csv").out == expected
    assert flowers.ok("predict", "-q", "--scores", "columns.kfe", "sepal.csv", "petal.csv").out == expected
    assert "iris.csv in 2 views: 150 examples, 2 + 2 columns" in flowers.ok("evaluate", "columns.kfe", "iris.csv").err


def test_new_data_is_matched_by_name(flowers):
    flowers.ok(*FIT, "-q", "--view", "a=sepal*", "--view", "b=petal*", "iris.csv", "-o", "m.kfe")
    rows = [line.split(",") for line in flowers.path("iris.csv").read_text().splitlines()]
    flowers.write("turned.csv", "".join(",".join([row[3], row[0], row[2], row[1]]) + "\n" for row in rows))
    assert flowers.ok("predict", "-q", "m.kfe", "turned.csv").out == flowers.ok("predict", "-q", "m.kfe", "iris.csv").out
    flowers.refused("predict", "m.kfe", "sepal.csv", says="2 of the 4 columns that the model was fitted on are missing")


def test_cross_validation_takes_views_of_columns(flowers):
    same = ["cv", "-q", "-m", "mkl", "-k", "rbf", "--learner", "svm", "--folds", 2, "--json"]
    parts = [flowers.ok(*same, *views).out for views in (["--view", "a=1-2", "--view", "b=3-4", "iris.csv"],
                                                         ["sepal.csv", "petal.csv"])]
    lines = [[line for line in part.splitlines() if "accuracy" in line] for part in parts]
    assert lines[0] == lines[1] and lines[0]


@pytest.mark.parametrize("views, says", [
    (["a=1-3", "b=3-4"], "column 3 is in the views 'a' and 'b'"),
    (["a=1-2", "b=8"], "--view names the column '8', which is not there"),
    (["a=1-2", "b=petals"], "--view names the column 'petals', which is not there"),
    (["a=1-2", "b=species"], "--view names 'species', which is the label column; labels cannot be in a view"),
    (["a=5"], "view 'a' has no columns"),
    (["a=1-2", "b=petal.csv"], "another --view names a file"),
    (["a=1-2", "b="], "--view takes NAME=FILE"),
])
def test_what_is_refused(flowers, views, says):
    flowers.refused(*FIT, *(word for view in views for word in ("--view", view)), "iris.csv", "-o", "m.kfe", says=says)


def test_one_table_is_needed(flowers):
    flowers.refused(*FIT, "--view", "a=1", "-o", "m.kfe", says="but none is given")
    flowers.refused(*FIT, "--view", "a=1", "sepal.csv", "petal.csv", "-o", "m.kfe", says="but several are given")
