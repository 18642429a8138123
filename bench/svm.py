#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `-m none -k rbf --learner svm` on five classes against scikit-learn's SVC and, if it is installed, that of
scikit-learn-intelex, on the same numbers, each solver in turn. Prints rows of a table: medians in seconds, and the ratio to
the faster peer. The primal objectives, which all solvers minimise, are compared on the first pair of classes.

usage: svm.py LIBRARY [ROWS [COLUMNS [REPEATS]]]          LIBRARY: libkfe.so
"""
import os
import statistics
import sys
import time

os.environ["KFE_LIBRARY"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import numpy as np
from sklearn.svm import SVC

import kfe

CLASSES, CLOUDS = 5, 3


def make(rows, columns, apart):
    """Every class is three overlapping clouds."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CLASSES * CLOUDS, columns)) * apart
    y = np.arange(rows) % CLASSES
    rng.shuffle(y)
    return centres[y * CLOUDS + rng.integers(0, CLOUDS, rows)] + rng.standard_normal((rows, columns)), y


def solvers(gamma):
    found = {
        "kfe": lambda x, y: kfe.NoExtractionClassifier(kernel=f"rbf:gamma={gamma!r}", learner="svm", scale="none").fit(x, y),
        "scikit-learn": lambda x, y: SVC(gamma=gamma).fit(x, y),
    }
    try:
        from sklearnex.svm import SVC as Intel
        found["scikit-learn-intelex"] = lambda x, y: Intel(gamma=gamma).fit(x, y)
    except ImportError:
        print("<!-- scikit-learn-intelex is not installed -->")
    return found


def main():
    rows, columns, repeats = (int(sys.argv[k]) if len(sys.argv) > k else value for k, value in ((2, 10000), (3, 20), (4, 3)))
    for apart in (0.7, 0.4):
        x, y = make(rows, columns, apart)
        each = solvers(float(1 / (columns * x.var())))
        seconds = {name: [] for name in each}
        models = {}
        for _ in range(repeats):
            for name, fit in each.items():
                begun = time.perf_counter()
                models[name] = fit(x, y)
                seconds[name].append(time.perf_counter() - begun)
        median = {name: statistics.median(times) for name, times in seconds.items()}
        peer = min((name for name in each if name != "kfe"), key=median.get)
        equal = np.mean(models["kfe"].predict(x) == models[peer].predict(x))
        print(f"| svm, rbf, {rows:,} x {columns}, 5 classes, clouds {apart} apart, {len(models['scikit-learn'].support_):,} support examples | "
              f"{median['kfe']:.2f} | " + ", ".join(f"{n} {s:.2f}" for n, s in median.items() if n != "kfe") +
              f" | {median[peer] / median['kfe']:.2f} | {100 * equal:.2f} % |")


main()
