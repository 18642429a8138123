# SPDX-License-Identifier: Apache-2.0
"""lmkl and sldr on the command line: results, features, string views, selection, and clear refusals."""
import json
import random

import pytest

ROWS = 160
METHODS = ["lmkl", "sldr"]


def table(rows):
    return "".join(",".join(f"{x:.12g}" for x in row) + "\n" for row in rows)


def draw_views(seed, rows=ROWS):
    """View "left" separates the classes on one side, "right" on the other; the first column of both contains the
    side."""
    draw = random.Random(seed)
    left, right, noise, labels = [], [], [], []
    for i in range(rows):
        side, sign = i % 2, 1 if i // 2 % 2 else -1
        decisive, other = sign + draw.gauss(0, 0.3), draw.gauss(0, 1)
        where = [(2 if side else -2) + draw.gauss(0, 0.5) for _ in range(2)]
        left.append([where[0], other if side else decisive, draw.gauss(0, 1)])
        right.append([where[1], decisive if side else other])
        noise.append([draw.gauss(0, 1) for _ in range(3)])
        labels.append("yes" if sign > 0 else "no")
    return left, right, noise, labels


@pytest.fixture
def views(kfe):
    """Writes left.csv, right.csv, noise.csv and labels.csv, and the same for new examples in the folder new."""
    kfe.path("new").mkdir()
    for folder, seed in (("", 6), ("new/", 7)):
        left, right, noise, labels = draw_views(seed)
        kfe.write(f"{folder}left.csv", table(left))
        kfe.write(f"{folder}right.csv", table(right))
        kfe.write(f"{folder}noise.csv", table(noise))
        kfe.write(f"{folder}labels.csv", "".join(label + "\n" for label in labels))
    kfe.write("short.csv", "yes\nno\n")
    return kfe


LABELS = ["--label-file", "labels.csv"]
NEW = ["new/left.csv", "new/right.csv"]


def fit(kfe, method, *arguments, status=0):
    return kfe.run("fit", "-q", "-m", method, *arguments, *LABELS, "-o", "m.kfe", status=status)


def accuracy(kfe, *arguments, labels="new/labels.csv"):
    told = kfe.ok("evaluate", "--json", "m.kfe", *arguments, "--label-file", labels).out
    return json.loads(told)["metrics"]["accuracy"]


# ---- reports ----

def test_what_is_not_used(views):
    fit(views, "sldr", "left.csv", "right.csv", "noise.csv")
    text = views.ok("info", "m.kfe").out
    assert "noise is never used: you can stop collecting it" in text
    assert "left is never used" not in text and "right is never used" not in text
    info = json.loads(views.ok("info", "--json", "m.kfe").out)
    parts = {part["view"]: part for part in info["parts"]}
    assert [parts[name]["used"] for name in ("left", "right", "noise")] == [True, True, False]
    assert abs(sum(part["mean_gate"] for part in parts.values()) - 1) < 1e-12
    assert parts["noise"]["decides"] == 0 and 0.4 < parts["left"]["decides"] < 0.6
    assert all(part["decides"] <= 1 for part in parts.values())
    objective = info["records"]["objective"]
    assert all(later <= earlier for earlier, later in zip(objective, objective[1:]))
    assert info["records"]["support-share"][0] == info["support_size"] / ROWS
    assert accuracy(views, *NEW, "new/noise.csv") > 0.95


@pytest.mark.parametrize("method", METHODS)
def test_features(views, method):
    width = {"local": 5 if method == "lmkl" else 4, "gate": 2, "shares": 2}
    for features, columns in width.items():
        fit(views, method, "left.csv", "right.csv", "--features", features)
        lines = views.ok("transform", "m.kfe", *NEW).out.splitlines()
        rows = [[float(x) for x in line.split(",")] for line in lines[-ROWS:]]
        assert len(rows[0]) == columns
        if features == "shares":
            assert all(abs(sum(row) - 1) < 1e-14 for row in rows)
            assert sum((row[1] > 0.5) == bool(i % 2) for i, row in enumerate(rows)) > 0.95 * ROWS


@pytest.mark.parametrize("method", METHODS)
def test_the_gate_sees_what_it_is_told(views, method):
    fit(views, method, "left.csv", "right.csv", "noise.csv", "--gate", "noise")
    blind = accuracy(views, *NEW, "new/noise.csv")
    fit(views, method, "left.csv", "right.csv", "noise.csv", "--gate", "left")
    assert accuracy(views, *NEW, "new/noise.csv") > max(0.95, blind + 0.05)


# ---- views as files ----

@pytest.mark.parametrize("method", METHODS)
def test_orders_and_names_at_prediction(views, method):
    fit(views, method, "left.csv", "right.csv")
    expected = views.ok("predict", "--scores", "m.kfe", *NEW).out
    assert views.ok("predict", "--scores", "m.kfe", *reversed(NEW)).out == expected
    named = ["--view", "right=new/right.csv", "--view", "left=new/left.csv"]
    assert views.ok("predict", "--scores", "m.kfe", *named).out == expected


def test_one_view_in_full_is_an_svm(views):
    def scores():
        lines = views.ok("predict", "--scores", "m.kfe", "new/left.csv").out.splitlines()[-ROWS:]
        return [float(line.split(",")[1]) for line in lines]

    fit(views, "none", "-k", "linear", "--learner", "svm", "--stop", "1e-8", "left.csv")
    expected = scores()
    fit(views, "sldr", "--local-dim", "3", "--svm-stop", "1e-8", "left.csv")
    assert max(abs(a - b) for a, b in zip(scores(), expected)) < 1e-5 * max(map(abs, expected))


@pytest.mark.parametrize("method", METHODS)
def test_sparse_files(views, method):
    rows = [line.split(",") for line in views.path("right.csv").read_text().splitlines()]
    views.write("right.svm", "".join(f"0 1:{a} 2:{b}\n" for a, b in rows))
    fit(views, method, "--svm-stop", "1e-8", "left.csv", "right.csv")
    expected = accuracy(views, "left.csv", "right.csv", labels="labels.csv")
    fit(views, method, "--svm-stop", "1e-8", "left.csv", "right.svm")
    info = json.loads(views.ok("info", "--json", "m.kfe").out)
    assert [view["columns"] for view in info["views"]] == [3, 2]
    assert abs(accuracy(views, "left.csv", "right.svm", labels="labels.csv") - expected) < 0.02


def spectrum(a, b, length=2):
    """The number of common substrings, counted one by one."""
    pieces = [[text[i:i + length] for i in range(len(text) - length + 1)] for text in (a, b)]
    return sum(pieces[0].count(piece) * pieces[1].count(piece) for piece in set(pieces[0]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel_map", ["kpca", "empirical"])
def test_string_views_are_their_kernel_matrix(kfe, method, kernel_map):
    draw = random.Random(5)
    labels = ["yes" if i % 2 else "no" for i in range(30)]
    words = ["".join(draw.choice("abbb" if label == "yes" else "aaab") for _ in range(12)) for label in labels]
    kfe.write("words.csv", "".join(word + "\n" for word in words))
    kfe.write("numbers.csv", table([[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in labels]))
    kfe.write("matrix.csv", table([[spectrum(a, b) for b in words] for a in words]))
    kfe.write("labels.csv", "".join(label + "\n" for label in labels))
    found, path = [], []
    for file, kernel in (("words.csv", "spectrum:length=2"), ("matrix.csv", "precomputed")):
        views = ["--view", f"text={file}", "--view", "numbers=numbers.csv"]
        fit(kfe, method, *views, "--view-kernel", f"text={kernel}", "--view-kernel", "numbers=linear", "--kernel-map",
            kernel_map, "--svm-stop", "1e-8", "--settled", "1e-9", "--max-iter", "500",
            "--restarts", "12")  # starts go by the content of the rows, so the best ends are compared
        lines = kfe.ok("predict", "--scores", "m.kfe", *views).out.splitlines()[-30:]
        found.append([float(line.split(",")[1]) for line in lines])
        path.append(json.loads(kfe.ok("info", "--json", "m.kfe").out)["records"]["objective"])
    scale = max(map(abs, found[0]))
    assert abs(path[0][-1] - path[1][-1]) < 1e-3 * path[0][0]
    assert max(abs(a - b) for a, b in zip(*found)) < 0.05 * scale  # the objective is flat around its minimum
    assert sum((score > 0) == (label == labels[0]) for score, label in zip(found[0], labels)) > 24


# ---- selection ----

@pytest.mark.parametrize("method", METHODS)
def test_cross_validation_needs_no_learner(views, method):
    told = json.loads(views.ok("cv", "-q", "--json", "-m", method, "--grid", "svm-C=1,10", "--folds", "3",
                               "--inner-folds", "2", "left.csv", "right.csv", *LABELS, "--save", "best.kfe").out)
    assert told["metrics"]["accuracy"]["mean"] > 0.9
    assert len(views.ok("predict", "best.kfe", *NEW).out.splitlines()) >= ROWS


def test_comparisons_need_no_learner(views):
    done = views.ok("compare", "--json", "-m", "sldr", "-m", "lmkl", "-m", "mkl", "-k", "linear", "--folds", "3",
                    "left.csv", "right.csv", *LABELS)
    assert "left out" not in done.err
    means = {method["label"]: method["metrics"]["accuracy"]["mean"] for method in json.loads(done.out)["methods"]}
    assert set(means) == {"sldr", "lmkl", "mkl"}
    assert min(means["sldr"], means["lmkl"]) > means["mkl"]


# ---- refusals ----

@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("arguments, says", [
    (["left.csv", "right.csv", "--gate", "up"], ["'up'", "all"]),
    (["left.csv", "right.csv", "--gate", "3"], ["'3'", "1 to 2"]),
    (["left.csv", "right.csv", "--view-kernel", "up=rbf"], ["up", "left"]),
    (["left.csv", "right.csv", "-k", "chi2"], ["chi2", "not negative"]),
    (["left.csv", "right.csv", "--view-kernel", "right=precomputed"], ["right"]),
])
def test_bad_fits(views, method, arguments, says):
    views.refused("fit", "-m", method, *arguments, *LABELS, "-o", "m.kfe", says=says)


@pytest.mark.parametrize("method", METHODS)
def test_files_that_disagree_are_named(views, method):
    views.write("tall.csv", table([[1, 2]] * (ROWS + 1)))
    views.refused("fit", "-m", method, "left.csv", "tall.csv", *LABELS, "-o", "m.kfe", says=["left.csv", "tall.csv"])
    views.refused("fit", "-m", method, "left.csv", "right.csv", "--label-file", "short.csv", "-o", "m.kfe",
                  says=["short.csv", "2 labels"])


@pytest.mark.parametrize("method", METHODS)
def test_bad_views_to_predict(views, method):
    fit(views, method, "left.csv", "right.csv")
    views.refused("predict", "m.kfe", "new/left.csv", says=["'right'"])
    views.refused("predict", "m.kfe", "new/left.csv", "new/noise.csv", says=["'noise'"])
    views.refused("predict", "m.kfe", "--view", "left=new/left.csv", "--view", "right=new/noise.csv", "--label", "none",
                  says=["new/noise.csv", "2 columns", "has 3"])


def test_dimensions_are_cut_with_a_word(views):
    done = views.ok("fit", "-m", "sldr", "--local-dim", "9", "left.csv", "right.csv", *LABELS, "-o", "m.kfe")
    assert "view left has only 3" in done.err and "view right has only 2" in done.err
    assert json.loads(views.ok("info", "--json", "m.kfe").out)["features"] == 5
