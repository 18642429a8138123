# SPDX-License-Identifier: Apache-2.0
"""Columns that are picked from arrays (--id, --drop, --select), groups of rows by a column of text, and what compare says about
its search."""
import json

import numpy
import pytest

FIT = ["-m", "kfd", "-k", "rbf", "--learner", "svm", "--task", "classify"]


@pytest.fixture
def arrays(kfe):
    """The same table as .npy, .npz and .csv: a number of the row, two columns, a group, a column, the label."""
    draw = numpy.random.default_rng(0)
    rows = 40
    table = numpy.column_stack([numpy.arange(rows) + 1, draw.normal(size=(rows, 2)).round(3), numpy.arange(rows) // 4,
                                draw.normal(size=rows).round(3), numpy.arange(rows) % 2])
    numpy.save(kfe.path("t.npy"), table)
    numpy.savez(kfe.path("t.npz"), X=table[:, :5], y=table[:, 5].astype(int))
    numpy.savetxt(kfe.path("t.csv"), table, delimiter=",", fmt="%g")
    return kfe


@pytest.mark.parametrize("name", ["t.npy", "t.npz"])
@pytest.mark.parametrize("picks", [["--id", "1", "--drop", "4"], ["--id", "1", "--select", "2-3,5"], ["--drop", "1,4-5"]], ids=str)
def test_arrays_are_picked_as_text_is(arrays, name, picks):
    answers = []
    for file in name, "t.csv":
        arrays.ok("fit", "-q", *FIT, *picks, file, "-o", "m.kfe")
        answers.append(arrays.ok("predict", "-q", "--scores", *picks, "m.kfe", file).out.splitlines())
    assert answers[0][1:] == answers[1][1:] and len(answers[0]) == 41
    assert answers[0][0].startswith("id,") == ("--id" in picks)


def test_groups_of_arrays(arrays):
    flags = ["cv", "-q", *FIT, "--drop", "1", "--groups", "4", "--split", "leave-group-out", "--json"]
    results = [json.loads(arrays.ok(*flags, name).out)["splits"] for name in ("t.npy", "t.csv")]
    assert len(results[0]) == 10 and all(split["test_rows"] == 4 for split in results[0])
    assert [split["metrics"] for split in results[0]] == [split["metrics"] for split in results[1]]


@pytest.mark.parametrize("flags, says", [
    (["--drop", "7", "t.npy"], "--drop names the column '7', which is not there; give names from the header (this table has none)"),
    (["--drop", "1-5", "t.npy"], "no column is left as a feature"),
    (["--drop", "1", "t.svm"], "sparse rows are matched with a model by the numbers of their columns"),
    (["--groups", "1", "t.svm"], "are for dense tables"),
])
def test_what_is_refused(arrays, flags, says):
    arrays.write("t.svm", "1 1:2\n2 1:3\n")
    arrays.refused("cv", "-m", "kfd", "-k", "rbf", "--learner", "svm", *flags, says=says)


def test_groups_by_text(kfe):
    """Rows of one person are never in both parts: three of four persons train, one is tested."""
    draw = numpy.random.default_rng(1)
    people = ["anna", "bob", "carl", "dora"]
    rows = [f"{draw.normal():.4f},{people[i % 4]},{draw.normal():.4f},{'uv'[i // 4 % 2]}" for i in range(40)]
    kfe.write("t.csv", "a,who,b,kind\n" + "\n".join(rows) + "\n")
    kfe.write("numbers.csv", "a,who,b,kind\n" + "\n".join(row.replace(p, str(k)) for row in rows for k, p in enumerate(people) if p in row) + "\n")
    flags = ["cv", "-q", "-m", "kfd", "-k", "rbf", "--learner", "svm", "--groups", "who", "--split", "leave-group-out", "--json"]
    found = [json.loads(kfe.ok(*flags, name).out)["splits"] for name in ("t.csv", "numbers.csv")]
    assert len(found[0]) == 4 and all(split["test_rows"] == 10 for split in found[0])
    assert [split["metrics"] for split in found[0]] == [split["metrics"] for split in found[1]]
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--groups", "who", "t.csv", "-o", "m.kfe")
    assert "2 columns" in kfe.ok("info", "m.kfe").out
    kfe.write("gap.csv", "a,who,b,kind\n1,,2,u\n3,bob,4,v\n")
    kfe.refused(*flags, "gap.csv", says="gap.csv:2:2: field 2 ('who'), the group of the row (--groups), is missing")
    kfe.refused(*flags, "t.csv", "--label", "who", says="--groups names column 2, which is the label")


@pytest.mark.parametrize("use, value", [("--label", "kind"), ("--groups", "kind"), ("--weight", "n")])
def test_the_name_of_a_row_may_have_another_use(kfe, use, value):
    kfe.write("t.csv", "a,n,b,kind,y\n" + "".join(f"{i % 5},{i + 1},{i % 3},{'uv'[i % 2]}{i // 4},{'pq'[i % 2]}\n" for i in range(12)))
    drop = [] if value == "n" else ["--drop", "n,y"] if use == "--label" else ["--drop", "n"]
    drop = drop or ["--drop", "kind"]
    flags = ["-m", "kfd", "-k", "rbf", "--learner", "ls", *drop, use, value]
    kfe.ok("fit", "-q", *flags, "t.csv", "-o", "plain.kfe")
    kfe.ok("fit", "-q", *flags, "--id", value, "t.csv", "-o", "named.kfe")
    plain = kfe.ok("predict", "-q", "--scores", "plain.kfe", "t.csv").out.splitlines()
    named = kfe.ok("predict", "-q", "--scores", "--id", value, use, value, "named.kfe", "t.csv").out.splitlines()
    names = [f"{'uv'[i % 2]}{i // 4}" if value == "kind" else str(i + 1) for i in range(12)]
    assert [line.split(",")[0] for line in named] == [value, *names]
    assert [line.split(",", 1)[1] for line in named] == plain


def test_strings_with_names(kfe):
    kfe.write("t.csv", "who,text,kind\n" + "".join(f"r{i},{'abab' if i % 2 else 'ccdd'}{'x' * i},{'uv'[i % 2]}\n" for i in range(8)))
    flags = ["-m", "kfd", "-k", "spectrum", "--learner", "ls", "t.csv"]
    kfe.ok("fit", "-q", *flags, "--drop", "who", "-o", "plain.kfe")
    kfe.ok("fit", "-q", *flags, "--id", "who", "-o", "named.kfe")
    plain = kfe.ok("predict", "-q", "--scores", "--drop", "who", "plain.kfe", "t.csv").out.splitlines()
    named = kfe.ok("predict", "-q", "--scores", "--id", "who", "named.kfe", "t.csv").out.splitlines()
    assert named == [f"{who},{line}" for who, line in zip(["who"] + [f"r{i}" for i in range(8)], plain, strict=True)]


@pytest.mark.parametrize("flag", ["--id", "--groups", "--weight", "--drop", "--select", "--encode"])
def test_a_name_of_two_columns_is_refused(kfe, flag):
    kfe.write("t.csv", "a,n,n,b,kind\n" + "".join(f"{i},{i + 1},{2 * i},{i % 3},{'uv'[i % 2]}\n" for i in range(8)))
    command = ["fit", "-q", "-m", "kfd", "-k", "rbf", "t.csv", "-o", "x.kfe"]
    kfe.refused(*command, flag, "n", says=f"{flag} names 'n', but two columns are named so: 2 and 3; give the number instead of the name")
    kfe.ok(*command, flag, "2")
    kfe.refused(*command, "--label", "n", says="columns 2 and 3 are both named 'n'")


@pytest.mark.parametrize("flag", ["--id", "--groups", "--weight"])
def test_one_column_is_wanted(kfe, flag):
    kfe.write("t.csv", "fa,fb,c,kind\n1,2,3,u\n3,1,1,v\n2,2,2,u\n")
    kfe.refused("fit", "-m", "kfd", "-k", "rbf", "t.csv", "-o", "x.kfe", flag, "f*", says=f"{flag} takes one column, but 'f*' names several")


def test_compare_says_what_it_found_as_text(kfe):
    draw = numpy.random.default_rng(2)
    kfe.write("t.csv", "\n".join(f"{draw.normal():.4f},{draw.normal():.4f},{'uv'[i % 2]}" for i in range(30)) + "\n")
    done = kfe.ok("compare", "-m", "kfd", "-m", "koc", "-k", "rbf", "--learner", "centroid", "--grid", "gamma=1,2", "--folds", 2,
                  "--permutations", 3, "t.csv")
    for method in "kfd", "koc":
        assert f"{method}: best value at the edge of the grid: gamma=" in done.out
        assert f"{method}: p " in done.out and "(3 permutations)" in done.out
    assert "fits" in done.err  # a notice, without -v


def test_measure_says_what_it_assumed(kfe):
    kfe.write("t.csv", ",a,b,kind\n0,1,2,u\n1,3,1,v\n2,2,2,u\n")
    assert "the first column has no name and counts the rows" in kfe.ok("measure", "-k", "rbf", "t.csv").err
