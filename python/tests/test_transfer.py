# SPDX-License-Identifier: Apache-2.0
"""Transfer between instruments, against NumPy and scikit-learn; tests/cli/test_transfer.py has the refusals of files."""
import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression

import kfe


def problem(rows=40, cols=20, seed=0):
    random = np.random.default_rng(seed)
    place = np.linspace(0, 1, cols)
    amounts = random.random((rows, 3))
    x = amounts @ np.exp(-((place - np.array([[0.2], [0.5], [0.8]])) / 0.15) ** 2) + 0.01 * random.normal(size=(rows, cols))
    return x, amounts[:, 0]


def second(x, seed=1):
    """What a second instrument measures: neighbouring columns mixed, another gain, noise."""
    random = np.random.default_rng(seed)
    mixed = 0.7 * x + 0.3 * np.roll(x, 1, axis=1)
    return 1.1 * mixed + 0.05 + 0.002 * random.normal(size=x.shape)


def pds(master, slave, window, dim, weight):
    """The matrix F and b of x -> x F + b, one PLS regression per column on rows repeated by their weights."""
    master, slave = np.repeat(master, weight, axis=0), np.repeat(slave, weight, axis=0)
    cols = master.shape[1]
    F, b = np.zeros((cols, cols)), np.zeros(cols)
    for j in range(cols):
        near = np.arange(max(0, j - window // 2), min(cols, j + window // 2 + 1))
        pls = PLSRegression(n_components=min(dim, len(near)), scale=False).fit(slave[:, near], master[:, j])
        F[near, j] = np.ravel(pls.coef_)
        b[j] = master[:, j].mean() - slave[:, near].mean(0) @ F[near, j]
    return F, b


@pytest.mark.parametrize("window, dim", [(1, 1), (5, 2), (7, 7), (9, 3)])
def test_pds_is_pls_in_windows(window, dim):
    x, y = problem()
    model = kfe.PLSRegressor(dim=3, learner="ls", prepare="snv").fit(x, y)
    chosen, weight = np.arange(0, 40, 3), np.resize([1, 2, 1], 14)
    F, b = pds(x[chosen], second(x)[chosen], window, dim, weight)
    slave = second(x)
    moved = kfe.transfer(model, f"pds:window={window},dim={dim}", slave=slave[chosen], master=x[chosen], sample_weight=weight)
    np.testing.assert_allclose(moved.predict(slave), model.predict(slave @ F + b), atol=1e-8)
    np.testing.assert_allclose(moved.transform(slave), model.transform(slave @ F + b), atol=1e-8)
    assert moved is not model and np.abs(moved.predict(slave) - model.predict(slave)).max() > 1e-3
    assert moved.get_params() == model.get_params()


def test_equal_instruments_change_nothing():
    x, y = problem()
    model = kfe.PLSRegressor(dim=3, learner="ls").fit(x, y)
    moved = kfe.transfer(model, "pds:window=5,dim=5", slave=x[:20], master=x[:20])
    np.testing.assert_allclose(moved.predict(x), model.predict(x), atol=1e-10)
    with pytest.warns(kfe.KfeWarning, match="only 0 directions"):
        moved = kfe.transfer(model, "epo:dim=2", slave=x[:20], master=x[:20])
    np.testing.assert_array_equal(moved.predict(x), model.predict(x))


@pytest.mark.parametrize("count", [6, 30])  # fewer and more samples than columns
def test_epo_is_the_projection(count):
    x, y = problem()
    random = np.random.default_rng(3)
    weight = random.integers(1, 4, count)
    slave = x + random.normal(size=(40, 2)) @ random.normal(size=(2, 20)) + 1e-3 * random.normal(size=x.shape)
    V = np.linalg.svd(np.sqrt(weight)[:, None] * (slave - x)[:count])[2][:2]
    P = np.eye(20) - V.T @ V
    model = kfe.PLSRegressor(dim=3, learner="ls", prepare="standard").fit(x, y)
    kept = kfe.transfer(model, "epo:dim=2", slave=slave[:count], master=x[:count], sample_weight=weight)
    np.testing.assert_allclose(kept.predict(slave), model.predict(slave @ P), atol=1e-8)
    again = kfe.transfer(model, "epo:dim=2", slave=slave[:count], master=x[:count], train=(x, y), sample_weight=weight)
    direct = kfe.PLSRegressor(dim=3, learner="ls", prepare="standard").fit(x @ P, y)
    np.testing.assert_allclose(again.predict(slave), direct.predict(slave @ P), atol=1e-7)
    twice = kfe.transfer(again, "epo:dim=2", slave=slave[:count], master=x[:count], sample_weight=weight)  # it is idempotent
    np.testing.assert_allclose(twice.predict(slave), again.predict(slave), atol=1e-9)


def test_exact_disturbances_are_removed():
    x, y = problem()
    direction = np.sin(np.arange(20))
    model = kfe.PLSRegressor(dim=3, learner="ls").fit(x, y)
    slave = x + np.linspace(1, 2, 40)[:, None] * direction
    moved = kfe.transfer(model, "epo:dim=1", slave=slave[:10], master=x[:10], train=(x, y))
    np.testing.assert_allclose(moved.predict(slave), moved.predict(x), atol=1e-10)


REGRESSORS = [kfe.PLSRegressor(dim=3, learner="ls"), kfe.KPCARegressor(dim=4, learner="knn"), kfe.PLSRegressor(dim=3, learner="svm"),
              kfe.ReducedKOPLSRegressor(dim=2, learner="ls"), kfe.NoExtractionRegressor(kernel="rbf", learner="svm"),
              kfe.NoExtractionRegressor(learner="knn")]


@pytest.mark.parametrize("slope", ["yes", "no"])
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: f"{type(model).__name__}-{getattr(model, 'learner', '')}")
def test_slope_bias_is_the_line_of_least_squares(model, slope):
    x, y = problem()
    y = np.column_stack([y, 5 + x[:, 4] ** 2]) if isinstance(model, kfe.PLSRegressor) and model.learner == "ls" else y
    model.fit(x, y)
    slave = second(x)
    reference = 2 * y + 1
    weight = np.random.default_rng(5).random(40)
    moved = kfe.transfer(model, f"slope-bias:slope={slope}", slave=slave, y=reference, sample_weight=weight)
    before, after = (np.reshape(each.predict(slave), (40, -1)) for each in (model, moved))
    for k, truth in enumerate(np.reshape(reference, (40, -1)).T):
        if slope == "yes":
            line = np.polyfit(before[:, k], truth, 1, w=np.sqrt(weight))
        else:
            line = 1, np.average(truth - before[:, k], weights=weight)
        np.testing.assert_allclose(after[:, k], line[0] * before[:, k] + line[1], atol=1e-8)
        np.testing.assert_allclose(moved.records_["transfer-slope"][k], line[0], rtol=1e-7)
    again = kfe.transfer(moved, f"slope-bias:slope={slope}", slave=slave, y=reference, sample_weight=weight)
    np.testing.assert_allclose(again.predict(slave), moved.predict(slave), atol=1e-8)


def test_intervals_and_studentized_residuals_follow():
    x, y = problem(60)
    model = kfe.PLSRegressor(dim=3, learner="ls", conformal="cross").fit(x, y)
    moved = kfe.transfer(model, "slope-bias", slave=x, y=3 * model.predict(x) + 2)
    np.testing.assert_allclose(moved.predict_intervals(x), 3 * model.predict_intervals(x) + 2, atol=1e-8)
    told, known = (each.diagnostics(x[:9], target)["studentized"].values for each, target in ((moved, 3 * y[:9] + 2), (model, y[:9])))
    np.testing.assert_allclose(told, known, rtol=1e-8)
    slave = second(x)
    shifted = kfe.transfer(model, "pds:window=1,dim=1", slave=2 * x, master=x)
    np.testing.assert_allclose(shifted.predict_intervals(2 * slave), model.predict_intervals(slave), atol=1e-8)


def test_models_are_saved_and_exported(tmp_path):
    x, y = problem()
    slave = second(x)
    model = kfe.PLSRegressor(dim=3, learner="ls", prepare="snv").fit(x, y)
    for how in ("pds:window=5,dim=2", "epo:dim=2"):
        moved = kfe.transfer(model, how, slave=slave[:12], master=x[:12])
        moved.save(tmp_path / "moved.kfe")
        np.testing.assert_array_equal(kfe.load(tmp_path / "moved.kfe").predict(slave), moved.predict(slave))
        runtime = pytest.importorskip("onnxruntime")
        moved.to_onnx(tmp_path / "moved.onnx", precision="double")
        found = runtime.InferenceSession(str(tmp_path / "moved.onnx")).run(["prediction"], {"X": slave})[0]
        np.testing.assert_allclose(found[:, 0], moved.predict(slave), atol=1e-9)


def test_coefficients_are_on_the_columns_of_the_slave():
    x, y = problem()
    slave = second(x)
    model = kfe.PLSRegressor(dim=3, learner="ls").fit(x, y)
    moved = kfe.transfer(model, "pds:window=5,dim=2", slave=slave[:12], master=x[:12])
    told = moved.explain(parts="linear")
    np.testing.assert_allclose(slave @ told["coefficients"].values[:, 0] + np.ravel(told["intercept"].values), moved.predict(slave), atol=1e-9)


def test_classifiers_are_transferred():
    x, y = problem()
    classes = np.where(y > 0.5, "high", "low")
    model = kfe.PLSDAClassifier(dim=3).fit(x, classes)
    moved = kfe.transfer(model, "pds:window=1,dim=1", slave=2 * x[:9], master=x[:9])
    np.testing.assert_array_equal(moved.predict(2 * x), model.predict(x))
    with pytest.raises(ValueError, match="predicts classes"):
        kfe.transfer(model, "slope-bias", slave=x, y=classes)


def test_refusals():
    x, y = problem()
    model = kfe.PLSRegressor(dim=3, learner="ls").fit(x, y)
    for match, how, given in [
            ("the master has 5 samples and the slave 4", "pds", dict(slave=x[:4], master=x[:5])),
            ("two or more samples", "pds", dict(slave=x[:1], master=x[:1])),
            ("none of them", "sds", dict(slave=x, master=x)),
            ("odd number", "pds:window=4", dict(slave=x, master=x)),
            ("no parameter 'width'", "pds:width=4", dict(slave=x, master=x)),
            ("one step", "pds:window=3,snv", dict(slave=x, master=x)),
            ("measured of the same samples: master", "pds", dict(slave=x)),
            ("leave out master", "slope-bias", dict(slave=x, master=x, y=y)),
            ("only epo", "pds", dict(slave=x, master=x, train=(x, y))),
            ("reference values", "slope-bias", dict(slave=x)),
            ("do not rise", "slope-bias", dict(slave=x, y=-y))]:
        with pytest.raises(ValueError, match=match):
            kfe.transfer(model, how, **given)
    with pytest.raises(ValueError, match="kfe.transfer"):
        kfe.PLSRegressor(dim=3, prepare="pds").fit(x, y)
    moved = kfe.transfer(model, "epo", slave=second(x), master=x)
    with pytest.raises(kfe.UnsupportedError, match="second instrument"):
        kfe.transfer(moved, "epo", slave=second(x), master=x, train=(x, y))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_against_chemotools():
    adaptation = pytest.importorskip("chemotools.adaptation", reason="chemotools is not installed")
    from chemotools.projection import ExternalParameterOrthogonalization
    x, y = problem()
    slave = second(x)
    model = kfe.PLSRegressor(dim=3, learner="ls").fit(x, y)
    moved = kfe.transfer(model, "pds:window=5,dim=2", slave=slave[:12], master=x[:12])
    other = adaptation.PiecewiseDirectStandardization(window_length=2, n_components=2, scale=False).fit(slave[:12], X_source=x[:12])
    np.testing.assert_allclose(moved.predict(slave), model.predict(other.transform(slave)), atol=1e-8)
    V = ExternalParameterOrthogonalization(n_components=2).fit(
        x, X_external=np.vstack([x[:12], slave[:12]]), sample_ids=np.tile(np.arange(12), 2)).V_epo_
    moved = kfe.transfer(model, "epo:dim=2", slave=slave[:12], master=x[:12])
    np.testing.assert_allclose(moved.predict(slave), model.predict(slave - slave @ V @ V.T), atol=1e-8)
