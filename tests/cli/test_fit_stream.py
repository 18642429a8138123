# SPDX-License-Identifier: Apache-2.0
"""kfe fit --stream: rows read in parts give the model of the whole file, in bounded memory, from files and from standard input."""
import json
import subprocess

import numpy as np
import pytest

from conftest import KFE, SANITIZED

ROWS = 20_000  # more than two parts


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, ROWS)
    x = rng.normal(size=(ROWS, 4)) + 2 * np.eye(4)[y]
    return np.column_stack([x * [1, 2, 30, 4] + [0, 5, 0, 1000], y])


def features(kfe, model, name):
    return np.loadtxt(kfe.ok("transform", "-q", model, name, "-o", "-").out.splitlines(), delimiter=",",
                      skiprows=1, ndmin=2)


def compare(kfe, name, *flags, stream=None):
    """The features of a plain fit and of one from a stream, which must agree."""
    kfe.ok("fit", "-q", *flags, name, "-o", "plain.kfe")
    kfe.ok("fit", "-q", "--stream", *flags, *(stream or [name]), "-o", "stream.kfe")
    kfe.write("few.csv", "\n".join(",".join(f"{v:g}" for v in row) for row in np.random.default_rng(0).normal(size=(5, 4))) + "\n")
    a, b = features(kfe, "plain.kfe", "few.csv"), features(kfe, "stream.kfe", "few.csv")
    assert a.shape == b.shape
    b *= np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-6 * np.abs(a).max())


def write_csv(kfe, name, table):
    with open(kfe.folder / name, "w") as out:
        np.savetxt(out, table, delimiter=",", fmt="%.8g")


def test_linear_methods_need_one_pass(kfe, table):
    np.save(kfe.folder / "all.npy", table)
    compare(kfe, "all.npy", "-m", "oc", "--scale", "standard", "--label", "last", "--task", "classify")


def test_a_set_of_files(kfe, table):
    np.save(kfe.folder / "all.npy", table)
    for k, part in enumerate(np.array_split(table[np.argsort(table[:, -1], kind="stable")], 3)):
        np.save(kfe.folder / f"part-{k}.npy", part)  # one class in each, more or less
    compare(kfe, "all.npy", "-m", "pls", "--dim", "3", "--label", "last", "--task", "classify",
            stream=["part-2.npy", "part-0.npy", "part-1.npy"])


def test_landmarks_of_a_file_that_is_smaller_than_the_sample(kfe, table):
    write_csv(kfe, "all.csv", table[:1500])
    compare(kfe, "all.csv", "-m", "kfd", "-k", "rbf:gamma=scale", "--landmarks", "30", "--learner", "ls")


def test_landmarks_of_a_long_file_predict_well(kfe, table):
    write_csv(kfe, "all.csv", table)
    done = kfe.ok("fit", "--stream", "-m", "kfd", "--landmarks", "40", "--learner", "ls", "all.csv", "-o", "m.kfe")
    assert "20000 examples" in done.err and "40 support examples" in done.err
    found = json.loads(kfe.ok("evaluate", "--json", "-q", "m.kfe", "all.csv").out)
    accuracy = next(m for m in json.dumps(found).replace('"', "").split(",") if "accuracy" in m)
    assert float(accuracy.split(":")[-1].strip(" ]}")) > 0.8


# ---- weights ----

def weighted(table, seed=7):
    """The table with a third column of weights, zero for all rows of the second part, and the table with repeated rows."""
    weights = np.random.default_rng(seed).integers(0, 4, len(table))
    weights[8192:16384] = 0
    return np.column_stack([table[:, :2], weights, table[:, 2:]]), np.repeat(table, weights, axis=0)


STREAMS = {"pca": [], "pls": ["--dim", "2", "--learner", "ls"], "kfd": ["-k", "rbf:gamma=0.1", "--landmarks", "60", "--ridge", "0.1", "--learner", "ls"],
           "rkopls": ["-k", "rbf:gamma=0.1", "--landmarks", "60", "--ridge", "0.1"], "akda-qr": ["-k", "rbf:gamma=0.1"],
           "smc": ["-k", "rbf:gamma=0.1", "--landmarks", "60"]}


@pytest.mark.parametrize("method", STREAMS)
def test_weights_of_a_stream_equal_those_of_a_fit(kfe, table, method):
    """Three parts; the rows that are not weightless fit into the sample, so that both fits choose the same landmarks."""
    rows, _ = weighted(table)
    rows[:7000, 2] = 0
    rows[16500:, 2] = 0
    np.save(kfe.folder / "w.npy", rows)
    flags = ["-m", method, *STREAMS[method], "--label", "last", "--task", "classify", "--weight", "3", "--class-weight", "0=2,2=0.5"]
    compare(kfe, "w.npy", *(flags[:-2] if method == "pca" else flags))


@pytest.mark.parametrize("method", ["sma", "smc", "skfa"])
@pytest.mark.parametrize("source", ["file", "standard input"])
def test_weights_of_rows_that_a_pursuit_keeps(kfe, table, method, source):
    write_csv(kfe, "w.csv", weighted(table[:12000])[0])
    flags = ["-m", method, "-k", "rbf:gamma=0.1", "--scale", "none", "--dim", "4", "--weight", "3"]
    if source == "file":
        return compare(kfe, "w.csv", *flags)
    kfe.ok("fit", "-q", *flags, "w.csv", "-o", "plain.kfe")
    with open(kfe.folder / "w.csv", "rb") as rows:
        subprocess.run([KFE, "fit", "-q", "--stream", *flags, "-", "-o", "stream.kfe"], cwd=kfe.folder, stdin=rows, check=True)
    write_csv(kfe, "few.csv", table[:9, :4])
    np.testing.assert_allclose(features(kfe, "stream.kfe", "few.csv"), features(kfe, "plain.kfe", "few.csv"), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["oc", "pls", "akda-qr", "skfa"])
def test_weights_of_a_stream_count_like_repeated_rows(kfe, table, method):
    rows, repeated = weighted(table)
    np.save(kfe.folder / "w.npy", rows)
    np.save(kfe.folder / "r.npy", repeated)
    flags = ["--stream", "-m", method, *([] if method in ("oc", "pls") else ["-k", "rbf:gamma=0.1"]), "--scale", "none", "--label", "last", "--task",
             "classify", *(["--columns", "0", "--dim", "2"] if method == "skfa" else [])]
    if method == "skfa":  # every row is a candidate
        np.save(kfe.folder / "w.npy", rows[:400])
        np.save(kfe.folder / "r.npy", np.repeat(rows[:400][:, [0, 1, 3, 4, 5]], rows[:400, 2].astype(int), axis=0))
    done = kfe.ok("fit", *flags, "--weight", "3", "w.npy", "-o", "w.kfe")
    kfe.ok("fit", "-q", *flags, "r.npy", "-o", "r.kfe")
    write_csv(kfe, "few.csv", table[:9, :4])
    a, b = features(kfe, "r.kfe", "few.csv"), features(kfe, "w.kfe", "few.csv")
    np.testing.assert_allclose(b * np.sign((a * b).sum(axis=0)), a, rtol=1e-6, atol=1e-8 * np.abs(a).max())
    if method != "skfa":
        assert f"{np.count_nonzero(rows[:, 2])} examples" in done.err


@pytest.mark.parametrize("flags", [["-m", "pls", "--dim", "2", "--learner", "ls"], ["-m", "kfd", "-k", "rbf:gamma=0.1", "--landmarks", "20", "--ridge", "0.1"],
                                   ["-m", "sma", "-k", "rbf:gamma=0.1"]])
def test_balanced_classes_take_another_pass(kfe, table, flags):
    uneven = table[(table[:, -1] < 2) | (np.arange(len(table)) % 5 == 0)][:1800]
    write_csv(kfe, "w.csv", weighted(uneven)[0])
    compare(kfe, "w.csv", *flags, "--weight", "3", "--class-weight", "balanced")
    with open(kfe.folder / "w.csv", "rb") as rows:
        done = subprocess.run([KFE, "fit", "--stream", *flags, "--class-weight", "balanced", "--drop", "3", "-", "-o", "m.kfe"], cwd=kfe.folder,
                              stdin=rows, capture_output=True, text=True)
    assert done.returncode == 2 and "--class-weight balanced counts the classes of all rows" in done.stderr


def test_weights_of_a_stream_that_are_refused(kfe, table):
    rows, _ = weighted(table[:40])
    write_csv(kfe, "w.csv", rows)
    kfe.refused("fit", "--stream", "-m", "oc", "--class-weight", "0=2,9=1", "--weight", "3", "w.csv", "-o", "m.kfe", says="there is no class '9'")
    kfe.refused("fit", "--stream", "-m", "oc", "--weight", "9", "w.csv", "-o", "m.kfe", says="weight")
    rows[:, 2] = 0
    write_csv(kfe, "w.csv", rows)
    kfe.refused("fit", "--stream", "-m", "oc", "--weight", "3", "w.csv", "-o", "m.kfe", says="all weights are zero")
    rows[20, 2] = -1
    write_csv(kfe, "w.csv", rows)
    kfe.refused("fit", "--stream", "-m", "oc", "--weight", "3", "w.csv", "-o", "m.kfe", says="is a number of at least 0")


def test_standard_input(kfe, table):
    write_csv(kfe, "all.csv", table)
    kfe.ok("fit", "-q", "-m", "pca", "all.csv", "-o", "plain.kfe")
    with open(kfe.folder / "all.csv", "rb") as rows:
        subprocess.run([KFE, "fit", "-q", "--stream", "-m", "pca", "-", "-o", "stream.kfe"], cwd=kfe.folder, stdin=rows, check=True)
    a, b = (json.loads(kfe.ok("info", "--json", name).out) for name in ("plain.kfe", "stream.kfe"))
    np.testing.assert_allclose(b["records"]["eigenvalues"], a["records"]["eigenvalues"], rtol=1e-9)


@pytest.mark.parametrize("method", ["sma", "smc", "skfa"])
def test_pursuits_keep_the_rows_of_a_stream(kfe, table, method):
    """No landmarks: the examples are picked among all rows, whether they are in memory or, with little of it, in a temporary file."""
    write_csv(kfe, "all.csv", table)
    flags = ["-m", method, "-k", "rbf:gamma=0.002", "--scale", "none", "--dim", "2", "--columns", "60"]
    compare(kfe, "all.csv", *flags)
    kfe.ok("fit", "-q", *flags, "all.csv", "-o", "plain.kfe")
    little = kfe.ok("fit", "-v", "--memory", "1M", "--stream", *flags, "all.csv", "-o", "little.kfe")
    assert "temporary file" in little.err
    a, b = features(kfe, "plain.kfe", "few.csv"), features(kfe, "little.kfe", "few.csv")
    np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-6 * np.abs(a).max())


@pytest.mark.parametrize("method", ["sma", "smc", "skfa"])
@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["in memory", "stream"])
def test_candidates_are_drawn_by_content(kfe, table, method, stream):
    """Of 3,000 rows 500 are candidates; neither the order of the rows nor copies of them play a part in which."""
    rows = table[:3000]
    mixed = np.random.default_rng(4).permutation
    write_csv(kfe, "few.csv", table[:9, :4])
    got = {}
    for name, some in (("rows", rows), ("mixed", mixed(rows)), ("twice", mixed(np.vstack([rows, rows])))):
        write_csv(kfe, "d.csv", some)
        kfe.ok("fit", "-q", "-m", method, "-k", "rbf:gamma=0.1", "--scale", "none", "--dim", "1", *stream, "d.csv", "-o", "m.kfe")
        got[name] = features(kfe, "m.kfe", "few.csv")
    np.testing.assert_allclose(got["mixed"], got["rows"], rtol=1e-9)
    np.testing.assert_allclose(got["twice"] / np.abs(got["twice"]).max(), got["rows"] / np.abs(got["rows"]).max(), rtol=1e-9)


def test_what_cannot_be_streamed_is_refused_before_reading(kfe):
    for flags, text in ((("-m", "svm-joint"), "can, and with --landmarks"), (("-m", "kfd"), "--landmarks 1000"), (("-m", "rkopls"), "--landmarks 1000"),
                        (("-m", "sma", "--center"), "leave out --center"), (("-m", "sma", "--bound"), "leave out --bound"),
                        (("-m", "pca", "--learner", "knn"), "ls and centroid")):
        kfe.refused("fit", "--stream", *flags, "no-such-file.csv", "-o", "m.kfe", says=text)


def test_columns_that_disagree_are_named(kfe):
    kfe.write("a.csv", "1,2,3,x\n4,5,6,y\n")
    kfe.write("b.csv", "1,2,x\n4,5,y\n")
    kfe.refused("fit", "--stream", "-m", "oc", "a.csv", "b.csv", "-o", "m.kfe", says=["b.csv: the rows have 2 columns", "have 3"])


@pytest.mark.skipif(SANITIZED, reason="sanitizers need memory of their own")
def test_memory_does_not_grow_with_the_rows(kfe, table):
    """64 MB of rows, of which a part is 0.5 MB."""
    np.save(kfe.folder / "long.npy", np.tile(table, (80, 1)).astype(np.float64))
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run(["/usr/bin/python3", "-c", code, KFE, "fit", "-q", "--stream", "-m", "pca", "--label", "last", "long.npy",
                           "-o", "m.kfe"], cwd=kfe.folder, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 60_000, "kilobytes"


def test_searches_of_methods_that_choose_examples_fit_rows(kfe):
    """From sums, sma and its like choose among landmarks; folds of a search fit the rows."""
    kfe.ok("generate", "waveform", "--n", 150, "-o", "waves.csv")
    for method in ("sma", "skfa", "rkopls"):
        done = kfe.ok("cv", "-m", method, "-k", "rbf", "--landmarks", 30, "--learner", "ls", "--folds", 3, "waves.csv")
        assert "accuracy" in done.out


@pytest.mark.parametrize("flags", [["-m", "oc"], ["-m", "kfd", "-k", "rbf:gamma=scale", "--landmarks", "30"],
                                   ["-m", "sma", "--dim", "5", "--columns", "50", "-k", "rbf:gamma=scale"]])
def test_models_know_where_the_label_stood(kfe, table, flags):
    """The label is the first column, or has a name; new files with the same columns are read alike."""
    rows = np.column_stack([table[:1500, -1], table[:1500, :-1]])
    write_csv(kfe, "bare.csv", rows)
    kfe.write("named.csv", "kind,a,b,c,d\n" + (kfe.folder / "bare.csv").read_text())
    for name, label in (("bare.csv", "1"), ("named.csv", "kind")):
        options = ["-q", "--label", label, "--task", "classify", "--learner", "ls", *flags, name, "-o"]
        kfe.ok("fit", *options, "plain.kfe")
        kfe.ok("fit", "--stream", *options, "stream.kfe")
        for command in (["predict", "-q"], ["evaluate", "-q", "--metrics", "accuracy"]):
            assert kfe.ok(*command, "stream.kfe", name).out == kfe.ok(*command, "plain.kfe", name).out


@pytest.mark.parametrize("name", ["gaps.csv", "gaps.npy"])
def test_missing_values_are_dropped_but_not_filled_in(kfe, table, name):
    gaps = table.copy()
    gaps[5000:17000, 1] = np.nan  # more than a whole part
    if name.endswith(".csv"):
        write_csv(kfe, name, gaps)
    else:
        np.save(kfe.folder / name, gaps)
    flags = ["-m", "oc", "--label", "last", "--task", "classify"]
    message = kfe.refused("fit", "--stream", *flags, name, "-o", "m.kfe", says=["is missing", "--missing drop"])
    assert "mean" not in message
    compare(kfe, name, *flags, "--missing", "drop")
    gaps[:, 1] = np.nan
    np.save(kfe.folder / "nothing.npy", gaps)
    kfe.refused("fit", "--stream", *flags, "--missing", "drop", "nothing.npy", "-o", "m.kfe", says="rows")


# ---- classes or real values ----

WHOLE = [str(i % 10) for i in range(60)]
LATER = [str(10 + i % 20) for i in range(60)]
MANY = [str(i) for i in range(60)]
FRACTIONS = [f"{i / 7:.3f}" for i in range(60)]
FLOATING = ["1.0", "2.0", "3.0"] * 20
WORDS = ["x", "y", "z"] * 20


def write_labels(kfe, **files):
    for name, labels in files.items():
        values = np.random.default_rng(len(labels)).normal(size=(len(labels), 4))
        kfe.write(f"{name}.csv", "".join(",".join(f"{v:g}" for v in row) + f",{label}\n" for row, label in zip(values, labels)))


@pytest.mark.parametrize("first, second", [(WORDS, WORDS), (WHOLE, WHOLE), (WHOLE, WORDS), (WORDS, MANY), (MANY, WHOLE), (FRACTIONS, WHOLE),
                                           (WHOLE, FLOATING), (FLOATING, FLOATING), (FLOATING, FRACTIONS)])
def test_two_files_have_the_task_of_one(kfe, first, second):
    write_labels(kfe, a=first, b=second)
    kfe.write("all.csv", (kfe.folder / "a.csv").read_text() + (kfe.folder / "b.csv").read_text())
    compare(kfe, "all.csv", "-m", "pls", "--dim", "2", stream=["a.csv", "b.csv"])
    plain, stream = (json.loads(kfe.ok("info", "--json", model).out) for model in ("plain.kfe", "stream.kfe"))
    assert plain["task"] == stream["task"] and plain.get("classes") == stream.get("classes")


REFUSED = {"many whole numbers": (WHOLE, LATER, "more than 20 different whole numbers"), "fractions": (WHOLE, FRACTIONS, "not a whole number"),
           "classes": (FLOATING, WHOLE, "such as 1.0, but")}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("flags", [["-m", "pls"], ["-m", "kpls", "--landmarks", "10"], ["-m", "sma"]], ids=["linear", "landmarks", "kept rows"])
def test_later_files_with_another_task_are_refused(kfe, case, flags):
    first, second, reason = REFUSED[case]
    write_labels(kfe, a=first, b=second)
    kfe.refused("fit", "-q", "--stream", *flags, "--dim", "2", "a.csv", "b.csv", "-o", "m.kfe",
                says=["b.csv: the labels of the first rows were taken as", reason, "--task classify", "--task regress"])
    for task in ("classify", "regress"):
        kfe.ok("fit", "-q", "--stream", *flags, "--dim", "2", "--task", task, "a.csv", "b.csv", "-o", "m.kfe")


@pytest.mark.parametrize("later", [60, 10])
@pytest.mark.parametrize("source", ["all.csv", "all.npy", "-"])
def test_later_parts_of_a_file_decide_too(kfe, source, later):
    labels = [str(i % 10 if i < 9000 else i % later) for i in range(12_000)]
    write_labels(kfe, all=labels)
    np.save(kfe.folder / "all.npy", np.loadtxt(kfe.folder / "all.csv", delimiter=",").astype(int))
    command = [KFE, "fit", "--stream", "-m", "pls", "--dim", "2", "--label", "last", source, "-o", "m.kfe"]
    done = subprocess.run(command, cwd=kfe.folder, input=(kfe.folder / "all.csv").read_bytes(), capture_output=True)
    assert (done.returncode == 0) == (later == 10)
    assert (b"10 classes" if later == 10 else b"more than 20 different whole numbers") in done.stderr
