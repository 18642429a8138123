# SPDX-License-Identifier: Apache-2.0
"""Commands that are programs of their own: found beside kfe or in PATH, and named where they are not installed."""
import os
import pathlib
import shutil
import subprocess

import conftest

KFE = pathlib.Path(shutil.which(conftest.KFE)).resolve()


def test_program_beside_kfe_or_in_path(kfe, tmp_path):
    alone = shutil.copy(KFE, tmp_path / "kfe")
    run = lambda path: subprocess.run([alone, "reproduce", "--list"], capture_output=True, text=True,
                                      env={**os.environ, "PATH": path})
    missing = run("/nowhere")
    assert missing.returncode == 2 and not missing.stdout
    assert "kfe: reproduce needs the program kfe-reproduce, which is neither beside kfe nor in PATH" in missing.stderr
    assert run(str(KFE.parent)).stdout == kfe.ok("reproduce", "--list").out


def test_misspelt_program(kfe):
    kfe.refused("reproducee", says="did you mean reproduce?")
