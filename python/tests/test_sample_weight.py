# SPDX-License-Identifier: Apache-2.0
"""Weights of examples: fit(sample_weight=...) against repeated rows, and what is refused."""
import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import kfe
from kfe import _tables
from kfe._data import TASK_CLASSES

WEIGHTS = np.array([1, 2, 3, 0])


def problem(rows=60, seed=3):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 3
    X = rng.normal(size=(rows, 4)) + 1.5 * (y[:, None] == np.arange(4))
    return X, y, WEIGHTS[np.arange(rows) // 3 % 4]


@pytest.mark.parametrize("estimator", [kfe.KFDClassifier(ridge=0.1), kfe.KPCAClassifier(learner="svm:stop=1e-9"), kfe.PLSClassifier(learner="ls")],
                         ids=repr)
def test_weights_count_like_repeated_rows(estimator):
    X, y, w = problem()
    estimator.set_params(n_threads=1)
    weighted = estimator.fit(X, y, sample_weight=w).decision_function(X)
    repeated = estimator.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-3, atol=1e-3)


def test_weights_without_targets_and_zeros():
    X, _, w = problem()
    w = w + 1
    repeated = kfe.PCA(dim=2).fit(np.repeat(X, w, axis=0)).transform(X)
    weighted = kfe.PCA(dim=2).fit(X, sample_weight=w).transform(X)
    np.testing.assert_allclose(np.abs(weighted), np.abs(repeated), rtol=1e-9)


def test_regression_equals_weighted_least_squares():
    X, _, w = problem()
    w = w + 0.25
    y = X @ [1, -2, 0.5, 3] + np.sin(5 * X[:, 0])
    root = np.sqrt(w)[:, None]
    expected = np.linalg.lstsq(root * np.c_[X, np.ones(len(X))], root[:, 0] * y, rcond=None)[0]
    got = kfe.PLSRegressor(dim=4, learner="ls", scale="none").fit(X, y, sample_weight=w)
    np.testing.assert_allclose(got.predict(X), np.c_[X, np.ones(len(X))] @ expected, rtol=1e-9)


TAKING = [name for name, entry in _tables.ESTIMATORS.items() if entry.has(_tables.SAMPLE_WEIGHTS)]


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
@pytest.mark.parametrize("name", TAKING)
def test_ones_change_nothing_and_zeros_remove(name):
    """Ridges by leave-one-out and SVMs included: a row of weight zero is not there."""
    X, y, _ = problem()
    y = y % 2
    kept = np.arange(len(X)) % 5 != 0
    few = {"max_iter": 3} if name == "SLMC" else {}  # rounding grows from one iteration of its search to the next
    estimator = getattr(kfe, name)(n_threads=1, **few)
    plain = estimator.fit(X, y).transform(X)
    ones = estimator.fit(X, y, sample_weight=np.ones(len(X))).transform(X)
    np.testing.assert_allclose(np.abs(ones), np.abs(plain), rtol=1e-6, atol=1e-6 * np.abs(plain).max())
    removed = estimator.fit(X[kept], y[kept], sample_weight=np.ones(kept.sum())).transform(X)
    np.testing.assert_array_equal(estimator.fit(X, y, sample_weight=kept).transform(X), removed)


@pytest.mark.parametrize("weights, message", [
    (np.r_[-1.0, np.ones(59)], "weight of row 1 is -1"),
    (np.r_[1, np.nan, np.ones(58)], "weight of row 2 is not a finite number"),
    (np.zeros(60), "all weights are zero"),
    (np.ones(59), "expected"),
    (np.ones((60, 2)), "1D"),
])
def test_wrong_weights(weights, message):
    X, y, _ = problem()
    with pytest.raises(ValueError, match=message):
        kfe.KFD().fit(X, y, sample_weight=weights)


def test_what_takes_no_weights_says_what_does():
    X, y, w = problem()
    with pytest.raises(kfe.UnsupportedError, match="learner knn takes no weights of examples; these do: svm"):
        kfe.KFDClassifier(learner="knn").fit(X, y, sample_weight=w)
    for name, entry in _tables.ESTIMATORS.items():
        takes = "sample_weight" in inspect.signature(getattr(kfe, name)().fit).parameters
        assert takes == entry.has(_tables.SAMPLE_WEIGHTS), name


def test_read_takes_no_weights(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,n,kind\n1,2,u\n2,1,v\n", encoding="utf-8")
    with pytest.raises(ValueError, match="the weights in the column 'n' would be lost.*sample_weight"):
        kfe.read(path, weight="n")
    X, _ = kfe.read(path, drop="n")
    np.testing.assert_array_equal(X, [[1], [2]])


# ---- class_weight ----

def unequal():
    """Three classes of 30, 20 and 10 rows."""
    X, y, _ = problem()
    return X, np.repeat([0, 1, 2], [30, 20, 10])


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
@pytest.mark.parametrize("name", [name for name in TAKING if _tables.ESTIMATORS[name].has(_tables.SUPERVISION)])
def test_class_weight_is_a_weight_of_its_rows(name):
    X, y = unequal()
    if _tables.ESTIMATORS[name].has(_tables.TWO_CLASSES):
        X, y = X[y < 2], y[y < 2]
    estimator = getattr(kfe, name)(n_threads=1, **({"max_iter": 3} if name == "SLMC" else {}))
    classes, members = np.unique(y, return_counts=True)
    balanced = (len(y) / (len(classes) * members))[y]
    for given, weights in (("balanced", balanced), ({0: 2, 1: 0.5}, np.array([2, 0.5, 1])[y])):
        expected = estimator.set_params(class_weight=None).fit(X, y, sample_weight=weights).transform(X)
        np.testing.assert_array_equal(estimator.set_params(class_weight=given).fit(X, y).transform(X), expected)


def test_class_weight_multiplies_sample_weight():
    X, y = unequal()
    w = 0.5 + np.arange(len(y)) % 4
    mass = np.bincount(y, w)
    got = kfe.KFDClassifier(ridge=0.1, class_weight="balanced").fit(X, y, sample_weight=w).decision_function(X)
    expected = kfe.KFDClassifier(ridge=0.1).fit(X, y, sample_weight=w * (w.sum() / (3 * mass))[y]).decision_function(X)
    np.testing.assert_array_equal(got, expected)


def test_class_weight_agrees_with_scikit_learn():
    from sklearn.svm import SVC
    X, y = unequal()
    X, y = X[y != 1], y[y != 1]
    for given in ("balanced", {0: 1, 2: 9}):
        ours = kfe.NoExtractionClassifier(kernel="rbf", gamma=0.3, scale="none", learner="svm:stop=1e-9,C=2", class_weight=given).fit(X, y)
        theirs = SVC(gamma=0.3, C=2, tol=1e-9, class_weight=given).fit(X, y)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("estimator", [kfe.KFDClassifier(learner="svm", ridge=0.1), kfe.KOCClassifier(kernel="rbf:gamma=0.2", learner="centroid"),
                                       kfe.PLSClassifier(learner="ls")], ids=repr)
def test_search_weighs_classes_of_each_training_part(estimator):
    """kfe.cv shares matrices and sums over the splits; one fit per split must find the same."""
    X, y = unequal()
    estimator.set_params(class_weight="balanced", scale="standard", n_threads=1)
    parts = [(np.flatnonzero(np.arange(60) % 3 != f), np.flatnonzero(np.arange(60) % 3 == f)) for f in range(3)]
    found = kfe.cv(estimator, X, y, cv=parts, metrics="balanced-accuracy")
    expected = []
    for train, test in parts:
        predicted = estimator.fit(X[train], y[train]).predict(X[test])
        expected.append(np.mean([np.mean(predicted[y[test] == g] == g) for g in range(3)]))
    np.testing.assert_allclose([split["metrics"]["balanced-accuracy"] for split in found["splits"]], expected, atol=1e-12)


@pytest.mark.parametrize("call, message", [
    (lambda X, y: kfe.KFD(class_weight={7: 2}).fit(X, y), "there is no class '7'"),
    (lambda X, y: kfe.KFD(class_weight={0: 0}).fit(X, y), "'0' is not a weight above 0"),
    (lambda X, y: kfe.KFD(class_weight="even").fit(X, y), "'even' is not NAME=WEIGHT"),
    (lambda X, y: kfe.PLSRegressor(class_weight="balanced").fit(X, X[:, 0]), "class weights are for classes, but the target is real"),
    (lambda X, y: kfe.KFDClassifier(learner="knn", class_weight="balanced").fit(X, y), "knn takes no weights of examples; these do: svm"),
])
def test_wrong_class_weight(call, message):
    with pytest.raises((ValueError, TypeError, NotImplementedError, kfe.KfeError), match=message):
        call(*unequal())


# ---- fits from sums ----

def from_sums(name, **given):
    """The estimator with settings that permit partial_fit and do not depend on rounding; None: it has none."""
    made = getattr(kfe, name)(n_threads=1, **given)
    wanted = {"landmarks": 1000, "kernel": "rbf:gamma=0.2", "loss": "ls", "ridge": 0.1, "lambda_": 0.1, "xi": 0.1, "scale": "standard"}
    if name in ("AKDAQR", "NoExtraction") or "kernel" not in made.get_params():
        del wanted["landmarks"]  # those of akda-qr are the means of the classes
    if name == "NoExtraction":
        del wanted["kernel"]
    if name in ("PLS", "KPLS", "BLF", "KBLF", "ContinuumRegression", "SparsePLS"):
        wanted["dim"] = 3  # only fits in memory can choose it
    made.set_params(**{key: value for key, value in wanted.items() if key in made.get_params()})
    return made if hasattr(made, "partial_fit") else None


STREAMING = [name for name in TAKING if from_sums(name) is not None]


def test_methods_that_stream_are_found():
    assert {"PCA", "OC", "KFD", "AKDAQR", "ReducedKOPLS", "SMA", "SMC", "SKFA", "NoExtraction"} <= set(STREAMING) and len(STREAMING) >= 20


def features_agree(a, b):
    np.testing.assert_allclose(b * np.sign((a * b).sum(axis=0)), a, rtol=1e-6, atol=1e-6 * np.abs(a).max())


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
@pytest.mark.parametrize("name", STREAMING)
def test_blocks_with_weights_count_like_repeated_rows(name):
    """Two blocks of each: the first decides landmarks and scaling, and has all rows, so that both decide alike."""
    X, y, _ = problem()
    w = np.random.default_rng(5).integers(0, 4, len(y))
    weighted = from_sums(name).partial_fit(X, y, sample_weight=w).partial_fit(X[::-1], y[::-1], sample_weight=2 * w[::-1])
    rows, targets = np.repeat(X, w, axis=0), np.repeat(y, w)
    repeated = from_sums(name).partial_fit(rows, targets)
    for _ in range(2):
        repeated.partial_fit(rows[::-1], targets[::-1])
    features_agree(repeated.transform(X), weighted.transform(X))


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
@pytest.mark.parametrize("name", STREAMING)
def test_one_block_with_weights_equals_fit(name):
    X, y, w = problem()
    weights, named = w + 0.25, {0: 2, 2: 0.5}
    given = {"class_weight": named} if _tables.ESTIMATORS[name].has(_tables.SUPERVISION) else {}
    whole, parts = from_sums(name, **given), from_sums(name, **given)
    if name == "ReducedKOPLS":  # in memory it reduces the examples to some of them by itself, unless it gets fewer landmarks
        whole.set_params(landmarks=20)
        parts.set_params(landmarks=20)
    whole.fit(X, y, sample_weight=weights)
    features_agree(whole.transform(X), parts.partial_fit(X, y, sample_weight=weights).transform(X))


@pytest.mark.parametrize("estimator", [kfe.PLSClassifier(dim=2, learner="ls"), kfe.NoExtractionClassifier(learner="centroid"),
                                       kfe.PCAClassifier(dim=2, learner="ls", class_weight={1: 4})], ids=repr)
def test_blocks_in_any_order_with_pickling_equal_one_fit(estimator):
    X, y, w = problem()
    weights = w + 0.5 * (np.arange(len(w)) % 7)
    whole = clone(estimator).fit(X, y, sample_weight=weights)
    for order in (np.argsort(y), np.random.default_rng(0).permutation(len(y))):
        parts = clone(estimator)
        for block in np.array_split(order, 7):
            parts = pickle.loads(pickle.dumps(parts.partial_fit(X[block], y[block], sample_weight=weights[block])))
        np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-7, atol=1e-9)


def test_weights_of_blocks_that_are_refused():
    X, y, w = problem()
    with pytest.raises(kfe.UnsupportedError, match="by name"):
        kfe.OC(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(ValueError, match="must not be negative"):
        kfe.OC().partial_fit(X, y, sample_weight=w - 1.0)
    with pytest.raises(ValueError, match="not a finite number"):
        kfe.OC().partial_fit(X, y, sample_weight=np.where(w == 2, np.nan, 1))
    with pytest.raises(ValueError, match="expected"):
        kfe.OC().partial_fit(X, y, sample_weight=w[:-1])
    with pytest.raises(ValueError, match="there is no class '7'"):
        kfe.OC(class_weight={7: 2}).partial_fit(X, y).transform(X)


def test_a_block_of_weight_zero_adds_nothing():
    X, y, w = problem()
    once = kfe.OC().partial_fit(X, y, sample_weight=w)
    twice = kfe.OC().partial_fit(X, y, sample_weight=w).partial_fit(X + 9, y, sample_weight=np.zeros(len(y)))
    np.testing.assert_array_equal(once.transform(X), twice.transform(X))


# ---- searches ----


def halves(rows):
    """Two splits whose test parts are all rows."""
    even = np.arange(rows) // 3 % 2 == 0
    return [(np.flatnonzero(even), np.flatnonzero(~even)), (np.flatnonzero(~even), np.flatnonzero(even))]


def repeated(X, y, w):
    """Rows repeated as often as their weights, with the same splits."""
    origin = np.repeat(np.arange(len(X)), w)
    return X[origin], y[origin], [tuple(np.flatnonzero(np.isin(origin, part)) for part in pair) for pair in halves(len(X))]


METRICS = ["accuracy", "balanced-accuracy"]


def test_cv_counts_like_repeated_rows():
    X, y, w = problem()
    estimator = kfe.KFDClassifier(kernel="rbf:gamma=0.2", ridge=0.1, learner="ls", scale="standard", n_threads=1)
    weighted = kfe.cv(estimator, X, y, cv=halves(60), sample_weight=w, refit=True, metrics=METRICS)
    X2, y2, splits = repeated(X, y, w)
    plain = kfe.cv(estimator, X2, y2, cv=splits, refit=True, metrics=METRICS)
    for name in METRICS:
        assert weighted["metrics"][name]["mean"] == pytest.approx(plain["metrics"][name]["mean"], abs=1e-9)
    np.testing.assert_allclose(weighted.best_estimator_.decision_function(X), plain.best_estimator_.decision_function(X),
                               rtol=1e-6, atol=1e-8)
    assert weighted["metrics"] != kfe.cv(estimator, X, y, cv=halves(60), metrics=METRICS)["metrics"]


def squared_products(a, b):
    return (1 + np.asarray(a) @ np.asarray(b).T) ** 2


def test_searches_that_python_combines_count_weights():
    """A kernel that is a function is no axis of the library's grids; with one of them, its search is that of the estimator."""
    X, y, w = problem()
    estimator = kfe.KFDClassifier(kernel="rbf", ridge=0.1, learner="ls", n_threads=1)
    found = kfe.cv(estimator, X, y, grid={"kernel": [squared_products]}, cv=halves(60), sample_weight=w, refit=True, inner_folds=2,
                   metrics=METRICS)
    estimator.set_params(kernel=squared_products)
    expected = kfe.cv(estimator, X, y, cv=halves(60), sample_weight=w, metrics=METRICS)
    for name in METRICS:
        assert found["metrics"][name]["mean"] == pytest.approx(expected["metrics"][name]["mean"], abs=1e-9)
        assert found["metrics"][name]["mean"] != kfe.cv(estimator, X, y, cv=halves(60), metrics=METRICS)["metrics"][name]["mean"]
    fitted = estimator.fit(X, y, sample_weight=w)
    np.testing.assert_allclose(found.best_estimator_.decision_function(X), fitted.decision_function(X), rtol=1e-9)


def test_compare_evaluate_and_tune_count_like_repeated_rows():
    from sklearn.linear_model import RidgeClassifier
    from sklearn.neighbors import KNeighborsClassifier
    X, y, w = problem()
    X2, y2, splits = repeated(X, y, w)
    estimators = [kfe.KFDClassifier(kernel="rbf:gamma=0.2", ridge=0.1, learner="ls", n_threads=1), kfe.PLSClassifier(dim=2, learner="ls")]
    plain = kfe.compare(estimators, X2, y2, cv=splits)
    for named in (estimators, {"one": estimators[0], "two": estimators[1]}):
        weighted = kfe.compare(named, X, y, cv=halves(60), sample_weight=w)
        for a, b in zip(weighted["methods"], plain["methods"], strict=True):
            assert a["metrics"]["accuracy"]["mean"] == pytest.approx(b["metrics"]["accuracy"]["mean"], abs=1e-9)
    mixed = kfe.compare([estimators[0], RidgeClassifier()], X, y, cv=halves(60), sample_weight=w, metrics=METRICS)["methods"][1]
    repeats = kfe.compare([estimators[0], RidgeClassifier()], X2, y2, cv=splits, metrics=METRICS)["methods"][1]
    for name in METRICS:
        assert mixed["metrics"][name]["mean"] == pytest.approx(repeats["metrics"][name]["mean"], abs=1e-9)
    with pytest.raises(kfe.UnsupportedError, match="sample_weight: KNeighborsClassifier takes no weights"):
        kfe.compare([estimators[0], KNeighborsClassifier()], X, y, sample_weight=w)
    fitted = estimators[1].fit(X[:20], y[:20])
    assert kfe.evaluate(fitted, X, y, sample_weight=w)["metrics"]["accuracy"] == pytest.approx(fitted.score(X, y, sample_weight=w))
    result = kfe.tune(X, y, sample_weight=w, time=None, trials=8, folds=2)
    assert "nearest neighbours" not in [row["candidate"] for row in result["ranking"]]
    with pytest.raises(ValueError, match="sample_weight.shape"):
        kfe.tune(X, y, sample_weight=w[1:], time=None, trials=8)
    with pytest.raises(ValueError, match="sample_weight.shape"):
        kfe.cv(estimators[0], X, y, sample_weight=w[1:])


def test_a_class_without_weight_is_no_class():
    X, y = kfe.generate("iris")
    weights = (np.asarray(y) != "versicolor").astype(float)
    model = kfe.KFDClassifier(kernel="rbf:gamma=0.2", learner="ls").fit(X, y, sample_weight=weights)
    blocks = kfe.PLSClassifier(dim=2, learner="ls").partial_fit(X, y, sample_weight=weights)
    for estimator in (model, blocks):
        assert set(estimator.predict(X)) == {"setosa", "virginica"}
        assert list(estimator.classes_) == ["setosa", "virginica"]
        assert np.ravel(estimator.decision_function(X)).shape == (150,)


def test_rows_of_weight_zero_decide_neither_categories_nor_the_task():
    """A fraction and a text that only rows of weight 0 have: the answers are those without these rows."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"a": rng.normal(size=30), "color": np.resize(["red", "blue", "lime"], 30)})
    y = np.resize([0, 1], 30)
    extra = pd.DataFrame({"a": [0.5, 0.25], "color": ["mauve", "teal"]})
    w = np.r_[np.ones(30), 0, 0]
    estimator = kfe.KFD(kernel="rbf:gamma=auto", encode="auto", n_threads=1)
    alone = estimator.fit(X, y).transform(X)
    both = estimator.fit(pd.concat([X, extra]), np.r_[y, 2, 3], sample_weight=w).transform(X)
    np.testing.assert_allclose(both, alone, rtol=1e-12, atol=1e-12)
    whole = np.r_[y, 30 + np.arange(25)]  # with those of weight 0, more than 20 different whole numbers
    guessing = kfe.PLS(dim=1, n_threads=1).fit(rng.normal(size=(55, 3)), whole, sample_weight=np.r_[np.ones(30), np.zeros(25)])
    assert guessing._model.task == TASK_CLASSES
