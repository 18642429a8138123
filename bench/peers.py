# SPDX-License-Identifier: Apache-2.0
"""Compares kfe with scikit-learn and R's kernlab on the same data, in one run, with each case in its own process.

usage: peers.py LIBKFE.SO [--quick]

Prints one row of a Markdown table per comparison: medians of seconds, peak memory, residuals, the ratio and the
target. For a case the script calls itself with --case NAME, which prints the measurements as JSON.
"""
import ctypes
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

REPEATS = 3


# ---- data ----

def mixture(rows, cols, seed=1):
    """Twenty Gaussian clusters that overlap."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(20, cols))
    return centres[generator.integers(0, 20, rows)] + generator.normal(size=(rows, cols))


def documents(rows=20000, terms=100000, density=0.001, topics=100, seed=1):
    """A sparse matrix of term counts: every document mixes three topics, and terms have Zipf's frequencies."""
    import scipy.sparse
    generator = np.random.default_rng(seed)
    length = int(density * terms)
    popularity = 1 / np.arange(1, terms + 1)
    cumulative = np.cumsum(popularity / popularity.sum())
    orders = [generator.permutation(terms) for _ in range(topics)]
    columns = np.empty((rows, length), np.int64)
    for i in range(rows):
        mine = generator.integers(0, topics, 3)
        ranks = np.searchsorted(cumulative, generator.random(length))
        which = generator.integers(0, 3, length)
        for t in range(3):
            columns[i, which == t] = orders[mine[t]][np.minimum(ranks[which == t], terms - 1)]
    indptr = np.arange(0, rows * length + 1, length)
    matrix = scipy.sparse.csr_matrix((np.ones(rows * length), columns.ravel(), indptr), (rows, terms))
    matrix.sum_duplicates()
    matrix.data = np.log1p(matrix.data)
    return matrix


def gamma_of(cols):
    return 1 / (4 * cols)


# ---- kfe through its C interface ----

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python" / "kfe"))
from _abi import Matrix  # noqa: E402  (the structures of kfe.h)


class Kfe:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.kfe_error_message.restype = ctypes.c_char_p
        self.library.kfe_error_message.argtypes = [ctypes.c_void_p]
        self.library.kfe_model_record.restype = ctypes.POINTER(ctypes.c_double)
        self.context = ctypes.c_void_p()
        self.library.kfe_context_new(ctypes.byref(self.context))
        self.kept = []

    def call(self, name, *arguments):
        if getattr(self.library, name)(self.context, *arguments) != 0:
            sys.exit(self.library.kfe_error_message(self.context).decode())

    def dense(self, x):
        data = ctypes.c_void_p()
        self.kept.append(x)
        self.call("kfe_data_wrap_dense", ctypes.c_int64(x.shape[0]), ctypes.c_int64(x.shape[1]),
                  ctypes.c_int64(x.shape[1]), x.ctypes.data_as(ctypes.c_void_p), ctypes.byref(data))
        return data

    def sparse(self, x):
        data = ctypes.c_void_p()
        arrays = [x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data.astype(float)]
        self.kept.extend(arrays)
        self.call("kfe_data_wrap_csr", ctypes.c_int64(x.shape[0]), ctypes.c_int64(x.shape[1]),
                  *[array.ctypes.data_as(ctypes.c_void_p) for array in arrays], ctypes.byref(data))
        return data

    def fit(self, method, params, kernel, data):
        spec, model = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("kfe_spec_parse", method.encode(), params.encode(), kernel and kernel.encode(), ctypes.byref(spec))
        self.call("kfe_fit", spec, data, ctypes.byref(model))
        return model

    def transform(self, model, data):
        z = Matrix()
        self.call("kfe_transform", model, data, ctypes.byref(z))
        return np.ctypeslib.as_array(ctypes.cast(z.values, ctypes.POINTER(ctypes.c_double)), (z.rows * z.cols,)).reshape(z.rows, z.cols)


# ---- cases ----

def seconds_of(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def gram_kfe(library):
    kfe = Kfe(library)
    data, out = kfe.dense(mixture(10000, 256)), Matrix()
    kernel = f"rbf:gamma={gamma_of(256)}".encode()
    return {"seconds": seconds_of(lambda: kfe.call("kfe_kernel_matrix", kernel, data, None, ctypes.byref(out)))[0]}


def gram_sklearn(_):
    from sklearn.metrics.pairwise import rbf_kernel
    x = mixture(10000, 256)
    return {"seconds": seconds_of(lambda: rbf_kernel(x, gamma=gamma_of(256)))[0]}


def residual_of(features, x, gamma):
    """The largest |Gv - lambda v| / |G| over the unit vectors v along the training features VL^(1/2), in chunks of rows."""
    values = (features ** 2).sum(0)
    vectors = features / np.sqrt(values)
    vectors = vectors - vectors.mean(0)
    norms = (x ** 2).sum(1)
    product = np.empty_like(vectors)
    for i in range(0, len(x), 1000):
        kernel = norms[i:i + 1000, None] + norms - 2 * x[i:i + 1000] @ x.T
        product[i:i + 1000] = np.exp(-gamma * np.maximum(kernel, 0)) @ vectors
    product -= product.mean(0)
    return float(np.linalg.norm(product - vectors * values, axis=0).max() / values.max())


def kpca_kfe(library, rows):
    kfe = Kfe(library)
    x = mixture(rows, 256)
    data = kfe.dense(x)
    seconds, model = seconds_of(lambda: kfe.fit("kpca", "dim=10", f"rbf:gamma={gamma_of(256)}", data))
    used = peak()
    return {"seconds": seconds, "peak": used, "residual": residual_of(kfe.transform(model, data), x, gamma_of(256))}


def kpca_sklearn(_, rows, solver):
    from sklearn.decomposition import KernelPCA
    x = mixture(rows, 256)
    estimator = KernelPCA(10, kernel="rbf", gamma=gamma_of(256), eigen_solver=solver, n_jobs=-1, random_state=1,
                          copy_X=False)
    seconds, _ = seconds_of(lambda: estimator.fit(x))
    used = peak()
    features = estimator.eigenvectors_ * np.sqrt(estimator.eigenvalues_)
    return {"seconds": seconds, "peak": used, "residual": residual_of(features, x, gamma_of(256))}


def kpca_kernlab(_, rows):
    script = """x <- as.matrix(read.csv(commandArgs(TRUE)[1], header = FALSE))
    library(kernlab)
    cat(system.time(kpca(x, kernel = "rbfdot", kpar = list(sigma = %r), features = 10))[["elapsed"]])"""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        np.savetxt(file, mixture(rows, 256), delimiter=",")
        file.flush()
        printed = subprocess.run(["Rscript", "-e", script % gamma_of(256), file.name], check=True, capture_output=True,
                                 text=True).stdout
    return {"seconds": float(printed.split()[-1])}


def singular_residual(x, w):
    """The largest |X'Xw - s^2 w| / s_1^2 over the unit directions w."""
    w, _ = np.linalg.qr(w)
    projected = x @ w
    values, rotation = np.linalg.eigh(projected.T @ projected)
    w, projected = w @ rotation, projected @ rotation
    return float(np.linalg.norm(x.T @ projected - w * values, axis=0).max() / values.max())


def svd_sklearn(_):
    from sklearn.decomposition import TruncatedSVD
    x = documents()
    estimator = TruncatedSVD(50, algorithm="randomized", random_state=1)
    seconds, _ = seconds_of(lambda: estimator.fit(x))
    return {"seconds": seconds, "peak": peak(), "residual": singular_residual(x, estimator.components_.T)}


def svd_kfe(library, tolerance):
    kfe = Kfe(library)
    x = documents()
    data = kfe.sparse(x)
    seconds, model = seconds_of(lambda: kfe.fit("pca", f"dim=50,center=no,tolerance={tolerance}", None, data))
    used = peak()
    projected = kfe.transform(model, data)
    w = x.T @ projected
    return {"seconds": seconds, "peak": used, "residual": singular_residual(x, w / np.linalg.norm(w, axis=0))}


def large_kpca(library):
    kfe = Kfe(library)
    kfe.call("kfe_context_set_memory", ctypes.c_int64(7_000_000_000))
    x = mixture(60000, 50)
    data = kfe.dense(x)
    seconds, _ = seconds_of(lambda: kfe.fit("kpca", "dim=10", f"rbf:gamma={gamma_of(50)}", data))
    return {"seconds": seconds, "peak": peak()}


def targets_of(x, count, seed=2):
    generator = np.random.default_rng(seed)
    return x @ generator.normal(size=(x.shape[1], count)) + generator.normal(size=(len(x), count))


def pls_kfe(library):
    kfe = Kfe(library)
    x = mixture(100000, 500)
    y = np.ascontiguousarray(targets_of(x, 10))
    data = kfe.dense(x)
    kfe.call("kfe_data_set_targets", data, ctypes.c_int64(10), y.ctypes.data_as(ctypes.c_void_p))
    seconds, _ = seconds_of(lambda: kfe.fit("pls", "dim=30", None, data))
    return {"seconds": seconds, "peak": peak()}


def pls_sklearn(_):
    from sklearn.cross_decomposition import PLSRegression
    x = mixture(100000, 500)
    y = targets_of(x, 10)
    estimator = PLSRegression(30, scale=False, copy=False)
    seconds, _ = seconds_of(lambda: estimator.fit(x, y))
    return {"seconds": seconds, "peak": peak()}


def kpls_kfe(library):
    kfe = Kfe(library)
    x = mixture(10000, 256)
    y = np.ascontiguousarray(targets_of(x, 10))
    data = kfe.dense(x)
    kfe.call("kfe_data_set_targets", data, ctypes.c_int64(10), y.ctypes.data_as(ctypes.c_void_p))
    seconds, _ = seconds_of(lambda: kfe.fit("kpls", "dim=20", f"rbf:gamma={gamma_of(256)}", data))
    return {"seconds": seconds}


def kpls_floor(library):
    """Computes the kernel matrix once and multiplies it twenty times by a block of ten vectors."""
    kfe = Kfe(library)
    data, out = kfe.dense(mixture(10000, 256)), Matrix()
    kernel = f"rbf:gamma={gamma_of(256)}".encode()
    gram, _ = seconds_of(lambda: kfe.call("kfe_kernel_matrix", kernel, data, None, ctypes.byref(out)))
    matrix = np.ctypeslib.as_array(ctypes.cast(out.values, ctypes.POINTER(ctypes.c_double)), (10000 * 10000,)).reshape(10000, 10000)
    block = np.random.default_rng(0).normal(size=(10000, 10))
    matrix @ block
    products, _ = seconds_of(lambda: [matrix @ block for _ in range(20)])
    return {"seconds": gram + products}


def sma_sparse(library):
    kfe = Kfe(library)
    x = documents()
    data = kfe.sparse(x)
    y = np.ascontiguousarray(np.asarray(x[:, :50].sum(axis=1), float).reshape(-1, 1))
    kfe.call("kfe_data_set_targets", data, ctypes.c_int64(1), y.ctypes.data_as(ctypes.c_void_p))
    before = peak()
    seconds, _ = seconds_of(lambda: kfe.fit("sma", "dim=400,columns=500", "linear", data))
    return {"seconds": seconds, "peak": peak(), "before": before}


CASES = {
    "pls-kfe": pls_kfe, "pls-sklearn": pls_sklearn, "kpls-kfe": kpls_kfe, "kpls-floor": kpls_floor,
    "sma-sparse": sma_sparse,
    "gram-kfe": gram_kfe, "gram-sklearn": gram_sklearn, "svd-sklearn": svd_sklearn, "large-kpca": large_kpca,
    "kpca-kfe": kpca_kfe, "kpca-sklearn": kpca_sklearn, "kpca-kernlab": kpca_kernlab, "svd-kfe": svd_kfe,
}


# ---- comparisons ----

def run(library, name, *arguments, repeats=REPEATS):
    found = []
    for _ in range(repeats):
        printed = subprocess.run([sys.executable, __file__, library, "--case", name, *map(str, arguments)], check=True,
                                 capture_output=True, text=True).stdout
        found.append(json.loads(printed))
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def show(measured):
    text = f"{measured['seconds']:.2f} s"
    if "peak" in measured:
        text += f", {measured['peak'] / 1e9:.2f} GB"
    if "residual" in measured:
        text += f", residual {measured['residual']:.0e}"
    return text


def row(what, ours, theirs, target, memory_target=None):
    ratio = theirs["seconds"] / ours["seconds"]
    line = f"| {what} | {show(ours)} | {show(theirs)} | {ratio:.1f}x faster"
    if memory_target:
        line += f", memory {ours['peak'] / theirs['peak']:.2f}"
    print(line + f" | {target} |", flush=True)


def compare_kpca(library, rows, repeats):
    ours = run(library, "kpca-kfe", rows, repeats=repeats)
    peers = {solver: run(library, "kpca-sklearn", rows, solver, repeats=repeats) for solver in ("arpack", "randomized")}
    for solver, theirs in peers.items():
        row(f"kpca --dim 10, rbf, n={rows:,}, d=256, against KernelPCA ({solver})", ours, theirs,
            ">= 3x the fastest of the same residual, memory <= 0.5", memory_target=0.5)


def main():
    library = os.path.abspath(sys.argv[1])
    if "--case" in sys.argv:
        name, *arguments = sys.argv[sys.argv.index("--case") + 1:]
        arguments = [int(a) if a.isdigit() else a for a in arguments]
        print(json.dumps(CASES[name](library, *arguments)))
        return
    print("| what | kfe | peer | ratio | target |\n|---|---|---|---|---|")
    row("Gram matrix, rbf, n=10,000, d=256, against sklearn rbf_kernel", run(library, "gram-kfe"),
        run(library, "gram-sklearn"), ">= 3x")
    compare_kpca(library, 5000, REPEATS)
    if "--quick" not in sys.argv:
        compare_kpca(library, 20000, 1)
    if shutil.which("Rscript"):
        row("kpca --dim 10, rbf, n=3,000, d=256, against R kernlab kpca", run(library, "kpca-kfe", 3000),
            run(library, "kpca-kernlab", 3000, repeats=1), ">= 20x")
    else:
        print("| kpca against R kernlab | | not installed | | >= 20x |")
    theirs = run(library, "svd-sklearn")
    row("pca --dim 50, CSR 20,000 x 100,000, 0.1 % dense, against TruncatedSVD", run(library, "svd-kfe", theirs["residual"]),
        theirs, ">= 1.5x at equal residual")
    row("pls --dim 30, n=100,000, d=500, 10 targets, against PLSRegression", run(library, "pls-kfe"),
        run(library, "pls-sklearn", repeats=1), ">= 20x")
    ours, floor = run(library, "kpls-kfe"), run(library, "kpls-floor")
    print(f"| kpls --dim 20, rbf, n=10,000, 10 targets, against its kernel matrix and 20 products | {show(ours)} | "
          f"{show(floor)} | {ours['seconds'] / floor['seconds']:.2f}x the floor | <= 1.3x |", flush=True)
    sparse = run(library, "sma-sparse", repeats=1)
    print(f"| sma --dim 400 --columns 500, linear, CSR 20,000 x 100,000 | {show(sparse)} | | | < 2 GB |", flush=True)
    if "--quick" not in sys.argv:
        large = run(library, "large-kpca", repeats=1)
        print(f"| kpca --dim 10, n=60,000, d=50, limit 7 GB | {show(large)} | | | <= 8 GB |")


if __name__ == "__main__":
    main()
