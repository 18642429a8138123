#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Times a report of 10,000 test examples of 784 columns in 10 classes against `kfe evaluate`, and how soon Chromium shows its first
figure.

usage: bench/report.py [KFE]     KFE: the program, by default build/cli/kfe"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.ndimage import gaussian_filter

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "report"))
import chromium  # noqa: E402

KFE = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "cli" / "kfe")
ROWS, RUNS = 10000, 3


def make_data(folder):
    """Pictures of 28 x 28 pixels: ten smooth patterns with noise."""
    rng = np.random.default_rng(1)
    patterns = np.array([gaussian_filter(rng.normal(size=(28, 28)), 3).ravel() for _ in range(10)])
    patterns /= patterns.std(axis=1, keepdims=True)
    for name in ("train", "test"):
        y = rng.integers(0, 10, ROWS)
        X = np.clip(128 + 30 * patterns[y] + 25 * rng.normal(size=(ROWS, 784)), 0, 255).round()
        np.savez(folder / f"{name}.npz", X=X, y=y)


def run(folder, *arguments):
    start = time.perf_counter()
    subprocess.run([KFE, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_data(folder)
        run(folder, "fit", "-m", "koc", "-k", "rbf", "--learner", "centroid", "train.npz", "-o", "m.kfe")
        evaluate, report = [], []
        for _ in range(RUNS):  # one beside the other, so that both see the same load
            evaluate.append(run(folder, "evaluate", "m.kfe", "test.npz"))
            report.append(run(folder, "report", "m.kfe", "--test", "test.npz", "-o", "r.html"))
        print(f"evaluate {min(evaluate):.2f} s, report {min(report):.2f} s, ratio {min(report) / min(evaluate):.2f}")
        print(f"page {(folder / 'r.html').stat().st_size / 1e6:.2f} MB")
        with chromium.Chromium() as page:
            page.open(folder / "r.html")
            page.wait("window.kfeReport.drawn.length > 0")
            paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            visible = page.evaluate("document.querySelector('#figure-scatter .plot').getBoundingClientRect().top < innerHeight")
            chart = page.evaluate("performance.getEntriesByName('kfe-scatter')[0].startTime")
            print(f"first paint, with the static picture {'in' if visible else 'out of'} view: {paint:.0f} ms; "
                  f"interactive chart: {chart:.0f} ms")


if __name__ == "__main__":
    main()
