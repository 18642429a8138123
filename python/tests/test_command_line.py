# SPDX-License-Identifier: Apache-2.0
"""Python and the command line compute the same bits, and each reads the other's models."""
import os
import subprocess

import numpy as np
import pytest

import kfe
from kfe import _tables

pytestmark = [pytest.mark.skipif("KFE" not in os.environ, reason="needs the command line"),
              pytest.mark.filterwarnings("ignore::kfe.KfeWarning")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files with three classes and with two of them, with numbers as labels, that preserve every bit."""
    path = tmp_path_factory.mktemp("cli")
    x, y = kfe.generate("iris")
    codes = np.unique(y, return_inverse=True)[1]
    np.save(path / "three.npy", np.column_stack([x, codes]))
    np.save(path / "two.npy", np.column_stack([x, codes])[:100])
    np.save(path / "real.npy", np.column_stack([x[:, 1:], x[:, 0]]))
    return path


def run(folder, *arguments):
    done = subprocess.run([os.environ["KFE"], *map(str, arguments)], cwd=folder, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def table(folder, entry):
    name = "two.npy" if entry.has(_tables.TWO_CLASSES) else "three.npy"
    values = np.load(folder / name)
    return name, np.ascontiguousarray(values[:, :-1]), values[:, -1].astype(int)


@pytest.mark.parametrize("method", _tables.METHODS)
def test_features_and_models(folder, method):
    entry = _tables.METHODS[method]
    name, x, y = table(folder, entry)
    kind = "Classifier" if entry.has(_tables.PREDICTOR) else ""  # these predict without a learner
    ours = getattr(kfe, _tables.class_name(method) + kind)(n_threads=1, random_state=5).fit(x, y)
    run(folder, "fit", "-q", "-m", method, "--task", "classify", "--threads", 1, "--seed", 5, name, "-o", "cli.kfe")
    run(folder, "transform", "-q", "cli.kfe", name, "--threads", 1, "-o", "cli.npy")
    features = ours.transform(x)
    np.testing.assert_array_equal(features, np.load(folder / "cli.npy"))

    ours.save(folder / "python.kfe")
    run(folder, "transform", "-q", "python.kfe", name, "--label", "last", "--threads", 1, "-o", "python.npy")
    np.testing.assert_array_equal(features, np.load(folder / "python.npy"))

    theirs = kfe.load(folder / "cli.kfe").set_params(n_threads=1)
    assert type(theirs) is type(ours)
    np.testing.assert_array_equal(features, theirs.transform(x))
    for parameter in entry.params:
        key = _tables.python_name(parameter.name)
        assert getattr(theirs, key) == getattr(ours, key), key
    assert theirs.records_.keys() == ours.records_.keys()


def test_predictions(folder):
    x, y = kfe.generate("iris")
    codes = np.unique(y, return_inverse=True)[1]
    ours = kfe.KOCClassifier(learner="svm:C=3", n_threads=1).fit(x, codes)
    run(folder, "fit", "-q", "-m", "koc", "--learner", "svm:C=3", "--task", "classify", "--threads", 1, "three.npy",
        "-o", "p.kfe")
    run(folder, "predict", "-q", "p.kfe", "three.npy", "--threads", 1, "-o", "p.csv")
    written = np.loadtxt(folder / "p.csv", dtype=str, delimiter=",", skiprows=0)
    np.testing.assert_array_equal([int(text) for text in written if text.lstrip("-").isdigit()], ours.predict(x))
    np.testing.assert_array_equal(kfe.load(folder / "p.kfe").predict(x), ours.predict(x))
    assert kfe.load(folder / "p.kfe").learner_params["C"] == 3


def test_regression(folder):
    values = np.load(folder / "real.npy")
    x, y = np.ascontiguousarray(values[:, :-1]), values[:, -1]
    ours = kfe.KPLSRegressor(dim=2, scale="standard", learner="ls", n_threads=1).fit(x, y)
    run(folder, "fit", "-q", "-m", "kpls", "--dim", 2, "--scale", "standard", "--learner", "ls", "--task", "regress",
        "--threads", 1, "real.npy", "-o", "r.kfe")
    run(folder, "predict", "-q", "r.kfe", "real.npy", "--threads", 1, "-o", "r.npy")
    np.testing.assert_array_equal(ours.predict(x), np.load(folder / "r.npy").ravel())
    loaded = kfe.load(folder / "r.kfe")
    assert loaded.scale == "standard" and loaded.score(x, y) == ours.score(x, y)


def test_reading(folder):
    x, y = kfe.read(folder / "three.npy", task="classify")
    assert x.shape == (150, 4) and y.dtype.kind == "i"
    x, y = kfe.read(folder / "three.npy", label="none")
    assert x.shape == (150, 5) and y is None
    x, y = kfe.read(folder / "real.npy", task="regress")
    np.testing.assert_array_equal(y, np.load(folder / "real.npy")[:, -1])
    with pytest.raises(OSError, match="nowhere"):
        kfe.read(folder / "nowhere.csv")
