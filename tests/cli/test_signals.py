# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, termination, closed pipes, and the progress bar."""
import os
import pty
import signal
import subprocess
import time

import pytest

from conftest import KFE, SANITIZED


def start(kfe, *arguments, **options):
    return subprocess.Popen([KFE, *map(str, arguments)], cwd=kfe.folder, stderr=subprocess.PIPE, **options)


def wait_until_busy(process, seconds):
    """Waits until the process has used that much processor time."""
    tick = os.sysconf("SC_CLK_TCK")
    for _ in range(600):
        with open(f"/proc/{process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        if (int(fields[11]) + int(fields[12])) / tick > seconds:
            return
        assert process.poll() is None, "it ended before it could be interrupted"
        time.sleep(0.02)
    raise AssertionError("it never got busy")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_fit_dies_of_the_signal_and_leaves_nothing(kfe, number):
    kfe.ok("generate", "twonorm", "--n", 60000, "-o", "data.npy")
    before = kfe.files()
    process = start(kfe, "fit", "-m", "koc", "-k", "rbf", "--threads", 1, "--label", "last", "--task", "classify",
                    "data.npy", "-o", "m.kfe")
    wait_until_busy(process, 0.7)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == -number, err
    assert b"Sanitizer" not in err
    assert kfe.files() == before


def test_interrupted_while_waiting_for_input(kfe):
    process = start(kfe, "fit", "-m", "koc", "-", "-o", "m.kfe", stdin=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(timeout=20) == -signal.SIGINT
    finally:
        process.kill()
        process.communicate()
    assert kfe.files() == []


def test_ignored_signals_stay_ignored(kfe):
    """As under nohup: ignored signals stay ignored."""
    process = subprocess.Popen(["sh", "-c", f'trap "" HUP; exec "{KFE}" convert - out.csv'], cwd=kfe.folder,
                               stdin=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGHUP)
    process.communicate(b"1,2,a\n3,4,b\n", timeout=20)
    assert process.returncode == 0 and kfe.path("out.csv").exists()


def test_closed_pipe_is_quiet(kfe):
    done = subprocess.run(["bash", "-c", f'"{KFE}" generate twonorm --n 20000 | head -n 1; '
                           'echo ${PIPESTATUS[0]}'], cwd=kfe.folder, capture_output=True, text=True)
    assert done.stderr == "" and done.stdout.splitlines()[-1] == str(128 + signal.SIGPIPE)


def on_terminal(kfe, *arguments):
    """Runs kfe with standard error on a terminal and returns its output there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([KFE, *map(str, arguments)], cwd=kfe.folder, stderr=theirs,
                               env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(timeout=300) == 0, shown
    return shown.decode()


def test_progress_bar_only_on_a_terminal_and_erased(kfe):
    kfe.ok("generate", "twonorm", "--n", 20000 if SANITIZED else 60000, "-o", "data.npy")  # takes seconds
    fit = ("fit", "-m", "koc", "-k", "rbf", "--threads", 1, "--label", "last", "--task", "classify", "data.npy",
           "-o", "m.kfe")
    shown = on_terminal(kfe, *fit)
    assert "%" in shown and "\r\033[K" in shown
    after_bar = shown.rsplit("\r\033[K", 1)[1]
    assert "feature" in after_bar
    assert "\033" not in on_terminal(kfe, *fit, "-q")
    assert "\033" not in kfe.ok(*fit).err
