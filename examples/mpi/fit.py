# SPDX-License-Identifier: Apache-2.0
"""Fits kernel PCA in all processes that mpirun started:  mpirun -n 4 python fit.py"""
import numpy as np
from mpi4py import MPI

import kfe
import kfe.mpi

X, y = kfe.generate("waveform", n=2000)  # every process makes or reads the same data
with kfe.mpi.share(MPI.COMM_WORLD):
    pca = kfe.KPCA(kernel="rbf:gamma=0.02", dim=3).fit(X)
    result = kfe.cv(kfe.KOCClassifier(kernel="rbf:gamma=0.02", learner="knn"), X, y, folds=4)

features = pca.transform(X)  # each process on its own
if MPI.COMM_WORLD.rank == 0:
    print(features.shape, np.round(np.abs(features).max(axis=0), 3))
    print(result)
