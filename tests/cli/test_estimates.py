# SPDX-License-Identifier: Apache-2.0
"""± is one thing in every result: the larger of the corrected resampled and the row-wise standard error."""
import csv
import json
import math

import numpy as np
import pytest

from test_learning import clouds, table


def make(kfe, rows=90, apart=1.5):
    x, code = clouds(1, rows, 3, apart)
    kfe.write("data.csv", table(x, ["red green blue".split()[c] for c in code]))
    return "data.csv"


def make_real(kfe, name="real.csv", seed=3, rows=80):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, 3))
    y = x[:, 0] + 0.3 * random.standard_t(4, size=rows)
    kfe.write(name, "a,b,c,y\n" + "".join(",".join(map(repr, map(float, (*r, t)))) + "\n" for r, t in zip(x, y)))
    return name


def expected(splits, metric="accuracy", rows=None):
    values = np.array([s["metrics"][metric] for s in splits])
    test, train = (np.array([s[key] for s in splits], float) for key in ("test_rows", "train_rows"))
    share = values @ test / test.sum()
    corrected = values.std(ddof=1) * math.sqrt(1 / len(values) + test.sum() / train.sum()) if len(values) > 1 else 0
    return max(corrected, math.sqrt(share * (1 - share) / (rows or test.sum())))


def check(summary, splits, **how):
    values = [s["metrics"]["accuracy"] for s in splits]
    assert summary["standard_error"] == pytest.approx(expected(splits, **how))
    assert summary["mean"] == pytest.approx(np.mean(values))
    assert summary["sd"] == (pytest.approx(np.std(values, ddof=1)) if len(values) > 1 else None)


@pytest.mark.parametrize("flags, rows", [((), 90), (("--repeats", "4"), 90), (("--folds", "2"), 90),
                                         (("--split", "random", "--repeats", "1"), None)])
def test_cv(kfe, flags, rows):
    make(kfe)
    found = json.loads(kfe.ok("cv", "-m", "kfd", "--learner", "knn", *flags, "--json", "data.csv").out)
    check(found["metrics"]["accuracy"], found["splits"], rows=rows)
    text = kfe.ok("cv", "-m", "kfd", "--learner", "knn", *flags, "data.csv").out
    summary = found["metrics"]["accuracy"]
    assert f"accuracy {summary['mean']:.4f} ± {summary['standard_error']:.4f} (standard error" in text
    if summary["sd"] is not None:
        assert f"standard deviation over {len(found['splits'])} splits {summary['sd']:.2g})" in text


def test_compare(kfe):
    make(kfe)
    run = ("compare", "-m", "kfd", "-m", "koc", "--learner", "knn", "data.csv")
    for method in json.loads(kfe.ok(*run, "--json").out)["methods"]:
        check(method["metrics"]["accuracy"], method["splits"])
    assert "± is the standard error of the mean" in kfe.ok(*run).out


@pytest.mark.parametrize("apart", [1.5, 6])
def test_tune_says_what_cv_says(kfe, apart):
    make(kfe, apart=apart)
    run = ("tune", "--trials", "12", "--time", "none", "data.csv")
    found = json.loads(kfe.ok(*run, "--json").out)
    honest, splits = found["honest"]["metrics"]["accuracy"], found["honest"]["splits"]
    for split in splits:
        split["train_rows"] = 90 - split["test_rows"]
    check(honest, splits)
    for row in found["ranking"]:
        if row["folds"] > 0:
            binomial = math.sqrt(row["mean"] * (1 - row["mean"]) / (90 * row["folds"] / 5))
            corrected = row["sd"] * math.sqrt(1 / row["folds"] + 1 / 4) if row["folds"] > 1 else 0
            assert row["standard_error"] == pytest.approx(max(binomial, corrected), rel=1e-6)
    assert "± is the standard error" in kfe.ok(*run).out


def test_tune_with_a_part_held_out(kfe):
    found = json.loads(kfe.ok("tune", "--trials", "8", "--time", "none", "--assess", "held-out", "--json", make_real(kfe)).out)
    rmse = found["honest"]["metrics"]["rmse"]
    assert rmse["sd"] is None and 0 < rmse["standard_error"] < rmse["mean"]


def test_evaluate_classes(kfe):
    make(kfe)
    kfe.ok("fit", "-q", "-m", "kfd", "--learner", "knn", "data.csv", "-o", "m.kfe")
    x, code = clouds(2, 60, 3)
    kfe.write("test.csv", table(x, ["red green blue".split()[c] for c in code]))
    found = json.loads(kfe.ok("evaluate", "m.kfe", "test.csv", "--json").out)
    p = found["metrics"]["accuracy"]
    assert found["standard_errors"]["accuracy"] == pytest.approx(math.sqrt(p * (1 - p) / 60))
    assert found["standard_errors"]["auc"] is None
    text = kfe.ok("evaluate", "m.kfe", "test.csv").out
    assert f"± {found['standard_errors']['accuracy']:.2g}\n" in text and "± is the standard error\n" in text


def test_evaluate_numbers_as_the_bootstrap_does(kfe):
    make_real(kfe)
    make_real(kfe, "new.csv", seed=4, rows=400)
    kfe.ok("fit", "-q", "-m", "kpls", "--learner", "ls", "real.csv", "-o", "m.kfe")
    found = json.loads(kfe.ok("evaluate", "m.kfe", "new.csv", "--json").out)
    kfe.ok("predict", "-q", "m.kfe", "new.csv", "-o", "p.csv")
    y = np.loadtxt(kfe.path("new.csv"), delimiter=",", skiprows=1)[:, 3]
    e = np.genfromtxt(kfe.path("p.csv"), delimiter=",", skip_header=1).reshape(400, -1)[:, -1] - y
    draws = np.random.default_rng(0).integers(400, size=(2000, 400))
    mse, total = (e[draws] ** 2).mean(1), y[draws].var(1)
    for metric, values in (("rmse", np.sqrt(mse)), ("mae", np.abs(e[draws]).mean(1)), ("r2", 1 - mse / total)):
        assert found["standard_errors"][metric] == pytest.approx(values.std(), rel=0.1)


def test_held_out_predictions_are_named_and_drawn(kfe):
    """Rows are known by their names; the tables of quality, the confusion matrix and the report are drawn from them."""
    lines = [f"row{i},{(i * 7) % 11 + 3 * (i % 2)},{(i * 5) % 7},{'ab'[i % 2]}\n" for i in range(60)]
    kfe.write("named.csv", "name,x,y,class\n" + "".join(lines))
    kfe.write("cv.json", kfe.ok("cv", "-q", "-m", "koc", "--learner", "knn", "--id", "name", "--repeats", "2", "named.csv", "--json").out)
    found = json.loads(kfe.path("cv.json").read_text())
    rows = found["held_out"]
    assert len(rows) == 120 and {row["repeat"] for row in rows} == {1, 2}
    assert all(row["id"] == f"row{row['row'] - 1}" and row["truth"] == "ab"[(row["row"] - 1) % 2] for row in rows)
    counts = {}
    for row in rows:
        counts[row["truth"], row["prediction"]] = counts.get((row["truth"], row["prediction"]), 0) + 1
    kfe.ok("plot", "confusion", "cv.json", "-o", "c.csv")
    drawn = {(row["true class"], row["predicted class"]): int(row["count"]) for row in csv.DictReader(kfe.path("c.csv").open())}
    assert drawn == counts
    kfe.ok("plot", "metrics", "cv.json", "-o", "m.csv")
    accuracy = next(float(row["value"]) for row in csv.DictReader(kfe.path("m.csv").open()) if row["metric"] == "accuracy")
    assert accuracy == pytest.approx(sum(n for (a, b), n in counts.items() if a == b) / 120)
    assert "120 held-out examples" in json.loads(kfe.ok("plot", "metrics", "cv.json", "-o", "-", "--format", "json").out)["caption"]
    kfe.ok("report", "cv.json", "-o", "r.html")
    text = kfe.path("r.html").read_text()
    assert 'id="figure-confusion"' in text and 'id="figure-roc"' not in text and "fitted on, so" not in text


def test_the_report_of_a_saved_search_judges_held_out_rows(kfe):
    """Beside the model, whose training rows it has seen, the figures of quality are those of rows held out."""
    kfe.write("line.csv", "a,b,t\n" + "".join(f"{i},{i * i % 7},{2 * i + 3 * (i * i % 7) + 0.5 * (i % 3)}\n" for i in range(40)))
    kfe.ok("cv", "-q", "-m", "pls", "--dim", "1", "--learner", "ls", "--task", "regress", "line.csv", "-o", "m.kfe", "--report", "r.html")
    text = kfe.path("r.html").read_text()
    assert "Each example was predicted by a fit on training rows that leave it out" in text and "judged on the data" not in text


def test_held_out_rows_of_regressions_are_figures(kfe):
    kfe.write("line.csv", "a,b,t\n" + "".join(f"{i},{i * i % 7},{2 * i + 3 * (i * i % 7) + 0.5 * (i % 3)}\n" for i in range(40)))
    kfe.write("cv.json", kfe.ok("cv", "-q", "-m", "pls", "--dim", "1", "--learner", "ls", "--task", "regress", "line.csv", "--json").out)
    rows = json.loads(kfe.path("cv.json").read_text())["held_out"]
    for figure in ("predicted", "residuals"):
        kfe.ok("plot", figure, "cv.json", "-o", "p.csv")
        table = [[float(row[name]) for name in ("row", "true value", "predicted value", "residual")] for row in csv.DictReader(kfe.path("p.csv").open())]
        assert table == [pytest.approx([row["row"], row["truth"], row["prediction"], row["truth"] - row["prediction"]]) for row in rows]
    kfe.write("cv.json", kfe.ok("cv", "-q", "-m", "pls", "--dim", "1", "--learner", "ls", "--task", "regress", "--held-out", "no", "line.csv", "--json").out)
    assert "held_out" not in json.loads(kfe.path("cv.json").read_text())
    kfe.refused("plot", "predicted", "cv.json", "-o", "p.csv", says="results with held-out predictions of numbers")


def test_fewer_features_are_chosen_by_rules(kfe):
    """q2 ends where RMSECV no longer falls by 5 %, one-se at the first within one standard error of the smallest."""
    x, best = make_real(kfe), {}
    for rule in ("min", "one-se", "permutation", "q2"):
        best[rule] = json.loads(kfe.ok("cv", "-q", "-m", "pls", "--learner", "ls", "--grid", "dim=1,2,3", "--choose", rule, "--inner-folds", "0",
                                       "--task", "regress", x, "--json").out)
    errors, spreads = ([row[name] for row in best["min"]["settings"]] for name in ("rmsecv", "rmsecv_error"))
    least = errors.index(min(errors))
    falls = [after <= 0.95 * before for before, after in zip(errors, errors[1:])]
    spread = best["min"]["settings"][least]["metrics"]["rmse"]["standard_error"]
    assert spread >= spreads[least]
    dims = {rule: int(found["best"]["dim"]) for rule, found in best.items()}
    assert dims["min"] == least + 1 and dims["q2"] == (falls + [False]).index(False) + 1
    assert dims["one-se"] == [error <= errors[least] + spread for error in errors].index(True) + 1
    assert dims["permutation"] <= dims["min"]
    kfe.refused("cv", "-m", "pls", "--learner", "ls", "--grid", "dim=1,2", "--choose", "max", x, says="--choose")
