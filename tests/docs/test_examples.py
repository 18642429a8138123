# SPDX-License-Identifier: Apache-2.0
"""The scripts in examples/ create their pictures, and the pictures are not empty."""
import os
import subprocess
import sys

import pages
import pytest

SCRIPTS = sorted((pages.ROOT / "examples").glob("*.py"))
# Examples of methods that a library may lack.
NEEDS = {"sldr_gate": "SLDR"}


@pytest.mark.skipif(bool(os.environ.get("KFE_SANITIZE")),
                    reason="Python cannot load a library that was built with sanitizers")
@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_picture(script, tmp_path):
    kfe = pages.need_package()
    image = pytest.importorskip("matplotlib.image")
    needed = NEEDS.get(script.stem)
    if needed and needed not in kfe.__all__:
        pytest.skip(f"the library is without {needed}")
    subprocess.run([sys.executable, "-B", str(script), str(tmp_path)], check=True, timeout=300)
    (picture,) = tmp_path.iterdir()
    assert picture.name == script.stem + ".png"
    pixels = image.imread(picture)[:, :, :3]
    coloured = (pixels.max(axis=2) - pixels.min(axis=2) > 0.2).mean()
    assert min(pixels.shape[:2]) > 300 and coloured > 0.001


def test_there_are_scripts():
    assert len(SCRIPTS) >= 3
