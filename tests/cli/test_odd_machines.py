# SPDX-License-Identifier: Apache-2.0
"""Commands end with the same result on machines with unusual OpenMP settings; how threads wait."""
import os
import pathlib
import subprocess

import pytest

KFE = os.environ.get("KFE", "kfe")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "train.csv"
    subprocess.run([KFE, "generate", "waveform", "--n", "700", "-o", str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def expected(data, tmp_path_factory):
    return features(data, tmp_path_factory.mktemp("expected"))


def features(data, folder, **environment):
    """The features of a fit with two threads and these environment variables."""
    settings = {**os.environ, **environment}
    model, output = folder / "m.kfe", folder / "z.csv"
    for arguments in (["fit", "-q", "-m", "kpca", "--dim", "2", "-k", "rbf:gamma=0.05", str(data), "-o", str(model)],
                      ["transform", "-q", str(model), str(data), "-o", str(output)]):
        subprocess.run([KFE, *arguments, "--threads", "2"], check=True, env=settings, timeout=60)
    return [[float(value) for value in line.split(",")] for line in output.read_text().splitlines()[1:]]


@pytest.mark.parametrize("environment", [
    {"OMP_DYNAMIC": "true"},
    {"OMP_THREAD_LIMIT": "1"},
    {"OMP_DYNAMIC": "true", "OMP_THREAD_LIMIT": "3", "OMP_NUM_THREADS": "8"},
    {"OMP_NUM_THREADS": "2,2"},
    {"OMP_NUM_THREADS": "0"},
    {"OMP_NUM_THREADS": "many"},
    {"OMP_NUM_THREADS": "2,-1"},
    {"OMP_THREAD_LIMIT": "no"},
    {"OMP_NESTED": "true", "OMP_MAX_ACTIVE_LEVELS": "3"},
    {"OMP_SCHEDULE": "dynamic,1", "OMP_STACKSIZE": "2M"},
    {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"},
    {"OMP_MAX_ACTIVE_LEVELS": "0"},
    {"OMP_WAIT_POLICY": "active"},
    {"OMP_PROC_BIND": "true"},
    {"OPENBLAS_NUM_THREADS": "1"},
], ids=lambda environment: ",".join(f"{key}={value}" for key, value in environment.items()))
def test_openmp_settings(environment, data, expected, tmp_path):
    found = features(data, tmp_path, **environment)
    assert len(expected) == 700
    for a, b in zip(expected, found):
        assert a == pytest.approx(b, abs=1e-8)


WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
ROWS = b"x,y\n" + b"1,2\n" * 40000  # more than a pipe holds: kfe reads when all but the last of it is written


def environment_of_a_run(folder, **environment):
    """The OpenMP variables that a command runs with, and what it says."""
    settings = {key: value for key, value in os.environ.items() if key not in WAITING}
    process = subprocess.Popen([KFE, "convert", "-q", "-", "out put.csv"], cwd=folder, stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE, env={**settings, **environment})
    process.stdin.write(ROWS)
    process.stdin.flush()
    lines = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes().decode(errors="replace").split("\0")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert (folder / "out put.csv").read_bytes().count(b"\n") >= 40000
    return dict(line.split("=", 1) for line in lines if "=" in line), said.decode()


def test_threads_sleep_while_they_wait(tmp_path):
    environment, said = environment_of_a_run(tmp_path)
    assert environment["OMP_WAIT_POLICY"] == "passive" and said == ""


@pytest.mark.parametrize("setting", [("OMP_WAIT_POLICY", "active"), ("GOMP_SPINCOUNT", "500"), ("KMP_BLOCKTIME", "7")])
def test_own_settings_of_waiting_are_kept(setting, tmp_path):
    environment, _ = environment_of_a_run(tmp_path, **dict([setting]))
    assert {name: environment.get(name) for name in WAITING} == {**dict.fromkeys(WAITING), **dict([setting])}


@pytest.mark.parametrize("value", ["many", "0", "", "3,", "2x", "-1", "9999999999"])
def test_malformed_numbers_of_threads_are_ignored_with_a_warning(value, tmp_path):
    environment, said = environment_of_a_run(tmp_path, OMP_NUM_THREADS=value)
    assert "OMP_NUM_THREADS" not in environment
    assert said == "kfe: warning: OMP_NUM_THREADS is ignored, since it is not a positive number\n"


@pytest.mark.parametrize("value", ["3", " 2 , 3 ", "007"])
def test_sound_numbers_of_threads_are_kept(value, tmp_path):
    environment, said = environment_of_a_run(tmp_path, OMP_NUM_THREADS=value)
    assert environment["OMP_NUM_THREADS"] == value and "ignored" not in said


def test_the_loader_as_a_program(tmp_path):
    """Executing /proc/self/exe again would start the loader without a program."""
    loader = next(pathlib.Path("/lib64").glob("ld-linux*"), None)
    if loader is None:
        pytest.skip("no ld-linux here")
    settings = {key: value for key, value in os.environ.items() if key not in WAITING}
    done = subprocess.run([loader, KFE, "methods"], env=settings, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "kpca" in done.stdout


def test_a_processor_that_openblas_does_not_know(tmp_path, data):
    """OpenBLAS says that it takes the processor for one of 2004: the command starts again with better kernels."""
    with open("/proc/cpuinfo") as file:
        flags = file.read().split()
    if "avx2" not in flags or "fma" not in flags:
        pytest.skip("the processor has no AVX2")
    source, library = tmp_path / "old.c", tmp_path / "old.so"
    source.write_text('char *openblas_get_corename(void) { return "Prescott"; }\n')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    with_it = dict(environment, LD_PRELOAD=str(library))
    if "asan" in str(KFE):
        pytest.skip("sanitizers must be loaded first")
    # the preloaded function would start it again and again if the variable were not set by the first start
    done = subprocess.run([KFE, "cv", "-q", "-m", "koc", "--folds", "2", "--learner", "knn", str(data)], env=with_it, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    trace = subprocess.run([KFE, "--version"], env=dict(with_it, LD_DEBUG="files"), capture_output=True, text=True, timeout=60)
    plain = subprocess.run([KFE, "--version"], env=dict(environment, LD_DEBUG="files"), capture_output=True, text=True, timeout=60)
    assert trace.stdout == plain.stdout
    assert starts(trace.stderr) == starts(plain.stderr) + 1


def starts(log):
    return log.count("transferring control:")
