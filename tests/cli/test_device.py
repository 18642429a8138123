# SPDX-License-Identifier: Apache-2.0
"""--device, KFE_DEVICE and `kfe devices`: where things run, and what is said when a device is missing or fails."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import KFE, takes_long


@pytest.fixture
def data(kfe):
    kfe.ok("generate", "iris", "-o", "iris.csv")
    return "iris.csv"


def test_devices_are_listed(kfe):
    entries = json.loads(kfe.ok("devices", "--json").out)
    assert entries[0]["name"] == "cpu" and entries[0]["usable"]
    assert "cuda" in [entry["name"] for entry in entries]
    assert "cpu" in kfe.ok("devices").out


def fit(kfe, data, *more, **environment):
    method = () if "-m" in more else ("-m", "hsic")
    return kfe.ok("fit", *method, "-k", "rbf:gamma=0.3", "-v", data, "-o", "model.kfe", *more,
                  env={**os.environ, **environment}).err


def test_verbose_output_says_where_stages_ran(kfe, data):
    said = fit(kfe, data, "--device", "host")
    assert "device host:" in said and "Cholesky in double precision on host" in said


def test_the_environment_names_the_device(kfe, data):
    assert "device host:" in fit(kfe, data, KFE_DEVICE="host")
    assert "device host:" not in fit(kfe, data, "--device", "cpu", KFE_DEVICE="host")
    kfe.refused("fit", "-m", "koc", data, "-o", "none.kfe", says="no plug-in", env={**os.environ, "KFE_DEVICE": "missing"})


@pytest.mark.parametrize("environment, name, message", [
    ({}, "nodevice", "there is no plug-in for the device 'nodevice': libkfe_nodevice.so"),
    ({}, "no device", "--device takes cpu, cuda, host or auto, not 'no device'"),
    ({}, "host:7", "the device 'host:7' does not exist: there is only 1"),
    ({"KFE_DEVICE_COUNT": "0"}, "host", "the device 'host' is not usable: there is no device"),
])
def test_what_is_missing_is_said(kfe, data, environment, name, message):
    kfe.refused("fit", "-m", "koc", data, "-o", "none.kfe", "--device", name, says=message,
                env={**os.environ, **environment})


def test_a_file_that_is_no_plugin_is_refused(kfe, data, tmp_path):
    (tmp_path / "libkfe_broken.so").write_text("no library")
    kfe.refused("fit", "-m", "koc", data, "-o", "none.kfe", "--device", "broken", says="cannot be loaded",
                env={**os.environ, "KFE_DEVICE_PATH": str(tmp_path)})


@pytest.mark.parametrize("entry", ["plugins", ".", "./plugins", "../x", "/usr/lib:plugins"])
def test_plugins_are_taken_from_absolute_paths_only(kfe, data, entry):
    """A relative path would load code from whatever folder the command runs in."""
    kfe.path("plugins").mkdir()
    for folder in ("plugins", "."):
        kfe.write(f"{folder}/libkfe_evil.so", "no library")
    relative = next(part for part in entry.split(":") if not part.startswith("/"))
    kfe.refused("fit", "-m", "koc", data, "-o", "none.kfe", "--device", "evil", env={**os.environ, "KFE_DEVICE_PATH": entry},
                says=f"KFE_DEVICE_PATH names the folder '{relative}', but plug-ins are taken only from absolute paths")


def test_empty_entries_are_no_folder(kfe, data):
    kfe.write("libkfe_evil.so", "no library")
    kfe.refused("fit", "-m", "koc", data, "-o", "none.kfe", "--device", "evil", env={**os.environ, "KFE_DEVICE_PATH": "::"}, says="no plug-in")


def test_plugins_beside_a_command_that_is_found_in_the_path(kfe):
    """The shell then passes the bare name of the command."""
    folder = pathlib.Path(shutil.which(KFE)).resolve().parent
    done = subprocess.run(["kfe", "devices"], cwd=kfe.folder, capture_output=True, text=True, env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    assert "the CPU through the interface of devices" in done.stdout, done.stdout


def test_memory_that_is_too_small_falls_back(kfe, data):
    """150 examples: 180 kB in double precision, 90 kB in single precision, and panels of as many rows."""
    assert "Cholesky in double precision on host" in fit(kfe, data, "--device", "host", KFE_DEVICE_MEMORY="2000000")
    assert "Cholesky in single precision on host" in fit(kfe, data, "--device", "host", KFE_DEVICE_MEMORY="190000")
    assert "so it runs on the CPU" in fit(kfe, data, "--device", "host", KFE_DEVICE_MEMORY="1000")


def features(kfe, model, data):
    kfe.ok("transform", model, data, "-o", "features.csv")
    lines = kfe.path("features.csv").read_text().splitlines()[1:]
    return [float(number) for line in lines for number in line.split(",")]


@pytest.mark.parametrize("method", ["hsic", "sma"])
def test_every_failing_allocation_falls_back(kfe, data, method):
    kfe.ok("fit", "-m", method, "-k", "rbf:gamma=0.3", data, "-o", "cpu.kfe")
    expected = features(kfe, "cpu.kfe", data)
    for number in (*range(1, 14), 20, 30):
        said = fit(kfe, data, "-m", method, "--device", "host", KFE_DEVICE_FAIL_ALLOCATION=str(number))
        assert number > 2 or "the memory of host is used up" in said
        found = features(kfe, "model.kfe", data)
        assert all(abs(a - b) <= 1e-8 * (1 + abs(a)) for a, b in zip(expected, found, strict=True)), number


def numbers(value, key=""):
    """All real numbers of a result but the seconds."""
    if isinstance(value, dict):
        return [x for k, v in value.items() for x in numbers(v, k)]
    if isinstance(value, list):
        return [x for v in value for x in numbers(v, key)]
    return [value] if isinstance(value, float) and "second" not in key else []


@takes_long
def test_a_search_learns_on_the_device(kfe):
    """All settings of a linear SVM are learned in one call, with the scores of the CPU; not if the device's memory ends."""
    kfe.ok("generate", "waveform", "--n", "4000", "-o", "waves.csv")
    command = ["cv", "waves.csv", "-m", "koc", "-k", "rbf:gamma=0.02", "--learner", "linear-svm", "--folds", "2", "--inner-folds", "0",
               "--grid", "C=1e-3:1e4:log24", "--json", "-v"]
    expected = numbers(json.loads(kfe.ok(*command, "--device", "cpu").out))
    found = kfe.ok(*command, "--device", "host")
    assert "linear-svm learns all its settings at once on host" in found.err
    assert len(expected) > 40 and numbers(json.loads(found.out)) == pytest.approx(expected, abs=1e-9)
    for number in (2, 9, 14):
        failed = kfe.ok(*command, "--device", "host", env={**os.environ, "KFE_DEVICE_FAIL_ALLOCATION": str(number)})
        assert numbers(json.loads(failed.out)) == pytest.approx(expected, abs=1e-9), number
