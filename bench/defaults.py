#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the errors of kfe's defaults, of tuned settings and of the former defaults on the twelve sets of docs/defaults-measured.md.

    bench/defaults.py --data FOLDER                      run all jobs here and print the table
    bench/defaults.py --data FOLDER --methods kfd,uhsic --sets thyroid,german --jobs 2
    bench/defaults.py --data FOLDER --emit-jobs OUT      write OUT/jobs.txt, OUT/jobs.json and OUT/data for another machine:
                                                         every line is one single-threaded command that uses ./bin/kfe and ./data
    bench/defaults.py --collect FOLDER [FOLDER ...]      merge results: FOLDER has jobs.json and N.out, the output of line N

FOLDER of --data has one folder per set. Each job is one `kfe cv` on random splits: half of the rows, but at most --rows, train.

    before   the defaults of version 0.1: no scaling, a ridge of a thousandth of the mean diagonal, one neighbour, two local dimensions,
             and those of FORMER
    after    the defaults
    tuned    a grid over kernel width, ridge, number of features and C, chosen by cross-validation inside the training rows

Methods that do not predict are followed by knn.
"""
import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import shlex
import statistics
import subprocess
import sys
import tempfile

# name: (folder/file, folder/file of the labels or None)
SETS = {
    "thyroid": ("thyroid/thyroid_3class.csv", None),
    "banana": ("banana/banana.csv", None),
    "pima": ("diabetes_pima/diabetes_pima.csv", None),
    "german": ("german/german.csv", None),
    "ionosphere": ("ionosphere/ionosphere.csv", None),
    "spectf": ("spectf/spectf.csv", None),
    "shuttle": ("shuttle/shuttle.csv", None),
    "mfeat-mor": ("mfeat/mfeat-mor.csv", "mfeat/labels.csv"),
    "satimage": ("satimage/satimage.csv", None),
    "usps": ("usps/usps.csv", None),
    "tr23": ("tr23/tr23.svm", None),
    "leukemia1": ("leukemia1/leukemia1.csv", None),
}
VARIANTS = ("before", "after", "tuned")
RIDGES = ("ridge", "lambda", "xi")
# Former defaults that were numbers: parameter, methods, value.
FORMER = [
    ("svm-C", ("svm-joint", "usvm-joint", "svm-mkl", "mkl", "slmc"), "1"),
    ("ridge", ("kda-qr", "akda-qr"), "0"),
    ("ridge", ("kb",), "mean"),
    ("nu", ("skpls", "skblf"), "0.25"),
    ("dim", ("sma", "smc", "kb", "blf"), "10"),
    ("dim", ("gkdr",), "2"),
]
WIDTHS = (1 / 16, 1 / 4, 1, 4, 16)
# Further axes of the tuned variant: method: grids.
AXES = {
    "rfm": ["iterations=1,5"],
    "gkdr": ["dim=1,2,4,8"],
    "lfda": ["neighbours=3,7,15"],
    "klfda": ["neighbours=3,7,15"],
    "opls": ["orthogonal=0,1,2,4,8"],
    "kopls2": ["orthogonal=0,1,2,4,8"],
    "spls": ["keep=10,50,200"],
}


def run_kfe(kfe, *arguments):
    return subprocess.run([kfe, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def read_lines(path):
    if not path.exists():
        path = path.with_name(path.name + ".gz")
    if path.suffix == ".gz":
        with gzip.open(path, "rt") as file:
            return file.read().splitlines()
    return path.read_text().splitlines()


def draw_rows(source, name, most, out):
    """Writes at most `most` random rows of a set. The class is the last column, as text, so that it is not read as a
    number."""
    file, labels = SETS[name]
    lines = read_lines(source / file)
    if labels:
        lines = [f"{line},{label}" for line, label in zip(lines, read_lines(source / labels))]
    random.Random(1).shuffle(lines)
    counts = collections.Counter()
    path = out / (name + pathlib.Path(file).suffix)
    kept = lines[:most]
    sparse = path.suffix == ".svm"
    for line in kept:
        counts[line.split(None, 1)[0] if sparse else line.rsplit(",", 1)[1]] += 1
    kept = [line for line in kept if counts[line.split(None, 1)[0] if sparse else line.rsplit(",", 1)[1]] >= 4]
    if not sparse:
        kept = [",class ".join(line.rsplit(",", 1)) for line in kept]
    path.write_text("\n".join(kept) + "\n")
    return path, len(kept)


def default_width(kfe, path, name, parameter):
    """The default width of a kernel on these rows."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.kfe"
        run_kfe(kfe, "fit", "-q", "-m", "koc", "-k", name, path, "-o", model)
        kernel = json.loads(run_kfe(kfe, "info", model, "--json"))["kernels"][0]
    text = kernel if isinstance(kernel, str) else kernel["kernel"]
    return float(text.split(f"{parameter}=")[1].split(",")[0])


def default_gamma(kfe, path):
    return default_width(kfe, path, "rbf", "gamma")


def width_grids(kfe, path):
    """The grid of widths of each kernel that is some method's default."""
    gamma, sigma = default_gamma(kfe, path), default_width(kfe, path, "exp", "sigma")
    return {"rbf": "gamma=" + ",".join(f"{gamma * factor:.4g}" for factor in WIDTHS),
            "exp": "sigma=" + ",".join(f"{sigma * factor ** 0.5:.4g}" for factor in WIDTHS)}


def method_flags(method, variant, widths, rows):
    names = {p["name"]: p for p in method["parameters"]}
    predicts = "predicts" in method["flags"]
    flags = [] if predicts else ["--learner", "knn"]
    if variant == "before":
        flags += ["--scale", "none"] + ([] if predicts else ["--neighbors", "1"])
        for name in RIDGES:
            if "thousandth" in (names.get(name, {}).get("words") or ""):
                flags += [f"--{name}", "thousandth"]
        if "local-dim" in names:
            flags += ["--local-dim", "2"]
        for name, methods, value in FORMER:
            if method["name"] in methods:
                flags += [f"--{name}", value]
        if method["name"] == "svm-mkl":
            flags += ["--xi", f"{1 / rows:.4g}"]
    if variant == "tuned":
        kernel = (method.get("default_kernel") or "").split(":")[0]
        if kernel in widths:
            flags += ["--grid", widths[kernel]]
        ridges = [name for name in RIDGES if name in names]
        if ridges:
            flags += ["--grid", f"{ridges[0]}=0.001,0.03,1,30"]
        if "dim" in names and "nested" in method["flags"]:
            flags += ["--grid", "dim=1,2,4,8,16,32"]
        if "svm-C" in names:
            flags += ["--grid", "svm-C=1,10,100"]
        if "local-dim" in names:
            flags += ["--grid", "local-dim=2,4,8"]
        for axis in AXES.get(method["name"], ()):
            flags += ["--grid", axis]
    return flags


def make_jobs(kfe, options, data):
    """Returns a list of {set, method, variant, command}; paths are relative to the parent of `data`."""
    methods = json.loads(run_kfe(kfe, "methods", "--json"))
    wanted = options.methods.split(",") if options.methods else [m["name"] for m in methods]
    jobs = []
    for name in options.sets.split(",") if options.sets else SETS:
        path, rows = draw_rows(pathlib.Path(options.data), name, 3 * options.rows, data)
        widths = width_grids(kfe, path)
        train = min(options.rows, rows // 2)
        common = ["--json", "-q", "--threads", "1", "--split", "random", "--train-size", train,
                  "--repeats", options.repeats, "--inner-folds", "3", "--metrics", "error"]
        for method in methods:
            if method["name"] not in wanted:
                continue
            for variant in VARIANTS:
                command = ["./bin/kfe", "cv", "-m", method["name"], *method_flags(method, variant, widths, train), *common,
                           f"./data/{path.name}"]
                jobs.append({"set": name, "method": method["name"], "variant": variant,
                             "command": " ".join(shlex.quote(str(word)) for word in command)})
    return jobs


def error_of(text):
    """The error in a report of kfe cv; None if the report has none."""
    try:
        return json.loads(text)["metrics"]["error"]["mean"]
    except (ValueError, KeyError, TypeError):
        return None


def run_here(kfe, jobs, data, options):
    """Runs the jobs, several at a time, and prints each result as a line of JSON."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "bin").mkdir()
        (place / "bin" / "kfe").symlink_to(os.path.abspath(kfe))
        (place / "data").symlink_to(os.path.abspath(data))
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}

        def run(job):
            limited = f"ulimit -t {options.seconds}; {job['command']}"
            done = subprocess.run(["bash", "-c", limited], cwd=place, capture_output=True, text=True, env=environment)
            return {**job, "error": error_of(done.stdout), "said": done.stderr.strip().splitlines()[-1:]}

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for result in pool.map(run, jobs):
                print(json.dumps(result), flush=True)
                yield result


def collect(folders):
    for folder in map(pathlib.Path, folders):
        if folder.is_file():
            yield from (json.loads(line) for line in folder.read_text().splitlines() if line.startswith("{"))
            continue
        for number, job in enumerate(json.loads((folder / "jobs.json").read_text()), 1):
            out = folder / f"{number}.out"
            yield {**job, "error": error_of(out.read_text()) if out.exists() else None}


def table(results):
    """For each method, the medians over the sets on which all variants ran, and the sets that differ by more than 2
    points."""
    found = collections.defaultdict(dict)
    for r in results:
        if r["error"] is not None:
            found[r["method"], r["set"]][r["variant"]] = 100 * r["error"]
    rows = collections.defaultdict(dict)
    for (method, name), errors in found.items():
        if all(variant in errors for variant in VARIANTS):
            rows[method][name] = errors
    lines = ["| method | sets | before | after | tuned | before − tuned | after − tuned | further off than 2 points |",
             "|---|---|---|---|---|---|---|---|"]
    for method, sets in sorted(rows.items()):
        median = {v: statistics.median(e[v] for e in sets.values()) for v in VARIANTS}
        gap = {v: statistics.median(e[v] - e["tuned"] for e in sets.values()) for v in ("before", "after")}
        off = [f"{name} {e['after']:.1f}/{e['tuned']:.1f}" for name, e in sorted(sets.items()) if e["after"] - e["tuned"] > 2]
        lines.append(f"| `{method}` | {len(sets)} | {median['before']:.1f} | {median['after']:.1f} | {median['tuned']:.1f} | "
                     f"{gap['before']:+.1f} | {gap['after']:+.1f} | {', '.join(off)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the data sets")
    parser.add_argument("--kfe", default="build/cli/kfe", help="the program (default build/cli/kfe)")
    parser.add_argument("--methods", help="names, separated by commas (default all)")
    parser.add_argument("--sets", help=f"names, separated by commas, of {', '.join(SETS)} (default all)")
    parser.add_argument("--rows", type=int, default=200, help="largest number of training rows (default 200)")
    parser.add_argument("--repeats", type=int, default=2, help="number of random splits (default 2)")
    parser.add_argument("--seconds", type=int, default=180, help="limit of a job's processor time (default 180)")
    parser.add_argument("--jobs", type=int, default=1, help="number of jobs that run at the same time (default 1)")
    parser.add_argument("--emit-jobs", metavar="OUT", help="write jobs and data for another machine; run nothing")
    parser.add_argument("--collect", nargs="+", metavar="FOLDER",
                        help="print the table from the results in these folders (or in files with this program's output)")
    options = parser.parse_args()
    if options.collect:
        print(table(collect(options.collect)))
        return 0
    if not options.data:
        parser.error("--data is needed, unless results are collected")
    if options.emit_jobs:
        out = pathlib.Path(options.emit_jobs)
        (out / "data").mkdir(parents=True, exist_ok=True)
        jobs = make_jobs(options.kfe, options, out / "data")
        (out / "jobs.txt").write_text("".join(job["command"] + "\n" for job in jobs))
        (out / "jobs.json").write_text(json.dumps(jobs, indent=1))
        print(f"{len(jobs)} jobs in {out / 'jobs.txt'}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        jobs = make_jobs(options.kfe, options, pathlib.Path(folder))
        results = list(run_here(options.kfe, jobs, folder, options))
    print(table(results), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
