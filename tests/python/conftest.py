# SPDX-License-Identifier: Apache-2.0
"""One context of the library for all tests of this folder."""
import pytest

from libkfe import Kfe


@pytest.fixture(scope="session")
def kfe():
    context = Kfe()
    yield context
    context.close()
