# SPDX-License-Identifier: Apache-2.0
"""Failing allocations inside LAPACK, BLAS and OpenMP.

Sweeps fail one allocation of a library at a time. The outcome must be one of those listed for the library, and kfe must
never write a wrong model. A limited address space, where memory really runs out, must give a message and never a signal.
"""
import os
import resource
import subprocess

import pytest

KFE = os.environ.get("KFE", "kfe")
PRELOAD = os.environ["FAILING_MALLOC"]
MOST_RUNS = 24  # per library: all calls, or this many of them


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    files = {"train.csv": 60, "many.csv": 2500, "many.svm": 2500, "some.csv": 300, "train.csv.gz": 60}
    for name, rows in files.items():
        subprocess.run([KFE, "generate", "waveform", "--n", str(rows), "-o", name], cwd=folder, check=True)
    return folder


def environment(**more):
    return {**os.environ, "OMP_NUM_THREADS": "1", **more}


def fit(folder, arguments, libraries="none", at=0):
    """Exit status, messages, model and number of calls of a fit whose `at`-th allocation inside the libraries fails."""
    report, model = folder / "report", folder / "m.kfe"
    for path in report, model:
        path.unlink(missing_ok=True)
    done = subprocess.run([KFE, "fit", "-q", *arguments, "-o", "m.kfe"], cwd=folder, capture_output=True, timeout=120,
                          env=environment(LD_PRELOAD=PRELOAD, KFE_FAIL_LIBRARIES=libraries, KFE_FAIL_AT=str(at),
                                          KFE_FAIL_REPORT=str(report)))
    calls = int(report.read_text()) if report.exists() else 0
    messages = (done.stderr + done.stdout).decode(errors="replace")
    return done.returncode, messages, model.read_bytes() if model.exists() else None, calls


def outcome(right, status, messages, model):
    if status < 0:
        return "dies"
    if status == 0:
        assert model == right, "the model differs from the right one"
        return "right"
    assert model is None, "a failed fit left a model"
    if status == 1 and "kfe: out of memory" in messages:
        return "message"
    return "exits" if messages else "silent"


# The allowed outcomes if an allocation of a library fails. "exits": the library ends the process with its own message.
SWEEPS = [
    ("libopenblas,libblas", ["-m", "kpca", "-k", "rbf", "--dim", "3", "some.csv"], {"right", "exits", "dies"}),
    ("libgomp", ["-m", "kpca", "-k", "rbf", "--dim", "3", "train.csv"], {"right", "exits"}),
]


def unavailable(messages):
    return "is not available" in messages


@pytest.mark.parametrize("libraries, arguments, accepted", SWEEPS, ids=[libraries for libraries, *_ in SWEEPS])
def test_single_failures(folder, libraries, arguments, accepted):
    status, messages, right, calls = fit(folder, arguments, libraries)
    if unavailable(messages):
        pytest.skip(messages.strip())
    assert status == 0 and right, messages
    if libraries == "libgomp" and calls == 0:
        pytest.skip("this compiler's OpenMP runtime is not libgomp")
    if "libopenblas" in libraries and calls == 0:
        pytest.skip("OpenBLAS allocates nothing by malloc with its kernels for this processor")
    assert calls > 0, "the library allocates nothing: the test tests nothing"
    tried = sorted({1 + i * (calls - 1) // max(1, MOST_RUNS - 1) for i in range(MOST_RUNS)})
    found = {}
    for at in tried:
        status, messages, model, _ = fit(folder, arguments, libraries, at)
        found.setdefault(outcome(right, status, messages, model), []).append(at)
    print(libraries, calls, found)
    assert set(found) <= accepted, found


@pytest.mark.parametrize("library", ["libz", "liblapack"])
def test_no_allocation_beside_the_context(folder, library):
    status, messages, _, calls = fit(folder, ["-m", "kpca", "-k", "rbf", "--dim", "3", "train.csv.gz"], library)
    assert status == 0 and calls == 0, messages


def run_within(folder, megabytes, *arguments):
    """Exit status and messages of kfe with a limited address space. OpenBLAS would wait forever for its buffers."""
    limit = int(megabytes * 2**20)
    try:
        done = subprocess.run([KFE, *arguments], cwd=folder, capture_output=True, timeout=8, env=environment(),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    except subprocess.TimeoutExpired:
        return "waits", ""
    return done.returncode, done.stderr.decode(errors="replace")


@pytest.fixture(scope="module")
def least(folder):
    """The smallest address space, in MB, with which kfe starts and reads the data; the kernel matrix of the tests takes 24 more."""
    low, high = 16, 1024
    while high - low > 2:
        middle = (low + high) / 2
        starts = run_within(folder, middle, "convert", "-q", "many.csv", "copy.csv")[0] == 0
        low, high = (low, middle) if starts else (middle, high)
    return high


@pytest.mark.skipif("KFE_TEST_ALL" not in os.environ, reason="takes long: only in ./test.sh --all")
def test_end_of_the_address_space_gives_a_message(folder, least):
    for extra in 4, 12, 20:
        status, messages = run_within(folder, least + extra, "fit", "-q", "-m", "none", "many.csv", "--learner", "svm",
                                      "--learner-kernel", "rbf:gamma=0.5", "--multiclass", "ovr", "-o", "limited.kfe")
        assert status == 1 and "kfe: out of memory" in messages, f"{extra} MB more: status {status}: {messages}"
