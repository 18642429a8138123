# SPDX-License-Identifier: Apache-2.0
"""Where the package searches for the library, and how its threads wait."""
import ctypes.util
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
    shutil.copytree(PACKAGE, folder / "kfe", dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
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
    for relative in ("libkfe.so", "./libkfe.so", "../libkfe.so"):  # from whatever folder Python runs in
        done = run(tmp_path, KFE_LIBRARY=relative)
        assert done.returncode == 1 and f"KFE_LIBRARY is '{relative}', but code is loaded only from an absolute path" in done.stderr
    done = run(tmp_path, KFE_LIBRARY=str(tmp_path / "nowhere.so"))
    assert done.returncode == 1 and "ImportError" in done.stderr and "KFE_LIBRARY" in done.stderr


def test_of_another_kind(tmp_path):
    import _ctypes
    other = getattr(_ctypes, "__file__", None) or pytest.skip("no other library at hand")
    assert "too old" in run(tmp_path, KFE_LIBRARY=other).stderr


WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
# The processor time of the threads that wait for the main thread between many small regions.
SHARE = """
import ctypes, os, sys, time
first = ctypes.CDLL("libgomp.so.1", ctypes.RTLD_GLOBAL) if "early" in sys.argv else None
import kfe, numpy as np
x = np.random.default_rng(0).normal(size=(40, 3))
kfe.KPCA(n_components=2, kernel="rbf", n_threads=2).fit(x)
time.sleep(0.2)
gomp = ctypes.CDLL("libgomp.so.1")
whole, own = time.process_time(), time.thread_time()
for _ in range(200):
    gomp.omp_set_num_threads(2)
    gomp.GOMP_parallel(gomp.omp_get_wtick, None, 2, 0)
    end = time.thread_time() + 1e-3
    while time.thread_time() < end:
        pass
whole, own = time.process_time() - whole, time.thread_time() - own
print((whole - own) / whole, [name for name in %r if name in os.environ])
""" % (WAITING,)


@pytest.mark.parametrize("order", ["early", "late"])
def test_threads_sleep_while_they_wait(order):
    """Also if another package has loaded OpenMP before. The environment of later programs stays as it was."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor")
    if not ctypes.util.find_library("gomp"):
        pytest.skip("the OpenMP runtime is not libgomp")
    kept = {key: value for key, value in os.environ.items() if key not in (*WAITING, "OMP_NUM_THREADS", "OMP_THREAD_LIMIT")}
    done = subprocess.run([sys.executable, "-c", SHARE, order], capture_output=True, text=True, check=True,
                          env={**kept, "PYTHONPATH": str(PACKAGE.parent)})
    share, said = done.stdout.split(maxsplit=1)
    assert float(share) < 0.2
    assert said.strip() == "[]"
