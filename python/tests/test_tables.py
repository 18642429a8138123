# SPDX-License-Identifier: Apache-2.0
"""Classes, signatures, documentation and type hints agree with the library's tables."""
import doctest
import importlib.machinery
import importlib.util
import inspect
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import kfe
from kfe import _estimators, _tables

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


def listed(what):
    """The names that the command line lists."""
    return json.loads(subprocess.run([os.environ["KFE"], what, "--json"], capture_output=True, check=True).stdout)


def test_every_method_has_an_estimator():
    assert set(_estimators.CLASSES) == set(kfe._ESTIMATORS) and set(_tables.ESTIMATORS) <= set(kfe._ESTIMATORS)
    assert {name for name in kfe._ESTIMATORS if name.endswith("Classifier")} == {
        name + "Classifier" for name in [*_tables.ESTIMATORS, "DirectionRule"]}
    regressors = {name[:-len("Regressor")] for name in kfe._ESTIMATORS if name.endswith("Regressor")}
    assert {"PLS", "KPLS", "KPCA", "HSIC", "NoExtraction", "DirectionRule"} <= regressors
    assert not {"KOC", "KFD", "SVMJoint", "MKL", "KernelBoosting"} & regressors
    if "KFE" in os.environ:
        assert [row["name"] for row in listed("methods")] == list(_tables.METHODS)
    assert {"KOC", "KFD", "KDAQR", "AKDAQR", "KPCA", "PCA", "PLS", "KPLS", "BLF", "KBLF", "ContinuumRegression", "SMA",
            "SMC", "SKFA", "SparseKPLS", "SparseKBLF", "KOPLS", "ReducedKOPLS", "KernelBoosting", "SKFE", "HSIC",
            "UHSIC", "SVMJoint", "USVMJoint", "HSICMKL", "SVMMKL", "SLMC", "OC"} <= set(dir(kfe))


def test_a_method_without_a_chosen_name_gets_one():
    assert _tables.class_name("new-thing") == "NewThing"
    assert _tables.class_name("kda-qr") == "KDAQR"


@pytest.mark.skipif("KFE" not in os.environ, reason="needs the command line")
def test_signatures_are_those_of_the_command_line():
    for row in listed("methods"):
        made = getattr(kfe, _tables.class_name(row["name"]))
        signature = inspect.signature(made)
        for param in row["parameters"]:
            default = signature.parameters[_tables.python_name(param["name"])].default
            written = {True: "yes", False: "no"}.get(default, default) if isinstance(default, bool) else default
            assert str(written) == param["default"] or float(written) == float(param["default"]), param


def test_former_names_are_understood():
    """Every alias of the tables works in the constructor and in set_params; the signature has current names only."""
    seen = set()
    for name, entry in _tables.ESTIMATORS.items():
        for row in (*entry.params, *_tables.FIT_OPTIONS):
            if row.alias is None:
                continue
            former, today = _tables.python_name(row.alias), _tables.python_name(row.name)
            made, value = getattr(kfe, name), 7
            assert former not in inspect.signature(made).parameters
            with pytest.warns(FutureWarning, match=f"{former} is now called {today}") as caught:
                estimator = made(**{former: value})
            assert caught[0].filename == __file__
            assert estimator.get_params()[today] == clone(estimator).get_params()[today] == value
            with pytest.warns(FutureWarning, match=today):
                assert made().set_params(**{former: value}).get_params()[today] == value
            with pytest.raises(TypeError, match=f"{former} is the former name of {today}"):
                made(**{former: value, today: value})
            seen.add(former)
    assert {"machine_C", "max_rounds", "metric"} <= seen
    with pytest.raises(TypeError, match="no parameter 'machine_D'"):
        kfe.MKL(machine_D=1)


def test_one_rule_for_names():
    assert _tables.python_name("max-iter") == "max_iter"
    assert _tables.python_name("lambda") == "lambda_"
    assert _tables.python_name("kernel") == "kernel_"
    assert "lambda_" in kfe.HSIC().get_params()


@pytest.mark.parametrize("name", sorted(_estimators.CLASSES))
def test_class(name):
    made = getattr(kfe, name)
    assert made.__module__ == "kfe" and made.__qualname__ == name
    estimator = made(dim=3) if "dim" in made().get_params() else made()
    copied = clone(estimator)
    assert copied.get_params() == estimator.get_params() and repr(copied) == repr(estimator)
    assert repr(made()) == f"{name}()"
    assert pickle.loads(pickle.dumps(made)) is made
    for section in ("Parameters", "Attributes", "References", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in made.__doc__
    for parameter in inspect.signature(made).parameters:
        assert f"\n{parameter} : " in made.__doc__


def documented(made):
    """The names under Attributes."""
    section = re.search(r"\nAttributes\n-+\n(.*?)\n\n", made.__doc__, re.DOTALL)[1]
    return re.findall(r"^(\w+) : ", section, re.MULTILINE)


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
@pytest.mark.parametrize("name", sorted(name for name in _estimators.CLASSES if "DirectionRule" not in name))
def test_documented_attributes_are_there(name, iris):
    made = getattr(kfe, name)
    rows = slice(100 if made._entry.has(_tables.TWO_CLASSES) else 150)
    x, y = pd.DataFrame(iris[0], columns=list("abcd"))[rows], iris[1][rows]
    y = np.unique(y, return_inverse=True)[1] if name.endswith("Regressor") else y
    model = made(n_threads=1).fit(x, y)
    listed = set(documented(made))
    assert ("classes_" in listed) == hasattr(model, "classes_")
    of_views = {"view_columns_", "view_feature_names_in_"}
    assert {attribute for attribute in listed - of_views if not hasattr(model, attribute)} == set()
    if of_views <= listed:
        model.fit([x[["a", "b"]], x[["c", "d"]]], y)
        assert {attribute for attribute in listed - {"feature_names_in_"} if not hasattr(model, attribute)} == set()
    for attribute in ("dual_coef_", "components_", "support_", "projections_", "gate_weights_", "kernel_weights_"):
        assert (attribute in listed) == hasattr(model, attribute), attribute


@pytest.mark.filterwarnings("ignore::kfe.KfeWarning")
@pytest.mark.parametrize("name", [*sorted(_estimators.CLASSES), "generate", "kernel_matrix", "cv", None])
def test_examples_in_documentation(name):
    subject = kfe if name is None else getattr(kfe, name)
    text = inspect.getdoc(subject)
    examples = doctest.DocTestParser().get_doctest(text, {}, name or "kfe", None, 0)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_type_hints_are_current():
    """If this fails, run tools/make-stubs."""
    if not TOOLS.is_dir():
        pytest.skip("not in the source tree")
    loader = importlib.machinery.SourceFileLoader("make_stubs", str(TOOLS / "make-stubs"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_stubs", loader))
    loader.exec_module(module)
    written = (TOOLS.parent / "python" / "kfe" / "__init__.pyi").read_text()
    assert module.stubs() == written, "run tools/make-stubs"


def test_import_is_light():
    """scikit-learn alone takes a second to import."""
    code = "import sys, kfe; print('sklearn' in sys.modules, len(dir(kfe)) > 30, kfe.__version__)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", kfe.__version__]


def test_unknown_names():
    with pytest.raises(AttributeError, match="nothing"):
        kfe.nothing
    with pytest.raises(TypeError):
        kfe.KOC(no_such_parameter=1)


def test_values_as_text():
    assert _tables.as_text(True) == _tables.as_text(np.bool_(True)) == "yes"
    assert float(_tables.as_text(np.float64(0.1))) == 0.1 and _tables.as_text(np.int64(3)) == "3"
    assert _tables.options_text({"a_b": "x,y", "c": 1}) == b"a-b=x\\,y,c=1"
