# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a command soon, even inside solvers that cannot be asked to stop (LAPACK)."""
import random
import signal
import subprocess
import time

import pytest

from conftest import KFE
from test_signals import wait_until_busy

# The command ends where it next reports progress or, after one second, by the signal itself. Generous, for a busy machine.
SECONDS = 8

LONG = {
    "kb": ["-m", "kb", "-k", "rbf"],
    "svm": ["-m", "pca", "--learner", "svm", "--learner-kernel", "rbf:gamma=0.1", "--C", "1e6"],
    "svm-joint": ["-m", "svm-joint", "-k", "rbf"],
    "kfd": ["-m", "kfd", "-k", "rbf"],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cancel")
    for rows, name in ((4000, "train.csv"), (9000, "long.csv")):
        subprocess.run([KFE, "generate", "twonorm", "--n", str(rows), "-o", name], cwd=folder, check=True)
    rng = random.Random(1)  # random labels keep SVM solvers busy
    with open(folder / "noise.csv", "w") as file:
        file.write("a,b,c,y\n")
        for _ in range(6000):
            file.write(f"{rng.gauss(0, 1):g},{rng.gauss(0, 1):g},{rng.gauss(0, 1):g},{rng.choice('pq')}\n")
    return folder


@pytest.mark.parametrize("name", LONG)
def test_a_long_fit_ends_soon(data, name):
    file = {"kb": "train.csv", "svm": "noise.csv"}.get(name, "long.csv")  # the others take seconds only on 4,000 rows
    process = subprocess.Popen([KFE, "fit", "-q", *LONG[name], "--threads", "1", file, "-o", f"{name}.kfe"],
                               cwd=data, stderr=subprocess.PIPE)
    wait_until_busy(process, 0.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=100)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGINT
    assert time.monotonic() - begin < SECONDS
    assert not list(data.glob(f"{name}.kfe*"))
