#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How skfe searches

The plot shows how well the subspace of skfe (Wu & Farquhar 2007) is aligned with the classes after each iteration, from three
different starts, for the search on the manifold of subspaces and for the paper's conjugate gradients.

usage: alignment_path.py [FOLDER]     writes FOLDER/alignment_path.png; by default FOLDER is the current folder"""
import pathlib
import sys

import kfe
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
X, y = kfe.generate("banana", n=200, random_state=1)

figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharex=True, sharey=True)
for axes, optimizer in zip(panels, ["manifold", "cg"]):
    for start in ["koc", "kpca", "random"]:
        model = kfe.SKFE(2, init=start, optimizer=optimizer, max_iter=30, kernel="rbf:gamma=0.5", random_state=1)
        path = model.fit(X, y).alignment_path_
        axes.plot(range(len(path)), path, marker=".", label=f"from {start}: {path[-1]:.3f}")
    axes.set_title(f"skfe, two features, optimizer {optimizer}", fontsize=10)
    axes.set_xlabel("iteration")
    axes.legend(fontsize=8)
panels[0].set_ylabel("alignment with the classes")
figure.tight_layout()
figure.savefig(folder / "alignment_path.png", dpi=110)
