# SPDX-License-Identifier: Apache-2.0
"""Plots on matplotlib axes: their numbers are those of scikit-learn and of the estimator; displays, axes and refusals."""
import re
import numpy as np
import pytest

import kfe

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")
metrics = pytest.importorskip("sklearn.metrics")
plot = pytest.importorskip("kfe.plot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def classifier(clouds):
    X, y = clouds
    return kfe.KPCAClassifier(3, kernel="rbf:gamma=0.1", learner="centroid").fit(X, y)


@pytest.fixture
def line():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 6))
    return X, X[:, 0] - 2 * X[:, 3] + 0.1 * rng.normal(size=80)


def test_scores_are_the_features(classifier, clouds):
    X, y = clouds
    display = plot.scores(classifier, X, y, features=(2, 3))
    table = display.table()
    rows = table["row"].to_numpy().astype(int) - 1
    np.testing.assert_allclose(table["PC 2"], classifier.transform(X)[rows, 1], rtol=1e-3, atol=1e-6)
    assert table["class"].tolist() == [str(label) for label in y[rows]]
    assert re.fullmatch(r"PC 2 \([0-9.]+ %\)", display.ax_.get_xlabel()) and display.ax_.get_ylabel().startswith("PC 3 (")


def test_scores_of_a_transformer_are_coloured_by_y(clouds):
    X, y = clouds
    table = plot.scores(kfe.PCA(2).fit(X), X, y).table()
    assert set(table["class"]) == {"0", "1"}
    table = plot.scores(kfe.PCA(2).fit(X), X, X[:, 0]).table()
    np.testing.assert_allclose(table["target"], X[table["row"].astype(int) - 1, 0], rtol=1e-3)


def test_confusion_equals_that_of_sklearn(classifier, clouds):
    X, y = clouds
    expected = metrics.confusion_matrix(y, classifier.predict(X))
    for display in (plot.confusion(classifier, X, y), plot.ConfusionDisplay.from_predictions(y, classifier.predict(X))):
        found = np.zeros_like(expected)
        for _, row in display.table().iterrows():
            found[int(row["true class"]), int(row["predicted class"])] = row["count"]
        assert (found == expected).all()


def test_curves_have_the_areas_of_sklearn(classifier, clouds):
    X, y = clouds
    scores = classifier.decision_function(X)
    auc, ap = metrics.roc_auc_score(y, scores), metrics.average_precision_score(y, scores)
    assert 0.5 < auc < 1
    for display, text in ((plot.roc(classifier, X, y), f"AUC {auc:.3f}"),
                          (plot.RocDisplay.from_predictions(y, scores), f"AUC {auc:.3f}"),
                          (plot.precision_recall(classifier, X, y), f"AP {ap:.3f}"),
                          (plot.PrecisionRecallDisplay.from_predictions(y, scores), f"AP {ap:.3f}")):
        assert display.ax_.get_legend().get_texts()[0].get_text().startswith(text)


def test_calibration_equals_that_of_sklearn(clouds):
    from sklearn.calibration import calibration_curve
    X, y = clouds
    model = kfe.KPCAClassifier(3, kernel="rbf:gamma=0.1", learner="svm", calibration="platt").fit(X, y)
    probabilities = model.predict_proba(X)
    observed, mean = calibration_curve(y, probabilities[:, 1], n_bins=10)
    drawn = plot.calibration(model, X, y)
    assert len(drawn.ax_) == 2 and len(observed) > 2
    for table in (drawn.table()[lambda t: t["probabilities"] == "calibrated (platt)"],
                  plot.CalibrationDisplay.from_predictions(y, probabilities[:, 1]).table(),
                  plot.CalibrationDisplay.from_predictions(y, probabilities).table()):
        np.testing.assert_allclose(table["mean probability"], mean, rtol=1e-3)
        np.testing.assert_allclose(table["observed share"], observed, rtol=1e-3)
    with pytest.raises(ValueError, match="y_prob has 3 columns, but y_true has 2 classes"):
        plot.CalibrationDisplay.from_predictions(y, np.ones((len(y), 3)))


def test_calibration_of_several_classes_is_that_of_the_most_probable_one(iris):
    X, y = iris
    model = kfe.KPCAClassifier(3, learner="svm", calibration="platt").fit(X, y)
    probabilities = model.predict_proba(X)
    table = plot.CalibrationDisplay.from_predictions(y, probabilities).table()
    right = model.classes_[probabilities.argmax(axis=1)] == y
    assert table["examples"].sum() == len(y)
    assert (table["examples"] * table["observed share"]).sum() == pytest.approx(right.sum())
    drawn = plot.calibration(model, X, y).table()
    drawn = drawn[drawn["probabilities"] == "calibrated (platt)"]
    np.testing.assert_allclose(drawn["observed share"], table["observed share"], rtol=1e-3)


def test_scores_and_predictions_without_an_estimator(classifier, clouds, line):
    X, y = clouds
    features = classifier.transform(X)
    table = plot.ScoresDisplay.from_predictions(features, y, axes=(3, 1)).table()
    rows = table["row"].to_numpy().astype(int) - 1
    np.testing.assert_array_equal(table[["feature 3", "feature 1"]], features[rows][:, [2, 0]])
    assert table["class"].tolist() == [str(label) for label in y[rows]]
    X, y = line
    regressor = kfe.PLSRegressor(2).fit(X, y)
    for display in (plot.predicted(regressor, X, y), plot.PredictedDisplay.from_predictions(y, regressor.predict(X))):
        assert sorted(display.table()["predicted"]) == pytest.approx(sorted(regressor.predict(X)), rel=1e-3, abs=1e-3)


def test_regions_of_the_gate(clouds):
    X, y = clouds
    local = kfe.LMKLClassifier(kernel=["linear", "rbf:gamma=0.1"]).fit(X[:60], y[:60])
    table = plot.gate_regions(local, X[:60], y[:60]).table().dropna(subset=["row"])
    assert sorted(table["row"]) == list(range(1, 61)) and table["share"].min() >= 0.5


def test_residuals(line):
    X, y = line
    regressor = kfe.PLSRegressor(2).fit(X, y)
    expected = y - regressor.predict(X)
    for display in (plot.residuals(regressor, X, y), plot.ResidualsDisplay.from_predictions(y, regressor.predict(X))):
        assert sorted(display.table()["residual"]) == pytest.approx(sorted(expected), rel=1e-3, abs=1e-3)


def test_vip_and_importance_find_the_columns(line):
    X, y = line
    regressor = kfe.PLSRegressor(2).fit(X, y)
    table = plot.vip(regressor).table()
    assert table["column"].tolist()[:2] == ["column 4", "column 1"]
    np.testing.assert_allclose(table["vip"], np.sort(regressor.vip_)[::-1], rtol=1e-3)
    assert plot.importance(regressor, X, y).table()["column"].tolist()[:2] == ["column 4", "column 1"]


@pytest.fixture
def spectra():
    """Spectra over falling wavenumbers, whose band at 1000 decides."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    wave, y = np.arange(1200, 780, -20), rng.normal(size=40)
    band = np.exp(-((wave - 1000) / 40.0) ** 2)
    X = y[:, None] * band + 0.05 * rng.normal(size=(40, len(wave)))
    X[7, 3] += 5
    return pandas.DataFrame(X, columns=[f"{w} cm-1" for w in wave], index=[f"tablet {k}" for k in range(40)]), y, wave


def test_columns_named_by_wavenumbers_are_an_axis(spectra):
    """Lines over all columns, from high to low, also for few of them; the values are those of the estimator."""
    X, y, wave = spectra
    model = kfe.PLSRegressor(2).fit(X, y)
    for display, values in ((plot.vip(model), model.vip_), (plot.coefficients(model), model.coef_.ravel()),
                            (plot.loadings(model), None), (plot.importance(model, X, y), None), (plot.smc(model), None),
                            (plot.selectivity_ratio(model), None)):
        line = display.ax_.lines[0]
        np.testing.assert_array_equal(line.get_xdata(), wave)
        assert display.ax_.get_xlabel() == "wavenumber (cm⁻¹)" and display.ax_.get_xlim() == (wave[0], wave[-1])
        if values is not None:
            np.testing.assert_allclose(line.get_ydata(), values, rtol=1e-3)


def test_coefficients_have_jackknife_intervals(spectra):
    X, y, _ = spectra
    model = kfe.PLSRegressor(2).fit(X, y)
    table = plot.coefficients(model, train=(X, y)).table()
    found = model.explain(train=(X, y), parts="jackknife")
    np.testing.assert_allclose(table.iloc[:, -1], np.ravel(found["coefficient_high"]) - np.ravel(model.coef_), rtol=2e-3)


def test_prepared_columns_have_their_own_names(spectra):
    X, y, wave = spectra
    model = kfe.PLSRegressor(2, prepare="cut:keep=900..1100").fit(X, y)
    kept = (wave >= 900) & (wave <= 1100)
    assert plot.vip(model).table()["column"].tolist() == [f"{w} cm-1" for w in wave[kept]]


def test_outliers_and_contributions(spectra):
    """The row with a wrong value is the most distant one, by that column; another row can be asked for."""
    X, y, wave = spectra
    model = kfe.PLSRegressor(2).fit(np.asarray(X), y)
    display = plot.outliers(model, X.to_numpy(), y)
    diagnostics = model.explain(X.to_numpy(), parts="diagnostics", examples=True)["diagnostics"].to_dataframe()
    table = display.table().dropna(subset=["row"])
    assert table["row"][table["Q"].idxmax()] == 8
    rows = table["row"].astype(int) - 1
    np.testing.assert_allclose(table["Q"], diagnostics["q"].to_numpy()[rows], rtol=1e-3)
    np.testing.assert_allclose(table["T²"], diagnostics["t2"].to_numpy()[rows], rtol=1e-3)
    model = kfe.PLSRegressor(2).fit(X, y)
    display = plot.contributions(model, X)
    assert len(display.ax_) == 2 and display.table().set_index("column")["share of Q"].abs().idxmax() == f"{wave[3]} cm-1"
    other = plot.contributions(model, X, row=3)
    found = model.explain(X.iloc[[2]], parts="diagnostics", examples=True)
    q = np.ravel(np.asarray(found["q_contributions"]))
    np.testing.assert_allclose(other.table()["share of Q"], q / np.abs(q).sum(), rtol=2e-3, atol=1e-9)
    assert [text.get_text() for text in plot.outliers(model, X, y).ax_.texts][:1] == ["8"]
    with pytest.raises(ValueError, match="no such row"):
        plot.contributions(model, X, row=41)


def test_residuals_and_leverage():
    """With all features, PLS is least squares: the hat matrix gives leverages and residuals."""
    random = np.random.default_rng(3)
    X = random.normal(size=(40, 4))
    y = X @ [1.0, -2, 0, 1] + 0.3 * random.normal(size=40)
    y[7] += 3  # is predicted badly
    X[11] *= 9  # pulls the model towards itself
    y[11] = X[11] @ [1.0, -2, 0, 1]
    model = kfe.PLSRegressor(4, scale="none").fit(X, y)
    figure = plot.leverage(model, X, y)
    table = figure.table().dropna(subset=["row"]).set_index("row").sort_index()
    design = np.column_stack([np.ones(40), X])
    hat = design @ np.linalg.inv(design.T @ design) @ design.T
    e = y - hat @ y
    np.testing.assert_allclose(table["leverage"], np.diag(hat), rtol=2e-3)
    np.testing.assert_allclose(table["studentized residual"], e / np.sqrt(e @ e / 35 * (1 - np.diag(hat))), rtol=2e-3, atol=1e-3)
    assert {text.get_text() for text in figure.ax_.texts} == {"8", "12"}
    with pytest.raises(ValueError, match="needs"):
        plot.leverage(kfe.PLSClassifier(2, learner="ls").fit(X, y > 0), X, y > 0)


def test_spectra(spectra):
    X, y, wave = spectra
    model = kfe.PLSRegressor(2, prepare="snv").fit(X, y)
    display = plot.spectra(model, X, y)
    assert len(display.ax_) == 2 and all(len(ax.lines) == 40 for ax in display.ax_)
    lines = {tuple(np.round(line.get_ydata(), 4)) for line in display.ax_[0].lines}
    assert all(any(np.allclose(row, line, rtol=1e-3, atol=1e-4) for line in lines) for row in X.to_numpy())


def test_nothing_matters():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    model = kfe.PLSRegressor(1).fit(X, y)
    display = plot.importance(model, np.ones((60, 3)), rng.normal(size=60))
    assert [text.get_text() for text in display.ax_.texts] == ["no column matters detectably"]


def test_training_and_test_examples_differ_in_the_scores():
    """One entry of the legend for each class and each set; wrong predictions of training examples have a marker of their own."""
    X, y = kfe.generate("iris")
    y = np.where(np.arange(150) % 15 == 0, "virginica", y)  # wrong labels
    model = kfe.PCAClassifier(2, learner="centroid").fit(X[::2], y[::2])
    ax = plot.scores(model, X[1::2], y[1::2], train=(X[::2], y[::2])).ax_
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "setosa", "versicolor", "virginica", "training", "test", "wrong, training", "wrong, test"]
    crosses = {marker: sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() == marker) for marker in "+x"}
    assert crosses == {"+": int((model.predict(X[::2]) != y[::2]).sum()), "x": int((model.predict(X[1::2]) != y[1::2]).sum())}


def test_loadings_weights_rotations_and_coefficients_are_themselves(line):
    X, y = line
    regressor = kfe.PLSRegressor(2).fit(X * [1, 2, 3, 4, 5, 6], y)
    for draw, expected in ((plot.loadings, regressor.x_loadings_), (plot.loading_weights, regressor.x_weights_),
                           (plot.rotations, regressor.x_rotations_), (plot.coefficients, regressor.coef_)):
        display = draw(regressor)
        drawn = display.table().iloc[:, 1:].to_numpy()
        np.testing.assert_allclose(drawn.ravel(), np.asarray(expected).ravel(), rtol=1e-3)
        assert draw.__name__.split("_")[-1].rstrip("s") in display.ax_.get_ylabel()
    assert np.abs(regressor.x_loadings_ - regressor.x_rotations_).max() > 0.01


def test_panels_take_axes(classifier):
    _, axes = plt.subplots(1, 2)
    assert (plot.scree(classifier, ax=axes).ax_ == axes).all()
    with pytest.raises(ValueError, match="2 panels: give ax as 2 axes, not 1"):
        plot.scree(classifier, ax=axes[0])


def test_searches(iris):
    X, y = iris
    results = kfe.cv(kfe.KOCClassifier(kernel="rbf", learner="knn"), X, y, grid={"gamma": [0.1, 1.0], "neighbors": [1, 3]}, folds=3)
    surface = plot.cv_surface(results).table()
    means = {(row["setting"]["gamma"], row["setting"]["neighbors"]): row["metrics"]["accuracy"]["mean"] for row in results["settings"]}
    assert len(surface) == 4
    for _, row in surface.iterrows():
        assert row["accuracy"] == pytest.approx(means[float(row["gamma"]), int(row["neighbors"])], rel=1e-3)
    assert len(plot.cv_curve(results).ax_.lines) == 3  # one for each number of neighbours, and the cross
    contest = kfe.compare([kfe.KOCClassifier(), kfe.KFDClassifier()], X, y, folds=3)
    table = plot.comparison(contest).table()
    assert set(table["method"]) == {method["label"] for method in contest["methods"]}


def test_gate_and_path(clouds):
    X, y = clouds
    local = kfe.LMKLClassifier(kernel=["linear", "rbf:gamma=0.1"]).fit(X[:60], y[:60])
    np.testing.assert_allclose(plot.gate(local).table()["mean share"], local.records_["gate-mean"], rtol=1e-3)
    assert "objective" in plot.path(local).table()


def test_a_figure_that_does_not_apply_is_refused(classifier):
    with pytest.raises(ValueError, match="gate cannot be drawn: it needs a model of lmkl or sldr"):
        plot.gate(classifier)
    with pytest.raises(TypeError, match="estimators of kfe"):
        from sklearn.decomposition import PCA
        plot.scree(PCA().fit(np.eye(4)))


def test_report(classifier, clouds, tmp_path, iris):
    X, y = clouds
    names = ["<script>alert(1)</script>" if label else "b" for label in y]
    hostile = kfe.KPCAClassifier(3, kernel="rbf:gamma=0.1", learner="centroid").fit(X, names)
    page = kfe.report(hostile, X, names, train=(X, names), path=tmp_path / "r.html", title="<b>T</b>")
    text = (tmp_path / "r.html").read_text()
    assert text == page.html and "&lt;b&gt;T&lt;/b&gt;" in text and "<script>alert" not in text
    assert "judged on the data that the model was fitted on" in text
    assert page._repr_html_().startswith("<iframe") and "<script>alert" not in page._repr_html_()
    results = kfe.cv(kfe.KOCClassifier(learner="knn"), *iris, grid={"neighbors": [1, 3]}, folds=3)
    assert 'id="figure-cv-curve"' in kfe.report(results).html
    assert "scatter" in kfe.figures()


def test_notebooks_show_results(iris):
    X, y = iris
    results = kfe.cv(kfe.KOCClassifier(learner="knn"), X, y, grid={"neighbors": [1, 3]}, folds=3)
    assert "<table>" in results._repr_html_() and "<svg" in results._repr_html_()
    contest = kfe.compare([kfe.KOCClassifier(), kfe.KFDClassifier()], X, y, folds=3)
    assert "<svg" in contest._repr_html_()
    names = np.where(y == y[0], "<script>", y)
    shown = kfe.evaluate(kfe.KOCClassifier(learner="knn").fit(X, names), X, names)._repr_html_()
    assert "&lt;script&gt;" in shown and "<script>" not in shown
    assert "KOC" in kfe.KOC()._repr_html_()
