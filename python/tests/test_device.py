# SPDX-License-Identifier: Apache-2.0
"""The parameter device, and the list of devices."""
import numpy as np
import pytest

import kfe


def _has_host() -> bool:
    return any(device["name"] == "host" for device in kfe.devices())


def test_the_cpu_comes_first():
    first = kfe.devices()[0]
    assert first["name"] == "cpu" and first["usable"] and first["memory"] > 0


def test_an_unknown_device_is_refused():
    X, y = kfe.generate("iris")
    with pytest.raises(kfe.UnsupportedError, match="there is no plug-in for the device 'nodevice'"):
        kfe.KOC(device="nodevice").fit(X, y)
    with pytest.raises(kfe.InvalidArgumentError, match="device takes cpu, cuda, host or auto"):
        kfe.KOC(device="no device").fit(X, y)


@pytest.mark.parametrize("name", ["KOC", "KFD", "HSIC", "KPCA"])
def test_a_device_gives_the_features_of_the_cpu(name):
    if not _has_host():
        pytest.skip("the host plug-in is not beside the library")
    X, y = kfe.generate("iris")
    cpu, device = (getattr(kfe, name)(kernel="rbf:gamma=0.3", device=where).fit(X, y).transform(X)
                   for where in ("cpu", "host"))
    assert np.abs(cpu - device).max() <= 1e-9 * np.abs(cpu).max()
