# SPDX-License-Identifier: Apache-2.0
"""Learners as objects: their parameters in scikit-learn's searches, copies, and the same models as learners by name."""
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import kfe

FIT = dict(kernel="rbf:gamma=0.5", n_threads=1)


@pytest.mark.parametrize("made, name", [(kfe.SVM(C=10), "svm:C=10"), (kfe.NearestNeighbors(neighbors=3), "knn:neighbors=3"),
                                        (kfe.NearestCentroid(), "centroid"), (kfe.LinearSVM(C=0.5), "linear-svm:C=0.5")], ids=str)
def test_objects_and_names_are_the_same(made, name, iris):
    assert str(made) == name and eval(repr(made), vars(kfe)) == made
    X, y = iris
    by_object = kfe.KOCClassifier(learner=made, **FIT).fit(X, y)
    assert (by_object.decision_function(X) == kfe.KOCClassifier(learner=name, **FIT).fit(X, y).decision_function(X)).all()
    assert clone(by_object).learner == made and clone(by_object).learner is not made


def test_regressors_take_them_too(iris):
    X = iris[0]
    found = [kfe.KPLSRegressor(learner=learner, **FIT).fit(X[:, :3], X[:, 3]).predict(X[:, :3]) for learner in (kfe.SVM(C=5), "svm:C=5")]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("learner", [kfe.SVM(), "svm", "svm:C=2", None], ids=str)
def test_searches_vary_their_parameters(learner, iris):
    X, y = iris
    search = GridSearchCV(kfe.KOCClassifier(learner=learner, **FIT), {"learner__C": [0.01, 10.0]}, cv=3).fit(X, y)
    assert search.best_estimator_.learner.C == search.best_params_["learner__C"]
    by_hand = [np.mean([kfe.KOCClassifier(learner=f"svm:C={C}", **FIT).fit(X[train], y[train]).score(X[test], y[test])
                        for train, test in StratifiedKFold(3).split(X, y)]) for C in (0.01, 10.0)]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand)


def test_parameters_are_read_and_set():
    model = kfe.KOCClassifier(learner=kfe.SVM(C=3))
    assert model.get_params()["learner__C"] == 3
    assert model.set_params(learner__C=4).learner == kfe.SVM(C=4)
    assert model.set_params(learner=kfe.NearestNeighbors(), learner__neighbors=7).learner == kfe.NearestNeighbors(neighbors=7)
    with pytest.raises(ValueError, match="SVM has no parameter 'c'"):
        kfe.KOCClassifier(learner=kfe.SVM()).set_params(learner__c=1)
    with pytest.raises(ValueError, match="has no parameters to set"):
        kfe.MKLClassifier().set_params(learner__C=1)


def test_grids_of_the_library_take_them(iris):
    X, y = iris
    result = kfe.cv(kfe.KOCClassifier(**FIT), X, y, grid={"learner": [kfe.SVM(), kfe.NearestCentroid()], "C": [1, 10]}, folds=2, inner_folds=2)
    assert {row["setting"]["learner"] for row in result["settings"]} == {"svm", "centroid"}


def test_few_regressors_may_score_poorly():
    """scikit-learn's tag is for regressors whose features are found with a kernel and without y; the checks of all others demand a
    good score."""
    regressors = [name for name in kfe.__all__ if name.endswith("Regressor")]
    tagged = {name for name in regressors if getattr(kfe, name)()._more_tags()["poor_score"]}
    assert tagged == {"KPCARegressor", "SKFARegressor", "KCCARegressor", "KGCCARegressor", "DirectionRuleRegressor"}
