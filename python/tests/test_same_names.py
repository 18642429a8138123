# SPDX-License-Identifier: Apache-2.0
"""Columns of one name: told at the fit, refused where names decide, and matched by place where there are none."""
import numpy as np
import pytest

import kfe

pandas = pytest.importorskip("pandas")


def test_twins():
    random = np.random.default_rng(0)
    code = np.arange(60) % 2
    X = random.normal(size=(60, 3)) + 4 * code[:, None] * np.array([1, 0, 0])
    frame = pandas.DataFrame(X, columns=["x", "x", "z"])
    with pytest.warns(kfe.KfeWarning, match="columns 1 and 2 are both called 'x'"):
        model = kfe.KFDClassifier(learner="knn").fit(frame, code)
    for call in (model.predict, model.transform, lambda data: model.explain(data, code), lambda data: kfe.evaluate(model, data, code)):
        with pytest.raises(ValueError, match="both called 'x'"):
            call(frame.iloc[:, [1, 0, 2]])
    with pytest.warns(UserWarning, match="feature names"):
        assert (model.predict(X) == code).mean() > 0.9
