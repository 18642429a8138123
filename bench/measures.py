#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Which measure of `kfe measure` predicts how well a kernel does? Rank correlations with cross-validated error.

usage: bench/measures.py KFE DATA_FOLDER [--sets NAME,NAME...]

For each of 20 data sets (at most 300 rows, drawn at random; dense columns standardised) and each of 14 kernels: the
measures that `kfe measure` prints for the rows, and the error of kernel ridge regression on the same rows by five folds
(squared error relative to the variance for real targets, share of wrong classes otherwise). Each training part chooses
its ridge by closed-form leave-one-out, so that every kernel is used at its best. For each set, the script computes
Spearman's correlation over the kernels between a measure and minus the error: 1 if the measure ranks the kernels as
their errors do. Prints a Markdown table of medians and ranges, and the loss from choosing the kernel by a measure: the
error of that kernel minus the error of the best one. Nothing is tuned by the result.
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr

ROWS = 300
FOLDS = 5
RIDGES = np.logspace(-8, 1, 19)  # relative to the mean diagonal of the centred training kernel
CLASSIFICATION = {
    "banana": "banana.csv", "breast_cancer": "breast_cancer.csv", "diabetes_pima": "diabetes_pima.csv",
    "german": "german.csv", "ionosphere": "ionosphere.csv", "thyroid": "thyroid_3class.csv", "twonorm": "twonorm.csv",
    "ringnorm": "ringnorm.csv", "waveform": "waveform.csv", "wdbc": "wdbc.csv", "wine": "wine.csv",
    "satimage": "satimage.csv", "spectf": "spectf.csv", "usps": "usps.csv.gz", "tr11": "tr11.svm", "tr45": "tr45.svm",
}
REGRESSION = {"ailerons": "ailerons.csv.gz", "bank32nh": "bank32nh.csv.gz", "baseball": "baseball.csv",
              "puma32h": "puma32h.csv.gz"}


def read(path, real):
    if ".svm" in path.name:
        from sklearn.datasets import load_svmlight_file
        x, y = load_svmlight_file(str(path))
        return x.toarray(), y, False
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        first = file.readline().split(",")[0]
    header = 0 if first.replace(".", "").replace("-", "").replace("e", "").strip().isdigit() else 1
    table = np.loadtxt(path, delimiter=",", skiprows=header)
    return table[:, :-1], table[:, -1], True


def sample(x, y, dense, real, generator):
    index = generator.permutation(len(y))[:ROWS]
    x, y = x[index], y[index]
    x = x[:, np.ptp(x, axis=0) > 0]
    if dense:
        x = (x - x.mean(axis=0)) / x.std(axis=0)
    if not real:
        classes, counts = np.unique(y, return_counts=True)
        keep = np.isin(y, classes[counts >= FOLDS])
        x, y = x[keep], y[keep]
    return x, y


def kernels(x):
    """Names as kfe takes them, with the matrices computed here."""
    squared = cdist(x, x, "sqeuclidean")
    absolute = cdist(x, x, "cityblock")
    products = x @ x.T
    lengths = np.sqrt(np.maximum(np.diag(products), 1e-300))
    gamma = 1 / np.median(pdist(x, "sqeuclidean"))
    width = 1 / np.median(pdist(x, "cityblock"))
    scale = 1 / np.mean(np.diag(products))
    out = {"linear": products, "cosine": products / np.outer(lengths, lengths)}
    for factor in (0.01, 0.1, 0.3, 1, 3, 10):
        out[f"rbf:gamma={gamma * factor!r}"] = np.exp(-gamma * factor * squared)
    for factor in (0.1, 0.5, 2, 10):
        out[f"laplacian:gamma={width * factor!r}"] = np.exp(-width * factor * absolute)
    for degree in (2, 4):
        out[f"poly:gamma={scale!r},degree={degree},coef0=1"] = (scale * products + 1) ** degree
    return out


def measures(kfe, x, y, real, names, folder):
    path = folder / "data.csv"
    rows = np.column_stack([x, y]) if real else x
    with open(path, "w") as file:
        for i, row in enumerate(rows):
            label = "" if real else f",c{y[i]:g}"
            file.write(",".join(repr(float(v)) for v in row) + label + "\n")
    command = [kfe, "measure", str(path), "--json", "--quiet", "--task", "regress" if real else "classify"]
    for name in names:
        command += ["-k", name]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [{key: value for key, value in row.items() if key != "kernel"} for row in result]


def predict(kernel, targets, train, test):
    """Kernel ridge regression with an intercept; the ridge by leave-one-out."""
    inner = kernel[np.ix_(train, train)]
    n = len(train)
    means = inner.mean(axis=0)
    centred = inner - means - means[:, None] + means.mean()
    values, vectors = np.linalg.eigh(centred)
    values = np.maximum(values, 0)
    mean = targets[train].mean(axis=0)
    along = vectors.T @ (targets[train] - mean)
    best, coefficients = np.inf, None
    for ridge in RIDGES * max(values.mean(), 1e-300):
        shrink = values / (values + ridge)
        hat = (vectors ** 2) @ shrink + 1 / n
        residual = (targets[train] - mean - vectors @ (shrink[:, None] * along)) / (1 - hat)[:, None]
        if (error := np.mean(residual ** 2)) < best:
            best, coefficients = error, vectors @ (along / (values + ridge)[:, None])
    cross = kernel[np.ix_(test, train)]
    cross = cross - cross.mean(axis=1, keepdims=True) - means + means.mean()
    return cross @ coefficients + mean


def cv_error(kernel, y, real, fold):
    targets = y[:, None] if real else (y[:, None] == np.unique(y)[None]).astype(float)
    wrong = 0.0
    for f in range(FOLDS):
        train, test = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        out = predict(kernel, targets, train, test)
        if real:
            wrong += np.sum((out[:, 0] - y[test]) ** 2) / np.var(y)
        else:
            wrong += np.sum(np.unique(y)[out.argmax(axis=1)] != y[test])
    return wrong / len(y)


def deal(y, real, generator):
    order = generator.permutation(len(y))
    if not real:
        order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), int)
    fold[order] = np.arange(len(y)) % FOLDS
    return fold


def one_set(kfe, path, real, folder):
    generator = np.random.default_rng(1)
    x, y = sample(*read(path, real), real, generator)
    fold = deal(y, real, generator)
    matrices = kernels(x)
    errors = np.array([cv_error(k, y, real, fold) for k in matrices.values()])
    table = measures(kfe, x, y, real, list(matrices), folder)
    result = {}
    for name in table[0]:
        column = np.array([row[name] for row in table], float)
        result[name] = (spearmanr(column, -errors)[0], errors[column.argmax()] - errors.min())
    return result, errors


def show(title, results):
    print(f"\n{title} ({len(results)} sets)\n")
    print("| measure | median | lowest | highest | mean loss of its choice | largest loss |\n|---|---|---|---|---|---|")
    for name in next(iter(results.values())):
        rho = np.array([r[name][0] for r in results.values()])
        loss = 100 * np.array([r[name][1] for r in results.values()])
        print(f"| `{name}` | {np.median(rho):.2f} | {rho.min():.2f} | {rho.max():.2f} | {loss.mean():.1f} | {loss.max():.1f} |")


def main():
    kfe, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    wanted = sys.argv[4].split(",") if len(sys.argv) > 4 else None
    groups = {}
    with tempfile.TemporaryDirectory() as room:
        for title, sets, real in (("Classification", CLASSIFICATION, False), ("Regression", REGRESSION, True)):
            for name, file in sets.items():
                if wanted and name not in wanted:
                    continue
                if not (folder / name / file).exists():
                    print(f"{name}: skipped, {file} is not there", file=sys.stderr)
                    continue
                result, errors = one_set(kfe, folder / name / file, real, pathlib.Path(room))
                groups.setdefault(title, {})[name] = result
                print(name, f"errors {100 * errors.min():.1f} to {100 * errors.max():.1f}",
                      {k: round(float(v[0]), 2) for k, v in result.items()}, file=sys.stderr, flush=True)
    for title, results in groups.items():
        show(title, results)


if __name__ == "__main__":
    main()
