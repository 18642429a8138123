# SPDX-License-Identifier: Apache-2.0
"""--memory is respected: every command stays below the limit plus a fixed allowance, or refuses before it starts."""
import gzip
import io
import lzma
import os
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from conftest import KFE, SANITIZED, takes_long

pytestmark = pytest.mark.skipif(SANITIZED, reason="sanitizers need memory of their own")

MB = 1 << 20
ALLOWANCE = 50 * MB

# The peak of a process includes its memory before exec, so a small process starts kfe.
LAUNCHER = """
import os, sys
pid = os.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
print("peak", usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run(folder, *arguments):
    """Returns exit status, standard error and peak memory in bytes."""
    done = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, KFE, *map(str, arguments)], cwd=folder, timeout=300,
                          capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "2"})
    return done.returncode, done.stderr, int(done.stdout.rsplit("peak ", 1)[1]) * 1024


def check(folder, megabytes, *arguments):
    """Runs with this limit; returns True if the command succeeded, False if it refused."""
    status, err, peak = run(folder, *arguments, "--memory", f"{megabytes}M")
    assert status in (0, 2), err
    if status == 2:
        assert "memory" in err and "limit" in err, err
    assert peak <= megabytes * MB + ALLOWANCE, f"{peak / MB:.0f} MB: {arguments} {err}"
    return status == 0


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """2,000 examples, whose kernel matrix takes 32 MB, and 4,000, of which even half a matrix exceeds the allowance."""
    folder = tmp_path_factory.mktemp("memory")
    subprocess.run([KFE, "generate", "twonorm", "--n", "2000", "-o", "train.csv"], cwd=folder, check=True)
    subprocess.run([KFE, "generate", "twonorm", "--n", "4000", "-o", "large.csv"], cwd=folder, check=True)
    return folder


KERNELS = {"hsic-mkl": 2, "mkl": 2, "svm-mkl": 2, "lmkl": 2}
METHODS = ["koc", "kfd", "kpca", "kpls", "skblf", "sma", "hsic", "kopls", "kb", "hsic-mkl", "mkl", "svm-joint", "klfda", "kopls2", "opls", "spls",
           *(pytest.param(method, marks=takes_long) for method in ("rfm", "gkdr"))]
LINEAR = {"opls", "spls"}
# These take long if they may not store the kernel matrix.
FEWER_ROWS = {"hsic": (12, 28, 60), "hsic-mkl": (12, 28, 60), "mkl": (12, 28, 60), "svm-joint": (28, 60, 160), "rfm": (12, 28, 60)}


@pytest.mark.parametrize("method", METHODS)
def test_methods(data, method):
    kernels = [] if method in LINEAR else ["-k", "rbf"] + ["-k", "linear"] * (KERNELS.get(method, 1) - 1)
    train = "train.csv" if method in FEWER_ROWS else "large.csv"
    for limit in FEWER_ROWS.get(method, (16, 45, 110)):
        check(data, limit, "fit", "-q", "-m", method, *kernels, train, "-o", "m.kfe")


def test_a_small_limit_is_no_excuse(data):
    """Methods that work tile by tile succeed with less memory than the matrix takes."""
    for method in ("koc", "kpca", "kpls"):
        assert check(data, 15, "fit", "-q", "-m", method, "-k", "rbf", "train.csv", "-o", "m.kfe")


@takes_long
def test_a_table_of_nearly_half_the_limit(tmp_path):
    """The table, its centred copy and the model share 150 MB: no third copy is made for sums over classes, nor to check the model."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "wide.npy", rng.normal(size=(10000, 784)))  # 63 MB
    np.save(tmp_path / "classes.npy", rng.integers(0, 2, 10000))
    fit = ("fit", "-q", "-k", "rbf:gamma=0.001", "wide.npy", "--label-file", "classes.npy", "-o", "m.kfe")
    assert check(tmp_path, 150, *fit, "-m", "koc")
    assert check(tmp_path, 150, *fit, "-m", "kpca", "--dim", "1", "--tolerance", "0.5")


def test_the_support_takes_the_memory_of_the_scaled_table(tmp_path):
    """A fit does not fail after its work for the support examples: here they are the whole table, 24 MB."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "wide.npy", rng.normal(size=(3000, 1000)))
    np.save(tmp_path / "classes.npy", rng.integers(0, 2, 3000))
    assert check(tmp_path, 70, "fit", "-q", "-m", "kpls", "--dim", "1", "-k", "rbf:gamma=0.001", "--scale", "standard",
                 "wide.npy", "--label-file", "classes.npy", "-o", "m.kfe")


@takes_long
def test_commands_that_use_a_model(data):
    assert check(data, 60, "fit", "-q", "-m", "koc", "-k", "rbf", "--learner", "knn", "large.csv", "-o", "used.kfe")
    for limit in (16, 45, 110):
        assert check(data, limit, "predict", "used.kfe", "large.csv", "-o", "labels.csv")
        assert check(data, limit, "transform", "used.kfe", "large.csv", "-o", "features.npy")
        assert check(data, limit, "evaluate", "-q", "used.kfe", "large.csv")
        check(data, limit, "measure", "-q", "-k", "rbf", "large.csv")
        check(data, limit, "compare", "-q", "-m", "koc", "-m", "kpca", "-k", "rbf", "--learner", "centroid", "--folds", "2",
              "train.csv")


def test_svm_and_search(data):
    check(data, 40, "fit", "-q", "-m", "kpca", "-k", "rbf", "--learner", "svm", "train.csv", "-o", "m.kfe")
    check(data, 60, "cv", "-q", "-m", "koc", "-k", "rbf", "--learner", "knn", "--folds", "2", "--threads", "2",
          "train.csv")


@pytest.fixture(scope="module")
def bombs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bombs")
    np.savez_compressed(folder / "array.npz", X=np.zeros((25000, 4000), dtype=np.uint8))  # 800 MB as doubles
    small = io.BytesIO()
    np.save(small, np.zeros((100, 3)))
    with zipfile.ZipFile(folder / "trailing.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("X.npy", "w") as member:
            member.write(small.getvalue())
            for _ in range(20):
                member.write(bytes(10 * MB))
    with gzip.open(folder / "array.npy.gz", "wb", 1) as file:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": "<f8", "fortran_order": False, "shape": (1000, 60000)})
        file.write(header.getvalue())
        for _ in range(20):
            file.write(bytes(10 * MB))
    with gzip.open(folder / "line.csv.gz", "wb", 1) as file:
        for _ in range(20):
            file.write(b"1," * (5 * MB))
    with gzip.open(folder / "rows.csv.gz", "wb", 1) as file:
        for _ in range(20):
            file.write(b"1,2,a\n" * 1000000)
    with gzip.open(folder / "splits.gz", "wb", 1) as file:
        for _ in range(20):
            file.write(b"train " + b"1 2 3 " * 1700000 + b"\n")
    with lzma.open(folder / "line.csv.xz", "wb", preset=0) as file:
        for _ in range(20):
            file.write(b"1," * (5 * MB))
    if shutil.which("zstd"):
        with open(folder / "rows.csv.zst", "wb") as file:
            pack = subprocess.Popen(["zstd", "-q", "-1", "-c"], stdin=subprocess.PIPE, stdout=file)
            for _ in range(20):
                pack.stdin.write(b"1,2,a\n" * 1000000)
            pack.communicate()
    (folder / "wide.svm").write_text("1 2147483647:1\n0 1:2\n")
    (folder / "wide.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 1000000000 2\n1 1 1\n2 9 2\n")
    (folder / "dense.mtx").write_text("%%MatrixMarket matrix array real general\n30000 30000\n1\n")
    rng = np.random.default_rng(0)
    with open(folder / "classes.csv", "w") as file:
        file.write("x,y,c\n")
        for i in range(8000):
            file.write(f"{rng.normal():g},{rng.normal():g},c{i % 4000}\n")
    return folder


@pytest.mark.parametrize("name", ["array.npz", "trailing.npz", "array.npy.gz", "line.csv.gz", "rows.csv.gz",
                                  "line.csv.xz", "rows.csv.zst", "wide.svm", "wide.mtx"])
def test_files_that_grow(bombs, name):
    if not (bombs / name).exists():
        pytest.skip("the command zstd is not installed")
    assert not check(bombs, 60, "convert", name, "out.csv")
    assert not (bombs / "out.csv").exists()


def test_files_that_claim_to_be_large(bombs):
    """A header is no reason to allocate: the file is too short for it."""
    status, err, peak = run(bombs, "convert", "--label", "none", "dense.mtx", "out.csv", "--memory", "60M")
    assert status == 2 and "truncated" in err and peak < 60 * MB


def test_splits_that_grow(bombs, data):
    assert not check(bombs, 60, "cv", "-q", "-m", "koc", "--learner", "knn", "--split", "file", "--split-file",
                     "splits.gz", data / "train.csv")


def test_wide_data_stays_sparse(bombs):
    for name in ("out.svm", "out.npz"):
        assert check(bombs, 60, "convert", "wide.svm", name)
        assert (bombs / name).stat().st_size < 10000


@pytest.mark.parametrize("method", ["koc", "kfd", "pls", "kpls", "sma", "hsic"])
def test_rows_times_classes(bombs, method):
    assert not check(bombs, 60, "fit", "-q", "-m", method, "--task", "classify", "classes.csv", "-o", "m.kfe")


def test_compressed_arrays_are_unpacked_on_the_way(tmp_path):
    """The table of 40 MB fits in the limit, but not beside an unpacked copy of itself."""
    x = (np.arange(5000 * 1000) % 7).astype(float).reshape(5000, 1000)
    np.savez_compressed(tmp_path / "x.npz", X=x)
    assert check(tmp_path, 60, "convert", "-q", "--label", "none", "x.npz", "out.npy")
    assert np.array_equal(np.load(tmp_path / "out.npy"), x)


def test_a_matrix_that_does_not_fit_is_announced(tmp_path):
    """The warning says what limit keeps the matrix, and with that limit it is gone."""
    subprocess.run([KFE, "generate", "twonorm", "--n", "5000", "-o", "train.npy"], cwd=tmp_path, check=True)
    fit = ("fit", "-q", "-m", "kpca", "--dim", "1", "-k", "rbf:gamma=0.001", "--label", "none", "train.npy", "-o", "m.kfe")
    status, err, _ = run(tmp_path, *fit, "--memory", "20M")
    assert status == 0 and "does not fit in the memory limit and is computed anew" in err, err
    enough = err.split("a --memory of ")[1].split(" keeps it")[0].replace(" ", "")
    status, err, _ = run(tmp_path, *fit, "--memory", enough)
    assert status == 0 and "computed anew" not in err, err
