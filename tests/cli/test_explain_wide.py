# SPDX-License-Identifier: Apache-2.0
"""Explanations of wide tables: the columns that may matter are found first, the largest loss leads, and Ctrl-C ends it."""
import json
import resource
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import KFE, SANITIZED, takes_long

MOST_FITS = 40


def wide(kfe, cols=12000, informative=0, name="wide.csv"):
    random = np.random.default_rng(0)
    x = random.normal(size=(70, cols))
    code = np.arange(70) % 2
    if informative:
        x[:, cols // 2] += 1000 * code
    rows = [",".join(f"g{j}" for j in range(cols)) + ",y"]
    rows += [",".join(f"{v:.4g}" for v in row) + f",{'ab'[c]}" for row, c in zip(x, code)]
    kfe.write(name, "\n".join(rows) + "\n")
    return name


def test_wide_tables_are_screened(kfe):
    kfe.ok("fit", "-q", "-m", "none", "-k", "linear", "--learner", "svm", wide(kfe, informative=1), "-o", "m.kfe")
    done = kfe.ok("explain", "m.kfe", "wide.csv", "--parts", "permutation")
    assert "of 12000 columns, the " in done.err and "--top 0 permutes all" in done.err
    lines = done.out.splitlines()
    assert lines[2].split()[0] == "g6000" and float(lines[2].split()[1]) > 0 and "detectably" not in done.out
    table = json.loads(kfe.ok("explain", "m.kfe", "wide.csv", "--parts", "permutation", "--json").out)["tables"]["permutation"]
    assert 20 <= len(table["rows"]) < 1000 and table["rows"][0] == "g6000"


def processor_seconds(kfe, *arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    kfe.ok(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.skipif(SANITIZED, reason="sanitizers slow both down by factors of their own")
@pytest.mark.parametrize("fit", [["none", "-k", "linear", "--learner", "svm"], ["kfd", "-k", "rbf", "--learner", "svm"]], ids=["svm", "kfd"])
def test_genes_are_explained_in_the_time_of_some_fits(kfe, fit):
    """12,625 columns once took more than 100 s; a fit takes a part of a second."""
    wide(kfe, cols=12625, informative=1)
    fitted = processor_seconds(kfe, "fit", "-q", "-m", *fit, "wide.csv", "-o", "m.kfe")
    explained = processor_seconds(kfe, "explain", "-q", "m.kfe", "wide.csv")
    assert explained < MOST_FITS * fitted, (explained, fitted)


@takes_long
@pytest.mark.parametrize("fit", [["none", "--learner", "knn"], ["none", "-k", "laplacian", "--learner", "svm"]], ids=["knn", "laplacian"])
def test_models_without_derivatives_are_screened(kfe, fit):
    """Groups of columns are permuted, then halves of those that lose most."""
    kfe.ok("fit", "-q", "-m", *fit, wide(kfe, informative=1), "-o", "m.kfe")
    for top in [], ["--top", "3"]:
        done = kfe.ok("explain", "m.kfe", "wide.csv", "--parts", "permutation", *top)
        assert ("of 12000 columns, the " in done.err) == (not top)
        lines = done.out.splitlines()
        assert lines[2].split()[0] == "g6000" and float(lines[2].split()[1]) > 0.3 and float(lines[3].split()[1]) < 0.1


def test_it_says_that_nothing_matters(kfe):
    kfe.ok("fit", "-q", "-m", "none", "-k", "linear", "--learner", "svm", wide(kfe, cols=2000), "-o", "m.kfe")
    out = kfe.ok("explain", "m.kfe", "wide.csv", "--parts", "permutation", "--top", "30").out
    assert "no column matters detectably" in out


def test_losses_are_sorted_and_small_tables_are_whole(kfe):
    random = np.random.default_rng(1)
    x = random.normal(size=(60, 4))
    y = np.where(x[:, 2] + 0.3 * x[:, 3] > 0, "a", "b")
    kfe.write("d.csv", "p,q,r,s,y\n" + "".join(",".join(map(str, row)) + f",{c}\n" for row, c in zip(x, y)))
    kfe.ok("fit", "-q", "-m", "none", "--learner", "ls", "d.csv", "-o", "m.kfe")
    done = kfe.ok("explain", "m.kfe", "d.csv", "--parts", "permutation")
    losses = [float(line.split()[1]) for line in done.out.splitlines()[2:6]]
    assert done.out.splitlines()[2].split()[0] == "r" and losses == sorted(losses, reverse=True) and done.err.count("columns, the") == 0
    table = json.loads(kfe.ok("explain", "m.kfe", "d.csv", "--parts", "permutation", "--json").out)["tables"]["permutation"]
    assert table["rows"] == ["p", "q", "r", "s"]


def test_ctrl_c_ends_an_explanation(kfe):
    kfe.ok("fit", "-q", "-m", "none", "-k", "linear", "--learner", "svm", wide(kfe), "-o", "m.kfe")
    run = subprocess.Popen([KFE, "explain", "m.kfe", "wide.csv", "--top", "0", "--repeats", "1000", "-o", "out.csv"], cwd=kfe.folder,
                           stderr=subprocess.PIPE)
    time.sleep(3)
    assert run.poll() is None, "the explanation was over before it could be interrupted"
    run.send_signal(signal.SIGINT)
    try:
        run.communicate(timeout=20)
    finally:
        run.kill()
    assert run.returncode == -signal.SIGINT and "out.csv" not in kfe.files()
