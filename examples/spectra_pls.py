#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A concentration from spectra (pls)

Sixty spectra of 400 wavelengths are mixtures of three substances with noise and a drifting baseline. Partial least squares
predicts the concentration of the first substance; the cross-validated error shows how many components are useful.

usage: spectra_pls.py [FOLDER]     writes FOLDER/spectra_pls.png; by default FOLDER is the current folder"""
import pathlib
import sys

import kfe
import matplotlib
import numpy as np
from sklearn.model_selection import cross_val_predict

matplotlib.use("Agg")
import matplotlib.pyplot as plt

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
random = np.random.default_rng(3)
wavelength = np.linspace(900, 1700, 400)
bands = np.stack([np.exp(-(((wavelength - centre) / width) ** 2)) for centre, width in [(1150, 40), (1200, 70), (1450, 90)]])
concentration = random.uniform(0, 1, (60, 3))
baseline = random.normal(size=(60, 1)) * 0.2 + random.normal(size=(60, 1)) * 0.1 * np.linspace(-1, 1, 400)
spectra = concentration @ bands + baseline + 0.02 * random.normal(size=(60, 400))
target = concentration[:, 0]


def pls(components):
    return kfe.PLSRegressor(components, learner="ls")


errors = [np.sqrt(np.mean((cross_val_predict(pls(k), spectra, target, cv=5) - target) ** 2)) for k in range(1, 11)]
best = 1 + int(np.argmin(errors))
predicted = cross_val_predict(pls(best), spectra, target, cv=5)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.8))
left.plot(wavelength, spectra[:12].T, linewidth=0.7)
left.set_title("twelve of the spectra", fontsize=10)
left.set_xlabel("wavelength, nm")
middle.plot(range(1, 11), errors, marker="o")
middle.set_title("error by number of components", fontsize=10)
middle.set_ylabel("RMSE of cross-validation")
right.scatter(target, predicted, s=12, c="#0072b2")
right.plot([0, 1], [0, 1], linewidth=0.8, c="#d55e00")
right.set_title(f"{best} components: predicted against true", fontsize=10)
figure.tight_layout()
figure.savefig(folder / "spectra_pls.png", dpi=110)
