# SPDX-License-Identifier: Apache-2.0
"""A model that was fitted on one format reads every other: the place of the label belongs to a format, not to the model."""
import gzip
import io
import json
import lzma
import re

import numpy
import pytest

from conftest import takes_long

sparse = pytest.importorskip("scipy.sparse")
scipy_io = pytest.importorskip("scipy.io")

NAMES = "abcd"
FIT = ["fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.3", "--scale", "none", "--learner", "svm", "--task", "classify"]


def sample():
    draw = numpy.random.default_rng(5)
    labels = draw.integers(1, 4, 40)
    return (draw.normal(size=(40, 4)) + labels[:, None] * [1, -1, 0.5, 2]).round(3), labels


def text(table, label=None, separator=","):
    """The rows of a table, the column `label` written as whole numbers."""
    return "".join(separator.join(str(int(v)) if j == label else str(v) for j, v in enumerate(row)) + "\n" for row in table)


def arff(labelled, rows):
    names = "".join(f"@attribute {name} numeric\n" for name in NAMES)
    return "@relation r\n" + names + ("@attribute y {1,2,3}\n" if labelled else "") + "@data\n" + rows


def svm(x, labels=None):
    rows = [" ".join(f"{j + 1}:{v}" for j, v in enumerate(row)) for row in x]
    return "".join((f"{labels[i]} " if labels is not None else "") + row + "\n" for i, row in enumerate(rows))


def write_array(kfe, name, array):
    if name.endswith(".mtx"):
        scipy_io.mmwrite(str(kfe.path(name)), array)
    else:
        numpy.save(kfe.path(name), array)


def write_labelled(kfe):
    """The same rows with labels in every format."""
    x, labels = sample()
    table = numpy.c_[x, labels]
    kfe.write("names.csv", "a,b,c,d,y\n" + text(table, 4))
    kfe.write("plain.csv", text(table, 4))
    kfe.write("packed.csv.gz", gzip.compress(text(table, 4).encode()))
    kfe.write("t.tsv", text(table, 4, "\t"))
    kfe.write("s.svm", svm(x, labels))
    kfe.write("packed.svm.xz", lzma.compress(svm(x, labels).encode()))
    write_array(kfe, "a.npy", table)
    write_array(kfe, "m.mtx", table)
    numpy.savez(kfe.path("z.npz"), X=x, y=labels)
    csr = sparse.csr_matrix(x)
    numpy.savez(kfe.path("c.npz"), format=b"csr", shape=csr.shape, data=csr.data, indices=csr.indices, indptr=csr.indptr, y=labels)
    kfe.write("d.arff", arff(True, text(table, 4)))
    kfe.write("q.arff", arff(True, "".join("{" + ",".join(f"{j} {v}" for j, v in enumerate(row)) + f",4 {label}}}\n"
                                           for row, label in zip(x, labels))))
    kfe.ok("convert", "names.csv", "packed.tsv.zst")
    return ["names.csv", "plain.csv", "packed.csv.gz", "t.tsv", "packed.tsv.zst", "s.svm", "packed.svm.xz", "a.npy", "m.mtx", "z.npz", "c.npz",
            "d.arff", "q.arff"]


def write_unlabelled(kfe):
    x, _ = sample()
    kfe.write("names_u.csv", "a,b,c,d\n" + text(x))
    kfe.write("plain_u.csv", text(x))
    kfe.write("t_u.tsv", text(x, None, "\t"))
    kfe.write("s_u.svm", svm(x))
    write_array(kfe, "a_u.npy", x)
    write_array(kfe, "m_u.mtx", x)
    numpy.savez(kfe.path("z_u.npz"), X=x)
    sparse.save_npz(kfe.path("c_u.npz"), sparse.csr_matrix(x))
    scipy_io.mmwrite(str(kfe.path("sparse_u.mtx")), sparse.coo_matrix(x))
    kfe.write("d_u.arff", arff(False, text(x)))
    kfe.write("q_u.arff", arff(False, "".join("{" + ",".join(f"{j} {v}" for j, v in enumerate(row)) + "}\n" for row in x)))
    return ["names_u.csv", "plain_u.csv", "t_u.tsv", "s_u.svm", "a_u.npy", "m_u.mtx", "z_u.npz", "c_u.npz", "sparse_u.mtx", "d_u.arff", "q_u.arff"]


def numbers(text):
    return numpy.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, ndmin=2)


FORMATS = ["names.csv", "plain.csv", "packed.csv.gz", "t.tsv", "packed.tsv.zst", "s.svm", "packed.svm.xz", "a.npy", "m.mtx", "z.npz", "c.npz",
           "d.arff", "q.arff"]
EXPLAIN = ["explain", "-q", "--json", "--examples", "--repeats", "1", "--parts"]


def explained(kfe, new, *parts):
    return json.loads(kfe.ok(*EXPLAIN, ";".join(parts), "m.kfe", new).out)["tables"]


def page(kfe, trained, new):
    """The report without the names of its files and the time that it took."""
    kfe.ok("report", "-q", "m.kfe", "--train", trained, "--test", new, "-o", "r.html")
    text = re.sub(r"<dt>(command|time)</dt>.*", "", kfe.path("r.html").read_text())
    return re.sub(r"examples; \w+: ", "examples; ", text)


def same(found, expected):
    """Two explanations with the same numbers but for rounding, which differs between sparse and dense rows."""
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if isinstance(expected, (list, dict)) and len(found) == len(expected):
        pairs = zip(found, expected) if isinstance(expected, list) else ((found[key], expected[key]) for key in expected)
        return all(same(a, b) for a, b in pairs)
    return found == expected


def is_sparse(name):
    return name[0] in "sq" or name.startswith(("packed.svm", "c"))


@pytest.fixture(scope="module")
def known():
    """What the models of all formats have in common: labels, features and metrics."""
    return {}


@pytest.mark.parametrize("trained", [pytest.param(name, marks=[] if name in ("names.csv", "s.svm") else takes_long) for name in FORMATS])
def test_every_format_after_every_other(kfe, monkeypatch, known, trained):
    """Each model says the same of the same rows in every format, and the models of all formats agree."""
    monkeypatch.setenv("KFE_CHARTS", "")
    labelled = write_labelled(kfe)
    assert labelled == FORMATS
    unlabelled = write_unlabelled(kfe)
    kfe.ok(*FIT, trained, "-o", "m.kfe")
    tables = pages = None
    for new in labelled + unlabelled:
        found = kfe.ok("predict", "-q", "m.kfe", new)
        assert found.out == known.setdefault("labels", found.out) and not found.err, new
        found = numbers(kfe.ok("transform", "-q", "m.kfe", new).out)[:, :2]
        assert numpy.allclose(found, known.setdefault("features", found), atol=1e-8), new
        found = explained(kfe, new, "gradient", "diagnostics")
        assert same(found, tables := tables or found), new
    for new in labelled:
        found = json.loads(kfe.ok("evaluate", "-q", "--json", "m.kfe", new).out)["metrics"]
        assert found == known.setdefault("metrics", found), new
        found = explained(kfe, new, "permutation")
        assert same(found, known.setdefault(f"losses of {trained}", found)), new
    for group in [labelled, unlabelled]:
        pages = {}
        for new in group:
            found = page(kfe, trained, new)
            assert found == pages.setdefault(is_sparse(new), found), new
    piped = kfe.ok("predict", "-q", "m.kfe", "-", stdin=kfe.path("plain.csv").read_bytes())
    assert piped.out == known["labels"]


@pytest.mark.parametrize("flag, column", [("first", 0), ("3", 2), ("y", 2)])
def test_a_place_that_was_given_holds_for_tables_only(kfe, flag, column):
    x, labels = sample()
    table = numpy.insert(x, column, labels, axis=1)
    header = ",".join([*NAMES[:column], "y", *NAMES[column:]]) + "\n"
    labelled, unlabelled = write_labelled(kfe), write_unlabelled(kfe)
    kfe.write("train.csv", (header if flag == "y" else "") + text(table, column))
    kfe.write("same.tsv", text(table, column, "\t"))
    write_array(kfe, "same.npy", table)
    write_array(kfe, "same.mtx", table)
    kfe.ok(*FIT, "--label", flag, "train.csv", "-o", "m.kfe")
    expected = kfe.ok("predict", "-q", "m.kfe", "a_u.npy").out
    for new in ["train.csv", "same.tsv", "same.npy", "same.mtx", "s.svm", "packed.svm.xz", "z.npz", "c.npz", *unlabelled]:
        found = kfe.ok("predict", "-q", "m.kfe", new)
        assert found.out == expected and not found.err, new
    for new in labelled:
        given = [] if new in ["s.svm", "packed.svm.xz", "z.npz", "c.npz"] else ["--label", "last"]
        assert kfe.ok("predict", "-q", *given, "m.kfe", new).out == expected, new
    named = kfe.ok("predict", "-q", "m.kfe", "names.csv")
    if flag == "y":
        assert named.out == expected
    else: # the header cannot be compared with anything
        assert f"column {column + 1} ('{NAMES[column]}') is taken as the label" in named.err


def test_columns_that_are_no_features_may_be_missing(kfe):
    """The label keeps its place among the features."""
    x, labels = sample()
    ids = numpy.arange(len(x))
    kfe.write("train.csv", text(numpy.c_[ids, x[:, :1], labels, x[:, 1:], ids], 2))
    kfe.write("short.csv", text(numpy.c_[x[:, :1], labels, x[:, 1:]], 1))
    kfe.ok(*FIT, "--label", "3", "--id", "1", "--drop", "7", "train.csv", "-o", "m.kfe")
    expected = kfe.ok("predict", "-q", "--id", "1", "--drop", "7", "m.kfe", "train.csv").out.splitlines()
    assert [line.split(",")[1] for line in expected] == kfe.ok("predict", "-q", "m.kfe", "short.csv").out.splitlines()
    assert kfe.ok("predict", "-q", "--id", "1", "--select", "2,4-6", "m.kfe", "train.csv").out.splitlines() == expected
    kfe.write("other.csv", text(numpy.c_[x[:, :1], labels, x[:, 1:], ids], 1))
    kfe.refused("predict", "-q", "--select", "1,3-5", "m.kfe", "other.csv", says=["column 3 of 7", "--label"])
    kfe.ok("predict", "-q", "--select", "1,3-5", "--label", "2", "m.kfe", "other.csv")
    kfe.refused("predict", "-q", "--id", "1", "m.kfe", "train.csv", says="columns")
    words = [f"class{label}" for label in labels]
    kfe.write("words.csv", "".join(f"{i},{row[0]},{word},{','.join(map(str, row[1:]))}\n" for i, (row, word) in enumerate(zip(x, words))))
    kfe.write("few.csv", "".join(f"{row[0]},{word},{','.join(map(str, row[1:]))}\n" for row, word in zip(x, words)))
    kfe.ok(*FIT, "--label", "3", "--id", "1", "words.csv", "-o", "w.kfe")
    assert kfe.ok("evaluate", "-q", "w.kfe", "few.csv").out == kfe.ok("evaluate", "-q", "--id", "1", "w.kfe", "words.csv").out


@pytest.mark.parametrize("label", ["first", "last", "2", "a"])
def test_a_label_that_is_a_feature_is_refused(kfe, label):
    write_labelled(kfe)
    write_unlabelled(kfe)
    kfe.ok(*FIT, "names.csv", "-o", "m.kfe")
    for name in ["names_u.csv"] + (["plain_u.csv", "a_u.npy", "m_u.mtx", "q_u.arff"] if label != "a" else ["q_u.arff"]):
        kfe.refused("predict", "-q", "--label", label, "m.kfe", name, says=["as the label", "--label none"])
    assert kfe.ok("predict", "-q", "--label", "none", "m.kfe", "names_u.csv").out == kfe.ok("predict", "-q", "m.kfe", "names_u.csv").out


def test_an_archive_without_labels_counts_as_a_table(kfe):
    write_labelled(kfe)
    x, labels = sample()
    numpy.savez(kfe.path("x.npz"), X=numpy.c_[x, labels])
    numpy.savez(kfe.path("both.npz"), X=numpy.c_[x, labels], y=labels)
    kfe.ok(*FIT, "s.svm", "-o", "m.kfe")
    assert kfe.ok("predict", "-q", "m.kfe", "x.npz").out == kfe.ok("predict", "-q", "m.kfe", "z.npz").out
    kfe.refused("predict", "-q", "m.kfe", "both.npz", says="the data has 5")


def test_strings_keep_their_column(kfe):
    draw = numpy.random.default_rng(3)
    rows = [("".join(draw.choice(list("ACGT" if i % 2 else "AACT"), 12)), "xy"[i % 2]) for i in range(20)]
    files = {"left.csv": "kind,dna\n" + "".join(f"{y},{s}\n" for s, y in rows), "right.csv": "dna,kind\n" + "".join(f"{s},{y}\n" for s, y in rows),
             "more.csv": "note,dna,kind\n" + "".join(f"n{i},{s},{y}\n" for i, (s, y) in enumerate(rows)),
             "alone.csv": "dna\n" + "".join(s + "\n" for s, _ in rows), "r.fasta": "".join(f">r kind={y}\n{s}\n" for s, y in rows),
             "plain.csv": "".join(f"{y},{s}\n" for s, y in rows)}
    for name, content in files.items():
        kfe.write(name, content)
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "spectrum:length=2", "--learner", "centroid", "--label", "kind", "left.csv", "-o", "m.kfe")
    expected = kfe.ok("predict", "-q", "m.kfe", "alone.csv").out
    for name in files:
        assert kfe.ok("predict", "-q", "m.kfe", name).out == expected, name
        assert kfe.ok("predict", "-q", "m.kfe", "-", stdin=files[name].encode()).out == expected, name
    assert kfe.ok("evaluate", "-q", "m.kfe", "left.csv").out == kfe.ok("evaluate", "-q", "m.kfe", "right.csv").out
    kfe.write("swapped.csv", "".join(f"{s},{y}\n" for s, y in rows))
    assert "none of its values" in kfe.ok("predict", "m.kfe", "swapped.csv").err


def test_labels_of_which_none_is_a_class_are_doubted(kfe):
    write_labelled(kfe)
    x, labels = sample()
    kfe.write("left.csv", text(numpy.c_[labels, x], 0))
    kfe.ok(*FIT, "plain.csv", "-o", "m.kfe")
    for arguments, options in ([["left.csv"], {}], [["-"], {"stdin": kfe.path("left.csv").read_bytes()}]):
        done = kfe.ok("predict", "m.kfe", *arguments, **options)
        assert "column 5 is taken as the label, but none of its values" in done.err
    assert "none of its values" not in kfe.ok("predict", "--label", "first", "m.kfe", "left.csv").err


def test_views_keep_the_label_in_the_last_file(kfe):
    x, labels = sample()
    kfe.write("left.csv", text(x[:, :2]))
    write_array(kfe, "left.npy", x[:, :2])
    kfe.write("right.csv", text(numpy.c_[labels, x[:, 2:]], 0))
    kfe.write("right.svm", svm(x[:, 2:], labels))
    write_array(kfe, "right.npy", numpy.c_[x[:, 2:], labels])
    write_array(kfe, "table.npy", numpy.c_[x, labels])
    write_labelled(kfe)
    kfe.ok(*FIT[:-6], "-k", "linear", "--scale", "none", "--learner", "svm", "--label", "first", "left.csv", "right.csv", "-o", "m.kfe")
    expected = kfe.ok("predict", "-q", "m.kfe", "left.csv", "right.csv").out
    assert kfe.ok("predict", "-q", "m.kfe", "left.npy", "right.svm").out == expected
    assert kfe.ok("predict", "-q", "--label", "last", "m.kfe", "left.npy", "right.npy").out == expected
    kfe.ok(*FIT, "--view", "left=1-2", "--view", "right=3-4", "plain.csv", "-o", "d.kfe")
    assert kfe.ok("predict", "-q", "d.kfe", "table.npy").out == kfe.ok("predict", "-q", "d.kfe", "plain.csv").out
