#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How many features are needed

The plot shows the test error of a nearest-neighbour classifier on handwritten digits against the number of features. Methods
that use the labels (kfd, kpls) need fewer features than those that do not (kpca).

usage: features_needed.py [FOLDER]     writes FOLDER/features_needed.png; by default FOLDER is the current folder"""
import pathlib
import sys

import kfe
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
pixels, digit = load_digits(return_X_y=True)
train, new, train_digit, new_digit = train_test_split(pixels, digit, test_size=0.5, random_state=0, stratify=digit)

figure, axes = plt.subplots(figsize=(6.4, 4.2))
for name, method in {"kpca (no labels)": kfe.KPCA, "kpls": kfe.KPLS, "kfd": kfe.KFD}.items():
    errors = []
    for count in range(1, 10):
        model = method(count, kernel="rbf:gamma=median").fit(train, train_digit)
        neighbours = KNeighborsClassifier(5).fit(model.transform(train), train_digit)
        errors.append(100 * (1 - neighbours.score(model.transform(new), new_digit)))
    axes.plot(range(1, 10), errors, marker="o", label=name)
axes.set_xlabel("number of features")
axes.set_ylabel("error on new data, percent")
axes.set_ylim(bottom=0)
axes.legend()
figure.tight_layout()
figure.savefig(folder / "features_needed.png", dpi=110)
