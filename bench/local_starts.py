#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How low restarts=auto of sldr and lmkl ends, beside the best of 1, 5 and 20 single starts, and how long it takes.

usage: local_starts.py KFE DATA [PROBLEM...]

DATA has mfeat/, ionosphere/ and wdbc/. Of MULTIFEAT every third row is used. Seconds are processor time less that of a fit without
iterations; automatic searches are three, with the seeds 0 to 2, of which the objectives are printed.
"""
import gzip
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

VIEWS = ("fac", "fou", "kar", "mor", "pix", "zer")
MIXED = ["--scale", "standard", "-k", "rbf:gamma=0.5", "-k", "linear"]
MFEAT = ["--scale", "standard", *(f"{view}.csv" for view in VIEWS), "--label-file", "half.csv"]
DIGITS = [*MFEAT[:-1], "digits.csv"]
PLANES = ["--local-dim", "2"]


def problems(data):
    return {
        "sldr, MULTIFEAT halves, gate-dim=10, svm-C=10": ["-m", "sldr", *PLANES, "--gate-dim", "10", "--svm-C", "10", *MFEAT],
        "sldr, MULTIFEAT halves, gate-dim=2, svm-C=1": ["-m", "sldr", *PLANES, *MFEAT],
        "sldr, MULTIFEAT digits, gate-dim=2, svm-C=1": ["-m", "sldr", *PLANES, *DIGITS],
        "sldr, ionosphere, rbf and linear": ["-m", "sldr", *MIXED, f"{data}/ionosphere/ionosphere.csv"],
        "sldr, wdbc, rbf and linear": ["-m", "sldr", *MIXED, f"{data}/wdbc/wdbc.csv"],
        "sldr, waveform, rbf and linear": ["-m", "sldr", *MIXED, "wave.csv"],
        "lmkl, waveform, rbf and linear": ["-m", "lmkl", "--scale", "standard", "-k", "rbf:gamma=0.05", "-k", "linear", "wave.csv"],
        "lmkl, MULTIFEAT halves, svm-C=10": ["-m", "lmkl", "--svm-C", "10", *MFEAT],
    }


def write_data(kfe, data):
    """Every third row of MULTIFEAT, and 800 rows of waveform, in the current folder."""
    labels = pathlib.Path(data, "mfeat/labels.csv").read_text().split()[::3]
    pathlib.Path("digits.csv").write_text("".join(f"d{label}\n" for label in labels))
    pathlib.Path("half.csv").write_text("".join("small\n" if int(label) < 5 else "large\n" for label in labels))
    for view in VIEWS:
        path = pathlib.Path(data, f"mfeat/mfeat-{view}.csv")
        text = path.read_text() if path.exists() else gzip.open(f"{path}.gz", "rt").read()
        pathlib.Path(f"{view}.csv").write_text("".join(f"{line}\n" for line in text.splitlines()[::3]))
    subprocess.run([kfe, "generate", "waveform", "--n", "800", "-o", "wave.csv"], check=True)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fit(kfe, arguments, *more):
    before = processor_seconds()
    subprocess.run([kfe, "fit", "-q", "--threads", "1", *arguments, *map(str, more), "-o", "m.kfe"], check=True,
                   stderr=subprocess.DEVNULL)
    seconds = processor_seconds() - before
    info = subprocess.run([kfe, "info", "--json", "m.kfe"], check=True, capture_output=True, text=True).stdout
    return json.loads(info)["records"]["objective"][-1], seconds


def row(kfe, arguments):
    idle = fit(kfe, arguments, "--restarts", 1, "--max-iter", 0)[1]
    singles = [fit(kfe, arguments, "--restarts", 1, "--seed", seed) for seed in range(20)]
    auto = [fit(kfe, arguments, "--seed", seed) for seed in range(3)]
    ends = [end for end, _ in singles]
    one = sum(seconds for _, seconds in singles) / 20 - idle
    some = sum(seconds for _, seconds in auto) / 3 - idle
    shown = ", ".join(f"{end:.4g}" for end, _ in auto)
    return f"{shown} | {ends[0]:.4g} | {min(ends[:5]):.4g} | {min(ends):.4g} | {some / one:.1f}"


def main():
    kfe, data = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:3])
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_data(kfe, data)
        for name, arguments in problems(data).items():
            if len(sys.argv) == 3 or any(word in name for word in sys.argv[3:]):
                print(f"| {name} | {row(kfe, arguments)} |", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
