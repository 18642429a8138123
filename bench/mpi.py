#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Processes against threads on one machine, and weak scaling: a table in Markdown, and whether it meets the targets.

usage: bench/mpi.py KFE [REPEATS]          ROWS=8000: rows of the data; some minutes for five repeats
       bench/mpi.py KFE [REPEATS] --stream fits from sums over divided rows, which are read from a file

Every repeat runs all columns of the table, one after the other: 2 threads, and 1, 2 and 4 processes of one thread. Seconds are the medians of those
that kfe reports, from reading on; for the product, of the median of 21 products after the matrix was evaluated (bench_product, which is built
beside kfe with -DKFE_BUILD_BENCH=ON). Ratios are medians of the ratios within a repeat.

Weak scaling: 2 processes on ROWS rows against 1 on as many fewer as halve the work, which grows like a power of the rows: ROWS/2 for sma, ROWS/√2
for products and iterations, ROWS/∛2 for a factorisation. Processor seconds are of 2 processes and 2 threads; they include starting
and reading, and tell more on a busy machine. Beside it stands what the machine itself allows: the same small problem alone against two
of them at once, which have nothing to do with each other but share memory and caches.
"""
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

STREAM = "--stream" in sys.argv
WORDS = [word for word in sys.argv[1:] if not word.startswith("--")]
KFE, REPEATS = pathlib.Path(WORDS[0]).resolve(), int(WORDS[1]) if len(WORDS) > 1 else 5
PRODUCT = KFE.parent.parent / "bench" / "bench_product"
ROWS = int(os.environ.get("ROWS", "8000"))
LAUNCH = ["mpirun", "--oversubscribe", "--bind-to", "none"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
MOST_RATIO, LEAST_EFFICIENCY = 1.15, 90  # the targets: 2 processes / 2 threads, and % of weak scaling

# What is timed: the power of the rows with which its work grows, and the flags of kfe fit; None: a product.
FITS = {
    "product, stored": (2, None),
    "kpca, stored": (2, ["-m", "kpca", "-k", "rbf", "--dim", "10", "--gram", "f64"]),
    "hsic, iterating": (2, ["-m", "hsic", "-k", "rbf", "--lambda", "1"]),
    "hsic, factoring": (3, ["-m", "hsic", "-k", "rbf", "--lambda", "0.001"]),
    "sma": (1, ["-m", "sma", "-k", "rbf", "--dim", "100"]),
}
STREAMS = {
    "kfd, landmarks": (1, ["--stream", "-m", "kfd", "--landmarks", "500", "--learner", "ls"]),
    "sma, landmarks": (1, ["--stream", "-m", "sma", "--landmarks", "500", "--learner", "ls"]),
    "sma, all rows": (1, ["--stream", "-m", "sma", "--dim", "50", "--learner", "ls"]),
    "pls": (1, ["--stream", "-m", "pls", "--dim", "5"]),
}


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def start(folder, flags, rows, processes, threads, model="m.kfe"):
    command = [*LAUNCH, "-n", str(processes)] if processes else []
    if flags is None:
        command += [PRODUCT, str(rows), str(threads)]
    else:
        command += [KFE, "fit", *flags, "--threads", str(threads), f"{rows}.csv", "-o", model]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
                            env={**os.environ, "OMP_WAIT_POLICY": "passive", "KFE_DEVICE_PATH": str(KFE.parent.parent)})


def seconds_of(run):
    output = run.communicate()[0]
    if run.returncode:
        sys.exit(output)
    return float(re.search(r"([0-9.]+) s(, written|$)", output, re.M).group(1))


def measure(folder, flags, rows, processes, threads):
    """Seconds on the wall, and of processors; processes 0: without mpirun."""
    before = processor_seconds()
    return seconds_of(start(folder, flags, rows, processes, threads)), processor_seconds() - before


def measure_two(folder, flags, rows):
    """Seconds on the wall of two runs at once, which do not know of each other."""
    runs = [start(folder, flags, rows, 0, 1, f"m{i}.kfe") for i in range(2)]
    return statistics.mean(seconds_of(run) for run in runs)


def middle(numbers):
    return statistics.median(list(numbers))


def row_of(name, folder, power, flags):
    fewer = round(ROWS / 2 ** (1 / power))
    generate(folder, fewer)
    ways = {"2 threads": (ROWS, 0, 2), "1": (ROWS, 1, 1), "2": (ROWS, 2, 1), "4": (ROWS, 4, 1), "weak": (fewer, 1, 1)}
    rounds = [{way: measure(folder, flags, *how) for way, how in ways.items()} for _ in range(REPEATS)]
    seconds = [middle(r[way][0] for r in rounds) for way in ("2 threads", "1", "2", "4")]
    ratio = middle(r["2"][0] / r["2 threads"][0] for r in rounds)
    efficiency = middle(100 * r["weak"][0] / r["2"][0] for r in rounds)
    machine = middle(100 * measure(folder, flags, fewer, 0, 1)[0] / measure_two(folder, flags, fewer) for _ in range(REPEATS))
    busy = [middle(r[way][1] for r in rounds) for way in ("2 threads", "2")]
    met = ratio <= MOST_RATIO and efficiency >= LEAST_EFFICIENCY
    print(f"| {name} | " + " | ".join(f"{s:.3g} s" for s in seconds) + f" | {ratio:.2f} | {fewer:,}: {efficiency:.0f} % | {machine:.0f} % | "
          f"{busy[0]:.2f}, {busy[1]:.2f} s | {'yes' if met else 'no'} |", flush=True)


def generate(folder, rows):
    subprocess.run([KFE, "generate", "waveform", "--n", str(rows), "-o", f"{rows}.csv"], cwd=folder, check=True, capture_output=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        generate(folder, ROWS)
        print(f"{ROWS:,} rows, load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores, medians of {REPEATS}; targets: at most {MOST_RATIO} "
              f"and at least {LEAST_EFFICIENCY} %\n")
        print("| | 2 threads | 1 process | 2 processes | 4 processes | 2 processes / 2 threads | weak scaling from 1 process on | two runs at once | "
              "processor seconds: threads, processes | met |\n|---|---|---|---|---|---|---|---|---|---|")
        for name, (power, flags) in (STREAMS if STREAM else FITS).items():
            row_of(name, folder, power, flags)


main()
