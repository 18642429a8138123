# SPDX-License-Identifier: Apache-2.0
"""Defaults that depend on the data: the ridge, C, the number of neighbours and of features; and numbers that measurements chose."""
import json
import random
import re

import numpy
import pytest


def table(classes, rows=60, cols=6, seed=3):
    draw = random.Random(seed)
    return "".join(",".join(f"{draw.gauss((i % classes) * (j < classes) * (1 + j % 2), 1):.5f}" for j in range(cols))
                   + f",c{i % classes}\n" for i in range(rows))


def records(kfe):
    return json.loads(kfe.ok("info", "m.kfe", "--json").out)["records"]


def test_ridge_is_chosen_said_and_kept(kfe):
    kfe.write("data.csv", table(3))
    done = kfe.ok("fit", "-m", "kfd", "data.csv", "-o", "m.kfe")
    kept = records(kfe)
    assert f"ridge {kept['ridge'][0]:.3g} by leave-one-out on 60 examples" in done.err
    assert kept["loo-rows"] == [60] and 0 < kept["loo-unexplained-variance"][0] < 1
    for given in ["0.5", "thousandth"]:
        done = kfe.ok("fit", "-m", "kfd", "--ridge", given, "data.csv", "-o", "m.kfe")
        assert "leave-one-out" not in done.err and "loo-rows" not in records(kfe)
    kfe.ok("fit", "-q", "-m", "kfd", "--ridge", "0.5", "data.csv", "-o", "m.kfe")
    assert records(kfe)["ridge"] == [0.5]


@pytest.mark.parametrize("flags, record", [([], "learner-loo-error-rate"), (["--task", "regress"], "learner-loo-squared-error")])
def test_the_error_of_neighbors_is_what_its_name_says(kfe, flags, record):
    """Leave-one-out by brute force: the share of wrong rows, or the mean square of the errors."""
    draw = numpy.random.default_rng(2)
    x = draw.normal(size=(60, 4)).round(3)
    y = (x[:, 0] + draw.normal(size=60) > 0).astype(int)
    if flags:
        y = (x[:, 0] + 0.3 * draw.normal(size=60)).round(3)
    kfe.write("data.csv", "".join(",".join(map(str, row)) + f",{value}\n" for row, value in zip(x, y)))
    kfe.ok("fit", "-q", "-m", "none", "--learner", "knn", "--scale", "none", *flags, "data.csv", "-o", "m.kfe")
    kept = records(kfe)
    distance = ((x[:, None] - x[None]) ** 2).sum(2)
    numpy.fill_diagonal(distance, numpy.inf)
    nearest = numpy.argsort(distance, axis=1)[:, :int(kept["learner-neighbors"][0])]
    means = y[nearest].mean(axis=1)
    errors = (means - y) ** 2 if flags else (means > 0.5) != y
    assert kept[record][0] == pytest.approx(errors.mean(), rel=1e-9)


def test_neighbors_are_chosen_said_and_kept(kfe):
    kfe.write("data.csv", table(3))
    done = kfe.ok("fit", "-m", "none", "--learner", "knn", "data.csv", "-o", "m.kfe")
    kept = records(kfe)
    number = int(kept["learner-neighbors"][0])
    assert f", {number} neighbors" in done.err and number % 2 == 1
    chosen = kfe.ok("predict", "m.kfe", "data.csv").out
    kfe.ok("fit", "-q", "-m", "none", "--learner", "knn", "--neighbors", number, "data.csv", "-o", "m.kfe")
    assert kfe.ok("predict", "m.kfe", "data.csv").out == chosen
    assert "learner-neighbors" not in records(kfe)


def test_sldr_projects_to_one_dimension_fewer_than_classes(kfe):
    for classes, dim in [(2, 2), (5, 4)]:
        kfe.write("data.csv", table(classes))
        found = []
        for flags in [[], ["--local-dim", dim], ["--local-dim", dim + 1]]:
            kfe.ok("fit", "-q", "-m", "sldr", "--max-iter", "3", *flags, "data.csv", "-o", "m.kfe")
            found.append(kfe.ok("transform", "m.kfe", "data.csv").out)
        assert found[0] == found[1] != found[2]


def test_narrow_views_are_not_warned_about(kfe):
    kfe.write("data.csv", table(5, cols=3))
    assert "dimension" not in kfe.ok("fit", "-m", "sldr", "--max-iter", "1", "data.csv", "-o", "m.kfe").err


def test_svms_are_regularised_by_leave_one_out(kfe):
    kfe.write("data.csv", table(3))
    for method, name, record in [("svm-joint", "svm-C", "svm-c"), ("usvm-joint", "xi", "xi"), ("svm-mkl", "xi", "xi"),
                                 ("mkl", "svm-C", "svm-c"), ("slmc", "svm-C", "svm-c")]:
        done = kfe.ok("fit", "-m", method, "data.csv", "-o", "m.kfe")
        kept = records(kfe)
        assert f"{name} {kept[record][0]:.3g} by leave-one-out on 60 examples" in done.err
        chosen = kfe.ok("predict", "m.kfe", "data.csv").out
        kfe.ok("fit", "-q", "-m", method, f"--{name}", repr(kept[record][0]), "data.csv", "-o", "m.kfe")
        assert kfe.ok("predict", "m.kfe", "data.csv").out == chosen
        assert "loo-rows" not in records(kfe)


def test_mkl_chooses_c_for_the_sum_of_its_kernels(kfe):
    """Two equal kernels with equal weights are the kernel itself, for which slmc chooses."""
    kfe.write("data.csv", table(3))
    found = {}
    for method, kernels in [("slmc", 1), ("mkl", 1), ("mkl", 2)]:
        kfe.ok("fit", "-q", "-m", method, *["-k", "rbf:gamma=0.1"] * kernels, "data.csv", "-o", "m.kfe")
        found[method, kernels] = records(kfe)["svm-c"][0]
    assert found["mkl", 1] == found["slmc", 1] != 1
    assert abs(found["mkl", 2] / found["mkl", 1] - 1) < 1e-12


def test_numbers_of_single_methods(kfe):
    for method, classes, flags, former in [("kda-qr", 3, ["--ridge", "3"], ["--ridge", "0"]),
                                           ("akda-qr", 3, ["--ridge", "3"], ["--ridge", "0"]),
                                           ("skpls", 3, ["--nu", "0.5"], ["--nu", "0.25"]),
                                           ("skblf", 2, ["--nu", "0.5"], ["--nu", "0.25"]),
                                           ("kb", 2, ["--dim", "3"], ["--dim", "10"]),
                                           ("sma", 3, ["--dim", "10"], ["--dim", "6"]),
                                           ("sma", 6, ["--dim", "12"], ["--dim", "10"]),
                                           ("smc", 6, ["--dim", "12"], ["--dim", "10"])]:
        kfe.write("data.csv", table(classes))
        found = []
        for more in [[], flags, former]:
            kfe.ok("fit", "-q", "-m", method, *more, "data.csv", "-o", "m.kfe")
            found.append(kfe.ok("transform", "m.kfe", "data.csv").out)
        assert found[0] == found[1] != found[2], method


@pytest.mark.parametrize("method", ["pls", "cr", "spls", "blf", "kpls", "kblf", "skpls", "skblf", "plsda", "splsda"])
def test_the_number_of_features_is_cross_validated(kfe, method):
    kfe.write("data.csv", table(3))
    done = kfe.ok("fit", "-m", method, "data.csv", "-o", "m.kfe")
    chosen = int(re.search(r": (\d+) features? by cross-validation", done.err).group(1))
    left = records(kfe)["cv-unexplained-variance"]
    assert 1 <= chosen <= len(left) <= 20 and left[chosen - 1] < 1
    features = kfe.ok("transform", "m.kfe", "data.csv").out
    done = kfe.ok("fit", "-m", method, "--dim", chosen, "data.csv", "-o", "m.kfe")
    assert "by cross-validation" not in done.err and "cv-unexplained-variance" not in records(kfe)
    assert kfe.ok("transform", "m.kfe", "data.csv").out == features
