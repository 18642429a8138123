#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What kfe.plot draws

Each function of `kfe.plot` draws on matplotlib axes: features, curves and the confusion matrix of a classifier, eigenvalues, the path of a
fit, calibration of probabilities, coefficients, VIP and importance by column, predictions and residuals of a regressor, the gate of a
localized model and its regions, a search over two parameters, and a comparison of methods.

usage: plots.py [FOLDER]     writes FOLDER/plots.png; by default FOLDER is the current folder"""
import pathlib
import sys

import kfe
import kfe.plot
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
X, y = kfe.generate("waveform", n=300, random_state=1)
Z, z = kfe.generate("waveform", n=300, random_state=2)
classifier = kfe.KPCAClassifier(5, kernel="rbf", learner="centroid").fit(X, y)
level = X @ np.linspace(-1, 1, X.shape[1]) + np.sin(X[:, 3])
regressor = kfe.PLSRegressor(3).fit(X, level)
local = kfe.LMKLClassifier(kernel=["linear", "rbf:gamma=0.05"]).fit(X[y != y[0]][:120], y[y != y[0]][:120])
search = kfe.cv(kfe.KOCClassifier(kernel="rbf", learner="knn"), X, y, grid={"gamma": [0.001, 0.01, 0.1, 1], "neighbors": [1, 5, 15]},
                folds=3)
contest = kfe.compare([kfe.KPCAClassifier(5), kfe.KOCClassifier(), kfe.KFDClassifier()], X, y, folds=5)

calibrated = kfe.KPCAClassifier(5, kernel="rbf", learner="svm", calibration="platt").fit(X, y)

figure, axes = plt.subplots(7, 3, figsize=(16, 31), layout="constrained")
places = iter(axes.ravel())
kfe.plot.scores(classifier, Z, z, train=(X, y), ax=next(places))
kfe.plot.confusion(classifier, Z, z, ax=next(places))
kfe.plot.roc(classifier, Z, z, ax=next(places))
kfe.plot.precision_recall(classifier, Z, z, ax=next(places))
kfe.plot.calibration(calibrated, Z, z, ax=[next(places), next(places)])
kfe.plot.scree(classifier, ax=[next(places), next(places)])
kfe.plot.path(regressor, ax=[next(places), next(places)])
kfe.plot.predicted(regressor, X, level, ax=next(places))
kfe.plot.residuals(regressor, X, level, ax=next(places))
kfe.plot.loadings(regressor, ax=next(places))
kfe.plot.vip(regressor, ax=next(places))
kfe.plot.importance(regressor, X, level, ax=next(places))
kfe.plot.gate(local, ax=next(places))
kfe.plot.gate_regions(local, X, y, ax=next(places))
kfe.plot.cv_curve(search, ax=next(places))
kfe.plot.cv_surface(search, ax=next(places))
kfe.plot.comparison(contest, ax=[next(places), next(places)])
for unused in places:
    unused.remove()
figure.savefig(folder / "plots.png", dpi=60)
