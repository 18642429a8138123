#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares kfe tune with scikit-learn on the same outer folds: error and CPU seconds.

usage: KFE_LIBRARY=$PWD/build/libkfe.so PYTHONPATH=python bench/tune.py KFE DATA_FOLDER [--sets ionosphere,wine] [--rows 1000]

Peers: StandardScaler followed by SVC with a Gaussian or a Laplacian kernel, tuned by GridSearchCV with five inner folds
(five widths x five values of C); HistGradientBoosting and RandomForest with their defaults. For real targets: SVR and the
regressors. All run on one thread. kfe tune is already nested: its CPU time includes the searches of all outer folds and one
more search on all rows. Of sets with more than --rows rows, that many are drawn at random.

DATA_FOLDER has a folder NAME for each set with NAME.csv or NAME.csv.gz: numbers only, no header, the target in the last column; text sets
are NAME.svm in LIBSVM's format. Where to get them (UCI is archive.ics.uci.edu, OpenML is openml.org):

    heart, sonar, segment    UCI "Statlog (Heart)", "Connectionist Bench (Sonar, Mines vs. Rocks)", "Statlog (Image Segmentation)";
                             OpenML "heart-statlog", "sonar", "segment"
    dlbcl                    lymphoma genes of Shipp et al. 2002, OpenML "DLBCL" or the GEMS collection
    pol                      OpenML "pol", a table of telecommunication
    ionosphere, spectf, wine, thyroid, wdbc, diabetes_pima, german, satimage
                             UCI "Ionosphere", "SPECTF Heart", "Wine", "Thyroid Disease" (new-thyroid), "Breast Cancer Wisconsin
                             (Diagnostic)", "Statlog (German Credit Data)", "Statlog (Landsat Satellite)"; OpenML "diabetes"
    usps                     OpenML "USPS"
    tr23                     text of TREC, Karypis' CLUTO collection, OpenML "tr23.wc"
    baseball                 salaries of 1992, Watnik, Journal of Statistics Education 1998
    bank32nh, puma32h        the DELVE collection, OpenML "bank32nh", "puma32H"

Prints a Markdown table. The error is 1 - accuracy or, for real targets, the root mean squared error: the mean over the outer
folds with its standard error.
"""
import argparse
import ctypes
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import (HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier,
                              RandomForestRegressor)
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

SETS = ("heart", "sonar", "segment", "dlbcl", "tr23", "usps", "pol", "baseball", "ionosphere", "spectf", "wine", "thyroid", "wdbc",
        "diabetes_pima", "german", "satimage", "bank32nh", "puma32h")
REAL = {"baseball", "bank32nh", "puma32h", "pol"}
COSTS = (0.1, 1, 10, 100, 1000)
WIDTHS = np.array([1 / 64, 1 / 16, 1 / 4, 1, 4])


class Laplacian:
    """A Laplacian kernel whose width GridSearchCV can vary and compare."""

    def __init__(self, gamma):
        self.gamma = gamma

    def __call__(self, x, y):
        return laplacian_kernel(x, y, self.gamma)

    def __repr__(self):
        return f"Laplacian({self.gamma:.3g})"


def read(folder, name, rows):
    """Columns, target, and whether the set is sparse."""
    sparse = folder / name / f"{name}.svm"
    if sparse.exists():
        x, y = load_svmlight_file(str(sparse))
        x = x.toarray()
    else:
        path = next(path for path in (folder / name / f"{name}.csv", folder / name / f"{name}.csv.gz") if path.exists())
        table = np.loadtxt(path, delimiter=",")
        x, y = table[:, :-1], table[:, -1]
    kept = np.random.default_rng(0).permutation(len(x))[:rows] if len(x) > rows else slice(None)
    return x[kept], y[kept], sparse.exists()


def write(path, x, labels, sparse):
    """A file that kfe reads: LIBSVM text for a sparse set, else CSV."""
    with open(path, "w", encoding="utf-8") as file:
        for row, label in zip(x, labels):
            if sparse:
                file.write(f"{label} " + " ".join(f"{j + 1}:{float(row[j])!r}" for j in np.flatnonzero(row)) + "\n")
            else:
                file.write(",".join(repr(float(value)) for value in row) + f",{label}\n")


def outer_folds(x, y, real):
    """The outer folds of kfe tune: those of kfe_splits_make with the same seed."""
    import kfe
    from kfe._lib import lib
    carrier = kfe.KPLS(task="regress" if real else "classify", random_state=0)
    context = carrier._context()
    data = carrier._prepare(context, x, y if real else y.astype(int).astype(str), reset=True)
    splits, count = ctypes.c_void_p(), ctypes.c_int64()
    lib.kfe_splits_make.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    for part in (lib.kfe_splits_train, lib.kfe_splits_test):
        part.restype, part.argtypes = ctypes.POINTER(ctypes.c_int64), [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
    context.call(lib.kfe_splits_make, data.pointer, b"folds=5", ctypes.byref(splits))
    found = []
    for i in range(5):
        parts = []
        for part in (lib.kfe_splits_train, lib.kfe_splits_test):
            rows = part(splits, i, ctypes.byref(count))
            parts.append(np.array(rows[:count.value]))
        found.append(parts)
    return found


def run_kfe(kfe, x, y, real, sparse):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.svm" if sparse else "data.csv")
        write(path, x, y if real else y.astype(int), sparse)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run([kfe, "tune", "-q", "--time", "none", "--threads", "1", "--json", "--task",
                              "regress" if real else "classify", path], check=True, capture_output=True, text=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result = json.loads(out)
    metric = "rmse" if real else "accuracy"
    values = np.array([split["metrics"][metric] for split in result["honest"]["splits"]])
    return values if real else 1 - values, seconds, result["best"]["candidate"]


def width(x):
    """1 / the median squared distance of the standardised rows."""
    scaled = StandardScaler().fit_transform(x)[:300]
    distances = ((scaled[:, None] - scaled[None]) ** 2).sum(-1)
    return 1 / np.median(distances[np.triu_indices(len(scaled), 1)])


def svm(kernel, real):
    def make(x, y):
        base, spread = width(x), y.std() if real else 1
        costs = [cost * spread / 10 for cost in COSTS] if real else COSTS
        model = SVR(epsilon=0.1 * spread) if real else SVC()
        name = type(model).__name__.lower()
        if kernel == "rbf":
            grid = {f"{name}__gamma": WIDTHS * base, f"{name}__C": costs}
        else:
            base = np.sqrt(base) / np.sqrt(2 * x.shape[1] / np.pi)
            grid = {f"{name}__kernel": [Laplacian(gamma) for gamma in WIDTHS * base], f"{name}__C": costs}
        return GridSearchCV(make_pipeline(StandardScaler(), model), grid, cv=5, n_jobs=1)
    return make


def peers(real):
    return {"SVM rbf, tuned": svm("rbf", real), "SVM laplacian, tuned": svm("laplacian", real),
            "HistGradientBoosting": lambda x, y: (HistGradientBoostingRegressor if real else
                                                  HistGradientBoostingClassifier)(random_state=0),
            "RandomForest": lambda x, y: (RandomForestRegressor if real else RandomForestClassifier)(random_state=0)}


def run_peer(make, x, y, folds, real):
    errors, began = [], time.process_time()
    for train, test in folds:
        predicted = make(x[train], y[train]).fit(x[train], y[train]).predict(x[test])
        errors.append(np.sqrt(np.mean((predicted - y[test]) ** 2)) if real else np.mean(predicted != y[test]))
    return np.array(errors), time.process_time() - began


def show(name, what, errors, seconds, note=""):
    error = errors.std(ddof=1) / np.sqrt(len(errors))
    print(f"| {name} | {what} | {errors.mean():.4g} ± {error:.2g} | {seconds:.1f} | {note} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kfe")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--rows", type=int, default=1000)
    arguments = parser.parse_args()
    print("| set | what | error ± standard error | CPU s | chosen |\n|---|---|---|---|---|")
    for name in arguments.sets.split(","):
        real = name in REAL
        x, y, sparse = read(arguments.data, name, arguments.rows)
        folds = outer_folds(x, y, real)
        errors, seconds, chosen = run_kfe(arguments.kfe, x, y, real, sparse)
        show(name, "kfe tune", errors, seconds, chosen)
        for peer, make in peers(real).items():
            show(name, peer, *run_peer(make, x, y, folds, real))


if __name__ == "__main__":
    main()
