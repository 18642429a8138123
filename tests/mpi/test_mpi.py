# SPDX-License-Identifier: Apache-2.0
"""kfe in several processes: the same files, flags and results as in one, and clear ends of failures."""
import json
import os
import pathlib
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import ENVIRONMENT, PLUGIN

RIDGE = 0.1
GAMMA = 0.05
# method: flags. Those with a ridge take the same one, so that the condition number of the systems is known.
METHODS = {
    "kpca": ["--dim", 4],
    "kpls": ["--dim", 3],
    "kblf": ["--dim", 3],
    "koc": [],
    "kda-qr": [],
    "kfd": ["--ridge", RIDGE],
    "hsic": ["--lambda", RIDGE],
    "uhsic": ["--xi", RIDGE],
    "kopls": ["--ridge", RIDGE],
    "skfe": ["--dim", 3, "--max-iter", 2],  # every iteration amplifies the rounding errors of those before
}


def write_data(kfe, rows, seed=0, name="train.csv", sparse=False):
    """Three classes in eight columns; the third class is in the last rows only, so that some processes have none of it."""
    random = np.random.default_rng(seed)
    classes = np.where(np.arange(rows) >= rows - max(1, rows // 5), 2, np.arange(rows) % 2)
    x = random.normal(size=(rows, 8)) + 1.5 * classes[:, None] * (np.arange(8) % 3 == 0)
    if sparse:
        x *= random.random(x.shape) < 0.5
        lines = [f"{c + 1} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row.tolist()) if v) for c, row in zip(classes, x)]
        name = name.replace(".csv", ".svm")
        kfe.path(name).write_text("\n".join(lines) + "\n")
    else:
        rows_text = [",".join(map(repr, row.tolist())) + f",{'abc'[c]}" for c, row in zip(classes, x)]
        kfe.path(name).write_text(",".join(f"x{j}" for j in range(8)) + ",class\n" + "\n".join(rows_text) + "\n")
    return name, x


def sensitivity(x, dim):
    """How strongly results react to rounding of the kernel matrix: its norm, relative to the ridge and to the gaps between its leading
    eigenvalues (Davis and Kahan)."""
    squares = (x ** 2).sum(1)
    gram = np.exp(-GAMMA * (squares[:, None] + squares - 2 * x @ x.T))
    centred = gram - gram.mean(0) - gram.mean(1)[:, None] + gram.mean()
    block = np.random.default_rng(0).normal(size=(len(x), 4 * dim))
    for _ in range(60):  # subspace iterations: all eigenvalues would take minutes
        block = np.linalg.qr(centred @ block)[0]
    values = np.linalg.eigvalsh(block.T @ centred @ block)[::-1]
    gaps = -np.diff(values[:dim + 2])
    return gram.sum(1).max() / min(RIDGE, gaps.min())  # the largest row sum bounds the norm


def features(kfe, processes, method, data, extra=()):
    model, out = f"{method}-{processes}.kfe", f"{method}-{processes}.csv"
    kfe.run(processes, "fit", "-q", "-m", method, "-k", f"rbf:gamma={GAMMA}", "--scale", "none", *METHODS[method], *extra,
            data, "-o", model)
    kfe.run(0, "transform", "-q", model, data, "-o", out)
    return kfe.numbers(out)


def check(kfe, method, data, x, processes, extra=()):
    alone = features(kfe, 0, method, data, extra)
    together = features(kfe, processes, method, data, extra)
    assert alone.shape == together.shape
    tolerance = 16 * len(x) * np.finfo(float).eps * max(1.0, sensitivity(x, 5)) + 1e-10 * sensitivity(x, 5)
    distance = np.abs(alone - together).max() / np.abs(alone).max()
    assert distance <= tolerance, f"{method} in {processes} processes: {distance:.2g}, allowed {tolerance:.2g}"


@pytest.mark.quick
@pytest.mark.parametrize("method", ["kpca", "kfd"])
def test_three_processes_fit_as_one(kfe, method):
    data, x = write_data(kfe, 333)
    check(kfe, method, data, x, 3)


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_fits_as_one(kfe, method, processes):
    data, x = write_data(kfe, 701)
    check(kfe, method, data, x, processes)


@pytest.mark.parametrize("method", METHODS)
def test_sparse_rows(kfe, method):
    data, x = write_data(kfe, 430, sparse=True)
    check(kfe, method, data, x, 3)


@pytest.mark.parametrize("storage", ["f64", "tiled", "auto"])
@pytest.mark.parametrize("method", ["kpca", "hsic"])
def test_iterations_on_many_rows(kfe, method, storage):
    data, x = write_data(kfe, 3301)
    check(kfe, method, data, x, 3, ["--gram", storage])


def test_fewer_rows_than_processes(kfe):
    data, x = write_data(kfe, 5)
    for method in ("koc", "kfd"):
        check(kfe, method, data, x, 7)


def test_the_same_bits_every_time(kfe):
    data, _ = write_data(kfe, 500)
    for name in ("a.kfe", "b.kfe"):
        kfe.run(3, "fit", "-q", "-m", "kpca", "-k", "rbf", data, "-o", name)
    assert kfe.path("a.kfe").read_bytes() == kfe.path("b.kfe").read_bytes()


# ---- searches, features and predictions ----


def without_seconds(node):
    """JSON without times, and with numbers rounded: cells are fitted by one process each, but threads and blocks may round otherwise."""
    if isinstance(node, dict):
        return {key: without_seconds(value) for key, value in node.items() if "seconds" not in key}
    if isinstance(node, list):
        return [without_seconds(value) for value in node]
    return round(node, 10) if isinstance(node, float) else node


CV = ["cv", "-m", "koc", "-k", "rbf", "--learner", "knn", "--folds", 5, "--json"]


@pytest.mark.quick
def test_searches_have_the_results_of_one_process(kfe):
    data, _ = write_data(kfe, 120)
    grid = ["--grid", "gamma=0.01,0.1,1", "--grid", "neighbors=1,3"]
    alone, together = (json.loads(kfe.run(processes, *CV, *grid, data).stdout) for processes in (0, 3))
    assert without_seconds(alone) == without_seconds(together)


@pytest.mark.parametrize("processes", [2, 4, 7])
def test_search_on_any_number_of_processes(kfe, processes):
    data, _ = write_data(kfe, 120)
    for extra in ([], ["--grid", "gamma=0.01,0.1"], ["--grid", "dim=1,2", "--grid", "neighbors=1,3,5"]):
        alone, together = (json.loads(kfe.run(n, *CV, *extra, data).stdout) for n in (0, processes))
        assert without_seconds(alone) == without_seconds(together)


def test_comparison_has_the_results_of_one_process(kfe):
    data, _ = write_data(kfe, 120)
    command = ["compare", "-m", "koc", "-m", "kfd", "-m", "none", "-k", "rbf", "--learner", "knn", "--folds", 4, "--json", data]
    alone, together = (json.loads(kfe.run(processes, *command).stdout) for processes in (0, 3))
    assert without_seconds(alone) == without_seconds(together)


@pytest.mark.quick
def test_rows_are_divided_and_come_back_in_order(kfe):
    data, _ = write_data(kfe, 1501)
    kfe.run(0, "fit", "-q", "-m", "koc", "-k", "rbf", "--learner", "knn", data, "-o", "m.kfe")
    for command in ("transform", "predict"):
        for processes in (0, 3):
            kfe.run(processes, command, "-q", "m.kfe", data, "-o", f"{command}-{processes}.csv")
    alone, together = kfe.numbers("transform-0.csv"), kfe.numbers("transform-3.csv")
    assert np.abs(alone - together).max() <= 64 * np.finfo(float).eps * np.abs(alone).max() * 8
    assert kfe.path("predict-0.csv").read_bytes() == kfe.path("predict-3.csv").read_bytes()
    judged = [json.loads(kfe.run(processes, "evaluate", "m.kfe", data, "--json").stdout) for processes in (0, 3)]
    assert without_seconds(judged[0]) == without_seconds(judged[1])


@pytest.mark.parametrize("processes", [2, 3])
def test_systems_factored_together(kfe, processes):
    """Above 3,000 rows processes share a solve in the way that is predicted to be fastest; whatever is chosen has the same result."""
    data, x = write_data(kfe, 3101)
    check(kfe, "hsic", data, x, processes)
    check(kfe, "kfd", data, x, processes)


def test_standard_input_is_refused(kfe):
    done = kfe.run(2, "fit", "-m", "koc", "-k", "rbf", "-", "-o", "m.kfe", status=2)
    assert len(problem_of(done)) == 1 and "standard input" in done.stderr and kfe.files() == []


@pytest.mark.parametrize("processes, method", [(2, "pca"), (3, "kfd"), (7, "kfd"), (3, "sma"), (2, "smc"), (3, "skfa"), (2, "rkopls"), (3, "akda-qr")])
def test_streams_are_divided(kfe, processes, method):
    """Four files: two and three processes divide the files, seven the parts of them. Sums in another order round otherwise."""
    names = []
    for seed in range(4):
        name, x = write_data(kfe, 500 + seed, seed=seed, name=f"train-{seed}.csv")
        names.append(name)
    flags = ["--landmarks", 40, "-k", f"rbf:gamma={GAMMA}"] if method != "pca" else []
    flags = flags[2:] if method == "akda-qr" else flags
    flags += ["--ridge", RIDGE] if method in ("kfd", "rkopls") else []
    for n in (0, processes):
        kfe.run(n, "fit", "-q", "--stream", "-m", method, *flags, *names, "-o", f"{n}.kfe")
        kfe.run(0, "transform", "-q", f"{n}.kfe", names[0], "-o", f"{n}.csv")
    alone, together = kfe.numbers("0.csv"), kfe.numbers(f"{processes}.csv")
    tolerance = 16 * 2006 * np.finfo(float).eps * sensitivity(x, 5)
    assert np.abs(alone - together).max() <= tolerance * np.abs(alone).max()


def write_weighted(kfe, rows, seed, name):
    """Rows with a last column of weights before the class, some of them zero; all those of seed 2 are."""
    write_data(kfe, rows, seed=seed, name=name)
    weights = np.random.default_rng(100 + seed).integers(0, 4, rows) * 0.75 * (seed != 2)
    lines = [line.rsplit(",", 1) for line in kfe.path(name).read_text().splitlines()]
    column = ["n", *map(str, weights)]
    kfe.path(name).write_text("\n".join(f"{x},{w},{c}" for (x, c), w in zip(lines, column)) + "\n")
    return name


@pytest.mark.parametrize("processes", [2, 3, 7])
@pytest.mark.parametrize("method", ["pca", "kfd", "rkopls", "akda-qr", "sma", "smc", "skfa"])
def test_weights_of_divided_streams(kfe, processes, method):
    """Several processes, one from a stream, and one in memory count the rows alike; sma, smc and skfa keep the rows."""
    names = [write_weighted(kfe, 300 + seed, seed, f"train-{seed}.csv") for seed in range(4)]
    whole = join_files(kfe, names, "all.csv")
    flags = {"pca": [], "akda-qr": ["-k", f"rbf:gamma={GAMMA}"], "kfd": [], "rkopls": []}.get(method, [*PURSUITS.get(method, []), "--scale", "none"])
    flags = flags + ["-k", f"rbf:gamma={GAMMA}"] if method not in ("pca", "akda-qr") else flags
    flags = flags + ["--ridge", RIDGE, "--landmarks", 40] if method in ("kfd", "rkopls") else flags
    flags = flags if method in ("pca", "skfa") else [*flags, "--class-weight", "balanced"]
    fit = ["fit", "-q", "-m", method, "--weight", "n", *flags]
    kfe.run(0, *fit, whole, "-o", "whole.kfe")
    kfe.run(0, *fit, "--stream", *names, "-o", "alone.kfe")
    kfe.run(processes, *fit, "--stream", *names, "-o", "together.kfe")
    rows = []
    for model in ("whole", "alone", "together"):
        kfe.run(0, "transform", "-q", f"{model}.kfe", names[0], "-o", "rows.csv")
        rows.append(kfe.numbers("rows.csv"))
    for found in rows[1:]:
        sign = np.sign((rows[0] * found).sum(0))
        assert np.abs(rows[0] - sign * found).max() <= 1e-8 * np.abs(rows[0]).max()


PURSUITS = {"sma": ["--dim", 6], "smc": ["--dim", 4, "--sparsity", 2, "--columns", 40], "skfa": ["--dim", 6, "--columns", 0]}


def check_pursuit(kfe, processes, method, names, whole, flags=()):
    """The model of `processes` processes that divide the rows is that of one that has them all: same picks, and rounding."""
    fit = ["fit", "-q", "-m", method, "-k", f"rbf:gamma={GAMMA}", "--scale", "none", *PURSUITS[method], *flags]
    kfe.run(0, *fit, whole, "-o", "whole.kfe")
    kfe.run(processes, *fit, "--stream", *names, "-o", "stream.kfe")
    rows = {}
    for model in ("whole", "stream"):
        kfe.run(0, "transform", "-q", f"{model}.kfe", whole, "-o", f"{model}.csv")
        rows[model] = kfe.numbers(f"{model}.csv")
    assert rows["whole"].shape == rows["stream"].shape
    bound = 64 * len(rows["whole"]) * np.finfo(float).eps * rows["whole"].shape[1]
    distance = np.abs(rows["whole"] - rows["stream"]).max() / np.abs(rows["whole"]).max()
    assert distance <= bound, f"{method} in {processes} processes: {distance:.2g}, allowed {bound:.2g}"


def join_files(kfe, names, whole):
    texts = [kfe.path(name).read_text().splitlines() for name in names]
    head = [texts[0][0]] if names[0].endswith(".csv") else []
    kfe.path(whole).write_text("\n".join(head + [line for text in texts for line in text[len(head):]]) + "\n")
    return whole


@pytest.mark.parametrize("processes", [0, 1, 2, 3, 4, 7])
@pytest.mark.parametrize("method", PURSUITS)
def test_pursuits_on_divided_rows_pick_as_one(kfe, method, processes):
    """Four files of different lengths, one of a single row; the third class is in the last rows of each."""
    names = [write_data(kfe, rows, seed=seed, name=f"train-{seed}.csv")[0] for seed, rows in enumerate([301, 1, 177, 90])]
    check_pursuit(kfe, processes, method, names, join_files(kfe, names, "all.csv"))


@pytest.mark.parametrize("processes", [2, 3])
def test_pursuits_on_one_divided_file(kfe, processes):
    data, _ = write_data(kfe, 17001)
    check_pursuit(kfe, processes, "sma", [data], data, ["--learner", "ls"])


def test_pursuits_on_divided_sparse_rows(kfe):
    names = [write_data(kfe, 200 + seed, seed=seed, name=f"train-{seed}.csv", sparse=True)[0] for seed in range(3)]
    check_pursuit(kfe, 3, "sma", names, join_files(kfe, names, "all.svm"))


def test_pursuits_with_fewer_rows_than_processes(kfe):
    data, _ = write_data(kfe, 5)
    check_pursuit(kfe, 7, "skfa", [data], data)
    check_pursuit(kfe, 7, "sma", [data], data)


def test_pursuits_divide_rows_that_every_process_has(kfe):
    """Without --stream, above 2,048 rows."""
    data, _ = write_data(kfe, 3001)
    fit = ["fit", "-q", "-m", "sma", "-k", f"rbf:gamma={GAMMA}", data]
    for processes in (0, 2, 3, 7):
        kfe.run(processes, *fit, "-o", f"{processes}.kfe")
        kfe.run(0, "transform", "-q", f"{processes}.kfe", data, "-o", f"{processes}.csv")
    alone = kfe.numbers("0.csv")
    for processes in (2, 3, 7):
        bound = 64 * 3001 * np.finfo(float).eps * alone.shape[1]
        assert np.abs(alone - kfe.numbers(f"{processes}.csv")).max() <= bound * np.abs(alone).max()


def test_a_share_that_is_missing_or_differs_is_told(kfe):
    names = [write_data(kfe, 300, seed=seed, name=f"train-{seed}.csv")[0] for seed in range(3)]
    stream = ["fit", "-q", "--stream", "-m", "pca", *names, "-o", "m.kfe"]
    whole = kfe.path("train-2.csv").read_text()
    kfe.path("train-2.csv").write_text("\n".join(line.split(",", 1)[1] for line in whole.splitlines()) + "\n")
    done = kfe.run(3, *stream, status=2)
    assert len(problem_of(done)) == 1 and "process 2 of 3: " in done.stderr and "column" in done.stderr
    kfe.path("train-2.csv").unlink()
    done = kfe.run(3, *stream, status=2)
    assert len(problem_of(done)) == 1 and "train-2.csv" in done.stderr and "cannot open" in done.stderr
    assert kfe.files() == ["train-0.csv", "train-1.csv"]


@pytest.mark.parametrize("method", ["pls", "sma"])
@pytest.mark.parametrize("first", [0, 20])
def test_labels_that_are_classes_in_each_process_alone(kfe, method, first):
    """Every process sees at most 20 different whole numbers; together there are 20, or 40."""
    rng = np.random.default_rng(0)
    for f in range(2):
        rows = [f"{a},{b},{c},{f * first + i % 20}" for i, (a, b, c) in enumerate(rng.normal(size=(100, 3)))]
        kfe.path(f"train-{f}.csv").write_text("a,b,c,class\n" + "\n".join(rows[:40] if f == 0 else rows) + "\n")
    stream = ["fit", "-q", "--stream", "-m", method, "--dim", 2, "train-0.csv", "train-1.csv", "-o", "m.kfe"]
    done = kfe.run(2, *stream, status=0 if first == 0 else 2)
    if first:
        assert len(problem_of(done)) == 1 and "more than 20 different whole numbers" in done.stderr and "--task classify" in done.stderr
        kfe.run(2, *stream, "--task", "regress")


# ---- Python ----

SCRIPT = """
import sys
import numpy as np
from mpi4py import MPI
import kfe, kfe.mpi

X, y = kfe.generate("waveform", n=333, random_state=1)
comm = MPI.COMM_WORLD
alone = kfe.KPCA(kernel="rbf:gamma=0.02", dim=3).fit(X).transform(X)
with kfe.mpi.share(comm):
    together = kfe.KPCA(kernel="rbf:gamma=0.02", dim=3).fit(X).transform(X)
    half = comm.Split(comm.rank % 2, comm.rank)
    with kfe.mpi.share(half):
        kfe.KOC(kernel="rbf").fit(X, y)
    try:
        kfe.KPCA(kernel="rbf").fit(X + (comm.rank == 1))
        raise SystemExit("other data was not noticed")
    except kfe.InputError as error:
        assert "process 1 differs" in str(error), error
    try:
        kfe.KPCA(kernel="rbf", dim=5 + (comm.rank == 1)).fit(X)
        raise SystemExit("other settings were not noticed")
    except ValueError as error:
        assert "'dim=6' where process 0 was given 'dim=5'" in str(error), error
distance = np.abs(alone - together).max() / np.abs(alone).max()
assert distance < 1e-10, distance
print("process", comm.rank, "done")
"""


def test_python_shares_a_fit(kfe):
    if subprocess.run(["/usr/bin/python3", "-c", "import mpi4py, sklearn"], capture_output=True).returncode:
        pytest.skip("mpi4py is not installed")
    kfe.path("script.py").write_text(SCRIPT)
    library = PLUGIN.parent / "libkfe.so"
    python = pathlib.Path(__file__).resolve().parents[2] / "python"
    command = kfe.command(3)[:-1] + ["/usr/bin/python3", "script.py"]
    done = subprocess.run(command, cwd=kfe.folder, timeout=120, capture_output=True, text=True,
                          env={**ENVIRONMENT, "PYTHONPATH": str(python), "KFE_LIBRARY": str(library)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 3
    example = pathlib.Path(__file__).resolve().parents[2] / "examples" / "mpi" / "fit.py"
    done = subprocess.run([*command[:-1], str(example)], cwd=kfe.folder, timeout=120, capture_output=True, text=True,
                          env={**ENVIRONMENT, "PYTHONPATH": str(python), "KFE_LIBRARY": str(library)})
    assert done.returncode == 0 and "(2000, 3)" in done.stdout, done.stderr


# ---- prints and failures ----


def problem_of(done):
    """What kfe itself said on standard error, without the words of mpirun."""
    return [line for line in done.stderr.splitlines() if line.startswith("kfe:")]


@pytest.mark.quick
def test_only_the_first_process_prints(kfe):
    data, _ = write_data(kfe, 60)
    alone = kfe.run(0, "fit", "-m", "koc", "-k", "rbf", data, "-o", "m.kfe").stdout
    together = kfe.run(3, "fit", "-m", "koc", "-k", "rbf", data, "-o", "m.kfe").stdout
    assert len(alone.splitlines()) == len(together.splitlines())
    assert kfe.files() == ["m.kfe", "train.csv"]


@pytest.mark.quick
def test_a_common_failure_is_told_once(kfe):
    done = kfe.run(3, "fit", "-m", "koc", "-k", "rbf", "absent.csv", "-o", "m.kfe", status=2)
    assert len(problem_of(done)) == 1 and "absent.csv" in done.stderr and "process" not in problem_of(done)[0]
    assert kfe.files() == []


def with_own_folders(kfe, processes, *arguments, status=0):
    """Every process runs in a folder of its own, 0, 1, …"""
    script = kfe.path("own.sh")
    script.write_text(f'#!/bin/sh\ncd "$OMPI_COMM_WORLD_RANK" && exec "{os.path.abspath(kfe.command(0)[0])}" "$@"\n')
    script.chmod(0o755)
    command = kfe.command(processes)[:-1] + [str(script), *map(str, arguments)]
    done = subprocess.run(command, cwd=kfe.folder, timeout=300, capture_output=True, text=True, env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == status, done.stderr
    return done


def divide_folders(kfe, processes):
    for process in range(processes):
        kfe.path(str(process)).mkdir()
        data, _ = write_data(kfe, 40, name="train.csv")
        (kfe.path(str(process)) / "train.csv").write_bytes(kfe.path(data).read_bytes())


FIT = ["fit", "-q", "-m", "koc", "-k", "rbf", "train.csv", "-o", "m.kfe"]


def together(kfe, first, second):
    """Two processes with flags of their own. They must end, with one message."""
    launch = kfe.command(1)[:-1]
    command = [*launch, *kfe.command(0), *map(str, first), ":", *launch[launch.index("-n"):], *kfe.command(0), *map(str, second)]
    done = subprocess.run(command, cwd=kfe.folder, timeout=60, capture_output=True, text=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and len(problem_of(done)) == 1, done.stderr
    return problem_of(done)[0]


RBF = ["-k", "rbf:gamma=0.1"]
OTHER_FLAGS = {
    "method": (["fit", "-m", "kpca", *RBF], ["fit", "-m", "kfd", *RBF], "'kfd' where process 0 was given 'kpca'"),
    "dim": (["fit", "-m", "kpca", *RBF, "--dim", 5], ["fit", "-m", "kpca", *RBF, "--dim", 6], "'dim=6' where process 0 was given 'dim=5'"),
    "kernel": (["fit", "-m", "kpca", "-k", "rbf:gamma=0.1"], ["fit", "-m", "kpca", "-k", "rbf:gamma=0.2"], "gamma=0.2"),
    "scale": (["fit", "-m", "koc", *RBF], ["fit", "-m", "koc", *RBF, "--scale", "standard"], "scale=standard"),
    "prepare": (["fit", "-m", "koc", *RBF, "--prepare", "snv"], ["fit", "-m", "koc", *RBF, "--prepare", "snv,sg:window=5"], "prepare=snv"),
    "steps of a stream": (["fit", "--stream", "-m", "pca"], ["fit", "--stream", "-m", "pca", "--prepare", "snv"], "prepare=snv"),
    "steps of a search": (["cv", "-m", "koc", *RBF, "--learner", "knn", "--prepare", "snv"], ["cv", "-m", "koc", *RBF, "--learner", "knn"], "prepare="),
    "learner": (["fit", "-m", "koc", *RBF], ["fit", "-m", "koc", *RBF, "--learner", "knn"], "knn"),
    "seed": (["fit", "-m", "koc", *RBF], ["fit", "-m", "koc", *RBF, "--seed", 7], "seed=7"),
    "class-weight": (["fit", "-m", "koc", *RBF], ["fit", "-m", "koc", *RBF, "--class-weight", "balanced"], "class-weight=balanced"),
    "weight": (["fit", "-m", "kpca", "--label", "none"], ["fit", "-m", "kpca", "--label", "none", "--weight", "x1"], "process 1"),
    "checkpoint": (["fit", "-m", "kpca", *RBF], ["fit", "-m", "kpca", *RBF, "--checkpoint", "a.state"], "checkpoint"),
    "command": (["fit", "-m", "koc", *RBF], ["cv", "-m", "koc", *RBF, "--learner", "knn"], "'assess' where process 0 was given 'fit'"),
    "folds": (["cv", "-m", "koc", *RBF, "--learner", "knn", "--folds", 3], ["cv", "-m", "koc", *RBF, "--learner", "knn", "--folds", 4], "folds=4"),
    "grid": (["cv", "-m", "koc", *RBF, "--learner", "knn", "--grid", "gamma=1,2"], ["cv", "-m", "koc", *RBF, "--learner", "knn", "--grid", "gamma=1,3"], "3"),
    "compare": (["compare", "-m", "koc", "-m", "kfd", *RBF, "--learner", "knn"], ["compare", "-m", "koc", "-m", "kfd", "-m", "kpca", *RBF, "--learner", "knn"], "kpca"),
    "tune": (["tune", "--trials", 2], ["tune", "--trials", 3], "trials=3"),
    "stream": (["fit", "--stream", "-m", "pca", "--dim", 2], ["fit", "--stream", "-m", "pca", "--dim", 3], "dim=3"),
    "measure": (["measure", "-k", "rbf:gamma=1"], ["measure", "-k", "rbf:gamma=2"], "gamma=2"),
}
QUICK_FLAGS = ("method", "dim")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.quick if name in QUICK_FLAGS else ()) for name in OTHER_FLAGS])
def test_other_flags_on_one_process(kfe, name):
    first, second, says = OTHER_FLAGS[name]
    data, _ = write_data(kfe, 60)
    ends = [["-o", "m.kfe"] if flags[0] in ("fit", "tune") else [] for flags in (first, second)]
    problem = together(kfe, [*first, data, *ends[0]], [*second, data, *ends[1]])
    assert says in problem and "process 1" in problem, problem
    assert kfe.files() == [data], "a model or a part of one was written"


FIT_KOC = ["fit", "-m", "koc", *RBF, "-o", "m.kfe"]
CV_KOC = ["cv", "-m", "koc", *RBF, "--learner", "knn"]
MORE_CALLS = {
    "report": (FIT_KOC, [*FIT_KOC, "--report", "r.html"]),
    "report of a search": (CV_KOC, [*CV_KOC, "--report", "r.html"]),
    "save": (CV_KOC, [*CV_KOC, "-o", "m.kfe"]),
    "command": (["evaluate", "a.kfe"], ["predict", "a.kfe"]),
}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.quick if name == "report" else ()) for name in MORE_CALLS])
def test_more_calls_on_one_process(kfe, name, turned):
    """The process with more to do would wait for the other forever."""
    data, _ = write_data(kfe, 60)
    other, _ = write_data(kfe, 60, seed=1, name="other.csv")
    kfe.run(0, "fit", "-q", "-m", "koc", *RBF, "--learner", "knn", other, "-o", "a.kfe")
    calls = [[*arguments, data] for arguments in MORE_CALLS[name]]
    problem = together(kfe, *(reversed(calls) if turned else calls))
    assert "has finished before this one: every process must make the same calls with the same settings" in problem, problem


def test_other_models_or_rows_on_one_process(kfe):
    data, _ = write_data(kfe, 700)
    other, _ = write_data(kfe, 700, seed=1, name="other.csv")
    for name, dim in (("a.kfe", 2), ("b.kfe", 3)):
        kfe.run(0, "fit", "-q", "-m", "kpca", *RBF, "--dim", dim, data, "-o", name)
    problem = together(kfe, ["transform", "a.kfe", data, "-o", "z.csv"], ["transform", "b.kfe", data, "-o", "z.csv"])
    assert "'dim=3' where process 0 was given 'dim=2'" in problem, problem
    problem = together(kfe, ["transform", "a.kfe", data, "-o", "z.csv"], ["transform", "a.kfe", other, "-o", "z.csv"])
    assert "the data of process 1 differs" in problem, problem
    assert "z.csv" not in kfe.files()


@pytest.mark.quick
def test_other_data_on_one_process(kfe):
    divide_folders(kfe, 3)
    other, _ = write_data(kfe, 40, seed=1, name="other.csv")
    (kfe.path("1") / "train.csv").write_bytes(kfe.path(other).read_bytes())
    done = with_own_folders(kfe, 3, *FIT, status=2)
    assert len(problem_of(done)) == 1 and "the data of process 1 differs" in done.stderr
    assert not list(kfe.folder.glob("*/m.kfe"))


def test_other_columns_or_no_file_on_one_process(kfe):
    divide_folders(kfe, 3)
    table = (kfe.path("2") / "train.csv").read_text().splitlines()
    (kfe.path("2") / "train.csv").write_text("\n".join(line.split(",", 1)[1] for line in table) + "\n")
    done = with_own_folders(kfe, 3, *FIT, status=2)
    assert len(problem_of(done)) == 1 and "the data of process 2 differs" in done.stderr
    (kfe.path("2") / "train.csv").unlink()
    done = with_own_folders(kfe, 3, *FIT, status=2)
    assert len(problem_of(done)) == 1 and "process 2 of 3: " in done.stderr and "cannot open" in done.stderr
    assert not list(kfe.folder.glob("*/m.kfe"))


def processes_of(folder):
    """Numbers of the processes of kfe that run in a folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").resolve() == folder and "kfe" in (entry / "comm").read_text():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


# A fit of so many rows is not over on any machine before a test ends it.
ROWS_OF_A_LONG_FIT = 30000


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_end_of_one_process_ends_all(kfe, number):
    data, _ = write_data(kfe, ROWS_OF_A_LONG_FIT)
    command = kfe.command(3, "fit", "-q", "-m", "kpca", "-k", "rbf", "--gram", "tiled", "--dim", 100, data, "-o", "m.kfe")
    run = subprocess.Popen(command, cwd=kfe.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    for _ in range(600):
        if len(processes_of(kfe.folder)) == 3:
            break
        time.sleep(0.1)
    time.sleep(1.5)
    victims = sorted(processes_of(kfe.folder))
    assert len(victims) == 3, "it ended too early to be killed"
    os.kill(victims[1], number)
    _, text = run.communicate(timeout=60)
    assert run.returncode != 0 and text
    for _ in range(100):
        if not processes_of(kfe.folder):
            break
        time.sleep(0.1)
    assert not processes_of(kfe.folder)
    assert kfe.files() == [data]


def test_interrupt_of_the_launcher_ends_all(kfe):
    data, _ = write_data(kfe, ROWS_OF_A_LONG_FIT)
    run = subprocess.Popen(kfe.command(3, "fit", "-q", "-m", "kpca", "-k", "rbf", "--gram", "tiled", "--dim", 100, data, "-o",
                                       "m.kfe"), cwd=kfe.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    for _ in range(600):
        if len(processes_of(kfe.folder)) == 3:
            break
        time.sleep(0.1)
    time.sleep(1.5)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode != 0
    for _ in range(100):
        if not processes_of(kfe.folder):
            break
        time.sleep(0.1)
    assert not processes_of(kfe.folder)
    assert kfe.files() == [data]


# ---- checkpoints ----


def launch_and_kill(kfe, processes, arguments, when):
    """Starts kfe, kills one process when `when()` holds, and waits; True if it was killed before its end."""
    run = subprocess.Popen(kfe.command(processes, *arguments), cwd=kfe.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           text=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    killed = False
    while run.poll() is None and not killed:
        time.sleep(0.001)
        victims = sorted(processes_of(kfe.folder)) if when() else []
        if victims:
            os.kill(victims[-1], signal.SIGKILL)
            killed = True
    run.communicate(timeout=60)
    for _ in range(100):
        if not processes_of(kfe.folder):
            break
        time.sleep(0.1)
    assert not processes_of(kfe.folder)
    return killed and run.returncode != 0


def kill_midway(kfe, processes, fit, state):
    """Kills a fit that has saved its state. A fast machine may finish it before the signal arrives: then again."""
    for _ in range(20):
        if launch_and_kill(kfe, processes, fit, state.exists) and state.exists():
            return
        kfe.path("m.kfe").unlink(missing_ok=True)
    pytest.fail("it always ended too early to be killed")


def whole_files(kfe):
    """All but what a killed process was writing, which the next run removes."""
    return [name for name in kfe.files() if not name.endswith(".part")]


@pytest.mark.parametrize("method", ["sma", "kpca"])
def test_a_killed_fit_resumes_to_the_same_model(kfe, method):
    data, _ = write_data(kfe, 2200)
    flags = ["-m", "sma", "--dim", 120, "--columns", 150] if method == "sma" else ["-m", "kpca", "--dim", 8, "--gram", "tiled"]
    fit = ["fit", "-q", *flags, "-k", f"rbf:gamma={GAMMA}", data]
    kfe.run(3, *fit, "-o", "whole.kfe")
    state = kfe.path("fit.state")
    resume = [*fit, "--checkpoint", state.name, "--checkpoint-every", 0, "--resume", "-o", "m.kfe"]
    kill_midway(kfe, 3, resume, state)
    assert whole_files(kfe) == ["fit.state", data, "whole.kfe"]
    first = state.stat().st_mtime_ns
    again = launch_and_kill(kfe, 3, resume, lambda: state.exists() and state.stat().st_mtime_ns > first)
    assert again or kfe.path("m.kfe").exists()
    kfe.run(3, *resume)
    assert kfe.path("m.kfe").read_bytes() == kfe.path("whole.kfe").read_bytes()
    assert kfe.files() == ["m.kfe", data, "whole.kfe"]


STREAMS = {"kfd": ["--landmarks", 300, "--learner", "ls"], "sma": ["--dim", 60, "--columns", 100],
           "koc": ["--landmarks", 300, "--learner", "ls", "--weight", "n", "--class-weight", "balanced"]}


@pytest.mark.parametrize("processes", [0, 3])
@pytest.mark.parametrize("method", STREAMS)
def test_a_killed_stream_resumes_to_the_same_model(kfe, method, processes):
    """With landmarks every process saves its sums, a pursuit on divided rows its iterations."""
    write = write_weighted if "--weight" in STREAMS[method] else lambda *a: write_data(*a)[0]
    names = [write(kfe, 9000, seed, f"train-{seed}.csv") for seed in (0, 1, 3)]
    fit = ["fit", "-q", "--stream", "-m", method, *STREAMS[method], "-k", f"rbf:gamma={GAMMA}", *names]
    kfe.run(processes, *fit, "-o", "whole.kfe")
    state = kfe.path("fit.state")
    resume = [*fit, "--checkpoint", state.name, "--checkpoint-every", 0, "--resume", "-o", "m.kfe"]
    states = [state] + [kfe.path(f"fit.state.{r}") for r in range(1, processes) if method != "sma"]
    for _ in range(20):
        if launch_and_kill(kfe, processes, resume, lambda: all(s.exists() for s in states)):
            break
        kfe.path("m.kfe").unlink(missing_ok=True)
    assert all(s.exists() for s in states), "it always ended too early to be killed"
    done = kfe.run(processes, *resume)
    assert "no checkpoint" not in done.stderr
    assert kfe.path("m.kfe").read_bytes() == kfe.path("whole.kfe").read_bytes()
    assert kfe.files() == ["m.kfe", *names, "whole.kfe"]


def test_other_rows_than_those_of_a_saved_stream(kfe):
    names = [write_data(kfe, 9000, seed=seed, name=f"train-{seed}.csv")[0] for seed in range(2)]
    fit = ["fit", "-q", "--stream", "-m", "kfd", "--landmarks", 300, "-k", f"rbf:gamma={GAMMA}", *names, "--checkpoint",
           "fit.state", "--checkpoint-every", 0, "--resume", "-o", "m.kfe"]
    kill_midway(kfe, 0, fit, kfe.path("fit.state"))
    text = kfe.path(names[0]).read_text()
    digit = max(i for i, c in enumerate(text[:2000]) if c.isdigit())
    kfe.path(names[0]).write_text(text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1:])
    done = kfe.run(0, *fit, status=2)
    assert "the rows are not those of the checkpoint" in done.stderr
    kfe.path(names[1]).write_text(kfe.path(names[1]).read_text() + text.splitlines()[1] + "\n")
    done = kfe.run(0, *fit, status=2)
    assert "this checkpoint belongs to a fit on other data" in done.stderr


def test_a_stream_from_standard_input_has_no_checkpoint(kfe):
    done = kfe.run(0, "fit", "--stream", "-m", "pca", "-", "--checkpoint", "fit.state", "-o", "m.kfe", status=2)
    assert "standard input cannot be read again" in done.stderr


def test_a_kill_while_writing_leaves_no_partial_file(kfe):
    data, _ = write_data(kfe, 20000)
    small, _ = write_data(kfe, 300, name="small.csv")
    kfe.run(0, "fit", "-q", "-m", "kpca", "-k", f"rbf:gamma={GAMMA}", "--dim", 40, small, "-o", "m.kfe")
    transform = ["transform", "-q", "m.kfe", data, "-o", "out.csv"]
    assert launch_and_kill(kfe, 3, transform, lambda: list(kfe.folder.glob("out.csv.*"))), "it ended too early to be killed"
    assert not kfe.path("out.csv").exists()
    kfe.run(3, *transform)
    assert len(kfe.numbers("out.csv")) == 20000
    assert kfe.files() == ["m.kfe", "out.csv", "small.csv", data], "the part of the killed run is left"


def test_a_state_of_three_processes_serves_one(kfe):
    rows, dim = 1200, 60
    data, _ = write_data(kfe, rows)
    fit = ["fit", "-q", "-m", "sma", "--dim", dim, "--columns", 300, "-k", f"rbf:gamma={GAMMA}", data]
    kfe.run(0, *fit, "-o", "whole.kfe")
    state = kfe.path("fit.state")
    resume = [*fit, "--checkpoint", state.name, "--checkpoint-every", 0, "--resume", "-o", "m.kfe"]
    kill_midway(kfe, 3, resume, state)
    done = kfe.run(0, *resume)
    assert "no checkpoint" not in done.stderr
    for model in ("whole", "m"):
        kfe.run(0, "transform", "-q", f"{model}.kfe", data, "-o", f"{model}.csv")
    alone, together = kfe.numbers("whole.csv"), kfe.numbers("m.csv")
    assert np.abs(alone - together).max() <= 16 * rows * np.finfo(float).eps * dim * np.abs(alone).max()


@pytest.mark.quick
def test_a_state_of_another_fit_is_told_once(kfe):
    data, _ = write_data(kfe, 60)
    fit = ["fit", "-q", "-m", "sma", "-k", "rbf", data, "--checkpoint", "fit.state", "--resume", "-o", "m.kfe"]
    kfe.path("fit.state").write_text("x\n")
    done = kfe.run(3, *fit, status=2)
    assert len(problem_of(done)) == 1 and "not a checkpoint of kfe" in done.stderr


# ---- two hosts ----


def test_two_hosts(kfe):
    """Two network namespaces with names of their own are two machines for MPI; where the kernel has tc netem, 1 ms apart."""
    data, x = write_data(kfe, 701)
    script = pathlib.Path(__file__).resolve().parent / "hosts.sh"
    fit = ["fit", "-v", "-m", "kpca", "-k", f"rbf:gamma={GAMMA}", "--scale", "none", *METHODS["kpca"], data, "-o"]
    done = subprocess.run([script, "1ms", os.path.abspath(kfe.command(0)[0]), *map(str, fit), "hosts.kfe"], cwd=kfe.folder,
                          timeout=300, capture_output=True, text=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stderr
    assert "2 on this machine" in done.stderr, done.stderr
    kfe.run(0, *fit, "alone.kfe")
    for model in ("hosts", "alone"):
        kfe.run(0, "transform", "-q", f"{model}.kfe", data, "-o", f"{model}.csv")
    alone, together = kfe.numbers("alone.csv"), kfe.numbers("hosts.csv")
    tolerance = 16 * len(x) * np.finfo(float).eps * max(1.0, sensitivity(x, 5)) + 1e-10 * sensitivity(x, 5)
    assert np.abs(alone - together).max() <= tolerance * np.abs(alone).max()


# ---- launchers ----


@pytest.mark.quick
def test_the_device_cpu_keeps_processes_apart(kfe):
    data, _ = write_data(kfe, 40)
    done = kfe.run(2, "fit", "-v", "--device", "cpu", "-m", "koc", "-k", "rbf", data, "-o", "m.kfe")
    assert "processes" not in done.stderr


def test_without_the_plug_in(kfe):
    """The launcher is recognised by its variables, although nothing else of it is there."""
    data, _ = write_data(kfe, 40)
    done = kfe.run(0, "fit", "-m", "koc", "-k", "rbf", data, "-o", "m.kfe", status=2,
                   environment={"PMI_SIZE": "4", "PMI_RANK": "0"})
    assert "launcher started 4 processes, but MPI sees only one" in done.stderr
    assert kfe.files() == [data]
