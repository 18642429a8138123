# SPDX-License-Identifier: Apache-2.0
"""kfe transfer: files, ids, names, weights, missing values, views and messages; python/tests/test_transfer.py has the oracles."""
import json

import numpy as np
import pytest

WAVES = np.linspace(900, 1700, 16)
NAMES = [f"{wave:.0f} nm" for wave in WAVES]


def spectra(rows, seed=0):
    random = np.random.default_rng(seed)
    amounts = random.random((rows, 2))
    peaks = np.exp(-((WAVES - np.array([[1100], [1400]])) / 150) ** 2)
    return amounts @ peaks + 0.01 * random.normal(size=(rows, 16)) + 0.1, amounts[:, 0]


def write(kfe, name, x, names=NAMES, **more):
    columns = {**{name: x[:, j] for j, name in enumerate(names)}, **more}
    lines = [",".join(columns)] + [",".join(str(column[i]) for column in columns.values()) for i in range(len(x))]
    kfe.write(name, "\n".join(lines) + "\n")


@pytest.fixture
def files(kfe):
    x, y = spectra(30)
    write(kfe, "train.csv", x, y=y)
    kfe.ok("fit", "-q", "-m", "pls", "--dim", "2", "--learner", "ls", "--label", "y", "--prepare", "snv", "train.csv", "-o", "model.kfe")
    master, reference = spectra(9, seed=1)
    slave = master * np.linspace(0.8, 1.3, 16) + np.linspace(0.2, 0, 16)
    write(kfe, "m.csv", master)
    write(kfe, "s.csv", slave)
    write(kfe, "labelled.csv", slave, y=reference)
    return master, slave, reference


def predictions(kfe, model, name):
    return np.array(kfe.ok("predict", "-q", model, name).out.split()[1:], float)


def transfer(kfe, *given, how="pds:window=1,dim=1", slave="s.csv", master="m.csv", output="new.kfe", run="ok"):
    return getattr(kfe, run)("transfer", "model.kfe", "--how", how, *(("--master", master) if master else ()), "--slave", slave, *given,
                             "-o", output)


def test_gains_and_offsets_of_columns_are_undone(kfe, files):
    transfer(kfe)
    assert "prepared by pds:window=1,dim=1,snv" in kfe.ok("info", "new.kfe").out
    np.testing.assert_allclose(predictions(kfe, "new.kfe", "s.csv"), predictions(kfe, "model.kfe", "m.csv"), atol=1e-10)
    assert json.loads(kfe.ok("info", "--json", "new.kfe").out)["views"][0]["name"] == "train"


def test_slope_bias_says_how_it_corrects(kfe, files):
    transfer(kfe, how="slope-bias", slave="labelled.csv", master=None)
    assert "transfer-slope" in kfe.ok("info", "new.kfe").out
    line = np.polyfit(predictions(kfe, "new.kfe", "s.csv"), files[2], 1)
    np.testing.assert_allclose(line, [1, 0], atol=1e-10)


def test_epo_fits_again(kfe, files):
    transfer(kfe, "--train", "train.csv", how="epo:dim=1")
    transfer(kfe, how="epo:dim=1", output="kept.kfe")
    assert "label       y" in kfe.ok("info", "new.kfe").out or "train" in kfe.ok("info", "new.kfe").out
    assert np.abs(predictions(kfe, "new.kfe", "s.csv") - predictions(kfe, "kept.kfe", "s.csv")).max() > 1e-6
    kfe.ok("evaluate", "-q", "new.kfe", "labelled.csv")


def test_weights_are_repetitions(kfe, files):
    master, slave, _ = files
    weights = np.resize([1, 2, 3], 9)
    noisy = slave + 0.01 * np.random.default_rng(2).normal(size=slave.shape)
    for name, x in (("m", master), ("s", noisy)):
        write(kfe, f"{name}w.csv", x, weight=weights)
        write(kfe, f"{name}r.csv", np.repeat(x, weights, axis=0))
    for how in ("pds:window=3,dim=2", "epo:dim=2"):
        transfer(kfe, "--weight", "weight", how=how, slave="sw.csv", master="mw.csv")
        transfer(kfe, how=how, slave="sr.csv", master="mr.csv", output="repeated.kfe")
        np.testing.assert_allclose(predictions(kfe, "new.kfe", "s.csv"), predictions(kfe, "repeated.kfe", "s.csv"), atol=1e-9)
    write(kfe, "other.csv", master, weight=weights[::-1])
    assert "one weight" in transfer(kfe, "--weight", "weight", slave="sw.csv", master="other.csv", run="refused")


def test_missing_values_are_filled_in_before(kfe, files):
    master, slave, _ = files
    x, y = spectra(30)
    kfe.ok("fit", "-q", "-m", "pls", "--dim", "2", "--learner", "ls", "--label", "y", "--missing", "mean", "train.csv", "-o", "model.kfe")
    holes = np.array(slave, object)
    holes[3, 5] = ""
    write(kfe, "holes.csv", holes)
    filled = slave.copy()
    filled[3, 5] = x[:, 5].mean()
    write(kfe, "filled.csv", filled)
    transfer(kfe, how="pds:window=3,dim=1", slave="holes.csv")
    transfer(kfe, how="pds:window=3,dim=1", slave="filled.csv", output="filled.kfe")
    np.testing.assert_allclose(predictions(kfe, "new.kfe", "s.csv"), predictions(kfe, "filled.kfe", "s.csv"), atol=1e-12)


def test_views_have_steps_of_their_own(kfe, files):
    x, y = spectra(30)
    write(kfe, "left.csv", x[:, :6], NAMES[:6])
    write(kfe, "right.csv", x[:, 6:], NAMES[6:])
    kfe.write("y.txt", "".join(f"{value}\n" for value in y))
    kfe.ok("fit", "-q", "-m", "kpls", "-k", "linear", "--dim", "2", "--learner", "ls", "--label-file", "y.txt", "--task", "regress", "left.csv",
           "right.csv", "-o", "model.kfe")
    for name, both in (("m", files[0]), ("s", files[1])):
        write(kfe, f"{name}1.csv", both[:, :6], NAMES[:6])
        write(kfe, f"{name}2.csv", both[:, 6:], NAMES[6:])
    kfe.ok("transfer", "model.kfe", "--how", "pds:window=1,dim=1", "--master", "left=m1.csv", "--master", "right=m2.csv", "--slave",
           "left=s1.csv", "--slave", "right=s2.csv", "-o", "new.kfe")
    found, known = (kfe.ok("predict", "-q", model, f"{name}1.csv", f"{name}2.csv").out.split()[1:] for model, name in
                    (("new.kfe", "s"), ("model.kfe", "m")))
    np.testing.assert_allclose(np.array(found, float), np.array(known, float), atol=1e-9)


def test_messages_name_the_fault(kfe, files):
    master, slave, _ = files
    write(kfe, "short.csv", slave[:4])
    assert "the master has 9 samples and the slave 4" in transfer(kfe, slave="short.csv", run="refused")
    ids = [f"cup{i}" for i in range(9)]
    write(kfe, "mi.csv", master, cup=ids)
    write(kfe, "si.csv", slave, cup=ids[:2] + ids[:1:-1])
    said = transfer(kfe, "--id", "cup", slave="si.csv", master="mi.csv", run="refused")
    assert "row 3 is sample 'cup2' of the master, but 'cup8' of the slave" in said
    write(kfe, "named.csv", slave, [*NAMES[:-1], "elsewhere"])
    assert "'1700 nm'" in transfer(kfe, slave="named.csv", run="refused")
    write(kfe, "narrow.csv", slave[:, :5], NAMES[:5])
    assert "columns that the model was fitted on are missing" in transfer(kfe, slave="narrow.csv", run="refused")
    assert "--how" in kfe.refused("transfer", "model.kfe", "--slave", "s.csv", "-o", "new.kfe")
    assert "-o" in kfe.refused("transfer", "model.kfe", "--how", "pds")
    assert "second instrument measured: --slave" in kfe.refused("transfer", "model.kfe", "--how", "pds", "-o", "new.kfe")
    assert "overwrite" in transfer(kfe, output="s.csv", run="refused")
    said = kfe.refused("fit", "-m", "pca", "--prepare", "snv,epo", "m.csv", "-o", "no.kfe")
    assert "step epo is learned from spectra of the same samples" in said and "kfe transfer" in said
