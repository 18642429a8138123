#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times nearest neighbours against scikit-learn's and, if it is installed, scikit-learn-intelex (from PyPI) on the same random numbers, in
one run: 20,000 × 50 training rows, 10,000 test rows, 5 neighbours. Prints a row of a table: medians in seconds, and the ratio to the
faster peer.

usage: neighbours.py LIBRARY          LIBRARY: libkfe.so
"""
import os
import statistics
import sys
import time

os.environ["KFE_LIBRARY"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import kfe


def median_seconds(call, repeats=7):
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def peers():
    """Classes by the name of each peer that is there."""
    found = {"scikit-learn": KNeighborsClassifier}
    try:
        from sklearnex.neighbors import KNeighborsClassifier as Accelerated
        found["scikit-learn-intelex"] = Accelerated
    except ImportError:
        print("<!-- scikit-learn-intelex is not installed: scikit-learn is the only peer -->")
    return found


def main():
    rng = np.random.default_rng(0)
    x, y, test = rng.normal(size=(20000, 50)), rng.integers(0, 5, 20000), rng.normal(size=(10000, 50))
    ours = kfe.NoExtractionClassifier(learner="knn", learner_params={"neighbors": 5}, scale="none").fit(x, y)
    seconds = {}
    mine = median_seconds(lambda: ours.predict(test))
    for name, peer in peers().items():
        theirs = peer(5, algorithm="brute").fit(x, y)
        assert (ours.predict(test) == theirs.predict(test)).mean() > 0.999
        seconds[name] = median_seconds(lambda: theirs.predict(test))
    best = min(seconds, key=seconds.get)
    others = ", ".join(f"{name} {value:.3f}" for name, value in seconds.items())
    print(f"| knn, 20,000 x 50 training rows, 10,000 test rows | {mine:.3f} | {others} | {seconds[best] / mine:.2f} | >= 1.5 |")


main()
