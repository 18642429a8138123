#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Which view sldr trusts, and where

Both views show a position. For half of the positions only the first view separates the classes, for the others only the
second; the gate of sldr (Gönen & Alpaydın 2010) finds out which.

usage: sldr_gate.py [FOLDER]     writes FOLDER/sldr_gate.png; by default FOLDER is the current folder"""
import pathlib
import sys

import kfe
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
random = np.random.default_rng(1)
count = 300
position = random.uniform(-2, 2, count)
sign = random.choice([-1, 1], count)
in_first = np.where(position < 0, sign * 1.5, 0) + 0.5 * random.normal(size=count)
in_second = np.where(position < 0, 0, sign * 1.5) + 0.5 * random.normal(size=count)
views = [np.column_stack([position, in_first]), np.column_stack([position, in_second])]

# Two plots of one model: where the gate maps an example, and the weight that each view then gets.
options = dict(local_dim=1, gate_dim=2, random_state=1)
places = kfe.SLDR(features="gate", **options).fit(views, sign).transform(views)
shares = kfe.SLDR(features="shares", **options).fit(views, sign).transform(views)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), sharex=True, sharey=True)
for label, colour in [(-1, "#0072b2"), (1, "#e69f00")]:
    left.scatter(*places[sign == label].T, s=10, c=colour, label=f"class {label:+d}")
left.set_title("where the gate sees the examples", fontsize=10)
left.legend(fontsize=8)
drawn = right.scatter(*places.T, s=10, c=shares[:, 0], cmap="coolwarm", vmin=0, vmax=1)
right.set_title("how far it trusts the first view", fontsize=10)
figure.colorbar(drawn, ax=right)
figure.tight_layout()
figure.savefig(folder / "sldr_gate.png", dpi=110)
