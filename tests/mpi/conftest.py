# SPDX-License-Identifier: Apache-2.0
"""Runs kfe alone and in several processes started by mpirun, in a folder of its own."""
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

KFE = os.environ.get("KFE", "kfe")
PLUGIN = pathlib.Path(shutil.which(KFE) or KFE).resolve().parent.parent / "libkfe_mpi.so"
LAUNCH = ["mpirun", "--oversubscribe", "--bind-to", "none"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1",
               "ASAN_OPTIONS": "detect_leaks=0"}


def pytest_configure(config):
    config.addinivalue_line("markers", "quick: also run by ctest")


def pytest_collection_modifyitems(items):
    if not PLUGIN.exists() and not os.environ.get("KFE_DEVICE_PATH"):
        for item in items:
            item.add_marker(pytest.mark.skip(reason="kfe was built without the plug-in for MPI"))


class Kfe:
    """kfe in a temporary folder; `processes` 0: one process without mpirun."""

    def __init__(self, folder):
        self.folder = folder

    def command(self, processes, *arguments):
        launch = [*LAUNCH, "-n", str(processes)] if processes else []
        return [*launch, KFE, *map(str, arguments)]

    def run(self, processes, *arguments, status=0, environment=None):
        done = subprocess.run(self.command(processes, *arguments), cwd=self.folder, timeout=300, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, env={**ENVIRONMENT, **(environment or {})})
        assert done.returncode == status, f"{arguments}: {done.returncode}: {done.stderr}"
        return done

    def files(self):
        return sorted(p.name for p in self.folder.iterdir())

    def path(self, name):
        return self.folder / name

    def numbers(self, name):
        table = np.genfromtxt(self.path(name), delimiter=",", skip_header=1)
        return table.reshape(len(table), -1)


@pytest.fixture
def kfe(tmp_path):
    return Kfe(tmp_path)
