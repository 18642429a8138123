#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which default rule is best? Test errors of alternative rules on the development sets of docs/defaults-measured.md.

    bench/rules.py RULE [--data FOLDER] [--rows 200] [--repeats 3] [--methods kfd,koc]
    bench/rules.py --list

A rule is a question with a few answers, each a list of flags; RULES below has all of them. Every answer is one `kfe cv` on the same random
splits: half of the rows of a set, but at most --rows, train. The sets are those that scikit-learn ships and those that kfe generates; --data
adds those of SETS, a folder per set. None of them is in the table of bench/defaults.py.

Prints the error in % of every answer on every set, and then, for each answer, its distance from the best answer on the same set: mean,
largest, and for each set with --verbose.
"""
import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from defaults import default_gamma, read_lines
from scaling import GENERATED, SHIPPED, generated

# Development sets of the data folder: name: file.
SETS = {
    "breast_cancer": "breast_cancer/breast_cancer.csv",
    "flare_solar": "flare_solar/flare_solar.csv",
    "titanic": "titanic/titanic.csv",
    "splice": "ida_splice/ida_splice.csv",
    "sleep": "sleep/sleep.csv",
    "tr11": "tr11/tr11.svm",
    "prostate": "prostate_tumor/prostate_tumor.csv",
}
MOST_TEST_ROWS = 400


def widths():
    """Answers about the width of the Gaussian kernel; @X is X times gamma=scale."""
    return {"scale": ["-k", "rbf:gamma=scale"], "median": ["-k", "rbf:gamma=median"],
            **{f"{x:g} scale": ["-k", f"rbf:gamma=@{x}"] for x in (1 / 4, 1 / 2, 2, 4)}}


def values(flag, *given):
    """One answer for each value of a flag."""
    return {f"{flag} {x}": [f"--{flag}", str(x)] for x in given}


# name: (methods, {answer: flags})
RULES = {
    "width": (["koc", "hsic", "kfd", "kda-qr", "kpls", "svm-joint", "sma", "kpca"], widths()),
    "ridge": (["uhsic"], values("xi", "auto", "thousandth", 0.001, 0.01, 0.1, 1, 10)),
    "sample": (["uhsic", "hsic", "svm-joint", "usvm-joint"], {"auto": ["--learner", "knn"]}),
    "hsic": (["hsic"], values("lambda", "auto", "thousandth", 0.001, 0.03, 1, 30)),
    "joint-xi": (["usvm-joint", "svm-mkl"], {"auto": [], **{f"xi {x}, C {c}": ["--xi", str(x), "--svm-C", str(c)]
                                                            for x in ("auto", 0.01, 1) for c in (1, 10, 100)}}),
    "joint-C": (["svm-joint"], {"auto": [], **values("svm-C", 1, 10, 100, 1000)}),
    "mkl-C": (["mkl", "slmc"], {"auto": [], **values("svm-C", 1, 3, 10, 30, 100)}),
    "kda-qr": (["kda-qr", "akda-qr"], {"auto": [], "total": ["--scatter", "total"], "whiten": ["--whiten"],
                                       **values("ridge", 0.1, 0.3, 1, 3, 10)}),
    "kb": (["kb"], {"auto": [], **values("dim", 1, 2, 5, 10, 30), "former": ["--ridge", "mean", "--dim", "10"],
                    **{f"ridge mean, dim {d}": ["--ridge", "mean", "--dim", str(d)] for d in (1, 3, 30)},
                    "former, centre": ["--ridge", "mean", "--dim", "10", "--center"]}),
    "skpls": (["skpls", "skblf"], {"auto": [], **values("nu", 0.25, 0.5, 1), "nu 0.25, dim 20": ["--nu", "0.25", "--dim", "20"],
                                   "nu 0.5, dim 20": ["--nu", "0.5", "--dim", "20"], "nu 0.25, centre": ["--nu", "0.25", "--center"],
                                   "nu 0.5, centre": ["--nu", "0.5", "--center"]}),
    "sma": (["sma"], {"auto": [], **values("dim", 5, 10, 20, 40, 80), "centre": ["--center"]}),
    "blf": (["blf"], {"auto": [], **values("dim", 2, 5, 10, 20, 40), **values("loss", "ls", "lad")}),
    "svm": (["kfd", "kopls", "hsic", "koc", "kpls", "kpca", "none"], {answer: ["--learner", "svm", *flags] for answer, flags in
                                                                    {"auto": [], **values("C", 1, 10, 100)}.items()}),
    "neighbors": (["none"], values("neighbors", "auto", 1, 5, 9, 15, 25)),
    "dim": (["pls", "kpls", "cr", "skpls", "spls", "blf", "kblf", "skblf"], {"auto": [], **values("dim", 3, 5, 10, 20)}),
    "lfda": (["lfda", "klfda"], {"auto": [], **values("ridge", "mean", "thousandth", 0.1, 1), **values("neighbours", 3, 15),
                                 **values("dim", 2, 4, 10)}),
    "opls": (["opls", "kopls2"], {"auto": [], **values("orthogonal", 0, 2, 4, 8)}),
    "spls": (["spls"], {"auto": [], **values("dim", 2, 4, 20), **values("keep", 10, "all")}),
    "gkdr": (["gkdr"], {"auto": [], **values("dim", 2, 4, 6, 8, 10), **values("iterations", 5)}),
    "rfm": (["rfm"], {"auto": [], **values("iterations", 1, 10), **values("held-out", 0), **values("power", 0.5)}),
    "local-dim": (["sldr"], {"auto": [], **values("local-dim", 1, 2, 4, 9)}),
}


def prepare(options, folder):
    """Writes the sets; yields name, path, rows."""
    for name, load in SHIPPED.items():
        shipped = load()
        yield name, write(folder / f"{name}.csv", [",".join(map(str, row)) + f",class {c}"
                                                   for row, c in zip(shipped.data, shipped.target)], options)
    for name in GENERATED:
        points, classes = generated(options.kfe, name, options.rows + MOST_TEST_ROWS)
        yield name, write(folder / f"{name}.csv", [",".join(map(str, row)) + f",class {c}"
                                                   for row, c in zip(points, classes)], options)
    for name, file in SETS.items() if options.data else ():
        lines = read_lines(pathlib.Path(options.data) / file)
        if not file.endswith(".svm"):
            lines = [",class ".join(line.rsplit(",", 1)) for line in lines]
        yield name, write(folder / pathlib.Path(file).name, lines, options)


def write(path, lines, options):
    random.Random(4).shuffle(lines)
    lines = lines[:options.rows + MOST_TEST_ROWS]
    sparse = path.suffix == ".svm"
    label = [line.split(None, 1)[0] if sparse else line.rsplit(",", 1)[1] for line in lines]
    kept = [line for line, own in zip(lines, label) if label.count(own) >= 4]
    path.write_text("\n".join(kept) + "\n")
    return path, len(kept)


def error(options, method, flags, path, rows, gamma):
    """The error in %; NaN if the method cannot take the data."""
    predicts = method["predicts"] or "--learner" in flags
    flags = [f"rbf:gamma={float(flag.split('@')[1]) * gamma:.5g}" if "@" in flag else flag for flag in flags]
    done = subprocess.run([options.kfe, "cv", "-q", "--json", "--threads", "1", "-m", method["name"],
                           *([] if predicts else ["--learner", "knn"]), *flags, "--split", "random", "--train-size",
                           str(min(options.rows, rows // 2)), "--repeats", str(options.repeats), "--inner-folds", "3",
                           "--metrics", "error", str(path)], capture_output=True, text=True, check=False)
    try:
        return 100 * json.loads(done.stdout)["metrics"]["error"]["mean"]
    except (ValueError, KeyError, TypeError):
        return float("nan")


def ask(options, method, answers, sets):
    """Errors of all answers on all sets: {set: {answer: error}}."""
    found = {}
    for name, path, rows, gamma in sets:
        found[name] = {answer: error(options, method, flags, path, rows, gamma) for answer, flags in answers.items()}
        if options.verbose:
            print(f"{method['name']:12} {name:14} " + "  ".join(f"{e:5.1f}" for e in found[name].values()), flush=True)
    return {name: errors for name, errors in found.items() if all(e == e for e in errors.values())}


def summary(method, answers, found):
    """One line per answer: mean error, and distance from the best answer on each set."""
    lines = []
    for answer in answers:
        beyond = [errors[answer] - min(errors.values()) for errors in found.values()]
        lines.append(f"| {method} | {answer} | {statistics.mean(e[answer] for e in found.values()):.1f} | "
                     f"{statistics.mean(beyond):.2f} | {statistics.median(beyond):.2f} | {max(beyond):.1f} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rule", nargs="?", help=f"one of {', '.join(RULES)}")
    parser.add_argument("--list", action="store_true", help="list the rules and their answers")
    parser.add_argument("--data", help="folder of the sets (default: only those that need none)")
    parser.add_argument("--kfe", default="build/cli/kfe", help="the program (default build/cli/kfe)")
    parser.add_argument("--methods", help="names, separated by commas (default: those of the rule)")
    parser.add_argument("--sets", help="names, separated by commas (default all)")
    parser.add_argument("--rows", type=int, default=200, help="training rows at most (default 200)")
    parser.add_argument("--repeats", type=int, default=3, help="random splits (default 3)")
    parser.add_argument("--verbose", action="store_true", help="print the errors of every set")
    options = parser.parse_args()
    if options.list:
        for name, (methods, answers) in RULES.items():
            print(f"{name}: {', '.join(methods)}: {', '.join(answers)}")
        return 0
    if options.rule not in RULES:
        parser.error(f"the rule is one of {', '.join(RULES)}")
    methods, answers = RULES[options.rule]
    known = {m["name"]: {"name": m["name"], "predicts": "predicts" in m["flags"]} for m in json.loads(
        subprocess.run([options.kfe, "methods", "--json"], capture_output=True, text=True, check=True).stdout)}
    with tempfile.TemporaryDirectory() as folder:
        sets = [(name, path, rows, default_gamma(options.kfe, path))
                for name, (path, rows) in prepare(options, pathlib.Path(folder))
                if not options.sets or name in options.sets.split(",")]
        print("| method | answer | error | beyond the best: mean | median | largest |\n|---|---|---|---|---|---|")
        for method in options.methods.split(",") if options.methods else methods:
            print("\n".join(summary(method, answers, ask(options, known[method], answers, sets))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
