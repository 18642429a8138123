# SPDX-License-Identifier: Apache-2.0
"""Compares kpca with scikit-learn's KernelPCA, and with PRIMME (from PyPI) where it is installed, on a spectrum that falls
slowly and on one that falls quickly.

usage: kpca.py LIBKFE.SO [ROWS] [REPEATS]

Prints one row of a Markdown table per spectrum and solver. Each fit runs in a process of its own. Seconds are wall seconds,
or processor seconds divided by the number of cores where those are less: on a busy machine wall time measures its other
programs. ARPACK is asked for the tolerance that kfe has.
"""
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

from peers import Kfe, gamma_of, mixture, peak, residual_of

COLUMNS = 256
TOLERANCE = 1e-10
PEERS = {"arpack": "KernelPCA (arpack)", "randomized": "KernelPCA (randomized)", "primme": "PRIMME"}
SOLVERS = [name for name in PEERS if name != "primme" or importlib.util.find_spec("primme")]


def points(spectrum, rows):
    """Twenty clusters, whose spectrum falls after twenty eigenvalues; or one cloud, whose spectrum falls slowly."""
    if spectrum == "quick":
        return mixture(rows, COLUMNS)
    return np.random.default_rng(1).normal(size=(rows, COLUMNS))


def seconds_of(work):
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return min(time.perf_counter() - wall, (time.process_time() - processor) / os.cpu_count()), result


def by_primme(x, gamma):
    import primme
    from sklearn.metrics.pairwise import rbf_kernel
    matrix = rbf_kernel(x, gamma=gamma)
    means = matrix.mean(0)
    matrix -= means
    matrix -= means[:, None]
    matrix += means.mean()
    return primme.eigsh(matrix, 10, tol=TOLERANCE, which="LA", maxBlockSize=int(os.environ.get("PRIMME_BLOCK", 1)))


def measure(library, spectrum, rows, solver):
    x = points(spectrum, rows)
    gamma = gamma_of(COLUMNS)
    if solver == "kfe":
        kfe = Kfe(library)
        data = kfe.dense(x)
        seconds, model = seconds_of(lambda: kfe.fit("kpca", f"dim=10,tolerance={TOLERANCE}", f"rbf:gamma={gamma}", data))
        used = peak()
        features = kfe.transform(model, data)
    elif solver == "primme":
        seconds, (values, vectors) = seconds_of(lambda: by_primme(x, gamma))
        used = peak()
        features = vectors * np.sqrt(values)
    else:
        from sklearn.decomposition import KernelPCA
        estimator = KernelPCA(10, kernel="rbf", gamma=gamma, eigen_solver=solver, tol=TOLERANCE, n_jobs=-1,
                              random_state=1, copy_X=False)
        seconds, _ = seconds_of(lambda: estimator.fit(x))
        used = peak()
        features = estimator.eigenvectors_ * np.sqrt(estimator.eigenvalues_)
    return {"seconds": seconds, "peak": used, "residual": residual_of(features, x, gamma)}


def run(repeats, *arguments):
    found = []
    for _ in range(repeats):
        printed = subprocess.run([sys.executable, __file__, "--case", *map(str, arguments)], check=True,
                                 capture_output=True, text=True).stdout
        found.append(json.loads(printed))
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def show(measured):
    return f"{measured['seconds']:.2f} s, {measured['peak'] / 1e9:.2f} GB, residual {measured['residual']:.0e}"


def main(library, rows=5000, repeats=3):
    for spectrum in ("slow", "quick"):
        ours = run(repeats, library, spectrum, rows, "kfe")
        for solver in SOLVERS:
            theirs = run(repeats, library, spectrum, rows, solver)
            print(f"| kpca --dim 10, n={rows:,}, d={COLUMNS}, {spectrum} decay, against {PEERS[solver]} | {show(ours)} | "
                  f"{show(theirs)} | {theirs['seconds'] / ours['seconds']:.1f}x faster, memory "
                  f"{ours['peak'] / theirs['peak']:.2f} | >= 3x at equal residual, memory <= 0.4 |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--case":
        print(json.dumps(measure(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])))
    else:
        main(sys.argv[1], *map(int, sys.argv[2:]))
