# SPDX-License-Identifier: Apache-2.0
"""tune gives the same results as the command line and returns an estimator that predicts."""
import numpy as np
import pytest

import kfe


def test_tune(iris):
    X, y = iris
    result = kfe.tune(X, y, time=None, trials=30, random_state=1)
    assert result["honest"]["metrics"]["accuracy"]["mean"] > 0.9 and len(result["honest"]["splits"]) == 5
    best = result.best_estimator_
    assert np.mean(best.predict(X) == y) > 0.9
    frame = result.to_dataframe()
    assert frame.iloc[0]["candidate"] == result["best"]["candidate"] and "least squares" in set(frame["candidate"])
    assert all(not isinstance(value, str) or value.isalpha() for row in result["ranking"]
               for value in row.get("setting", {}).values())  # numbers are numbers, words such as 'median' are text
    assert isinstance(next(iter(result["best"]["setting"].values())), (int, float))
    assert result["best"]["candidate"] in result._repr_html_()  # notebooks show the ranking
    again = kfe.tune(X, y, time="none", trials=30, random_state=1)
    assert again["best"] == result["best"] and again["honest"] == result["honest"]


def test_tune_takes_real_targets():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    y = np.sin(2 * X[:, 0]) + 0.1 * random.normal(size=80)
    result = kfe.tune(X, y, time=None, trials=30, assess="held-out")
    assert result["metric"] == "rmse" and result["honest"]["measured_on"] == "held-out"
    linear = next(row for row in result["ranking"] if row["candidate"] == "least squares")
    assert result["ranking"][0]["mean"] < 0.8 * linear["mean"]  # the target is not linear
    assert result.best_estimator_.predict(X[:2]).shape == (2,)


def test_mistakes_are_refused(iris):
    with pytest.raises(ValueError, match="time takes a time such as 60s"):
        kfe.tune(*iris, time="soon")


# ---- steps ----

@pytest.fixture(scope="module")
def spectra():
    """Peaks in different amounts; each row is scattered by a factor of its own."""
    draw = np.random.default_rng(0)
    amounts, waves = draw.random((60, 3)), np.arange(40)
    x = amounts @ np.exp(-((waves - np.array([[8], [20], [31]])) / np.array([[4], [6], [5]])) ** 2)
    return (x + 0.2) * np.exp(draw.normal(size=(60, 1))), amounts[:, 0] / amounts.sum(1)


def timeless(result):
    drop = ("seconds",)
    return {key: [{k: v for k, v in row.items() if k not in drop} for row in value] if key == "ranking" else value
            for key, value in result.items() if key not in drop}


def test_chains_of_steps_are_raced(spectra):
    x, y = spectra
    plain = kfe.tune(x, y, time=None, trials=60)
    assert timeless(kfe.tune(x, y, time=None, trials=60, prepare="none")) == timeless(plain)
    chains = ["none", "area", ["snv", ("sg", {"window": 5, "derivative": 1})]]
    result = kfe.tune(x, y, time=None, trials=120, prepare=chains)
    assert result["best"]["setting"]["prepare"] in ("area", "snv,sg:window=5,derivative=1")
    assert result["honest"]["metrics"]["rmse"]["mean"] < 0.7 * plain["honest"]["metrics"]["rmse"]["mean"]
    best = result.best_estimator_
    assert best.prepare == result["best"]["setting"]["prepare"]
    again = kfe.tune(x, y, time=None, trials=120, prepare="none|area|snv,sg:window=5,derivative=1")
    assert again["best"] == result["best"] and np.array_equal(again.best_estimator_.predict(x), best.predict(x))


def test_settings_of_steps_are_raced(spectra):
    x, y = spectra
    tried = set()
    for grid in ({"sg.window": [5, 9], "sg.derivative": [1, 2]}, "prepare.sg.window=5,9;sg.derivative=1:2:lin2"):
        result = kfe.tune(x, y, time=None, trials=80, prepare="snv,sg", grid=grid)
        tried |= {row["setting"]["prepare"] for row in result["ranking"] if "setting" in row}
    assert tried <= {f"snv,sg:window={w},derivative={d}" for w in (5, 9) for d in (1, 2)} and len(tried) > 1
    for wrong, message in ({"gamma": [1]}, "settings of steps, such as sg.window=7,11,15, not 'gamma'"), ({"als.lambda": [1]}, "no chain of prepare"), \
                          ({"sg.window": [4]}, "odd number"), ({"sg.windw": [5]}, "settings of steps"):
        with pytest.raises(kfe.InvalidArgumentError, match=message):
            kfe.tune(x, y, trials=5, prepare="snv,sg", grid=wrong)
    with pytest.raises(kfe.InvalidArgumentError, match="no step 'snw'"):
        kfe.tune(x, y, trials=5, prepare="none|snw")


def test_widths_are_those_of_prepared_columns(spectra):
    x, y = spectra
    labels = np.where(y > np.median(y), "more", "less")
    result = kfe.tune(1000 * x, labels, time=None, trials=300, prepare="vector")
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    squares = ((unit[:, None] - unit[None]) ** 2).sum(2)[np.triu_indices(60, 1)]
    found = [row["setting"]["gamma"] * 2 * np.median(squares) for row in result["ranking"] if "Gaussian" in row["candidate"] and "standardised" not in row["candidate"]
             and "setting" in row]
    powers = np.log(found) / np.log(4)
    assert len(found) > 2 and np.allclose(powers - powers[0], np.round(powers - powers[0]), atol=0.01) and np.abs(powers).max() < 6


def test_columns_chosen_by_steps_leak_nothing():
    honest = []
    for seed in range(3):
        draw = np.random.default_rng(seed)
        x, y = draw.standard_normal((50, 150)), draw.standard_normal(50)
        result = kfe.tune(x, y, time=None, trials=20, prepare="cars:runs=15,dim=2", random_state=seed)
        honest.append(result["honest"]["pooled"]["q2"])
    assert np.mean(honest) < 0.05
