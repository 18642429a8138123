# SPDX-License-Identifier: Apache-2.0
"""The README's example runs as written."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

from kfe import _tables

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


@pytest.mark.skipif(not README.is_file(), reason="not in the source tree")
def test_example(tmp_path):
    code = "\n".join(re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, env=environment, text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "(150, 2)" in done.stdout and "setosa" in done.stdout and "gamma" in done.stdout


@pytest.mark.skipif(not README.is_file(), reason="not in the source tree")
def test_numbers_and_names_are_those_of_the_tables():
    text = README.read_text()
    methods = _tables.METHODS.values()
    supervised = [method for method in methods if method.has(_tables.SUPERVISION) and method.has(_tables.KERNELS)]
    assert f"{len(supervised)} supervised kernel methods" in text
    but_sparse, but_strings = (set(re.findall(r"`([^`]+)`", part)) for part in re.search(
        r"sparse data stays sparse in all methods but (.*?); all kernel methods but (.*?) take strings and kernel matrices", text).groups())
    assert but_sparse == {method.name for method in methods if not method.has(_tables.SPARSE)}
    assert but_strings == {method.name for method in methods if method.has(_tables.SYNTHETIC)}
