# SPDX-License-Identifier: Apache-2.0
"""Makes seeds that the command line cannot make: saved accumulators for fuzz_sums, and Arrow streams for fuzz_arrow.

usage: KFE_LIBRARY=$PWD/build/libkfe.so PYTHONPATH=python python3 tests/fuzz/make_seeds.py [CORPUS]
"""
import pathlib
import sys

import numpy as np
from sklearn.base import clone

import kfe


def sums(folder):
    """An accumulator of every kind: linear or with landmarks, classes, real targets or none, with and without predictor."""
    rng = np.random.default_rng(0)
    x, classes, real = rng.normal(size=(12, 3)), np.arange(12) % 3, rng.normal(size=(12, 2))
    landmarks = {"landmarks": 3, "kernel": "rbf:gamma=1"}
    for name, estimator, y in [
            ("pca", kfe.PCA(), None), ("oc", kfe.OC(scale="standard"), classes), ("pls-real", kfe.PLS(dim=2), real),
            ("kfd", kfe.KFD(**landmarks), classes), ("kpca", kfe.KPCA(**landmarks), None), ("kopls-real", kfe.KOPLS(**landmarks), real),
            ("oc-ls", kfe.OCClassifier(learner="ls"), classes), ("kfd-centroid", kfe.KFDClassifier(learner="centroid", **landmarks), classes),
            ("pls-ls", kfe.PLSRegressor(learner="ls", scale="minmax"), real[:, 0])]:
        (folder / f"{name}.sums").write_bytes(estimator.partial_fit(x, y)._sums.to_bytes())
        weighted = clone(estimator).partial_fit(x, y, sample_weight=rng.random(12))
        (folder / f"{name}-weighted.sums").write_bytes(weighted._sums.to_bytes())


def arrow(folder):
    """Bytes that fuzz_arrow turns into tables: options, shape, then random contents for a few kinds of columns."""
    rng = np.random.default_rng(1)
    for option in range(8):
        for chunks in (1, 2):
            head = bytes([option, 0, 3, chunks])
            (folder / f"random-{option}-{chunks}").write_bytes(head + rng.integers(0, 240, 1500, dtype=np.uint8).tobytes())


corpus = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus")
for make in (sums, arrow):
    (corpus / make.__name__).mkdir(parents=True, exist_ok=True)
    make(corpus / make.__name__)
