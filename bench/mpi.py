#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Processes against threads on one machine: the same fit by 1 thread, by 2 threads, and by 1, 2 and 4 processes of one thread.

usage: bench/mpi.py KFE [REPEATS]          ROWS=5000: rows of the data
       bench/mpi.py KFE [REPEATS] --weak   weak scaling: 1 process on ROWS/√2 rows and 2 on ROWS, the same work for each
       bench/mpi.py KFE [REPEATS] --stream fits from sums over divided rows, which are read from a file

Prints the median of the seconds that kfe reports, from reading on, and of the processor seconds of all processes together, which include
starting them and tell more on a busy machine. The ratio of 2 processes to 2 threads is the median of the ratios of runs one after the other.
"""
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

WEAK, STREAM = "--weak" in sys.argv, "--stream" in sys.argv
WORDS = [word for word in sys.argv[1:] if not word.startswith("--")]
KFE, REPEATS = os.path.abspath(WORDS[0]), int(WORDS[1]) if len(WORDS) > 1 else 3
LAUNCH = ["mpirun", "--oversubscribe", "--bind-to", "none"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
FITS = {
    "kpca, stored": ["-m", "kpca", "-k", "rbf", "--dim", "10", "--gram", "f64"],
    "kpca, not stored": ["-m", "kpca", "-k", "rbf", "--dim", "10", "--gram", "tiled"],
    "hsic": ["-m", "hsic", "-k", "rbf", "--lambda", "1"],
    "sma": ["-m", "sma", "-k", "rbf", "--dim", "100"],
}
STREAMS = {
    "kfd, landmarks": ["--stream", "-m", "kfd", "--landmarks", "500", "--learner", "ls"],
    "sma, landmarks": ["--stream", "-m", "sma", "--landmarks", "500", "--learner", "ls"],
    "sma, all rows": ["--stream", "-m", "sma", "--dim", "50", "--learner", "ls"],
    "pls": ["--stream", "-m", "pls", "--dim", "5"],
}
WAYS = {"1 thread": (0, 1), "2 threads": (0, 2), "1 process": (1, 1), "2 processes": (2, 1), "4 processes": (4, 1)}


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(folder, flags, ranks, threads, data="waves.csv"):
    launch = [*LAUNCH, "-n", str(ranks)] if ranks else []
    before = processor_seconds()
    done = subprocess.run([*launch, KFE, "fit", *flags, "--threads", str(threads), data, "-o", "m.kfe"],
                          cwd=folder, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    wall = float(re.search(r"([0-9.]+) s, written", done.stdout + done.stderr).group(1))
    return wall, processor_seconds() - before


def weak(rows):
    """Kernel values grow with the square of the rows: with √2 times the rows, two processes have as many each as one had."""
    with tempfile.TemporaryDirectory() as folder:
        for ranks, count in ((1, round(rows / 2 ** 0.5)), (2, rows)):
            subprocess.run([KFE, "generate", "waveform", "--n", str(count), "-o", f"{ranks}.csv"], cwd=folder, check=True)
        print(f"{rows} rows, load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores, median of {REPEATS}")
        for name, flags in FITS.items():
            pairs = [[measure(folder, flags, ranks, 1, f"{ranks}.csv")[0] for ranks in (1, 2)] for _ in range(REPEATS)]
            one, two = (statistics.median(column) for column in zip(*pairs))
            print(f"{name:18} 1 process {one:8.2f} s   2 processes {two:8.2f} s   efficiency {100 * one / two:.0f} %", flush=True)


def main():
    rows = os.environ.get("ROWS", "5000")
    if WEAK:
        weak(int(rows))
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([KFE, "generate", "waveform", "--n", rows, "-o", "waves.csv"], cwd=folder, check=True)
        print(f"{rows} rows, load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores, median of {REPEATS}")
        for name, flags in (STREAMS if STREAM else FITS).items():
            rounds = [{way: measure(folder, flags, *how) for way, how in WAYS.items()} for _ in range(REPEATS)]
            for way in WAYS:
                wall, cpu = (statistics.median(column) for column in zip(*(taken[way] for taken in rounds)))
                print(f"{name:18} {way:12} {wall:8.2f} s   {cpu:8.2f} s of processors", flush=True)
            ratio = statistics.median(taken["2 processes"][0] / taken["2 threads"][0] for taken in rounds)
            print(f"{name:18} 2 processes / 2 threads: {ratio:.2f}", flush=True)


main()
