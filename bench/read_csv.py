# SPDX-License-Identifier: Apache-2.0
"""Compares reading a large CSV file with kfe and with pandas' C reader, in one run.

usage: read_csv.py PROGRAM [ROWS [COLUMNS]]

PROGRAM is the built bench/read_csv.c. The file is created once in the temporary directory. Prints seconds (the
best of three), peak memory as a multiple of the matrix, and the ratio; the exit status is 0 if kfe was at least
as fast and took less than 2.5 times the memory of the matrix.
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd

REPEATS = 3


def make_file(path, rows, cols):
    """Writes numbers of 6 to 17 digits and a label with three classes."""
    generator = np.random.default_rng(1)
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join(f"x{j + 1}" for j in range(cols)) + ",label\n")
        for begin in range(0, rows, 10000):
            count = min(10000, rows - begin)
            values = generator.normal(size=(count, cols))
            short = cols // 2
            frame = pd.DataFrame(values)
            frame.iloc[:, :short] = frame.iloc[:, :short].round(5)
            frame["label"] = generator.integers(0, 3, count)
            frame.to_csv(out, header=False, index=False)


def time_kfe(program, path):
    printed = subprocess.run([program, path], check=True, capture_output=True, text=True).stdout
    rows, cols, seconds, peak = printed.split()
    return int(rows), int(cols), float(seconds), int(peak)


def time_pandas(path):
    begin = time.perf_counter()
    frame = pd.read_csv(path, engine="c")
    return time.perf_counter() - begin, frame.shape


def main():
    program = sys.argv[1]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    cols = int(sys.argv[3]) if len(sys.argv) > 3 else 50
    path = os.path.join(tempfile.gettempdir(), f"kfe_read_{rows}x{cols}.csv")
    if not os.path.exists(path):
        make_file(path + ".part", rows, cols)
        os.sync()  # otherwise the disk would still be busy during the measurement
        os.rename(path + ".part", path)
    ours = [time_kfe(program, path) for _ in range(REPEATS)]
    theirs = [time_pandas(path) for _ in range(REPEATS)]
    if any((found[0], found[1]) != (rows, cols) for found in ours):
        sys.exit(f"kfe read {ours[0][:2]}, not {(rows, cols)}")
    seconds = min(found[2] for found in ours)
    peak = max(found[3] for found in ours) / (8 * rows * cols)
    pandas_seconds = min(found[0] for found in theirs)
    print(f"file      {os.path.getsize(path) / 1e6:.0f} MB, {rows} x {cols} and a label")
    print(f"kfe       {seconds:.2f} s, peak memory {peak:.2f} x the matrix")
    print(f"pandas    {pandas_seconds:.2f} s (version {pd.__version__}, C reader)")
    print(f"ratio     {pandas_seconds / seconds:.2f} (above 1: kfe is faster)")
    sys.exit(0 if seconds <= pandas_seconds and peak < 2.5 else 1)


if __name__ == "__main__":
    main()
