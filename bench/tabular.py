#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares kfe's methods with scikit-learn on tables, on the same random splits for all.

    bench/tabular.py run KFE DATA_FOLDER OUT [--tables puma32h,german] [--methods rfm,SVM] [--splits 0-9] [--rows 1500] [--limit 900]
                         [--seconds 3600]
    bench/tabular.py summary OUT [OUT ...]

DATA_FOLDER has a folder NAME for each table with NAME.csv, NAME.csv.gz or NAME.svm.gz: numbers only, no header, the target in the last
column (bench/tune.py says where to get them). `run` writes one file OUT/TABLE/SPLIT-METHOD.json per cell and skips the cells that
are there, so that an interrupted run goes on where it stopped; the first split of all tables comes first, then the second. With --seconds,
no cell begins after that time, and the last line says how many cells are left: run it again to go on. `summary` prints Markdown
from the cells of all folders OUT that there are so far: means over the splits that all methods of a table have finished, and ranks over
the tables that have cells of all methods.

A split draws --rows training rows (at most two thirds of the table) and up to twice as many test rows. Columns are standardised on
the training rows by every method; real targets have mean 0 and standard deviation 1 on the training rows. Every method but
RandomForest is tuned on three folds of the training rows, with at most 20 settings:

    rfm       five widths of exp(-(r/sigma)^p), p = 1 and 1.5, two powers of the gradients
    sma       five widths of a Gaussian kernel, four numbers of features; then least squares
    kfd       five widths, four classifiers (classes only)
    other     the best of kpls, kopls and klfda (real targets: kpls and kopls) on the same three folds
    SVM       SVC or SVR with a Gaussian kernel, five widths, four values of C
    HistGB    HistGradientBoosting, 20 random settings of rate, leaves, rows per leaf and l2; the first 4 of them for more than 500 columns,
              where one fit takes up to two minutes; stopped early, unless a class has less than six training rows
    Forest    RandomForest, 300 trees
    Nystroem  300 components of a Gaussian kernel and ridge regression, five widths, four ridges

One thread each. A cell has the error (share of wrong classes, or root mean squared error), wall and CPU seconds of tuning, fitting and
predicting, and the setting chosen.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from scipy import stats

REGRESSION = ("puma32h", "bank32nh", "ailerons", "baseball")
CLASSES = ("ida_splice", "ringnorm", "waveform", "german", "thyroid", "wine", "breast_cancer", "ionosphere", "spectf", "wdbc",
           "diabetes_pima", "flare_solar", "titanic", "banana", "twonorm", "ida_waveform", "satimage", "shuttle", "sleep", "a9a", "w8a",
           "usps", "cbcl", "kdd99_10pct", "leukemia1", "leukemia2", "prostate_tumor", "brain_tumor1", "brain_tumor2", "11_tumors")
METHODS = ("rfm", "sma", "kfd", "other", "SVM", "HistGB", "Forest", "Nystroem")
INNER_FOLDS = 3
WIDTHS = np.array([1 / 16, 1 / 4, 1, 4, 16])  # factors of the Gaussian's gamma
SIGMAS = np.array([1 / 2, 1, 2, 4, 8])        # factors of the median distance
WIDE = 500                                    # columns beyond which rfm learns weights of columns only


# ---- data ----

def read(folder, name):
    """The whole table; sparse ones become dense."""
    for path in (folder / name / f"{name}.csv", folder / name / f"{name}.csv.gz"):
        if path.exists():
            import pandas
            table = pandas.read_csv(path, header=None).to_numpy(float)
            return table[:, :-1], table[:, -1]
    from sklearn.datasets import load_svmlight_file
    x, y = load_svmlight_file(str(folder / name / f"{name}.svm.gz"))
    return x, y


class Split:
    """Standardised training and test rows of one random division."""

    def __init__(self, x, y, real, number, rows):
        order = np.random.default_rng([number, len(y)]).permutation(len(y))
        train = min(rows, 2 * len(y) // 3)
        first, second = order[:train], order[train:train + 2 * rows]
        dense = [x[part].toarray() if hasattr(x, "toarray") else x[part] for part in (first, second)]
        spread = dense[0].std(0)
        keep = spread > 0
        self.x, self.test_x = [(part[:, keep] - dense[0][:, keep].mean(0)) / spread[keep] for part in dense]
        self.y, self.test_y = y[first], y[second]
        self.real = real
        if real:
            mean, scale = self.y.mean(), self.y.std()
            self.y, self.test_y = (self.y - mean) / scale, (self.test_y - mean) / scale
        some = self.x[:300]
        squares = ((some[:, None] - some[None]) ** 2).sum(-1) if self.x.shape[1] <= WIDE else \
            np.maximum(0, (some ** 2).sum(1)[:, None] + (some ** 2).sum(1)[None] - 2 * some @ some.T)
        self.distance = np.sqrt(np.median(squares[np.triu_indices(len(some), 1)])) or 1.0

    @property
    def gammas(self):
        return WIDTHS / self.distance ** 2

    def error(self, predicted):
        if self.real:
            return float(np.sqrt(np.mean((predicted - self.test_y) ** 2)))
        return float(np.mean(predicted != self.test_y))


# ---- kfe ----

def join(values):
    return ",".join(f"{value:.6g}" for value in values)


def search(kfe, split, folder, limit, *arguments):
    """One `kfe cv`: error on the test rows, error of the chosen setting on the inner folds, and the setting."""
    metric = "rmse" if split.real else "error"
    command = [kfe, "cv", "-q", "--json", "--threads", "1", "--scale", "standard", "--task", "regress" if split.real else "classify",
               "--metrics", metric, "--split", "file", "--split-file", folder / "split.txt", "--inner-folds", str(INNER_FOLDS),
               *arguments, folder / "data.npy"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=limit)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
    result = json.loads(done.stdout)
    inner = [setting["metrics"][metric]["mean"] for setting in result["settings"] if not setting["failed"]]
    return result["metrics"][metric]["mean"], min(inner), result["splits"][0]["setting"]


def run_kfe(method, kfe, split, limit):
    gamma = f"gamma={join(split.gammas)}"
    last = "--learner", "ls"
    ways = {
        "rfm": [("-m", "rfm", "-k", "exp", "--distance", "diagonal" if split.x.shape[1] > WIDE else "auto",
                 "--grid", f"sigma={join(SIGMAS * split.distance)}", "--grid", "kernel.power=1,1.5", "--grid", "method.power=0.5,1")],
        "sma": [("-m", "sma", "-k", "rbf", *last, "--grid", gamma, "--grid", "dim=10,30,100,300")],
        "kfd": [("-m", "kfd", "-k", "rbf", "--learner", "knn", "--grid", gamma, "--grid", "learner=knn,centroid,ls,svm")],
        "other": [("-m", "kpls", "-k", "rbf", *last, "--grid", gamma, "--grid", "dim=5,20"),
                  ("-m", "kopls", "-k", "rbf", "--grid", gamma, "--learner", "ls" if split.real else "knn")],
    }
    if not split.real:
        ways["other"] += [("-m", "klfda", "-k", "rbf", "--grid", gamma, "--learner", "knn")]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.save(folder / "data.npy", np.column_stack([np.vstack([split.x, split.test_x]), np.r_[split.y, split.test_y]]))
        train, total = len(split.y), len(split.y) + len(split.test_y)
        (folder / "split.txt").write_text(f"train 1-{train}\ntest {train + 1}-{total}\n")
        found = [(*search(kfe, split, folder, limit, *way), way[1]) for way in ways[method]]
    error, _, setting, chosen = min(found, key=lambda one: one[1])
    return error, {"method": chosen, **setting}


# ---- scikit-learn ----

def grid(split, model, parameters):
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
    folds = (KFold if split.real else StratifiedKFold)(INNER_FOLDS, shuffle=True, random_state=0)
    return GridSearchCV(model, parameters, cv=folds, n_jobs=1,
                        scoring="neg_root_mean_squared_error" if split.real else "accuracy")


def svm(split):
    from sklearn.svm import SVC, SVR
    return grid(split, SVR(epsilon=0.1) if split.real else SVC(), {"gamma": split.gammas, "C": [0.1, 1, 10, 100]})


def boosting(split):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.model_selection import ParameterSampler
    space = {"learning_rate": stats.loguniform(0.02, 0.3), "max_leaf_nodes": [4, 8, 16, 31], "min_samples_leaf": [3, 10, 20, 40],
             "l2_regularization": [0, 0.1, 1, 10]}
    settings = [{name: [value] for name, value in one.items()} for one in ParameterSampler(space, 20, random_state=0)]
    # Early stopping sets some rows of every class apart, which a class of a few rows does not allow in each fold.
    rare = not split.real and np.unique(split.y, return_counts=True)[1].min() < 6
    settings = settings[:4] if split.x.shape[1] > WIDE else settings
    kind = HistGradientBoostingRegressor if split.real else HistGradientBoostingClassifier
    return grid(split, kind(max_iter=200, early_stopping=len(split.y) > 300 and not rare, random_state=0), settings)


def forest(split):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    return (RandomForestRegressor if split.real else RandomForestClassifier)(300, random_state=0, n_jobs=1)


def nystroem(split):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.pipeline import Pipeline
    components = min(300, len(split.y) * (INNER_FOLDS - 1) // INNER_FOLDS)
    model = Pipeline([("map", Nystroem(n_components=components, random_state=0)),
                      ("ridge", Ridge() if split.real else RidgeClassifier())])
    return grid(split, model, {"map__gamma": split.gammas, "ridge__alpha": [0.001, 0.01, 0.1, 1]})


PEERS = {"SVM": svm, "HistGB": boosting, "Forest": forest, "Nystroem": nystroem}


def run_peer(method, split):
    model = PEERS[method](split).fit(split.x, split.y)
    chosen = {name: str(value) for name, value in getattr(model, "best_params_", {}).items()}
    return split.error(model.predict(split.test_x)), chosen


# ---- cells ----

def cpu_seconds():
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def run_cell(method, kfe, split, limit):
    cell = {"train_rows": len(split.y), "test_rows": len(split.test_y), "columns": split.x.shape[1],
            "task": "regress" if split.real else "classify"}
    wall, cpu = time.monotonic(), cpu_seconds()
    try:
        cell["error"], cell["setting"] = run_peer(method, split) if method in PEERS else run_kfe(method, kfe, split, limit)
    except (RuntimeError, ValueError, subprocess.TimeoutExpired) as failure:
        cell["failed"] = str(failure)[:300]
    cell.update(wall_seconds=time.monotonic() - wall, cpu_seconds=cpu_seconds() - cpu)
    return cell


def span(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def missing_cells(arguments):
    """(split, table) → methods without a cell, in the order in which they are run"""
    todo = {}
    for number in span(arguments.splits):
        for table in arguments.tables.split(","):
            methods = [method for method in arguments.methods.split(",") if not (table in REGRESSION and method == "kfd")
                       and not (arguments.out / table / f"{number}-{method}.json").exists()]
            if methods:
                todo[number, table] = methods
    return todo


def run(arguments):
    begin = time.monotonic()
    todo = missing_cells(arguments)
    left = sum(map(len, todo.values()))
    for (number, table), methods in todo.items():
        split = None
        for method in methods:
            if time.monotonic() - begin > arguments.seconds:
                print(f"{left} cells are left", file=sys.stderr)
                return
            split = split or Split(*read(arguments.data, table), table in REGRESSION, number, arguments.rows)
            path = arguments.out / table / f"{number}-{method}.json"
            cell = run_cell(method, arguments.kfe, split, arguments.limit)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".part").write_text(json.dumps(cell, indent=1))
            path.with_suffix(".part").replace(path)
            print(f"{table} {number} {method}: {cell.get('error', cell.get('failed'))}, {cell['cpu_seconds']:.1f} s of CPU",
                  file=sys.stderr, flush=True)
            left -= 1


# ---- summary ----

def load(folders):
    """table → method → split → cell"""
    cells = {}
    for folder in folders:
        for path in sorted(folder.glob("*/*.json")):
            number, method = path.stem.split("-", 1)
            cells.setdefault(path.parent.name, {}).setdefault(method, {})[int(number)] = json.loads(path.read_text())
    return cells


def corrected_t(a, b, share):
    """p of Nadeau and Bengio's corrected resampled t-test; 1 for one split."""
    difference = np.asarray(a) - np.asarray(b)
    spread = difference.std(ddof=1) if len(difference) > 1 else 0
    if spread == 0:
        return 1.0 if len(difference) < 2 or difference.mean() == 0 else 0.0
    t = difference.mean() / (spread * np.sqrt(1 / len(difference) + share))
    return 2 * stats.t.sf(abs(t), len(difference) - 1)


def common(table):
    """Splits that every method of the table has finished, and the errors there; a method that failed in all of them is left out."""
    done = {method: {n: cell for n, cell in cells.items() if "error" in cell} for method, cells in table.items()}
    done = {method: cells for method, cells in done.items() if cells}
    shared = sorted(set.intersection(*(set(cells) for cells in done.values()))) if done else []
    return shared, {method: [cells[n]["error"] for n in shared] for method, cells in done.items()}


def show_errors(task, cells, methods):
    unit = "root mean squared error, target of standard deviation 1" if task == "regress" else "error, %"
    print(f"\n{unit}:\n\n| table | rows | columns | splits | " + " | ".join(methods) + " |\n|" + "---|" * (len(methods) + 4))
    ranks, factor = [], 1 if task == "regress" else 100
    for name, table in cells.items():
        shared, errors = common(table)
        if not shared:
            continue
        means = np.array([np.mean(errors.get(method, [np.inf])) for method in methods])
        if set(methods) <= set(table):
            ranks.append(stats.rankdata(means))
        one = next(iter(table["rfm"].values()))
        texts = [f"**{factor * mean:.3g}**" if mean == means.min() else "" if method not in table else
                 "failed" if np.isinf(mean) else f"{factor * mean:.3g}" for method, mean in zip(methods, means)]
        print(f"| {name} | {one['train_rows']} | {one['columns']} | {len(shared)} | " + " | ".join(texts) + " |")
    if ranks:
        print(f"| mean rank, {len(ranks)} tables with all methods | | | | " + " | ".join(f"{rank:.2f}" for rank in np.mean(ranks, 0)) + " |")


def show_tests(cells, methods):
    print("\n| rfm against | lower mean | higher mean | significantly lower | significantly higher |\n|---|---|---|---|---|")
    for method in methods[1:]:
        counts = np.zeros(4, int)
        for table in cells.values():
            shared, errors = common(table)
            if not shared or method not in errors or "rfm" not in errors:
                continue
            one = next(iter(table["rfm"].values()))
            below = np.mean(errors["rfm"]) - np.mean(errors[method])
            p = corrected_t(errors["rfm"], errors[method], one["test_rows"] / one["train_rows"])
            counts += [below < 0, below > 0, below < 0 and p < 0.05, below > 0 and p < 0.05]
        print(f"| {method} | " + " | ".join(map(str, counts)) + " |")


def show_times(cells, methods):
    print("\n| seconds per cell | " + " | ".join(methods) + " |\n|" + "---|" * (len(methods) + 1))
    for kind in ("wall", "cpu"):
        means = []
        for method in methods:
            values = [cell[f"{kind}_seconds"] for table in cells.values() for cell in table.get(method, {}).values()]
            means.append(f"{np.mean(values):.1f}" if values else "")
        print(f"| mean, {kind} | " + " | ".join(means) + " |")


def summary(arguments):
    every = load(arguments.out)
    if not every:
        sys.exit("no cells yet")
    for task in ("regress", "classify"):
        cells = {name: table for name, table in every.items()
                 if "rfm" in table and next(iter(table["rfm"].values()))["task"] == task}
        methods = [method for method in METHODS if task == "classify" or method != "kfd"]
        if cells:
            show_errors(task, cells, methods)
            show_tests(cells, methods)
            show_times(cells, methods)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("run")
    part.add_argument("kfe")
    part.add_argument("data", type=pathlib.Path)
    part.add_argument("out", type=pathlib.Path)
    part.add_argument("--tables", default=",".join(REGRESSION + CLASSES))
    part.add_argument("--methods", default=",".join(METHODS))
    part.add_argument("--splits", default="0-9")
    part.add_argument("--rows", type=int, default=1500)
    part.add_argument("--limit", type=float, default=900, help="seconds after which one search of kfe is given up")
    part.add_argument("--seconds", type=float, default=np.inf, help="seconds after which no cell begins")
    part.set_defaults(call=run)
    part = parts.add_parser("summary")
    part.add_argument("out", type=pathlib.Path, nargs="+")
    part.set_defaults(call=summary)
    arguments = parser.parse_args()
    arguments.call(arguments)


if __name__ == "__main__":
    main()
