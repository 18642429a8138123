# SPDX-License-Identifier: Apache-2.0
"""Exported models give in ONNX Runtime what kfe gives: every method, kernel and learner, in both precisions.

usage: pytest test_onnx.py, with KFE naming the command. Needs the packages onnx and onnxruntime.
"""
import json
import os
import subprocess

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

KFE = os.environ["KFE"]
TOLERANCE = {"float": 1e-5, "double": 1e-12}


def kfe(*arguments, check=True):
    run = subprocess.run([KFE, *map(str, arguments)], capture_output=True, text=True)
    assert not check or run.returncode == 0, run.stderr
    return run


METHODS = json.loads(kfe("methods", "--json").stdout)
KERNELS = ["linear", "rbf:gamma=0.2", "poly:degree=3,gamma=0.3", "cosine", "sigmoid:gamma=0.05,coef0=0.1",
           "laplacian:gamma=0.1", "exp:sigma=2", "exp:sigma=3,power=1.5", "matern:sigma=3", "matern:sigma=2,nu=2.5",
           "chi2:gamma=0.2", "intersection"]
LEARNERS = [learner["name"] for learner in json.loads(kfe("learners", "--json").stdout)]


def rows(seed, count, classes=3, cols=5, positive=False):
    """Columns of classes that lie apart; the same for kfe and for ONNX Runtime to the last bit of a float."""
    generator = np.random.default_rng(seed)
    label = np.arange(count) % classes
    centre = np.random.default_rng(7).normal(size=(classes, cols)) * 2
    x = (centre[label] + generator.normal(size=(count, cols))).astype(np.float32).astype(float)
    return (np.abs(x) if positive else x), label


def write(path, x, last=None):
    with open(path, "w") as out:
        names = [f"c{j}" for j in range(x.shape[1])]
        print(*names, *([] if last is None else ["label"]), sep=",", file=out)
        for i, row in enumerate(x):
            print(*("" if np.isnan(v) else f"{v:.17g}" for v in row), *([] if last is None else [last[i]]), sep=",",
                  file=out)


def read(path):
    return np.loadtxt(path, delimiter=",", ndmin=2, skiprows=1)


def growth(graph):
    """How much the constants of the graph enlarge rounding errors of kernel values: the largest column sum of magnitudes."""
    arrays = [onnx.numpy_helper.to_array(t) for t in graph.initializer if len(t.dims) == 2 and t.dims[0] > 1]
    return max([float(np.abs(a.astype(float)).sum(axis=0).max()) for a in arrays] + [1.0])


def session(folder, model, precision):
    target = folder / f"{precision}.onnx"
    kfe("export", model, "-o", target, "--precision", precision)
    loaded = onnx.load(target)
    onnx.checker.check_model(loaded, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    served = onnxruntime.InferenceSession(str(target), options, providers=["CPUExecutionProvider"])
    return served, growth(loaded.graph)


ROUNDING = {"float": 2.0 ** -24, "double": 2.0 ** -53}


def close(ours, theirs, precision, most=1.0):
    """Features of methods with large coefficients are small differences of large terms, each with a rounding error."""
    scale = max(1.0, float(np.abs(ours).max()))
    assert theirs.shape == ours.shape
    assert np.abs(ours - theirs).max() <= TOLERANCE[precision] * scale + 4 * ROUNDING[precision] * most


def compare(folder, model, inputs, files):
    """Features, scores and labels of all rows, in both precisions. Returns what ONNX Runtime gave in double precision."""
    kfe("transform", model, *files, "-o", folder / "features.csv")
    features = read(folder / "features.csv")
    about = json.loads(kfe("info", "--json", model).stdout)
    scores = ["--scores"] if about.get("classes") else []
    for precision, kind in (("float", np.float32), ("double", np.float64)):
        served, most = session(folder, model, precision)
        names = [output.name for output in served.get_outputs()]
        answer = dict(zip(names, served.run(None, {k: v.astype(kind) for k, v in inputs.items()})))
        close(features, answer["features"], precision, most)
        if len(names) > 1:
            kfe("predict", model, *files, *scores, "-o", folder / "predictions.csv")
            compare_predictions(folder / "predictions.csv", answer, precision)
    return answer


def compare_predictions(path, answer, precision):
    lines = [line.split(",") for line in open(path).read().splitlines()]
    header, cells = lines[0], lines[1:]
    if "prediction" in answer:
        ours = np.array([[float(c) for c in row] for row in cells])
        close(ours[:, :answer["prediction"].shape[1]], answer["prediction"], precision)
        return
    ours = np.array([[float(c) for c in row[1:]] for row in cells])
    if ours.shape[1] == answer["scores"].shape[1]:
        close(ours, answer["scores"], precision)
    labels = [row[0] for row in cells]
    wrong = sum(a != b for a, b in zip(labels, answer["label"]))
    assert wrong <= (0 if precision == "double" else 1), header


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    for name, positive, count in (("any", False, 3), ("positive", True, 3), ("two", False, 2)):
        x, y = rows(1, 60, count, positive=positive)
        write(folder / f"{name}-train.csv", x, [f"class {c}" for c in y])
        z, _ = rows(2, 40, count, positive=positive)
        write(folder / f"{name}-test.csv", np.vstack([z, x[:5]]))
    return folder


def table(folder, name):
    path = folder / f"{name}-test.csv"
    return {"X": read(path)}, [path]


def fitted(folder, *arguments):
    kfe("fit", *arguments, "-o", folder / "model.kfe")
    return folder / "model.kfe"


@pytest.mark.parametrize("method", [m["name"] for m in METHODS])
def test_every_method(classes, tmp_path, method):
    data = "two" if method == "kb" else "any"
    model = fitted(tmp_path, "-m", method, classes / f"{data}-train.csv")
    compare(tmp_path, model, *table(classes, data))


@pytest.mark.parametrize("softness", ["0", "0.5"])
@pytest.mark.parametrize("learner", [[], ["--learner", "knn", "--neighbors", "4"]])
def test_a_tree(classes, tmp_path, softness, learner):
    """Leaves with distances of their own, whose shares are hard or soft. Features of training rows are their classes' 0 and 1, so
    that more neighbours would reach both other classes, which are equally far."""
    model = fitted(tmp_path, "-m", "rfm", "--leaf-size", "20", "--softness", softness, *learner, classes / "any-train.csv")
    compare(tmp_path, model, *table(classes, "any"))


@pytest.mark.parametrize("method", ["kfd", "kpca", "none"])
def test_a_learned_distance(classes, tmp_path, method):
    kfe("fit", "-m", "rfm", classes / "any-train.csv", "-o", tmp_path / "distance.kfe")
    model = fitted(tmp_path, "-m", method, "-k", "rbf:gamma=0.2", "--distance", tmp_path / "distance.kfe", "--learner", "svm", classes / "any-train.csv")
    compare(tmp_path, model, *table(classes, "any"))


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(classes, tmp_path, kernel):
    data = "positive" if kernel.split(":")[0] in ("chi2", "intersection") else "any"
    model = fitted(tmp_path, "-m", "kpca", "--dim", "3", "-k", kernel, "--scale", "none", classes / f"{data}-train.csv")
    compare(tmp_path, model, *table(classes, data))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("method", ["kfd", "oc", "sma", "none"])
def test_every_learner(classes, tmp_path, learner, method):
    model = fitted(tmp_path, "-m", method, "--learner", learner, classes / "any-train.csv")
    compare(tmp_path, model, *table(classes, "any"))


@pytest.mark.parametrize("learner", [["svm"], ["knn", "--neighbors", "6"]], ids=["pairs", "neighbours"])
def test_equal_votes(tmp_path, learner):
    """Labels that say nothing: classes often have equal votes, and the sums of margins or the nearest neighbour decide."""
    x, _ = rows(3, 90)
    write(tmp_path / "train.csv", x, [f"class {c}" for c in np.random.default_rng(5).integers(5, size=90)])
    z, _ = rows(4, 200)
    write(tmp_path / "test.csv", z)
    kernel = ["-k", "rbf"] if learner == ["svm"] else []
    model = fitted(tmp_path, "-m", "none", *kernel, "--learner", *learner, tmp_path / "train.csv")
    compare(tmp_path, model, {"X": z}, [tmp_path / "test.csv"])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_vote_alike(classes, tmp_path, weights):
    model = fitted(tmp_path, "-m", "oc", "--learner", "knn", "--neighbors", "4", "--vote", weights,
                   classes / "any-train.csv")
    compare(tmp_path, model, *table(classes, "any"))


@pytest.mark.parametrize("rule", ["ovr", "ovo", "chain"])
def test_every_decision(classes, tmp_path, rule):
    model = fitted(tmp_path, "-m", "none", "-k", "rbf:gamma=0.3", "--learner", "svm", "--multiclass", rule,
                   classes / "any-train.csv")
    compare(tmp_path, model, *table(classes, "any"))


@pytest.mark.parametrize("rule", ["ovr", "ovo", "chain", "two"])
@pytest.mark.parametrize("calibration", ["platt", "isotonic"])
def test_probabilities(classes, tmp_path, calibration, rule):
    data, flags = ("two", []) if rule == "two" else ("any", ["--multiclass", rule])
    model = fitted(tmp_path, "-m", "none", "-k", "rbf:gamma=0.3", "--learner", "svm", "--calibration", calibration, *flags, classes / f"{data}-train.csv")
    inputs, files = table(classes, data)
    kfe("predict", model, *files, "--probabilities", "-o", tmp_path / "p.csv")
    ours = np.array([[float(cell) for cell in line.split(",")[1:]] for line in open(tmp_path / "p.csv").read().splitlines()[1:]])
    for precision, kind in (("float", np.float32), ("double", np.float64)):
        served, _ = session(tmp_path, model, precision)
        (found,) = served.run(["probabilities"], {k: v.astype(kind) for k, v in inputs.items()})
        assert found.shape == ours.shape and np.abs(found.sum(axis=1) - 1).max() < 1e-6
        # kfe couples pairs by iteration, to 1e-12 per step; a score's error counts times the slope of its curve
        assert np.abs(found - ours).max() <= (1e-9 if precision == "double" else 1e-5 if calibration == "platt" else 1e-3)


@pytest.mark.parametrize("scale", ["none", "standard", "minmax", "unit-norm", "l2-rows"])
def test_every_scaling(classes, tmp_path, scale):
    model = fitted(tmp_path, "-m", "kfd", "--learner", "svm", "--scale", scale, classes / "any-train.csv")
    compare(tmp_path, model, *table(classes, "any"))


def test_numbers_are_predicted(tmp_path):
    x, _ = rows(3, 50)
    write(tmp_path / "train.csv", x, np.sin(x[:, 0]) + x[:, 1])
    z, _ = rows(4, 30)
    write(tmp_path / "test.csv", z)
    for learner in ("ls", "knn", "svm"):
        model = fitted(tmp_path, "-m", "kpls", "--dim", "3", "--learner", learner, "--task", "regress",
                       tmp_path / "train.csv")
        compare(tmp_path, model, {"X": z}, [tmp_path / "test.csv"])


@pytest.mark.parametrize("how", ["pds:window=3,dim=2", "pds:window=1,dim=1", "epo:dim=2", "slope-bias"])
def test_models_of_another_instrument(tmp_path, how):
    x, _ = rows(3, 50)
    y = np.sin(x[:, 0]) + x[:, 1]
    slave = 1.1 * x + 0.1 * np.roll(x, 1, axis=1) + 0.2
    for name, *given in (("train", x, y), ("master", x[:20]), ("slave", slave[:20]), ("labelled", slave[:20], y[:20]), ("test", slave)):
        write(tmp_path / f"{name}.csv", *given)
    model = fitted(tmp_path, "-m", "pls", "--dim", "3", "--learner", "ls", "--task", "regress", "--prepare", "snv", tmp_path / "train.csv")
    samples = (["--slave", tmp_path / "labelled.csv"] if how == "slope-bias" else
               ["--master", tmp_path / "master.csv", "--slave", tmp_path / "slave.csv"])
    kfe("transfer", model, "--how", how, *samples, "-o", tmp_path / "moved.kfe")
    compare(tmp_path, tmp_path / "moved.kfe", {"X": slave}, [tmp_path / "test.csv"])


def test_missing_values_are_filled(tmp_path):
    x, y = rows(5, 60)
    x[3, 1] = x[10, 2] = np.nan
    write(tmp_path / "train.csv", x, y)
    z, _ = rows(6, 20)
    z[0, 0] = z[5, 1] = np.nan
    write(tmp_path / "test.csv", z)
    model = fitted(tmp_path, "-m", "kfd", "--learner", "knn", "--missing", "mean", tmp_path / "train.csv")
    compare(tmp_path, model, {"X": z}, [tmp_path / "test.csv"])


@pytest.mark.parametrize("method", ["lmkl", "sldr", "mkl", "hsic-mkl", "kfd", "kcca", "kgcca", "mbpls", "block-splsda"])
def test_views(tmp_path, method):
    x, y = rows(8, 60, classes=2, cols=7)
    z, _ = rows(9, 20, classes=2, cols=7)
    for name, part in (("shape", slice(0, 3)), ("features", slice(3, 7))):
        write(tmp_path / f"{name}.csv", x[:, part], y if name == "features" else None)
        write(tmp_path / f"{name}-test.csv", z[:, part])
    learner = [] if method in ("lmkl", "sldr", "mkl", "block-splsda") else ["--learner", "knn"]
    model = fitted(tmp_path, "-m", method, *learner, "--view", f"shape={tmp_path / 'shape.csv'}", "--view",
                   f"features={tmp_path / 'features.csv'}")
    inputs = {"shape": z[:, :3], "v/view2": z[:, 3:]}  # an output has the other name
    compare(tmp_path, model, inputs, ["--view", f"shape={tmp_path / 'shape-test.csv'}", "--view",
                                      f"features={tmp_path / 'features-test.csv'}"])


def test_views_that_are_columns_of_one_table(tmp_path):
    x, y = rows(8, 60, classes=2, cols=7)
    write(tmp_path / "train.csv", x, y)
    write(tmp_path / "test.csv", x[:20])
    model = fitted(tmp_path, "-m", "hsic-mkl", "--view", "a=c0,c5,c2", "--view", "b=c1,c3,c4,c6", tmp_path / "train.csv")
    compare(tmp_path, model, {"X": x[:20]}, [tmp_path / "test.csv"])


def write_mixed(path, x, texts, last=None):
    """Numbers, then text columns between them: c0, t0, c1, t1, …, and the rest."""
    columns = []
    for j in range(x.shape[1]):
        columns.append((f"c{j}", ["" if np.isnan(v) else f"{v:.17g}" for v in x[:, j]]))
        if j < len(texts):
            columns.append((f"t{j}", texts[j]))
    if last is not None:
        columns.append(("label", last))
    with open(path, "w") as out:
        print(*(name for name, _ in columns), sep=",", file=out)
        for i in range(len(x)):
            print(*(values[i] for _, values in columns), sep=",", file=out)


def mixed(seed, count, classes=3):
    """Text columns that follow the class, with a category of two words."""
    x, y = rows(seed, count, classes, cols=4)
    generator = np.random.default_rng(seed)
    colours = [["red", "light blue", "green"][(c + int(generator.random() < 0.2)) % 3] for c in y]
    sizes = [["S", "M", "L", "10"][generator.integers(4)] for _ in y]
    return x, y, [colours, sizes]


def compare_mixed(folder, model, x, texts, files):
    """The outputs with text columns as an input of their own."""
    kfe("transform", model, *files, "-o", folder / "features.csv")
    words = np.array(texts, dtype=object).T
    for precision, kind in (("float", np.float32), ("double", np.float64)):
        served, most = session(folder, model, precision)
        assert {i.name: i.shape[1] for i in served.get_inputs()} == {"X": x.shape[1], "X_text": len(texts)}
        (found,) = served.run(["features"], {"X": x.astype(kind), "X_text": words})
        close(read(folder / "features.csv"), found, precision, most)


@pytest.mark.parametrize("method", ["kfd", "pls", "none"])
def test_text_columns_are_encoded_inside(tmp_path, method):
    x, y, texts = mixed(12, 60)
    write_mixed(tmp_path / "train.csv", x, texts, [f"class {c}" for c in y])
    model = fitted(tmp_path, "-m", method, "--encode", "auto", tmp_path / "train.csv")
    z, _, new = mixed(13, 30)
    new[0][3] = "violet"  # unknown: zeros
    write_mixed(tmp_path / "test.csv", z, new)
    compare_mixed(tmp_path, model, z, new, [tmp_path / "test.csv"])


def test_missing_texts_are_filled(tmp_path):
    x, y, texts = mixed(14, 60)
    texts[0][5] = texts[1][9] = ""
    x[2, 1] = np.nan
    write_mixed(tmp_path / "train.csv", x, texts, y)
    model = fitted(tmp_path, "-m", "kfd", "--encode", "auto", "--missing", "most-frequent", tmp_path / "train.csv")
    z, _, new = mixed(15, 20)
    new[0][0] = new[1][4] = ""
    z[1, 2] = np.nan
    write_mixed(tmp_path / "test.csv", z, new)
    compare_mixed(tmp_path, model, z, new, [tmp_path / "test.csv"])


@pytest.mark.parametrize("method", ["pls", "opls", "pca"])
def test_rows_with_missing_values(tmp_path, method):
    """Features of rows with gaps are regressions on observed entries; a row without any value has the features 0."""
    x, y, _ = mixed(21, 60, classes=2)
    x[np.random.default_rng(3).random(x.shape) < 0.1] = np.nan
    write_mixed(tmp_path / "train.csv", x, [], y)
    model = fitted(tmp_path, "-m", method, "--missing", "nipals", tmp_path / "train.csv")
    z, _, _ = mixed(22, 20, classes=2)
    z[np.random.default_rng(4).random(z.shape) < 0.2] = np.nan
    z[3], z[4] = np.nan, 1.5
    write_mixed(tmp_path / "test.csv", z, [])
    compare(tmp_path, model, {"X": z}, [tmp_path / "test.csv"])


def test_text_columns_of_views(tmp_path):
    x, y, texts = mixed(16, 60, classes=2)
    write_mixed(tmp_path / "train.csv", x, texts, y)
    model = fitted(tmp_path, "-m", "hsic-mkl", "--encode", "auto", "--view", "a=t0,c1", "--view", "b=c0,t1,c2,c3",
                   tmp_path / "train.csv")
    z, _, new = mixed(17, 20, classes=2)
    write_mixed(tmp_path / "test.csv", z, new)
    compare_mixed(tmp_path, model, z, new, [tmp_path / "test.csv"])


def test_a_table_of_text_alone(tmp_path):
    _, y, texts = mixed(18, 60)
    for name in ("train", "test"):
        with open(tmp_path / f"{name}.csv", "w") as out:
            print("colour,size" + (",label" if name == "train" else ""), file=out)
            for i, c in enumerate(y):
                print(texts[0][i], texts[1][i], *([f"class {c}"] if name == "train" else []), sep=",", file=out)
    model = fitted(tmp_path, "-m", "kfd", "--encode", "auto", tmp_path / "train.csv")
    kfe("transform", model, tmp_path / "test.csv", "-o", tmp_path / "features.csv")
    served, _ = session(tmp_path, model, "double")
    (found,) = served.run(["features"], {"X_text": np.array(texts, dtype=object).T})
    close(read(tmp_path / "features.csv"), found, "double")


FAR = [1e25, -1e38, -1e160, 1e200, 1e308, 5e-324, 1e-310, -0.0]


def far_rows(kernel):
    base = rows(2, 3)[0]
    found = []
    for value in FAR:
        found += [np.r_[base[0][:2], value, base[0][3:]], np.full(5, value), np.r_[value, np.zeros(4)]]
    x = np.array(found)
    return np.abs(x) if kernel.split(":")[0] in ("chi2", "intersection") else x


def answers(folder, model, x, task, flags):
    """What kfe gives for each row: cells of the prediction and features; None: it refuses the row."""
    write(folder / "far.csv", x)
    predicted = kfe("predict", "-q", "--task", task, *flags, model, folder / "far.csv", check=False)
    if predicted.returncode:
        assert "too large" in predicted.stderr or "too small" in predicted.stderr, predicted.stderr
        half = len(x) // 2
        return answers(folder, model, x[:half], task, flags) + answers(folder, model, x[half:], task, flags) if half else [None]
    kfe("transform", "-q", model, folder / "far.csv", "-o", folder / "features.npy")
    return list(zip([line.split(",") for line in predicted.stdout.splitlines()[1:]], np.load(folder / "features.npy")))


def near(found, expected, tolerance, more=0.0):
    return np.abs(found - expected).max() <= tolerance * max(1, np.abs(expected).max()) + more


def check_far_row(x, given, ours, answer, precision, most):
    """`answer`: what ONNX Runtime gives for the row."""
    tolerance = {"float": 1e-3, "double": 1e-9}[precision]
    features, about = answer["features"], (precision, x, ours, answer)
    known = np.isfinite(answer["prediction" if "prediction" in answer else "scores"]).all()
    assert known <= np.isfinite(features).all(), about
    assert "label" not in answer or (answer["label"] != "") == known, about
    if ours is None or not known:
        # single precision ends earlier, double precision where kfe ends
        assert precision == "float" or ours is None or not known and np.abs(x).max() > 1e150, about
        return
    if x.any() and not given.any():
        return  # vanishes in single precision
    cells, expected = ours
    assert near(features, expected, tolerance, 8 * ROUNDING[precision] * most), about
    if "prediction" in answer:
        assert near(answer["prediction"], np.array(cells, float), tolerance, 8 * ROUNDING[precision] * most), about
    else:
        assert answer["label"] == cells[0] or precision == "float" and np.diff(np.sort(answer["scores"])[-2:])[0] < 1e-4, about
    if "probabilities" in answer:
        assert near(answer["probabilities"], np.array(cells[1:], float), tolerance if precision == "double" else 1e-2), about


def check_far_rows(folder, model, x, task="classify", flags=()):
    expected = answers(folder, model, x, task, flags)
    for precision, dtype in ("float", np.float32), ("double", float):
        served, most = session(folder, model, precision)
        with np.errstate(over="ignore", under="ignore"):
            given = x.astype(dtype)
        names = [output.name for output in served.get_outputs()]
        found = served.run(None, {served.get_inputs()[0].name: given})
        for i, ours in enumerate(expected):
            check_far_row(x[i], given[i], ours, {name: values[i] for name, values in zip(names, found)}, precision, most)


@pytest.mark.parametrize("kernel", KERNELS)
def test_far_rows(classes, tmp_path, kernel):
    """What overflows in the graph is answered as kfe answers it, or with NaN and no label: classes, probabilities and real targets."""
    data = "positive" if kernel.split(":")[0] in ("chi2", "intersection") else "any"
    train = classes / f"{data}-train.csv"
    fit = ["-m", "koc", "-k", kernel, "--scale", "none"]
    for learner in LEARNERS:
        model = fitted(tmp_path, *fit, "--learner", learner, "--task", "classify", train)
        check_far_rows(tmp_path, model, far_rows(kernel))
    for calibration in "platt", "isotonic":
        model = fitted(tmp_path, *fit, "--learner", "svm", "--calibration", calibration, "--task", "classify", train)
        check_far_rows(tmp_path, model, far_rows(kernel), flags=["--probabilities"])
    x = read_inputs(train)
    write(tmp_path / "real.csv", x, np.sin(x[:, 0]) + x[:, 1])
    for learner in sorted({"ls", "knn", "svm"} & set(LEARNERS)):
        model = fitted(tmp_path, "-m", "kpls", "--dim", "2", *fit[2:], "--learner", learner, "--task", "regress", tmp_path / "real.csv")
        check_far_rows(tmp_path, model, far_rows(kernel), "regress")


def read_inputs(path):
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(5))


@pytest.mark.parametrize("arguments", [["-m", "rfm", "--leaf-size", "20"], ["-m", "lmkl", "-k", "rbf"], ["-m", "sldr", "-k", "linear"], ["-m", "none", "-k", "matern:sigma=3"],
                                       ["-m", "none"], ["-m", "oc"], ["-m", "koc", "-k", "matern:sigma=3", "--scale", "l2-rows"],
                                       ["-m", "koc", "-k", "matern:sigma=3", "--scale", "unit-norm"]])
def test_far_rows_of_other_shapes(classes, tmp_path, arguments):
    for learner in ["svm"] if "lmkl" in arguments or "sldr" in arguments or arguments[:3] == ["-m", "none", "-k"] else ["svm", "knn"]:
        model = fitted(tmp_path, *arguments, *([] if "--scale" in arguments else ["--scale", "none"]), "--learner", learner, "--task", "classify",
                       classes / "any-train.csv")
        check_far_rows(tmp_path, model, far_rows("any"))


def test_equal_votes_at_any_distance(classes, tmp_path):
    """Far from the data, three classes often beat each other in turn; the sums of margins decide however wide they are."""
    model = fitted(tmp_path, "-m", "none", "-k", "poly:degree=3", "--scale", "standard", "--learner", "svm", "--multiclass", "ovo", "--task", "classify",
                   classes / "any-train.csv")
    direction = np.random.default_rng(4).normal(size=(400, 5))
    x = np.vstack([(direction * scale).astype(np.float32).astype(float) for scale in (1e1, 1e5, 1e9)])
    write(tmp_path / "far.csv", x)
    kfe("predict", "-q", model, tmp_path / "far.csv", "-o", tmp_path / "labels.csv")
    ours = np.array((tmp_path / "labels.csv").read_text().splitlines()[1:])
    for precision in "float", "double":
        served, _ = session(tmp_path, model, precision)
        label, scores = served.run(["label", "scores"], {"X": x.astype(np.float32 if precision == "float" else float)})
        wins = scores > 0  # pairs 01, 02, 12
        in_turn = (wins[:, 0] == wins[:, 2]) & (wins[:, 0] != wins[:, 1])
        assert in_turn.reshape(3, -1).sum(axis=1).min() > 5
        assert (label == ours).all(), (precision, scores[label != ours])


def test_what_single_precision_cannot_hold_is_refused(tmp_path):
    x, y = rows(1, 60)
    for kernel, factor in ("rbf:gamma=1e-36", 1e15), ("exp:sigma=1e18", 1e15), ("rbf:gamma=scale", 1e20), ("linear", 1e39):
        write(tmp_path / "train.csv", x * factor, y)
        model = fitted(tmp_path, "-m", "kpca", "--dim", "2", "-k", kernel, "--scale", "none", tmp_path / "train.csv")
        refused = kfe("export", model, "-o", tmp_path / "m.onnx", check=False)
        assert refused.returncode == 2 and "--precision double" in refused.stderr, (kernel, refused.stderr)
        served, _ = session(tmp_path, model, "double")
        kfe("transform", "-q", model, tmp_path / "train.csv", "-o", tmp_path / "z.npy")
        ours = np.load(tmp_path / "z.npy")
        found = served.run(["features"], {served.get_inputs()[0].name: x * factor})[0]
        assert np.abs(found - ours).max() <= 1e-9 * np.abs(ours).max()


def test_one_row_and_large_offsets(tmp_path):
    """Columns far from zero keep their digits in single precision, because the support is centred first."""
    x, y = rows(10, 60)
    shifted = (x + 1000).astype(np.float32).astype(float)
    write(tmp_path / "train.csv", shifted, y)
    write(tmp_path / "test.csv", shifted[:1])
    model = fitted(tmp_path, "-m", "kfd", "-k", "rbf:gamma=0.1", "--scale", "none", tmp_path / "train.csv")
    compare(tmp_path, model, {"X": shifted[:1]}, [tmp_path / "test.csv"])


@pytest.mark.parametrize("kernel, reason", [("precomputed", "given"), ("spectrum", "strings")])
def test_what_cannot_be_expressed_is_refused(tmp_path, kernel, reason):
    x, y = rows(11, 12)
    if kernel == "precomputed":
        write(tmp_path / "train.csv", x @ x.T, y)
    else:
        (tmp_path / "train.csv").write_text("".join(f"{'ACGT' * (1 + i % 3)}A,{i % 2}\n" for i in range(12)))
    model = tmp_path / "model.kfe"
    content = ["--content", "strings"] if kernel == "spectrum" else []
    kfe("fit", "-m", "kpca", "--dim", "1", "-k", kernel, *content, tmp_path / "train.csv", "-o", model)
    run = kfe("export", model, "-o", tmp_path / "out.onnx", check=False)
    assert run.returncode == 2 and reason in run.stderr
    assert not (tmp_path / "out.onnx").exists()


def test_wrong_commands(tmp_path, classes):
    model = fitted(tmp_path, "-m", "oc", classes / "any-train.csv")
    for arguments, word in ((["-o", tmp_path / "x.pb"], ".onnx"), ([], "-o"),
                            (["-o", tmp_path / "x.onnx", "--precision", "half"], "precision")):
        run = kfe("export", model, *arguments, check=False)
        assert run.returncode == 2 and word in run.stderr
