# SPDX-License-Identifier: Apache-2.0
"""Estimators inside scikit-learn's pipelines, searches and ensembles."""
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kfe
from kfe import _tables


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")  # centroids of centred data are dependent
def test_pipeline_and_grid_search(iris):
    pipeline = make_pipeline(StandardScaler(), kfe.KOC(n_threads=1), SVC())
    search = GridSearchCV(pipeline, {"koc__kernel": ["rbf:gamma=0.1", "rbf:gamma=1", "linear"]}, cv=3)
    search.fit(*iris)
    assert search.best_score_ > 0.9
    assert search.predict(iris[0]).shape == (150,)


def test_search_over_learners_in_processes(iris):
    search = GridSearchCV(kfe.KFDClassifier(learner="svm", n_threads=1),
                          {"learner_params": [{"C": 1}, {"C": 10}], "ridge": [1e-3, 1e-1]}, cv=3, n_jobs=2)
    assert search.fit(*iris).best_score_ > 0.9


def test_cross_val_score(iris, clouds):
    assert cross_val_score(kfe.SVMJointClassifier(n_threads=1), *iris, cv=3).mean() > 0.9
    assert cross_val_score(kfe.KOCClassifier(learner="svm", n_threads=1), *clouds, scoring="roc_auc").mean() > 0.9
    x = iris[0]
    assert cross_val_score(kfe.PLSRegressor(dim=2, learner="ls", n_threads=1), x[:, 1:], x[:, 0]).mean() > 0.5


def test_precomputed_kernels_are_split_both_ways(iris):
    kernel = kfe.kernel_matrix("rbf:gamma=0.2", iris[0])
    given = cross_val_score(kfe.KOCClassifier(kernel="precomputed", learner="knn"), kernel, iris[1], cv=3)
    made = cross_val_score(kfe.KOCClassifier(kernel="rbf:gamma=0.2", learner="knn"), *iris, cv=3)
    np.testing.assert_allclose(given, made)


def test_column_transformer_and_pandas_output(iris):
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    both = ColumnTransformer([("first", kfe.KPCA(dim=2), ["a", "b"]), ("last", kfe.PCA(dim=1), ["c", "d"])])
    both.set_output(transform="pandas")
    out = both.fit_transform(frame)
    assert list(out.columns) == ["first__PC1", "first__PC2", "last__PC1"] and len(out) == 150
    alone = kfe.KFD().set_output(transform="pandas").fit(frame, iris[1])
    assert list(alone.transform(frame).columns) == ["LD1", "LD2"]
    assert list(alone.get_feature_names_out()) == ["LD1", "LD2"]


def test_what_an_estimator_is():
    """The kind of an unfitted estimator, for which scikit-learn's searches and ensembles ask."""
    for method, entry in _tables.ESTIMATORS.items():
        alone = getattr(kfe, method)()
        assert not is_classifier(alone) and not is_regressor(alone) and not hasattr(alone, "predict")
        for name in _tables.predictor_names(method, entry):
            made = getattr(kfe, name)()
            assert isinstance(made, getattr(kfe, method))
            assert is_classifier(made) == name.endswith("Classifier") == hasattr(made, "decision_function"), name
            assert is_regressor(made) == name.endswith("Regressor"), name
    assert "KOCRegressor" not in kfe.__all__ and "KPCARegressor" in kfe.__all__


def test_task(iris):
    x, codes = iris[0], np.unique(iris[1], return_inverse=True)[1]
    assert hasattr(kfe.KPLS().fit(x, codes), "classes_") and hasattr(kfe.KPLS().fit(x, codes > 0), "classes_")
    assert hasattr(kfe.KPLS(task="classify").fit(x, codes.astype(float)), "classes_")
    assert not hasattr(kfe.KPLS(task="regress").fit(x, codes), "classes_")
    with pytest.warns(kfe.KfeWarning, match="stored as real ones.*task='classify'"):
        assert not hasattr(kfe.KPLS().fit(x, codes.astype(float)), "classes_")
    with pytest.raises(ValueError, match="task is one of"):
        kfe.KPLS(task="guess").fit(x, codes)
    for made in (kfe.KOC(), kfe.KOCClassifier(), kfe.KPLSClassifier()):
        with pytest.raises(ValueError, match="Unknown label type"):
            made.fit(x, x[:, 0])
    with pytest.raises(ValueError):
        kfe.KPLSRegressor().fit(x, iris[1])


def test_many_different_integers(iris):
    x, several = iris[0], np.arange(150) % 21
    with pytest.warns(kfe.KfeWarning, match="more than 20 different whole numbers.*task='classify'.*task='regress'"):
        assert not hasattr(kfe.KPLS().fit(x, several), "classes_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hasattr(kfe.KPLS().fit(x, several % 20), "classes_")
        assert not hasattr(kfe.KPLS(task="regress").fit(x, several), "classes_")
        assert not hasattr(kfe.KPLSRegressor().fit(x, several), "classes_")
        assert len(kfe.KPLS(task="classify").fit(x, several).classes_) == 21


def test_folds_never_change_the_task():
    """A whole-number target with few distinct values in some training parts and many in others."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(90, 3))
    y = np.round(6 * x[:, 0] + 2 * x[:, 1]).astype(int)
    x, y = x[np.argsort(y)], np.sort(y)
    assert len(np.unique(y)) > 20 and min(len(np.unique(np.delete(y, part))) for part in np.split(np.arange(90), 3)) <= 20
    folds = KFold(3, shuffle=True, random_state=1)
    for target in (y, y.astype(float)):
        scores = cross_val_score(kfe.KPLSRegressor(dim=2, kernel="linear"), x, target, cv=folds)
        theirs = cross_val_score(PLSRegression(2, scale=False), x, target, cv=folds)
        np.testing.assert_allclose(scores, theirs, rtol=1e-6)
    sorted_parts = cross_val_predict(kfe.KPLSRegressor(dim=2, kernel="linear"), x, y, cv=KFold(3))
    np.testing.assert_allclose(sorted_parts, cross_val_predict(PLSRegression(2, scale=False), x, y, cv=KFold(3)).ravel(),
                               atol=1e-6)


def test_ensembles(iris, clouds):
    """Ensembles ask for the kind of their members before they fit them."""
    x, y = iris[0][:, :3], iris[0][:, 3]
    members = [("kpls", kfe.KPLSRegressor(n_threads=1)), ("pca", kfe.KPCARegressor(learner="knn:neighbors=5", n_threads=1))]
    assert VotingRegressor(members).fit(x, y).score(x, y) > 0.9
    assert StackingRegressor(members).fit(x, y).score(x, y) > 0.9
    classifiers = [("koc", kfe.KOCClassifier(n_threads=1)), ("kfd", kfe.KFDClassifier(n_threads=1))]
    assert VotingClassifier(classifiers).fit(*clouds).score(*clouds) > 0.8
    assert StackingClassifier(classifiers).fit(*clouds).score(*clouds) > 0.8
    calibrated = CalibratedClassifierCV(kfe.KOCClassifier(n_threads=1), cv=3).fit(*clouds)
    assert calibrated.predict_proba(clouds[0]).shape == (120, 2)
    with pytest.raises(ValueError, match="should be a regressor"):
        VotingRegressor(classifiers).fit(*clouds)
    with pytest.raises(ValueError, match="should be a classifier"):
        VotingClassifier(members).fit(*clouds)


def test_names_that_other_packages_use(iris):
    assert kfe.KPLS(n_components=3).dim == 3 and kfe.KPLS().set_params(n_components=2).dim == 2
    search = GridSearchCV(kfe.KPLSClassifier(n_threads=1), {"n_components": [1, 2]}, cv=3).fit(*iris)
    assert search.best_estimator_.dim == search.best_params_["n_components"]
    with pytest.raises(TypeError, match="n_components is another name of dim"):
        kfe.KPLS(n_components=3, dim=3)
    with pytest.raises(TypeError, match=r"KPLSClassifier\(learner=...\) or KPLSRegressor\(learner=...\)"):
        kfe.KPLS(learner="svm")
    with pytest.raises(TypeError, match="did you mean 'kernel'"):
        kfe.KPLS(kernl="rbf")


def test_derived_classes(iris):
    """A user's class may have a constructor of its own."""
    class Mine(kfe.KPLSClassifier):
        def __init__(self, width=1.0):
            super().__init__(kernel=f"rbf:gamma={width}")
            self.width = width
    assert Mine(width=0.2).fit(*iris).score(*iris) > 0.9


def test_several_targets(iris):
    x = iris[0]
    model = kfe.KPLSRegressor(learner="ls", dim=2).fit(x[:, :2], x[:, 2:])
    assert model.predict(x[:, :2]).shape == (150, 2)
    assert model.score(x[:, :2], x[:, 2:]) > 0.5
