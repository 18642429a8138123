# SPDX-License-Identifier: Apache-2.0
"""Explanations and reports number support examples as the training file does, also if rows of it were left out."""
import json

import numpy
import pytest

ROWS = 60
WEIGHTS = [0 if i % 3 == 0 else 1 + i % 2 for i in range(ROWS)]
GAPS = [i for i in range(ROWS) if i % 3 == 0]


def table(kfe, name, keep, gaps=()):
    rng = numpy.random.default_rng(4)
    x = rng.normal(size=(ROWS, 2))
    rows = [f"{'' if i in gaps else repr(float(a))},{float(b)!r},{WEIGHTS[i]},{'uv'[int(a * b > 0)]}\n" for i, (a, b) in enumerate(x)]
    return kfe.write(name, "a,b,n,kind\n" + "".join(rows[i] for i in keep))


def sizes(kfe, *flags):
    """Of each support example by its number."""
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf:gamma=0.5", "--learner", "svm", *flags, "-o", "m.kfe")
    told = json.loads(kfe.ok("explain", "-q", "--json", "--parts", "support", "m.kfe").out)["tables"]["support"]
    return {int(row.split()[1]): value[0] for row, value in zip(told["rows"], told["values"])}


@pytest.mark.parametrize("flags, gaps", [(("--weight", "n"), ()), (("--drop", "n", "--missing", "drop"), GAPS),
                                         (("--weight", "n", "--missing", "drop"), [1, 7])])
def test_rows_are_those_of_the_file(kfe, flags, gaps):
    weighted = "--weight" in flags
    kept = [i for i in range(ROWS) if i not in gaps and not (weighted and WEIGHTS[i] == 0)]
    found = sizes(kfe, *flags, table(kfe, "all.csv", range(ROWS), gaps))
    alone = sizes(kfe, *flags, table(kfe, "kept.csv", kept))
    assert found == {kept[row - 1] + 1: pytest.approx(value, rel=1e-6) for row, value in alone.items()}


def test_numbers_of_rows_are_no_names_of_a_column(kfe):
    """New data may have a column called `row`, which names no rows."""
    sizes(kfe, "--drop", "n", "--missing", "drop", table(kfe, "all.csv", range(ROWS), GAPS))
    kfe.write("new.csv", "row,a,b\n7,0.5,0.5\n")
    assert kfe.ok("predict", "-q", "m.kfe", "new.csv").out.splitlines()[0] == "label"


def test_files_of_splits_name_rows_of_the_file(kfe):
    """Rows that --missing drop leaves out are in no part, and the others keep their numbers."""
    table(kfe, "all.csv", range(ROWS), [1, 7, 50])
    table(kfe, "kept.csv", [i for i in range(ROWS) if i not in (1, 7, 50)])
    kfe.write("all.txt", "train 1-40\ntest 41-60\n")
    kfe.write("kept.txt", "train 1-38\ntest 39-57\n")
    flags = "-q", "-m", "koc", "-k", "rbf:gamma=0.5", "--learner", "ls", "--drop", "n", "--missing", "drop", "--split", "file", "--json"
    told = [json.loads(kfe.ok("cv", *flags, "--split-file", f"{name}.txt", f"{name}.csv").out) for name in ("all", "kept")]
    assert told[0]["splits"][0]["test_rows"] == 19
    assert told[0]["metrics"] == told[1]["metrics"]
    kfe.write("all.txt", "train 9-40\ntest 2 8\n")
    kfe.refused("cv", *flags, "--split-file", "all.txt", "all.csv", says="no test row of split 1")
    kfe.write("all.txt", "train 1-40\ntest 61\n")
    kfe.refused("cv", *flags, "--split-file", "all.txt", "all.csv", says="has only 60 rows")
