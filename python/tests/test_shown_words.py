# SPDX-License-Identifier: Apache-2.0
"""Words of a file or of data reach a terminal escaped: in representations, tables of notebooks and messages."""
import json
import pathlib
import sys
import warnings

import numpy as np
import pytest

import kfe
from kfe._lib import shown

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "cli"))
model_file = pytest.importorskip("model_file")

EVIL = "x\x1b[2J\u202etxt\x9b\x7f"


def safe(text):
    return not any(what in text for what in "\x1b\u202e\x9b\x7f")


def test_shown():
    assert shown(EVIL) == "x\\x1b[2J\\xe2\\x80\\xaetxt\\xc2\\x9b\\x7f" and shown("größe €") == "größe €"
    assert shown("\udcff") == "?"  # a byte of a file name that is not UTF-8


def test_a_model_of_a_hostile_file(tmp_path):
    X, y = kfe.generate("iris")
    kfe.KOCClassifier(learner="knn").fit(X, y).save(tmp_path / "m.kfe")

    def plant(metadata):
        views = json.loads(metadata["views"])
        views[0]["column_names"] = [f"{EVIL}{j}" for j in range(4)]
        metadata.update(kfe_version=EVIL, views=json.dumps(views), classes=json.dumps(["a", "b", EVIL]))

    model_file.rewrite(tmp_path / "m.kfe", plant)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = kfe.load(tmp_path / "m.kfe")
        assert safe(repr(loaded))
        explanation = loaded.explain(X)
        assert safe(repr(explanation)) and all(safe(repr(table)) for table in explanation.values())
        result = kfe.evaluate(loaded, X, np.where(y == "setosa", "a", "b"))
        assert EVIL in result["confusion"]["classes"] and safe(result._repr_html_())
    assert all(safe(str(each.message)) for each in caught)
