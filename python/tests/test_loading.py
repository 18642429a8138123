# SPDX-License-Identifier: Apache-2.0
"""Estimators from files: labels of every kind, kernels by view, names of columns, and their use."""
import os
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import kfe
from kfe._data import class_labels

KINDS = {
    "bool": np.array([False, True]),
    "int": np.array([-3, 7]),
    "whole": np.array([1.0, 2.0]),
    "text": np.array(["no", "yes"]),
    "digits": np.array(["1", "2"]),
    "object": np.array(["a", "b"], dtype=object),
}
CAME_BACK = {"bool": "b", "int": "i", "whole": "i", "text": "U", "digits": "i", "object": "U"}


@pytest.fixture
def halves(iris):
    return {"sepal": iris[0][:, :2], "petal": iris[0][:, 2:]}


@pytest.mark.parametrize("kind", KINDS)
def test_labels(kind, clouds, tmp_path):
    x, y = clouds[0], KINDS[kind][clouds[1]]
    model = kfe.KOCClassifier(learner="svm", n_threads=1).fit(x, y)
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe")
    assert loaded.classes_.dtype.kind == loaded.predict(x).dtype.kind == CAME_BACK[kind]
    by_hand = np.mean(model.predict(x) == y)
    assert 0.6 < by_hand < 1 and model.score(x, y) == loaded.score(x, y) == by_hand
    assert kfe.evaluate(loaded, x, y)["metrics"]["accuracy"] == pytest.approx(by_hand)


def test_scores_are_still_checked(clouds):
    model = kfe.KOCClassifier(learner="knn").fit(*clouds)
    with pytest.raises(ValueError, match="inconsistent"):
        model.score(clouds[0], clouds[1][:-1])
    with pytest.raises(ValueError, match="[Uu]nknown label type|continuous"):
        model.score(clouds[0], clouds[0][:, 0])
    assert model.score(clouds[0], clouds[1] + 5) == 0


def test_names_of_classes():
    assert class_labels(["True", "False"]).tolist() == [True, False]
    assert class_labels(["True", "no"]).tolist() == ["True", "no"]
    assert class_labels(["01", "2"]).tolist() == ["01", "2"] and class_labels(["-1", "2"]).tolist() == [-1, 2]


def test_regression_is_remembered(iris, tmp_path):
    x, y = iris[0][:, 1:], np.round(iris[0][:, 0])  # few distinct whole numbers look like classes
    model = kfe.KPLSRegressor(learner="ls", n_threads=1).fit(x, y)
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe").set_params(n_threads=1)
    assert loaded.score(x, y) == model.score(x, y)
    np.testing.assert_array_equal(clone(loaded).fit(x, y).predict(x), model.predict(x))
    assert kfe.evaluate(loaded, x, y)["metrics"].keys() == kfe.evaluate(model, x, y)["metrics"].keys()


# ---- several views ----

FITS = [kfe.MKLClassifier(kernel={"sepal": ["rbf:gamma=1", "linear"], "petal": "rbf:gamma=2"}, svm_C=100, n_threads=1),
        kfe.MKLClassifier(kernel="rbf", normalize=False, svm_C=0.3, n_threads=1),
        kfe.LMKLClassifier(kernel={"sepal": ["linear", "poly:degree=2"], "petal": "rbf:gamma=0.5"}, max_iter=3, n_threads=1),
        kfe.SLDRClassifier(max_iter=3, n_threads=1),
        kfe.KOCClassifier(kernel={"sepal": "linear:weight=2", "petal": "rbf:gamma=0.5"}, learner="svm", n_threads=1),
        kfe.HSICMKL(kernel=["rbf:gamma=0.5", "linear"], n_threads=1)]


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
@pytest.mark.parametrize("estimator", FITS, ids=repr)
def test_loaded_models_can_be_fitted_again(estimator, halves, iris, tmp_path):
    model = clone(estimator).fit(halves, iris[1])
    model.save(tmp_path / "m.kfe")
    again = clone(kfe.load(tmp_path / "m.kfe")).set_params(n_threads=1)
    assert isinstance(again.kernel, dict) and set(again.kernel) <= set(halves)
    features = again.fit(halves, iris[1]).transform(halves)
    if getattr(model, "kernel_weights_", np.ones(1)).min() == 0:
        return  # the file does not contain the kernels that were dropped
    np.testing.assert_allclose(features, model.transform(halves), atol=1e-6 * np.abs(features).max())


def test_views_without_a_kernel_get_the_default(halves, iris, tmp_path):
    model = kfe.MKLClassifier(kernel="rbf", svm_C=0.1, n_threads=1).fit(halves, iris[1])
    assert list(model.kernel_weights_ > 0) == [False, True]
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe")
    assert list(loaded.kernel) == ["petal"] and "weight" not in loaded.kernel["petal"]
    np.testing.assert_allclose(clone(loaded).fit(halves, iris[1]).kernel_weights_, [0, 1], atol=1e-6)


def scalar_product(a, b):
    return float(a @ b)


def test_functions_of_loaded_models(halves, iris, tmp_path):
    for x in (iris[0], halves):
        model = kfe.KOC(kernel=scalar_product, n_threads=1).fit(x, iris[1])
        model.save(tmp_path / "m.kfe")
        loaded = kfe.load(tmp_path / "m.kfe", kernels={"scalar_product": scalar_product})
        assert loaded.kernel is scalar_product
        np.testing.assert_array_equal(clone(loaded).set_params(n_threads=1).fit(x, iris[1]).transform(x),
                                      model.transform(x))


@pytest.mark.skipif("KFE" not in os.environ, reason="needs the command line")
def test_views_of_the_command_line(halves, iris, tmp_path):
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    frame = pd.DataFrame(iris[0], columns=names)
    frame[names[:2]].to_csv(tmp_path / "sepal.csv", index=False)
    frame[names[2:]].to_csv(tmp_path / "petal.csv", index=False)
    pd.DataFrame({"species": iris[1]}).to_csv(tmp_path / "species.csv", index=False)
    subprocess.run([os.environ["KFE"], "fit", "-q", "-m", "mkl", "-k", "rbf", "sepal.csv", "petal.csv", "--label-file",
                    "species.csv", "-o", "flowers.kfe"], cwd=tmp_path, check=True, timeout=60)
    model = kfe.load(tmp_path / "flowers.kfe")
    assert not hasattr(model, "feature_names_in_")
    assert {view: list(found) for view, found in model.view_feature_names_in_.items()} == {
        "sepal": names[:2], "petal": names[2:]}
    expected = model.predict(halves)
    np.testing.assert_array_equal(model.predict([frame[names[:2]], frame[names[2:]]]), expected)
    for table in (iris[0], frame):
        with pytest.raises(ValueError, match=r"views sepal \(2 features\), petal \(2 features\), but X is one table"):
            model.predict(table)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict([frame[names[2:]], frame[names[:2]]])
