#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How far rfm and gkdr miss a plane that a target depends on: 2,000 rows of 50 normal columns, target a + b² of two random
orthonormal directions, noise of a tenth of its standard deviation, or of the share NOISE. Prints the largest principal angle of every draw, and medians.

usage: PYTHONPATH=python bench/planted_plane.py [DRAWS [NOISE]]
"""
import sys

import numpy as np
import scipy.linalg

import kfe


def draw(seed, noise, n=2000, d=50):
    rng = np.random.default_rng(seed)
    plane = np.linalg.qr(rng.normal(size=(d, 2)))[0]
    x = rng.normal(size=(n, d))
    z = x @ plane
    target = z[:, 0] + z[:, 1] ** 2
    return x, target + noise * target.std() * rng.normal(size=n), plane


METHODS = {
    "gkdr": lambda: kfe.GKDR(dim=2),
    "gkdr iterations=1": lambda: kfe.GKDR(dim=2, iterations=1),
    "rfm directions=2, distance=full, rbf": lambda: kfe.RFM(directions=2, distance="full", kernel="rbf:gamma=median"),
}
noise = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
angles = {name: [] for name in METHODS}
for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
    x, y, plane = draw(seed, noise)
    for name, make in METHODS.items():
        found = make().fit(x, y).components_.T
        angles[name].append(np.degrees(scipy.linalg.subspace_angles(found, plane).max()))
        print(f"draw {seed}, {name}: {angles[name][-1]:.2f} degrees", flush=True)
for name, values in angles.items():
    print(f"{name}: median {np.median(values):.2f}, largest {max(values):.2f} degrees of {len(values)} draws, "
          f"smallest cosine {np.cos(np.radians(max(values))):.4f}")
