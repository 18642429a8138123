# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks, for every estimator with every learner and otherwise default parameters. Without KFE_TEST_ALL, one
method has every learner, and the others have their default."""
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


@pytest.mark.parametrize("estimator", [*configurations("KFE_TEST_ALL" in os.environ), *OTHERS], ids=repr)
def test_check(estimator):
    check_estimator(estimator)


def test_every_method_is_checked_with_every_learner():
    made = list(configurations())
    assert len([each for each in made if not hasattr(each, "predict")]) == len(_tables.METHODS)
    classifiers = [each for each in made if type(each).__name__.endswith("Classifier")]
    assert len(classifiers) == len(_tables.METHODS) * (1 + len(_tables.LEARNERS))
