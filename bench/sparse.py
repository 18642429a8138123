#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares features of sma and smc with scikit-learn's Nystroem at the same number k of kernel evaluations per point.

usage: bench/sparse.py KFE DATA_FOLDER [--sets shuttle,sleep] [--dims 64,256]

Each set is divided into training (60 %), validation (20 %) and test rows (20 %) and standardised. For every method, gamma
(1/d times a factor) and C (a power of ten) are chosen on the validation rows. The classifier is always scikit-learn's
LinearSVC. Prints a Markdown table of test errors.
"""
import argparse
import gzip
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

FACTORS = (0.3, 1, 3)
COSTS = (1, 10, 100)


def read(folder, name):
    with gzip.open(folder / name / f"{name}.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    order = np.random.default_rng(0).permutation(len(table))
    x, y = table[order, :-1], table[order, -1].astype(int)
    first, second = int(0.6 * len(x)), int(0.8 * len(x))
    scaler = StandardScaler().fit(x[:first])
    x = scaler.transform(x)
    return [(x[:first], y[:first]), (x[first:second], y[first:second]), (x[second:], y[second:])]


def by_kfe(kfe, method, gamma, dim, parts):
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{i}.npy" for i in range(3)]
        for path, (x, y) in zip(files, parts):
            np.save(path, np.column_stack([x, y]))
        subprocess.run([kfe, "fit", "-q", "-m", method, "-k", f"rbf:gamma={gamma}", "--dim", str(dim), "--task", "classify",
                        files[0], "-o", f"{folder}/model.kfe"], check=True)
        features = []
        for i, path in enumerate(files):
            subprocess.run([kfe, "transform", "-q", f"{folder}/model.kfe", path, "-o", f"{folder}/z{i}.npy"], check=True)
            features.append(np.load(f"{folder}/z{i}.npy"))
    scale = features[0].std(axis=0)
    return [z / scale for z in features]


def by_nystroem(gamma, dim, parts):
    nystroem = Nystroem(gamma=gamma, n_components=dim, random_state=0).fit(parts[0][0])
    features = [nystroem.transform(x) for x, _ in parts]
    scale = features[0].std(axis=0)
    return [z / scale for z in features]


def best_error(extract, columns, parts):
    """The test error of the setting that is best on the validation rows, and the seconds of one extraction."""
    best, seconds = (2, 2), []
    for factor in FACTORS:
        began = time.perf_counter()
        z = extract(factor / columns)
        seconds.append(time.perf_counter() - began)
        for cost in COSTS:
            svm = LinearSVC(C=cost / len(z[0]), dual=False).fit(z[0], parts[0][1])
            errors = [1 - svm.score(z[i], parts[i][1]) for i in (1, 2)]
            best = min(best, tuple(errors))
    return best[1], float(np.median(seconds))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kfe")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--sets", default="shuttle,sleep")
    parser.add_argument("--dims", default="64,256")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| set | training rows | k | sma | smc | Nystroem | seconds, sma / smc / Nystroem |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.sets.split(","):
        parts = read(arguments.data, name)
        columns = parts[0][0].shape[1]
        for dim in map(int, arguments.dims.split(",")):
            results = [best_error(lambda gamma: by_kfe(arguments.kfe, "sma", gamma, dim, parts), columns, parts),
                       best_error(lambda gamma: by_kfe(arguments.kfe, "smc", gamma, dim, parts), columns, parts),
                       best_error(lambda gamma: by_nystroem(gamma, dim, parts), columns, parts)]
            print(f"| {name} | {len(parts[0][0]):,} | {dim} | " + " | ".join(f"{100 * e:.2f} %" for e, _ in results) +
                  " | " + " / ".join(f"{s:.1f}" for _, s in results) + " |", flush=True)


if __name__ == "__main__":
    main()
