# SPDX-License-Identifier: Apache-2.0
"""--weight, --groups and --id with several views: the column may be in any one of the files, and gives what one joined table gives."""
import json

import numpy
import pytest

FIT = ["-m", "kfd", "-k", "rbf:gamma=0.3", "--learner", "svm", "--scale", "none"]


def write(path, names, *columns):
    lines = [",".join(names)] + [",".join(row) for row in zip(*columns)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def views(kfe):
    """Three views (x0.csv to x2.csv, the last with labels), copies with the three columns (r0.csv to r2.csv), and one joined table."""
    rng = numpy.random.default_rng(3)
    x = rng.normal(size=(60, 6)) + numpy.repeat([[0], [2]], 30, axis=0)
    columns = [[f"{v:.17g}" for v in column] for column in x.T]
    kind = ["low"] * 30 + ["high"] * 30
    about = [[str(v) for v in numpy.arange(60) % 3 + 1], [f"g{i % 5}" for i in range(60)], [f"row{i}" for i in range(60)]]
    names = ["a", "b", "c", "d", "e", "f"]
    for v in range(3):
        label, more = (["kind"], [kind]) if v == 2 else ([], [])
        own = columns[2 * v:2 * v + 2]
        write(kfe.path(f"x{v}.csv"), names[2 * v:2 * v + 2] + label, *own, *more)
        write(kfe.path(f"r{v}.csv"), ["n", "group", "name"] + names[2 * v:2 * v + 2] + label, *about, *own, *more)
        numpy.save(kfe.path(f"x{v}.npy"), numpy.float64(x[:, 2 * v:2 * v + 2]))
        numpy.save(kfe.path(f"r{v}.npy"), numpy.column_stack([numpy.float64(about[0]), x[:, 2 * v:2 * v + 2]]))
    write(kfe.path("joined.csv"), names + ["n", "group", "name", "kind"], *columns, *about, kind)
    write(kfe.path("kind.csv"), ["kind"], kind)
    return kfe


def files(place, kind="csv"):
    return [argument for v in range(3) for argument in ("--view", f"v{v}={'r' if v == place else 'x'}{v}.{kind}")]


ABOUT = ["--weight", "n", "--groups", "group", "--id", "name"]
JOINED = ["--view", "v0=a,b", "--view", "v1=c,d", "--view", "v2=e,f", "joined.csv"]


@pytest.mark.parametrize("place", range(3))
def test_the_column_may_be_in_any_file(views, place):
    views.ok("fit", "-q", *FIT, *ABOUT, *files(place), "-o", "views.kfe")
    views.ok("fit", "-q", *FIT, *ABOUT, *JOINED, "-o", "joined.kfe")
    views.ok("fit", "-q", *FIT, *files(-1), "-o", "plain.kfe")
    for command in ["transform"], ["predict", "--scores"]:
        got = views.ok(*command, "-q", "--id", "name", "views.kfe", *files(place)).out
        assert got == views.ok(*command, "-q", "--id", "name", "joined.kfe", "joined.csv").out
        assert got.splitlines()[1].startswith("row0,")
        assert got != views.ok(*command, "-q", "--id", "name", "plain.kfe", *files(place)).out
    got, expected = (json.loads(views.ok("evaluate", "-q", "--json", "--weight", "n", model, *data).out)["metrics"]
                     for model, data in (("views.kfe", files(place)), ("joined.kfe", ["joined.csv"])))
    assert got == expected


@pytest.mark.parametrize("place", range(3))
def test_cross_validation_keeps_groups_together(views, place):
    got, expected = (json.loads(views.ok("cv", "-q", "--json", *FIT, "--folds", "5", *ABOUT, *data).out)
                     for data in (files(place), JOINED))
    assert got["metrics"] == expected["metrics"]
    assert {split["test_rows"] for split in got["splits"]} == {12}


def test_a_number_is_a_column_of_the_first_file(views):
    """In arrays too, where the other files are narrower or have something else in that place."""
    labels = ["--label-file", "kind.csv"]
    views.ok("fit", "-q", *FIT, "--weight", "1", *files(0, "npy"), *labels, "-o", "number.kfe")
    views.ok("fit", "-q", *FIT, *ABOUT, *JOINED, "-o", "joined.kfe")
    got = numpy.loadtxt(views.ok("transform", "-q", "number.kfe", *files(-1, "npy")).out.splitlines(), delimiter=",", skiprows=1)
    named = [line.split(",")[1:] for line in views.ok("transform", "-q", "joined.kfe", "joined.csv").out.splitlines()]
    expected = numpy.array(named[1:], dtype=float).squeeze()
    numpy.testing.assert_array_equal(got, expected)


def test_weights_of_rows_that_are_left_out(views):
    """A missing value in one view leaves out the row, its weight and its name, which are in another."""
    lines = views.path("x0.csv").read_text().splitlines()
    views.path("x0.csv").write_text("\n".join(lines[:1] + ["," + lines[1].split(",")[1]] + lines[2:]) + "\n")
    lines = views.path("joined.csv").read_text().splitlines()
    views.path("joined.csv").write_text("\n".join(lines[:1] + lines[2:]) + "\n")
    views.ok("fit", "-q", *FIT, *ABOUT, "--missing", "drop", *files(1), "-o", "views.kfe")
    views.ok("fit", "-q", *FIT, *ABOUT, *JOINED, "-o", "joined.kfe")
    got = views.ok("transform", "-q", "--id", "name", "--missing", "drop", "views.kfe", *files(1)).out
    assert got == views.ok("transform", "-q", "--id", "name", "joined.kfe", "joined.csv").out


@pytest.mark.parametrize("parameter, column", [("weight", "n"), ("groups", "group"), ("id", "name")])
def test_a_column_is_in_exactly_one_file(views, parameter, column):
    option = f"--{parameter}"
    for v in 1, 2:
        lines = views.path(f"x{v}.csv").read_text().splitlines()
        views.path(f"both{v}.csv").write_text("".join(f"{column if i == 0 else 1},{line}\n" for i, line in enumerate(lines)))
    views.refused("fit", *FIT, option, "other", *files(-1), "-o", "m.kfe", says=f"{option}: none of the 3 files has a column 'other'; give a name")
    views.refused("fit", *FIT, option, column, "x0.csv", "both1.csv", "both2.csv", "-o", "m.kfe",
                  says=f"{option}: both both1.csv and both2.csv have a column '{column}'; rename or remove it")
    views.refused("fit", *FIT, option, "9", *files(-1), "-o", "m.kfe", says=f"{option} names the column '9', which is not there")


def test_names_of_a_fasta_file_among_tables(kfe):
    kfe.path("s.fasta").write_text("".join(f">s{i} x\n{'ACGT' * 2}{'AC' if i % 2 else 'GT'}\n" for i in range(8)))
    kfe.path("t.fasta").write_text("".join(f">t{i} x\n{'ACGT' * 2}{'AC' if i % 2 else 'GT'}\n" for i in range(8)))
    kfe.path("x.csv").write_text("a,n,kind\n" + "".join(f"{i % 2 + i / 10},{i % 3 + 1},{'ab'[i % 2]}\n" for i in range(8)))
    for paths, first in (["s.fasta", "x.csv"], "s0"), (["t.fasta", "s.fasta", "x.csv"], "t0"):
        kernels = [part for path in paths for part in ("--view-kernel", path.split(".")[0] + ("=spectrum" if "fasta" in path else "=rbf"))]
        kfe.ok("fit", "-q", "-m", "koc", *kernels, "--weight", "n", "--id", "name", "--label", "kind", *paths, "-o", "m.kfe")
        assert kfe.ok("transform", "-q", "--id", "name", "m.kfe", *paths).out.splitlines()[1].startswith(first)
