# SPDX-License-Identifier: Apache-2.0
"""The package as users install it: built into a wheel, in an environment of its own."""
import os
import pathlib
import subprocess
import sys
import urllib.request

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SMOKE = """
import kfe, pathlib
assert pathlib.Path(kfe._library._name).parent == pathlib.Path(kfe.__file__).parent, kfe._library._name
x, y = kfe.generate("iris")
assert kfe.KOCClassifier(learner="svm").fit(x, y).score(x, y) > 0.9
print(kfe.__version__)
"""


def pypi_is_reachable():
    try:
        urllib.request.urlopen("https://pypi.org/simple/scikit-build-core/", timeout=10).close()
        return True
    except OSError:
        return False


def run(*command, **environment):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("KFE", "PYTHON"))}
    done = subprocess.run([str(part) for part in command], env={**kept, **environment}, capture_output=True, text=True,
                          timeout=600, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif("KFE_TEST_ALL" not in os.environ, reason="compiles the library anew: only in ./test.sh --all")
@pytest.mark.skipif(not (SOURCE / "pyproject.toml").is_file(), reason="not in the source tree")
@pytest.mark.skipif(not pypi_is_reachable(), reason="PyPI cannot be reached")
def test_wheel(tmp_path):
    python = tmp_path / "venv" / "bin" / "python"
    try:
        run(sys.executable, "-m", "venv", tmp_path / "venv")
    except AssertionError as error:
        pytest.skip(f"no virtual environment: {error}")
    build = os.environ.get("KFE_WHEEL_BUILD", tmp_path / "build")
    run(python, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path / "dist", "--config-settings", f"build-dir={build}",
        "--config-settings", "cmake.define.KFE_WERROR=ON", SOURCE, CC="gcc")
    (wheel,) = (tmp_path / "dist").iterdir()
    assert wheel.name.startswith("kfe-") and "-py3-none-linux_" in wheel.name
    run(python, "-m", "pip", "install", wheel)
    version = run(python, "-c", SMOKE).strip()
    assert version in wheel.name
    command = python.parent / "kfe"
    assert version in run(command, "--version") and version in run(python, "-m", "kfe", "--version")
    run(command, "generate", "iris", "-o", tmp_path / "iris.csv")
    run(command, "fit", "-q", "-m", "koc", "--learner", "svm", tmp_path / "iris.csv", "-o", tmp_path / "m.kfe")
    run(command, "report", "-q", tmp_path / "m.kfe", "--train", tmp_path / "iris.csv", "-o", tmp_path / "page.html")
    (package,) = (tmp_path / "venv").glob("lib/python3*/site-packages/kfe")
    assert ((package / "kfe-charts.js.gz").is_file() ==
            ((tmp_path / "page.html").stat().st_size > 600_000)), "the command does not find the charts"
