# SPDX-License-Identifier: Apache-2.0
"""A learner without features is called by its name, not "none with 3 features"."""
import json
import re

import pytest

from conftest import SMALL

CASES = {"svm": (("-k", "rbf:gamma=0.5", "--learner", "svm"), "svm with rbf:gamma=0.5: ", "the kernel itself"),
         "knn": (("--learner", "knn", "--neighbors", "3"), "knn on 3 columns, ", "the columns themselves"),
         "linear-svm": (("--learner", "linear-svm"), "linear-svm on 3 columns, ", "the columns themselves")}


@pytest.mark.parametrize("name", CASES)
def test_it_is_called_what_it_is(kfe, name):
    flags, line, place = CASES[name]
    kfe.write("d.csv", SMALL)
    told = kfe.ok("fit", "-m", "none", *flags, "d.csv", "-o", "m.kfe").err.splitlines()[-1]
    assert told.startswith(line) and "none" not in told and "feature" not in told
    info = kfe.ok("info", "m.kfe").out
    assert f"method      none: a plain {name} on {place}\n" in info and "features    none; transform gives the " in info
    found = json.loads(kfe.ok("info", "--json", "m.kfe").out)
    assert found["method"] == "none" and found["plain_learner"] == name
    kfe.ok("report", "m.kfe", "--test", "d.csv", "-o", "page.html")
    page = kfe.path("page.html").read_text()
    title = re.search("<title>(.*?)</title>", page)[1]
    assert title.startswith(name) and title.endswith(": class of d") and "none" not in title and f"On {place}" in page


def test_models_with_features_are_called_by_their_method(kfe):
    kfe.write("d.csv", SMALL)
    for flags in (("-m", "koc", "--learner", "knn"), ("-m", "none", "-k", "rbf", "--landmarks", "4", "--learner", "knn"), ("-m", "none")):
        told = kfe.ok("fit", *flags, "d.csv", "-o", "m.kfe").err.splitlines()[-1]
        assert told.startswith(flags[1]) and " feature" in told
        assert json.loads(kfe.ok("info", "--json", "m.kfe").out)["plain_learner"] is None


def test_compare_and_tune_name_it(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    table = kfe.ok("compare", "-m", "none", "-m", "koc", "--learner", "svm:C=2", "--folds", "2", "iris.csv").out.splitlines()
    assert table[1].startswith("svm:C=2 ") and table[2].startswith("koc ")
    labels = [m["label"] for m in json.loads(kfe.ok("compare", "-m", "none", "-m", "koc", "--learner", "svm", "--folds", "2", "--json",
                                                    "iris.csv").out)["methods"]]
    assert labels == ["svm", "koc"]
