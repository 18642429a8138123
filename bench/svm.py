#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `-m none -k rbf --learner svm` on five classes against scikit-learn's SVC and, if it is installed, that of
scikit-learn-intelex, on the same numbers. The solvers take turns, each fit in a process of its own, after a small fit that
loads the libraries: threads of one library that wait for work would slow the others down. Prints rows of a table: medians
of elapsed (and processor) seconds, the ratio to the faster peer, and how many predictions agree.

usage: svm.py LIBRARY [ROWS [COLUMNS [REPEATS]]]          LIBRARY: libkfe.so
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["KFE_LIBRARY"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import numpy as np

CLASSES, CLOUDS, SMALL = 5, 3, 500
SOLVERS = ("kfe", "scikit-learn", "scikit-learn-intelex")


def make(rows, columns, apart):
    """Every class is three overlapping clouds."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CLASSES * CLOUDS, columns)) * apart
    y = np.arange(rows) % CLASSES
    rng.shuffle(y)
    return centres[y * CLOUDS + rng.integers(0, CLOUDS, rows)] + rng.standard_normal((rows, columns)), y


def solver(name, gamma):
    if name == "kfe":
        import kfe
        return kfe.NoExtractionClassifier(kernel=f"rbf:gamma={gamma!r}", learner="svm", scale="none")
    if name == "scikit-learn":
        from sklearn.svm import SVC
    else:
        from sklearnex.svm import SVC
    return SVC(gamma=gamma)


def run_one(name, rows, columns, apart, file):
    """Prints elapsed and processor seconds of one fit, and writes predictions of the first examples."""
    x, y = make(rows, columns, apart)
    gamma = float(1 / (columns * x.var()))
    solver(name, gamma).fit(x[:SMALL], y[:SMALL])
    begun, used = time.perf_counter(), time.process_time()
    model = solver(name, gamma).fit(x, y)
    print(time.perf_counter() - begun, time.process_time() - used)
    np.save(file, model.predict(x[:5 * SMALL]))


def compare(rows, columns, apart, repeats):
    seconds = {}
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repeats):
            for name in SOLVERS:
                file = os.path.join(folder, "answers.npy")
                command = [sys.executable, __file__, sys.argv[1], "--one", name, str(rows), str(columns), str(apart), file]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode == 0:
                    seconds.setdefault(name, []).append([float(word) for word in done.stdout.split()[-2:]])
                    answers[name] = np.load(file)
    elapsed, busy = ({name: statistics.median(t[k] for t in times) for name, times in seconds.items()} for k in (0, 1))
    peer = min((name for name in seconds if name != "kfe"), key=elapsed.get)
    cells = [f"svm, rbf, {rows:,} x {columns}, 5 classes, clouds {apart} apart"]
    cells += [f"{elapsed[name]:.2f} ({busy[name]:.2f})" if name in seconds else "not installed" for name in SOLVERS]
    cells += [f"{elapsed[peer] / elapsed['kfe']:.2f} ({busy[peer] / busy['kfe']:.2f})",
              f"{100 * np.mean(answers['kfe'] == answers[peer]):.2f} %"]
    print("| " + " | ".join(cells) + " |", flush=True)


if sys.argv[2:3] == ["--one"]:
    run_one(sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6]), sys.argv[7])
else:
    numbers = [int(word) for word in sys.argv[2:]] + [10000, 20, 3][len(sys.argv) - 2:]
    for clouds in (0.7, 0.4):
        compare(numbers[0], numbers[1], clouds, numbers[2])
