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
