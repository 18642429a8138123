#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares uhsic, hsic and skfe with implementations of the papers' formulas in SciPy, in one run.

usage: bench/subspace.py LIBKFE.SO [DATA_FOLDER] [--quick]

Prints a Markdown table: seconds, the ratio, the target. Every case runs in its own process: the script calls itself with
--case NAME, which prints the measurements as JSON. SciPy's times do not include computing the kernel matrix; our times are
those of the whole fit. Without the folder of data sets the comparison on la1 is skipped; --quick skips cases that take
minutes.
"""
import ctypes
import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

from peers import Kfe, peak, seconds_of

CLASSES = 10
WIDTH = 256
GAMMA = 1 / (4 * WIDTH)
PATIENCE = 120  # seconds after which SciPy's search is stopped
SHARE = 1e-3  # lambda and xi relative to the mean diagonal of the centred kernel, as in the library's default


# ---- data ----

def clusters(rows, seed=1):
    """Ten overlapping classes of two Gaussian clusters each, with as many columns as digits have pixels."""
    generator = np.random.default_rng(seed)
    centres = 0.6 * generator.normal(size=(2 * CLASSES, WIDTH))
    which = generator.integers(0, 2 * CLASSES, rows)
    return centres[which] + generator.normal(size=(rows, WIDTH)), which % CLASSES


def half_of_la1(folder):
    """Every second document of each class."""
    import gzip
    from sklearn.datasets import load_svmlight_file
    with gzip.open(folder / "la1" / "la1.svm.gz") as file:
        x, y = load_svmlight_file(file)
    rows = np.sort(np.concatenate([np.flatnonzero(y == label)[::2] for label in np.unique(y)]))
    return x[rows], np.unique(y[rows], return_inverse=True)[1]


def label(kfe, data, y):
    names = (ctypes.c_char_p * len(y))(*[b"%d" % g for g in y])
    kfe.call("kfe_data_set_labels", data, names)


def kernel_matrix(x):
    norms = (x ** 2).sum(1)
    k = norms[:, None] + norms
    k -= 2 * x @ x.T
    k *= -GAMMA
    return np.exp(k, out=k)


def centred(k):
    means = k.mean(0)
    k -= means
    k -= means[:, None] - means.mean()
    return k


# ---- hsic and uhsic ----

def dependence_kfe(library, method, rows, memory=None):
    kfe = Kfe(library)
    if memory:
        kfe.call("kfe_context_set_memory", ctypes.c_int64(memory))
    x, y = clusters(rows)
    data = kfe.dense(x)
    label(kfe, data, y)
    seconds, model = seconds_of(lambda: kfe.fit(method, "", f"rbf:gamma={GAMMA}", data))
    count = ctypes.c_int64()
    values = kfe.library.kfe_model_record(model, b"criterion", ctypes.byref(count))
    return {"seconds": seconds, "peak": peak(), "value": sum(values[i] for i in range(count.value))}


def uhsic_scipy(_, rows):
    """Chen et al., theorem 4.1, literally: GHG v = lambda (GG + xi G) v."""
    import scipy.linalg
    x, y = clusters(rows)
    g = centred(kernel_matrix(x))
    indicator = np.eye(CLASSES)[y]
    factor = indicator / np.sqrt(indicator.sum(0))
    xi = SHARE * np.trace(g) / rows

    def solve():
        left = g @ factor
        right = g @ g + xi * g
        right[np.diag_indices(rows)] += 1e-10 * np.trace(right) / rows
        return scipy.linalg.eigh(left @ left.T, right)[0]
    seconds, values = seconds_of(solve)
    return {"seconds": seconds, "value": float(values[-CLASSES + 1:].sum())}


def cholesky(_, rows):
    """LAPACK's dpotrf in place."""
    import scipy.linalg.lapack
    k = centred(kernel_matrix(clusters(rows)[0]))
    k[np.diag_indices(rows)] += SHARE * np.trace(k) / rows
    seconds, (_, info) = seconds_of(lambda: scipy.linalg.lapack.dpotrf(k.T, lower=1, overwrite_a=1, clean=0))
    assert info == 0
    return {"seconds": seconds}


# ---- skfe ----

def skfe_kfe(library, folder):
    kfe = Kfe(library)
    x, y = half_of_la1(pathlib.Path(folder))
    data = kfe.sparse(x)
    label(kfe, data, y)
    seconds, model = seconds_of(lambda: kfe.fit("skfe", "", "linear", data))
    count = ctypes.c_int64()
    values = kfe.library.kfe_model_record(model, b"alignment", ctypes.byref(count))
    return {"seconds": seconds, "value": values[count.value - 1]}


class Enough(Exception):
    pass


def skfe_scipy(_, folder, goal):
    """SciPy's L-BFGS over W, started at the class indicator (koc's subspace), until it reaches the alignment or PATIENCE
    runs out."""
    import scipy.optimize
    x, y = half_of_la1(pathlib.Path(folder))
    k = (x @ x.T).toarray()
    indicator = np.eye(y.max() + 1)[y]
    label_norm = np.linalg.norm(indicator.T @ indicator)
    shape = indicator.shape
    best = [0]
    began = time.perf_counter()

    def quadratic(kw, inverse, alpha):
        """Eqs. (25) to (27), for all columns alpha at once."""
        beta = inverse @ (kw.T @ alpha)
        return 2 * (k @ alpha - kw @ beta) @ beta.T

    def negative_alignment(w):
        w = w.reshape(shape)
        kw = k @ w
        inverse = np.linalg.inv(w.T @ kw)
        features = kw @ np.linalg.cholesky(inverse)
        with_labels = ((features.T @ indicator) ** 2).sum()
        norm = np.linalg.norm(features.T @ features)
        value = with_labels / (norm * label_norm)
        gradient = quadratic(kw, inverse, indicator) / with_labels - quadratic(kw, inverse, features) / norm ** 2
        best[0] = max(best[0], value)
        if value >= goal or time.perf_counter() > began + PATIENCE:
            raise Enough
        return -value, -(value * gradient).ravel()

    def search():
        start = (indicator / indicator.sum(0)).ravel()
        scale = np.linalg.norm(start)
        try:
            scipy.optimize.minimize(negative_alignment, start / scale, jac=True, method="L-BFGS-B",
                                    options={"maxiter": 20000, "maxfun": 20000, "gtol": 0, "ftol": 0})
        except Enough:
            pass
    return {"seconds": seconds_of(search)[0], "value": best[0]}


CASES = {"dependence-kfe": dependence_kfe, "uhsic-scipy": uhsic_scipy, "cholesky": cholesky, "skfe-kfe": skfe_kfe,
         "skfe-scipy": skfe_scipy}


# ---- comparisons ----

def number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def run(library, name, *arguments, repeats=3):
    found = []
    for _ in range(repeats):
        done = subprocess.run([sys.executable, __file__, library, "--case", name, *map(str, arguments)], check=True,
                              capture_output=True, text=True)
        found.append(json.loads(done.stdout))
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def show(measured):
    text = f"{measured['seconds']:.2f} s"
    if "value" in measured:
        text += f", value {measured['value']:.6g}"
    return text


def compare_faster(what, ours, theirs, target):
    ratio = f"{theirs['seconds'] / ours['seconds']:.1f}x faster"
    if theirs["value"] < 0.999 * ours["value"]:
        ratio = f"more than {ratio}: stopped short of the value"
    print(f"| {what} | {show(ours)} | {show(theirs)} | {ratio} | {target} |", flush=True)


def main():
    library = str(pathlib.Path(sys.argv[1]).resolve())
    if "--case" in sys.argv:
        name, *arguments = sys.argv[sys.argv.index("--case") + 1:]
        print(json.dumps(CASES[name](library, *map(number, arguments))))
        return
    folders = [argument for argument in sys.argv[2:] if argument != "--quick"]
    print("| what | kfe | against | ratio | target |\n|---|---|---|---|---|")
    compare_faster("uhsic, n=1,500, rbf, d=256, 10 classes, against SciPy's eigh(GHG, GG + xi G)",
                   run(library, "dependence-kfe", "uhsic", 1500), run(library, "uhsic-scipy", 1500, repeats=1), ">= 50x")
    if folders:
        ours = run(library, "skfe-kfe", folders[0])
        compare_faster("skfe, half of la1, linear, sparse, against SciPy's L-BFGS to the same alignment", ours,
                       run(library, "skfe-scipy", folders[0], ours["value"], repeats=1), ">= 10x")
    if "--quick" in sys.argv:
        return
    ours, floor = run(library, "dependence-kfe", "hsic", 20000, repeats=1), run(library, "cholesky", 20000, repeats=1)
    print(f"| hsic, n=20,000, rbf, d=256, 10 classes, against Cholesky of its stored matrix | {show(ours)} | {show(floor)} | "
          f"{ours['seconds'] / floor['seconds']:.2f}x the floor | <= 1.2x |", flush=True)
    large = run(library, "dependence-kfe", "hsic", 60000, 7_000_000_000, repeats=1)
    print(f"| hsic, n=60,000, rbf, d=256, limit 7 GB | {show(large)}, {large['peak'] / 1e9:.2f} GB | | | <= 8 GB |")


if __name__ == "__main__":
    main()
