#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Handwritten digits in the plane, with and without labels

Two features replace the 64 pixels of scikit-learn's digits: kernel principal components, which ignore the labels, or the first
two kernel Fisher discriminants, which use them. The plots show digits that were not used for fitting.

usage: digits_plane.py [FOLDER]     writes FOLDER/digits_plane.png; by default FOLDER is the current folder"""
import pathlib
import sys

import kfe
import matplotlib
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

matplotlib.use("Agg")
import matplotlib.pyplot as plt

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
pixels, digit = load_digits(return_X_y=True)
train, new, train_digit, new_digit = train_test_split(pixels, digit, test_size=0.5, random_state=0, stratify=digit)

figure, panels = plt.subplots(1, 2, figsize=(10, 4.6))
for axes, (title, method) in zip(panels, {
    "kpca: without labels": kfe.KPCA(2, kernel="rbf:gamma=median"),
    "kfd: with labels": kfe.KFD(2, kernel="rbf:gamma=median"),
}.items()):
    features = method.fit(train, train_digit).transform(new)
    axes.scatter(*features.T, s=9, c=new_digit, cmap="tab10")
    for d in range(10):
        axes.annotate(str(d), features[new_digit == d].mean(axis=0), fontsize=13, weight="bold", ha="center", va="center")
    axes.set_title(title, fontsize=10)
figure.tight_layout()
figure.savefig(folder / "digits_plane.png", dpi=110)
