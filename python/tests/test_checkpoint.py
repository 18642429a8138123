# SPDX-License-Identifier: Apache-2.0
"""kfe.checkpoint: a fit that ended in the middle goes on from its file, and only from that of the same fit."""
import numpy as np
import pytest

import kfe


def interrupted(estimator, X, y, path, after):
    """Fits in a child process that is killed after so many seconds at most; True if it left a checkpoint."""
    import subprocess
    import sys
    import time
    script = (f"import kfe\nX, y = kfe.generate('waveform', n={len(X)})\n"
              f"with kfe.checkpoint({str(path)!r}, every=0):\n    kfe.{estimator!r}.fit(X, y)\n")
    child = subprocess.Popen([sys.executable, "-c", script])
    end = time.monotonic() + after
    while time.monotonic() < end and child.poll() is None and not path.exists():
        time.sleep(0.005)
    child.kill()
    child.wait()
    return path.exists()


def test_a_killed_fit_goes_on(tmp_path):
    X, y = kfe.generate("waveform", n=800)
    estimator = kfe.SMA(kernel="rbf:gamma=0.02", dim=150, columns=200)
    path = tmp_path / "fit.state"
    assert interrupted(estimator, X, y, path, 60)
    with kfe.checkpoint(path, resume=True):
        resumed = estimator.fit(X, y).transform(X[:50])
    assert not path.exists(), "the file is deleted at the end"
    alone = kfe.SMA(kernel="rbf:gamma=0.02", dim=150, columns=200).fit(X, y).transform(X[:50])
    assert np.array_equal(resumed, alone)


def test_another_fit_is_refused(tmp_path):
    X, y = kfe.generate("waveform", n=120)
    path = tmp_path / "fit.state"
    with pytest.raises(RuntimeError, match="stop here"):
        with kfe.checkpoint(path, every=0):
            kfe.SMA(dim=4).fit(X, y)
            raise RuntimeError("stop here")
    assert path.exists(), "the file stays after an exception"
    with pytest.raises(kfe.InputError, match="belongs to a fit with 'dim=4', not with 'dim=5'"), kfe.checkpoint(path, resume=True):
        kfe.SMA(dim=5).fit(X, y)
    with pytest.raises(kfe.InputError, match="other data"), kfe.checkpoint(path, resume=True):
        kfe.SMA(dim=4).fit(X + 1, y)
    with kfe.checkpoint(path, resume=True):
        kfe.SMA(dim=4).fit(X, y)
    assert not path.exists()


def test_bad_values_are_refused(tmp_path):
    X, y = kfe.generate("waveform", n=60)
    with pytest.raises(ValueError, match="name a file"):
        kfe.checkpoint("")
    with pytest.raises(kfe.InvalidArgumentError, match="0 or more"), kfe.checkpoint(tmp_path / "a", every=-1):
        kfe.SMA(dim=2).fit(X, y)
    with pytest.raises(kfe.FileError, match="does not exist"), kfe.checkpoint(tmp_path / "absent" / "a"):
        kfe.SMA(dim=2).fit(X, y)
