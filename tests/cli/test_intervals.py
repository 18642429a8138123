# SPDX-License-Identifier: Apache-2.0
"""kfe predict --intervals: against NumPy for the split method, in parts, and what is refused."""
import numpy as np


def write(kfe, name, rows, seed, classes=False):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    y = x[:, 0] - x[:, 1] + rng.normal(size=rows)
    last = np.where(y > 0, "high", "low") if classes else y
    kfe.write(name, "a,b,c,y\n" + "".join(",".join(map(repr, map(float, row))) + f",{value}\n" for row, value in zip(x, last)))
    return np.array(y)


def read(kfe, name):
    return np.genfromtxt(kfe.path(name), delimiter=",", skip_header=1)


def fit(kfe, conformal, *options):
    kfe.ok("fit", "-q", "-m", "pls", "--dim", 3, "--learner", "ls", "--label", "y", *options, "--conformal", conformal, "train.csv", "-o", "m.kfe")


def test_split_intervals_have_one_width(kfe):
    """One fit, and so a prediction ± the same quantile, which grows with the level; about nine of ten new rows lie inside."""
    write(kfe, "train.csv", 400, 1)
    truth = write(kfe, "new.csv", 4000, 2)
    fit(kfe, "split", "--task", "regress")
    widths = []
    for level in (0.5, 0.9):
        kfe.ok("predict", "-q", "m.kfe", "new.csv", "--label", "y", "--intervals", level, "-o", "p.csv")
        value, low, high = read(kfe, "p.csv").T
        assert np.ptp(high - low) < 1e-9
        widths.append((high - low)[0])
        share = np.mean((low <= truth) & (truth <= high))
        assert abs(share - level) < 5 * np.sqrt(level * (1 - level) * (1 / 100 + 1 / 4000))  # 100 left-out rows, 4,000 new ones
    assert widths[0] < widths[1]
    assert kfe.path("p.csv").read_text().startswith("value,low,high\n")
    assert "intervals   by split, from 100 left-out examples" in kfe.ok("info", "m.kfe").out


def test_pipes_and_parts_give_the_same(kfe):
    write(kfe, "train.csv", 60, 3)
    write(kfe, "new.csv", 20, 4)
    fit(kfe, "cross", "--task", "regress")
    whole = kfe.ok("predict", "-q", "m.kfe", "new.csv", "--label", "y", "--intervals", 0.8).out
    piped = kfe.ok("predict", "-q", "m.kfe", "-", "--label", "y", "--intervals", 0.8, stdin=kfe.path("new.csv").read_bytes()).out
    assert whole == piped and len(whole.splitlines()) == 21


def test_sets_of_classes(kfe):
    write(kfe, "train.csv", 200, 5, classes=True)
    write(kfe, "new.csv", 500, 6, classes=True)
    fit(kfe, "cross")
    kfe.ok("predict", "-q", "m.kfe", "new.csv", "--label", "y", "--intervals", 0.9, "-o", "p.csv")
    lines = kfe.path("p.csv").read_text().splitlines()
    assert lines[0] == "label,set high,set low"
    sets = np.array([line.split(",")[1:] for line in lines[1:]], float)
    assert set(np.unique(sets)) == {0, 1} and 1 < sets.sum(axis=1).mean() < 1.9
    said = np.array([line.split(",")[0] for line in lines[1:]])
    assert np.mean(sets[np.arange(500), (said == "low").astype(int)]) > 0.95


def test_what_is_refused(kfe):
    write(kfe, "train.csv", 30, 7)
    fit(kfe, "split", "--task", "regress")
    for level, says in ((0.99, "give a level up to 0.8"), (1.5, "between 0 and 1"), ("much", "between 0 and 1")):
        kfe.refused("predict", "m.kfe", "train.csv", "--label", "y", "--intervals", level, "-o", "p.csv", says=says)
    kfe.refused("predict", "m.kfe", "train.csv", "--intervals", 0.5, "--scores", "-o", "p.csv", says="")
    kfe.refused("fit", "-m", "pca", "--conformal", "split", "train.csv", "-o", "n.kfe", says="give --learner")
    fit(kfe, "none", "--task", "regress")
    kfe.refused("predict", "m.kfe", "train.csv", "--label", "y", "--intervals", 0.5, "-o", "p.csv", says="--conformal cross")
