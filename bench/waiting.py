#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sleeping instead of spinning threads save on a busy machine: small fits beside two busy programs.

usage: bench/waiting.py [KFE] [RUNS]     KFE: the command (build/cli/kfe), RUNS of each kind (9)
Runs take turns, so that both kinds see the same load. GOMP_SPINCOUNT=300000 is libgomp's default without a policy.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

KFE = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/cli/kfe")
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 9
BUSY = 2
FITS = {
    "kpca, 700 x 21": ["-m", "kpca", "--dim", "2", "-k", "rbf:gamma=0.05"],
    "svm-joint, 700 x 21": ["-m", "svm-joint", "--dim", "2", "-k", "rbf:gamma=0.05"],
}
PLAIN = {key: value for key, value in os.environ.items()
         if key not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")}
KINDS = {"spinning": {**PLAIN, "GOMP_SPINCOUNT": "300000"}, "sleeping": PLAIN}


def seconds(arguments, folder, environment):
    begin = time.perf_counter()
    subprocess.run([KFE, "fit", "-q", *arguments, "train.csv", "-o", "m.kfe"], cwd=folder, env=environment, check=True,
                   stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measure(arguments, folder):
    times = {kind: [] for kind in KINDS}
    for _ in range(RUNS):
        for kind, environment in KINDS.items():
            times[kind].append(seconds(arguments, folder, environment))
    return times


def row(what, where, times):
    middle = {kind: statistics.median(values) for kind, values in times.items()}
    ratio = statistics.median(a / b for a, b in zip(times["spinning"], times["sleeping"]))
    print(f"| {what} | {where} | {middle['spinning']:.2f} | {middle['sleeping']:.2f} | {ratio:.2f} |", flush=True)


def main():
    print("| fit | beside | spinning, s | sleeping, s | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([KFE, "generate", "waveform", "--n", "700", "-o", "train.csv"], cwd=folder, check=True)
        for what, arguments in FITS.items():
            row(what, "nothing", measure(arguments, folder))
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
        try:
            for what, arguments in FITS.items():
                row(what, f"{BUSY} busy programs", measure(arguments, folder))
        finally:
            for program in busy:
                program.kill()
                program.wait()


if __name__ == "__main__":
    main()
