#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the overhead of Python: the time that fit and transform spend outside the library, and the time of the import.

usage: bench/python.py [--rows 10000] [--columns 100] [--runs 5]

The time inside the library is measured in the same call, around the one function that does the work, so that load
on the machine affects both alike. Prints a Markdown table; the goal is 2 % or 2 ms, and 150 ms for the import.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "python"
sys.path.insert(0, str(SOURCE))

import numpy as np

import kfe


class Timed:
    """A function of the library that adds up the time spent in it."""

    def __init__(self, function):
        self.function, self.seconds = function, 0.0

    def __call__(self, *arguments):
        start = time.perf_counter()
        try:
            return self.function(*arguments)
        finally:
            self.seconds += time.perf_counter() - start


def added(name, call):
    """Seconds that one call spends inside and outside of the library's function `name`."""
    library = kfe._library
    timed, original = Timed(getattr(library, name)), getattr(library, name)
    setattr(library, name, timed)
    start = time.perf_counter()
    try:
        call()
    finally:
        total = time.perf_counter() - start
        setattr(library, name, original)
    return timed.seconds, total - timed.seconds


def measure(runs, name, call):
    call()
    pairs = [added(name, call) for _ in range(runs)]
    return [statistics.median(column) for column in zip(*pairs)]


def import_seconds(statement):
    code = f"import time; import numpy; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return float(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("rows", 10000), ("columns", 100), ("runs", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(options.rows, options.columns))
    y = rng.integers(0, 5, options.rows)
    print(f"n = {options.rows}, d = {options.columns}, median of {options.runs}\n")
    print("| call | in the library | added by Python |\n|---|---|---|")
    for estimator in (kfe.OC(), kfe.PCA(dim=10), kfe.AKDAQR(), kfe.KOC()):
        model = estimator.fit(x, y)
        for name, function, call in (("fit", "kfe_fit", lambda: estimator.fit(x, y)),
                                     ("transform", "kfe_transform", lambda: model.transform(x))):
            inside, outside = measure(options.runs, function, call)
            verdict = "" if outside < max(0.002, 0.02 * inside) else " (too much)"
            print(f"| {type(estimator).__name__}.{name} | {1e3 * inside:.2f} ms | {1e3 * outside:.2f} ms{verdict} |")
    seconds = statistics.median(import_seconds("import kfe") for _ in range(options.runs))
    print(f"| import kfe, after numpy | | {1e3 * seconds:.0f} ms |")
    seconds = statistics.median(import_seconds("import kfe; kfe.KOC") for _ in range(options.runs))
    print(f"| import kfe; kfe.KOC (imports scikit-learn) | | {1e3 * seconds:.0f} ms |")


if __name__ == "__main__":
    main()
