#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Iris flowers by their class centroids (koc)

Fisher's iris flowers in three dimensions, as in figure 1 of Park & Park (2002): the best approximation of rank three, and the
projections onto the centroids of the three species in the feature spaces of a wide and of a narrow Gaussian kernel.

usage: iris_koc.py [FOLDER]     writes FOLDER/iris_koc.png; by default FOLDER is the current folder"""
import pathlib
import sys

import kfe
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
X, species = kfe.generate("iris")
# The paper's Gaussian is exp(-|x - y|^2 / sigma), so gamma = 1 / sigma.
ways = {
    "singular value decomposition, rank 3": kfe.PCA(3, center=False),
    "koc, sigma = 1": kfe.KOC(kernel="rbf:gamma=1"),
    "koc, sigma = 0.01": kfe.KOC(kernel="rbf:gamma=100"),
}

figure = plt.figure(figsize=(12, 4))
for place, (title, way) in enumerate(ways.items(), start=1):
    features = way.fit_transform(X, species)
    axes = figure.add_subplot(1, 3, place, projection="3d")
    for name, colour in zip(sorted(set(species)), ["#0072b2", "#e69f00", "#009e73"]):
        axes.scatter(*features[species == name].T, s=8, c=colour, depthshade=False, label=name)
    axes.set_title(title, fontsize=10)
    axes.tick_params(labelsize=6)
axes.legend(fontsize=8)
figure.savefig(folder / "iris_koc.png", dpi=110, bbox_inches="tight")
