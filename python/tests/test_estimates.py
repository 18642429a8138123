# SPDX-License-Identifier: Apache-2.0
"""The standard error of the library and of scikit-learn's estimators beside it are the same number."""
import math

import numpy as np
import pytest

import kfe

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(1)
    code = np.arange(90) % 3
    return 1.2 * np.eye(3)[code] + random.normal(size=(90, 3)), code


def expected(method, rows):
    values = np.array([split["metrics"]["accuracy"] for split in method["splits"]])
    test, train = (sum(split[key] for split in method["splits"]) for key in ("test_rows", "train_rows"))
    corrected = values.std(ddof=1) * math.sqrt(1 / len(values) + test / train)
    return max(corrected, math.sqrt(values.mean() * (1 - values.mean()) / rows))


@pytest.mark.parametrize("splitter, rows", [("KFold", 90), ("ShuffleSplit", None)])
def test_baselines(data, splitter, rows):
    from sklearn import model_selection
    from sklearn.neighbors import KNeighborsClassifier
    cv = (model_selection.KFold(5, shuffle=True, random_state=0) if splitter == "KFold"
          else model_selection.ShuffleSplit(8, test_size=0.3, random_state=0))
    rows = rows or len({row for _, test in cv.split(data[0]) for row in test})
    table = kfe.compare({"ours": kfe.NoneClassifier(learner="knn:neighbors=5") if hasattr(kfe, "NoneClassifier")
                         else kfe.KFDClassifier(), "theirs": KNeighborsClassifier(5)}, *data, cv=cv)
    for method in table["methods"]:
        assert method["metrics"]["accuracy"]["standard_error"] == pytest.approx(expected(method, rows))
    assert {"accuracy_mean", "accuracy_standard_error", "accuracy_sd"} <= set(table.to_dataframe().columns)


def test_nested_search_over_kernels(data):
    result = kfe.cv(kfe.KFDClassifier(learner="centroid"), *data, cv=3, grid={"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1]})
    assert result["metrics"]["accuracy"]["standard_error"] == pytest.approx(expected(result, 90))
    for row in result["settings"]:
        assert row["metrics"]["accuracy"]["standard_error"] > 0 and row["metrics"]["accuracy"]["sd"] is not None
    assert "accuracy_standard_error" in result.settings().columns
