# SPDX-License-Identifier: Apache-2.0
"""What a new user of the package stumbles over, and the sentence that helps: each message once."""
import numpy as np
import pytest
import scipy.sparse as sp

import kfe


def test_dir_shows_what_is_public():
    shown = [name for name in dir(kfe) if not name.startswith("__")]
    assert set(shown) == set(kfe.__all__) and not any(name.startswith("_") for name in shown)


def test_names_that_other_packages_use(iris):
    X, y = iris
    assert kfe.KPCA(dim=2).set_params(n_components=3).dim == 3
    assert kfe.KFD(kernel="gaussian").fit(X, y).transform(X).shape == kfe.KFD(kernel="rbf").fit(X, y).transform(X).shape
    found = [kfe.KOCClassifier(learner="svm", learner_params={name: {"setosa": 2, "versicolor": 1, "virginica": 1}}).fit(X, y).decision_function(X)
             for name in ("class_weight", "class_weights")]
    np.testing.assert_array_equal(*found)
    two = y != "setosa"
    assert "auc" in kfe.cv(kfe.KOCClassifier(learner="svm"), X[two], y[two], folds=2, metrics="roc_auc")["metrics"]


@pytest.mark.parametrize("call, message", [
    (lambda X, y: kfe.KFD(ridge=[0.1, 1]).fit(X, y), r"ridge takes one value, not list .*to try several, search"),
    (lambda X, y: kfe.KFD(kernel={"nam": "rbf"}).fit(X, y), "there is no view 'nam'"),
    (lambda X, y: kfe.KFD(random_state=1.5).fit(X, y), "random_state"),
    (lambda X, y: kfe.KFD(missing="zero").fit(X, y), "missing is one of 'error', 'mean', 'median', 'most_frequent' and 'nipals'"),
    (lambda X, y: kfe.KFD(encode="colour").fit(X, y), "encode names the column 'colour', but X has 4 columns, from 0 to 3"),
    (lambda X, y: kfe.MKLClassifier(views={"a": [0, 1], "b": [1, 2]}).fit(X, y), "column 2 is in the views 'a' and 'b'"),
    (lambda X, y: kfe.cv(kfe.KFDClassifier(), X, y, groups=np.zeros(len(y))), "groups needs at least two different groups"),
    (lambda X, y: kfe.cv(kfe.KFDClassifier(), X, y, cv=[(range(9), range(9, 20))], folds=3), "folds is an option of the library's own splits"),
    (lambda X, y: kfe.KFDClassifier(learner=3).fit(X, y), "learner is the name of one of the library's"),
])
def test_messages(call, message, iris):
    with pytest.raises((ValueError, TypeError), match=message):
        call(*iris)


def test_files_that_are_not_models(tmp_path):
    (tmp_path / "t.csv").write_text("1,2\n" * 50)
    with pytest.raises(kfe.ModelError, match="not a model file; give one that a fit has saved"):
        kfe.load(tmp_path / "t.csv")


def test_a_missing_value_in_a_view_is_placed(iris):
    X, y = iris
    holes = X[:, 2:].copy()
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match="view 'petal': .*NaN"):
        kfe.MKLClassifier().fit({"sepal": X[:, :2], "petal": holes}, y)


def test_sparse_columns_of_any_index_type(iris):
    X = sp.csr_matrix(iris[0])
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_allclose(kfe.KFD(kernel="linear").fit(X, iris[1]).transform(X), kfe.KFD(kernel="linear", scale="none").fit(*iris).transform(iris[0]),
                               atol=1e-6)
