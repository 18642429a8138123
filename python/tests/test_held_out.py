# SPDX-License-Identifier: Apache-2.0
"""Held-out predictions: those of scikit-learn on the same splits, in results and in the figures drawn from them."""
import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit

import kfe
from test_pooled import data  # noqa: F401, a fixture


def pls(X, y, dim):
    return PLSRegression(dim, scale=False, tol=1e-20, max_iter=10000).fit(X, y)


@pytest.mark.parametrize("cv", (LeaveOneOut(), KFold(7), ShuffleSplit(3, test_size=0.3, random_state=0)), ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize("targets", (1, 2))
def test_predictions_are_those_of_fits_without_the_row(data, cv, targets):  # noqa: F811
    X, y = data[0], data[1][:, 0] if targets == 1 else data[1]
    rows = iter(kfe.cv(kfe.PLSRegressor(3, scale=False), X, y, cv=cv)["held_out"])
    for number, (train, test) in enumerate(cv.split(X)):
        test = np.sort(test)
        for row, expected in zip(test, pls(X[train], y[train], 3).predict(X[test]).reshape(len(test), targets)):
            found = next(rows)
            assert found["row"] == row + 1 and found["split"] == number + 1
            for name, values in (("truth", y[row]), ("prediction", expected)):
                numbers = [found[name]] if targets == 1 else list(found[name].values())
                assert numbers == pytest.approx(list(np.ravel(values)), rel=1e-9, abs=1e-9)
    assert next(rows, None) is None


def test_each_split_predicts_with_its_own_choice(data):  # noqa: F811
    X, y = data[0], data[1][:, 0]
    found = kfe.cv(kfe.PLSRegressor(scale=False), X, y, cv=KFold(5), grid={"dim": [1, 2, 5]}, inner_folds=3)
    table = found.held_out()
    for number, ((train, test), split) in enumerate(zip(KFold(5).split(X), found["splits"])):
        expected = pls(X[train], y[train], split["setting"]["dim"]).predict(X[test]).ravel()
        np.testing.assert_allclose(table["prediction"][table["split"] == number + 1], expected, rtol=1e-9)
    residuals = table["prediction"] - table["truth"]
    assert np.sqrt((residuals ** 2).mean()) == pytest.approx(found["pooled"]["rmsecv"], rel=1e-12)
    assert residuals.mean() == pytest.approx(found["pooled"]["bias"], rel=1e-9)


def test_how_many_are_kept(data):  # noqa: F811
    X, y = np.tile(data[0], (60, 1)), np.tile(data[1][:, 0], 60)
    assert "held_out" not in kfe.cv(kfe.PLSRegressor(2), X, y, folds=2)
    assert len(kfe.cv(kfe.PLSRegressor(2), X, y, folds=2, held_out="yes")["held_out"]) == 2400
    with pytest.raises(ValueError, match="held_out=\"yes\""):
        kfe.cv(kfe.PLSRegressor(2), X[:40], y[:40], folds=2, held_out="no").held_out()


def test_searches_of_python_and_baselines_have_them(data):  # noqa: F811
    X, y = data[0], data[1][:, 0]
    weights = np.arange(1.0, 41.0)
    found = kfe.compare([kfe.PLSRegressor(6, scale=False), LinearRegression()], X, y, cv=KFold(4), sample_weight=weights)
    ours, theirs = (method["held_out"] for method in found["methods"])  # pls with all features is least squares
    assert [one["row"] for one in ours] == [one["row"] for one in theirs] and [one["weight"] for one in theirs] == list(weights)
    np.testing.assert_allclose([one["prediction"] for one in ours], [one["prediction"] for one in theirs], rtol=1e-6)
    nested = kfe.cv(kfe.KPLSRegressor(dim=3), X, y, cv=KFold(4), grid={"kernel": ["rbf:gamma=0.01", kfe.Polynomial(degree=2, coef0=2.0)]})
    table = nested.held_out()
    assert np.sqrt(((table["prediction"] - table["truth"]) ** 2).mean()) == pytest.approx(nested["pooled"]["rmsecv"])


def test_figures_of_numbers(data):  # noqa: F811
    pytest.importorskip("matplotlib")
    import kfe.plot
    X, y = data[0], data[1][:, 0]
    found = kfe.cv(kfe.PLSRegressor(3), X, y, folds=5)
    rows = found.held_out()
    for drawn in (kfe.plot.predicted(found), kfe.plot.ResidualsDisplay.from_results(found)):
        table = drawn.table()
        np.testing.assert_array_equal(table["row"], rows["row"])
        for shown, kept in (("true value", rows["truth"]), ("predicted value", rows["prediction"]), ("residual", rows["truth"] - rows["prediction"])):
            np.testing.assert_allclose(table[shown], kept, rtol=1e-3, atol=1e-3)
        assert "leave it out" in drawn.description["caption"]
    with pytest.raises(ValueError, match="held-out predictions"):
        kfe.plot.predicted(kfe.cv(kfe.PLSRegressor(3), X, y, folds=5, held_out="no"))


def test_figures_of_classes(iris):
    pytest.importorskip("matplotlib")
    import kfe.plot
    X, y = iris
    names = np.array(["one", "two", "three"])[np.searchsorted(np.unique(y), y)]
    results = kfe.compare([kfe.KOCClassifier(learner="knn"), kfe.PCAClassifier(1, learner="knn")], X, names, folds=4)
    best = next(method for method in results["methods"] if method["label"] == results["best"])
    truth, predicted = ([row[name] for row in best["held_out"]] for name in ("truth", "prediction"))
    counts = confusion_matrix(truth, predicted, labels=["one", "two", "three"])
    table = kfe.plot.confusion(results).table()
    assert {(row["true class"], row["predicted class"]): row["count"] for _, row in table.iterrows()} == \
        {(a, b): counts[i, j] for i, a in enumerate(["one", "two", "three"]) for j, b in enumerate(["one", "two", "three"]) if counts[i, j]}
    assert np.trace(counts) / 150 == pytest.approx(best["metrics"]["accuracy"]["mean"], abs=0.01)


def test_the_permutation_test_is_drawn(data):  # noqa: F811
    pytest.importorskip("matplotlib")
    import kfe.plot
    found = kfe.cv(kfe.PLSRegressor(2), data[0], data[1][:, 0], folds=4, permutations=20)
    permuted = found["permutations"]["values"]
    assert found["permutations"]["p"] == pytest.approx((1 + sum(value <= found["metrics"]["rmse"]["mean"] for value in permuted)) / 21)
    table = kfe.plot.permutation_test(found).table()
    assert table["permutations"][table["what"] == "permuted"].sum() == 2 * 20  # each bin has two corners
    np.testing.assert_allclose(table["rmse"][table["what"] == "observed"], found["pooled"]["rmsecv"], rtol=1e-3)
