# SPDX-License-Identifier: Apache-2.0
"""What a new user stumbles over, and the sentence that helps: each message once, as it is printed."""
import json

import numpy
import pytest

FIT = ["fit", "-m", "koc", "-k", "rbf"]


@pytest.fixture
def iris(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    return kfe


@pytest.fixture
def matrices(kfe):
    """Kernel matrices: the identity, and one that is not positive definite; labels."""
    draw = numpy.random.default_rng(0).normal(size=(20, 20))
    numpy.savetxt(kfe.path("identity.csv"), numpy.eye(20), delimiter=",", fmt="%g")
    numpy.savetxt(kfe.path("indefinite.csv"), draw + draw.T, delimiter=",", fmt="%.6f")
    kfe.write("labels.txt", "".join("ab"[i % 2] + "\n" for i in range(20)))
    return kfe


@pytest.mark.parametrize("arguments, says", [
    (["fit", "-m", "koc", "--gamma", "0.1", "iris.csv", "-o", "m.kfe"], "parameters of a kernel follow its name: -k rbf:gamma=0.1"),
    (["fit", "-m", "kpls", "--n_components", "2", "iris.csv", "-o", "m.kfe"], "fit has no flag '--n_components' (did you mean --dim?)"),
    (["fit", "-m", "kpls", "--n-components=2", "iris.csv", "-o", "m.kfe"], "(did you mean --dim?)"),
    ([*FIT, "--random_state", "1", "iris.csv", "-o", "m.kfe"], "(did you mean --seed?)"),
    ([*FIT, "--n_jobs", "2", "iris.csv", "-o", "m.kfe"], "(did you mean --threads?)"),
    (["cv", "-m", "kfd", "--learner", "knn", "--scoring", "auc", "iris.csv"], "(did you mean --metrics?)"),
    (["fit", "-m", "koc", "-m", "kfd", "iris.csv", "-o", "m.kfe"], "fit takes one method, but --method is given twice; 'kfe compare' takes several"),
    ([*FIT, "iris.csv", "-o", "nowhere/m.kfe"], "there is no directory nowhere; make it first"),
    ([*FIT, "/bin/sh", "-o", "m.kfe"], "this is a program, not a table"),
    (["info", "iris.csv"], "iris.csv: not a model file; give one that a fit has saved"),
    (["predict", "iris.csv", "iris.csv"], "iris.csv: not a model file"),
    (["cv", "-m", "koc", "--learner", "svm", "--metrics", "foo", "iris.csv"], "there is no metric 'foo'; the metrics are accuracy, error"),
    (["cv", "-m", "koc", "--learner", "svm", "--groups", "specie", "iris.csv"], "--groups names the column 'specie', which is not there (did you mean 'species'?)"),
    ([*FIT, "--drop", "petal", "iris.csv", "-o", "m.kfe"], "--drop names the column 'petal', which is not there"),
    ([*FIT, "--select", "sepal", "iris.csv", "-o", "m.kfe"], "--select names the column 'sepal', which is not there"),
    ([*FIT, "--id", "name", "iris.csv", "-o", "m.kfe"], "--id names the column 'name', which is not there"),
])
def test_refusals(iris, arguments, says):
    iris.refused(*arguments, says=says)


def test_aliases_of_metrics_work(iris):
    iris.ok(*FIT, "-q", "--learner", "svm", "iris.csv", "-o", "m.kfe")
    same = [iris.ok("evaluate", "-q", "m.kfe", "iris.csv", "--metrics", name).out for name in ("auc;balanced-accuracy", "roc_auc;balanced_accuracy")]
    assert same[0] == same[1] and "auc" in same[0]


def test_aliases_of_kernels_work(iris):
    for typed, known in ("gaussian", "rbf"), ("polynomial", "poly"):
        assert f"koc with {known}:" in iris.ok("fit", "-m", "koc", "-k", typed, "iris.csv", "-o", "m.kfe").err


def test_versions_and_help(kfe):
    told = kfe.ok("version").out
    assert told.startswith("kfe ") and kfe.ok("-V").out == told == kfe.ok("--version").out
    assert "--stratified no turns it off" in " ".join(kfe.ok("cv", "--help").out.split())


def test_a_kernel_that_sees_no_neighbours(matrices):
    told = matrices.ok("fit", "-m", "kpca", "-k", "precomputed", "--label", "none", "identity.csv", "-o", "m.kfe").err
    assert "all directions are equally good, since the kernel sees no example near another" in told
    draw = numpy.random.default_rng(1).normal(size=(40, 2))
    matrices.write("t.csv", "".join(f"{a:.5f},{b:.5f},{'ab'[i % 2]}\n" for i, (a, b) in enumerate(draw)))
    done = matrices.ok("cv", "-m", "kpca", "-k", "rbf", "--grid", "gamma=1e6,1", "--learner", "centroid", "--folds", 2, "t.csv")
    assert "accuracy" in done.out and done.err.count("all directions are equally good") == 1 and " times)" in done.err


def test_indefinite_kernels_are_named(matrices):
    for method in "hsic", "kpca":
        told = matrices.ok("fit", "-m", method, "-k", "precomputed", "--label-file", "labels.txt", "indefinite.csv", "-o", "m.kfe").err
        assert f"{method}: the kernel is not positive definite on this data; directions of negative length are left out" in told
        assert "all examples are the same" not in told


def test_training_data_is_recognised(iris):
    iris.ok(*FIT, "-q", "--learner", "svm", "iris.csv", "-o", "m.kfe")
    assert "warning: this is the data that the model was fitted on" in iris.ok("evaluate", "m.kfe", "iris.csv").err
    assert "privacy     the file contains" in iris.ok("info", "m.kfe").out


def test_columns_that_a_model_does_not_know(iris):
    iris.ok(*FIT, "-q", "--learner", "svm", "--drop", "sepal_width", "iris.csv", "-o", "m.kfe")
    assert "iris.csv: 1 column that the model does not know is ignored: 'sepal_width'" in iris.ok("predict", "m.kfe", "iris.csv").err
    lines = iris.path("iris.csv").read_text().splitlines()
    iris.write("numbered.csv", "\n".join([f",{lines[0]}", *(f"{i},{line}" for i, line in enumerate(lines[1:]))]) + "\n")
    told = iris.ok("predict", "m.kfe", "numbered.csv").err
    assert "2 columns that the model does not know are ignored: column 1, which has no name, 'sepal_width'" in told


def test_flags_and_names_that_there_are_not(iris):
    iris.refused("generate", "slabs", "--n", "4", says="generator slabs has no flag --n; it has --")
    iris.refused("fit", "-m", "KFD", "iris.csv", "-o", "m.kfe", says="there is no method 'KFD' (did you mean kfd?)")


def test_svm_does_not_depend_on_the_unit_of_features(iris):
    """C=1 is far too small for features as short as those of kfd with a large ridge."""
    lines = iris.path("iris.csv").read_text().splitlines()
    small = [",".join([*(str(float(x) / 1000) for x in line.split(",")[:-1]), line.split(",")[-1]]) for line in lines[1:]]
    iris.write("small.csv", "\n".join([lines[0], *small]) + "\n")
    flags = ("-q", "-m", "none", "--learner", "svm", "--scale", "none", "--folds", "3", "--json")
    accuracy = [json.loads(iris.ok("cv", *flags, file).out)["metrics"]["accuracy"]["mean"] for file in ("iris.csv", "small.csv")]
    assert accuracy[0] == accuracy[1] > 0.95


def test_pipes_and_labels(iris):
    """A model goes through a pipe, and features in LIBSVM's format begin with the true label."""
    model = iris.run(*FIT, "-q", "iris.csv", "-o", "-").stdout
    iris.write("m.kfe", model)
    assert iris.ok("info", "-", stdin=model).out == iris.ok("info", "m.kfe").out
    iris.ok("transform", "-q", "-o", "z.svm", "m.kfe", "iris.csv")
    assert [line.split()[0] for line in iris.path("z.svm").read_text().splitlines()] == ["setosa"] * 50 + ["versicolor"] * 50 + ["virginica"] * 50


def test_settings_of_one_method_have_names_of_their_own(iris):
    told = iris.ok("compare", "-m", "koc:dim=1", "-m", "koc:dim=2", "-k", "rbf", "--learner", "svm", "--folds", 2, "iris.csv").out
    assert "koc:dim=1" in told and "koc:dim=2" in told


def test_dropped_rows_are_numbered(kfe):
    kfe.write("t.csv", "".join(f"{i},{i * i % 7},{'ab'[i % 2]}\n" for i in range(12)))
    kfe.write("new.csv", "1,2\n3,\n5,6\n")
    kfe.ok(*FIT, "-q", "--learner", "svm", "t.csv", "-o", "m.kfe")
    assert [line.split(",")[0] for line in kfe.ok("predict", "-q", "--missing", "drop", "m.kfe", "new.csv").out.splitlines()] == ["row", "1", "3"]
    kfe.refused("predict", "--missing", "mean", "m.kfe", "new.csv", says="the model has not learned what to fill in for missing values")
