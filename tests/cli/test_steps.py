# SPDX-License-Identifier: Apache-2.0
"""--prepare: steps against SciPy, chemotools and NumPy's formulas, and wherever a model with steps is used."""
import inspect
import json
import shutil

import numpy as np
import pytest
from model_file import rewrite

signal = pytest.importorskip("scipy.signal", reason="Debian's python3-scipy is not installed")

WAVES = 900 + 2.0 * np.arange(40)
LS = ("-m", "pls", "--learner", "ls", "--dim", "3")


def spectra(rows=30, seed=0):
    """Three peaks in different amounts, scattered and shifted; the target is the first amount."""
    draw = np.random.default_rng(seed)
    amounts = draw.random((rows, 3))
    peaks = np.exp(-((WAVES - np.array([[915], [940], [960]])) / np.array([[8], [14], [11]])) ** 2)
    x = (amounts @ peaks) * (1 + 0.3 * draw.random((rows, 1))) + 0.5 * draw.random((rows, 1))
    return x + 1e-3 * draw.standard_normal(x.shape) + 0.1, amounts[:, 0]


def write(kfe, x, y, name="spectra.csv", names=None):
    names = [f"{w:g} nm" for w in WAVES[:x.shape[1]]] if names is None else names
    lines = [",".join([*names, "y"])] + [",".join([*map(repr, map(float, row)), repr(float(t))]) for row, t in zip(x, y)]
    kfe.write(name, "\n".join(lines) + "\n")
    return x, y


@pytest.fixture
def data(kfe):
    return write(kfe, *spectra())


def prepared(kfe, steps, name="spectra.csv"):
    """The rows after the steps."""
    kfe.ok("fit", "-q", "-m", "none", "--prepare", steps, "--task", "regress", name, "-o", "none.kfe")
    kfe.ok("transform", "-q", "none.kfe", name, "-o", "made.npy")
    return np.load(kfe.path("made.npy"))


def predictions(kfe, model, name="spectra.csv"):
    return np.array(kfe.ok("predict", "-q", model, name).out.split()[1:], float)


# ---- oracles ----

def centred(x):
    return x - x.mean(1, keepdims=True)


def msc(x, reference):
    slopes = [np.polyfit(reference, row, 1) for row in x]
    return np.array([(row - a) / b for row, (b, a) in zip(x, slopes)])


def als(x, weight, asymmetry, iterations):
    """Eilers & Boelens' program, dense."""
    d = np.diff(np.eye(x.shape[1]), 2, axis=0)
    out = []
    for row in x:
        w = np.ones_like(row)
        for _ in range(iterations):
            z = np.linalg.solve(np.diag(w) + weight * d.T @ d, w * row)
            w = np.where(row > z, asymmetry, 1 - asymmetry)
        out.append(row - z)
    return np.array(out)


ORACLES = {
    "snv": lambda x: centred(x) / x.std(1, ddof=1, keepdims=True),
    "msc": lambda x: msc(x, x.mean(0)),
    "sg:window=9,order=2": lambda x: signal.savgol_filter(x, 9, 2),
    "sg:window=7,order=3,derivative=1,delta=2": lambda x: signal.savgol_filter(x, 7, 3, deriv=1, delta=2),
    "sg:window=15,order=4,derivative=2": lambda x: signal.savgol_filter(x, 15, 4, deriv=2),
    "detrend": lambda x: signal.detrend(x, axis=1),
    "detrend:order=0": lambda x: signal.detrend(x, axis=1, type="constant"),
    "als:lambda=100,asymmetry=0.05,iterations=5": lambda x: als(x, 100, 0.05, 5),
    "area:total=10": lambda x: 10 * x / np.abs(x).sum(1, keepdims=True),
    "vector": lambda x: x / np.linalg.norm(x, axis=1, keepdims=True),
    "log:base=10": np.log10,
    "log:offset=1": np.log1p,
    "clr:offset=0.5": lambda x: centred(np.log(x + 0.5)),
    "standard": lambda x: (x - x.mean(0)) / x.std(0),
    "pareto": lambda x: (x - x.mean(0)) / np.sqrt(x.std(0)),
    "bin:width=8": lambda x: x.reshape(len(x), -1, 8).mean(2),
    "cut:keep=910..930+950..,drop=915..916": lambda x: x[:, ((WAVES >= 910) & (WAVES <= 930) & (WAVES != 916)) | (WAVES >= 950)],
}


@pytest.mark.parametrize("steps", ORACLES)
def test_steps_equal_their_oracles(kfe, data, steps):
    expected = ORACLES[steps](data[0])
    assert np.abs(prepared(kfe, steps) - expected).max() < 1e-9 * np.abs(expected).max()


def test_every_step_has_an_oracle(kfe):
    names = [step["name"] for step in json.loads(kfe.ok("steps", "--json").out)]
    chosen = {"cars", "stability"}  # their oracles are in python/tests/test_chosen.py
    transfers = {"pds", "epo"}  # and in test_transfer.py
    assert sorted(names) == sorted({steps.partition(":")[0] for steps in ORACLES} | chosen | transfers)


def test_chain_equals_its_oracles(kfe, data):
    x = data[0]
    for steps in ("snv", "sg:window=7,order=3,derivative=1,delta=2", "standard"):
        x = ORACLES[steps](x)
    assert np.abs(prepared(kfe, "snv,sg:window=7,order=3,derivative=1,delta=2,standard") - x).max() < 1e-8


def test_steps_equal_chemotools(kfe, data):
    scatter = pytest.importorskip("chemotools.scatter", reason="chemotools (PyPI) is not installed")
    derivative = pytest.importorskip("chemotools.derivative")
    x = data[0]
    ours = prepared(kfe, "snv") * np.sqrt(x.shape[1] / (x.shape[1] - 1))  # chemotools divides by d, kfe by d - 1
    assert np.abs(ours - scatter.StandardNormalVariate().fit_transform(x)).max() < 1e-9
    assert np.abs(prepared(kfe, "msc") - scatter.MultiplicativeScatterCorrection().fit_transform(x)).max() < 1e-9
    theirs = derivative.SavitzkyGolay(**savitzky_golay(derivative.SavitzkyGolay, 9, 2, 1)).fit_transform(x)
    assert np.abs(prepared(kfe, "sg:window=9,derivative=1") - theirs).max() < 1e-9
    smooth = pytest.importorskip("chemotools.smooth").SavitzkyGolayFilter
    assert np.abs(prepared(kfe, "sg:window=7,order=3") - smooth(**savitzky_golay(smooth, 7, 3)).fit_transform(x)).max() < 1e-9
    norm = pytest.importorskip("chemotools.scale").NormScaler
    assert np.abs(prepared(kfe, "vector") - norm(l_norm=2).fit_transform(x)).max() < 1e-9
    cut = pytest.importorskip("chemotools.feature_selection").RangeCut(start=4, end=20)
    assert np.array_equal(prepared(kfe, f"cut:keep={WAVES[4]:g}..{WAVES[19]:g}"), cut.fit_transform(x))


def savitzky_golay(filter_class, window, order, deriv=None):
    """Its arguments, which newer versions of chemotools call as SciPy does."""
    new = "window_length" in inspect.signature(filter_class).parameters
    names = ("window_length", "polyorder", "deriv") if new else ("window_size", "polynomial_order", "derivate_order")
    return {"mode": "interp"} | {name: value for name, value in zip(names, (window, order, deriv)) if value is not None}


def test_a_stored_reference_equals_that_of_chemotools(kfe, data):
    """New rows are corrected by the mean of the training rows."""
    scatter = pytest.importorskip("chemotools.scatter", reason="chemotools (PyPI) is not installed")
    new = spectra(10, 1)
    write(kfe, *new, "new.csv")
    kfe.ok("fit", "-q", "-m", "none", "--learner", "ls", "--task", "regress", "--scale", "none", "--prepare", "msc", "spectra.csv", "-o", "m.kfe")
    kfe.ok("transform", "-q", "m.kfe", "new.csv", "-o", "z.npy")
    theirs = scatter.MultiplicativeScatterCorrection().fit(data[0]).transform(new[0])
    assert np.abs(np.load(kfe.path("z.npy")) - theirs).max() < 1e-9


# ---- models ----

CHAIN = "msc,sg:window=7,derivative=1,pareto"


def test_model_equals_one_of_prepared_rows(kfe, data):
    """New rows are prepared by what the training rows showed."""
    new = spectra(10, 1)
    write(kfe, *new, "new.csv")
    kfe.ok("fit", "-q", *LS, "--prepare", CHAIN, "spectra.csv", "-o", "m.kfe")
    both = np.load(kfe.path(kfe.ok("transform", "-q", "m.kfe", "new.csv", "-o", "z.npy") and "z.npy"))
    reference = data[0].mean(0)
    train = signal.savgol_filter(msc(data[0], reference), 7, 2, deriv=1)
    mean, root = train.mean(0), np.sqrt(train.std(0))
    write(kfe, (train - mean) / root, data[1], "train.csv")
    write(kfe, (signal.savgol_filter(msc(new[0], reference), 7, 2, deriv=1) - mean) / root, new[1], "test.csv")
    kfe.ok("fit", "-q", *LS, "--scale", "none", "train.csv", "-o", "plain.kfe")
    kfe.ok("transform", "-q", "plain.kfe", "test.csv", "-o", "plain.npy")
    assert np.abs(both - np.load(kfe.path("plain.npy"))).max() < 1e-7
    assert np.abs(predictions(kfe, "m.kfe", "new.csv") - predictions(kfe, "plain.kfe", "test.csv")).max() < 1e-7
    assert "prepared by msc,sg:window=7,derivative=1,pareto" in kfe.ok("info", "m.kfe").out
    view = json.loads(kfe.ok("info", "m.kfe", "--json").out)["views"][0]
    assert [step["step"] for step in view["steps"]] == ["msc", "sg", "pareto"] and view["scale"] == "none"
    assert view["prepared_columns"] == 40


def errors(found):
    return [split["metrics"]["rmse"] for split in found["splits"]]


def test_validation_of_row_steps_is_that_of_prepared_data(kfe, data):
    """Steps that treat rows one by one may be applied beforehand; leave-one-out, folds and kernels agree. Inner folds would not be the same:
    they go by the content of the rows."""
    x = ORACLES["sg:window=9,order=2"](ORACLES["snv"](data[0]))
    write(kfe, x, data[1], "made.csv")
    for how in (("--folds", "5"), ("--folds", "30"), ("--folds", "3", "--grid", "dim=1,2,4", "--inner-folds", "0")):
        for method in (LS[:4], ("-m", "kpls", "-k", "rbf:gamma=0.1", "--learner", "ls"), ("-m", "kpca", "-k", "rbf", "--dim", "4", "--learner", "knn")):
            found = json.loads(kfe.ok("cv", "-q", *method, "--prepare", "snv,sg:window=9", *how, "spectra.csv", "--json").out)
            expected = json.loads(kfe.ok("cv", "-q", *method, "--scale", "none", *how, "made.csv", "--json").out)
            assert errors(found) == pytest.approx(errors(expected), rel=1e-6)


def test_learning_steps_learn_in_every_fold(kfe):
    """The reference of msc is that of the training rows: the number is what a loop over folds gives."""
    x, y = write(kfe, *spectra(12, 3))
    found = json.loads(kfe.ok("cv", "-q", *LS, "--prepare", "msc,standard", "--folds", "12", "spectra.csv", "--json").out)
    squares = []
    for i in range(12):
        train, test = np.delete(np.arange(12), i), [i]
        reference = x[train].mean(0)
        fitted, new = msc(x[train], reference), msc(x[test], reference)
        mean, sd = fitted.mean(0), fitted.std(0)
        write(kfe, (fitted - mean) / sd, y[train], "train.csv")
        write(kfe, (new - mean) / sd, y[test], "test.csv")
        kfe.ok("fit", "-q", *LS, "--scale", "none", "train.csv", "-o", "fold.kfe")
        squares.append((predictions(kfe, "fold.kfe", "test.csv")[0] - y[i]) ** 2)
    assert np.allclose(sorted(np.square(errors(found))), sorted(squares), rtol=1e-6)


def test_coefficients_are_in_units_of_the_data_if_steps_are_linear(kfe, data):
    kfe.ok("fit", "-q", *LS, "--prepare", "cut:keep=905..970,sg:window=7,derivative=1,detrend,bin,standard", "--scale", "minmax",
           "spectra.csv", "-o", "m.kfe")
    found = json.loads(kfe.ok("explain", "m.kfe", "--parts", "linear", "--json").out)
    tables = found["tables"]
    weights = np.array(tables["coefficients"]["values"])[:, 0]
    intercept = tables["intercept"]["values"][0][0]
    assert "units of the data" in tables["coefficients"]["about"] and len(weights) == 40
    assert np.abs(data[0] @ weights + intercept - predictions(kfe, "m.kfe")).max() < 1e-8
    assert len(tables["x-loadings"]["values"]) == 17 and tables["x-loadings"]["rows"][0] == "907 nm"


def test_coefficients_after_steps_that_are_not_linear(kfe, data):
    kfe.ok("fit", "-q", *LS, "--prepare", "snv,bin:width=4", "spectra.csv", "-o", "m.kfe")
    done = kfe.ok("explain", "m.kfe", "--parts", "linear", "--json")
    assert "step snv is not linear" in done.err
    tables = json.loads(done.out)["tables"]
    weights, intercept = np.array(tables["coefficients"]["values"])[:, 0], tables["intercept"]["values"][0][0]
    assert "that the steps make" in tables["coefficients"]["about"]
    made = ORACLES["snv"](data[0]).reshape(30, -1, 4).mean(2)
    assert np.abs(made @ weights + intercept - predictions(kfe, "m.kfe")).max() < 1e-8
    kfe.ok("explain", "m.kfe", "spectra.csv", "--json")
    tables = json.loads(kfe.ok("explain", "m.kfe", "--parts", "jackknife", "--train", "spectra.csv", "--json").out)["tables"]
    assert len(tables["coefficient-sd"]["values"]) == 10
    for name, steps in (("linear", "sg:window=5,bin:width=4"), ("cut", "cut:keep=910..950")):
        kfe.ok("fit", "-q", *LS, "--prepare", steps, "spectra.csv", "-o", "l.kfe")
        tables = json.loads(kfe.ok("explain", "l.kfe", "--parts", "jackknife", "--train", "spectra.csv", "--json").out)["tables"]
        assert len(tables["coefficient-sd"]["values"]) == 40
    kfe.ok("report", "m.kfe", "--train", "spectra.csv", "-o", "report.html")


def test_streams(kfe, data):
    kfe.ok("fit", "-q", *LS, "--prepare", "snv,sg:derivative=1", "--scale", "standard", "spectra.csv", "-o", "m.kfe")
    kfe.ok("fit", "-q", "--stream", *LS, "--prepare", "snv,sg:derivative=1", "--scale", "standard", "spectra.csv", "-o", "stream.kfe")
    assert np.abs(predictions(kfe, "m.kfe") - predictions(kfe, "stream.kfe")).max() < 1e-8
    kfe.refused("fit", "--stream", *LS, "--prepare", "snv,msc", "spectra.csv", "-o", "n.kfe", says="step msc learns from all rows")
    kfe.ok("fit", "-q", "--stream", "-m", "kfd", "--task", "classify", "-k", "rbf:gamma=0.1", "--landmarks", "8", "--prepare", "msc",
           "spectra.csv", "-o", "k.kfe")
    rows = kfe.path("spectra.csv").read_text()
    answered = kfe.ok("predict", "-q", "m.kfe", "-", stdin=rows.encode()).out
    assert np.allclose(np.array(answered.split()[1:], float), predictions(kfe, "m.kfe"))


def test_weights_are_repetitions(kfe):
    x, y = spectra(12, 5)
    count = np.array([1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 1])
    write(kfe, np.column_stack([x, count]), y, "weighted.csv", [f"{w:g} nm" for w in WAVES] + ["w"])
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(12), count))
    write(kfe, x[order], y[order], "repeated.csv")
    write(kfe, x, y)
    for steps in ("msc,pareto", "standard,sg:window=5", "snv"):
        kfe.ok("fit", "-q", *LS, "--prepare", steps, "--weight", "w", "weighted.csv", "-o", "a.kfe")
        kfe.ok("fit", "-q", *LS, "--prepare", steps, "repeated.csv", "-o", "b.kfe")
        assert np.abs(predictions(kfe, "a.kfe") - predictions(kfe, "b.kfe")).max() < 1e-8


def test_missing_values_are_filled_first(kfe):
    x, y = spectra(20, 2)
    holes = x.copy()
    holes[3, 4] = holes[7, 9] = np.nan
    write(kfe, holes, y, "holes.csv")
    made = prepared(kfe, "snv", write(kfe, np.where(np.isnan(holes), np.nanmean(holes, 0), holes), y, "filled.csv") and "filled.csv")
    kfe.ok("fit", "-q", "-m", "none", "--prepare", "snv", "--missing", "mean", "--task", "regress", "holes.csv", "-o", "h.kfe")
    kfe.ok("transform", "-q", "h.kfe", "holes.csv", "-o", "h.npy")
    assert np.abs(np.load(kfe.path("h.npy")) - made).max() < 1e-12


def test_sparse_rows_become_dense(kfe):
    kfe.write("s.svm", "1 1:2 3:4\n2 2:1\n1 1:1 2:1 3:1\n2 3:5\n")
    kfe.ok("fit", "-q", "-m", "none", "--prepare", "area,log:offset=1", "s.svm", "-o", "m.kfe")
    kfe.ok("transform", "-q", "m.kfe", "s.svm", "-o", "z.npy")
    x = np.array([[2, 0, 4], [0, 1, 0], [1, 1, 1], [0, 0, 5]], float)
    assert np.allclose(np.load(kfe.path("z.npy")), np.log1p(x / x.sum(1, keepdims=True)))


def test_views_have_chains_of_their_own(kfe):
    def save(name, values):
        np.savetxt(kfe.path(name), values, delimiter=",")

    x, y = spectra()
    nir, genes = x[:, :20], np.log(x[:, 20:])
    for name, values in (("nir.csv", nir), ("genes.csv", x[:, 20:]), ("y.txt", y), ("a.csv", ORACLES["snv"](nir)),
                         ("b.csv", (genes - genes.mean(0)) / genes.std(0))):
        save(name, values)
    fit = ("fit", "-q", "-m", "kpls", "-k", "linear", "--learner", "ls", "--dim", "2", "--scale", "none", "--label", "none", "--label-file", "y.txt")
    both = (*fit, "--view", "nir=nir.csv", "--view", "genes=genes.csv")
    kfe.ok(*both, "--prepare", "snv;genes=log,standard", "-o", "m.kfe")
    views = json.loads(kfe.ok("info", "m.kfe", "--json").out)["views"]
    assert [[step["step"] for step in view["steps"]] for view in views] == [["snv"], ["log", "standard"]]
    kfe.ok(*fit, "--view", "nir=a.csv", "--view", "genes=b.csv", "-o", "made.kfe")
    found, made = (np.array(kfe.ok("predict", "-q", model, "--view", f"nir={a}.csv", "--view", f"genes={b}.csv").out.split()[1:], float)
                   for model, a, b in (("m.kfe", "nir", "genes"), ("made.kfe", "a", "b")))
    assert np.abs(found - made).max() < 1e-9
    kfe.refused(*both, "--prepare", "raman=snv", "-o", "n.kfe", says="there is no view 'raman'")


# ---- grids ----

def test_grids_vary_settings_and_chains(kfe, data):
    def chosen(*grid):
        return json.loads(kfe.ok("cv", "-q", *LS, *grid, "spectra.csv", "--json").out)

    both = chosen("--prepare", "snv,sg:derivative=1", "--grid", "prepare.sg.window=5,11")
    alone = [chosen("--prepare", f"snv,sg:window={w},derivative=1") for w in (5, 11)]
    assert "prepare.sg.window" in json.dumps(both) and alone[0] != alone[1]
    short = chosen("--prepare", "snv,sg:derivative=1", "--grid", "sg.window=5,11")
    assert short["metrics"] == both["metrics"] and [split["metrics"] for split in short["splits"]] == [split["metrics"] for split in both["splits"]]
    found = json.dumps(chosen("--grid", "prepare=none|snv|msc,sg:window=5", "--grid", "prepare.sg.window=5,7"))
    assert "msc,sg:window=5" in found or "snv" in found


# ---- refusals ----

@pytest.mark.parametrize("steps, says", [
    ("sg:window=99", "window of step sg has 99 columns, but a row has only 40"), ("sg:window=8", "odd number"), ("snw", "did you mean 'snv'"),
    ("cut:keep=1..2", "leaves no column"), ("log:offset=-1", "offset"), ("snv,,msc", "step is missing"), ("sg:width=3", "width"),
    ("x=snv", "no view 'x'"),
])
def test_wrong_chains_are_refused(kfe, data, steps, says):
    kfe.refused("fit", "-m", "pca", "--prepare", steps, "spectra.csv", "-o", "m.kfe", says=says)


def test_mistakes_show_before_data_is_read(kfe):
    kfe.refused("fit", "-m", "pca", "--prepare", "snw", "missing.csv", "-o", "m.kfe", says="no step 'snw'")
    kfe.refused("cv", *LS, "--grid", "prepare.sg.window=3", "missing.csv", says="no chain of --prepare has a step")
    kfe.refused("cv", *LS, "--grid", "prepare=snv|snw", "missing.csv", says="no step 'snw'")


def test_values_that_a_step_cannot_take(kfe, data):
    x, y = data[0].copy(), data[1]
    kfe.ok("fit", "-q", *LS, "--prepare", "log", "spectra.csv", "-o", "m.kfe")
    x[4, 2] = -1
    write(kfe, x, y, "negative.csv")
    for command in (("predict", "m.kfe", "negative.csv"), ("transform", "m.kfe", "negative.csv", "-o", "z.npy")):
        kfe.refused(*command, says=("row 5, column 3: step log takes positive numbers", "--prepare log:offset=1"))
    kfe.refused("fit", *LS, "--prepare", "log", "negative.csv", "-o", "n.kfe", says="row 5, column 3")


def test_what_cannot_be_prepared(kfe):
    kfe.write("words.txt", "abc\nabd\nxyz\n")
    kfe.refused("fit", "-m", "kpca", "-k", "spectrum", "--content", "strings", "--prepare", "snv", "words.txt", "-o", "m.kfe", says="strings cannot be")
    kfe.write("k.csv", "1,0,0\n0,1,0\n0,0,1\n")
    kfe.refused("fit", "-m", "kpca", "-k", "precomputed", "--label", "none", "--prepare", "snv", "k.csv", "-o", "m.kfe", says="precomputed")


def test_hostile_chains_in_model_files(kfe, data):
    kfe.ok("fit", "-q", "-m", "pca", "--dim", "2", "--prepare", "snv,sg:window=5,msc,cut:keep=910..950", "spectra.csv", "-o", "m.kfe")
    kfe.ok("info", "m.kfe")
    bad = [("window=5", "window=4"), ("window=5", "window=99"), ('"snv"', '"snw"'), ("910..950", "1..2"), ("910..950", "910..948"),
           ('"step":"msc"', '"step":"standard"'), ('"step":"snv"', '"step":"bin"'), ("order=2", "order=-2"), ("910 nm", "990 nm"),
           ('"steps":[', '"steps":[],"x":['), ('"step":"snv","parameters":""', '"step":"snv"')]
    for old, new in bad:
        def change(metadata):
            assert old in metadata["views"], old
            metadata["views"] = metadata["views"].replace(old, new, 1)
        shutil.copy(kfe.path("m.kfe"), kfe.path("bad.kfe"))
        rewrite(kfe.path("bad.kfe"), change)
        done = kfe.run("info", "bad.kfe", status=2)
        assert "damaged" in done.err, (old, new, done.err)


def test_tune_tries_chains(kfe, data):
    def ranking(*flags):
        found = json.loads(kfe.ok("tune", "-q", "--time", "none", "--assess", "held-out", "--json", *flags, "spectra.csv").out)
        return {row["setting"].get("prepare") for row in found["ranking"] if "setting" in row}, found
    plain, none = ranking("--trials", "20"), ranking("--trials", "20", "--prepare", "none")
    assert plain[0] == {None} and plain[1]["honest"] == none[1]["honest"]
    tried, found = ranking("--trials", "80", "--prepare", "snv|snv,sg:order=1", "--grid", "sg.window=3,7")
    assert tried <= {"snv", "snv,sg:window=3,order=1", "snv,sg:window=7,order=1"} and len(tried) > 1
    assert found["best"]["spec"].count("prepare=" + found["best"]["setting"]["prepare"]) == 1
    kfe.refused("tune", "--prepare", "none|snw", "missing.csv", says="did you mean 'snv'")
    kfe.refused("tune", "--prepare", "snv", "--grid", "gamma=1", "missing.csv", says="settings of steps, such as sg.window=7,11,15, not 'gamma'")
    kfe.refused("tune", "--prepare", "snv", "--grid", "sg.window=5", "missing.csv", says="no chain of --prepare has a step")
    kfe.refused("tune", "--prepare", "sg:window=99", "spectra.csv", says="window of step sg has 99 columns")


def test_chosen_columns_are_shown(kfe, data):
    kfe.ok("fit", "-q", *LS, "--prepare", "snv,cut:drop=900..908,stability:dim=2,errors=4", "spectra.csv", "-o", "m.kfe")
    told = json.loads(kfe.ok("info", "m.kfe", "--json").out)["views"][0]
    places = told["steps"][2]["chosen"]
    names = [f"{WAVES[4 + place]:g} nm" for place in places]
    assert 1 <= len(places) < 35 and told["prepared_columns"] == len(places)
    assert f"chosen      by stability: {len(places)} of 35 columns: {', '.join(names[:12])}" in kfe.ok("info", "m.kfe").out
    table = json.loads(kfe.ok("explain", "m.kfe", "--parts", "chosen", "--json").out)["tables"]["chosen"]
    assert table["columns"] == ["runs", "chosen"] and len(table["rows"]) == 35
    assert [table["rows"][j] for j in np.flatnonzero(np.array(table["values"])[:, 1])] == names
    assert json.loads(kfe.ok("explain", "m.kfe", "--parts", "linear", "--json").out)["tables"]["coefficients"]["rows"] == names
    kfe.ok("plot", "spectra", "m.kfe", "spectra.csv", "-o", "spectra.svg")
    assert "chosen: stability" in kfe.path("spectra.svg").read_text()
    columns = json.loads(kfe.ok("plot", "spectra", "m.kfe", "spectra.csv", "--format", "json", "-o", "-").out)["columns"]
    numbers = {column["name"]: column.get("numbers") for column in columns}
    marked = [position for position, mark in zip(numbers["position"], numbers["chosen"]) if mark is not None]
    assert [f"{position:g} nm" for position in marked] == names


def test_what_choosing_columns_needs(kfe, data):
    failed = kfe.run("fit", "-m", "pca", "--label", "none", "--prepare", "cars", "spectra.csv", "-o", "m.kfe", status=2)
    assert "step cars chooses columns by how they predict a target, and the data has none; give --label" in failed.err
    for method in (["pls"], ["kpls", "-k", "linear", "--landmarks", "10"]):
        failed = kfe.run("fit", "--stream", "-m", *method, "--dim", "2", "--prepare", "stability", "spectra.csv", "-o", "m.kfe", status=2)
        assert "step stability learns from all rows before the fit" in failed.err
    failed = kfe.run("fit", "--stream", "-m", "pls", "--choose", "q2", "spectra.csv", "-o", "m.kfe", status=2)
    assert "--choose could choose a number of features; give --dim instead" in failed.err
    kfe.ok("fit", "-q", *LS, "--prepare", "snv", "spectra.csv", "-o", "snv.kfe")
    failed = kfe.run("explain", "snv.kfe", "--parts", "chosen", status=2)
    assert "no step of the model has chosen columns" in failed.err


def test_damaged_choices_are_refused(kfe, data):
    kfe.ok("fit", "-q", *LS, "--prepare", "cars:runs=10", "spectra.csv", "-o", "m.kfe")
    raw = kfe.path("m.kfe").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    begin, end = json.loads(raw[8:8 + length])["view0.step0.learned"]["data_offsets"]
    empty = bytearray(raw)
    empty[8 + length + begin:8 + length + end] = bytes(end - begin)
    kfe.path("bad.kfe").write_bytes(bytes(empty))
    rewrite(kfe.path("bad.kfe"), lambda metadata: None)
    assert "damaged" in kfe.run("info", "bad.kfe", status=2).err


def test_format_version_says_that_steps_are_needed(kfe, data):
    def version(name):
        raw = kfe.path(name).read_bytes()
        return json.loads(raw[8:8 + int.from_bytes(raw[:8], "little")])["__metadata__"]["format_version"]
    kfe.ok("fit", "-q", "-m", "pca", "--prepare", "snv", "spectra.csv", "-o", "m.kfe")
    kfe.ok("fit", "-q", "-m", "pca", "--prepare", "none", "spectra.csv", "-o", "n.kfe")
    assert version("m.kfe") == "5" and version("n.kfe") == "1"


def test_auto_scaling_leaves_what_steps_make(kfe, data):
    x, y = data
    write(kfe, np.column_stack([x[:, :3] * [1, 100, 1]]), y, "uneven.csv")
    for steps, scale in (("none", "standard"), ("pareto", "none")):
        kfe.ok("fit", "-q", "-m", "pca", "--prepare", steps, "uneven.csv", "-o", "m.kfe")
        assert json.loads(kfe.ok("info", "m.kfe", "--json").out)["views"][0]["scale"] == scale
