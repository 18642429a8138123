# SPDX-License-Identifier: Apache-2.0
"""Every kind of array is accepted, converted or refused as scikit-learn's own estimators do."""
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import KernelPCA

import kfe
from kfe._context import Context
from kfe._data import wrap
from kfe._target import encode_labels

RNG = np.random.default_rng(0)
PLAIN = np.round(RNG.normal(size=(40, 6)), 1) * (RNG.random((40, 6)) < 0.6)
EXPECTED = kfe.KPCA(dim=3, n_threads=1).fit_transform(PLAIN)

KINDS = {
    "fortran order": np.asfortranarray(PLAIN),
    "strided": np.repeat(np.repeat(PLAIN, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": PLAIN[::-1, ::-1].copy()[::-1, ::-1],
    "list": PLAIN.tolist(),
    "object": PLAIN.astype(object),
    "frame": pd.DataFrame(PLAIN, columns=list("abcdef")),
    "csr": sp.csr_matrix(PLAIN),
    "csc": sp.csc_matrix(PLAIN),
    "coo": sp.coo_matrix(PLAIN),
    "dok": sp.dok_matrix(PLAIN),
    "csr array": sp.csr_array(PLAIN),
}


@pytest.mark.parametrize("kind", KINDS)
def test_same_features(kind):
    got = kfe.KPCA(dim=3, n_threads=1).fit(KINDS[kind]).transform(KINDS[kind])
    np.testing.assert_allclose(got, EXPECTED, atol=1e-12)
    assert got.dtype == np.float64 and got.flags.writeable and got.flags.c_contiguous


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int8", "uint8", "bool"])
def test_dtypes(dtype):
    x = np.abs(PLAIN * 5).astype(dtype)
    got = kfe.KPCA(dim=3).fit_transform(x)
    np.testing.assert_allclose(got, kfe.KPCA(dim=3).fit_transform(x.astype(float)), atol=1e-12)


def test_read_only_arrays():
    x = PLAIN.copy()
    x.setflags(write=False)
    np.testing.assert_array_equal(kfe.KPCA(dim=3, n_threads=1).fit_transform(x), EXPECTED)


def test_unsorted_and_repeated_sparse_entries():
    x = sp.csr_matrix((np.array([1.0, 2, 3, 4, 5]), np.array([2, 0, 1, 1, 2]), np.array([0, 2, 4, 5])), (3, 3))
    before = x.indices.copy()
    got = kfe.OC(n_threads=1).fit(x, [0, 0, 1]).transform(x)
    np.testing.assert_allclose(got, kfe.OC(n_threads=1).fit(x.toarray(), [0, 0, 1]).transform(x.toarray()))
    np.testing.assert_array_equal(x.indices, before)  # the user's matrix is not changed


BAD = {
    "nan": np.where(np.eye(40, 6) > 0, np.nan, PLAIN),
    "inf": np.where(np.eye(40, 6) > 0, np.inf, PLAIN),
    "empty": np.empty((0, 6)),
    "no columns": np.empty((5, 0)),
    "one dimension": PLAIN[0],
    "three dimensions": PLAIN.reshape(40, 3, 2),
    "complex": PLAIN + 1j,
    "text": np.full((5, 2), "a"),
    "objects": np.array([[{}, 1], [2, 3]], dtype=object),
    "scalar": 3.0,
    "none": None,
}


@pytest.mark.parametrize("kind", BAD)
def test_refused_as_by_sklearn(kind):
    with pytest.raises((ValueError, TypeError)) as theirs:
        KernelPCA(kernel="rbf").fit(BAD[kind])
    with pytest.raises(type(theirs.value)) as ours:
        kfe.KPCA().fit(BAD[kind])
    if kind not in ("text", "none"):  # KernelPCA itself words it differently from estimators of float64
        assert str(ours.value).replace("KPCA", "KernelPCA") == str(theirs.value)


def test_wrong_number_of_columns():
    model = kfe.KPCA(dim=2).fit(PLAIN)
    with pytest.raises(ValueError, match="X has 5 features, but KPCA is expecting 6 features as input"):
        model.transform(PLAIN[:, :5])


def test_column_names(iris):
    frame = pd.DataFrame(iris[0], columns=["a", "b", "c", "d"])
    model = kfe.KFD().fit(frame, iris[1])
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    assert list(model._model.column_names(0)) == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[["b", "a", "c", "d"]])
    with pytest.warns(UserWarning, match="feature names"):
        model.transform(iris[0])


def test_dense_and_csr_are_wrapped_where_they_lie():
    """The library sees later changes of the array."""
    context, x = Context(), PLAIN.copy()
    data, row = wrap(context, x), np.empty(6)
    x[3] = 7
    context.call(kfe._library.kfe_data_row, data.pointer, 0, 3, row.ctypes.data)
    assert (row == 7).all()
    m = sp.csr_matrix(PLAIN)
    data = wrap(context, m)
    m.data[:] = 8
    context.call(kfe._library.kfe_data_row, data.pointer, 0, 0, row.ctypes.data)
    np.testing.assert_array_equal(row, np.where(PLAIN[0] != 0, 8, 0))


def test_arrays_of_results_outlive_the_model():
    model = kfe.KPCA(dim=3, n_threads=1).fit(PLAIN)
    features, coefficients = model.transform(PLAIN), model.dual_coef_
    expected = coefficients.copy()
    del model
    for _ in range(20):
        kfe.KPCA(dim=3).fit_transform(PLAIN)
    np.testing.assert_array_equal(features, EXPECTED)
    np.testing.assert_array_equal(coefficients, expected)
    with pytest.raises(ValueError, match="read-only"):
        coefficients[0, 0] = 1


@pytest.mark.parametrize("labels", [["b", "a"], [7, -3], [2.0, 1.0], [True, False], [10**12, 5]])
def test_labels_come_back_as_they_were(clouds, labels):
    x, codes = clouds
    y = np.array(labels)[codes]
    model = kfe.KOCClassifier(learner="knn:neighbors=1").fit(x, y)
    assert model.classes_.dtype == y.dtype and list(model.classes_) == sorted(labels)
    np.testing.assert_array_equal(model.predict(x), y)
    assert model.score(x, y) == 1
    np.testing.assert_array_equal(model.decision_function(x) > 0, y == model.classes_[1])


@pytest.mark.parametrize("y", [np.array([3, -2, 3, 0]), np.array([10**15, 1]), np.array([7], np.int8),
                               np.array([-128, 127, 5] * 90, np.int8), np.array([250, 3, 4] * 90, np.uint8),
                               np.array(["b", "a", "b"]), np.array([2.0, 1.0])], ids=str)
def test_labels_are_numbered_as_by_unique(y):
    classes, codes = encode_labels(y)
    expected, numbers = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, numbers)
    assert classes.dtype == y.dtype


def test_text_that_c_cannot_hold():
    with pytest.raises(ValueError, match="code 0"):
        kfe.KOC().fit(PLAIN[:4], np.array(["a\0b", "a", "a\0b", "a"], dtype=object))


def test_strings():
    words = ["aaab", "aaba", "abaa", "ccdc", "cdcc", "dccc"]
    model = kfe.KOCClassifier(kernel="spectrum:length=2", learner="knn").fit(words, [0, 0, 0, 1, 1, 1])
    assert list(model.predict(["aabb", "ccdd"])) == [0, 1]
    with pytest.raises(ValueError, match="strings"):
        kfe.KOC(kernel="spectrum").fit([[1.0], [2.0]], [0, 1])


needs_views = pytest.mark.skipif(not hasattr(kfe._library, "kfe_data_join_views"),
                                 reason="the library cannot join views yet")


@needs_views
def test_several_views(clouds, tmp_path):
    x, y = clouds
    one = kfe.KOC(kernel="linear").fit_transform(x, y)
    for views in ([x[:, :2], x[:, 2:]], {"first": x[:, :2], "second": sp.csr_matrix(x[:, 2:])}):
        model = kfe.KOC(kernel="linear").fit(views, y)
        assert model.n_features_in_ == 5
        np.testing.assert_allclose(model.transform(views), one, atol=1e-9)
    assert model.view_columns_ == {"first": 2, "second": 3}
    model.save(tmp_path / "m.kfe")
    for other in (model, kfe.load(tmp_path / "m.kfe")):
        np.testing.assert_allclose(other.transform({"second": x[:, 2:], "first": x[:, :2]}), one, atol=1e-9)
        np.testing.assert_allclose(other.transform([x[:, :2], x[:, 2:]]), one, atol=1e-9)
        for wrong in ([x[:, :3], x[:, 3:]], {"first": x[:, :2]}, {"first": x[:, :2], "other": x[:, 2:]}):
            with pytest.raises(ValueError, match="expecting"):
                other.transform(wrong)
    with pytest.raises(ValueError, match="inconsistent"):
        kfe.KOC().fit([x, x[1:]], y)


@needs_views
def test_kernels_of_views(clouds):
    x, y = clouds
    views = {"a": x[:, :2], "b": x[:, 2:]}
    got = kfe.KOC(kernel={"a": "rbf:gamma=0.5", "b": ["linear", "poly:degree=2"]}).fit_transform(views, y)
    kernel = (kfe.kernel_matrix("rbf:gamma=0.5", x[:, :2]) + kfe.kernel_matrix("linear", x[:, 2:])
              + kfe.kernel_matrix("poly:degree=2", x[:, 2:]))
    np.testing.assert_allclose(got, kfe.KOC(kernel="precomputed").fit_transform(kernel, y), atol=1e-9)
    with pytest.raises(ValueError, match="'b' is a function"):
        kfe.KOC(kernel={"a": "rbf", "b": lambda u, v: 1.0}).fit(views, y)


def test_views_for_methods_of_one_table(clouds):
    with pytest.raises(ValueError, match="one table"):
        kfe.OC().fit([clouds[0], clouds[0]], clouds[1])


@pytest.mark.parametrize("damage, says", [
    (lambda x: setattr(x, "data", x.data[:-3]), "ends at"),
    (lambda x: setattr(x, "indices", x.indices[:-3]), "ends at"),
    (lambda x: x.indptr.__setitem__(2, 0), "never fall"),
    (lambda x: x.indptr.__setitem__(0, 1), "begin with 0"),
    (lambda x: x.indptr.__setitem__(-1, 10**6), "ends at"),
    (lambda x: x.indices.__setitem__(0, 99), "indices"),
    (lambda x: x.indices.__setitem__(0, -1), "indices"),
], ids=["short data", "short indices", "falling", "late", "past the end", "large column", "negative column"])
@pytest.mark.parametrize("use", [
    lambda x, y: kfe.OC().fit(x, y),
    lambda x, y: kfe.kernel_matrix("linear", x),
    lambda x, y: kfe.OC().fit(np.eye(20, 6), y).transform(x),
], ids=["fit", "kernel_matrix", "transform"])
def test_damaged_csr(use, damage, says):
    x = sp.random(20, 6, 0.5, "csr", random_state=0)
    y = np.arange(20) % 2
    damage(x)
    with pytest.raises(ValueError, match=says):
        use(x, y)


def test_null_characters_in_paths(tmp_path):
    for use in (kfe.read, kfe.load):
        with pytest.raises(ValueError, match="null"):
            use(str(tmp_path / "a\0b"))
