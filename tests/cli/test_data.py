# SPDX-License-Identifier: Apache-2.0
"""Assumptions about data (labels, columns, missing values) and the messages that state them."""
import collections
import gzip
import io
import json
import shutil
import subprocess
import zipfile

import numpy
import pytest


def write(kfe, name, rows, header=None):
    lines = ([header] if header else []) + [",".join(map(str, row)) for row in rows]
    (kfe.folder / name).write_text("\n".join(lines) + "\n")
    return name


def points(count, label):
    """`count` rows of two columns, with a label each."""
    draw = numpy.random.default_rng(3)
    return [[*draw.normal(size=2).round(6), label(i)] for i in range(count)]


# ---- classes or real values ----


@pytest.mark.parametrize("label, assumed, doubt", [
    (lambda i: i % 20, "20 classes (0, 1, 2, 3, 4, …)", None),
    (lambda i: i % 21, "a real target (0 to 20)", "more than 20 different whole numbers"),
    (lambda i: f"{i % 2}.0", "a real target (0 to 1)", "whole numbers stored as real ones"),
    (lambda i: i % 7 / 2, "a real target (0 to 3)", None),
    (lambda i: i % 2 == 0, "2 classes (False, True)", None),
    (lambda i: ["1", "1.0", "+1", "10", "9"][i % 5], "3 classes (1, 9, 10)", None),
])
def test_what_labels_are_is_printed_and_asked(kfe, label, assumed, doubt):
    write(kfe, "t.csv", points(60, label))
    fit = ["fit", "-m", "kpls", "-k", "rbf", "t.csv", "-o", "m.kfe"]
    said = kfe.ok(*fit).err
    assert assumed in said
    assert ("--task classify" in said and doubt in said) if doubt else "--task" not in said
    for answer in "classify", "regress":
        if assumed.startswith("a real"):
            assert "--task" not in kfe.ok(*fit, "--task", answer).err


def test_cv_and_compare_print_it_too(kfe):
    write(kfe, "t.csv", points(40, lambda i: i % 3))
    for command in ["cv", "-m", "koc"], ["compare", "-m", "koc", "-m", "kfd"]:
        said = kfe.ok(*command, "-k", "rbf", "--learner", "centroid", "--folds", 2, "t.csv").err
        assert "40 examples, 2 columns, 3 classes (0, 1, 2)" in said


def test_a_model_knows_what_labels_are(kfe):
    """Labels of new data are read as the model's labels, in any spelling."""
    write(kfe, "t.csv", points(60, lambda i: i % 30))
    kfe.ok("fit", "-q", "-m", "kpls", "-k", "rbf", "--learner", "knn", "--task", "classify", "t.csv", "-o", "c.kfe")
    kfe.ok("fit", "-q", "-m", "kpls", "-k", "rbf", "--learner", "ls", "--task", "regress", "t.csv", "-o", "r.kfe")
    write(kfe, "few.csv", points(60, lambda i: f"{i % 30}.0")[:6])
    for model in "c.kfe", "r.kfe":
        assert "--task" not in kfe.ok("predict", model, "few.csv").err
        assert "--task" not in kfe.ok("evaluate", model, "few.csv").err
    write(kfe, "unknown.csv", points(6, lambda i: "unknown"))
    kfe.ok("predict", "r.kfe", "unknown.csv")


def test_equal_labels_are_one_class_in_training_and_test(kfe):
    rows = points(60, lambda i: i % 2)
    rows = [[a, b, int(a > 0)] for a, b, _ in rows]
    write(kfe, "train.csv", rows)
    write(kfe, "test.csv", [[a, b, f"+{label}.00"] for a, b, label in rows])
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--learner", "svm", "train.csv", "-o", "m.kfe")
    same = [kfe.ok("evaluate", "-q", "m.kfe", name, "--metrics", "accuracy").out for name in ("train.csv", "test.csv")]
    assert same[0] == same[1]
    assert set(kfe.ok("predict", "m.kfe", "test.csv").out.split()) == {"label", "0", "1"}


# ---- strings ----


def write_strings(kfe, name, header=None, labels=True):
    """Strings of two kinds, which a spectrum kernel separates."""
    strings = [("ab" * 5, "cd" * 5)[i % 2] + "xyz"[i % 3] for i in range(24)]
    lines = ([header] if header else []) + [s + (f",{'pq'[i % 2]}" if labels else "") for i, s in enumerate(strings)]
    (kfe.folder / name).write_text("\n".join(lines) + "\n")
    return name


FIT_STRINGS = ["fit", "-m", "kfd", "-k", "spectrum", "--learner", "centroid"]


@pytest.mark.parametrize("header, says", [("sequence,label", None), ("gene,family", "'family' occurs in no other row")])
def test_a_header_of_a_string_file_is_no_example(kfe, header, says):
    said = kfe.ok(*FIT_STRINGS, write_strings(kfe, "t.csv", header), "-o", "m.kfe").err
    assert "24 examples" in said and "2 classes (p, q)" in said
    assert (says in said and "--header no" in said) if says else "--header" not in said
    assert "24 examples" in kfe.ok(*FIT_STRINGS, "--header", "yes", "t.csv", "-o", "m.kfe").err
    assert "25 examples" in kfe.ok(*FIT_STRINGS, "--header", "no", "t.csv", "-o", "m.kfe").err


def test_string_files_without_a_header_keep_their_first_row(kfe):
    assert "24 examples" in kfe.ok(*FIT_STRINGS, write_strings(kfe, "t.csv"), "-o", "m.kfe").err


@pytest.mark.parametrize("header", [None, "gene"])
def test_strings_are_predicted_without_a_label_column(kfe, header):
    kfe.ok(*FIT_STRINGS, write_strings(kfe, "t.csv", header and f"{header},family"), "-o", "m.kfe")
    expected = kfe.ok("predict", "m.kfe", "t.csv").out
    write_strings(kfe, "new.csv", header, labels=False)
    assert kfe.ok("predict", "m.kfe", "new.csv").out == expected
    assert set(expected.split()) == {"label", "p", "q"}


# ---- degenerate kernels ----


def write_matrix(kfe, name, matrix):
    labels = [i % 2 for i in range(len(matrix))]
    return write(kfe, name, [[*map(float, row), label] for row, label in zip(matrix, labels)])


def test_kpca_takes_a_kernel_that_is_far_too_narrow(kfe):
    """K is the identity: after centring, its only nonzero eigenvalue is 1, for all vectors orthogonal to (1, ..., 1)."""
    write(kfe, "t.csv", points(60, lambda i: i % 2))
    write_matrix(kfe, "identity.csv", numpy.eye(60))
    for kernel, name in ("rbf:gamma=1e6", "t.csv"), ("precomputed", "identity.csv"):
        said = kfe.ok("fit", "-m", "kpca", "--dim", 7, "-k", kernel, name, "-o", "m.kfe").err
        assert "equally good" in said and "7 features" in said
        kfe.ok("transform", "m.kfe", name, "-o", "z.npy")
        z = numpy.load(kfe.path("z.npy"))
        numpy.testing.assert_allclose(z.T @ z, numpy.eye(7), atol=1e-12)
        numpy.testing.assert_allclose(z.sum(axis=0), 0, atol=1e-12)
    kfe.ok("generate", "iris", "-o", "iris.csv")  # LAPACK's dsyevr misses some of its equal eigenvalues
    assert "10 features" in kfe.ok("fit", "-m", "kpca", "-k", "rbf:gamma=1e6", "iris.csv", "-o", "m.kfe").err
    kfe.ok("cv", "-q", "-m", "kpca", "-k", "rbf:gamma=1e6", "--learner", "knn", "--folds", 3, "iris.csv")


def test_kpca_says_that_it_leaves_out_negative_directions(kfe):
    basis = numpy.linalg.qr(numpy.random.default_rng(1).normal(size=(20, 20)))[0]
    matrix = basis * ([5, 3, 2] + [0] * 14 + [-1, -2, -4]) @ basis.T
    matrix = (matrix + matrix.T) / 2
    write_matrix(kfe, "k.csv", matrix)
    said = kfe.ok("fit", "-m", "kpca", "--center", "no", "-k", "precomputed", "k.csv", "-o", "m.kfe").err
    assert "not positive definite" in said and "left out" in said and "3 features" in said
    record = kfe.ok("info", "--json", "m.kfe").out
    centred = matrix - matrix.mean(0) - matrix.mean(1)[:, None] + matrix.mean()
    least = json.loads(record)["records"]["least-eigenvalue"][0]
    numpy.testing.assert_allclose(least, numpy.linalg.eigvalsh(centred)[0], rtol=1e-8)


@pytest.mark.parametrize("method", ["hsic", "kpca"])
def test_a_kernel_without_positive_eigenvalues_is_named(kfe, method):
    write_matrix(kfe, "k.csv", -numpy.eye(20))
    status = 1 if method == "hsic" else 2
    said = kfe.run("fit", "-m", method, "-k", "precomputed", "k.csv", "-o", "m.kfe", status=status).err
    assert "no positive eigenvalue" in said and "use another kernel" in said


# ---- files ----


def zipped(name):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "x")
    return buffer.getvalue()


def test_features_in_libsvm_files_have_the_true_label_or_none(kfe):
    write(kfe, "t.csv", points(12, lambda i: "ab"[i % 2]))
    kfe.ok("fit", "-q", "-m", "kpca", "--dim", 2, "t.csv", "-o", "m.kfe")
    kfe.ok("transform", "m.kfe", "t.csv", "-o", "z.svm")
    assert [line.split()[0] for line in kfe.path("z.svm").read_text().splitlines()] == ["a", "b"] * 6
    write(kfe, "new.csv", [row[:2] for row in points(12, lambda i: 0)])
    kfe.ok("transform", "m.kfe", "new.csv", "-o", "z.svm")
    assert all(line.startswith("1:") for line in kfe.path("z.svm").read_text().splitlines())
    kfe.ok("convert", "z.svm", "back.csv")
    assert len(kfe.path("back.csv").read_text().splitlines()) == 12


@pytest.mark.parametrize("content, what", [
    (b"\x89PNG\r\n\x1a\n" + bytes(50), "a PNG image"),
    (b"%PDF-1.7\n" + bytes(50), "a PDF document"),
    (b"\x89HDF\r\n\x1a\n" + bytes(50), "an HDF5 file"),
    (zipped("[Content_Types].xml"), "an Excel (.xlsx) or other Office file"),
    (zipped("notes.txt"), "a zip archive without NumPy arrays"),
])
def test_foreign_files_are_named(kfe, content, what):
    for name, stored in ("x.csv", content), ("x.gz", gzip.compress(content)):
        kfe.write(name, stored)
        kfe.refused("fit", "-m", "koc", name, "-o", "m.kfe", says=(name, f"this is {what}, not a table"))


def test_a_parquet_file_is_named_with_and_without_its_plug_in(kfe):
    for name, stored in ("x.csv", b"PAR1" + bytes(50)), ("x.gz", gzip.compress(b"PAR1" + bytes(50))):
        kfe.write(name, stored)
        kfe.refused("fit", "-m", "koc", name, "-o", "m.kfe", says=(name, "Parquet file"))


def test_a_model_in_place_of_data_is_named(kfe):
    kfe.refused("transform", kfe.model(), "m.kfe", says=("this is a model", "named first"))


# ---- the command line ----


def test_a_kernel_parameter_as_a_flag_is_explained(kfe):
    says = {("--gamma", "0.1"): "-k rbf:gamma=0.1", ("--gamma=2",): "-k rbf:gamma=2",
            ("-k", "laplacian", "--gamma", "3"): "-k laplacian:gamma=3", ("--degree", "2"): "-k poly:degree=2"}
    for flags, advice in says.items():
        kfe.refused("fit", "-m", "koc", *flags, "t.csv", "-o", "m.kfe", says=advice)


def test_one_method_is_not_taken_silently_of_two(kfe):
    for command in "fit", "cv":
        kfe.refused(command, "-m", "koc", "-m", "kfd", "t.csv", says=("one method", "twice", "kfe compare"))
    kfe.refused("fit", "-m", "koc", "--learner", "knn", "--learner", "svm", "t.csv", says=("one learner", "twice"))


def test_help_lists_metrics_and_what_turns_a_flag_off(kfe):
    for command in "cv", "evaluate":
        shown = " ".join(kfe.ok("help", command).out.split())
        assert "balanced-accuracy, " in shown and "rmse, " in shown
    assert "--stratified no turns it off" in " ".join(kfe.ok("help", "cv").out.split())
    kfe.refused("cv", "t.csv", "-m", "koc", "--metrics", says=("--metrics needs a value", "balanced-accuracy", "rmse"))


def test_the_version_in_every_form(kfe):
    assert len({kfe.ok(*form).out for form in (["version"], ["-V"], ["--version"], ["fit", "-V"])}) == 1


def test_the_largest_confusions_of_many_classes(kfe):
    """Classes are listed in the order of their numbers, not of appearance; counts by brute force."""
    draw = numpy.random.default_rng(5)
    rows = [[x + draw.normal() * 3, draw.normal(), x] for x in draw.permutation(numpy.repeat(numpy.arange(40), 6))]
    write(kfe, "t.csv", rows)
    kfe.ok("fit", "-q", "-m", "none", "--learner", "knn", "--neighbors", 15, "--task", "classify", "t.csv",
           "-o", "m.kfe")
    predicted = [int(line) for line in kfe.ok("predict", "m.kfe", "t.csv").out.split()[1:]]
    truth = [row[2] for row in rows]
    result = json.loads(kfe.ok("evaluate", "-q", "--json", "m.kfe", "t.csv").out)["confusion"]
    assert result["classes"] == [str(k) for k in range(40)]
    counts = collections.Counter((t, p) for t, p in zip(truth, predicted) if t != p)
    shown = kfe.ok("evaluate", "-q", "m.kfe", "t.csv").out
    assert "40 classes is too wide" in shown and "JSON" in shown
    listed = [tuple(map(int, line.split())) for line in shown.split("times\n")[1].splitlines()]
    expected = sorted(((*pair, count) for pair, count in counts.items()), key=lambda row: (-row[2], row[0], row[1]))
    assert listed == expected[:20]


def test_the_table_of_fifteen_classes_is_whole(kfe):
    write(kfe, "t.csv", points(60, lambda i: i % 15))
    kfe.ok("fit", "-q", "-m", "none", "--learner", "knn", "t.csv", "-o", "m.kfe")
    table = kfe.ok("evaluate", "-q", "m.kfe", "t.csv").out.split("columns\n")[1].splitlines()
    assert table[0].split() == [row.split()[0] for row in table[1:]] == [str(k) for k in range(15)]


# ---- missing values ----


def gappy(count, seed=7):
    """Two informative columns with gaps, and the class. Gaps are NaN here and empty in files."""
    draw = numpy.random.default_rng(seed)
    table = draw.normal(size=(count, 3)).round(2)
    label = (table[:, 0] + table[:, 1] > 0).astype(int)
    table[draw.random(table.shape) < 0.2] = numpy.nan
    return table, label


def write_gappy(kfe, name, table, label):
    return write(kfe, name, [["" if numpy.isnan(x) else x for x in row] + [g] for row, g in zip(table, label)])


def fill_of(kind, table):
    if kind == "mean":
        return numpy.nanmean(table, axis=0)
    if kind == "median":
        return numpy.nanmedian(table, axis=0)
    columns = [numpy.unique(column[~numpy.isnan(column)], return_counts=True) for column in table.T]
    return [values[counts.argmax()] for values, counts in columns]


@pytest.mark.parametrize("kind", ["mean", "median", "most-frequent"])
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_model_fills_in_what_its_training_rows_suggest(kfe, kind, scale):
    """Equals writing the training file's fills into both files."""
    train, label = gappy(60)
    test, test_label = gappy(30, seed=8)
    fill = numpy.array(fill_of(kind, train))
    write_gappy(kfe, "train.csv", train, label)
    write_gappy(kfe, "test.csv", test, test_label)
    write_gappy(kfe, "train-full.csv", numpy.where(numpy.isnan(train), fill, train), label)
    write_gappy(kfe, "test-full.csv", numpy.where(numpy.isnan(test), fill, test), test_label)
    fit = ["fit", "-q", "-m", "kfd", "-k", "rbf:gamma=0.5", "--scale", scale]
    kfe.ok(*fit, "--missing", kind, "train.csv", "-o", "m.kfe")
    kfe.ok(*fit, "train-full.csv", "-o", "full.kfe")
    features = {}
    for model, name in ("m", "test"), ("full", "test-full"), ("m", "test-full"):
        kfe.ok("transform", f"{model}.kfe", f"{name}.csv", "-o", "z.npy")
        features[model, name] = numpy.load(kfe.path("z.npy"))
    numpy.testing.assert_allclose(features["m", "test"], features["full", "test-full"], rtol=1e-9, atol=1e-12)
    numpy.testing.assert_allclose(features["m", "test"], features["m", "test-full"], rtol=1e-9, atol=1e-12)
    assert f"missing values filled with the {kind}" in kfe.ok("info", "m.kfe").out
    same = [kfe.ok("transform", "m.kfe", "test.csv", *more).out for more in ([], ["--missing", "median"])]
    assert same[0] == same[1]
    kfe.refused("transform", "m.kfe", "test.csv", "--missing", "error", says="is missing")


def test_a_model_that_learned_no_fill_says_so(kfe):
    train, label = gappy(20)
    write_gappy(kfe, "gaps.csv", train, label)
    kfe.ok("fit", "-q", "-m", "kfd", "--missing", "drop", "gaps.csv", "-o", "m.kfe")
    kfe.refused("transform", "m.kfe", "gaps.csv", "--missing", "mean",
                says=("has not learned what to fill in", "--missing mean", "--missing drop"))


def test_cross_validation_fills_in_without_leaking(kfe):
    """For each fold: the fills of its training rows, a fit, and the accuracy on its test rows."""
    table, label = gappy(60)
    table[table[:, 2] > 0.8, 2] = 50  # so the mean depends on the rows
    write_gappy(kfe, "t.csv", table, label)
    spec = ["-m", "kfd", "-k", "rbf:gamma=0.5", "--scale", "standard", "--learner", "svm"]
    splits = [(numpy.arange(60)[k::4] + 1) for k in range(4)]
    kfe.write("splits.txt", "".join(f"train {' '.join(str(i + 1) for i in range(60) if i + 1 not in test)}\n"
                                    f"test {' '.join(map(str, test))}\n" for test in splits))
    result = json.loads(kfe.ok("cv", "-q", "--json", *spec, "--missing", "mean", "--split", "file", "--split-file",
                               "splits.txt", "t.csv").out)
    assert len(result["splits"]) == 4
    for rows, split in zip(splits, result["splits"]):
        test = numpy.isin(numpy.arange(60), rows - 1)
        write_gappy(kfe, "a.csv", table[~test], label[~test])
        write_gappy(kfe, "b.csv", table[test], label[test])
        kfe.ok("fit", "-q", *spec, "--missing", "mean", "a.csv", "-o", "m.kfe")
        by_hand = kfe.ok("evaluate", "-q", "m.kfe", "b.csv", "--metrics", "accuracy").out.split()[1]
        assert by_hand == f"{split['metrics']['accuracy']:.6g}"


def test_rows_that_are_dropped_are_seen_in_the_output(kfe):
    table, label = gappy(20)
    write_gappy(kfe, "t.csv", table, label)
    whole = [i + 1 for i, row in enumerate(table) if not numpy.isnan(row).any()]
    kfe.ok("fit", "-q", "-m", "kfd", "--learner", "centroid", "--missing", "drop", "t.csv", "-o", "m.kfe")
    for command in "predict", "transform":
        lines = kfe.ok(command, "m.kfe", "t.csv", "--missing", "drop").out.splitlines()
        assert lines[0].startswith("row,") and [int(line.split(",")[0]) for line in lines[1:]] == whole
    kfe.ok("predict", "m.kfe", "t.csv", "--missing", "drop", "-o", "p.npz")
    assert numpy.load(kfe.path("p.npz"))["id"].tolist() == [str(i) for i in whole]
    assert ".npz" in kfe.ok("transform", "m.kfe", "t.csv", "--missing", "drop", "-o", "z.npy").err


# ---- columns ----


def named(count=40, seed=4):
    """Rows of id, a, b, c and the class, which depends on a and b."""
    draw = numpy.random.default_rng(seed)
    table = draw.normal(size=(count, 3)).round(4)
    return [[f"p{i}", *row, "no yes".split()[int(row[0] + row[1] > 0)]] for i, row in enumerate(table)]


FIT_NAMED = ["fit", "-m", "kfd", "-k", "rbf:gamma=0.5", "--learner", "svm"]


def columns(rows, *order):
    return [[row[j] for j in order] for row in rows]


@pytest.mark.parametrize("flags", [["--id", "name"], ["--id", "1"], ["--drop", "name"], ["--drop", "1"],
                                   ["--select", "a,b,c"], ["--select", "2-4"], ["--drop", "na*"]])
def test_columns_that_are_no_features(kfe, flags):
    """The features equal those of a file without the column."""
    rows = named()
    write(kfe, "all.csv", rows, "name,a,b,c,class")
    write(kfe, "plain.csv", columns(rows, 1, 2, 3, 4), "a,b,c,class")
    assert "40 examples, 3 columns, 2 classes (no, yes)" in kfe.ok(*FIT_NAMED, *flags, "all.csv", "-o", "m.kfe").err
    kfe.ok(*FIT_NAMED, "-q", "plain.csv", "-o", "plain.kfe")
    expected = kfe.ok("transform", "plain.kfe", "plain.csv").out
    found = kfe.ok("transform", "m.kfe", "all.csv").out
    if "--id" in flags:  # the names of rows come along
        assert found.startswith("name,")
        found = "".join(line.split(",", 1)[1] + "\n" for line in found.splitlines())
    assert found == expected
    assert kfe.ok("transform", "m.kfe", "plain.csv").out == expected


def test_the_id_is_kept_in_outputs(kfe):
    write(kfe, "t.csv", named(), "name,a,b,c,class")
    kfe.ok(*FIT_NAMED, "-q", "--id", "name", "t.csv", "-o", "m.kfe")
    for command in "predict", "transform":
        lines = [line.split(",") for line in kfe.ok(command, "--id", "name", "m.kfe", "t.csv").out.splitlines()]
        assert [line[0] for line in lines] == ["name"] + [f"p{i}" for i in range(40)]


def test_new_data_is_matched_by_name(kfe):
    rows = named()
    write(kfe, "t.csv", columns(rows, 1, 2, 3, 4), "a,b,c,class")
    kfe.ok(*FIT_NAMED, "-q", "t.csv", "-o", "m.kfe")
    expected = kfe.ok("predict", "m.kfe", "t.csv").out
    for name, order, header, ignored in (("order", (4, 3, 1, 2), "class,c,a,b", ""), ("bare", (3, 2, 1), "c,b,a", ""),
                                         ("more", (0, 3, 4, 2, 1), "name,c,class,b,a", "1 column that the model")):
        write(kfe, f"{name}.csv", columns(rows, *order), header)
        done = kfe.ok("predict", "m.kfe", f"{name}.csv")
        assert done.out == expected and ignored in done.err
    kfe.ok("evaluate", "m.kfe", "more.csv")
    write(kfe, "less.csv", columns(rows, 3, 4), "c,class")
    kfe.refused("predict", "m.kfe", "less.csv", says=("2 of the 3 columns", "missing: 'a', 'b'"))
    write(kfe, "nameless.csv", columns(rows, 1, 2, 3))
    assert kfe.ok("predict", "m.kfe", "nameless.csv").out == expected


def test_row_numbers_without_a_name_are_left_out(kfe):
    rows = [[i, *row[1:]] for i, row in enumerate(named())]
    write(kfe, "t.csv", rows, ",a,b,c,class")
    said = kfe.ok(*FIT_NAMED, "t.csv", "-o", "m.kfe").err
    assert "counts the rows" in said and "40 examples, 3 columns" in said
    write(kfe, "t.csv", [[7 * i, *row[1:]] for i, row in enumerate(rows)], ",a,b,c,class")  # not row numbers
    assert "40 examples, 4 columns" in kfe.ok(*FIT_NAMED, "t.csv", "-o", "m.kfe").err


def test_columns_that_do_not_exist_are_named(kfe):
    write(kfe, "t.csv", named(), "name,a,b,c,class")
    kfe.refused(*FIT_NAMED, "--drop", "nam", "t.csv", "-o", "m.kfe", says=("drop", "'nam'", "did you mean 'name'"))
    kfe.refused(*FIT_NAMED, "--select", "2-9", "t.csv", "-o", "m.kfe", says=("select", "'2-9'", "1 to 5"))
    kfe.ok("convert", "--drop", "name", "t.csv", "t.svm")
    kfe.refused(*FIT_NAMED, "--drop", "2", "t.svm", "-o", "m.kfe", says=("--drop", "dense tables", "sparse rows"))


def test_unseen_sparse_columns_are_ignored_with_a_count(kfe):
    kfe.write("t.svm", "".join(f"{i % 2} 1:{i % 5} 2:{(i * 3) % 7 + i % 2}\n" for i in range(20)))
    kfe.ok(*FIT_NAMED, "-q", "t.svm", "-o", "m.kfe")
    kfe.write("new.svm", "".join(f"{i % 2} 1:{i % 5} 2:{(i * 3) % 7 + i % 2} {3 + i}:1\n" for i in range(20)))
    done = kfe.ok("predict", "m.kfe", "new.svm")
    assert done.out == kfe.ok("predict", "m.kfe", "t.svm").out and "20 entries of columns" in done.err


def test_evaluate_warns_of_the_training_file(kfe):
    rows = named()
    write(kfe, "t.csv", columns(rows, 1, 2, 3, 4), "a,b,c,class")
    write(kfe, "other.csv", columns(named(seed=9), 1, 2, 3, 4), "a,b,c,class")
    write(kfe, "order.csv", columns(rows, 4, 2, 3, 1), "class,b,c,a")
    kfe.ok(*FIT_NAMED, "-q", "t.csv", "-o", "m.kfe")
    for name, same in ("t.csv", True), ("order.csv", True), ("other.csv", False):
        assert ("data that the model was fitted on" in kfe.ok("evaluate", "m.kfe", name).err) == same


def test_evaluate_warns_of_training_data_with_gaps(kfe):
    table, label = gappy(40)
    write_gappy(kfe, "t.csv", table, label)
    kfe.ok(*FIT_NAMED, "-q", "--missing", "mean", "t.csv", "-o", "m.kfe")
    assert "data that the model was fitted on" in kfe.ok("evaluate", "m.kfe", "t.csv").err


def test_info_says_that_models_contain_training_rows(kfe):
    write(kfe, "t.csv", points(20, lambda i: i % 2))
    kfe.ok("fit", "-q", "-m", "kpca", "t.csv", "-o", "kernel.kfe")
    kfe.ok("fit", "-q", "-m", "pca", "t.csv", "-o", "linear.kfe")
    assert "privacy     the file contains 20 rows of the training data" in kfe.ok("info", "kernel.kfe").out
    assert "privacy" not in kfe.ok("info", "linear.kfe").out


def complete(kfe, *line):
    """The completions that bash offers for the last word of a line, which is split as bash splits it."""
    kfe.write("complete.sh", kfe.ok("help", "--completion", "bash").out)
    script = 'source complete.sh; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kfe 2> /dev/null; echo "${COMPREPLY[*]}"'
    done = subprocess.run(["bash", "-c", script, "bash", *line], cwd=kfe.folder, capture_output=True, text=True,
                          check=True)
    return done.stdout.split()


def test_completion_of_metrics_and_kernel_parameters(kfe):
    assert complete(kfe, "kfe", "cv", "--metrics", "bal") == ["balanced-accuracy"]
    assert complete(kfe, "kfe", "fit", "-k", "rbf", ":", "ga") == ["gamma="]
    assert complete(kfe, "kfe", "fit", "-k", "poly", ":", "deg") == ["degree="]


def test_completion_for_zsh_and_fish(kfe):
    zsh, fish = (kfe.ok("help", "--completion", shell).out for shell in ("zsh", "fish"))
    assert zsh.startswith("#compdef kfe\n") and "--metrics) compadd -- accuracy" in zsh and "fit:--scale)" in zsh
    assert "rbf:*) compadd -S '' -P rbf: -- gamma=" in zsh and "--neighbors" in zsh
    assert "complete -c kfe -n '__fish_seen_subcommand_from fit' -l scale -x -a 'none" in fish
    assert "-l metrics -x -a 'accuracy" in fish and "rbf:gamma=" in fish and "-l neighbors" in fish
    kfe.refused("help", "--completion", "tcsh", says="bash, zsh and fish")
    for shell, script in ("zsh", zsh), ("fish", fish):
        if shutil.which(shell):
            kfe.write("script", script)
            assert subprocess.run([shell, "-n", "script"], cwd=kfe.folder, check=False).returncode == 0


def test_arrays_of_single_precision_stay_so_and_mean_the_same(kfe):
    """A .npy file of 4-byte numbers gives the models, files and messages of the same numbers in 8 bytes, for every command."""
    rng = numpy.random.default_rng(0)
    single = rng.normal(size=(60, 5)).astype("f4")
    numpy.save(kfe.path("y.npy"), numpy.arange(60) % 3)
    outputs = []
    for table in (single, single.astype(float), single.astype(">f4")):
        numpy.save(kfe.path("x.npy"), table)
        data = ("x.npy", "--label-file", "y.npy")
        said = [kfe.ok("fit", "-m", "kpca", "--dim", "2", "-k", "rbf", *data, "-o", "m.kfe").err.split(", 0.")[0]]
        kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--learner", "svm", "--scale", "standard", *data, "-o", "n.kfe")
        kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--missing", "mean", *data, "-o", "o.kfe")
        said += [kfe.path(name).read_bytes() for name in ("m.kfe", "n.kfe", "o.kfe")]
        said += [kfe.ok("cv", "-q", "-m", "koc", "-k", "rbf", "--learner", "knn", "--folds", "3", *data).out.splitlines()[-1],
                 kfe.ok("measure", "-q", "-k", "rbf", *data).out, kfe.ok("evaluate", "-q", "n.kfe", *data).out]
        for name in ("c.csv", "c.npy", "c.svm", "c.npz"):
            kfe.ok("convert", "-q", *data, "--task", "classify", name)
            said.append(kfe.path(name).read_bytes())
        outputs.append(said)
    assert outputs[0] == outputs[1] == outputs[2]
    gap = single.copy()
    gap[7, 3] = numpy.nan
    numpy.save(kfe.path("x.npy"), gap)
    kfe.refused("fit", "-m", "kpca", "x.npy", "--label", "none", "-o", "p.kfe", says="row 8, column 4 is missing")
    kfe.ok("fit", "-q", "-m", "kpca", "--missing", "drop", "x.npy", "--label", "none", "-o", "p.kfe")


def test_nipals_leaves_missing_values_out(kfe):
    """The fit's line, the file and new rows; tests of the numbers are in python/tests/test_nipals.py."""
    random = numpy.random.default_rng(3)
    x = random.normal(size=(40, 2)) @ random.normal(size=(2, 5)) + 0.1 * random.normal(size=(40, 5))
    y = x.sum(1)
    x[random.random(x.shape) < 0.1] = numpy.nan
    share = 100 * numpy.isnan(x).mean()
    write(kfe, "t.csv", [["" if numpy.isnan(value) else value for value in row] + [f"{label:.4f}"] for row, label in zip(x, y)])
    fit = ["fit", "-m", "pls", "--dim", "2", "--learner", "ls", "--scale", "none", "t.csv", "-o", "m.kfe"]
    kfe.refused(*fit, says="is missing")
    assert f"{share:.2g}% of the values missing (NIPALS)" in kfe.ok(*fit, "--missing", "nipals").err
    info = kfe.ok("info", "m.kfe").out
    assert "missing values left out (NIPALS)" in info and "orthogonality-loss" in info
    assert json.loads(kfe.ok("info", "--json", "m.kfe").out)["views"][0]["missing"] == "nipals"
    predicted = numpy.array(kfe.ok("predict", "-q", "m.kfe", "t.csv").out.split()[1:], dtype=float)
    assert numpy.corrcoef(predicted, y)[0, 1] > 0.98
    assert "coefficient-sd" in kfe.ok("explain", "-q", "--json", "--parts", "jackknife", "--train", "t.csv", "m.kfe", "t.csv").out
    kfe.refused("fit", "-m", "kpls", "-k", "linear", "--missing", "nipals", "t.csv", "-o", "n.kfe", says="--missing nipals is for pca, pls, plsda and opls")
    kfe.refused(*fit, "--missing", "nipals", "--prepare", "snv", says=("--missing nipals leaves values missing", "--prepare"))
