# SPDX-License-Identifier: Apache-2.0
"""cv, compare, evaluate and measure give the same results as the command line."""
import json
import os
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest

import kfe
from kfe._results import typed

needs_command = pytest.mark.skipif("KFE" not in os.environ, reason="needs the command line")


def from_command(folder, *arguments):
    done = subprocess.run([os.environ["KFE"], *map(str, arguments), "--json", "-q"], cwd=folder, capture_output=True,
                          check=True, timeout=120)
    return typed(without_times(json.loads(done.stdout)))


def without_times(result):
    """Removes the seconds, which differ between runs."""
    if isinstance(result, dict):
        return {key: without_times(value) for key, value in result.items() if key != "seconds"}
    return [without_times(item) for item in result] if isinstance(result, list) else result


@pytest.fixture
def table(tmp_path, iris):
    np.savetxt(tmp_path / "iris.csv", np.column_stack([iris[0], iris[1]]), fmt="%s", delimiter=",")
    return tmp_path


@needs_command
def test_cv(table, iris):
    estimator = kfe.KOCClassifier(kernel="rbf", learner="svm", random_state=3, n_threads=2)
    result = kfe.cv(estimator, *iris, grid={"gamma": [0.1, 1], "C": "1:100:log3"}, folds=3, metrics=["accuracy", "f1"])
    theirs = from_command(table, "cv", "-m", "koc", "-k", "rbf", "--learner", "svm", "--seed", 3, "--grid",
                          "gamma=0.1,1", "--grid", "C=1:100:log3", "--folds", 3, "--metrics", "accuracy;f1",
                          "iris.csv")
    assert without_times(result) == theirs
    frame = result.to_dataframe()
    assert len(frame) == 3 and {"fold", "gamma", "C", "accuracy", "f1"} <= set(frame.columns)


def test_settings_that_fail_do_not_end_a_search(iris):
    X, y = 1e5 + 1000 * iris[0], iris[1]
    with pytest.warns(UserWarning, match="4 of 10 fits failed"):
        result = kfe.cv(kfe.KOCClassifier(kernel="poly", learner="knn", scale="none"), X, y, grid={"degree": [100, 1]}, folds=2,
                        inner_folds=2)
    assert [setting["failed_splits"] for setting in result["settings"]] == [4, 0]
    assert result["best"]["degree"] == 1 and result["settings"][0]["failed"]
    assert list(result.to_dataframe()["failed"]) == [None, None]


def test_the_best_model(iris):
    result = kfe.cv(kfe.KOCClassifier(learner="knn", n_threads=1), *iris, grid=["gamma=0.1,1"], folds=3, refit=True)
    best = result.best_estimator_
    assert isinstance(best, kfe.KOC) and best.n_threads == 1
    expected = kfe.KOCClassifier(kernel=f"rbf:gamma={result['best']['gamma']}", learner="knn", n_threads=1).fit(*iris)
    np.testing.assert_array_equal(best.transform(iris[0]), expected.transform(iris[0]))
    assert not hasattr(kfe.cv(kfe.KOCClassifier(learner="knn"), *iris, folds=3), "best_estimator_")


def test_labels_of_the_best_model(clouds):
    best = kfe.cv(kfe.KOCClassifier(learner="knn:neighbors=1"), clouds[0], clouds[1] == 1, folds=3, refit=True).best_estimator_
    assert best.classes_.dtype == bool and best.score(clouds[0], clouds[1] == 1) == 1


@needs_command
def test_compare(table, iris):
    result = kfe.compare([kfe.KOCClassifier(learner="knn"), kfe.KPCAClassifier(dim=3, learner="knn")], *iris, grid={"gamma": [0.1, 1]},
                         folds=3)
    theirs = from_command(table, "compare", "-m", "koc", "-m", "kpca:dim=3", "-k", "rbf", "--learner", "knn", "--grid",
                          "gamma=0.1,1", "--folds", 3, "iris.csv")
    assert without_times(result) == theirs
    assert list(result.to_dataframe().index) == ["koc", "kpca:dim=3"]
    assert len(result.differences()) == 1


@needs_command
def test_evaluate(table, iris):
    model = kfe.KFDClassifier(learner="centroid").fit(*iris)
    model.save(table / "m.kfe")
    theirs = from_command(table, "evaluate", "m.kfe", "iris.csv", "--label", "last")
    assert kfe.evaluate(model, *iris) == theirs == kfe.evaluate(table / "m.kfe", *iris)
    frame = kfe.evaluate(model, *iris, metrics=["accuracy"]).to_dataframe()
    assert frame["accuracy"][0] == pytest.approx(model.score(*iris))


@needs_command
def test_measure(table, iris):
    kernels = ["rbf:gamma=0.1", "linear"]
    measures = kfe.measure(*iris, kernels)
    assert measures == from_command(table, "measure", "-k", kernels[0], "-k", kernels[1], "iris.csv")
    assert list(measures.to_dataframe().index) == kernels
    assert kfe.measure(*iris)[0]["kernel"].startswith("rbf")


def test_the_users_estimator_stays_as_it_was(iris):
    frame, estimator = pd.DataFrame(iris[0], columns=list("abcd")), kfe.KOCClassifier(learner="knn")
    before = dict(vars(estimator))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best = kfe.cv(estimator, frame, iris[1], folds=3, refit=True).best_estimator_
        kfe.compare([estimator, estimator], frame, iris[1], folds=3)
        assert best.score(frame, iris[1]) > 0.9
    assert vars(estimator) == before


def test_scaled_measures(iris):
    scaled = (iris[0] - iris[0].mean(axis=0)) / iris[0].std(axis=0)
    ours = kfe.measure(*iris, "rbf:gamma=0.1", scale="standard")[0]
    theirs = kfe.measure(scaled, iris[1], "rbf:gamma=0.1")[0]
    assert ours["alignment"] == pytest.approx(theirs["alignment"], rel=1e-6)


def test_mistakes(iris):
    with pytest.raises(TypeError, match="KOCClassifier"):
        kfe.cv(kfe.KOC(), *iris)
    with pytest.raises(ValueError, match="gama"):
        kfe.cv(kfe.KOCClassifier(learner="knn"), *iris, grid={"gama": [1]})
    with pytest.raises(ValueError, match="fold"):
        kfe.cv(kfe.KOCClassifier(learner="knn"), *iris, fold=3)
    with pytest.raises(ValueError, match="nothing"):
        kfe.compare([], *iris)
    with pytest.raises(ValueError, match="did you mean 'rbf'"):
        kfe.measure(*iris, "rbff")


def test_results_print_the_tables_of_the_command():
    X, y = kfe.generate("iris")
    found = kfe.cv(kfe.KOCClassifier(learner="knn"), X, y, grid={"gamma": [0.1, 1]}, folds=3)
    lines = str(found).splitlines()
    assert lines[0].split() == ["split", "accuracy", "seconds", "chosen"] and len(lines) == 7
    assert lines[1].split()[1] == f"{found['splits'][0]['metrics']['accuracy']:.4g}" and lines[4].startswith("accuracy 0.9")
    from sklearn.svm import SVC
    shown = str(kfe.compare([kfe.KFDClassifier(), SVC()], X, y, cv=3)).splitlines()
    assert shown[0].split() == ["method", "accuracy", "seconds"] and "SVC" in str(shown)
    assert str(kfe.evaluate(kfe.KFDClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])).startswith("accuracy  ")
    measures = kfe.measure(X, y, ["rbf", "linear"])
    assert repr(measures).split()[0] == "kernel" and "<table>" in measures._repr_html_()
    del found["splits"], found["metrics"]
    assert repr(found)


def test_scale_takes_true_and_false():
    X, y = kfe.generate("iris")
    X = X * [1, 10, 1, 100]
    for scale, word in ((True, "standard"), (False, "none")):
        made, expected = (kfe.PLSClassifier(2, scale=value).fit(X, y) for value in (scale, word))
        np.testing.assert_array_equal(made.decision_function(X), expected.decision_function(X))
    with pytest.raises(ValueError, match="scale takes one of none|standard"):
        kfe.PLSClassifier(2, scale="maybe").fit(X, y)
    assert len(kfe.cv(kfe.PLSClassifier(2), X, y, grid={"scale": [True, False]}, folds=3)["settings"]) == 2
