# SPDX-License-Identifier: Apache-2.0
"""float32 arrays are used where they are, and give what the same numbers in float64 give."""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import kfe

EPS = np.finfo(float).eps


def made(rows, cols, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    return (rng.normal(size=(rows, cols)) + y[:, None] * (np.arange(cols) % 3 == 0)).astype(np.float32), y


@pytest.mark.parametrize("estimator", [
    kfe.KPCA(dim=3, kernel="rbf"), kfe.KPCA(dim=3, kernel="poly:degree=2", scale="minmax"), kfe.KFD(kernel="rbf", landmarks=40),
    kfe.PCA(dim=3), kfe.PLSClassifier(dim=3), kfe.SMA(dim=5, kernel="laplacian"),
    kfe.KFDClassifier(kernel="exp", learner="svm")], ids=lambda e: f"{type(e).__name__}-{getattr(e, 'kernel', '')}")
@pytest.mark.parametrize("layout", ["plain", "strided", "fortran"])
def test_the_same_numbers_in_either_precision(estimator, layout):
    x, y = made(300, 7)
    arrays = {"plain": x, "strided": np.repeat(x, 2, axis=1)[:, ::2], "fortran": np.asfortranarray(x)}
    single = estimator.fit(arrays[layout], y)
    answers = [f(arrays[layout]) for f in (getattr(single, name) for name in ("transform", "predict") if hasattr(single, name))]
    double = estimator.fit(x.astype(float), y)
    expected = [f(x.astype(float)) for f in (getattr(double, name) for name in ("transform", "predict") if hasattr(double, name))]
    assert len(answers) == len(expected) > 0
    for got, wanted in zip(answers, expected):
        assert np.array_equal(got, wanted)


def test_many_columns_and_rows():
    """Tables of more columns than are converted at once, and of more rows than are transformed at once."""
    x, y = made(300, 1100)
    features = [kfe.KPCA(dim=3, kernel="rbf").fit(each, y).transform(each) for each in (x, x.astype(float))]
    # sums of 1,100 products in another order: about cols·ε, amplified by the gaps of the eigenvalues
    assert np.abs(features[0] - features[1]).max() <= 1e4 * 1100 * EPS * np.abs(features[1]).max()
    x, y = made(9000, 3)
    model = kfe.KOC(kernel="rbf:gamma=0.5").fit(x[:200], y[:200])
    assert np.array_equal(model.transform(x), model.transform(x.astype(float)))


def _plain(result):
    """Dicts and lists, which have every digit; `repr` of a result shows its tables."""
    return dict(result) if isinstance(result, dict) else [dict(each) for each in result]


def test_gaps_searches_and_kernels_take_single_precision():
    x, y = made(120, 5)
    gaps = x.copy()
    gaps[3, 2] = np.nan
    filled = [kfe.KPCA(dim=2, missing="mean").fit(each).transform(each) for each in (gaps, gaps.astype(float))]
    assert np.array_equal(*filled)
    assert np.array_equal(kfe.kernel_matrix("rbf:gamma=0.2", x), kfe.kernel_matrix("rbf:gamma=0.2", x.astype(float)))
    assert np.array_equal(kfe.kernel_matrix("laplacian", x), kfe.kernel_matrix("laplacian", x.astype(float)))
    for run in (lambda each: kfe.cv(kfe.KFDClassifier(kernel="rbf", learner="knn"), each, y, folds=3),
                lambda each: kfe.compare([kfe.KOCClassifier(learner="knn"), kfe.PLSClassifier()], each, y, folds=3),
                lambda each: kfe.measure(each, y, ["rbf", "laplacian", "linear"])):
        single, double = (re.sub(r"'seconds': [^,}]*", "", repr(_plain(run(each)))) for each in (x, x.astype(float)))
        assert single == double


CHILD = """
import sys
import numpy as np
import kfe

def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])

x = np.zeros((100_000, 256), np.float32)
x[:, :8] = np.random.default_rng(0).normal(size=(100_000, 8))
kfe.KPCA(dim=2, kernel="rbf:gamma=0.1", landmarks=10).fit(x[:2000])
before = peak()
model = kfe.KPCA(dim=2, kernel="rbf:gamma=0.1", landmarks=10, scale=sys.argv[1]).fit(x)
model.transform(x)
print((peak() - before) // 1024)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_no_copy_is_made(scale):
    """100 MB of float32 are fitted and transformed with less than half as much more: no copy, and none in double precision."""
    path = os.pathsep.join([str(pathlib.Path(kfe.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", CHILD, scale], env={**os.environ, "PYTHONPATH": path}, timeout=300,
                          capture_output=True, text=True, check=True)
    assert int(done.stdout) < 50, done.stdout
