# SPDX-License-Identifier: Apache-2.0
"""--checkpoint and --resume: kill -9 in the middle of long loops, again and again, and the same model in the end."""
import signal
import subprocess
import time

import pytest

from conftest import KFE, takes_long

FITS = {
    "pursuit": ["-m", "sma", "-k", "rbf:gamma=0.02", "--dim", 120, "--columns", 300],
    "eigenvectors": ["-m", "kpca", "-k", "rbf:gamma=1", "--dim", 8, "--gram", "tiled"],
    "localized": ["-m", "sldr", "--local-dim", 2, "--max-iter", 12, "--settled", 0, "--restarts", 3],
    "softened": ["-m", "sldr", "-k", "rbf:gamma=0.5", "-k", "linear"],
}
ROWS = {"pursuit": 1500, "eigenvectors": 2500, "localized": 300, "softened": 300}


@pytest.mark.parametrize("name", ["pursuit", *(pytest.param(name, marks=takes_long) for name in FITS if name != "pursuit")])
def test_killed_fits_end_with_the_same_model(kfe, name):
    kfe.ok("generate", "waveform", "--n", ROWS[name], "-o", "train.csv")
    fit = ["fit", "-q", "--threads", 1, *FITS[name], "train.csv"]
    kfe.ok(*fit, "-o", "whole.kfe")
    command = [KFE, *map(str, fit), "--checkpoint", "fit.state", "--checkpoint-every", "0", "--resume", "-o", "m.kfe"]
    kills = 0
    for _ in range(4):
        process = subprocess.Popen(command, cwd=kfe.folder, stderr=subprocess.DEVNULL)
        seen = kfe.path("fit.state").stat().st_mtime_ns if kfe.path("fit.state").exists() else 0
        while process.poll() is None:  # until another state was saved
            if kfe.path("fit.state").exists() and kfe.path("fit.state").stat().st_mtime_ns > seen:
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        kills += process.wait(timeout=60) == -signal.SIGKILL
        if kfe.path("m.kfe").exists():
            break
    assert kills > 0, "every run ended before it was killed"
    if not kfe.path("m.kfe").exists():
        subprocess.run(command, cwd=kfe.folder, check=True, stderr=subprocess.DEVNULL)
    assert kfe.path("m.kfe").read_bytes() == kfe.path("whole.kfe").read_bytes()
    assert kfe.files() == ["m.kfe", "train.csv", "whole.kfe"], "the checkpoint or a part of it is left"


def test_refusals(kfe):
    kfe.ok("generate", "waveform", "--n", 100, "-o", "train.csv")
    fit = ["fit", "-q", "-m", "sma", "-k", "rbf", "train.csv", "-o", "m.kfe"]
    kfe.refused(*fit, "--resume", says="--resume needs --checkpoint FILE")
    kfe.refused(*fit, "--checkpoint-every", 3, says="--checkpoint-every needs --checkpoint FILE")
    kfe.refused(*fit, "--checkpoint", "m.kfe", says="name the same file")
    kfe.refused(*fit, "--checkpoint", "-", says="--checkpoint needs the name of a file")
    kfe.refused(*fit, "--checkpoint", "absent/a", says="the directory does not exist")
    kfe.write("fit.state", "x\n")
    kfe.refused(*fit, "--checkpoint", "fit.state", "--resume", says=["not a checkpoint", "without --resume"])
    done = kfe.ok(*fit, "--checkpoint", "new.state", "--resume")
    assert "there is no checkpoint; the fit starts from the beginning" in done.err
