# SPDX-License-Identifier: Apache-2.0
import pytest

from libkfe import Kfe


@pytest.fixture(scope="session")
def kfe():
    context = Kfe()
    yield context
    context.close()
