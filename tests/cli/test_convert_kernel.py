# SPDX-License-Identifier: Apache-2.0
"""Kernel matrices from the command line, and fitting on them."""
import json

import numpy as np
import pytest

from conftest import SMALL

POINTS = np.array([line.split(",")[:3] for line in SMALL.splitlines()[1:]], float)
LABELS = [line.split(",")[3] for line in SMALL.splitlines()[1:]]


def gaussian(rows, columns, gamma):
    return np.exp(-gamma * ((rows[:, None, :] - columns[None, :, :]) ** 2).sum(axis=2))


@pytest.fixture
def small(kfe):
    kfe.write("small.csv", SMALL)
    kfe.write("first.csv", "".join(line + "\n" for line in SMALL.splitlines()[:5]))
    kfe.write("bare.csv", "".join(line.rsplit(",", 1)[0] + "\n" for line in SMALL.splitlines()[1:5]))
    return kfe


def test_matrix_has_the_kernel_s_values(small):
    small.ok("convert", "-k", "rbf:gamma=0.5", "small.csv", "K.npy")
    np.testing.assert_allclose(np.load(small.path("K.npy")), gaussian(POINTS, POINTS, 0.5), rtol=1e-12)


def test_against_gives_the_columns_and_the_label_column_may_be_missing(small):
    for name in ("first.csv", "bare.csv"):
        small.ok("convert", "-k", "rbf:gamma=0.5", name, "--against", "small.csv", "T.npy")
        np.testing.assert_allclose(np.load(small.path("T.npy")), gaussian(POINTS[:4], POINTS, 0.5), rtol=1e-12)


@pytest.mark.parametrize("extension", ["csv", "tsv.gz", "npz"])
def test_labels_go_along_so_that_the_matrix_can_be_fitted(small, extension):
    small.ok("convert", "-k", "rbf:gamma=0.5", "small.csv", f"K.{extension}")
    small.ok("convert", "-k", "rbf:gamma=0.5", "bare.csv", "--against", "small.csv", f"T.{extension}")
    small.ok("fit", "-q", "-m", "koc", "-k", "precomputed", f"K.{extension}", "-o", "ready.kfe")
    small.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.5", "small.csv", "-o", "direct.kfe")
    small.ok("transform", "ready.kfe", f"T.{extension}", "-o", "ready.npy")
    small.ok("transform", "direct.kfe", "bare.csv", "-o", "direct.npy")
    np.testing.assert_allclose(np.load(small.path("ready.npy")), np.load(small.path("direct.npy")), atol=1e-12)


def test_npy_holds_the_matrix_alone_and_takes_a_label_file(small):
    small.write("labels.txt", "".join(label + "\n" for label in LABELS))
    small.ok("convert", "-k", "linear", "small.csv", "K.npy")
    small.ok("fit", "-q", "-m", "koc", "-k", "precomputed", "K.npy", "--label-file", "labels.txt", "-o", "m.kfe")
    assert json.loads(small.ok("info", "--json", "m.kfe").out)["classes"] == ["a", "b"]


def test_label_file_belongs_to_the_rows_only(small):
    small.write("train.csv", "1,2,3\n4,5,6\n7,8,10\n")
    small.write("labels.txt", "p\nq\np\nq\n")
    small.ok("convert", "-k", "linear", "bare.csv", "--label-file", "labels.txt", "--against", "train.csv", "T.csv")
    rows = small.path("T.csv").read_text().split()
    assert [row.count(",") for row in rows] == [3] * 4 and [row[-1] for row in rows] == list("pqpq")


def test_real_targets_go_along(kfe):
    kfe.write("r.csv", "1,2,0.5\n3,4,1.25\n")
    kfe.ok("convert", "-k", "linear", "r.csv", "K.npz")
    np.testing.assert_array_equal(np.load(kfe.path("K.npz"))["y"], [0.5, 1.25])


def test_strings(kfe):
    kfe.write("words.csv", "abc,x\nabd,y\n")
    assert kfe.ok("convert", "-k", "spectrum:length=2", "words.csv", "-").out == "2,1,x\n1,2,y\n"


def test_what_cannot_be_is_refused(small):
    small.refused("convert", "-k", "rbf", "-k", "linear", "small.csv", "K.npy", says="one kernel")
    small.refused("convert", "--against", "small.csv", "small.csv", "K.npy", says="-k KERNEL")
    small.refused("convert", "-k", "precomputed", "small.csv", "K.npy", says="precomputed")
    small.refused("convert", "-k", "rbf", "-", "-", "--against", "-", stdin=b"1,2\n", says="only once")
    small.write("wide.csv", "1,2,3,4,5,a\n")
    small.refused("convert", "-k", "rbf", "wide.csv", "--against", "small.csv", "K.npy", says="5 columns")
    small.refused("convert", "-k", "rbf", "--memory", "1K", "small.csv", "K.npy", says="--memory")


@pytest.mark.parametrize("command", [["kernels"], ["methods"], ["generate", "--list"]])
def test_lists_fit_a_narrow_screen(kfe, command):
    text = kfe.ok(*command).out
    assert max(map(len, text.splitlines())) <= 80
    for entry in json.loads(kfe.ok(*command, "--json").out):
        assert entry["name"] in text


def test_a_misspelt_entry_gets_a_suggestion(kfe):
    for extra in ([], ["--json"]):
        kfe.refused("kernels", "spectrm", *extra, says="did you mean spectrum?")


def test_a_sparse_matrix_of_new_examples_gives_the_same_features(small):
    small.ok("convert", "-k", "rbf:gamma=0.5", "small.csv", "K.npz")
    small.ok("fit", "-q", "-m", "koc", "-k", "precomputed", "K.npz", "-o", "m.kfe")
    for extension in ("npz", "svm"):
        small.ok("convert", "-k", "rbf:gamma=0.5", "first.csv", "--against", "small.csv", f"T.{extension}")
        small.ok("transform", "m.kfe", f"T.{extension}", "-o", f"{extension}.npy")
    np.testing.assert_allclose(np.load(small.path("svm.npy")), np.load(small.path("npz.npy")), rtol=1e-12)
