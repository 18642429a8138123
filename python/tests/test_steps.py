# SPDX-License-Identifier: Apache-2.0
"""``prepare``: what it takes, where it applies, and ONNX files of models with steps."""
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import kfe

CHAIN = ["snv", ("sg", {"window": 7, "derivative": 1})]
TEXT = "snv,sg:window=7,derivative=1"


@pytest.fixture
def spectra():
    draw = np.random.default_rng(0)
    amounts, waves = draw.random((40, 3)), np.arange(30)
    x = amounts @ np.exp(-((waves - np.array([[6], [15], [23]])) / np.array([[4], [6], [5]])) ** 2)
    return 0.2 + x * (1 + draw.random((40, 1))) + 1e-3 * draw.standard_normal(x.shape), amounts[:, 0]


@pytest.mark.parametrize("written", [TEXT, CHAIN, tuple(CHAIN), ["snv", {"name": "sg", "window": 7, "derivative": 1}], ["snv", "sg:window=7,derivative=1"]])
def test_ways_to_write_a_chain(spectra, written):
    expected = kfe.PLSRegressor(dim=3, prepare=TEXT).fit(*spectra).predict(spectra[0])
    model = kfe.PLSRegressor(dim=3, prepare=written)
    assert np.array_equal(clone(model).fit(*spectra).predict(spectra[0]), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(model.fit(*spectra))).predict(spectra[0]), expected)


def test_wrong_chains(spectra):
    for wrong in (3, [("sg", 3)], [{"window": 3}]):
        with pytest.raises(TypeError, match="step"):
            kfe.PCA(prepare=wrong).fit(spectra[0])
    with pytest.raises(kfe.InvalidArgumentError, match=r"no step 'snw'.*kfe.steps\(\)"):
        kfe.PCA(prepare="snw").fit(spectra[0])
    with pytest.raises(kfe.InputError, match="prepare='log:offset=1'"):
        kfe.PCA(prepare="log").fit(spectra[0] - 1)


def test_names_and_scaling_are_of_prepared_columns(spectra):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(spectra[0], columns=[f"{900 + 2 * j} nm" for j in range(30)])
    model = kfe.PLSRegressor(dim=2, prepare="cut:keep=910..940,bin:width=4", scale="standard").fit(frame, spectra[1])
    assert len(model.scale_mean_) == 4 and model.n_features_in_ == 30 and list(model.feature_names_in_) == list(frame.columns)
    found = kfe.cv(model, frame, spectra[1], folds=4)
    chosen = spectra[0][:, 5:21]
    expected = kfe.cv(kfe.PLSRegressor(dim=2, scale="standard"), np.stack([chosen[:, k:k + 4].mean(1) for k in range(0, 16, 4)], 1), spectra[1], folds=4)
    if expected["metrics"]["rmse"]:
        assert found["metrics"]["rmse"]["mean"] == pytest.approx(expected["metrics"]["rmse"]["mean"], rel=1e-6)


def test_single_rows_equal_many(spectra):
    """One row at a time takes another way through the library; single precision, too."""
    model = kfe.KPLSRegressor(dim=2, prepare="msc,als:lambda=100,sg:window=5,standard", kernel="rbf:gamma=0.01").fit(*spectra)
    many = model.predict(spectra[0])
    assert np.allclose([model.predict(row[None])[0] for row in spectra[0]], many, rtol=1e-9)
    assert np.allclose(model.predict(spectra[0].astype(np.float32)), many, rtol=1e-3)


def test_grids(spectra):
    found = kfe.cv(kfe.PLSRegressor(dim=3, prepare=CHAIN), *spectra, grid={"prepare.sg.window": [5, 11]}, folds=3)
    assert found["best"]["prepare.sg.window"] in (5, 11)
    found = kfe.cv(kfe.PLSRegressor(dim=3), *spectra, grid={"prepare": ["none", CHAIN, "msc"]}, folds=3)
    assert found["best"]["prepare"] in ("none", TEXT, "msc")
    search = GridSearchCV(kfe.PLSRegressor(dim=3), {"prepare": ["none", TEXT]}, cv=3).fit(*spectra)
    assert search.best_params_["prepare"] in ("none", TEXT)


def test_streams(spectra):
    x, y = spectra
    whole = kfe.PLSRegressor(dim=3, prepare=TEXT).fit(x, y).predict(x)
    parts = kfe.PLSRegressor(dim=3, prepare=TEXT).partial_fit(x[:15], y[:15]).partial_fit(x[15:], y[15:])
    assert np.allclose(parts.predict(x), whole, rtol=1e-6)


def test_steps_are_listed():
    names = [step["name"] for step in kfe.steps()]
    assert {"snv", "msc", "sg", "cut"} <= set(names)


def test_views(spectra):
    views = {"nir": spectra[0][:, :15], "rest": spectra[0][:, 15:]}
    both = kfe.KPLSRegressor(dim=2, kernel="linear", prepare={"nir": "snv", "rest": "log,standard"}).fit(views, spectra[1])
    same = kfe.KPLSRegressor(dim=2, kernel="linear", prepare={None: "snv", "rest": ["log", "standard"]}).fit(views, spectra[1])
    assert np.array_equal(both.predict(views), same.predict(views))


def test_loaded_models_know_their_steps(spectra, tmp_path):
    kfe.PLSRegressor(dim=2, prepare=TEXT).fit(*spectra).save(tmp_path / "one.kfe")
    again = kfe.load(tmp_path / "one.kfe")
    assert again.prepare == TEXT and np.array_equal(clone(again).fit(*spectra).predict(spectra[0]), again.predict(spectra[0]))
    views = {"nir": spectra[0], "rest": spectra[0][:, :4] + 1}
    kfe.KPLSRegressor(dim=2, kernel="linear", prepare={"nir": "snv"}).fit(views, spectra[1]).save(tmp_path / "two.kfe")
    assert kfe.load(tmp_path / "two.kfe").prepare == {"nir": "snv", "rest": "none"}


CHAINS = ["snv", "msc", "sg:window=7,order=3,derivative=1", "sg:window=1,order=0", "detrend:order=2", "area:total=10", "vector", "log:offset=1", "clr:offset=0.5",
          "standard", "pareto", "bin:width=4", "cut:keep=3..20", "snv,sg:window=5,bin:width=7,cut:drop=2..2,pareto",
          "snv,cars:runs=10,dim=4,standard", "bin:width=2,stability:keep=6,threshold=0.6"]


@pytest.mark.parametrize("chain", CHAINS)
def test_onnx_files_prepare_rows(spectra, chain, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime (PyPI) is not installed")
    x = np.vstack([spectra[0], np.full((1, 30), 0.5)])  # the last row does not vary
    model = kfe.PLSRegressor(dim=1 if chain.startswith("bin") else 3, prepare=chain).fit(*spectra)
    path = tmp_path / "model.onnx"
    model.to_onnx(path, precision="double")
    session = runtime.InferenceSession(str(path))
    found = session.run(["features"], {session.get_inputs()[0].name: x})[0]
    assert np.allclose(found, model.transform(x), atol=1e-8)


def test_what_onnx_cannot_hold(spectra, tmp_path):
    model = kfe.PLSRegressor(dim=2, prepare="als").fit(*spectra)
    with pytest.raises(kfe.UnsupportedError, match="step als"):
        model.to_onnx(tmp_path / "model.onnx")
