#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times pls against ikpls (from PyPI, if it is installed; its faster NumPy algorithm) and scikit-learn on the same random
numbers, in one run: four shapes, 30 features; then the first shape with 5 % of its values missing, against the same numbers without gaps. Prints
rows of a table: medians in seconds, and the ratio to the faster peer, or to the fit without gaps.

usage: pls.py LIBRARY          LIBRARY: libkfe.so
"""
import os
import statistics
import sys
import time

os.environ["KFE_LIBRARY"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import numpy as np

import kfe

SHAPES = [(100000, 500, 10), (100000, 500, 1), (10000, 1000, 1), (500, 5000, 1)]


def median_seconds(call, repeats=3):
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def peers(x, y):
    """Seconds by the name of each peer that is there."""
    try:
        from ikpls.numpy import PLS
    except ImportError:
        print("<!-- ikpls is not installed: no peer -->")
        return {}
    algorithms = {f"ikpls, algorithm {a}": a for a in (1, 2)}
    return {name: median_seconds(lambda a=a: PLS(algorithm=a).fit(x, y, A=30)) for name, a in algorithms.items()}


def missing(rng, rows=100000, columns=500, targets=10):
    """missing="nipals" against the fit of complete data, in turn."""
    x = rng.normal(size=(rows, 60)) @ rng.normal(size=(60, columns)) + rng.normal(size=(rows, columns))
    y = x[:, :targets] + rng.normal(size=(rows, targets))
    holes = np.where(rng.random(x.shape) < 0.05, np.nan, x)
    plain = kfe.PLS(dim=30, scale="none", task="regress")
    nipals = kfe.PLS(dim=30, scale="none", task="regress", missing="nipals")
    pairs = [(median_seconds(lambda: plain.fit(x, y), 1), median_seconds(lambda: nipals.fit(holes, y), 1)) for _ in range(5)]
    complete, ours = (statistics.median(pair[k] for pair in pairs) for k in (0, 1))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"| pls, 30 features, {rows:,} x {columns:,}, {targets} targets, 5 % missing | {ours:.3f} | complete {complete:.3f} | {ratio:.2f} | <= 3 |")


def main():
    rng = np.random.default_rng(0)
    for rows, columns, targets in SHAPES:
        x = rng.normal(size=(rows, 60)) @ rng.normal(size=(60, columns)) + rng.normal(size=(rows, columns))
        y = x[:, :targets] + x[:, 1:targets + 1] ** 2 + rng.normal(size=(rows, targets))
        ours = median_seconds(lambda: kfe.PLS(dim=30, scale="none", task="regress").fit(x, y if targets > 1 else y[:, 0]))
        found = peers(x, y)
        best = min(found, key=found.get, default=None)
        peer = f"{best} {found[best]:.3f} | {found[best] / ours:.2f}" if best else "|"
        print(f"| pls, 30 features, {rows:,} x {columns:,}, {targets} targets | {ours:.3f} | {peer} | >= 2 |")
    missing(rng)


main()
