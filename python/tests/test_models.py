# SPDX-License-Identifier: Apache-2.0
"""Models survive pickling, files and copies; fitted attributes describe the model."""
import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kfe


def inner_product(a, b):
    return float(a @ b)


ESTIMATORS = [kfe.KOCClassifier(learner="svm", n_threads=1), kfe.PCA(dim=2, n_threads=1), kfe.SVMJointClassifier(n_threads=1),
              kfe.SMA(dim=5, n_threads=1), kfe.NoExtractionClassifier(learner="knn", n_threads=1),
              kfe.KPLSClassifier(dim=2, kernel=inner_product, learner="ls", n_threads=1)]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_round_trips(estimator, iris, tmp_path):
    x, y = iris
    model = clone(estimator).fit(x, y)
    joblib.dump(model, tmp_path / "m.joblib")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(tmp_path / "m.joblib")):
        np.testing.assert_array_equal(other.transform(x), model.transform(x))
        assert other.get_params() == model.get_params() and other.records_.keys() == model.records_.keys()
        if hasattr(model, "predict"):
            np.testing.assert_array_equal(other.predict(x), model.predict(x))


@pytest.mark.parametrize("estimator", ESTIMATORS[:-1], ids=repr)
def test_files(estimator, iris, tmp_path):
    x, y = iris
    model = clone(estimator).fit(x, y)
    model.save(tmp_path / "m.kfe")
    loaded = kfe.load(tmp_path / "m.kfe").set_params(n_threads=1)
    np.testing.assert_array_equal(loaded.transform(x), model.transform(x))
    assert type(loaded) is type(model) and loaded.n_features_in_ == 4
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(loaded.predict(x), model.predict(x))


def test_functions_are_given_again_to_loaded_models(iris, tmp_path):
    x, y = iris
    model = kfe.KOC(kernel=inner_product).fit(x, y)
    model.save(tmp_path / "m.kfe")
    with pytest.raises(kfe.KfeError, match="inner_product"):
        kfe.load(tmp_path / "m.kfe").transform(x)
    loaded = kfe.load(tmp_path / "m.kfe", kernels={"inner_product": inner_product})
    np.testing.assert_array_equal(loaded.transform(x), model.transform(x))


def test_damaged_files(tmp_path):
    (tmp_path / "m.kfe").write_bytes(b"not a model")
    with pytest.raises(kfe.ModelError):
        kfe.load(tmp_path / "m.kfe")
    with pytest.raises(OSError):
        kfe.load(tmp_path / "nowhere.kfe")
    with pytest.raises(OSError):
        kfe.PCA().fit(np.eye(3)).save(tmp_path / "no folder" / "m.kfe")


def test_not_fitted():
    for use in ("transform", "predict", "decision_function", "get_feature_names_out"):
        with pytest.raises(NotFittedError):
            getattr(kfe.KOCClassifier(learner="knn"), use)(np.eye(2))
    with pytest.raises(NotFittedError):
        kfe.KOC().save("m.kfe")


def test_failed_fits_leave_no_model(iris):
    with pytest.raises(ValueError):
        kfe.KOC(dim=-1).fit(*iris)
    model = kfe.KOC()
    with pytest.raises(ValueError):
        model.fit(iris[0], np.zeros(150))
    with pytest.raises(NotFittedError):
        model.transform(iris[0])


def test_the_projector_can_be_taken_apart(iris):
    """features(x) = dual_coefᵀ κ(support, x) − offset."""
    x, y = iris
    model = kfe.SMA(dim=6, center=True, kernel="rbf:gamma=0.3").fit(x, y)
    kernel = kfe.kernel_matrix("rbf:gamma=0.3", x, x[model.support_])
    np.testing.assert_allclose(kernel @ model.dual_coef_ - model.offset_, model.transform(x), atol=1e-10)
    assert not hasattr(model, "components_") and model.support_.dtype == np.int64


def test_names_of_attributes(iris):
    x, y = iris
    assert kfe.KPCA(dim=3).fit(x).eigenvalues_.shape == (3,)
    assert kfe.SKFE().fit(x, y).alignment_path_.ndim == 1
    weights = kfe.HSICMKL(kernel=["rbf", "linear"]).fit(x, y).kernel_weights_
    assert weights.shape == (2,) and weights.sum() == pytest.approx(1)
    assert not hasattr(kfe.PCA().fit(x), "dual_coef_") and not hasattr(kfe.AKDAQR().fit(x, y), "support_")
    assert kfe.SVMJoint(lambda_=0.5).fit(x, y).fitted_lambda_ == [0.5]


def test_attributes_of_an_earlier_fit_go(iris):
    x, y = iris
    model = kfe.SMA(dim=3, bound=True).fit(x, y)
    assert hasattr(model, "bound_cost_")
    model.set_params(bound=False).fit(x, y)
    assert not hasattr(model, "bound_cost_")
    model = kfe.KPLS().fit(x, y)
    model.fit(x, x[:, 0])
    assert not hasattr(model, "classes_")


def test_linear_methods_and_learners_on_kernels(iris):
    with pytest.raises(TypeError):
        kfe.PCA(kernel="rbf")
    with pytest.raises(kfe.InvalidArgumentError, match="a kernel without a method"):
        kfe.NoExtraction(kernel="rbf").fit(*iris)
    with pytest.raises(kfe.InvalidArgumentError, match="learner"):
        kfe.NoExtractionClassifier(kernel="rbf", learner="knn").fit(*iris)


def test_parts_of_a_localized_model():
    """Shares and gated projections, computed from the matrices of the model."""
    x, y = kfe.generate("waveform", n=120, random_state=3)
    views = [x[:, :8], x[:, 8:]]
    model = kfe.SLDR(local_dim=2, gate_dim=3, n_threads=1).fit(views, y)
    logits = sum(v @ t for v, t in zip(views, model.gate_projections_)) @ model.gate_weights_ + model.gate_offset_
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    expected = np.hstack([shares[:, [m]] * (v @ w) for m, (v, w) in enumerate(zip(views, model.projections_))])
    np.testing.assert_allclose(model.transform(views), expected, rtol=1e-9, atol=1e-12)
    for matrix in model.projections_:
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(2), atol=1e-10)
    assert len(model.support_) == round(model.support_share_[0] * len(y))
    with pytest.raises(AttributeError, match="projections_"):
        model.dual_coef_
    with pytest.raises(AttributeError, match="gate"):
        kfe.KOC().fit(x, y).projections_


def test_onnx(iris, tmp_path):
    """The file is the command line's; tests/onnx compares what it computes."""
    x, y = iris
    model = kfe.KOCClassifier(learner="svm", n_threads=1).fit(x, y)
    content = model.to_onnx(tmp_path / "m.onnx", precision="double")
    assert (tmp_path / "m.onnx").read_bytes() == content and b"MatMul" in content
    assert len(model.to_onnx()) < len(content)
    with pytest.raises(ValueError, match="precision"):
        model.to_onnx(precision="half")
    with pytest.raises(kfe.KfeError, match="user"):
        kfe.KPLS(dim=1, kernel=inner_product, n_threads=1).fit(x, y).to_onnx()
