#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `kfe fit --stream -m kfd --landmarks M` on a file of many rows, beside reading it and the floor of the products.

usage: KFE=build/cli/kfe bench/stream.py [--rows 10000000] [--landmarks 1000] [--cols 50] [--folder DIR]

The floor is what the products must cost at the speed of this machine's BLAS, measured in the same run: for each row 2dm operations for
the kernel, m² for F = CT and m² for FᵀF. The file is read twice, since landmarks need two passes. All seconds are seconds of processors, of
all threads, so that they mean something on a shared machine.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np


def make(path, rows, cols):
    """Three classes in noise, written in parts: what this process holds would count as memory of those that it starts."""
    rng = np.random.default_rng(0)
    with open(path, "wb") as out:
        np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": (rows, cols + 1)})
        for first in range(0, rows, 100_000):
            count = min(100_000, rows - first)
            y = rng.integers(0, 3, count)
            x = rng.normal(size=(count, cols))
            x[:, :3] += 2 * np.eye(3)[y]
            out.write(np.column_stack([x, y]).tobytes())


def seconds(work):
    """Processor seconds of this process and of those that it ran."""
    start = os.times()
    work()
    end = os.times()
    return sum(end[:4]) - sum(start[:4])


def read_twice(path):
    for _ in range(2):
        with open(path, "rb") as file:
            while file.read(1 << 22):
                pass


def floor(rows, cols, m):
    from scipy.linalg import blas
    n = 4096
    x, l, c = np.random.rand(n, cols), np.random.rand(m, cols), np.asfortranarray(np.random.rand(m, n))
    t = np.asfortranarray(np.triu(np.random.rand(m, m)))
    parts = (lambda: x @ l.T, lambda: blas.dtrmm(1.0, t, c), lambda: blas.dsyrk(1.0, c))
    return sum(min(seconds(lambda: [part() for _ in range(4)]) / 4 for _ in range(5)) for part in parts) * rows / n


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--landmarks", type=int, default=1000)
    arguments.add_argument("--cols", type=int, default=50)
    arguments.add_argument("--folder", default=tempfile.gettempdir())
    a = arguments.parse_args()
    kfe = os.environ.get("KFE", "kfe")
    path = pathlib.Path(a.folder) / "stream-bench.npy"
    make(path, a.rows, a.cols)
    command = [kfe, "fit", "-q", "--stream", "-m", "kfd", "--landmarks", str(a.landmarks), "--learner", "ls", "--label", "last",
               "--task", "classify", str(path), "-o", str(path.with_suffix(".kfe"))]
    fit = seconds(lambda: subprocess.run(command, check=True, stderr=sys.stderr))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    reading, products = seconds(lambda: read_twice(path)), floor(a.rows, a.cols, a.landmarks)
    print(f"{a.rows} rows x {a.cols}, {a.landmarks} landmarks: fit {fit:.1f} s, peak {peak:.0f} MB; reading twice {reading:.1f} s, "
          f"floor of products {products:.1f} s, ratio {fit / (reading + products):.2f}")
    path.unlink()
    path.with_suffix(".kfe").unlink()


if __name__ == "__main__":
    main()
