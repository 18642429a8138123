# SPDX-License-Identifier: Apache-2.0
"""Published data sets, if the environment variable KFE_DATA names their folder: SET/SET.csv with the label last,
SET/SET.svm.gz for sparse text."""
import os
import pathlib
import random

import numpy as np
import pytest

FOLDER = pathlib.Path(os.environ.get("KFE_DATA") or "/nonexistent")


def data(name):
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"KFE_DATA does not name a folder with {name}")
    return path


def linear_accuracy(kfe, train_labels, test_labels):
    """Accuracy of least squares on the features, for labels of -1 and 1."""
    train, test = np.load(kfe.path("train.npy")), np.load(kfe.path("test.npy"))
    weights, *_ = np.linalg.lstsq(np.c_[train, np.ones(len(train))], train_labels, rcond=None)
    return np.mean(np.sign(np.c_[test, np.ones(len(test))] @ weights) == test_labels)


@pytest.mark.parametrize("name, train_rows, gamma, published", [("banana", 400, 10, 0.891), ("twonorm", 400, 1 / 38, 0.976)])
def test_koc_on_the_papers_own_sets(kfe, name, train_rows, gamma, published):
    """Park & Park 2002, table 1: koc with their widths and a linear classifier, on the first of their 100 splits."""
    lines = data(f"{name}/{name}.csv").read_text().splitlines(keepends=True)
    kfe.write("train.csv", "".join(lines[:train_rows]))
    kfe.write("test.csv", "".join(lines[train_rows:]))
    kfe.ok("fit", "-q", "-m", "koc", "-k", f"rbf:gamma={gamma}", "train.csv", "-o", "m.kfe")
    for part in ("train", "test"):
        kfe.ok("transform", "-q", "m.kfe", f"{part}.csv", "-o", f"{part}.npy")
    labels = np.array([float(line.rsplit(",", 1)[1]) for line in lines])
    accuracy = linear_accuracy(kfe, labels[:train_rows], labels[train_rows:])
    assert abs(accuracy - published) < 0.025, accuracy


def test_genes(kfe):
    """72 samples of 5,327 genes: the discriminants separate the training classes."""
    path = data("leukemia1/leukemia1.csv")
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "linear", "--scale", "standard", path, "-o", "m.kfe")
    kfe.ok("transform", "-q", "m.kfe", path, "-o", "z.npy")
    z = np.load(kfe.path("z.npy"))
    labels = np.array([line.rsplit(",", 1)[1] for line in path.read_text().splitlines()])
    centroids = {label: z[labels == label].mean(0) for label in set(labels)}
    nearest = [min(centroids, key=lambda label: np.linalg.norm(row - centroids[label])) for row in z]
    assert z.shape == (72, 2) and list(labels) == nearest


def test_sparse_text(kfe):
    """3,204 documents of 31,472 terms stay sparse: the fit takes a fraction of a dense table's memory."""
    path = data("la1/la1.svm.gz")
    kfe.ok("fit", "-q", "-m", "koc", "-k", "linear", "--memory", "100M", path, "-o", "m.kfe")
    kfe.ok("transform", "-q", "m.kfe", path, "-o", "z.npy")
    assert np.load(kfe.path("z.npy")).shape == (3204, 6)


@pytest.mark.parametrize("name", ["german", "ionosphere"])
def test_sldr_of_one_view(kfe, name):
    """With one view the gradient of the gate is rounding error; steps along it once grew until the fit failed."""
    lines = data(f"{name}/{name}.csv").read_text().splitlines()
    random.Random(1).shuffle(lines)  # an order of rows in which ionosphere failed
    kfe.write("train.csv", "".join(",class ".join(line.rsplit(",", 1)) + "\n" for line in lines))
    kfe.ok("fit", "-q", "-m", "sldr", "--threads", "1", "train.csv", "-o", "m.kfe")
