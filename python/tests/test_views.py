# SPDX-License-Identifier: Apache-2.0
"""Several views from Python: mkl, lmkl and sldr against predictions computed in NumPy from the model file (by
docs/model-file.md), against scikit-learn's SVMs on the same kernel, and with views in every form."""
import json
import pickle
import struct

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.svm import SVC

import kfe
from kfe._context import Context
from kfe._data import wrap

LOCALIZED = [kfe.LMKLClassifier, kfe.SLDRClassifier]
# Fits with few iterations suffice for these tests.
pytestmark = pytest.mark.filterwarnings("ignore:.*still falls:kfe.KfeWarning")


# ---- reading and applying a model file without the library ----

class LocalModel:
    """A localized model, literally by docs/model-file.md."""

    def __init__(self, path):
        content = path.read_bytes()
        size = struct.unpack("<Q", content[:8])[0]
        self.header = json.loads(content[8:8 + size])
        self.payload = content[8 + size:]
        self.metadata = self.header.pop("__metadata__")
        self.local = json.loads(self.metadata["local"])
        self.kernels = json.loads(self.metadata["kernels"])

    def tensor(self, name):
        entry = self.header.get(name)
        if entry is None:
            return None
        begin, end = entry["data_offsets"]
        kind = {"F64": "<f8", "I64": "<i8", "I32": "<i4"}[entry["dtype"]]
        return np.frombuffer(self.payload[begin:end], kind).reshape(entry["shape"])

    def rows(self, name, width):
        """A table, dense or as compressed rows."""
        dense = self.tensor(name)
        if dense is not None:
            return dense
        start = self.tensor(f"{name}.row_start")
        return csr_matrix((self.tensor(f"{name}.values"), self.tensor(f"{name}.columns"), start),
                          shape=(len(start) - 1, width)).toarray()

    def columns(self, part, views):
        view = self.kernels[part]["view"]
        x = views[view]
        shift, factor = self.tensor(f"view{view}.scale.shift"), self.tensor(f"view{view}.scale.factor")
        x = x if shift is None else x - shift
        x = x if factor is None else x * factor
        if not self.local["parts"][part]["mapped"]:
            return x
        return kernel_values(self.kernels[part]["kernel"], self.rows(f"view{view}.support", x.shape[1]), x).T

    def places(self, views):
        """The local projections of every row, and the gate's projections and weights."""
        z, seen = [], np.zeros((len(views[0]), self.local["gate_dim"]))
        for part in range(len(self.kernels)):
            x = self.columns(part, views)
            projection, gating = self.tensor(f"part{part}.projection"), self.tensor(f"part{part}.gating")
            z.append(x if projection is None else x @ projection)
            seen = seen if gating is None else seen + x @ gating
        weights = self.tensor("gate.weights")
        activation = (seen if weights is None else seen @ weights) + self.tensor("gate.offset")
        shares = np.exp(activation - activation.max(axis=1, keepdims=True))
        return z, seen, shares / shares.sum(axis=1, keepdims=True)

    def outputs(self, views):
        z, _, shares = self.places(views)
        support_shares, total = self.tensor("local.shares"), 0
        for part, entry in enumerate(self.kernels):
            support = self.rows(f"part{part}.support", z[part].shape[1])
            kernel = "linear" if self.local["parts"][part]["mapped"] else entry["kernel"]
            values = kernel_values(kernel, support, z[part])
            total = total + support_shares[:, [part]] * values * shares[:, part]
        return total.T @ self.tensor("local.weights") - self.tensor("local.offset")


def kernel_values(text, x, y):
    """The kernel values by the formulas of docs/kernels.md, rows of x against rows of y."""
    name, _, written = text.partition(":")
    options = {key: float(value) for key, value in (item.split("=") for item in written.split(",") if item)}
    if name == "linear":
        values = x @ y.T
    elif name == "poly":
        values = (options.get("gamma", 1) * x @ y.T + options.get("coef0", 1)) ** options.get("degree", 3)
    elif name == "rbf":
        values = np.exp(-options["gamma"] * ((x[:, None, :] - y[None]) ** 2).sum(-1))
    elif name == "laplacian":
        values = np.exp(-options["gamma"] * np.abs(x[:, None, :] - y[None]).sum(-1))
    elif name == "chi2":
        sums = x[:, None, :] + y[None]
        ratio = np.divide((x[:, None, :] - y[None]) ** 2, sums, out=np.zeros_like(sums), where=sums > 0)
        values = np.exp(-options["gamma"] * ratio.sum(-1))
    elif name == "precomputed":  # the landmarks are column numbers
        values = y[:, x[:, 0].astype(int)].T
    else:
        raise NotImplementedError(name)
    return options.get("weight", 1) * values


# ---- problems ----

def planted(seed, rows, classes=2):
    """Two views, each of which separates the classes on one side; the first column contains the side."""
    rng = np.random.default_rng(seed)
    side, y = rng.choice([-1, 1], rows), np.arange(rows) % classes
    centre = np.linspace(-1.5, 1.5, classes)[y]
    a, b = 0.5 * rng.normal(size=(rows, 3)), 0.5 * rng.normal(size=(rows, 4))
    a[:, 0] += 1.5 * side
    a[:, 1] += np.where(side > 0, centre, 0)
    b[:, 0] += np.where(side < 0, centre, 0)
    return {"a": a, "b": b}, y


def positive(views):
    return {name: np.exp(x) for name, x in views.items()}


def saved(model, tmp_path):
    model.save(tmp_path / "m.kfe")
    return LocalModel(tmp_path / "m.kfe")


def scores(model, views):
    """The library's decision values; with two classes, positive for the first."""
    values = model.decision_function(views)
    return -values[:, None] if values.ndim == 1 else values


def assert_predicts_as_written(model, views, tmp_path):
    expected = saved(model, tmp_path).outputs(list(views.values()))
    np.testing.assert_allclose(scores(model, views), expected, rtol=0, atol=1e-9 * (1 + np.abs(expected).max()))


# ---- predictions equal those computed from the file ----

KERNELS = [None, "poly:degree=2,gamma=0.7", "poly:degree=3,coef0=0.5", "rbf:gamma=0.4", ["rbf:gamma=0.4", "linear"],
           {"a": ["linear:weight=2", "rbf:gamma=0.2"], "b": "poly:degree=2,weight=0.3"}]


@pytest.mark.parametrize("method", LOCALIZED)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_local_kernels(method, kernel, classes, tmp_path):
    train, y = planted(1, 60, classes)
    test, _ = planted(2, 25, classes)
    model = method(kernel=kernel, n_threads=1, max_iter=8).fit(train, y)
    assert_predicts_as_written(model, test, tmp_path)
    assert_predicts_as_written(model, train, tmp_path)


@pytest.mark.parametrize("method", LOCALIZED)
@pytest.mark.parametrize("kernel_map", ["kpca", "empirical"])
@pytest.mark.parametrize("classes", [2, 3])
def test_mapped_kernels(method, kernel_map, classes, tmp_path):
    train, y = planted(3, 40, classes)
    test, _ = planted(4, 15, classes)
    train, test = positive(train), positive(test)
    chi2 = method(kernel={"a": "linear", "b": "chi2:gamma=0.3"}, kernel_map=kernel_map, n_threads=1, max_iter=8)
    assert_predicts_as_written(chi2.fit(train, y), test, tmp_path)
    given = {"a": train["a"], "k": train["b"] @ train["b"].T}
    model = method(kernel={"a": "rbf:gamma=0.3", "k": "precomputed"}, kernel_map=kernel_map, n_threads=1, max_iter=8)
    model.fit(given, y)
    assert_predicts_as_written(model, {"a": test["a"], "k": test["b"] @ train["b"].T}, tmp_path)


@pytest.mark.parametrize("method", LOCALIZED)
@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_views(method, classes, tmp_path):
    train, y = planted(5, 50, classes)
    test, _ = planted(6, 20, classes)
    for views in (train, test):
        views["b"] = np.where(np.abs(views["b"]) > 0.4, views["b"], 0)
    model = method(svm_stop=1e-8, n_threads=1, max_iter=8).fit({"a": train["a"], "b": csr_matrix(train["b"])}, y)
    dense = clone(model).fit(train, y)
    expected = saved(model, tmp_path).outputs(list(test.values()))
    sparse = {"a": csr_matrix(test["a"]), "b": csr_matrix(test["b"])}
    for given in (test, sparse):
        np.testing.assert_allclose(scores(model, given), expected, atol=1e-9 * (1 + np.abs(expected).max()))
    np.testing.assert_allclose(scores(model, test), scores(dense, test), atol=1e-6 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_scaled_views(scale, tmp_path):
    train, y = planted(7, 50)
    train["b"] = 100 * train["b"] + 7
    model = kfe.SLDRClassifier(scale=scale, n_threads=1, max_iter=8).fit(train, y)
    assert_predicts_as_written(model, train, tmp_path)


# ---- features, gates, projections ----

@pytest.mark.parametrize("method", LOCALIZED)
def test_features(method, tmp_path):
    train, y = planted(8, 60)
    test, _ = planted(9, 30)
    shown = {}
    for features in ("local", "gate", "shares"):
        model = method(features=features, n_threads=1).fit(train, y)
        shown[features] = model.transform(test)
        shown[features, "scores"] = model.decision_function(test)
    z, seen, shares = saved(model, tmp_path).places(list(test.values()))
    local = np.hstack([shares[:, [part]] * z[part] for part in range(2)])
    np.testing.assert_allclose(shown["local"], local, atol=1e-12 * np.abs(local).max())
    np.testing.assert_allclose(shown["shares"], shares, atol=1e-12)
    np.testing.assert_allclose(shown["shares"].sum(axis=1), 1, atol=1e-14)
    if method is kfe.SLDRClassifier:
        np.testing.assert_allclose(shown["gate"], seen, atol=1e-12 * np.abs(seen).max())
    assert shown["gate"].shape == (30, 2)
    for features in ("gate", "shares"):
        np.testing.assert_array_equal(shown[features, "scores"], shown["local", "scores"])


def test_projections_are_orthonormal(tmp_path):
    train, y = planted(10, 60, 3)
    model = kfe.SLDRClassifier(local_dim=2, gate_dim=3, svm_C=10, n_threads=1).fit(train, y)
    file = saved(model, tmp_path)
    gating = np.vstack([file.tensor(f"part{part}.gating") for part in range(2)])
    for matrix in (gating, file.tensor("part0.projection"), file.tensor("part1.projection")):
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(matrix.shape[1]), atol=1e-13)
    assert np.abs(gating).max(axis=1).min() > 0  # the gate moved in all columns


@pytest.mark.parametrize("method", LOCALIZED)
def test_gates_of_huge_activations(method):
    train, y = planted(11, 60)
    far = {name: 1e6 * x for name, x in train.items()}
    model = method(features="shares", n_threads=1).fit(train, y)
    shares = model.transform(far)
    assert np.all(np.isfinite(shares)) and np.allclose(shares.sum(axis=1), 1, atol=1e-14)
    assert np.mean(shares.max(axis=1) > 1 - 1e-12) > 0.9
    assert np.all(np.isfinite(model.decision_function(far)))


def test_noise_is_switched_off():
    means = []
    for seed in range(9):
        train, y = planted(30 + seed, 200)
        train["noise"] = np.random.default_rng(seed).normal(size=(200, 3))
        model = kfe.SLDRClassifier(kernel="linear", n_threads=1).fit(train, y)
        means.append(model.records_["gate-mean"])
        assert abs(means[-1].sum() - 1) < 1e-12
    assert np.median(np.array(means)[:, 2]) < 0.01 and np.max(np.array(means)[:, 2]) < 0.15
    assert np.min(np.array(means)[:, :2]) > 0.3


# ---- the objective ----

def svms_optimum(kernel, y, c):
    """The sum of the dual optima of one SVM per class against the rest (two classes: one SVM), by
    scikit-learn's LIBSVM."""
    classes, total = np.unique(y), 0
    for label in classes if len(classes) > 2 else classes[:1]:
        svm = SVC(C=c, kernel="precomputed", tol=1e-8).fit(kernel, y == label)
        dual = svm.dual_coef_[0]
        support = svm.support_
        total += np.abs(dual).sum() - 0.5 * dual @ kernel[np.ix_(support, support)] @ dual
    return total


def localized_kernel(file, views):
    z, _, shares = file.places(views)
    return sum(np.outer(shares[:, part], shares[:, part]) * kernel_values(
        "linear" if file.local["parts"][part]["mapped"] else entry["kernel"], z[part], z[part])
               for part, entry in enumerate(file.kernels))


@pytest.mark.parametrize("method", LOCALIZED)
@pytest.mark.parametrize("kernel", [None, "rbf:gamma=0.4", {"a": "linear", "b": "laplacian:gamma=0.2"}], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_objective_is_that_of_the_svms(method, kernel, classes, tmp_path):
    train, y = planted(12, 60, classes)
    model = method(kernel=kernel, svm_C=5, gate_ridge=0, svm_stop=1e-7, n_threads=1).fit(train, y)
    expected = svms_optimum(localized_kernel(saved(model, tmp_path), list(train.values())), y, 5)
    objective = model.records_["objective"]
    assert abs(objective[-1] - expected) < 1e-4 * expected
    assert np.all(np.diff(objective) <= 0) and objective[-1] < 0.9 * objective[0]
    assert len(objective) == model.records_["iterations"][0] + 1


def test_one_view_in_full_is_an_svm():
    train, y = planted(13, 60)
    x = np.hstack(list(train.values()))
    plain = SVC(C=2, kernel="linear", tol=1e-9).fit(x, y)
    for model in (kfe.SLDRClassifier(local_dim=7), kfe.LMKLClassifier()):
        model.set_params(kernel="linear", svm_C=2, svm_stop=1e-8, n_threads=1).fit(x, y)
        expected = plain.decision_function(x)
        np.testing.assert_allclose(model.decision_function(x), expected, atol=1e-5 * np.abs(expected).max())


def test_mkl_is_an_svm_on_the_weighted_sum():
    train, y = planted(14, 80)
    test, _ = planted(15, 30)
    model = kfe.MKLClassifier(kernel="rbf:gamma=0.5", svm_C=3, normalize=False, svm_stop=1e-7, tolerance=1e-6,
                    n_threads=1).fit(train, y)
    weights = model.records_["weights"]
    assert weights.min() >= 0 and abs(weights.sum() - 1) < 1e-12

    def value(share):
        kernel = sum(s * kernel_values("rbf:gamma=0.5", x, x) for s, x in zip((share, 1 - share), train.values()))
        return svms_optimum(kernel, y, 3)

    best = min(value(share) for share in np.linspace(0, 1, 51))
    at = model.records_["objective"][0]
    assert abs(value(weights[0]) - at) < 1e-5 * at
    assert at < best * (1 + 1e-5) and model.records_["bound"][0] <= best * (1 + 1e-9)
    plain = SVC(C=3, kernel="precomputed", tol=1e-8).fit(
        sum(w * kernel_values("rbf:gamma=0.5", x, x) for w, x in zip(weights, train.values())), y)
    expected = plain.decision_function(
        sum(w * kernel_values("rbf:gamma=0.5", test[name], train[name]) for w, name in zip(weights, train)))
    np.testing.assert_allclose(model.decision_function(test), expected, atol=1e-4 * np.abs(expected).max())


# ---- views in every form ----

MODELS = [kfe.MKLClassifier(kernel="rbf:gamma=0.3", n_threads=1), kfe.LMKLClassifier(kernel="rbf:gamma=0.3", n_threads=1),
          kfe.SLDRClassifier(kernel="linear", n_threads=1)]


@pytest.mark.parametrize("estimator", MODELS, ids=lambda model: type(model).__name__)
def test_names_orders_and_copies(estimator, tmp_path):
    train, y = planted(16, 60)
    test, _ = planted(17, 30)
    model = clone(estimator).fit(train, y)
    expected = model.decision_function(test)
    np.testing.assert_array_equal(model.decision_function({"b": test["b"], "a": test["a"]}), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(test), expected)
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe").set_params(n_threads=1)
    np.testing.assert_array_equal(loaded.decision_function(test), expected)
    np.testing.assert_array_equal(loaded.transform({"b": test["b"], "a": test["a"]}), model.transform(test))
    as_list = clone(estimator).fit([train["a"], train["b"]], y)
    np.testing.assert_array_equal(as_list.decision_function([test["a"], test["b"]]), expected)


@pytest.mark.parametrize("estimator", MODELS, ids=lambda model: type(model).__name__)
def test_views_permuted_at_the_fit(estimator):
    train, y = planted(16, 60)
    test, _ = planted(17, 30)
    turned = {name: train[name] for name in reversed(train)}
    if hasattr(estimator, "restarts"):  # compare the start; rounding may lead to another end
        starts = [clone(estimator).set_params(svm_stop=1e-8, max_iter=0).fit(views, y).records_["objective"][0]
                  for views in (train, turned)]
        assert abs(starts[0] - starts[1]) < 1e-6 * starts[0]
    expected = clone(estimator).fit(train, y).decision_function(test)
    found = clone(estimator).fit(turned, y).decision_function(test)
    np.testing.assert_allclose(found, expected, atol=1e-2 * np.abs(expected).max())


@pytest.mark.parametrize("estimator", MODELS, ids=lambda model: type(model).__name__)
def test_what_is_refused(estimator):
    train, y = planted(18, 40)
    model = clone(estimator).fit(train, y)
    for wrong in ({"a": train["a"]}, {"a": train["a"], "c": train["b"]}, {"a": train["b"], "b": train["a"]},
                  {**train, "c": train["a"]}):
        with pytest.raises(ValueError, match="views"):
            model.predict(wrong)
    with pytest.raises(ValueError):
        clone(estimator).fit(train, y[:-1])
    with pytest.raises(ValueError):
        clone(estimator).fit({"a": train["a"], "b": train["b"][:-1]}, y)
    with pytest.raises(ValueError, match="two classes"):
        clone(estimator).fit(train, np.zeros(40))


@pytest.mark.parametrize("method", LOCALIZED)
def test_the_default_kernel_is_that_of_the_command_line(method, tmp_path):
    train, y = planted(20, 40)
    assert [entry["kernel"] for entry in saved(method(n_threads=1).fit(train, y), tmp_path).kernels] == ["linear"] * 2


@pytest.mark.parametrize("estimator", MODELS, ids=lambda model: type(model).__name__)
def test_cross_validation_without_a_learner(estimator):
    train, y = planted(19, 90)
    told = kfe.cv(clone(estimator).set_params(random_state=1), train, y, folds=3)
    assert told["metrics"]["accuracy"]["mean"] > 0.9 and told["learner"] is None
    assert all(0 < split["support_vectors"] <= split["train_rows"] for split in told["splits"])
    mixed = np.random.default_rng(1).permutation(y)
    shuffled = kfe.cv(clone(estimator).set_params(random_state=1), train, mixed, folds=3)
    assert 0.25 < shuffled["metrics"]["accuracy"]["mean"] < 0.75


# ---- names of columns ----

@pytest.mark.parametrize("estimator", MODELS, ids=lambda model: type(model).__name__)
def test_frames_are_known_by_their_columns(estimator, tmp_path):
    views, y = planted(21, 60)
    left = pd.DataFrame(views["a"], columns=["x", "y", "z"])
    right = pd.DataFrame(views["b"][:, :3], columns=["p", "q", "r"])
    model = clone(estimator).fit([left, right], y)
    model.save(tmp_path / "m.kfe")
    for fitted in (model, kfe.load(tmp_path / "m.kfe").set_params(n_threads=1), pickle.loads(pickle.dumps(model))):
        assert {view: "".join(names) for view, names in fitted.view_feature_names_in_.items()} == {
            "view1": "xyz", "view2": "pqr"}
        expected = fitted.decision_function([left, right])
        np.testing.assert_array_equal(fitted.decision_function([left.to_numpy(), right.to_numpy()]), expected)
        for wrong in ([right, left], [left[["y", "x", "z"]], right], {"view1": right, "view2": left}):
            with pytest.raises(ValueError, match="feature names should match"):
                fitted.decision_function(wrong)
    again = clone(model).fit({"a": left.to_numpy(), "b": right}, y)
    assert list(again.view_feature_names_in_) == ["b"]
    again.fit(left, y)
    assert not hasattr(again, "view_columns_") and list(again.feature_names_in_) == ["x", "y", "z"]
    again.fit([left, right], y)
    assert not hasattr(again, "feature_names_in_")


def test_lengths_are_checked_before_the_library_sees_them():
    context = Context()
    data = wrap(context, np.eye(3))
    for call in (lambda: data.set_column_names(["a", "b"]), lambda: data.set_column_names(list("abcd")),
                 lambda: data.set_labels(["a"], np.zeros(2, int)), lambda: data.set_targets(np.zeros(4))):
        with pytest.raises(ValueError, match="but the data has 3"):
            call()


@pytest.mark.parametrize("views", [[np.eye(4), np.eye(4, 2)], (np.eye(4), np.eye(4, 2)),
                                   {"a": np.eye(4), "b": np.eye(4, 2)}], ids=["list", "tuple", "dict"])
def test_pandas_output(views):
    model = kfe.KPCA(dim=2, n_threads=1).set_output(transform="pandas")
    for features in (model.fit_transform(views), model.transform(views)):
        assert list(features.columns) == ["PC1", "PC2"] and list(features.index) == [0, 1, 2, 3]


def test_views_of_strings(tmp_path):
    strings, y = ["abab", "abba", "baba", "xyxy", "yxyx", "xxyy"] * 4, [0, 0, 0, 1, 1, 1] * 4
    views = {"text": strings, "noise": np.random.default_rng(0).normal(size=(24, 2))}
    model = kfe.MKLClassifier(kernel={"text": "spectrum", "noise": "rbf"}, n_threads=1).fit(views, y)
    assert model.score(views, y) == 1
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe").set_params(n_threads=1)
    np.testing.assert_array_equal(loaded.decision_function(views), model.decision_function(views))


def test_measures_of_views():
    views, y = planted(22, 60)
    found = kfe.measure(views, y, {"a": "linear", "b": ["linear", "rbf:gamma=0.5"]})
    assert [row["kernel"] for row in found] == ["a=linear", "b=linear", "b=rbf:gamma=0.5"]
    for row, x in zip(found, (views["a"], views["b"])):
        assert row["alignment"] == pytest.approx(kfe.measure(x, y, "linear")[0]["alignment"])
