# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments: a file is the old one or the new one, never half of one, and the next run cleans up.

KFE_KILLS: how many runs of each command are killed (8).
"""
import os
import random
import signal
import subprocess
import time

import pytest

from conftest import KFE, Kfe

KILLS = int(os.environ.get("KFE_KILLS", "8"))

COMMANDS = {
    "fit": (["fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.05", "train.csv", "-o", "OUT"], "out.kfe"),
    "transform": (["transform", "-q", "m.kfe", "many.csv", "-o", "OUT"], "out.csv"),
    "compressed": (["transform", "-q", "m.kfe", "many.csv", "-o", "OUT"], "out.csv.gz"),
    "convert": (["convert", "-q", "many.csv", "OUT"], "out.npz"),
    "generate": (["generate", "waveform", "--n", "40000", "-o", "OUT"], "out.npy"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    kfe = Kfe(tmp_path_factory.mktemp("kill"))
    kfe.ok("generate", "twonorm", "--n", 1500, "-o", "train.csv")
    kfe.ok("generate", "twonorm", "--n", 6000, "--seed", 2, "-o", "many.csv")
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.05", "train.csv", "-o", "m.kfe")
    return kfe


@pytest.mark.parametrize("name", COMMANDS)
def test_files_are_whole(folder, name):
    arguments, out = COMMANDS[name]
    command = [KFE, *[out if word == "OUT" else word for word in arguments]]
    target = folder.path(out)
    begin = time.monotonic()
    subprocess.run(command, cwd=folder.folder, check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    new = target.read_bytes()
    assert len(new) > 100
    rng = random.Random(1)
    left, cut = 0, 0
    for run in range(KILLS):
        old = [b"old", None][run % 2]
        target.unlink(missing_ok=True)
        if old is not None:
            target.write_bytes(old)
        process = subprocess.Popen(command, cwd=folder.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.2, 1.05) * seconds)
        process.send_signal(signal.SIGKILL)
        if process.wait(timeout=60) == -signal.SIGKILL:
            cut += 1
        else:
            seconds *= 0.7  # the first run was slower than these
        found = target.read_bytes() if target.exists() else None
        assert found in (old, new), f"run {run}: neither the old file nor the new one"
        left += len(list(folder.folder.glob(f"{out}.*.part")))
    assert cut > 0, "every run ended before it was killed"
    subprocess.run(command, cwd=folder.folder, check=True, stdout=subprocess.DEVNULL)
    assert target.read_bytes() == new
    assert list(folder.folder.glob(f"{out}*")) == [target], "a killed run's file is left"
    print(f"{name}: {cut} of {KILLS} runs killed, {left} temporary files seen after them")
