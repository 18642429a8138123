#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the cross-validation of pls, all numbers of features from 1 to 30 and one target, against the fast cross-validation of
ikpls (from PyPI) on the same folds: 10 folds of 10,000 x 500 numbers, and leave-one-out of 2,000 x 500. Both predict the rows
left out and report the root mean squared error of each fold. Each takes its turn in a process of its own. Prints rows of a table:
medians of elapsed (and processor) seconds, and the median of the ratios of neighbouring runs.

usage: pls_cv.py LIBRARY [REPEATS]          LIBRARY: libkfe.so
"""
import importlib.util
import os
import statistics
import subprocess
import sys
import time

os.environ["KFE_LIBRARY"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import numpy as np

COLUMNS, DIMS = 500, 30
CASES = {"10 folds, 10,000 x 500": (10000, 10), "leave-one-out, 2,000 x 500": (2000, 2000)}


def make(rows, folds):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 60)) @ rng.normal(size=(60, COLUMNS)) + rng.normal(size=(rows, COLUMNS))
    return x, x[:, 0] + x[:, 1] ** 2 + rng.normal(size=rows), np.arange(rows) % folds


def rmse_of(truth, predicted):
    return np.sqrt(((predicted - truth) ** 2).mean(axis=(1, 2)))  # of each number of features


def run_ikpls(x, y, fold):
    from ikpls.fast_cross_validation.numpy import PLS
    model = PLS(scale_X=False, scale_Y=False, algorithm=2)
    found = model.cross_validate(x, y[:, None], DIMS, fold, rmse_of, n_jobs=1, verbose=0)
    return np.mean([found[f] for f in np.unique(fold)], axis=0).min()


def run_kfe(x, y, fold):
    import kfe
    from sklearn.model_selection import PredefinedSplit
    result = kfe.cv(kfe.PLSRegressor(dim=DIMS, scale="none", learner="ls"), x, y, cv=PredefinedSplit(fold),
                    grid={"dim": list(range(1, DIMS + 1))}, inner_folds=0, metrics="rmse")
    return result["metrics"]["rmse"]["mean"]


def run_one(name, case):
    x, y, fold = make(*CASES[case])
    run = {"kfe": run_kfe, "ikpls": run_ikpls}[name]
    run(x[:400, :50], y[:400], np.arange(400) % 10)
    begun, used = time.perf_counter(), os.times()
    best = run(x, y, fold)
    now = os.times()
    print(time.perf_counter() - begun, sum(now[:4]) - sum(used[:4]), best)


def compare(case, repeats):
    found = {"kfe": [], "ikpls": []}
    for _ in range(repeats):
        for name, times in found.items():
            out = subprocess.run([sys.executable, __file__, sys.argv[1], "--one", name, case], check=True, capture_output=True, text=True)
            times.append([float(word) for word in out.stdout.split()[-3:]])
    elapsed, busy, best = ([statistics.median(t[k] for t in times) for times in found.values()] for k in range(3))
    ratio, busy_ratio = (statistics.median(theirs[k] / ours[k] for ours, theirs in zip(*found.values())) for k in range(2))
    print(f"| cv of pls, dims 1 to {DIMS}, {case} | {elapsed[0]:.2f} ({busy[0]:.2f}) | {elapsed[1]:.2f} ({busy[1]:.2f}) | "
          f"{ratio:.2f} ({busy_ratio:.2f}) | {best[0]:.8g}, {best[1]:.8g} | >= 2 |", flush=True)


def main():
    if not importlib.util.find_spec("ikpls"):
        print("<!-- ikpls is not installed: no peer -->")
        return
    for case in CASES:
        compare(case, int(sys.argv[2]) if len(sys.argv) > 2 else 3)


if sys.argv[2:3] == ["--one"]:
    run_one(*sys.argv[3:])
else:
    main()
