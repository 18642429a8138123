# SPDX-License-Identifier: Apache-2.0
"""Kernels as objects and in users' other notations, in searches and by view."""
import copy
import doctest
import inspect
import pickle

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kfe
from kfe import _kernels, _tables


def features(iris, kernel, **params):
    return kfe.KPLS(kernel=kernel, dim=2, n_threads=1, **params).fit_transform(*iris)


def test_every_kernel_has_a_class():
    assert [made._entry.name for made in _kernels.CLASSES.values()] == list(_tables.KERNEL_ENTRIES)
    for name, made in _kernels.CLASSES.items():
        kernel = getattr(kfe, name)()
        assert name in kfe.__all__ and type(kernel) is made and made.__module__ == "kfe"
        assert str(kernel) == made._entry.name and repr(kernel) == f"{name}()"
        expected = {row.name.replace("-", "_"): row.default for row in made._entry.params}
        assert kernel.get_params() == expected and list(inspect.signature(made).parameters) == list(expected)


def test_an_object_is_its_parameters():
    kernel = kfe.RBF(gamma=0.1)
    assert kernel == kfe.RBF(0.1) and kernel != kfe.RBF(0.2) and kernel != kfe.Laplacian(0.1)
    assert repr(kernel) == "RBF(gamma=0.1)" and str(kernel) == "rbf:gamma=0.1"
    for other in (clone(kernel), copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert other == kernel and other is not kernel
    assert kernel.set_params(gamma="median", weight=2) is kernel and str(kernel) == "rbf:gamma=median,weight=2"
    with pytest.raises(ValueError, match="did you mean 'gamma'"):
        kernel.set_params(gama=1)
    with pytest.raises(TypeError):
        kfe.RBF(gama=1)


def test_ways_of_writing_a_kernel(iris):
    expected = features(iris, "rbf:gamma=0.1")
    for kernel in (kfe.RBF(gamma=0.1), kfe.RBF(gamma=np.float64(0.1)), ("rbf", {"gamma": 0.1}),
                   {"name": "rbf", "gamma": 0.1}, "gaussian:gamma=0.1", ("gaussian", {"gamma": 0.1}), [kfe.RBF(0.1)]):
        np.testing.assert_array_equal(features(iris, kernel), expected)
    np.testing.assert_array_equal(features(iris, "rbf", gamma=0.1), expected)
    np.testing.assert_array_equal(features(iris, kfe.RBF(), gamma=0.1), expected)
    np.testing.assert_array_equal(features(iris, "polynomial:degree=2"), features(iris, kfe.Polynomial(degree=2)))
    for kernel in (3, {"rbf": {"gamma": 0.1}, "x": 3}):
        with pytest.raises((TypeError, ValueError)):
            features(iris, kernel)


def test_a_kernel_is_a_function_of_two_tables(iris):
    x = iris[0]
    np.testing.assert_allclose(kfe.RBF(gamma=0.1)(x), rbf_kernel(x, gamma=0.1), rtol=1e-12)
    np.testing.assert_allclose(kfe.Laplacian(gamma=0.1)(x, x[:5]), laplacian_kernel(x, x[:5], gamma=0.1), rtol=1e-12)
    np.testing.assert_allclose(kfe.kernel_matrix(kfe.Polynomial(degree=2), x), polynomial_kernel(x, degree=2, gamma=1, coef0=1),
                               rtol=1e-12)
    theirs = SVC(kernel="rbf", gamma=0.1).fit(*iris)
    np.testing.assert_array_equal(SVC(kernel=kfe.RBF(gamma=0.1)).fit(*iris).predict(x), theirs.predict(x))


def test_gamma_of_the_estimator(iris):
    with pytest.raises(ValueError, match="has one already"):
        features(iris, "rbf:gamma=0.1", gamma=0.2)
    with pytest.raises(ValueError, match="has one already"):
        features(iris, kfe.RBF(gamma=0.1), gamma=0.2)
    with pytest.raises(ValueError, match="no such parameter.*linear"):
        features(iris, "linear", gamma=0.2)
    both = features(iris, ["rbf", "linear"], gamma=0.2)
    np.testing.assert_array_equal(both, features(iris, ["rbf:gamma=0.2", "linear"]))


def test_searches(iris):
    """Grids, distributions and Optuna's trials set kernel__gamma."""
    grid = GridSearchCV(kfe.KPLSClassifier(kernel=kfe.RBF(), n_threads=1), {"kernel__gamma": [0.1, 1e4]}, cv=3).fit(*iris)
    assert grid.best_params_ == {"kernel__gamma": 0.1} and grid.best_estimator_.kernel == kfe.RBF(gamma=0.1)
    named = GridSearchCV(kfe.KPLSClassifier(n_threads=1), {"kernel__gamma": [0.1, 1e4]}, cv=3).fit(*iris)
    np.testing.assert_array_equal(named.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"])
    pipeline = make_pipeline(StandardScaler(), kfe.KPLSClassifier(n_threads=1))
    drawn = RandomizedSearchCV(pipeline, {"kplsclassifier__kernel__gamma": loguniform(1e-3, 10)}, n_iter=3, cv=3,
                               random_state=0).fit(*iris)
    assert drawn.best_score_ > 0.8 and 1e-3 <= drawn.best_estimator_[-1].kernel.gamma <= 10
    kinds = GridSearchCV(kfe.KPLSClassifier(n_threads=1), [
        {"kernel": [kfe.RBF(), kfe.Laplacian()], "kernel__gamma": [0.1, 1]}, {"kernel": [kfe.Linear()]}], cv=3).fit(*iris)
    assert len(kinds.cv_results_["params"]) == 5
    short = GridSearchCV(kfe.KPLSClassifier(n_threads=1), {"gamma": [0.1, 1e4]}, cv=3).fit(*iris)
    np.testing.assert_array_equal(short.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"])


def test_trials_do_not_share_kernels(iris):
    """As Optuna does: clone, set_params with floats, fit; the original estimator does not change."""
    base = kfe.KPLSClassifier(kernel=kfe.RBF(gamma=0.5), n_threads=1)
    for gamma in (0.1, 1.0):
        trial = clone(base).set_params(kernel__gamma=gamma, dim=2).fit(*iris)
        assert trial.get_params()["kernel__gamma"] == gamma
        np.testing.assert_array_equal(trial.transform(iris[0]), features(iris, f"rbf:gamma={gamma}"))
    assert base.kernel == kfe.RBF(gamma=0.5) and base.dim == "auto"


def test_sums(iris):
    total = kfe.RBF(gamma=0.1) + 0.5 * kfe.Linear() + "poly:degree=2"
    assert repr(total) == "RBF(gamma=0.1) + Linear(weight=0.5) + 'poly:degree=2'" and clone(total) == total
    np.testing.assert_array_equal(features(iris, total),
                                  features(iris, ["rbf:gamma=0.1", "linear:weight=0.5", "poly:degree=2"]))
    np.testing.assert_array_equal(features(iris, np.float64(2) * (kfe.RBF(gamma=0.1) + kfe.Linear())),
                                  features(iris, ["rbf:gamma=0.1,weight=2", "linear:weight=2"]))
    search = GridSearchCV(kfe.KPLSClassifier(kernel=total, n_threads=1), {"kernel__k1__gamma": [0.1, 1], "kernel__k3__degree": [2]},
                          cv=3).fit(*iris)
    assert search.best_estimator_.kernel.get_params()["k3__degree"] == 2
    assert total.get_params()["k1__gamma"] == 0.1
    with pytest.raises(TypeError, match="products of kernels are not available"):
        kfe.RBF() * kfe.Linear()


def test_kernels_of_views(iris):
    views = {"sepal": iris[0][:, :2], "petal": iris[0][:, 2:]}
    kernel = kfe.ViewKernels(sepal=kfe.RBF(gamma=0.1), petal=["linear", kfe.RBF(gamma=1)])
    expected = kfe.KPLS(kernel={"sepal": "rbf:gamma=0.1", "petal": ["linear", "rbf:gamma=1"]}).fit_transform(views, iris[1])
    np.testing.assert_array_equal(kfe.KPLS(kernel=kernel).fit_transform(views, iris[1]), expected)
    model = clone(kfe.KPLS(kernel=kernel)).set_params(kernel__sepal__gamma=2.0)
    assert kernel.get_params()["sepal__gamma"] == 0.1 and model.kernel.get_params()["sepal__gamma"] == 2.0
    with pytest.raises(ValueError, match="ViewKernels has no parameter 'fac'"):
        model.set_params(kernel__fac__gamma=2)
    with pytest.raises(ValueError, match="no parameters to set"):
        model.set_params(kernel__petal__gamma=2)


def test_class_weights(clouds):
    x, y = clouds
    ours = kfe.NoExtractionClassifier(kernel="rbf", gamma=0.5, learner="svm",
                                      learner_params={"class_weight": {0: 1, 1: 5}}).fit(x, y)
    theirs = SVC(gamma=0.5, class_weight={0: 1, 1: 5}).fit(x, y)
    np.testing.assert_array_equal(ours.predict(x), theirs.predict(x))
    assert (ours.predict(x) != SVC(gamma=0.5).fit(x, y).predict(x)).any()


@pytest.mark.parametrize("name", [*_kernels.CLASSES, "KernelSum", "ViewKernels"])
def test_examples_in_documentation(name):
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(getattr(kfe, name)), {}, name, None, 0)
    assert examples.examples and doctest.DocTestRunner().run(examples).failed == 0
