#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tunes block-splsda on three views over 15 numbers of columns per view: two components, one view after the other.

usage: bench/blocks.py [--runs 3]

Prints a Markdown table. The data is generated: in the shape of breast.TCGA of mixOmics (150 samples; 200, 184 and 142 columns), and a
larger one. In each view, 15 columns rise in one of three classes, and 10 hidden signals of all views are in the others, too. "Errors on new rows"
are those of the tuned model and of one with 15 columns for each direction, on 1,000 rows.
"""
import argparse
import statistics
import time

import numpy as np

import kfe

SHAPES = {"150 × (200, 184, 142)": (150, (200, 184, 142)), "300 × (2,000, 800, 400)": (300, (2000, 800, 400))}
VALUES = [*range(5, 10), *range(10, 20, 2), *range(20, 45, 5)]


def draw(rows, columns, seed):
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(99)
    y = np.arange(rows) % 3
    hidden = rng.normal(size=(rows, 10))
    views = {}
    for name, d in zip(("mrna", "mirna", "protein"), columns):
        x = rng.normal(size=(rows, d)) + 0.3 * hidden @ fixed.normal(size=(10, d))
        x[:, :15] += 0.9 * np.repeat(np.eye(3), 5, axis=1)[y]
        views[name] = x
    return views, y


def error(model, views, y):
    return np.mean(model.predict(views) != y)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=3)
    runs = arguments.parse_args().runs
    assert len(VALUES) == 15
    print("| rows × columns | seconds | of processor time | settings tried | of all combinations | error on new rows, % | with 15 columns each, % |")
    print("|---|---|---|---|---|---|---|")
    for label, (rows, columns) in SHAPES.items():
        views, y = draw(rows, columns, 1)
        new, truth = draw(1000, columns, 2)
        tuned = kfe.BlockSparsePLSDAClassifier(dim=2, keep="auto", keep_values=VALUES, calibration="none")
        seconds, worked = [], []
        for _ in range(runs):
            began, before = time.perf_counter(), time.process_time()
            tuned.fit(views, y)
            seconds.append(time.perf_counter() - began)
            worked.append(time.process_time() - before)
        plain = kfe.BlockSparsePLSDAClassifier(dim=2, keep=15, calibration="none").fit(views, y)
        tried = 2 * 3 * (len(VALUES) + 1)  # all columns are tried as well
        print(f"| {label} | {statistics.median(seconds):.1f} | {statistics.median(worked):.1f} | {tried} | {2 * len(VALUES) ** 3:,} | {100 * error(tuned, new, truth):.1f} "
              f"| {100 * error(plain, new, truth):.1f} |")


if __name__ == "__main__":
    main()
