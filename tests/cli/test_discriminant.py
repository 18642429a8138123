# SPDX-License-Identifier: Apache-2.0
"""PLS discriminants as users of the command see them: probabilities by default, reports, search, one name for one thing."""
import json
import random

import pytest


def table(classes=3, rows=60, cols=6, seed=3):
    draw = random.Random(seed)
    return "".join(",".join(f"{draw.gauss(2 * (i % classes == j), 1):.5f}" for j in range(cols)) + f",c{i % classes}\n" for i in range(rows))


def test_probabilities_need_no_flag(kfe):
    kfe.write("data.csv", table())
    kfe.ok("fit", "-q", "-m", "plsda", "data.csv", "-o", "m.kfe")
    head, *lines = kfe.ok("predict", "m.kfe", "data.csv", "--probabilities").out.splitlines()
    assert head == "label,probability c0,probability c1,probability c2"
    assert all(abs(sum(map(float, line.split(",")[1:])) - 1) < 1e-9 for line in lines)
    kfe.ok("fit", "-q", "-m", "plsda", "--calibration", "none", "data.csv", "-o", "m.kfe")
    kfe.refused("predict", "m.kfe", "data.csv", "--probabilities", says=["no probabilities"], status=2)


def test_info_names_the_rule(kfe):
    kfe.write("data.csv", table())
    kfe.ok("fit", "-q", "-m", "plsda", "--class-rule", "threshold", "data.csv", "-o", "m.kfe")
    info = json.loads(kfe.ok("info", "m.kfe", "--json").out)
    assert info["parameters"]["class-rule"] == "threshold" and len(info["records"]["class-thresholds"]) == 3


def test_cv_grid_tune_and_report(kfe):
    kfe.write("data.csv", table())
    found = json.loads(kfe.ok("cv", "-q", "-m", "plsda", "--grid", "dim=1,2,3", "--grid", "class-rule=max,centroid,threshold", "--metrics",
                              "accuracy;log-loss", "data.csv", "--json").out)
    assert found["metrics"]["log-loss"]["mean"] < 0.9 and len(found["settings"]) == 9
    ranked = kfe.ok("tune", "-q", "--trials", "60", "data.csv").out
    assert "plsda" in ranked
    kfe.ok("fit", "-q", "-m", "plsda", "data.csv", "-o", "m.kfe")
    kfe.ok("report", "-q", "m.kfe", "--train", "data.csv", "-o", "r.html")
    assert "plsda" in kfe.path("r.html").read_text()


def test_numbers_of_columns_are_chosen_said_and_kept(kfe):
    kfe.write("data.csv", table())
    done = kfe.ok("fit", "-m", "splsda", "--keep", "auto", "--dim", "2", "data.csv", "-o", "m.kfe")
    said = done.err.split("keep ")[1].split(",")[0]
    assert "by cross-validation" not in done.err  # which is about the number of features
    kept = json.loads(kfe.ok("info", "m.kfe", "--json").out)["records"]["keep"]
    assert len(kept) == 2 and said == ";".join(f"{number:.0f}" for number in kept)
    expected = kfe.ok("transform", "m.kfe", "data.csv").out
    kfe.ok("fit", "-q", "-m", "splsda", "--keep", said, "--dim", "2", "data.csv", "-o", "m.kfe")
    assert kfe.ok("transform", "m.kfe", "data.csv").out == expected
    kfe.ok("fit", "-q", "-m", "splsda", "--keep", said.replace(";", ","), "--dim", "2", "data.csv", "-o", "m.kfe")
    assert kfe.ok("transform", "m.kfe", "data.csv").out == expected


def test_keep_in_a_grid_and_in_streams(kfe):
    kfe.write("data.csv", table())
    found = json.loads(kfe.ok("cv", "-q", "-m", "splsda", "--dim", "2", "--grid", "keep=1,2;3,auto", "data.csv", "--json").out)
    assert len(found["settings"]) == 3
    kfe.ok("fit", "-q", "-m", "spls", "--keep", "3;2", "--dim", "2", "--stream", "data.csv", "-o", "m.kfe")
    kfe.refused("fit", "-q", "-m", "spls", "--keep", "auto", "--stream", "data.csv", "-o", "s.kfe", says="--keep auto is chosen on rows")
