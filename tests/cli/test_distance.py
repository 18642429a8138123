# SPDX-License-Identifier: Apache-2.0
"""--distance: a learned or given distance for any method. Mapping the columns beforehand must give the same features."""
import json

import numpy as np
import pytest


def table(path, *columns):
    np.savetxt(path, np.column_stack(columns), delimiter=",", fmt="%.17g")


@pytest.fixture
def distance(kfe):
    """Data whose third column is noise, a distance, and the data mapped by its root."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(60, 3)) * [1, 2, 3]
    y = (x[:, 0] + x[:, 1] > 0).astype(int)
    root = np.array([[1.0, 0.3, 0], [0.3, 0.5, 0.1], [0, 0.1, 0.05]])
    m = root @ root
    values, vectors = np.linalg.eigh(m)
    table(kfe.folder / "data.csv", x, y)
    table(kfe.folder / "x.csv", x)
    table(kfe.folder / "matrix.csv", m)
    table(kfe.folder / "mapped.csv", x @ (vectors * np.sqrt(values)), y)
    table(kfe.folder / "weights.csv", [4.0, 1.0, 0.25])
    table(kfe.folder / "weighted.csv", x * [2, 1, 0.5], y)
    return kfe


def features(kfe, data, *flags):
    kfe.ok("fit", "-q", *flags, data, "-o", "m.kfe")
    kfe.ok("transform", "-q", "m.kfe", data, "-o", "f.npy")
    return np.load(kfe.folder / "f.npy")


@pytest.mark.parametrize("method", [("koc", "-k", "rbf:gamma=0.2"), ("kpca", "--dim", "2", "-k", "matern:sigma=3"),
                                    ("pca", "--dim", "2"), ("sma", "--dim", "2", "-k", "rbf:gamma=0.1"),
                                    ("kfd", "--landmarks", "1000", "-k", "rbf:gamma=0.2")], ids=lambda m: m[0])
@pytest.mark.parametrize("file, mapped", [("matrix.csv", "mapped.csv"), ("weights.csv", "weighted.csv")])
def test_distance_is_a_map_of_the_columns(distance, method, file, mapped):
    flags = ("-m", *method, "--scale", "none", "--label", "last")
    got = features(distance, "data.csv", *flags, "--distance", file)
    expected = features(distance, mapped, *flags)
    signs = np.sign((got * expected).sum(axis=0))
    np.testing.assert_allclose(got * signs, expected, atol=1e-7 * np.abs(expected).max())


def test_distance_of_a_model_comes_with_its_scaling(distance):
    """koc on rfm's distance predicts as well whatever --scale says, and cv runs with it."""
    distance.ok("fit", "-q", "-m", "rfm", "--distance", "diagonal", "--iterations", "2", "--scale", "standard", "data.csv", "-o", "rfm.kfe")
    one = features(distance, "data.csv", "-m", "koc", "-k", "rbf:gamma=0.2", "--distance", "rfm.kfe", "--scale", "none")
    other = features(distance, "data.csv", "-m", "koc", "-k", "rbf:gamma=0.2", "--distance", "rfm.kfe", "--scale", "minmax")
    np.testing.assert_array_equal(one, other)
    result = json.loads(distance.ok("cv", "--json", "-m", "koc", "--learner", "centroid", "--distance", "rfm.kfe", "--folds", "3",
                                  "data.csv").out)
    plain = json.loads(distance.ok("cv", "--json", "-m", "koc", "--learner", "centroid", "--folds", "3", "data.csv").out)
    assert result != plain


def test_rfm_that_learned_nothing_leaves_the_distances(distance):
    """Its columns count alike, on the scale of its model."""
    distance.ok("fit", "-q", "-m", "rfm", "--iterations", "0", "--scale", "standard", "data.csv", "-o", "rfm.kfe")
    flags = ("-m", "koc", "-k", "rbf:gamma=0.2")
    got = features(distance, "data.csv", *flags, "--distance", "rfm.kfe", "--scale", "none")
    np.testing.assert_array_equal(got, features(distance, "data.csv", *flags, "--scale", "standard"))


@pytest.mark.parametrize("method", ["lmkl", "sldr", "slmc", "none", "akda-qr"])
def test_models_of_every_kind_are_saved_with_a_distance(distance, method):
    table(distance.folder / "plane.csv", np.diag([1, 2, 0]))
    assert features(distance, "data.csv", "-m", method, "--distance", "plane.csv").shape[0] == 60
    assert "a learned distance of 2 directions" in distance.ok("info", "m.kfe").out


def test_former_names(distance):
    """--metric, the part metric, and models that were written with these words."""
    flags = ("-m", "koc", "-k", "rbf:gamma=0.2")
    now = features(distance, "data.csv", *flags, "--distance", "matrix.csv")
    model = (distance.folder / "m.kfe").read_bytes()
    np.testing.assert_array_equal(now, features(distance, "data.csv", *flags, "--metric", "matrix.csv"))
    assert (distance.folder / "m.kfe").read_bytes() == model
    assert distance.ok("explain", "m.kfe", "--parts", "metric").out == distance.ok("explain", "m.kfe", "--parts", "distance").out
    assert "--metric " not in distance.ok("fit", "-m", "rfm", "--help").out


def test_linear_models_keep_the_columns_of_the_data(distance):
    distance.ok("fit", "-q", "-m", "pca", "--dim", "2", "--distance", "matrix.csv", "data.csv", "-o", "m.kfe")
    distance.ok("fit", "-q", "-m", "koc", "--distance", "m.kfe", "data.csv", "-o", "n.kfe")
    assert "3 columns" in distance.ok("info", "n.kfe").out


@pytest.mark.parametrize("flags, message", [
    (("-m", "koc", "--distance", "full"), "koc learns no distance"),
    (("-m", "koc", "--distance", "missing.csv"), "missing.csv"),
    (("-m", "koc", "--distance", "odd.csv"), "square matrix"),
    (("-m", "koc", "--distance", "skew.csv"), "not symmetric"),
    (("-m", "koc", "--distance", "negative.csv"), "negative eigenvalues"),
    (("-m", "koc", "--distance", "small.csv"), "3 columns, but --distance is for 2"),
    (("-m", "koc", "--distance", "plain.kfe"), "learned no distance"),
    (("-m", "koc", "--distance", "matrix.csv", "x.csv"), "one table")])
def test_refusals(distance, flags, message):
    table(distance.folder / "odd.csv", np.ones((3, 2)))
    table(distance.folder / "skew.csv", [[1, 2, 0], [0, 1, 0], [0, 0, 1]])
    table(distance.folder / "negative.csv", np.diag([1, 1, -1]))
    table(distance.folder / "small.csv", np.eye(2))
    distance.ok("fit", "-q", "-m", "koc", "data.csv", "-o", "plain.kfe")
    distance.refused("fit", *flags, "data.csv", "-o", "m.kfe", says=message)


def test_explanations_know_the_distance(distance):
    """The coefficients of pca are on the columns of the data; a linear kernel after a distance has none."""
    distance.ok("fit", "-q", "-m", "pca", "--dim", "1", "--scale", "none", "--distance", "weights.csv", "data.csv", "-o", "m.kfe")
    distance.ok("explain", "m.kfe")
    distance.ok("fit", "-q", "-m", "koc", "-k", "linear", "--learner", "ls", "--distance", "matrix.csv", "data.csv", "-o", "n.kfe")
    done = distance.run("explain", "--parts", "linear", "n.kfe", status=2)
    assert "distance" in done.err and "no coefficients on columns" in done.err


def shares(distance, model):
    return np.ravel(json.loads(distance.ok("explain", model, "--parts", "distance", "--json").out)["tables"]["distance"]["values"])


def test_columns_of_a_distance(distance):
    """The diagonal of its matrix, with sum 1: of a file, of a model of rfm, and of the leaves of its tree."""
    table(distance.folder / "plane.csv", [[1, 1, 0], [1, 2, 0], [0, 0, 0]])
    distance.ok("fit", "-q", "-m", "koc", "--distance", "plane.csv", "data.csv", "-o", "m.kfe")
    assert shares(distance, "m.kfe") == pytest.approx([1 / 3, 2 / 3, 0], abs=1e-12)
    for flags in (["--distance", "full"], ["--distance", "diagonal"], ["--leaf-size", "20"]):
        distance.ok("fit", "-q", "-m", "rfm", "--held-out", "0", *flags, "data.csv", "-o", "m.kfe")
        recorded = json.loads(distance.ok("info", "--json", "m.kfe").out)["records"]["importance"]
        assert shares(distance, "m.kfe") == pytest.approx(recorded, abs=1e-12) and len(set(recorded)) > 1
    distance.ok("fit", "-q", "-m", "koc", "data.csv", "-o", "plain.kfe")
    distance.refused("explain", "--parts", "distance", "plain.kfe", says="no learned distance")


@pytest.mark.parametrize("flags", [("-m", "rfm", "--distance", "full", "--held-out", "0"), ("-m", "koc", "--distance", "weights.csv")])
def test_exports_have_the_map(distance, flags):
    """Without the map, the graph would multiply three columns with a support of other columns, or not scale them."""
    distance.ok("fit", "-q", *flags, "--scale", "none", "data.csv", "-o", "m.kfe")
    distance.ok("export", "m.kfe", "-o", "m.onnx", "--precision", "double")
    plain = flags[:2] + (("--iterations", "0") if flags[1] == "rfm" else ())
    distance.ok("fit", "-q", *plain, "--scale", "none", "data.csv", "-o", "p.kfe")
    distance.ok("export", "p.kfe", "-o", "p.onnx", "--precision", "double")
    operation = b"MatMul" if flags[1] == "rfm" else b"Mul"
    count = [(distance.folder / name).read_bytes().count(operation) for name in ("m.onnx", "p.onnx")]
    assert count[0] == count[1] + 1


@pytest.mark.parametrize("source", ["weights.csv", "matrix.csv", "rfm.kfe", "pls.kfe"])
def test_columns_are_matched_by_name(kfe, source):
    """The same distance on a table with its columns in another order gives the same predictions."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 3)) * [1, 2, 3]
    y = np.where(x[:, 0] + x[:, 1] > 0, "u", "v")
    names = np.array(["a", "b", "c"])
    for file, order in ("data.csv", [0, 1, 2]), ("other.csv", [2, 0, 1]):
        kfe.write(file, ",".join([*names[order], "y"]) + "\n" +
                  "".join(",".join([*map(repr, map(float, row[order])), label]) + "\n" for row, label in zip(x, y)))
    kfe.write("weights.csv", "b,a,c\n1,4,0.25\n")
    kfe.write("matrix.csv", "b,a,c\n1,0.5,0\n0.5,4,0.2\n0,0.2,0.25\n")
    kfe.ok("fit", "-q", "-m", "rfm", "-k", "exp", "--scale", "standard", "--iterations", "2", "data.csv", "-o", "rfm.kfe")
    kfe.ok("fit", "-q", "-m", "pls", "--dim", "2", "--scale", "standard", "data.csv", "-o", "pls.kfe")
    answers = []
    for file in "data.csv", "other.csv":
        kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.2", "--scale", "none", "--distance", source, file, "-o", "m.kfe")
        kfe.ok("transform", "-q", "m.kfe", "data.csv", "-o", "f.npy")
        answers.append(np.load(kfe.folder / "f.npy"))
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-9)
    kfe.write("named.csv", "b,a,z\n1,4,0.25\n")
    kfe.refused("fit", "-q", "-m", "koc", "--distance", "named.csv", "data.csv", "-o", "n.kfe", says="no column 'c'")
