# SPDX-License-Identifier: Apache-2.0
"""predict and transform answer rows in parts: as they arrive, in bounded memory, and as for a whole file."""
import gzip
import os
import pathlib
import select
import subprocess

import numpy as np
import pytest

from conftest import KFE, SANITIZED

ROWS = 20_000  # more than one part, in all formats


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(ROWS, 3))


def text_of(table, header=None, form="%.6g"):
    lines = [",".join(form % value for value in row) for row in table]
    return "\n".join(([header] if header else []) + lines) + "\n"


def fit(kfe, learner=("--learner", "knn"), table=None):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3))
    y = np.where(x[:, 0] + x[:, 1] > 0, "up", "down")
    kfe.write("train.csv", "a,b,c,class\n" + "".join(
        ",".join(f"{v:.6g}" for v in row) + f",{label}\n" for row, label in zip(x, y)) if table is None else table)
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.3", *learner, "train.csv", "-o", "m.kfe")


class Pipe:
    """A command whose standard input stays open."""

    def __init__(self, kfe, *arguments):
        self.process = subprocess.Popen([KFE, *arguments], cwd=kfe.folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.bytes = b""

    def write(self, data):
        self.process.stdin.write(data)

    def lines(self, count, timeout=120):
        """Waits for the first `count` lines of the answer."""
        while self.bytes.count(b"\n") < count:
            ready, _, _ = select.select([self.process.stdout], [], [], timeout)
            assert ready, f"no answer: {self.bytes}"
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            assert more, self.process.stderr.read().decode()
            self.bytes += more
        return self.bytes.decode().splitlines()

    def end(self, status=0):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        problem = self.process.stderr.read().decode()
        assert self.process.wait(timeout=120) == status, problem
        return (self.bytes + rest).decode(), problem


@pytest.mark.parametrize("command", ["predict", "transform"])
@pytest.mark.parametrize("header", ["a,b,c", None])
def test_a_line_is_answered_while_the_pipe_stays_open(kfe, command, header):
    fit(kfe)
    data = [[0.5, 1, 0], [-2, 0.25, 1], [3, -1, 2]]
    expected = kfe.ok(command, "m.kfe", kfe.write("data.csv", text_of(data, header))).out
    pipe = Pipe(kfe, command, "m.kfe", "-")
    if header:
        pipe.write(b"a,b,c\n")
    for k, row in enumerate(data):
        line = text_of([row]).encode()
        pipe.write(line[:3])  # a line may come in pieces
        pipe.write(line[3:])
        assert pipe.lines(k + 2) == expected.splitlines()[:k + 2]
    assert pipe.end()[0] == expected


def test_sparse_lines_and_gzip_are_answered_while_the_pipe_stays_open(kfe):
    fit(kfe)
    lines = [b"1:0.5 2:1\n", b"1:-2 3:1\n"]
    expected = kfe.ok("predict", "m.kfe", kfe.write("data.svm", b"".join(lines))).out
    for pack in (False, True):
        pipe = Pipe(kfe, "predict", "m.kfe", "-")
        packer = __import__("zlib").compressobj(wbits=31)
        for k, line in enumerate(lines):
            pipe.write(packer.compress(line) + packer.flush(2) if pack else line)
            pipe.lines(k + 2)
        if pack:
            pipe.write(packer.flush())
        assert pipe.end()[0] == expected


@pytest.mark.parametrize("command", ["predict", "transform"])
def test_parts_give_the_answers_of_the_whole_table(kfe, command, rows):
    """.npy outputs are computed at once; text is written in parts."""
    fit(kfe)
    table = np.round(rows, 5)
    kfe.write("rows.csv", text_of(table, "a,b,c"))
    kfe.ok(command, "m.kfe", "rows.csv", "-o", "whole.npz")
    with np.load(kfe.path("whole.npz"), allow_pickle=False) as whole:
        expected = whole[whole.files[0]]
    assert len(expected) == ROWS
    shuffled = np.ascontiguousarray(table[:, [2, 0, 1]])
    np.save(kfe.path("rows.npy"), table)
    np.save(kfe.path("fortran.npy"), np.asfortranarray(table))
    np.save(kfe.path("single.npy"), table.astype("f4").astype(float))
    singles = kfe.ok(command, "m.kfe", "single.npy").out
    np.save(kfe.path("single.npy"), table.astype("f4"))
    assert kfe.ok(command, "m.kfe", "single.npy").out == singles
    forms = {
        "text.csv": text_of(table, "a,b,c").encode(),
        "other-order.csv": text_of(shuffled, "c,a,b").encode(),
        "no-header.csv": text_of(table).encode(),
        "packed.csv.gz": gzip.compress(text_of(table).encode(), 1),
        "quoted.csv": text_of(table, '"a","b","c"', '"%.6g"').encode(),
        "sparse.svm": "".join(" ".join(f"{j + 1}:{v:.6g}" for j, v in enumerate(row)) + "\n" for row in table).encode(),
        "rows.npy": kfe.path("rows.npy").read_bytes(),
        "fortran.npy": kfe.path("fortran.npy").read_bytes(),
    }
    for name, content in forms.items():
        kfe.write(name, content)
        for done in (kfe.ok(command, "m.kfe", name), kfe.ok(command, "m.kfe", "-", stdin=content)):
            lines = done.out.splitlines()[1:]
            assert len(lines) == ROWS, name
            if command == "predict":
                assert lines == list(expected), name
            else:
                values = np.array([line.split(",") for line in lines], float)
                assert np.allclose(values, expected, atol=1e-12), name


@pytest.mark.skipif(SANITIZED, reason="sanitizers keep freed memory for a while")
def test_memory_does_not_grow_with_the_input(kfe, rows):
    fit(kfe, learner=())
    line = text_of(rows[:17_000]).encode()

    def peak(times):
        """The most resident memory, in kB, while `times` copies of the rows are transformed."""
        with open(os.devnull, "wb") as nowhere:
            process = subprocess.Popen([KFE, "transform", "m.kfe", "-", "--threads", "1"], cwd=kfe.folder,
                                       stdin=subprocess.PIPE, stdout=nowhere)
            for _ in range(times):
                process.stdin.write(line)
            process.stdin.flush()
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()  # all but a pipe's content is answered
            process.stdin.close()
            assert process.wait(timeout=120) == 0
            return int(status.split("VmHWM:")[1].split()[0])

    small, large = peak(25), peak(50)  # the buffer of 8 MB is full; 425,000 rows more are 10 MB, their features 7 MB
    assert large < small + 8_000, (small, large)


@pytest.mark.parametrize("bad, message", [
    ("1,2\n", "the row has 2 fields, but the first one has 3"),
    ("1,word,3\n", "field 2 ('b') is 'word', which is not a number"),
    ("1,,3\n", "field 2 ('b') is missing"),
])
def test_a_bad_line_ends_the_answers_that_came_before(kfe, rows, bad, message):
    fit(kfe)
    good = text_of(rows[:16_500]).splitlines(keepends=True)
    whole = kfe.ok("predict", "m.kfe", "-", stdin="".join(["a,b,c\n", *good]).encode()).out.splitlines()
    for at in (0, 7, 16_400):
        lines = ["a,b,c\n", *good[:at], bad, *good[at:]]
        done = kfe.run("predict", "m.kfe", "-", stdin="".join(lines).encode(), status=2)
        assert done.out.splitlines() == (whole[:at + 1] if at else [])
        assert f"standard input:{at + 2}:" in done.err and message in done.err, done.err
        kfe.write("bad.csv", "".join(lines))
        kfe.refused("predict", "m.kfe", "bad.csv", "-o", "out.csv", says=[f"bad.csv:{at + 2}:", message])


def test_a_bad_sparse_line_ends_the_answers_that_came_before(kfe):
    fit(kfe)
    lines = ["up 1:1 2:1\n"] * 5 + ["up 1:1 3:1 2:x\n"] + ["up 1:1\n"] * 3
    done = kfe.run("predict", "m.kfe", "-", stdin="".join(lines).encode(), status=2)
    assert len(done.out.splitlines()) == 6 and "standard input:6:" in done.err


def test_rows_of_arrays_are_counted_over_all_parts(kfe, rows):
    fit(kfe)
    table = rows.copy()
    table[19_000, 1] = np.nan
    np.save(kfe.path("gap.npy"), table)
    done = kfe.run("predict", "m.kfe", "gap.npy", status=2)
    assert "row 19001, column 2 is missing" in done.err
    table[19_000, 1] = 1e300
    np.save(kfe.path("large.npy"), table)
    kfe.ok("fit", "-q", "-m", "kpca", "-k", "poly:degree=3", "--dim", "2", "train.csv", "-o", "poly.kfe")
    assert "row 19001" in kfe.run("transform", "poly.kfe", "large.npy", status=2).err


def test_labels_names_and_gaps_come_through_the_parts(kfe, rows):
    """LIBSVM outputs keep the labels, --id the names of the rows, and models fill in missing values."""
    fit(kfe, learner=("--learner", "knn", "--missing", "mean"))
    lines = [f"r{k},{a:.6g},{'' if k % 7 == 0 else f'{b:.6g}'},{c:.6g},{'up' if k % 2 else 'down'}\n"
             for k, (a, b, c) in enumerate(rows[:17_000])]
    kfe.write("named.csv", "id,a,b,c,class\n" + "".join(lines))
    answers = kfe.ok("predict", "m.kfe", "named.csv", "--id", "id").out.splitlines()
    assert answers[0] == "id,label" and [a.split(",")[0] for a in answers[1:]] == [f"r{k}" for k in range(17_000)]
    dropped = kfe.ok("predict", "m.kfe", "named.csv", "--drop", "id", "--missing", "drop").out.splitlines()
    assert dropped[0] == "row,label" and dropped[1].split(",")[0] == "2"
    kfe.ok("transform", "m.kfe", "named.csv", "--drop", "id", "-o", "z.svm")
    labels = [line.split()[0] for line in kfe.path("z.svm").read_text().splitlines()]
    assert labels == ["up" if k % 2 else "down" for k in range(17_000)]


def test_numbers_do_not_depend_on_their_part(kfe):
    """Whole numbers are written as 1.0 in every row, whichever rows are answered together."""
    table = "".join(f"{x},{2 * x}\n" for x in range(40))
    kfe.write("line.csv", table)
    kfe.ok("fit", "-q", "-m", "none", "--learner", "knn", "--neighbors", "1", "--task", "regress", "line.csv", "-o",
           "m.kfe")
    assert kfe.ok("predict", "m.kfe", "-", stdin=b"3\n").out == "value\n6.0\n"
    kfe.ok("fit", "-q", "-m", "none", "--learner", "knn", "--neighbors", "2", "--task", "regress", "line.csv", "-o",
           "m.kfe")
    pipe = Pipe(kfe, "predict", "m.kfe", "-")
    pipe.write(b"3.1\n")
    pipe.lines(2)
    pipe.write(b"3.6\n4.1\n")
    out, _ = pipe.end()
    assert out == kfe.ok("predict", "m.kfe", "-", stdin=b"3.1\n3.6\n4.1\n").out


def test_categories_and_strings_need_a_header_that_is_told(kfe):
    """Where the first line may be a header or a row, the reader looks ahead unless the user says what it is."""
    kfe.write("cats.csv", "a,colour,class\n" + "".join(f"{k % 5},{'red' if k % 3 else 'blue'},{k % 2}\n"
                                                       for k in range(30)))
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf", "--encode", "auto", "--learner", "knn", "cats.csv", "-o", "m.kfe")
    data = "1,red\n2,blue\n4,green\n"
    expected = kfe.ok("predict", "m.kfe", "--header", "no", kfe.write("data.csv", data)).out
    pipe = Pipe(kfe, "predict", "m.kfe", "--header", "no", "-")
    for k, line in enumerate(data.splitlines(keepends=True)):
        pipe.write(line.encode())
        pipe.lines(k + 2)
    out, problem = pipe.end()
    assert out == expected and "did not have, the first 'green'" in problem
    pipe = Pipe(kfe, "predict", "m.kfe", "-")
    pipe.write(b"a,colour\n1,red\n")
    assert pipe.lines(2) == expected.splitlines()[:2]
    pipe.end()
