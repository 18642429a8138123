# SPDX-License-Identifier: Apache-2.0
"""Kernel methods on landmarks against scikit-learn's Nystroem with the linear counterpart, in one run, and their accuracy against
the exact method. Prints rows of RESULTS.md.

usage: bench/landmarks.py [ROWS [LANDMARKS [METHOD...]]]     100000 and 500, kfd hsic kpls unless given

Processor seconds are those of all threads; on a busy machine they are the fairer of the two.
"""
import sys
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
COLUMNS, LATENT, CLASSES, CLUSTERS, GAMMA, DIM, EXACT_ROWS, TEST_ROWS = 50, 6, 5, 40, 0.02, 10, 4000, 10000


def make(rows, seed):
    """Columns of few degrees of freedom, as in most tables, with noise. Classes are unions of Gaussian clouds, which no linear
    method separates."""
    shape = np.random.default_rng(1)
    centres, mixing = 2 * shape.normal(size=(CLUSTERS, LATENT)), shape.normal(size=(LATENT, COLUMNS)) / np.sqrt(LATENT)
    rng = np.random.default_rng(seed)
    cloud = rng.integers(CLUSTERS, size=rows)
    latent = centres[cloud] + rng.normal(size=(rows, LATENT))
    return latent @ mixing + 0.2 * rng.normal(size=(rows, COLUMNS)), cloud % CLASSES


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


def main(rows=100_000, landmarks=500, *methods):
    rows, landmarks = int(rows), int(landmarks)
    nystroem = dict(kernel="rbf", gamma=GAMMA, n_components=landmarks, random_state=0)
    kernel = dict(kernel=f"rbf:gamma={GAMMA}", scale="none")
    pairs = {
        "kfd": (kfe.KFDClassifier(learner="centroid", **kernel),
                "LDA", lambda: LinearDiscriminantAnalysis(solver="eigen", shrinkage=1e-4)),
        "hsic": (kfe.HSICClassifier(learner="ls", **kernel), "RidgeClassifier", RidgeClassifier),
        "kpls": (kfe.KPLSClassifier(dim=DIM, learner="ls", **kernel), "PLSRegression",
                 lambda: PLSClassifier(n_components=DIM)),
    }
    pairs = {name: pairs[name] for name in methods or pairs}
    test = make(TEST_ROWS, 3)
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
    print("\n| what | exact: s, accuracy | landmarks: s, accuracy |\n|---|---|---|")
    for name, (mine, _, _) in pairs.items():
        small = make(EXACT_ROWS, 2)
        exact = measure(mine.set_params(landmarks="none"), small, test)
        few = measure(mine.set_params(landmarks=landmarks), small, test)
        print(f"| {name}, n={EXACT_ROWS:,}, d={COLUMNS}, {landmarks} landmarks | {exact[0]:.2f}, {exact[2]:.4f} | "
              f"{few[0]:.2f}, {few[2]:.4f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
