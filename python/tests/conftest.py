# SPDX-License-Identifier: Apache-2.0
"""Uses the package of this source tree unless another is requested; data that tests share."""
import os
import pathlib
import sys

if not os.environ.get("KFE_TEST_INSTALLED"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import numpy as np
import pytest

import kfe


@pytest.fixture(scope="session")
def iris():
    return kfe.generate("iris")


@pytest.fixture
def clouds():
    """Two classes in five columns; the second half of the first class overlaps with the other."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 120)
    return rng.normal(size=(120, 5)) + 1.5 * y[:, None], y
