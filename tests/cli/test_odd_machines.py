# SPDX-License-Identifier: Apache-2.0
"""Commands on machines whose OpenMP is set up in unusual ways end, with the same result."""
import os
import subprocess

import pytest

KFE = os.environ.get("KFE", "kfe")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "train.csv"
    subprocess.run([KFE, "generate", "waveform", "--n", "700", "-o", str(path)], check=True)
    return path


def features(data, folder, **environment):
    """The features that a fit with two threads gives, under more variables of the environment."""
    settings = {**os.environ, **environment}
    model, output = folder / "m.kfe", folder / "z.csv"
    for arguments in (["fit", "-q", "-m", "kpca", "--dim", "2", "-k", "rbf:gamma=0.05", str(data), "-o", str(model)],
                      ["transform", "-q", str(model), str(data), "-o", str(output)]):
        subprocess.run([KFE, *arguments, "--threads", "2"], check=True, env=settings, timeout=60)
    return [[float(value) for value in line.split(",")] for line in output.read_text().splitlines()[1:]]


@pytest.mark.parametrize("environment", [
    {"OMP_DYNAMIC": "true"},
    {"OMP_THREAD_LIMIT": "1"},
    {"OMP_DYNAMIC": "true", "OMP_THREAD_LIMIT": "3", "OMP_NUM_THREADS": "8"},
    {"OMP_NUM_THREADS": "2,2"},
    {"OMP_NUM_THREADS": "0"},
    {"OMP_NUM_THREADS": "many"},
    {"OMP_THREAD_LIMIT": "no"},
    {"OMP_NESTED": "true", "OMP_MAX_ACTIVE_LEVELS": "3"},
    {"OMP_SCHEDULE": "dynamic,1", "OMP_STACKSIZE": "2M"},
    {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"},
    {"OMP_MAX_ACTIVE_LEVELS": "0"},
    {"OMP_WAIT_POLICY": "active"},
    {"OMP_PROC_BIND": "true"},
    {"OPENBLAS_NUM_THREADS": "1"},
], ids=lambda environment: ",".join(f"{key}={value}" for key, value in environment.items()))
def test_openmp_settings(environment, data, tmp_path):
    expected, found = features(data, tmp_path), features(data, tmp_path, **environment)
    assert len(expected) == 700
    for a, b in zip(expected, found):
        assert a == pytest.approx(b, abs=1e-8)
