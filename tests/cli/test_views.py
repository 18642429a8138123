# SPDX-License-Identifier: Apache-2.0
"""Several views of the same examples on the command line: names, kernels per view, and mkl."""
import json
import random

import pytest

ROWS = 40


@pytest.fixture
def views(kfe):
    """Two views and labels: signal.csv separates the classes, noise.csv does not."""
    draw = random.Random(1)
    classes = ["yes" if i % 2 else "no" for i in range(ROWS)]
    signal = [[draw.gauss(2 if c == "yes" else -2, 1), draw.gauss(0, 1)] for c in classes]
    noise = [[draw.gauss(0, 1) for _ in range(3)] for _ in classes]

    def table(rows):
        return "".join(",".join(f"{x:.6f}" for x in row) + "\n" for row in rows)

    kfe.write("signal.csv", table(signal))
    kfe.write("noise.csv", table(noise))
    kfe.write("short.csv", table(noise[:-2]))
    kfe.write("labels.csv", "".join(c + "\n" for c in classes))
    kfe.write("labelled.csv", "".join(f"{row},{c}\n" for row, c in zip(table(noise).splitlines(), classes)))
    kfe.classes = classes
    return kfe


MKL = ["fit", "-q", "-m", "mkl", "-k", "rbf:gamma=0.2"]
LABELS = ["--label-file", "labels.csv"]


def predicted(kfe, *arguments):
    return kfe.ok("predict", *arguments).out.splitlines()[1:]


def test_mkl_weighs_views(views):
    views.ok(*MKL, "--svm-C", "1", "signal.csv", "noise.csv", *LABELS, "-o", "m.kfe")
    info = json.loads(views.ok("info", "--json", "m.kfe").out)
    assert [view["name"] for view in info["views"]] == ["signal", "noise"]
    weights = info["records"]["weights"]
    assert weights[0] > 0.8 and abs(sum(weights) - 1) < 1e-9
    assert "on signal" in views.ok("info", "m.kfe").out
    expected = predicted(views, "m.kfe", "signal.csv", "noise.csv")
    assert sum(a == b for a, b in zip(expected, views.classes)) >= 0.95 * ROWS
    # in another order, by file names and by given names; with labels in a file that had none
    assert predicted(views, "m.kfe", "noise.csv", "signal.csv") == expected
    by_name = ["--view", "noise=labelled.csv", "--view", "signal=signal.csv"]
    assert predicted(views, "m.kfe", *by_name) == expected
    views.ok("evaluate", "-q", "m.kfe", *by_name)


def test_label_inside_a_view(views):
    views.ok(*MKL, "signal.csv", "labelled.csv", "-o", "m.kfe")
    info = json.loads(views.ok("info", "--json", "m.kfe").out)
    assert [view["columns"] for view in info["views"]] == [2, 3]
    expected = predicted(views, "m.kfe", "signal.csv", "labelled.csv")
    assert predicted(views, "m.kfe", "labelled.csv", "signal.csv") == expected
    assert predicted(views, "m.kfe", "--view", "labelled=noise.csv", "--view", "signal=signal.csv") == expected


def test_kernels_of_views(views):
    views.ok(*MKL, "--view-kernel", "noise=linear", "--view-kernel", "noise=poly:degree=2", "signal.csv",
             "noise.csv", *LABELS, "-o", "m.kfe", "--tolerance", "1e-3")
    assert len(json.loads(views.ok("info", "--json", "m.kfe").out)["records"]["weights"]) == 3
    views.ok("cv", "-q", "-m", "mkl", "--view-kernel", "signal=rbf:gamma=1", "--learner", "knn", "signal.csv",
             "noise.csv", *LABELS, "--folds", "3")
    views.ok("compare", "-q", "-m", "mkl", "-m", "koc", "--view-kernel", "signal=rbf:gamma=1", "--learner", "knn",
             "signal.csv", "noise.csv", *LABELS, "--folds", "3")
    measured = views.ok("measure", "--view-kernel", "signal=linear", "-k", "linear", "signal.csv", "noise.csv",
                        *LABELS).out
    assert "signal=linear" in measured


def test_strings_beside_numbers(views):
    views.write("words.csv", "".join(("abab" if c == "yes" else "bcbc") + "\n" for c in views.classes))
    views.ok("fit", "-q", "-m", "mkl", "--view-kernel", "words=spectrum:length=2", "words.csv", "noise.csv", *LABELS,
             "-o", "m.kfe")
    assert predicted(views, "m.kfe", "words.csv", "noise.csv") == views.classes
    assert predicted(views, "m.kfe", "noise.csv", "words.csv") == views.classes


@pytest.mark.parametrize("arguments, says", [
    (["signal.csv", "short.csv", *LABELS], ["signal.csv has 40 rows", "short.csv has 38", "same examples"]),
    (["short.csv", *LABELS], ["short.csv has 38 rows", "labels.csv has 40 labels"]),
    (["signal.csv", "./signal.csv", *LABELS], ["signal.csv and ./signal.csv", "'signal'", "--view NAME=FILE"]),
    (["signal.csv", "noise.csv", *LABELS, "--view-kernel", "nois=linear"],
     ["no view 'nois'", "did you mean 'noise'", "signal, noise"]),
    (["signal.csv", "noise.csv", *LABELS, "--view-kernel", "linear"], "NAME=KERNEL"),
    (["signal.csv", "noise.csv", *LABELS, "--view-kernel", "noise=linea"], "no kernel 'linea'"),
    (["signal.csv", "noise.csv", *LABELS, "--view-kernel", "noise=linear", "--view-kernel", "signal=linear"],
     "leave out --kernel"),
])
def test_bad_views_to_fit(views, arguments, says):
    views.refused(*MKL, *arguments, "-o", "bad.kfe", says=says)


@pytest.mark.parametrize("arguments, says", [
    (["signal.csv"], ["lacks the model's view 'noise'", "signal, noise"]),
    (["short.csv"], ["2 views", "signal, noise"]),
    (["--view", "signal=signal.csv", "--view", "other=noise.csv"], ["no view 'other'", "signal, noise"]),
    (["--view", "noise=signal.csv", "--view", "signal=noise.csv"], "columns"),
    (["signal.csv", "noise.csv", "labels.csv", "--label", "none"], "labels"),
])
def test_bad_views_to_predict(views, arguments, says):
    views.ok(*MKL, "signal.csv", "noise.csv", *LABELS, "-o", "m.kfe")
    views.refused("predict", "m.kfe", *arguments, says=says)
