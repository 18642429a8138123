#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the same grid search with kfe and with scikit-learn: 5 folds x 10 gamma x 8 C on satimage.

usage: bench/cv.py KFE DATA_FOLDER [--peers nystroem,kpca] [--runs 3]

Prints a Markdown table. scikit-learn uses GridSearchCV on all cores: Nystroem (100 landmarks) or KernelPCA
(6 components, as many as koc has features here), each followed by LinearSVC with its primal solver, which is faster
than its default here.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import warnings

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

TRAINING_ROWS = 4435  # the training rows of the Statlog split
GAMMAS = np.logspace(-5, -2, 10)
COSTS = np.logspace(-2, 2, 8)


def read(folder):
    table = np.loadtxt(folder / "satimage" / "satimage.csv", delimiter=",")[:TRAINING_ROWS]
    return table[:, :-1], table[:, -1].astype(int)


def run_kfe(kfe, x, y):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.csv")
        np.savetxt(path, np.column_stack([x, y]), delimiter=",", fmt="%g")
        began = time.perf_counter()
        out = subprocess.run([kfe, "cv", "-m", "koc", "-k", "rbf", "--learner", "linear-svm", "--inner-folds", "0",
                              "--grid", "gamma=1e-5:1e-2:log10", "--grid", "C=1e-2:100:log8", "--json", "-q", path],
                             check=True, capture_output=True, text=True).stdout
        seconds = time.perf_counter() - began
    return seconds, json.loads(out)["metrics"]["accuracy"]["mean"]


def search(pipeline, grid, x, y):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    began = time.perf_counter()
    found = GridSearchCV(pipeline, grid, cv=folds, n_jobs=-1, refit=False).fit(x, y)
    return time.perf_counter() - began, found.best_score_


def run_nystroem(x, y):
    pipeline = make_pipeline(Nystroem(random_state=0), LinearSVC(dual=False))
    return search(pipeline, {"nystroem__gamma": GAMMAS, "linearsvc__C": COSTS}, x, y)


def run_kpca(x, y):
    pipeline = make_pipeline(KernelPCA(n_components=6, kernel="rbf", eigen_solver="randomized", random_state=0),
                             LinearSVC(dual=False))
    return search(pipeline, {"kernelpca__gamma": GAMMAS, "linearsvc__C": COSTS}, x, y)


PEERS = {"nystroem": ("Nystroem(100) + LinearSVC", run_nystroem),
         "kpca": ("KernelPCA(6) + LinearSVC", run_kpca)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kfe")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--peers", default="nystroem,kpca")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    x, y = read(arguments.data)
    ours = [run_kfe(arguments.kfe, x, y) for _ in range(arguments.runs)]
    seconds = statistics.median(s for s, _ in ours)
    print("| search of 5 folds x 10 gamma x 8 C, n = 4,435 | seconds | best accuracy | times slower |")
    print("|---|---|---|---|")
    print(f"| kfe cv, koc + linear-svm (median of {arguments.runs}) | {seconds:.2f} | {ours[0][1]:.4f} | 1 |")
    for name in arguments.peers.split(","):
        title, run = PEERS[name]
        peer_seconds, score = run(x, y)
        print(f"| scikit-learn, {title} | {peer_seconds:.1f} | {score:.4f} | {peer_seconds / seconds:.1f} |",
              flush=True)


if __name__ == "__main__":
    main()
