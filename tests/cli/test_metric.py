# SPDX-License-Identifier: Apache-2.0
"""--metric: a learned or given metric for any method. Mapping the columns beforehand must give the same features."""
import json

import numpy as np
import pytest


def table(path, *columns):
    np.savetxt(path, np.column_stack(columns), delimiter=",", fmt="%.17g")


@pytest.fixture
def metric(kfe):
    """Data whose third column is noise, a metric, and the data mapped by its root."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(60, 3)) * [1, 2, 3]
    y = (x[:, 0] + x[:, 1] > 0).astype(int)
    root = np.array([[1.0, 0.3, 0], [0.3, 0.5, 0.1], [0, 0.1, 0.05]])
    m = root @ root
    values, vectors = np.linalg.eigh(m)
    table(kfe.folder / "data.csv", x, y)
    table(kfe.folder / "x.csv", x)
    table(kfe.folder / "metric.csv", m)
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
                                    ("kfd", "--landmarks", "20", "-k", "rbf:gamma=0.2")], ids=lambda m: m[0])
@pytest.mark.parametrize("file, mapped", [("metric.csv", "mapped.csv"), ("weights.csv", "weighted.csv")])
def test_metric_is_a_map_of_the_columns(metric, method, file, mapped):
    flags = ("-m", *method, "--scale", "none", "--label", "last")
    got = features(metric, "data.csv", *flags, "--metric", file)
    expected = features(metric, mapped, *flags)
    signs = np.sign((got * expected).sum(axis=0))
    np.testing.assert_allclose(got * signs, expected, atol=1e-7 * np.abs(expected).max())


def test_metric_of_a_model_comes_with_its_scaling(metric):
    """koc on rfm's metric predicts as well whatever --scale says, and cv runs with it."""
    metric.ok("fit", "-q", "-m", "rfm", "--metric", "diagonal", "--iterations", "2", "--scale", "standard", "data.csv", "-o", "rfm.kfe")
    one = features(metric, "data.csv", "-m", "koc", "-k", "rbf:gamma=0.2", "--metric", "rfm.kfe", "--scale", "none")
    other = features(metric, "data.csv", "-m", "koc", "-k", "rbf:gamma=0.2", "--metric", "rfm.kfe", "--scale", "minmax")
    np.testing.assert_array_equal(one, other)
    report = json.loads(metric.ok("cv", "--json", "-m", "koc", "--learner", "centroid", "--metric", "rfm.kfe", "--folds", "3",
                                  "data.csv").out)
    plain = json.loads(metric.ok("cv", "--json", "-m", "koc", "--learner", "centroid", "--folds", "3", "data.csv").out)
    assert report != plain


@pytest.mark.parametrize("method", ["lmkl", "sldr", "slmc", "none", "akda-qr"])
def test_models_of_every_kind_are_saved_with_a_metric(metric, method):
    table(metric.folder / "plane.csv", np.diag([1, 2, 0]))
    assert features(metric, "data.csv", "-m", method, "--metric", "plane.csv").shape[0] == 60
    assert "a metric of 2 directions" in metric.ok("info", "m.kfe").out


def test_linear_models_keep_the_columns_of_the_data(metric):
    metric.ok("fit", "-q", "-m", "pca", "--dim", "2", "--metric", "metric.csv", "data.csv", "-o", "m.kfe")
    metric.ok("fit", "-q", "-m", "koc", "--metric", "m.kfe", "data.csv", "-o", "n.kfe")
    assert "3 columns" in metric.ok("info", "n.kfe").out


@pytest.mark.parametrize("flags, message", [
    (("-m", "koc", "--metric", "full"), "koc learns no metric"),
    (("-m", "koc", "--metric", "missing.csv"), "missing.csv"),
    (("-m", "koc", "--metric", "odd.csv"), "square matrix"),
    (("-m", "koc", "--metric", "skew.csv"), "not symmetric"),
    (("-m", "koc", "--metric", "negative.csv"), "negative eigenvalues"),
    (("-m", "koc", "--metric", "small.csv"), "3 columns, but --metric is for 2"),
    (("-m", "koc", "--metric", "plain.kfe"), "learned no metric"),
    (("-m", "koc", "--metric", "metric.csv", "x.csv"), "one table")])
def test_refusals(metric, flags, message):
    table(metric.folder / "odd.csv", np.ones((3, 2)))
    table(metric.folder / "skew.csv", [[1, 2, 0], [0, 1, 0], [0, 0, 1]])
    table(metric.folder / "negative.csv", np.diag([1, 1, -1]))
    table(metric.folder / "small.csv", np.eye(2))
    metric.ok("fit", "-q", "-m", "koc", "data.csv", "-o", "plain.kfe")
    metric.refused("fit", *flags, "data.csv", "-o", "m.kfe", says=message)


def test_explanations_know_the_metric(metric):
    """The coefficients of pca are on the columns of the data; a linear kernel after a metric has none."""
    metric.ok("fit", "-q", "-m", "pca", "--dim", "1", "--scale", "none", "--metric", "weights.csv", "data.csv", "-o", "m.kfe")
    metric.ok("explain", "m.kfe")
    metric.ok("fit", "-q", "-m", "koc", "-k", "linear", "--learner", "ls", "--metric", "metric.csv", "data.csv", "-o", "n.kfe")
    done = metric.run("explain", "--parts", "linear", "n.kfe", status=2)
    assert "metric" in done.err and "no coefficients on columns" in done.err


def shares(metric, model):
    return np.ravel(json.loads(metric.ok("explain", model, "--parts", "metric", "--json").out)["tables"]["metric"]["values"])


def test_columns_of_a_metric(metric):
    """The diagonal of the metric, with sum 1: of a file, of a model of rfm, and of the leaves of its tree."""
    table(metric.folder / "plane.csv", [[1, 1, 0], [1, 2, 0], [0, 0, 0]])
    metric.ok("fit", "-q", "-m", "koc", "--metric", "plane.csv", "data.csv", "-o", "m.kfe")
    assert shares(metric, "m.kfe") == pytest.approx([1 / 3, 2 / 3, 0], abs=1e-12)
    for flags in (["--metric", "full"], ["--metric", "diagonal"], ["--leaf-size", "20"]):
        metric.ok("fit", "-q", "-m", "rfm", "--held-out", "0", *flags, "data.csv", "-o", "m.kfe")
        recorded = json.loads(metric.ok("info", "--json", "m.kfe").out)["records"]["importance"]
        assert shares(metric, "m.kfe") == pytest.approx(recorded, abs=1e-12) and len(set(recorded)) > 1
    metric.ok("fit", "-q", "-m", "koc", "data.csv", "-o", "plain.kfe")
    metric.refused("explain", "--parts", "metric", "plain.kfe", says="no learned metric")


@pytest.mark.parametrize("flags", [("-m", "rfm", "--metric", "full", "--held-out", "0"), ("-m", "koc", "--metric", "weights.csv")])
def test_exports_have_the_map(metric, flags):
    """Without the map, the graph would multiply three columns with a support of other columns, or not scale them."""
    metric.ok("fit", "-q", *flags, "--scale", "none", "data.csv", "-o", "m.kfe")
    metric.ok("export", "m.kfe", "-o", "m.onnx", "--precision", "double")
    plain = flags[:2] + (("--iterations", "0") if flags[1] == "rfm" else ())
    metric.ok("fit", "-q", *plain, "--scale", "none", "data.csv", "-o", "p.kfe")
    metric.ok("export", "p.kfe", "-o", "p.onnx", "--precision", "double")
    operation = b"MatMul" if flags[1] == "rfm" else b"Mul"
    count = [(metric.folder / name).read_bytes().count(operation) for name in ("m.onnx", "p.onnx")]
    assert count[0] == count[1] + 1
