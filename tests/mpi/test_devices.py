# SPDX-License-Identifier: Apache-2.0
"""kfe in several processes with a device each, which is the host plug-in: the results of one process on the CPU, and the form of the kernel matrix that fits."""
import numpy as np
import pytest
from test_mpi import GAMMA, METHODS, sensitivity, write_data

ROWS = 701
# The matrix takes 3.9 MB in double precision: a device with this memory has room for half of it, but not for all.
HALF = {"KFE_DEVICE_MEMORY": "3600000"}


def fit(kfe, processes, method, data, model, *extra, kernel="rbf", environment=None):
    return kfe.run(processes, "fit", "-v", "-m", method, "-k", f"{kernel}:gamma={GAMMA}", "--scale", "none", *METHODS[method], *extra,
                   data, "-o", model, environment=environment).stderr


def features(kfe, model, data):
    kfe.run(0, "transform", "-q", model, data, "-o", f"{model}.csv")
    return kfe.numbers(f"{model}.csv")


def check(kfe, processes, method, data, x, environment):
    fit(kfe, 0, method, data, "alone.kfe")
    said = fit(kfe, processes, method, data, "together.kfe", "--device", "host", environment=environment)
    alone, together = features(kfe, "alone.kfe", data), features(kfe, "together.kfe", data)
    tolerance = 16 * len(x) * np.finfo(float).eps * max(1.0, sensitivity(x, 5)) + 1e-10 * sensitivity(x, 5)
    assert np.abs(alone - together).max() <= tolerance * np.abs(alone).max(), f"{method} in {processes} processes"
    return said


@pytest.mark.quick
def test_three_devices_fit_as_one(kfe):
    data, x = write_data(kfe, ROWS)
    assert "computed on the devices of all processes" in check(kfe, 3, "kpca", data, x, HALF)


@pytest.mark.parametrize("processes", [1, 2, 3, 7])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_fits_as_on_one_cpu(kfe, method, processes):
    data, x = write_data(kfe, ROWS)
    check(kfe, processes, method, data, x, {} if processes == 1 else HALF)


# Bytes of each of three devices: those of the whole matrix of 1,301 rows, 13.5 MB, and of the vectors, 4.5 MB; and less.
@pytest.mark.parametrize("memory, form", [
    (40_000_000, "stored in double precision, whole on the device"),
    (13_500_000, "stored in double precision, divided over the devices"),
    (9_100_000, "stored in single precision, divided over the devices"),
    (7_800_000, "partly stored in single precision"),
    (6_000_000, "computed in single precision on the devices of all processes"),
])
def test_what_fits_is_kept(kfe, memory, form):
    data, x = write_data(kfe, 1301)
    fit(kfe, 0, "kpca", data, "alone.kfe", kernel="laplacian")
    said = fit(kfe, 3, "kpca", data, "together.kfe", "--device", "host", kernel="laplacian",
               environment={"KFE_DEVICE_MEMORY": str(memory)})
    assert form in said, said
    alone, together = features(kfe, "alone.kfe", data), features(kfe, "together.kfe", data)
    assert np.abs(alone - together).max() <= 1e-10 * sensitivity(x, 5) * np.abs(alone).max()


def test_the_same_bits_every_time(kfe):
    data, _ = write_data(kfe, 1301)
    for name in ("a.kfe", "b.kfe"):
        fit(kfe, 3, "kpca", data, name, "--device", "host", environment={"KFE_DEVICE_MEMORY": "9000000"})
    assert kfe.path("a.kfe").read_bytes() == kfe.path("b.kfe").read_bytes()


@pytest.mark.parametrize("memory", [20_000_000, 2_000])
def test_one_process_without_room_takes_the_others_along(kfe, memory):
    """The examples do not fit on the device of process 1: all go on with the CPU."""
    data, x = write_data(kfe, ROWS)
    script = kfe.path("kfe.sh")
    script.write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 1 ] || export KFE_DEVICE_MEMORY={memory}\nexec {kfe.command(0)[0]} "$@"\n')
    script.chmod(0o755)
    fit(kfe, 0, "kpca", data, "alone.kfe")
    command = kfe.command(3)[:-1]
    kfe.command = lambda processes, *arguments: [*command, str(script), *map(str, arguments)] if processes else type(kfe).command(kfe, 0, *arguments)
    said = fit(kfe, 3, "kpca", data, "together.kfe", "--device", "host")
    assert ("on the CPU in all processes" in said) == (memory < 10_000), said
    alone, together = features(kfe, "alone.kfe", data), features(kfe, "together.kfe", data)
    assert np.abs(alone - together).max() <= 1e-10 * sensitivity(x, 5) * np.abs(alone).max()
