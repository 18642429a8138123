# SPDX-License-Identifier: Apache-2.0
"""Estimators inside scikit-learn's own machinery."""
import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kfe


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")  # centroids of centred data depend on each other
def test_pipeline_and_grid_search(iris):
    pipeline = make_pipeline(StandardScaler(), kfe.KOC(n_threads=1), SVC())
    search = GridSearchCV(pipeline, {"koc__kernel": ["rbf:gamma=0.1", "rbf:gamma=1", "linear"]}, cv=3)
    search.fit(*iris)
    assert search.best_score_ > 0.9
    assert search.predict(iris[0]).shape == (150,)


def test_search_over_learners_in_processes(iris):
    search = GridSearchCV(kfe.KFD(learner="svm", n_threads=1),
                          {"learner_params": [{"C": 1}, {"C": 10}], "ridge": [1e-3, 1e-1]}, cv=3, n_jobs=2)
    assert search.fit(*iris).best_score_ > 0.9


def test_cross_val_score(iris, clouds):
    assert cross_val_score(kfe.SVMJoint(n_threads=1), *iris, cv=3).mean() > 0.9
    assert cross_val_score(kfe.KOC(learner="svm", n_threads=1), *clouds, scoring="roc_auc").mean() > 0.9
    x = iris[0]
    assert cross_val_score(kfe.PLS(dim=2, learner="ls", n_threads=1), x[:, 1:], x[:, 0]).mean() > 0.5


def test_precomputed_kernels_are_split_both_ways(iris):
    kernel = kfe.kernel_matrix("rbf:gamma=0.2", iris[0])
    given = cross_val_score(kfe.KOC(kernel="precomputed", learner="knn"), kernel, iris[1], cv=3)
    made = cross_val_score(kfe.KOC(kernel="rbf:gamma=0.2", learner="knn"), *iris, cv=3)
    np.testing.assert_allclose(given, made)


def test_column_transformer_and_pandas_output(iris):
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    both = ColumnTransformer([("first", kfe.KPCA(dim=2), ["a", "b"]), ("last", kfe.PCA(dim=1), ["c", "d"])])
    both.set_output(transform="pandas")
    out = both.fit_transform(frame)
    assert list(out.columns) == ["first__kpca0", "first__kpca1", "last__pca0"] and len(out) == 150
    alone = kfe.KFD().set_output(transform="pandas").fit(frame, iris[1])
    assert list(alone.transform(frame).columns) == ["kfd0", "kfd1"]
    assert list(alone.get_feature_names_out()) == ["kfd0", "kfd1"]


def test_what_an_estimator_is():
    assert is_classifier(kfe.KOC(learner="svm")) and is_classifier(kfe.SVMJoint())
    assert is_regressor(kfe.KPLS(learner="ls", task="regress"))
    assert not is_classifier(kfe.KOC()) and not is_regressor(kfe.KOC())
    assert not hasattr(kfe.KOC(), "predict") and hasattr(kfe.KOC(learner="knn"), "predict")
    assert not hasattr(kfe.KPLS(learner="ls", task="regress"), "decision_function")


def test_task(iris):
    x, codes = iris[0], np.unique(iris[1], return_inverse=True)[1]
    assert hasattr(kfe.KPLS(learner="ls").fit(x, codes), "classes_")
    assert not hasattr(kfe.KPLS(learner="ls", task="regress").fit(x, codes), "classes_")
    assert not hasattr(kfe.KPLS(learner="ls").fit(x, x[:, 0]), "classes_")
    assert not hasattr(kfe.KPLS(learner="ls").fit(x, np.arange(150)), "classes_")
    with pytest.raises(ValueError, match="task is one of"):
        kfe.KPLS(task="guess").fit(x, codes)
    with pytest.raises(ValueError, match="Unknown label type"):
        kfe.KOC().fit(x, x[:, 0])


def test_several_targets(iris):
    x = iris[0]
    model = kfe.KPLS(learner="ls", dim=2).fit(x[:, :2], x[:, 2:])
    assert model.predict(x[:, :2]).shape == (150, 2)
    assert model.score(x[:, :2], x[:, 2:]) > 0.5
