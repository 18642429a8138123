# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks, for every estimator with every learner and otherwise default parameters. Without KFE_TEST_ALL, one
method has every learner, and the others have their default."""
import inspect
import os

import pytest
from sklearn.utils.estimator_checks import check_estimator

import kfe
from kfe import _tables

pytestmark = [pytest.mark.filterwarnings("ignore::kfe.KfeWarning"),
              pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
              pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")]


def learners(name):
    """None, and every learner that an estimator of this name can use."""
    return [None, *(learner for learner, entry in _tables.LEARNERS.items()
                    if entry.has(_tables.REGRESSION) or not name.endswith("Regressor"))]


SHORT = {"SKFE": {"max_iter": 5}}  # the parameters of methods whose iterations would take most of the time here


WITH_ALL_LEARNERS = "KFD"  # of the short tests


def configurations(whole=True):
    for method, entry in _tables.ESTIMATORS.items():
        parameters = {"n_threads": 1, **SHORT.get(method, {})}
        yield getattr(kfe, method)(**parameters)
        for name in _tables.predictor_names(method, entry):
            tried = learners(name) if whole or method == WITH_ALL_LEARNERS else [None]
            yield from (getattr(kfe, name)(learner=learner, **parameters) for learner in tried)


OTHERS = [kfe.KFDClassifier(learner="centroid", scale="standard", n_threads=1),
          kfe.KPCAClassifier(learner="svm:multiclass=ovr", n_threads=1), kfe.KPCA(kernel="precomputed", n_threads=1)]


WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
BY_GAP = "its SVMs are solved up to a tolerance, which shows in the seventh digit of features"
OWN_PROBABILITIES = "an estimator has predict_proba before a fit, which takes it away if there are no probabilities"
KNOWN = {"SVMJoint": BY_GAP, "USVMJoint": BY_GAP, "SLMC": "on sparse rows, features differ; on dense ones they agree",
         "PLSDA": OWN_PROBABILITIES, "SparsePLSDA": OWN_PROBABILITIES, "BlockSparsePLSDA": OWN_PROBABILITIES}


def expected_failures(estimator):
    """What scikit-learn 1.6 and later take as an argument, and earlier versions as a tag of the estimator."""
    known = KNOWN.get(type(estimator).__name__.removesuffix("Classifier"))
    return {**estimator._skipped_checks(), **(dict.fromkeys(WEIGHTS, known) if known else {})}


@pytest.mark.parametrize("estimator", [*configurations("KFE_TEST_ALL" in os.environ), *OTHERS], ids=repr)
def test_check(estimator):
    takes = "expected_failed_checks" in inspect.signature(check_estimator).parameters
    check_estimator(estimator, **({"expected_failed_checks": expected_failures(estimator)} if takes else {}))


def test_every_method_is_checked_with_every_learner():
    made = list(configurations())
    assert len([each for each in made if not hasattr(each, "predict")]) == len(_tables.METHODS)
    classifiers = [each for each in made if type(each).__name__.endswith("Classifier")]
    assert len(classifiers) == len(_tables.METHODS) * (1 + len(_tables.LEARNERS))
