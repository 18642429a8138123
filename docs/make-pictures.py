#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/slabs.png with the kfe on the PATH: three crossing slabs (Park & Park 2002, figure 2), as they are and
by their three Kernel Orthogonal Centroid features, for points that the model has not seen."""
import pathlib
import subprocess
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

here = pathlib.Path(__file__).resolve().parent


def kfe(*arguments):
    subprocess.run(["kfe", *arguments, "-q"], check=True)


def scatter(axes, points, labels, title):
    for label, colour in zip(np.unique(labels), ["#0072b2", "#e69f00", "#009e73"]):
        axes.scatter(*points[labels == label].T, s=6, c=colour, depthshade=False)
    axes.set_title(title, fontsize=10)
    axes.tick_params(labelsize=6)


with tempfile.TemporaryDirectory() as folder:
    train, test, model, features = (f"{folder}/{name}" for name in ["train.csv", "test.csv", "m.kfe", "z.npy"])
    kfe("generate", "slabs", "-o", train, "--seed", "1")
    kfe("generate", "slabs", "-o", test, "--seed", "2")
    kfe("fit", "-m", "koc", "-k", "rbf:gamma=0.2", train, "-o", model)
    kfe("transform", model, test, "-o", features)
    table = np.genfromtxt(test, delimiter=",", skip_header=1)
    figure = plt.figure(figsize=(8, 3.6))
    scatter(figure.add_subplot(121, projection="3d"), table[:, :3], table[:, 3], "three crossing slabs, new points")
    scatter(figure.add_subplot(122, projection="3d"), np.load(features), table[:, 3],
            "their koc features, rbf:gamma=0.2")
    figure.tight_layout()
    figure.savefig(here / "slabs.png", dpi=110)
