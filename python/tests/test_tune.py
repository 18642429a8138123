# SPDX-License-Identifier: Apache-2.0
"""tune gives the same results as the command line and returns an estimator that predicts."""
import numpy as np
import pytest

import kfe


def test_tune(iris):
    X, y = iris
    result = kfe.tune(X, y, time=None, trials=30, random_state=1)
    assert result["honest"]["metrics"]["accuracy"]["mean"] > 0.9 and len(result["honest"]["splits"]) == 5
    best = result.best_estimator_
    assert np.mean(best.predict(X) == y) > 0.9
    frame = result.to_dataframe()
    assert frame.iloc[0]["candidate"] == result["best"]["candidate"] and "least squares" in set(frame["candidate"])
    assert all(not isinstance(value, str) or value.isalpha() for row in result["ranking"]
               for value in row.get("setting", {}).values())  # numbers are numbers, words such as 'median' are text
    assert isinstance(next(iter(result["best"]["setting"].values())), (int, float))
    assert result["best"]["candidate"] in result._repr_html_()  # notebooks show the ranking
    again = kfe.tune(X, y, time="none", trials=30, random_state=1)
    assert again["best"] == result["best"] and again["honest"] == result["honest"]


def test_tune_takes_real_targets():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    y = np.sin(2 * X[:, 0]) + 0.1 * random.normal(size=80)
    result = kfe.tune(X, y, time=None, trials=30, assess="held-out")
    assert result["metric"] == "rmse" and result["honest"]["measured_on"] == "held-out"
    linear = next(row for row in result["ranking"] if row["candidate"] == "least squares")
    assert result["ranking"][0]["mean"] < 0.8 * linear["mean"]  # the target is not linear
    assert result.best_estimator_.predict(X[:2]).shape == (2,)


def test_mistakes_are_refused(iris):
    with pytest.raises(ValueError, match="time takes a time such as 60s"):
        kfe.tune(*iris, time="soon")
