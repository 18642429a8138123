# SPDX-License-Identifier: Apache-2.0
"""Views as groups of columns of one table, names of columns, sparse files, scaling, and refused input."""
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import StandardScaler

import kfe
from kfe._context import parse_seed

GROUPS = {"sepal": range(0, 2), "petal": [2, 3]}


@pytest.fixture
def flowers(iris):
    return {"sepal": iris[0][:, :2].copy(), "petal": iris[0][:, 2:].copy()}


@pytest.mark.parametrize("views", [GROUPS, {"sepal": slice(0, 2), "petal": slice(2, None)}, {"sepal": [0, 1], "petal": [-2, -1]},
                                   {"sepal": np.array([True, True, False, False]), "petal": [2, 3]}], ids=str)
def test_groups_of_columns_are_views(views, iris, flowers):
    apart = kfe.MKLClassifier(kernel="rbf", n_threads=1).fit(flowers, iris[1])
    grouped = kfe.MKLClassifier(kernel="rbf", views=views, n_threads=1).fit(*iris)
    assert grouped.view_columns_ == apart.view_columns_ and grouped.n_features_in_ == 4
    np.testing.assert_array_equal(grouped.kernel_weights_, apart.kernel_weights_)
    np.testing.assert_array_equal(grouped.decision_function(iris[0]), apart.decision_function(flowers))
    sparse = kfe.KPLS(views=views, n_threads=1).fit(sp.csr_matrix(iris[0]), iris[1])
    assert sparse.view_columns_ == {"sepal": 2, "petal": 2}


def test_views_in_searches(iris, flowers):
    """Searches need one table, because scikit-learn splits its rows; a dict of tables would not work."""
    estimator = kfe.KPLSClassifier(views=GROUPS, kernel=kfe.ViewKernels(sepal=kfe.RBF(), petal="linear"), n_threads=1)
    search = GridSearchCV(estimator, {"kernel__sepal__gamma": [0.1, 1]}, cv=3).fit(*iris)
    assert search.best_estimator_.view_columns_ == {"sepal": 2, "petal": 2}
    scores = cross_val_score(clone(estimator), *iris, cv=3)
    assert scores.mean() > 0.8
    assert [split["metrics"]["accuracy"] for split in kfe.cv(estimator, *iris, folds=3)["splits"]] == [
        split["metrics"]["accuracy"] for split in kfe.cv(clone(estimator).set_params(views=None), flowers, iris[1], folds=3)["splits"]]


def test_views_by_name(iris, flowers):
    frame = pd.DataFrame(iris[0], columns=["sl", "sw", "pl", "pw"])
    views = {"petal": ["pl", "pw"], "sepal": ["sl", "sw"]}
    model = kfe.KPLSClassifier(views=views, n_threads=1).fit(frame, iris[1])
    assert list(model.view_feature_names_in_["petal"]) == ["pl", "pw"] and list(model.feature_names_in_) == list(frame)
    swapped = {"petal": flowers["petal"], "sepal": flowers["sepal"]}
    np.testing.assert_array_equal(model.decision_function(frame),
                                  kfe.KPLSClassifier(n_threads=1).fit(swapped, iris[1]).decision_function(swapped))
    with pytest.raises(ValueError, match="view 'a' has the column 'none'"):
        kfe.KPLS(views={"a": ["none"]}).fit(frame, iris[1])
    with pytest.raises(ValueError, match="X has no names"):
        kfe.KPLS(views=views).fit(*iris)


@pytest.mark.parametrize("views, says", [([1, 2], "dict of columns by view"), ({"a": [0, 4]}, "column 4, but X has 4"),
                                         ({"a": []}, "numbers or the names"), ({"a": 1.5}, "list of columns")], ids=str)
def test_views_that_are_not(views, says, iris):
    with pytest.raises(ValueError, match=says):
        kfe.KPLS(views=views).fit(*iris)


def test_views_are_given_once(iris, flowers):
    with pytest.raises(ValueError, match="but X is several"):
        kfe.KPLS(views=GROUPS).fit(flowers, iris[1])
    with pytest.raises(ValueError, match="a kernel matrix does not have"):
        kfe.KPLS(views=GROUPS, kernel="precomputed").fit(np.eye(150), iris[1])


def test_columns_are_matched_by_name(iris):
    """As in scikit-learn, other names or another order are refused; the message shows the names of the fit."""
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    model = kfe.KFD(n_threads=1).fit(frame, iris[1])
    mixed = frame[list("dbca")]
    with pytest.raises(ValueError, match="same order"):
        model.transform(mixed)
    np.testing.assert_array_equal(model.transform(mixed[model.feature_names_in_]), model.transform(frame))
    with pytest.raises(ValueError, match="(?s)feature names.*unseen"):
        model.transform(frame.rename(columns={"a": "z"}))


def test_sparse_files_stay_sparse(tmp_path):
    rng = np.random.default_rng(0)
    x = sp.hstack([sp.random(50, 399, 0.02, random_state=rng), np.ones((50, 1))]).tocsr()
    y = rng.integers(0, 3, 50)
    dump_svmlight_file(x, y, str(tmp_path / "x.svm"), zero_based=False)
    got, labels = kfe.read(tmp_path / "x.svm")
    assert sp.issparse(got) and got.format == "csr" and got.shape == (50, 400) and got.nnz == x.nnz
    np.testing.assert_allclose(got.toarray(), x.toarray(), rtol=1e-15)
    np.testing.assert_array_equal(labels, y)
    kfe.KFDClassifier(kernel="linear").fit(got, labels)


def test_sparse_indices_of_64_bits(iris):
    x = sp.csr_matrix(iris[0])
    wide = sp.csr_matrix(iris[0])
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_array_equal(kfe.KFD(n_threads=1).fit_transform(wide, iris[1]), kfe.KFD(n_threads=1).fit_transform(x, iris[1]))
    huge = sp.csr_matrix((np.ones(2), np.array([0, 2**31], dtype=np.int64), np.array([0, 1, 2])), shape=(2, 2**31 + 1))
    with pytest.raises(ValueError, match="columns, but sparse data can have 2147483647"):
        kfe.KPCA(kernel="linear").fit(huge)


def test_seeds_are_whole_numbers(iris):
    for wrong in (1.5, "1", np.float64(2)):
        with pytest.raises(ValueError, match="random_state takes an integer"):
            kfe.KOC(random_state=wrong).fit(*iris)
    assert parse_seed(True) == 1 and parse_seed(np.uint8(3)) == 3


def test_scaling_is_told(iris, flowers):
    theirs = StandardScaler().fit(iris[0])
    model = kfe.KFD(scale="standard").fit(*iris)
    np.testing.assert_allclose(model.scale_mean_, theirs.mean_, rtol=1e-12)
    np.testing.assert_allclose(model.scale_sd_, theirs.scale_, rtol=1e-12)
    scaled = (iris[0] - model.scale_mean_) / model.scale_sd_
    np.testing.assert_allclose(np.abs(kfe.KFD(scale="none").fit_transform(scaled, iris[1])), np.abs(model.transform(iris[0])), rtol=1e-6)
    plain = kfe.KFD(scale="none").fit(*iris)
    assert (plain.scale_mean_ == 0).all() and (plain.scale_sd_ == 1).all()
    assert plain.scaling_ == "none" and model.scaling_ == "standard"
    told = kfe.KFD().fit(iris[0] * [1, 1, 1, 1000], iris[1]).scaling_
    factor = np.ptp(iris[0], axis=0)[3] * 1000 / np.ptp(iris[0], axis=0)[:3].min()
    assert told == f"standard (auto: the ranges of the columns differ by a factor of {factor:.3g})"
    several = kfe.KPLS(scale="standard").fit(flowers, iris[1])
    assert several.scaling_ == {"petal": "standard", "sepal": "standard"}
    np.testing.assert_allclose(several.scale_mean_["petal"], theirs.mean_[2:], rtol=1e-12)


def test_the_view_with_a_gap_is_named(iris, flowers):
    flowers["petal"][3, 1] = np.nan
    with pytest.raises(ValueError, match="view 'petal': .*NaN"):
        kfe.KPLS().fit(flowers, iris[1])


def test_options_take_one_value(iris):
    for wrong in (np.array([1, 2]), [1, 2], {"a": 1}):
        with pytest.raises(ValueError, match=r"dim takes one value.*GridSearchCV.*kfe\.cv"):
            kfe.KPLS(dim=wrong).fit(*iris)


def test_dicts_that_are_no_kernels(iris):
    with pytest.raises(TypeError, match=re.escape("{'name': 'rbf', 'gamma': 0.5}")):
        kfe.KPLS(kernel={"rbf": {"gamma": 0.5}}).fit(*iris)


def test_files_that_are_no_models(tmp_path, iris):
    np.savetxt(tmp_path / "table.csv", iris[0], delimiter=",")
    (tmp_path / "binary.bin").write_bytes(bytes(range(256)) * 10)
    for name in ("table.csv", "binary.bin"):
        with pytest.raises(kfe.ModelError, match=rf"{name}.*not a .*model") as caught:
            kfe.load(tmp_path / name)
        assert "--" not in str(caught.value)
    with pytest.raises(kfe.FileError, match="none.kfe"):
        kfe.load(tmp_path / "none.kfe")


def test_what_dir_shows():
    names = {name for name in dir(kfe) if not name.startswith("__")}
    assert names == set(kfe.__all__) and "KPLS" in names and "RBF" in names
