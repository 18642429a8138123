# SPDX-License-Identifier: Apache-2.0
"""Splits from scikit-learn and from users, groups, baselines, and grids over kernels and learners."""
import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import (GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut, ShuffleSplit, cross_val_score,
                                     cross_validate)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kfe
from kfe._splits import give_splits, group_codes, library_splits
from kfe import _tables
from kfe._lib import lib

KNN = kfe.KOCClassifier(kernel="rbf:gamma=0.2", learner="knn", n_threads=1)


def values(result, metric="accuracy"):
    return [split["metrics"][metric] for split in result["splits"]]


@pytest.mark.parametrize("splitter", [KFold(4, shuffle=True, random_state=2), ShuffleSplit(3, test_size=30, random_state=1)],
                         ids=lambda each: type(each).__name__)
def test_splitters(splitter, iris):
    expected = cross_val_score(KNN, *iris, cv=splitter)
    assert values(kfe.cv(KNN, *iris, cv=splitter)) == pytest.approx(expected)
    assert values(kfe.cv(KNN, *iris, cv=list(splitter.split(*iris)))) == pytest.approx(expected)
    compared = kfe.compare([KNN, kfe.KPCAClassifier(dim=2, n_threads=1)], *iris, cv=splitter)
    assert values(compared["methods"][0]) == pytest.approx(expected)


def test_a_number_of_folds_is_the_librarys(iris):
    assert values(kfe.cv(KNN, *iris, cv=3)) == values(kfe.cv(KNN, *iris, folds=3))
    masks = [(np.arange(150) % 3 != part, np.arange(150) % 3 == part) for part in range(3)]
    assert len(values(kfe.cv(KNN, *iris, cv=masks))) == 3


def splits_of_the_library(x, y, groups, folds):
    """The splits that kfe.cv uses: those of the library, with groups as numbers."""
    data = KNN._prepare(KNN._context(), x, y, reset=True)
    give_splits(data, None, group_codes(groups))
    return library_splits(data, {"folds": folds})


def test_groups(iris):
    """Rows of a group stay together; the library divides them, whatever the groups are called."""
    groups = np.array(list("abcdefg"))[np.arange(150) % 7]
    splits = splits_of_the_library(*iris, groups, 5)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(150))
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
    expected = cross_val_score(KNN, *iris, cv=splits)
    assert values(kfe.cv(KNN, *iris, groups=groups)) == pytest.approx(expected)
    assert values(kfe.cv(KNN, *iris, groups=np.arange(150) % 7)) == pytest.approx(expected)
    assert len(values(kfe.cv(KNN, *iris, groups=groups, folds=30))) == 7
    assert len(values(kfe.cv(KNN, *iris, groups=groups, split="leave-group-out"))) == 7
    expected = cross_val_score(KNN, *iris, cv=LeaveOneGroupOut(), groups=groups)
    assert values(kfe.cv(KNN, *iris, groups=groups, cv=LeaveOneGroupOut())) == pytest.approx(expected)
    assert len(values(kfe.cv(KNN, *iris, groups=groups, folds=3))) == 3


def chosen_by_sklearn(estimator, grid, x, y, outer, groups):
    """The scores and choices of scikit-learn's nested searches, with a group of the training part in each inner fold."""
    found = []
    for train, test in outer:
        inner = list(LeaveOneGroupOut().split(x[train], y[train], groups[train]))
        search = GridSearchCV(clone(estimator), grid, cv=inner).fit(x[train], y[train])
        found.append((search.score(x[test], y[test]), search.best_params_))
    return found


def test_inner_folds_keep_groups_together(iris):
    x, y, groups = *iris, np.arange(150) // 3 % 10
    outer = list(GroupKFold(3).split(x, y, groups))
    expected = chosen_by_sklearn(KNN.set_params(kernel="rbf"), {"kernel__gamma": [1e-4, 0.2, 50]}, x, y, outer, groups)
    result = kfe.cv(KNN, x, y, grid={"gamma": [1e-4, 0.2, 50]}, groups=groups, cv=outer, inner_folds=10, refit=True)
    assert values(result) == pytest.approx([score for score, _ in expected])
    assert [split["setting"]["gamma"] for split in result["splits"]] == [best["kernel__gamma"] for _, best in expected]
    assert result.best_estimator_.kernel == str(kfe.RBF(gamma=result["best"]["gamma"]))


def test_kernels_and_learners_are_axes(iris):
    x, y, groups = *iris, np.arange(150) % 10
    estimator = kfe.KPLSClassifier(dim=2, n_threads=1)
    kernels = [kfe.RBF(gamma=0.1), "linear", kfe.RBF(gamma=30)]
    outer = list(GroupKFold(3).split(x, y, groups))
    expected = chosen_by_sklearn(estimator, {"kernel": kernels, "learner": ["centroid", "knn"]}, x, y, outer, groups)
    result = kfe.cv(estimator, x, y, grid={"kernel": kernels, "learner": ["centroid", "knn"]}, groups=groups, cv=outer,
                    inner_folds=10)
    assert values(result) == pytest.approx([score for score, _ in expected])
    assert [(split["setting"]["kernel"], split["setting"]["learner"]) for split in result["splits"]] == [
        (str(best["kernel"]), best["learner"]) for _, best in expected]


def test_parameters_of_a_grid_go_where_they_apply(iris):
    result = kfe.cv(KNN, *iris, grid={"kernel": ["rbf", "linear"], "learner": ["knn", "svm"], "gamma": [0.1, 1], "C": [1, 10]},
                    cv=2, inner_folds=2, refit=True)
    settings = [row["setting"] for row in result["settings"]]
    assert len(settings) == 2 + 4 + 1 + 2
    assert all(("gamma" in each) == (each["kernel"] == "rbf") and ("C" in each) == (each["learner"] == "svm") for each in settings)
    assert result.best_estimator_.score(*iris) > 0.8
    with pytest.raises(ValueError, match="nothing"):
        kfe.cv(KNN, *iris, grid={"kernel": ["rbf", "linear"], "nothing": [1]})


def test_the_library_searches_over_kernels_and_learners_that_it_can_list(iris, monkeypatch):
    """Only kernels and learners that a grid of the library cannot list are searched by Python."""
    from kfe import _select
    nested, calls = _select._nested, []
    monkeypatch.setattr(_select, "_nested", lambda *given: calls.append(given) or nested(*given))
    estimator, fewer = kfe.KPLSClassifier(dim=2, n_threads=1), {"folds": 2, "inner_folds": 2}
    listed = {"kernel": [kfe.RBF(gamma=0.1), "linear"], "learner": ["centroid", "knn"]}
    assert kfe.cv(estimator, *iris, grid=listed, **fewer)["nested"]
    assert len(kfe.compare([estimator], *iris, grid=listed, **fewer)["methods"]) == 1
    assert not calls
    for grid in [{"kernel": ["poly:degree=2,coef0=1", "linear"]}, {"learner": ["knn", kfe.SVM(C=10)]},
                 {"kernel": [lambda x, z: x @ z.T, "linear"]}]:
        kfe.cv(estimator, *iris, grid=grid, **fewer)
    assert len(calls) == 3


def test_values_come_back_typed(iris):
    result = kfe.cv(kfe.KPLSClassifier(n_threads=1), *iris, folds=2, inner_folds=2,
                    grid={"gamma": [0.1, 1], "dim": [1, 2], "center": [True, False]})
    for setting in [result["best"], *(row["setting"] for row in result["settings"])]:
        assert type(setting["dim"]) is int and type(setting["center"]) is bool
    assert {type(row["setting"]["gamma"]) for row in result["settings"]} == {float, int}
    assert "seconds" in result.to_dataframe().columns
    assert result.to_dataframe()["dim"].dtype.kind == "i"


def test_baselines(iris, clouds):
    pipeline = make_pipeline(StandardScaler(), SVC())
    splitter = KFold(4, shuffle=True, random_state=5)
    result = kfe.compare([KNN, SVC(C=10), pipeline], *iris, cv=splitter)
    for each, method in zip((KNN, SVC(C=10), pipeline), result["methods"]):
        assert values(method) == pytest.approx(cross_val_score(each, *iris, cv=splitter, scoring="accuracy"))
    frame = result.to_dataframe()
    assert list(frame.index) == ["koc", "SVC", "Pipeline"] and (frame["seconds"] > 0).all()
    assert len(result.differences()) == 3 and result["best"] in frame.index
    assert list(kfe.compare({"ours": KNN, "theirs": SVC()}, *iris, cv=3).to_dataframe().index) == ["ours", "theirs"]
    labels = [method["label"] for method in kfe.compare([KNN, SVC(), SVC(C=3)], *iris, cv=3)["methods"]]
    assert labels == ["koc", "SVC()", "SVC(C=3)"]
    scores = kfe.compare([kfe.KOCClassifier(n_threads=1), SVC()], *clouds, cv=splitter, metrics=["roc_auc"])["methods"][1]
    assert values(scores, "auc") == pytest.approx(cross_val_score(SVC(), *clouds, cv=splitter, scoring="roc_auc"))


def test_baselines_that_regress(iris):
    x, y = iris[0][:, :3], iris[0][:, 3]
    splitter = KFold(3, shuffle=True, random_state=5)
    result = kfe.compare([kfe.KPLSRegressor(n_threads=1), SVR()], x, y, cv=splitter, metrics=["rmse", "r2"])
    theirs = cross_validate(SVR(), x, y, cv=splitter, scoring=("neg_root_mean_squared_error", "r2"))
    assert values(result["methods"][1], "rmse") == pytest.approx(-theirs["test_neg_root_mean_squared_error"])
    assert values(result["methods"][1], "r2") == pytest.approx(theirs["test_r2"])


def test_differences_are_those_of_the_library(iris):
    """Python's tests of pairs against the library's own comparison."""
    pair = [KNN, kfe.KPCAClassifier(dim=1, n_threads=1)]
    ours, theirs = kfe.compare([("a", pair[0]), ("b", pair[1])], *iris, folds=4), kfe.compare(pair, *iris, folds=4)
    for key in ("difference", "paired", "corrected"):
        assert ours["differences"][0][key] == theirs["differences"][0][key]
    assert ours["metric"] == theirs["metric"]


def test_views_and_kernel_matrices(iris):
    x, y, groups = *iris, np.arange(150) % 5
    views = {"sepal": x[:, :2], "petal": x[:, 2:]}
    result = kfe.cv(kfe.KPLSClassifier(n_threads=1), views, y, grid={"dim": [1, 2]}, groups=groups, folds=3, inner_folds=3)
    assert np.mean(values(result)) > 0.8
    given = kfe.cv(kfe.KPLSClassifier(kernel="precomputed", n_threads=1), kfe.kernel_matrix("rbf:gamma=0.2", x), y,
                   grid={"dim": [1, 2]}, groups=groups, folds=3, inner_folds=3)
    made = kfe.cv(kfe.KPLSClassifier(kernel="rbf:gamma=0.2", n_threads=1), x, y, grid={"dim": [1, 2]}, groups=groups, folds=3,
                  inner_folds=3)
    assert values(given) == pytest.approx(values(made))


def test_mistakes(iris):
    with pytest.raises(ValueError, match="rows in both parts"):
        kfe.cv(KNN, *iris, cv=[([0, 1, 60, 110], [1, 2])])
    with pytest.raises(ValueError, match="between 0 and 149"):
        kfe.cv(KNN, *iris, cv=[([0, 1, 60, 110], [150])])
    with pytest.raises(ValueError, match="a number of folds, a splitter"):
        kfe.cv(KNN, *iris, cv=["folds"])
    with pytest.raises(ValueError, match="groups has 3 labels"):
        kfe.cv(KNN, *iris, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="repeats is an option"):
        kfe.cv(KNN, *iris, cv=KFold(3), repeats=2)
    with pytest.raises(ValueError, match="at least one estimator of this package"):
        kfe.compare([SVC()], *iris)
    with pytest.raises(ValueError, match="inner_folds"):
        kfe.cv(KNN, *iris, grid={"kernel": ["poly:degree=2,coef0=1"]}, inner_folds=0)


@pytest.mark.parametrize("function, options", [(kfe.cv, lib.kfe_cv_option), (kfe.compare, lib.kfe_compare_option),
                                               (kfe.evaluate, lib.kfe_evaluate_option)], ids=["cv", "compare", "evaluate"])
def test_options_are_documented(function, options):
    text = inspect.getdoc(function)
    rows = list(_tables.option_rows(options))
    assert rows and "OPTIONS" not in text
    for row in rows:
        assert f"- ``{_tables.python_name(row.name)}`` (default " in text
