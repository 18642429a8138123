# SPDX-License-Identifier: Apache-2.0
"""Multi-block methods as users of the command see them: files or columns of one table as views, choices by view, reports."""
import json
import random

import pytest


@pytest.fixture
def views(kfe):
    draw = random.Random(4)
    labels = []
    tables = {"rna": [], "protein": []}
    for i in range(60):
        labels.append(f"c{i % 3}")
        for name, columns, by in (("rna", 8, 2), ("protein", 5, 1)):
            tables[name].append([draw.gauss(by * (i % 3 == j), 1) for j in range(columns)])
    for name, rows in tables.items():
        head = ",".join(f"{name}{j + 1}" for j in range(len(rows[0])))
        kfe.write(f"{name}.csv", head + "\n" + "".join(",".join(f"{v:.5f}" for v in row) + "\n" for row in rows))
    kfe.write("labels.csv", "class\n" + "".join(f"{label}\n" for label in labels))
    joined = [",".join(f"{v:.5f}" for v in a + b) + f",{label}\n" for a, b, label in zip(tables["rna"], tables["protein"], labels)]
    kfe.write("both.csv", ",".join([f"rna{j + 1}" for j in range(8)] + [f"protein{j + 1}" for j in range(5)]) + ",class\n" + "".join(joined))
    return ["rna.csv", "protein.csv", "--label-file", "labels.csv"]


def test_files_and_columns_of_one_table_are_the_same_views(kfe, views):
    kfe.ok("fit", "-q", "-m", "block-splsda", "--dim", "2", "--keep", "rna:3;2;protein:2", *views, "-o", "files.kfe")
    kfe.ok("fit", "-q", "-m", "block-splsda", "--dim", "2", "--keep", "rna:3;2;protein:2", "--view", "rna=rna*", "--view", "protein=protein*",
           "both.csv", "-o", "columns.kfe")
    assert kfe.ok("predict", "files.kfe", "protein.csv", "rna.csv", "--scores").out == kfe.ok("predict", "columns.kfe", "both.csv", "--scores").out
    head = kfe.ok("transform", "files.kfe", "rna.csv", "protein.csv").out.splitlines()[0]
    assert head == "rna_LV1,rna_LV2,protein_LV1,protein_LV2"
    kfe.refused("fit", "-m", "block-splsda", "--keep", "dna:3", *views, "-o", "m.kfe", says=["--keep", "name of each view"], status=2)


def test_numbers_of_columns_are_chosen_said_and_kept(kfe, views):
    done = kfe.ok("fit", "-m", "block-splsda", "--keep", "auto", "--keep-values", "1,2,4", "--dim", "2", *views, "-o", "m.kfe")
    said = done.err.split("keep ")[1].split(",")[0]
    kept = json.loads(kfe.ok("info", "m.kfe", "--json").out)["records"]["keep"]
    assert said == "rna:{:.0f};{:.0f};protein:{:.0f};{:.0f}".format(*kept) and set(kept) <= {1, 2, 4, 5, 8}
    expected = kfe.ok("transform", "m.kfe", "rna.csv", "protein.csv").out
    kfe.ok("fit", "-q", "-m", "block-splsda", "--keep", said, "--dim", "2", *views, "-o", "m.kfe")
    assert kfe.ok("transform", "m.kfe", "rna.csv", "protein.csv").out == expected


def test_cv_grids_and_explanations(kfe, views):
    found = json.loads(kfe.ok("cv", "-q", "-m", "block-splsda", "--dim", "2", "--grid", "design=0,0.5", "--grid", "keep=2,rna:3;protein:2,auto",
                              *views, "--json").out)
    assert len(found["settings"]) == 6 and found["metrics"]["accuracy"]["mean"] > 0.6
    kfe.ok("fit", "-q", "-m", "mbpls", "--dim", "2", "--learner", "ls", *views, "-o", "m.kfe")
    told = kfe.ok("explain", "-q", "m.kfe", *views, "--parts", "linear").out
    assert "rna.rna1" in told and "x-loadings" in told
    kfe.ok("report", "-q", "m.kfe", "--train", "rna.csv", "--train", "protein.csv", "--train-labels", "labels.csv", "-o", "r.html")
    assert "mbpls" in kfe.path("r.html").read_text()
