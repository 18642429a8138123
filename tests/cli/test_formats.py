# SPDX-License-Identifier: Apache-2.0
"""Files of other programs: what SciPy and Python write is read, and what kfe writes, they read."""
import gzip
import io
import lzma
import tarfile

import numpy
import pytest

scipy_io = pytest.importorskip("scipy.io")
sparse = pytest.importorskip("scipy.sparse")
arff = pytest.importorskip("scipy.io.arff")


def table(draw, rows=30):
    return draw.normal(size=(rows, 3)).round(3)


def numbers(text):
    return numpy.loadtxt(io.StringIO(text), delimiter=",", skiprows=0 if text[0] in "-0123456789" else 1, ndmin=2)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer"])
def test_matrices_of_scipy(kfe, symmetry, field):
    draw = numpy.random.default_rng(1)
    full = draw.integers(-4, 5, size=(6, 6)).astype(float) * (0.5 if field == "real" else 1)
    full = {"general": full, "symmetric": full + full.T, "skew-symmetric": full - full.T}[symmetry]
    kept = full * (numpy.abs(full) > 1)
    for name, matrix in ("dense.mtx", full), ("sparse.mtx", sparse.coo_matrix(kept)):
        scipy_io.mmwrite(str(kfe.path(name)), matrix if field == "real" else matrix.astype(int), field=field, symmetry=symmetry, precision=17)
    assert (numbers(kfe.ok("convert", "-q", "--label", "none", "dense.mtx", "-").out) == full).all()
    kfe.ok("convert", "-q", "sparse.mtx", "s.npz")
    assert (sparse.load_npz(kfe.path("s.npz")).toarray() == kept).all()
    packed = gzip.compress(kfe.path("dense.mtx").read_bytes())
    assert (numbers(kfe.ok("convert", "-q", "--label", "none", "-", "-", stdin=packed).out) == full).all()


def test_matrices_for_scipy(kfe):
    draw = numpy.random.default_rng(2)
    dense = table(draw)
    numpy.save(kfe.path("t.npy"), dense)
    kfe.ok("convert", "-q", "--label", "none", "t.npy", "t.mtx")
    assert (scipy_io.mmread(str(kfe.path("t.mtx"))) == dense).all()
    sparse.save_npz(kfe.path("s.npz"), sparse.csr_matrix(dense * (dense > 0.5)))
    kfe.ok("convert", "-q", "s.npz", "s.mtx.gz")
    assert (scipy_io.mmread(str(kfe.path("s.mtx.gz"))).toarray() == dense * (dense > 0.5)).all()


def test_labels_do_not_get_lost(kfe):
    kfe.write("t.svm", "a 1:1\nb 2:1\n")
    kfe.refused("convert", "-q", "t.svm", "t.mtx", says=["no place for labels", "--label none"])


def test_attributes_for_scipy(kfe):
    draw = numpy.random.default_rng(3)
    rows = "".join(f"{a},{b},{kind}\n" for (a, b, _), kind in zip(table(draw, 6), ["x", "a b", "c'd", "x", "?!", "x"]))
    kfe.write("t.csv", "left side,b,kind\n" + rows)
    kfe.ok("convert", "-q", "t.csv", "t.arff")
    kfe.ok("convert", "-q", "t.arff", "back.csv")
    assert kfe.path("back.csv").read_text() == kfe.path("t.csv").read_text()
    kfe.write("u.csv", "left side,b,kind\n" + rows.replace("c'd", "cd").replace("a b", "ab"))  # SciPy does not know quotes here
    kfe.ok("convert", "-q", "u.csv", "u.arff")
    data, meta = arff.loadarff(str(kfe.path("u.arff")))
    assert meta.names() == ["left side", "b", "kind"] and meta.types() == ["numeric", "numeric", "nominal"]
    assert data["b"].tolist() == [float(line.split(",")[1]) for line in rows.splitlines()]


def test_nominal_columns_are_encoded_as_text_is(kfe):
    rows = "1,red,yes\n2,blue,no\n3,?,yes\n4,red,no\n5,blue,yes\n6,red,no\n"
    kfe.write("t.csv", "x,color,kind\n" + rows)
    kfe.write("t.arff", "@relation t\n@attribute x numeric\n@attribute color {red,blue,green}\n@attribute kind {yes,no}\n@data\n" + rows)
    flags = ["fit", "-q", "-m", "kfd", "--learner", "centroid", "--encode", "auto", "--missing", "most-frequent"]
    answers = []
    for name in "t.csv", "t.arff":
        kfe.ok(*flags, name, "-o", "m.kfe")
        answers.append(kfe.ok("predict", "-q", "--scores", "m.kfe", name).out)
    assert answers[0] == answers[1]
    kfe.refused("fit", "-q", "-m", "kfd", "t.arff", "-o", "n.kfe", says=["t.arff:6", "--encode"])


def test_sequences(kfe):
    records = "".join(f">s{k} kind={'ab'[k % 2]}\n{('ACGT' if k % 2 else 'AATT') * (3 + k)}\n" for k in range(8))
    kfe.write("t.fasta", records)
    flags = ["-m", "kpca", "-k", "spectrum:length=2", "--learner", "knn", "--label", "kind"]
    kfe.ok("fit", "-q", *flags, "t.fasta", "-o", "m.kfe")
    answer = kfe.ok("predict", "-q", "--id", "name", "m.kfe", "t.fasta").out.splitlines()
    assert answer[0] == "name,label" and answer[2] == "s1,b"
    assert kfe.ok("predict", "-q", "m.kfe", "-", stdin=records.encode()).out.splitlines()[1:] == [line.split(",")[1] for line in answer[1:]]
    kfe.ok("convert", "-q", "--label-pattern", "kind=(.)", "--id", "name", "t.fasta", "u.fasta.gz")
    kfe.ok("convert", "-q", "--label", "label", "--id", "name", "u.fasta.gz", "t.csv")
    assert kfe.path("t.csv").read_text().splitlines()[1] == "s0,AATTAATTAATT,a"
    kfe.write("odd.csv", "text,label\nACGT,a]b\nACG,c\n")
    kfe.refused("convert", "-q", "--content", "strings", "odd.csv", "odd.fasta", says=["'a]b' does not fit into a FASTA header"])
    kfe.write("labels.txt", "a\nb\n" * 4)
    assert "2 classes" in kfe.ok("fit", "-m", "kpca", "-k", "spectrum:length=2", "--label-file", "labels.txt", "t.fasta", "-o", "m.kfe").err


def test_compressed_streams(kfe):
    text = b"x,kind\n" + b"".join(b"%d,%s\n" % (k, b"ab"[k % 2:][:1]) for k in range(20000))
    packed = lzma.compress(text)
    kfe.write("t.csv.xz", packed)
    kfe.write("t.csv", text)
    try:
        kfe.ok("convert", "-q", "t.csv.xz", "back.csv")
    except AssertionError as error:
        if "this build of kfe does not read" in str(error):
            pytest.skip("built without liblzma")
        raise
    assert kfe.path("back.csv").read_bytes() == text
    assert kfe.ok("convert", "-q", "-", "-", stdin=packed).stdout == text
    kfe.ok("convert", "-q", "t.csv", "again.csv.xz")
    assert lzma.decompress(kfe.path("again.csv.xz").read_bytes()) == text
    kfe.write("cut.csv.xz", packed[:len(packed) // 2])
    kfe.refused("convert", "-q", "cut.csv.xz", "x.csv", says=["cut.csv.xz", "truncated"])


def test_files_are_named_for_what_they_are(kfe):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("t.csv")
        entry.size = 8
        archive.addfile(entry, io.BytesIO(b"1,2\n3,4\n"))
    kfe.write("t.tgz", buffer.getvalue())
    kfe.refused("convert", "-q", "t.tgz", "x.csv", says=["a tar archive", "tar xf"])
    kfe.write("t.csv", b"PAR1" + bytes(20) + b"PAR1")
    kfe.refused("convert", "-q", "t.csv", "x.csv", says=["t.csv", "a Parquet file"])
