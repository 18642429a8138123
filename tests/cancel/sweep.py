#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon Ctrl-C ends a fit in Python, for every method and every classifier or regressor.

usage: tests/cancel/sweep.py [ROWS [NAME...]]     ROWS of the data (5000), NAME of methods and learners (all)

Each fit runs in a process of its own, on one thread, and is interrupted after half a second. What counts is the processor time
that the process takes from then on until its KeyboardInterrupt, so that other programs do not matter. A fit that ends
within the half second is said to be too short: try more rows. The status is 1 if a fit took longer than SECONDS.
"""
import os
import signal
import subprocess
import sys
import time

SECONDS = 1.5
GIVE_UP = 20
TICK = os.sysconf("SC_CLK_TCK")
CHILD = """
import sys, numpy as np, kfe
kind, name, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = np.random.default_rng(1)
x = rng.normal(size=(rows, 50))
y = rng.integers(0, 2, rows)  # cannot be learned, which keeps every solver busy
if kind == "learner":
    options = {"svm": {"learner_kernel": "rbf:gamma=0.1", "C": 1000.0}, "linear-svm": {"C": 1e6}}.get(name)
    model = kfe.PCAClassifier(learner=name, learner_params=options, dim=40, n_threads=1)
else:
    make = getattr(kfe, next(entry["estimator"] for entry in kfe.methods() if entry["name"] == name))
    kernels = ["rbf:gamma=0.01", "rbf:gamma=0.1"] if "mkl" in name or name == "kb" else "rbf:gamma=0.02"
    model = make(n_threads=1, **({"kernel": kernels} if "kernel" in make().get_params() else {}))
print("ready", flush=True)
try:
    model.fit(x, y)
    print("ended", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def wait_for(process, seconds):
    """Waits until the process has taken that much processor time; False if it ended before."""
    while process.poll() is None:
        if processor_seconds(process.pid) >= seconds:
            return True
        time.sleep(0.02)
    return False


def measure(kind, name, rows):
    """Processor seconds from the signal to the end, and how the fit ended."""
    process = subprocess.Popen([sys.executable, "-c", CHILD, kind, name, str(rows)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # ignored under nohup
    if process.stdout.readline() != "ready\n":
        return None, process.stderr.read().strip().splitlines()[-1]
    begin = processor_seconds(process.pid)
    if not wait_for(process, begin + 0.5):
        return None, "too short: " + (process.stderr.read().strip().splitlines() or ["ended"])[-1]
    process.send_signal(signal.SIGINT)
    begin = processor_seconds(process.pid)
    last = begin
    while process.poll() is None and last < begin + GIVE_UP:
        try:
            last = processor_seconds(process.pid)
        except (OSError, IndexError):
            break
        time.sleep(0.01)
    process.kill()
    word = process.stdout.read().strip() or "killed"
    process.wait()
    return last - begin, word


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    import kfe
    cases = [("method", entry["name"]) for entry in kfe.methods() if entry["name"] != "none"]
    cases += [("learner", entry["name"]) for entry in kfe.learners()]
    slow = 0
    for kind, name in cases:
        if len(sys.argv) > 2 and name not in sys.argv[2:]:
            continue
        delay, word = measure(kind, name, rows)
        print(f"{name:12} {'-' if delay is None else format(delay, '.2f'):>6}  {word}", flush=True)
        slow += delay is not None and delay > SECONDS
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
