# SPDX-License-Identifier: Apache-2.0
"""Errors, warnings, interruptions, and users' functions that fail."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import types
import warnings

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kfe
from kfe import _errors
from kfe._context import parse_memory, parse_seed


def test_errors_are_kfes_and_pythons(iris):
    with pytest.raises(kfe.KfeError) as caught:
        kfe.KOC(solver="mgss").fit(*iris)
    assert isinstance(caught.value, ValueError) and "mgs" in str(caught.value)
    with pytest.raises(kfe.InvalidArgumentError, match="did you mean 'rbf'"):
        kfe.KOC(kernel="rbff").fit(*iris)
    with pytest.raises(kfe.MemoryLimitError) as caught:
        kfe.KFD(memory="1K").fit(np.tile(iris[0], (30, 1)), np.tile(iris[1], 30))
    assert isinstance(caught.value, MemoryError)
    with pytest.raises(ValueError, match="without a learner"):
        kfe.SVMJointClassifier(learner_params={"C": 1}).fit(*iris)
    for status, kind in enumerate(_errors.BY_STATUS):
        assert kind is None or isinstance(_errors.make_error(status, "text"), kfe.KfeError)
    assert str(_errors.make_error(4, "a file")) == "a file"


def test_warnings(iris):
    with pytest.warns(kfe.KfeWarning, match="kfd") as caught:
        kfe.KFD(dim=50).fit(*iris)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kfe.KFD(dim=2).fit(*iris)
        with pytest.raises(kfe.KfeWarning):
            kfe.KFD(dim=50).fit(*iris)


def test_sizes_and_seeds():
    assert parse_memory("500M") == 500 * 2**20 and parse_memory("1.5GB") == 1_500_000_000
    assert parse_memory("8GiB") == 2**33 and parse_memory(None) == 0 and parse_memory(123) == 123
    with pytest.raises(ValueError, match="memory"):
        parse_memory("much")
    assert parse_seed(7) == 7 and parse_seed(np.int64(7)) == 7 and parse_seed(None) is None
    assert parse_seed(np.random.RandomState(0)) == parse_seed(np.random.RandomState(0))
    with pytest.raises(ValueError, match="random_state"):
        parse_seed(-1)


def test_seeds_decide(iris):
    draw = lambda seed: kfe.ReducedKOPLS(support=10, random_state=seed).fit(*iris).support_
    np.testing.assert_array_equal(draw(1), draw(1))
    assert list(draw(1)) != list(draw(2))


# ---- users' functions ----


def test_callable_kernel(iris):
    x, y = iris[0][::3], iris[1][::3]
    gaussian = lambda a, b: np.exp(-0.3 * ((a - b) ** 2).sum())
    ours = kfe.KFD(kernel=gaussian).fit(x, y).transform(iris[0])
    np.testing.assert_allclose(ours, kfe.KFD(kernel="rbf:gamma=0.3").fit(x, y).transform(iris[0]), atol=1e-9)
    both = kfe.KPCA(dim=2, kernel=[gaussian, "linear"]).fit_transform(x)
    plain = kfe.KPCA(dim=2, kernel=["rbf:gamma=0.3", "linear"]).fit_transform(x)
    np.testing.assert_allclose(np.abs(both), np.abs(plain), atol=1e-9)


def test_what_a_kernel_raises_is_raised(iris):
    def failing(a, b):
        raise ZeroDivisionError("in the kernel")

    with pytest.raises(ZeroDivisionError, match="in the kernel"):
        kfe.KOC(kernel=failing).fit(*iris)
    works = []
    sometimes = lambda a, b: float(a @ b) if not works else failing(a, b)
    model = kfe.KOC(kernel=sometimes).fit(*iris)
    works.append(False)
    with pytest.raises(ZeroDivisionError):
        model.transform(iris[0])
    works.clear()
    assert model.transform(iris[0]).shape == (150, 3)


def test_direction_rule(iris):
    """The rule of kpls, written in Python: the first eigenvector of YYᵀK, with βᵀKβ = 1."""
    x, y = iris[0], iris[0][:, 0]

    def rule(state):
        direction = state.residual @ (state.residual.T @ state.times(state.residual[:, 0]))
        return direction / np.sqrt(direction @ state.times(direction))

    ours = kfe.DirectionRule(rule, dim=3, kernel="rbf:gamma=0.2").fit(x, y)
    theirs = kfe.KPLS(dim=3, kernel="rbf:gamma=0.2").fit(x, y)
    got, expected = ours.transform(x), theirs.transform(x)
    signs = np.sign((got * expected).sum(axis=0))
    np.testing.assert_allclose(got * signs, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
def test_direction_rule_ends_and_fails(iris, tmp_path):
    stop = lambda state: None if state.iteration == 2 else np.eye(state.n_samples)[state.iteration]
    model = kfe.DirectionRule(stop, dim=5).fit(*iris)
    assert model.transform(iris[0]).shape == (150, 2)
    model.save(tmp_path / "m.kfe")
    np.testing.assert_array_equal(kfe.load(tmp_path / "m.kfe").transform(iris[0]), model.transform(iris[0]))
    with pytest.raises(KeyError):
        kfe.DirectionRule(lambda state: {}["no"]).fit(*iris)


# ---- interruptions ----

BUSY = """
import sys, time, threading, numpy as np, kfe
rng = np.random.default_rng(0)
x, y = rng.normal(size=({rows}, 50)), np.arange({rows}) % 2
estimator = kfe.{estimator}
print("ready", flush=True)
start = time.time()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    kfe.KOC().fit(x[:50], y[:50])     # and nothing is left behind that disturbs
    print("works", flush=True)
else:
    print("finished after", time.time() - start, flush=True)
"""


def processor_seconds(process):
    """What a process has computed so far: other programs on the machine do not count."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("estimator, rows, call", [
    ("KOC(n_threads=1)", 60000, "estimator.fit(x, y)"),
    ("KOCClassifier(learner='svm', n_threads=2)", 2500, "kfe.cv(estimator, x, y, grid={'gamma': '0.001:10:log20'}, repeats=20)"),
    ("KPCA(kernel=lambda a, b: float(a @ b))", 2000, "estimator.fit(x, y)"),
])
def test_interruption(estimator, rows, call):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = BUSY.format(estimator=estimator, rows=rows, call=call)
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(1.0)
        before = processor_seconds(process)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert processor_seconds(process) - before < 2  # an uninterrupted fit prints another line
        out, err = process.stdout.read(), process.stderr.read()  # not communicate(), which loses read-ahead
        assert out == "works\n" and err == "", err
    finally:
        process.kill()
        process.communicate()


def test_interruption_between_calls_is_pythons_own(iris):
    kfe.KOC().fit(*iris)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# ---- warnings and progress ----


def test_progress_through_tqdm(iris, monkeypatch, capsys):
    stages = []

    class Bar:
        def __init__(self, desc, total, leave):
            stages.append(desc)
            self.n = 0

        def update(self, _):
            assert self.n >= 0

        def close(self):
            pass

    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    kfe.cv(kfe.KOCClassifier(learner="knn", verbose=1), *iris, folds=3)
    assert stages
    stages.clear()
    kfe.cv(kfe.KOCClassifier(learner="knn"), *iris, folds=3)
    assert not stages


def test_verbose_without_tqdm(iris, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    kfe.KPCA(verbose=1).fit(np.random.default_rng(0).normal(size=(1500, 3)))
    assert "[kfe]" in capsys.readouterr().out


# ---- messages for newcomers ----


def test_kernels_that_are_not_finite(iris):
    bad = lambda value: lambda a, b: value if a[0] > 7.8 else float(a @ b)
    for value, word in ((float("nan"), "nan"), (float("inf"), "inf")):
        with pytest.raises(ValueError, match=rf"_lambda_ returned {word} for rows \[7\.9 3\.8 6\.4 2\. \] and \["):
            kfe.KOC(kernel=bad(value), n_threads=1).fit(*iris)
    good = kfe.KOC(kernel=lambda a, b: float(a @ b), n_threads=1).fit(*iris)
    with pytest.raises(ValueError, match="finite|NaN"):
        good.transform(np.full((1, 4), np.nan))


def test_wrong_kinds_of_things(iris):
    pipeline = make_pipeline(kfe.KPCA(kernel="rbf"), LogisticRegression())
    for call in (lambda: kfe.cv(pipeline, *iris), lambda: kfe.evaluate(pipeline, *iris)):
        with pytest.raises(TypeError, match="estimator of this package"):
            call()
    with pytest.raises(TypeError, match="not KOC, a class"):
        kfe.cv(kfe.KOC, *iris)
    for given in (kfe.KOCClassifier(learner="knn"), 3):
        with pytest.raises(TypeError, match="list of estimators"):
            kfe.compare(given, *iris)
    with pytest.raises(TypeError, match="not LogisticRegression.*Pipeline") as caught:
        kfe.KOCClassifier(learner=LogisticRegression()).fit(*iris)
    assert "svm" in str(caught.value) and "knn" in str(caught.value)
    for kernels in (lambda a, b: 1.0, ["rbf", lambda a, b: 1.0]):
        with pytest.raises(TypeError, match="precomputed"):
            kfe.measure(*iris, kernels)
    with pytest.raises(ValueError, match="at least one view"):
        kfe.MKL().fit({}, iris[1])


def test_values_of_numpy_are_written_plainly(iris):
    for label, word in ((np.int64(0), "0"), (np.str_("a"), "'a'"), (np.bool_(True), "True")):
        with pytest.raises(ValueError, match=f"1 class: {word}$"):
            kfe.KOC().fit(iris[0], np.full(150, label))


@pytest.mark.parametrize("use", ["predict", "score", "decision_function"])
def test_what_is_missing_to_predict(use, iris):
    with pytest.raises(AttributeError) as caught:
        getattr(kfe.KOC().fit(*iris), use)
    told = f"{caught.value} {caught.value.__cause__}"  # scikit-learn may chain its own message
    assert "features only" in told and "kfe.KOCClassifier" in told


def messages(iris, tmp_path):
    """The library's messages about many kinds of mistakes."""
    X, y = iris
    kfe.KOC().fit(X, y).save(tmp_path / "features.kfe")
    (tmp_path / "gap.csv").write_text("1,2,a\n3,,b\n")
    views = {"a": X[:, :2], "b": X[:, 2:]}
    multi = kfe.MKL(kernel="rbf").fit(views, y)
    mistakes = [
        lambda: kfe.KOC(kernel="none such").fit(X, y),
        lambda: kfe.KOCClassifier(learner="none such").fit(X, y),
        lambda: kfe.KFD(memory="1K").fit(np.tile(X, (30, 1)), np.tile(y, 30)),
        lambda: kfe.cv(kfe.KOC(), X, y),
        lambda: kfe.cv(kfe.KOCClassifier(learner="knn"), X, y, grid={"gamma": [1]}, inner_folds=1),
        lambda: kfe.cv(kfe.KOCClassifier(learner="knn"), X, y, grid={"nothing": [1]}),
        lambda: kfe.cv(kfe.KOCClassifier(learner="knn"), X, y, folds=1000),
        lambda: kfe.compare([kfe.KOCClassifier(learner="knn"), kfe.KPCAClassifier(learner="knn")], X, y, grid={"nothing": [1]}),
        lambda: kfe.PLS(kernel="rbf").fit(X, y) if "kernel" in kfe.PLS().get_params() else kfe.read("no such.csv"),
        lambda: kfe.AKDAQR(kernel="precomputed").fit(X @ X.T, y),
        lambda: kfe.KPCA(kernel="precomputed", scale="standard").fit(X @ X.T),
        lambda: kfe.read(tmp_path / "gap.csv"),
        lambda: kfe.read(tmp_path / "gap.csv", model=tmp_path / "features.kfe"),
        lambda: kfe.load(tmp_path / "gap.csv"),
        lambda: kfe.KOC(kernel="rbf:gamma=-1").fit(X, y),
        lambda: kfe.MKL(kernel=["rbf", "linear", "poly"]).fit(views, y),
        lambda: kfe.MKL(kernel={"c": "rbf"}).fit(views, y),
        lambda: multi.transform({"a": views["a"], "c": views["b"]}),
    ]
    for mistake in mistakes:
        with pytest.raises(Exception) as caught:
            mistake()
        yield str(caught.value)


def test_messages_are_in_pythons_words(iris, tmp_path):
    """No message contains a flag, a command or the markup of parameters."""
    for message in messages(iris, tmp_path):
        assert not re.search(r"(?<![\w-])--?[a-z][a-z-]*\b|`kfe |\{[a-z-]+(=[^}]*)?\}(?!:)", message), message


def test_advice_that_the_library_gives(iris, tmp_path):
    with pytest.raises(ValueError, match=r"kfe\.kernels\(\) lists them"):
        kfe.KOC(kernel="none such").fit(*iris)
    with pytest.raises(MemoryError, match="raise memory"):
        kfe.KFD(memory="1K").fit(np.tile(iris[0], (30, 1)), np.tile(iris[1], 30))
    with pytest.raises(TypeError, match="use kfe.KOCClassifier"):
        kfe.cv(kfe.KOC(), *iris)
    kfe.KOC(kernel=scalar_product).fit(*iris).save(tmp_path / "m.kfe")
    with pytest.raises(ValueError, match=r"kfe\.load\(path, kernels="):
        kfe.load(tmp_path / "m.kfe").transform(iris[0])
    with pytest.warns(kfe.KfeWarning, match="max_iter"):
        kfe.LMKL(max_iter=1).fit([iris[0][:, :2], iris[0][:, 2:]], iris[1])


def scalar_product(a, b):
    return float(a @ b)


def test_a_kernel_function_may_keep_its_rows(iris):
    X, y = iris
    kept = []

    def kernel(a, b):
        kept.append((a, b))
        return float(a @ b)

    kfe.KPCA(2, kernel=kernel).fit(X[:20], y[:20])
    rows = {tuple(row) for row in X[:20]}
    assert len(kept) > 100 and all(tuple(a) in rows and tuple(b) in rows for a, b in kept)


def test_a_rule_may_keep_what_it_saw(iris):
    X, y = iris
    kept = []

    def rule(seen):
        kept.append(seen)
        return seen.residual[:, 0]

    kfe.DirectionRule(rule, dim=2, kernel="rbf:gamma=0.2").fit(X, X[:, 0])
    assert len(kept) >= 2 and np.abs(kept[0].residual.sum()) < 1e-9 and kept[1].features.shape == (1, len(X))
    with pytest.raises(RuntimeError, match="only while"):
        kept[0].times(np.ones(len(X)))
