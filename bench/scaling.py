#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does standardising help? Errors of five methods on development sets with scale=none, standard and auto.

    bench/scaling.py [--kfe build/cli/kfe] [--rows 300] [FILE...]

The sets are those of scikit-learn and those that kfe generates, the latter also with every column in a unit of its own, and further
files: comma separated numbers, the label last, named by the file or, as in mfeat/mfeat-fou.csv, with labels in labels.csv beside it.
The last columns of the table are the widest range of a column divided by the narrowest and by the one that a tenth of the columns do not
reach, and the choice of auto. docs/defaults-measured.md shows the table.
"""
import argparse
import gzip
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
from sklearn import datasets

METHODS = ["koc", "kfd", "kpca", "hsic", "none"]
SHIPPED = {"iris": datasets.load_iris, "wine": datasets.load_wine, "wdbc": datasets.load_breast_cancer,
           "digits": datasets.load_digits}
GENERATED = ["twonorm", "ringnorm", "waveform", "rings", "slabs"]


def generated(kfe, name, rows):
    size = ["--per-class", str(rows // 3)] if name == "slabs" else ["--n", str(rows)]
    text = subprocess.run([kfe, "generate", name, *size, "--seed", "1"], capture_output=True, text=True,
                          check=True).stdout
    lines = [line.rsplit(",", 1) for line in text.splitlines()]
    if not lines[0][0].split(",")[0].lstrip("-")[:1].isdigit():
        lines = lines[1:]
    return np.array([[float(x) for x in line[0].split(",")] for line in lines]), [line[1] for line in lines]


def all_sets(kfe, rows):
    for name, load in SHIPPED.items():
        shipped = load()
        yield name, shipped.data, [str(c) for c in shipped.target]
    for name in GENERATED:
        points, classes = generated(kfe, name, rows)
        yield name, points, classes
        if name in ("twonorm", "ringnorm", "waveform"):
            draw = random.Random(2)
            yield name + ", other units", points * [10 ** draw.uniform(-2, 2) for _ in range(points.shape[1])], classes


def read(path):
    """Name, points and classes of a file; a first line of names is left out."""
    labels = path.parent / "labels.csv"
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        lines = [line.strip().replace('"', "").split(",") for line in file]
    if not lines[0][0].lstrip("-")[:1].isdigit():
        lines = lines[1:]
    name = path.name.split(".")[0]
    if labels.exists():
        return name, np.array(lines, float), labels.read_text(encoding="utf-8").split()
    return name, np.array([line[:-1] for line in lines], float), [line[-1] for line in lines]


def write(path, points, classes, rows):
    """Writes some rows, without classes of fewer than five; returns the sorted ranges of the columns that vary."""
    order = list(range(len(classes)))
    random.Random(3).shuffle(order)
    kept = [i for i in order[:rows] if sum(classes[j] == classes[i] for j in order[:rows]) >= 5]
    path.write_text("".join(",".join(f"{x:.7g}" for x in points[i]) + f",class {classes[i]}\n" for i in kept))
    ranges = np.ptp(points[kept], axis=0)
    return np.sort(ranges[ranges > 0])


def error(kfe, method, scale, path):
    done = subprocess.run([kfe, "cv", "-q", "--json", "--threads", "1", "-m", method, "--learner", "knn", "--scale", scale,
                           "--folds", "5", "--metrics", "error", str(path)], capture_output=True, text=True, check=True)
    return 100 * json.loads(done.stdout)["metrics"]["error"]["mean"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kfe", default="build/cli/kfe")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    print("| set | " + " | ".join(METHODS) + " | widest / narrowest | widest / tenth | auto |")
    print("|---|" + "---|" * (len(METHODS) + 3))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "set.csv"
        for name, points, classes in itertools.chain(all_sets(options.kfe, options.rows), map(read, options.files)):
            spread = write(path, points, classes, options.rows)
            cells, same = [], []
            for method in METHODS:
                none, standard, auto = (error(options.kfe, method, s, path) for s in ("none", "standard", "auto"))
                cells.append(f"{none:.1f} / {standard:.1f}")
                same.append((auto == none, auto == standard))
            did = "none" if all(s[0] for s in same) else "standard" if all(s[1] for s in same) else "by fold"
            print(f"| {name} | {' | '.join(cells)} | {spread[-1] / spread[0]:.3g} | {spread[-1] / spread[(len(spread) - 1) // 10]:.3g} | {did} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
