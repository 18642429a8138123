# SPDX-License-Identifier: Apache-2.0
"""Kernel methods on landmarks against scikit-learn's Nystroem with the linear counterpart, in one run, and their accuracy against
the exact method. Prints rows of RESULTS.md.

usage: bench/landmarks.py [--alone] [--exact-rows N] [ROWS [LANDMARKS [METHOD...]]]     100000 and 500, kfd hsic kpls unless given

--alone leaves out the peers and the exact methods, and prints the peak of memory: for a million rows and 2,000 landmarks, where peers
take hours. --exact-rows is the number of rows on which landmarks are compared with the exact method (4000). Rows are generated in chunks.
Processor seconds are those of all threads; on a busy machine they are the fairer of the two.
"""
import argparse
import resource
import time
import warnings

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

import kfe

warnings.simplefilter("ignore")
COLUMNS, LATENT, CLASSES, CLUSTERS, GAMMA, DIM, TEST_ROWS, CHUNK = 50, 6, 5, 40, 0.02, 10, 10000, 100000


def make(rows, seed):
    """Columns of few degrees of freedom, as in most tables, with noise. Classes are unions of Gaussian clouds, which no linear
    method separates."""
    shape = np.random.default_rng(1)
    centres, mixing = 2 * shape.normal(size=(CLUSTERS, LATENT)), shape.normal(size=(LATENT, COLUMNS)) / np.sqrt(LATENT)
    rng = np.random.default_rng(seed)
    x, y = np.empty((rows, COLUMNS)), np.empty(rows, int)
    for first in range(0, rows, CHUNK):  # so that a million rows need no more memory than they take
        some = slice(first, min(first + CHUNK, rows))
        cloud = rng.integers(CLUSTERS, size=some.stop - first)
        latent = centres[cloud] + rng.normal(size=(len(cloud), LATENT))
        x[some] = latent @ mixing + 0.2 * rng.normal(size=(len(cloud), COLUMNS))
        y[some] = cloud % CLASSES
    return x, y


class PLSClassifier(PLSRegression):
    def fit(self, X, y):
        return super().fit(X, np.eye(CLASSES)[y])

    def score(self, X, y):
        return np.mean(self.predict(X).argmax(1) == y)


def measure(estimator, train, test):
    """Seconds on the clock and of the processor for a fit, and accuracy on the test rows."""
    wall, cpu = time.perf_counter(), time.process_time()
    estimator.fit(*train)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return wall, cpu, estimator.score(*test)


def estimators():
    """By the name of the method: ours, the name of the linear counterpart, and how to make it."""
    kernel = dict(kernel=f"rbf:gamma={GAMMA}", scale="none")
    return {
        "kfd": (kfe.KFDClassifier(learner="centroid", **kernel),
                "LDA", lambda: LinearDiscriminantAnalysis(solver="eigen", shrinkage=1e-4)),
        "hsic": (kfe.HSICClassifier(learner="ls", **kernel), "RidgeClassifier", RidgeClassifier),
        "kpls": (kfe.KPLSClassifier(dim=DIM, learner="ls", **kernel), "PLSRegression",
                 lambda: PLSClassifier(n_components=DIM)),
    }


def run_alone(pairs, rows, landmarks, test):
    print("| what | s (processor s), accuracy | peak memory |\n|---|---|---|")
    train = make(rows, 2)
    for name, (mine, _, _) in pairs.items():
        wall, cpu, right = measure(mine.set_params(landmarks=landmarks), train, test)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"| {name} --landmarks {landmarks}, n={rows:,}, d={COLUMNS}; trace left {mine.landmark_trace_left_[0]:.3f} | "
              f"{wall:.1f} ({cpu:.1f}), {right:.4f} | {peak:.2f} GiB |", flush=True)


def run_peers(pairs, rows, landmarks, test):
    nystroem = dict(kernel="rbf", gamma=GAMMA, n_components=landmarks, random_state=0)
    print("| what | kfe, s (processor s), accuracy | peer, s (processor s), accuracy | ratio, clock (processor) |\n|---|---|---|---|")
    for name, (mine, peer, make_peer) in pairs.items():
        train = make(rows, 2)
        wall, cpu, right = measure(mine.set_params(landmarks=landmarks), train, test)
        left = mine.landmark_trace_left_[0]
        their_wall, their_cpu, their_right = measure(make_pipeline(Nystroem(**nystroem), make_peer()), train, test)
        print(f"| {name} --landmarks {landmarks}, n={rows:,}, d={COLUMNS}, against Nystroem({landmarks}) + {peer}; "
              f"trace left {left:.3f} | {wall:.2f} ({cpu:.2f}), {right:.4f} | "
              f"{their_wall:.2f} ({their_cpu:.2f}), {their_right:.4f} | "
              f"{their_wall / wall:.2f} ({their_cpu / cpu:.2f}) |", flush=True)


def run_exact(pairs, rows, landmarks, test):
    print("\n| what | exact: s, accuracy | landmarks: s, accuracy |\n|---|---|---|")
    small = make(rows, 2)
    for name, (mine, _, _) in pairs.items():
        exact = measure(mine.set_params(landmarks="none"), small, test)
        few = measure(mine.set_params(landmarks=landmarks), small, test)
        print(f"| {name}, n={rows:,}, d={COLUMNS}, {landmarks} landmarks | {exact[0]:.2f}, {exact[2]:.4f} | "
              f"{few[0]:.2f}, {few[2]:.4f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--exact-rows", type=int, default=4000)
    parser.add_argument("rows", type=int, nargs="?", default=100_000)
    parser.add_argument("landmarks", type=int, nargs="?", default=500)
    parser.add_argument("methods", nargs="*")
    options = parser.parse_args()
    pairs = estimators()
    pairs = {name: pairs[name] for name in options.methods or pairs}
    test = make(TEST_ROWS, 3)
    if options.alone:
        run_alone(pairs, options.rows, options.landmarks, test)
        return
    run_peers(pairs, options.rows, options.landmarks, test)
    run_exact(pairs, options.exact_rows, options.landmarks, test)


if __name__ == "__main__":
    main()
