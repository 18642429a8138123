# SPDX-License-Identifier: Apache-2.0
"""Where the package searches for the library, and how its threads wait."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import kfe

PACKAGE = pathlib.Path(kfe.__file__).parent
LIBRARY = pathlib.Path(kfe._library._name)
SAY = "import kfe; print(kfe._library._name)"


def run(folder, **environment):
    """Imports a copy of the package without a library next to it."""
    shutil.copytree(PACKAGE, folder / "kfe", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    kept = {key: value for key, value in os.environ.items() if key not in ("KFE_LIBRARY", "LD_LIBRARY_PATH")}
    return subprocess.run([sys.executable, "-c", SAY], env={**kept, "PYTHONPATH": str(folder), **environment},
                          capture_output=True, text=True, cwd=folder)


def test_named(tmp_path):
    assert run(tmp_path, KFE_LIBRARY=str(LIBRARY)).stdout.strip() == str(LIBRARY)


@pytest.mark.skipif(not (LIBRARY.parent / "libkfe.so.0").exists(), reason="the library is inside the package")
def test_installed(tmp_path):
    assert run(tmp_path, LD_LIBRARY_PATH=str(LIBRARY.parent)).stdout.strip() == "libkfe.so.0"


def test_build_tree(tmp_path):
    """The folder named build comes first; builds with sanitizers are skipped."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "kfe.h").touch()
    for name, sanitizers in (("build-asan", "address"), ("build-clang", ""), ("build-z", "")):
        (tmp_path / name).mkdir()
        shutil.copy(LIBRARY, tmp_path / name / "libkfe.so")
        (tmp_path / name / "CMakeCache.txt").write_text(f"KFE_SANITIZE:STRING={sanitizers}\n")
    assert run(tmp_path / "python").stdout.strip() == str(tmp_path / "build-clang" / "libkfe.so")


def test_missing(tmp_path):
    done = run(tmp_path, KFE_LIBRARY=str(tmp_path / "nowhere.so"))
    assert done.returncode == 1 and "ImportError" in done.stderr and "KFE_LIBRARY" in done.stderr


def test_of_another_kind(tmp_path):
    import ctypes.util
    other = ctypes.util.find_library("z") or pytest.skip("no other library at hand")
    assert "too old" in run(tmp_path, KFE_LIBRARY=other).stderr


WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
ENVIRONMENT = f"import os, kfe; print([os.environ.get(name) for name in {WAITING}])"


@pytest.mark.parametrize("own, spins", [({}, "0"), ({"GOMP_SPINCOUNT": "500"}, "500")], ids=["unset", "own"])
def test_threads_sleep_while_they_wait(own, spins):
    """Unless the environment says how they wait; the environment of later programs stays as it was."""
    kept = {key: value for key, value in os.environ.items() if key not in WAITING}
    done = subprocess.run([sys.executable, "-c", ENVIRONMENT], capture_output=True, text=True, check=True,
                          env={**kept, "PYTHONPATH": str(PACKAGE.parent), "OMP_DISPLAY_ENV": "verbose", **own})
    assert done.stdout.strip() == str([own.get(name) for name in WAITING])
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("the OpenMP runtime is not libgomp")
    assert f"GOMP_SPINCOUNT = '{spins}'" in done.stderr
