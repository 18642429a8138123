# SPDX-License-Identifier: Apache-2.0
"""Several threads at once; forked processes; many fits in a row."""
import concurrent.futures
import gc
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import kfe


def test_two_threads_give_the_sequential_result(iris):
    x, y = np.tile(iris[0], (6, 1)) + np.random.default_rng(0).normal(size=(900, 4)) * 0.1, np.tile(iris[1], 6)
    estimators = [kfe.KFD(n_threads=1), kfe.KPCA(dim=3, n_threads=1), kfe.SKFE(n_threads=1),
                  kfe.KOCClassifier(learner="svm", n_threads=1)]
    expected = [estimator.fit(x, y).transform(x) for estimator in estimators]
    failures = []

    def work(order):
        for k in order:
            try:
                fresh = type(estimators[k])(**estimators[k].get_params())
                np.testing.assert_array_equal(fresh.fit(x, y).transform(x), expected[k])
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=work, args=(order,)) for order in ([0, 1, 2, 3], [3, 2, 1, 0])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_one_model_in_two_threads(iris):
    model = kfe.KOC(n_threads=1).fit(*iris)
    expected, results = model.transform(iris[0]), []
    threads = [threading.Thread(target=lambda: results.extend(model.transform(iris[0]) for _ in range(50)))
               for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 100 and all((result == expected).all() for result in results)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def churn(x, y, times):
    for number in range(times):
        model = kfe.KPCA(dim=20, n_threads=1).fit(x)
        model.transform(x)
        kfe.KOCClassifier(learner="knn", kernel="rbf", n_threads=1).fit(x, y).predict(x)
        if number % 10 == 0:
            try:
                kfe.KOC(kernel="rbf:gamma=-1", n_threads=1).fit(x, y)
            except ValueError:
                pass
            model.loop = model  # the collector frees model and context, in any order


def test_memory_does_not_grow():
    """200 fits and transforms; each holds more than a megabyte, so that keeping even one in ten would show."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 200)), np.arange(300) % 3
    churn(x, y, 20)
    gc.collect()
    before = resident()
    churn(x, y, 200)
    gc.collect()
    assert resident() - before < 10e6


FORK = """
import multiprocessing, sys, numpy as np, kfe
from kfe._context import count_threads
x, y = kfe.generate("waveform", n=400, random_state=1)
expected = kfe.KFD(n_threads=2).fit(x, y).transform(x)
assert count_threads(None) == 0
def work(_):
    assert count_threads(None) == 1 and count_threads(3) == 3
    return kfe.KFD().fit(x, y).transform(x), kfe.KOCClassifier(learner="svm").fit(x, y).score(x, y)
with multiprocessing.get_context("fork").Pool(2) as pool:
    for features, score in pool.map(work, range(4)):
        np.testing.assert_allclose(features, expected, atol=1e-8 * np.abs(expected).max())
assert count_threads(None) == 0
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_forked_processes():
    """The parent has used threads; the runtime in the child would wait forever for them."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", FORK], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == 0 and out == "done\n", err


def test_names_outlive_the_call_that_passes_them(iris):
    """Threads that take memory at once must not get that of the names of columns, nor of strings."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(iris[0], columns=list("abcd"))
    model = kfe.KFDClassifier(kernel="rbf:gamma=0.2", learner="knn", n_threads=1).fit(table, iris[1])
    expected = model.predict(table)
    texts = ["acgt" * (1 + i % 5) for i in range(40)]
    strings = kfe.KPCA(kernel="spectrum", dim=1, n_threads=1).fit(texts)
    features = strings.transform(texts)

    def ask(_):
        np.testing.assert_array_equal(model.predict(table), expected)
        np.testing.assert_array_equal(strings.transform(texts), features)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(200)))
