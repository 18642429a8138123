# SPDX-License-Identifier: Apache-2.0
"""Missing values in X, filled from the training rows, against scikit-learn's SimpleImputer."""
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

import kfe


@pytest.fixture
def gaps(iris):
    x = iris[0].copy()
    x[np.random.default_rng(4).random(x.shape) < 0.1] = np.nan
    return x, iris[1]


@pytest.mark.parametrize("missing", ["mean", "median", "most_frequent"])
def test_filled_as_by_an_imputer(missing, gaps):
    x, y = gaps
    order = np.random.default_rng(1).permutation(150)
    train, test = order[:100], order[100:]
    imputer = SimpleImputer(strategy=missing).fit(x[train])
    theirs = kfe.KFDClassifier(gamma=0.2, n_threads=1).fit(imputer.transform(x[train]), y[train])
    ours = kfe.KFDClassifier(gamma=0.2, missing=missing, n_threads=1).fit(x[train], y[train])
    np.testing.assert_allclose(ours.transform(x[test]), theirs.transform(imputer.transform(x[test])), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(x[test]), theirs.predict(imputer.transform(x[test])))


def test_folds_learn_it_on_their_training_rows(gaps):
    folds = KFold(4, shuffle=True, random_state=0)
    pipeline = make_pipeline(SimpleImputer(), kfe.KFDClassifier(gamma=0.2, scale="none", n_threads=1))
    expected = cross_val_score(pipeline, *gaps, cv=folds)
    ours = kfe.KFDClassifier(gamma=0.2, scale="none", missing="mean", n_threads=1)
    assert cross_val_score(ours, *gaps, cv=folds) == pytest.approx(expected)
    result = kfe.cv(ours, *gaps, cv=folds)
    assert [split["metrics"]["accuracy"] for split in result["splits"]] == pytest.approx(expected)


def test_new_gaps_without_any_in_training(iris):
    model = kfe.KFD(missing="mean").fit(*iris)
    new = iris[0][:3].copy()
    new[1, 2] = np.nan
    filled = new.copy()
    filled[1, 2] = iris[0][:, 2].mean()
    np.testing.assert_allclose(model.transform(new), model.transform(filled), atol=1e-12)


def test_a_saved_model_fills_in(gaps, tmp_path):
    model = kfe.KFDClassifier(missing="median", n_threads=1).fit(*gaps)
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe")
    assert loaded.missing == "median"
    np.testing.assert_array_equal(loaded.predict(gaps[0]), model.predict(gaps[0]))


def test_views_with_gaps(gaps):
    """The number of features is given: folds that choose it fill gaps by their own rows."""
    views = {"sepal": pd.DataFrame(gaps[0][:, :2], columns=["l", "w"]), "petal": gaps[0][:, 2:]}
    model = kfe.KPLSClassifier(dim=4, missing="mean", n_threads=1).fit(views, gaps[1])
    filled = SimpleImputer().fit_transform(gaps[0])
    plain = kfe.KPLSClassifier(dim=4, n_threads=1).fit({"sepal": filled[:, :2], "petal": filled[:, 2:]}, gaps[1])
    np.testing.assert_allclose(model.transform(views), plain.transform({"sepal": filled[:, :2], "petal": filled[:, 2:]}), atol=1e-9)


def test_refused(gaps, iris):
    with pytest.raises(ValueError, match="NaN"):
        kfe.KFD().fit(*gaps)
    with pytest.raises(ValueError, match="missing is one of"):
        kfe.KFD(missing="zero").fit(*gaps)
    empty = gaps[0].copy()
    empty[:, 1] = np.nan
    with pytest.raises(ValueError, match="column 2 has no value in any row"):
        kfe.KFD(missing="mean").fit(empty, gaps[1])
    with pytest.raises(ValueError, match="NaN|finite"):
        kfe.KFD(missing="mean").fit(sp.csr_matrix(gaps[0]), gaps[1])
    with pytest.raises(ValueError, match="NaN"):
        kfe.KFD().fit(*iris).transform(gaps[0])
