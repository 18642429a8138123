#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments for kcca, kgcca, gkdr, lfda, klfda, opls and spls, on data made by the papers' formulas or of the data folder; prints
the tables of docs/.

usage: PYTHONPATH=python bench/relatives.py [curves|views|gkdr|gkdr-tables|lfda|lfda-tables|opls|spls ...] [--data FOLDER] [--draws 20]

FOLDER has mfeat (views), ionosphere and wdbc (gkdr-tables), banana and ten others (lfda-tables), leukemia1, leukemia2 and
prostate_tumor (spls), as bench/tabular.py reads them; the others need no data.
"""
import argparse
import pathlib
import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import kfe

warnings.simplefilter("ignore", kfe.KfeWarning)


def table(title, columns, rows):
    print(f"\n{title}\n\n| | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(values) + " |", flush=True)


def mean(values, digits=3):
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def draws(arguments, name, train):
    """Random divisions of a table into so many training rows and the others, columns standardised on the training rows."""
    import tabular
    x, y = tabular.read(arguments.data, name)
    for seed in range(arguments.draws):
        order = np.random.default_rng(seed).permutation(len(y))
        first, second = order[:train], order[train:]
        center, scale = x[first].mean(0), x[first].std(0)
        z = (x - center) / np.where(scale > 0, scale, 1)
        yield z[first], y[first], z[second], y[second]


def neighbor_error(k, x, y, new, answers):
    return 100 * np.mean(KNeighborsClassifier(k).fit(x, y).predict(new) != answers)


# ---- canonical correlations ----

def spiral(rng, n):
    """Akaho (2001): a curve and a spiral, driven by the same angle."""
    t = rng.uniform(-np.pi, np.pi, n)
    one, other = np.column_stack([t, np.sin(3 * t)]), np.exp(t / 4)[:, None] * np.column_stack([np.cos(2 * t), np.sin(2 * t)])
    return {"curve": one + 0.05 * rng.normal(size=(n, 2)), "spiral": other + 0.05 * rng.normal(size=(n, 2))}


def circle(rng, n):
    """Lai & Fyfe (2000): a circle and a line, driven by the same angle."""
    t = rng.uniform(0, 2 * np.pi, n)
    one, other = np.column_stack([1 - np.sin(t), np.cos(t)]), np.column_stack([t - np.pi, t - np.pi])
    return {"circle": one + 0.1 * rng.normal(size=(n, 2)), "line": other + 0.1 * rng.normal(size=(n, 2))}


WAYS = {"linear": ("KCCA", "linear"), "`kcca`, rbf": ("KCCA", "rbf:gamma=median"), "`kgcca`, rbf": ("KGCCA", "rbf:gamma=median")}


def views_of(way, dim, train, new):
    """The features of new rows: one block per view."""
    method, kernel = WAYS[way]
    both = getattr(kfe, method)(dim=dim, features="all", kernel=kernel, scale="standard").fit(train).transform(new)
    return both[:, :dim], both[:, dim:]


def correlations(a, b):
    return np.array([np.corrcoef(a[:, j], b[:, j])[0, 1] for j in range(a.shape[1])])


def curves(arguments):
    rows = {}
    for way in WAYS:
        rows[way] = []
        for make in (circle, spiral):
            found = []
            for seed in range(arguments.draws):
                rng = np.random.default_rng(seed)
                found.append(correlations(*views_of(way, 2, make(rng, 200), make(rng, 1000))))
            rows[way] += [mean(part) for part in np.array(found).T]
    table(f"Correlation of the first and second features of 1,000 new rows, 200 training rows, {arguments.draws} draws",
          ["circle and line, 1st", "2nd", "curve and spiral, 1st", "2nd"], rows)


def retrieval(a, b):
    """How often the mate of a row is among the 1 and the 10 nearest by the cosine, as in Hardoon, Szedmak & Shawe-Taylor (2004)."""
    a, b = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (a, b))
    rank = ((a @ b.T) > np.sum(a * b, 1)[:, None]).sum(1)
    return [f"{100 * np.mean(rank < best):.1f}" for best in (1, 10)]


def views(arguments):
    parts = {name: np.loadtxt(arguments.data / "mfeat" / f"mfeat-{name}.csv", delimiter=",") for name in ("fou", "kar")}
    order = np.random.default_rng(0).permutation(len(parts["fou"]))
    train, new = ({name: part[order[rows]] for name, part in parts.items()} for rows in (slice(0, 1000), slice(1000, 2000)))
    rows = {}
    for way in WAYS:
        a, b = views_of(way, 20, train, new)
        found = correlations(a, b)
        rows[way] = [f"{found[0]:.3f}", f"{found[:10].mean():.3f}", f"{found.mean():.3f}", *retrieval(a, b)]
    table("Digits by Fourier and Karhunen-Loève coefficients (mfeat), 1,000 training and 1,000 new rows, 20 features",
          ["1st correlation", "mean of 10", "mean of 20", "mate found, %", "among 10, %"], rows)


# ---- sufficient directions ----

def sine(rng, n):
    """Fukumizu & Leng (2014), example A: one direction."""
    x = rng.uniform(-1, 1, (n, 10))
    z = (x[:, 0] + 2 * x[:, 1]) / np.sqrt(5)
    return x, z * np.sin(np.sqrt(5) * z) + 0.1 * rng.normal(size=n), np.array([[1, 2] + 8 * [0]]).T / np.sqrt(5)


def product(rng, n):
    """Fukumizu & Leng (2014), example B, here with normal noise: two directions."""
    x = rng.uniform(-1, 1, (n, 10))
    one, other = (x[:, 0] + x[:, 1]) / np.sqrt(2), (x[:, 0] - x[:, 1]) / np.sqrt(2)
    return x, (one ** 3 + other) * (one - other ** 3) + 0.1 * rng.normal(size=n), np.eye(10)[:, :2]


def distance(found, true):
    """The Frobenius norm of the difference of the projections, the measure of the paper."""
    found = np.linalg.qr(found)[0]
    return np.linalg.norm(found @ found.T - true @ true.T)


def gkdr(arguments):
    ways = {"`gkdr`": lambda k: kfe.GKDR(dim=k), "`gkdr`, iterations=1": lambda k: kfe.GKDR(dim=k, iterations=1),
            "`gkdr`, iterations=5": lambda k: kfe.GKDR(dim=k, iterations=5),
            "`rfm`, distance=full": lambda k: kfe.RFM(directions=k, distance="full"), "`pls`": lambda k: kfe.PLS(dim=k)}
    rows = {}
    for way, make in ways.items():
        rows[way] = []
        for draw in (sine, product):
            for n in (100, 200, 400):
                found = []
                for seed in range(arguments.draws):
                    x, y, true = draw(np.random.default_rng(seed), n)
                    found.append(distance(make(true.shape[1]).fit(x, y).components_.T, true))
                rows[way].append(mean(found, 2))
    table(f"Distance of the projections (0: found), {arguments.draws} draws",
          [f"{name}, n = {n}" for name in "AB" for n in (100, 200, 400)], rows)


def gkdr_tables(arguments):
    dims = (1, 3, 5, 10, 20)
    for name, train in {"ionosphere": 151, "wdbc": 200}.items():
        rows = {}
        for x, y, new, answers in draws(arguments, name, train):
            for way, make in {"`gkdr`": lambda k: kfe.GKDR(dim=k, scale="none"),
                              "`gkdr`, iterations=1": lambda k: kfe.GKDR(dim=k, iterations=1, scale="none"),
                              "`gkdr`, iterations=5": lambda k: kfe.GKDR(dim=k, iterations=5, scale="none"),
                              "`pls`": lambda k: kfe.PLS(dim=k, scale="none")}.items():
                for k in dims:
                    model = make(k).fit(x, y)
                    rows.setdefault(way, {}).setdefault(k, []).append(neighbor_error(7, model.transform(x), y, model.transform(new), answers))
            rows.setdefault("all columns", {}).setdefault(1, []).append(neighbor_error(7, x, y, new, answers))
        table(f"{name}: error in % of 7 nearest neighbours, {train} training rows, {arguments.draws} draws", [f"dim = {k}" for k in dims],
              {way: [mean(found[k], 1) if k in found else "" for k in dims] for way, found in rows.items()})


# ---- classes of several clusters ----

def lfda(arguments):
    rows = {}
    for way, make in {"`lfda`": lambda: kfe.LFDAClassifier(dim=1, learner="knn"),
                      "`klfda`, linear": lambda: kfe.KLFDAClassifier(dim=1, kernel="linear", learner="knn"),
                      "`kfd`, linear": lambda: kfe.KFDClassifier(dim=1, kernel="linear", learner="knn"),
                      "`klfda`, rbf": lambda: kfe.KLFDAClassifier(dim=1, learner="knn"),
                      "`kfd`, rbf": lambda: kfe.KFDClassifier(dim=1, learner="knn")}.items():
        rows[way] = []
        for apart in (0, 3, 6):
            errors = []
            for seed in range(arguments.draws):
                rng = np.random.default_rng(seed)
                y = np.arange(400) % 2
                x = rng.normal(size=(400, 6))
                x[:, 0] += np.where(y == 1, apart * rng.choice([-1, 1], 400), 0)  # one class on both sides of the other
                x[:, 1] = 3 * x[:, 1] + 1.5 * y                                  # what a common mean sees
                errors.append(100 * np.mean(make().fit(x[:200], y[:200]).predict(x[200:]) != y[200:]))
            rows[way].append(mean(errors, 1))
    table(f"Error in % of one feature and nearest neighbours, 200 training and 200 new rows, {arguments.draws} draws",
          ["one cluster", "two, 3 away", "two, 6 away"], rows)


IDA = {"banana": 400, "breast_cancer": 200, "diabetes_pima": 468, "flare_solar": 666, "german": 700, "ringnorm": 400, "ida_splice": 1000,
       "thyroid": 140, "titanic": 150, "twonorm": 400, "ida_waveform": 400}  # training rows of the paper


def best_dim(make, x, y):
    """The number of leading features with the smallest error of five folds; one fit per fold has them all."""
    most = make(x.shape[1]).fit(x, y).transform(x).shape[1]
    errors = np.zeros(most)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(x, y):
        model = make(most).fit(x[train], y[train])
        a, b = model.transform(x[train]), model.transform(x[test])
        errors += [neighbor_error(1, a[:, :k + 1], y[train], b[:, :k + 1], y[test]) for k in range(most)]
    return 1 + int(np.argmin(errors))


def lfda_tables(arguments):
    ways = {"`lfda`": lambda k: kfe.LFDA(dim=k, scale="none"), "`kfd`, linear": lambda k: kfe.KFD(dim=1, kernel="linear", scale="none"),
            "`kpca`, linear": lambda k: kfe.KPCA(dim=k, kernel="linear", scale="none")}
    rows = {}
    for name, train in IDA.items():
        found = {way: [] for way in [*ways, "all columns"]}
        chosen = []
        for x, y, new, answers in draws(arguments, name, train):
            for way, make in ways.items():
                k = best_dim(make, x, y)
                model = make(k).fit(x, y)
                found[way].append(neighbor_error(1, model.transform(x), y, model.transform(new), answers))
                chosen += [k] if way == "`lfda`" else []
            found["all columns"].append(neighbor_error(1, x, y, new, answers))
        rows[f"{name.replace('ida_', '').replace('_', ' ')}, {train} × {x.shape[1]}"] = [mean(found[way], 1) for way in found] + [
            f"{np.median(chosen):.0f}"]
    table(f"Error in % of the nearest neighbour, features chosen by five folds, {arguments.draws} draws",
          [*ways, "all columns", "features of `lfda`, median"], rows)


# ---- orthogonal and sparse partial least squares ----

def spectra(rng, n):
    """Mixtures of three substances with overlapping bands, a drifting baseline and noise; the target is the first concentration."""
    at = np.linspace(900, 1700, 400)
    bands = np.stack([np.exp(-(((at - centre) / width) ** 2)) for centre, width in [(1150, 40), (1200, 70), (1450, 90)]])
    share = rng.uniform(0, 1, (n, 3))
    baseline = 0.2 * rng.normal(size=(n, 1)) + 0.1 * rng.normal(size=(n, 1)) * np.linspace(-1, 1, 400)
    return share @ bands + baseline + 0.02 * rng.normal(size=(n, 400)), share[:, 0]


def opls(arguments):
    rows = {"`pls`, k + 1 features": [], "`opls`, predictive feature alone": [], "`pls`, first feature alone": [],
            "variance taken out by `opls`, %": []}
    for k in (0, 1, 2, 3, 4):
        found = {name: [] for name in rows}
        for seed in range(arguments.draws):
            rng = np.random.default_rng(seed)
            (x, y), (new, true) = spectra(rng, 60), spectra(rng, 500)
            models = (kfe.PLS(dim=k + 1, scale="none"), kfe.OPLS(orthogonal=k, scale="none"), kfe.PLS(dim=1, scale="none"))
            for name, model, width in zip(rows, models, (k + 1, 1, 1)):
                z = np.column_stack([model.fit(x, y).transform(x)[:, :width], np.ones(60)])
                weights = np.linalg.lstsq(z, y, rcond=None)[0]
                found[name].append(np.sqrt(np.mean((np.column_stack([model.transform(new)[:, :width], np.ones(500)]) @ weights - true) ** 2)))
            shares = models[1].orthogonal_shares_ if k else []
            found["variance taken out by `opls`, %"].append(100 * np.sum(shares))
        for name in rows:
            rows[name].append(mean(found[name], 1 if name.endswith("%") else 4))
    table(f"Error of the concentration for 500 new spectra, 60 training spectra, {arguments.draws} draws", [f"k = {k}" for k in range(5)], rows)


def spls(arguments):
    import tabular
    rows = {}
    for name in ("leukemia1", "leukemia2", "prostate_tumor"):
        x, y = tabular.read(arguments.data, name)
        x = x.toarray() if hasattr(x, "toarray") else x
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        rows[f"{name}, {x.shape[0]} × {x.shape[1]}"] = [
            f"{100 * np.mean(cross_val_predict(kfe.SparsePLSClassifier(dim=3, keep=keep, learner='centroid', scale='standard'), x, y, cv=folds) != y):.1f}"
            for keep in (5, 20, 50, 200, "all")]
    table("Error in % of five-fold cross-validation, three features, nearest class mean", ["keep=5", "20", "50", "200", "all (`pls`)"], rows)


EXPERIMENTS = {"curves": curves, "views": views, "gkdr": gkdr, "gkdr-tables": gkdr_tables, "lfda": lfda, "lfda-tables": lfda_tables,
               "opls": opls, "spls": spls}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*EXPERIMENTS, []])
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--draws", type=int, default=20)
    arguments = parser.parse_args()
    for name in arguments.names or EXPERIMENTS:
        EXPERIMENTS[name](arguments)


if __name__ == "__main__":
    main()
