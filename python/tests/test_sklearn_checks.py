# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks, for every estimator there is, alone and with learners."""
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import kfe
from kfe import _tables

pytestmark = [pytest.mark.filterwarnings("ignore::kfe.KfeWarning"),
              pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

ALONE = [getattr(kfe, name)(n_threads=1) for name in _tables.ESTIMATORS]
WITH_LEARNERS = [
    kfe.KOC(learner="svm", n_threads=1),
    kfe.KFD(learner="centroid", scale="standard", n_threads=1),
    kfe.KPCA(learner="svm:multiclass=ovr", task="classify", n_threads=1),
    kfe.NoExtraction(learner="knn:neighbors=3", task="classify", n_threads=1),
    kfe.KPLS(learner="ls", task="regress", n_threads=1),
    kfe.KPCA(kernel="precomputed", n_threads=1),
]


@parametrize_with_checks(ALONE + WITH_LEARNERS)
def test_check(estimator, check):
    check(estimator)
