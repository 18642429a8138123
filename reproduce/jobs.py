#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the jobs that reproduce all published tables and figures, the longest first. Called by all.sh.

usage: reproduce/jobs.py [--data DIR] [--only NAME,NAME...] [--specs DIR]

A job is one line "NAME<tab>ROW<tab>COLUMN" with the arguments of one run of `kfe reproduce`. Tables and curves are divided
into cells, so that they run in parallel. Paths, scatter plots and times are one job each ("-" for row and column); times
come last, because they must run alone.
"""
import argparse
import json
import pathlib
import re

# Seconds of one fit relative to methods that solve one linear system.
WEIGHTS = {"none": 0.3, "skfe": 10, "svm-joint": 5, "usvm-joint": 5, "svm-mkl": 15, "hsic-mkl": 3, "mkl": 10, "lmkl": 30,
           "sldr": 30, "sma": 3, "smc": 3, "skpls": 3, "kb": 10, "blf": 2}


def settings_of(grid):
    """The number of values in a grid string."""
    values = grid.split("=", 1)[1]
    steps = re.search(r":(?:log|lin)(\d+)$", values)
    return int(steps.group(1)) if steps else values.count(",") + 1


def fits_of(spec, row, column):
    """The number of fits of a cell."""
    settings = 1
    for grid in column.get("grid", []):
        settings *= settings_of(grid)
    protocol = {}
    for layer in (spec, row, column):
        protocol.update(layer.get("protocol", {}))
    splits = protocol.get("repeats", 1) * (1 if protocol.get("split") == "random" else protocol.get("folds", 5))
    inner = protocol.get("inner-folds", 5) if settings > 1 else 0
    tuned = protocol.get("tuning-splits", 0) or splits
    return (settings * inner * tuned if inner else settings * splits) + splits


def size_of(row, data):
    """The size of a row's data: bytes of its files, or a small number for generated data."""
    files = row.get("data", [])
    files = [files] if isinstance(files, str) else files
    total = 1e5
    for name in files:
        for path in (data / name, data / (name + ".gz")):
            if path.exists():
                total += path.stat().st_size * (4 if path.suffix == ".gz" else 1)
                break
    return total


def cost_of(spec, row, column, data):
    return fits_of(spec, row, column) * size_of(row, data) * WEIGHTS.get(column["method"], 1)


def jobs_of(name, spec, data):
    """Pairs of a cost and a job."""
    if spec.get("kind", "table") not in ("table", "curve"):
        yield (0 if spec["kind"] != "time" else -1), (name, "-", "-")
        return
    points = len(spec["over"]["values"]) if spec.get("kind") == "curve" else 1
    for row in spec["rows"]:
        for column in spec["columns"]:
            changes = row.get("columns", {}).get(column["name"], {})
            merged = {**column, **(changes or {})}
            computed = "method" in merged and changes is not None
            if computed or column["name"] in row.get("paper", {}):
                cost = points * cost_of(spec, row, merged, data) if computed else 0
                yield cost, (name, row["name"], column["name"])


def main():
    here = pathlib.Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--only", default="")
    parser.add_argument("--specs", type=pathlib.Path, default=here / "specs")
    arguments = parser.parse_args()
    only = [name for name in arguments.only.split(",") if name]
    known = {path.stem: path for path in sorted(arguments.specs.glob("*.json"))}
    for name in only:
        if name not in known:
            parser.error(f"there is no table or figure '{name}'; the names are {', '.join(known)}")
    jobs = []
    for name in only or known:
        jobs += jobs_of(name, json.loads(known[name].read_text()), arguments.data)
    for _, job in sorted(jobs, key=lambda pair: -pair[0]):
        print("\t".join(job))


if __name__ == "__main__":
    main()
