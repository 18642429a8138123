# SPDX-License-Identifier: Apache-2.0
"""Reports in a real browser: every figure is drawn, hover and tables work, nothing is logged, no request leaves the page."""
import csv
import io
import json
import os
import pathlib
import re
import subprocess

import chromium
import pytest

KFE = os.environ["KFE"]
CHARTS = os.environ.get("KFE_CHARTS_FILE", "")
HOSTILE = ['</script><script>window.hacked=1</script>', "<img src=x onerror=window.hacked=2>", "a\"b'&amp;", "<b>bold</b>"]

needs_chromium = pytest.mark.skipif(not chromium.PROGRAM, reason="chromium is not installed")
needs_charts = pytest.mark.skipif(not os.path.exists(CHARTS), reason="kfe was built without the charts (npm)")


def kfe(folder, *arguments, **environment):
    done = subprocess.run([KFE, *map(str, arguments)], cwd=folder, capture_output=True, timeout=300,
                          env=dict(os.environ, **environment))
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode(errors="replace")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A model with three features and hostile names, in files with hostile names."""
    folder = tmp_path_factory.mktemp("hostile")
    text = io.StringIO()
    rows = [[(i * 7) % 11 + 2 * (i % 4), (i * 5) % 7 - i % 4, (i * 3) % 13 + i % 4, HOSTILE[i % 4]] for i in range(120)]
    csv.writer(text).writerows([["<b>x</b>", 'y"', "</style>", "class"], *rows])
    name = "<i>&'data'.csv"
    (folder / name).write_text(text.getvalue())
    kfe(folder, "fit", "-q", "-m", "pca", "--dim", "3", "--learner", "centroid", name, "-o", "m.kfe")
    kfe(folder, "report", "m.kfe", "--train", name, "--test", name, "--title", HOSTILE[0], "-o", "r.html")
    return folder


def scroll_through(page):
    """Scrolls to every figure and waits until it is drawn; the names of the figures."""
    page.wait("window.kfeReport && window.kfeReport.figures && (window.kfeReport.charts || window.kfeReport.failed.length)")
    names = page.evaluate("window.kfeReport.figures.filter(f => f.panels.length).map(f => f.figure)")
    for name in names:
        page.evaluate(f"document.getElementById('figure-{name}').scrollIntoView()")
        page.wait(f"window.kfeReport.drawn.includes('{name}') || window.kfeReport.failed.length")
    assert page.evaluate("window.kfeReport.failed") == []
    return names


def check_quiet(page, path):
    assert page.problems() == []
    assert [url for url in page.requests() if not url.startswith(("data:", "blob:"))] == [path.as_uri()]


@needs_chromium
@needs_charts
def test_every_figure_is_drawn_and_names_stay_names(hostile):
    path = hostile / "r.html"
    with chromium.Chromium() as page:
        page.open(path)
        names = scroll_through(page)
        assert {"scatter", "scatter3d", "matrix", "confusion", "roc", "loadings", "scree"} <= set(names)
        for name in names:  # each with marks of its own
            assert page.evaluate(f"document.querySelector('#figure-{name} .chart .main-svg, #figure-{name} canvas') !== null")
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.querySelectorAll('img, b, main i').length") == 0
        assert page.evaluate("document.title") == HOSTILE[0]
        assert page.evaluate("document.querySelector('h1').textContent") == HOSTILE[0]
        legend = page.evaluate("[...document.querySelectorAll('#figure-scatter .legendtext')].map(e => e.textContent)")
        assert legend[1:] == ["<b>bold</b>", "<img src=x onerror=window.hack…", "a\"b'&amp;", "training", "test", "wrong, training", "wrong, test"]
        assert legend[0].startswith("</script><script>")
        check_quiet(page, path)


@needs_chromium
@needs_charts
def test_the_legend_switches_classes_and_sets(hostile):
    """One entry for each class and one for each set; a click on one leaves the others as they are."""
    with chromium.Chromium() as page:
        page.open(hostile / "r.html")
        scroll_through(page)
        click = ("(() => { const c = document.querySelector('#figure-scatter .chart'); c.emit('plotly_legendclick',"
                 " {data: c.data, curveNumber: c.data.findIndex(t => t.meta === '%s')}); })()")
        shown = ("(() => { const c = document.querySelector('#figure-scatter .chart'); const f = kfeReport.figures.find(f => f.figure === "
                 "'scatter'); return c.data.map((t, k) => [f.series[k], t]).filter(([s, t]) => s && !s.key && t.visible === true)"
                 ".map(([s]) => [s.set, s.style, Boolean(s.crosses)]); })()")
        everything = page.evaluate(shown)
        assert {one[0] for one in everything} == {"training", "test"} and len(everything) > 8
        page.evaluate(click % "set training")
        page.wait(f"!{shown}.some(one => one[0] === 'training')")
        page.evaluate(click % "class 1")
        page.wait(f"!{shown}.some(one => one[1] === 1)")
        assert page.evaluate(shown) == [one for one in everything if one[0] == "test" and one[1] != 1]
        page.evaluate(click % "set training")
        page.evaluate(click % "wrong test")
        page.wait(f"{shown}.some(one => one[0] === 'training') && !{shown}.some(one => one[0] === 'test' && one[2])")
        assert page.evaluate(shown) == [one for one in everything if one[1] != 1 and not (one[0] == "test" and one[2])]


@needs_chromium
@needs_charts
def test_hover_tells_the_example(hostile):
    with chromium.Chromium() as page:
        page.open(hostile / "r.html")
        scroll_through(page)
        page.evaluate("document.getElementById('figure-confusion').scrollIntoView()")
        box = page.evaluate("(() => { const r = document.querySelector('#figure-confusion .nsewdrag')"
                            ".getBoundingClientRect(); return [r.left + r.width / 8, r.top + r.height / 8]; })()")
        page.move_to(box[0] - 3, box[1])
        page.move_to(*box)
        page.wait("document.querySelector('#figure-confusion .hoverlayer .hovertext')")
        text = page.evaluate("document.querySelector('#figure-confusion .hoverlayer').textContent")
        first = sorted(HOSTILE)[0]  # classes are sorted
        assert f"true class: {first}"[:40] in text and "count: " in text


@needs_chromium
@needs_charts
def test_tables_and_choices(hostile):
    with chromium.Chromium() as page:
        page.open(hostile / "r.html")
        scroll_through(page)
        page.evaluate("document.querySelector('#figure-confusion details').open = true")
        page.wait("document.querySelector('#figure-confusion table')")
        cells = page.evaluate("[...document.querySelectorAll('#figure-confusion tbody td')].map(c => c.textContent)")
        kfe(hostile, "plot", "confusion", "m.kfe", "<i>&'data'.csv", "-o", "c.csv")
        table = list(csv.reader((hostile / "c.csv").open(newline="")))
        assert cells[0::4] == [row[0] for row in table[1:]]
        assert [float(c) for c in cells[2::4]] == [float(row[2]) for row in table[1:]]
        saved = page.evaluate("kfeReport.csvOf(kfeReport.figures.find(f => f.figure === 'confusion'))")
        assert [row[:3] for row in csv.reader(io.StringIO(saved))] == [row[:3] for row in table]
        page.evaluate("(() => { const s = document.querySelectorAll('#figure-scatter select')[0]; s.value ="
                      " s.options[2].value; s.dispatchEvent(new Event('change')); })()")
        page.wait("document.querySelector('#figure-scatter .xtitle').textContent.startsWith('PC 3 (')")
        assert page.evaluate("!kfeReport.figures.find(f => f.figure === 'scatter').panels[0].ellipse")  # it belongs to the axes before
        assert page.problems() == []


@needs_chromium
@needs_charts
@pytest.mark.parametrize("kind", ["cv", "compare", "regression", "figure", "reproduce"])
def test_other_reports(kind, tmp_path):
    kfe(tmp_path, "generate", "iris", "-o", "iris.csv")
    if kind == "cv":
        text = kfe(tmp_path, "cv", "-q", "-m", "koc", "-k", "rbf", "--learner", "knn", "--grid", "gamma=0.1,1,10", "--grid",
                   "neighbors=1,3", "--folds", "3", "iris.csv", "--report", "r.html", "--save", "m.kfe")
        assert "best setting" in text and "\f" not in text
        expected = {"cv-curve", "cv-surface", "scatter"}
    elif kind == "compare":
        kfe(tmp_path, "compare", "-q", "-m", "kfd", "-m", "koc", "-m", "pca", "--learner", "knn", "--folds", "3", "iris.csv",
            "--report", "r.html")
        expected = {"comparison", "time"}
    elif kind == "regression":
        (tmp_path / "line.csv").write_text("".join(f"{i},{i * i % 7},{2 * i + 0.5 * (i % 3)}\n" for i in range(60)))
        kfe(tmp_path, "fit", "-q", "-m", "pls", "--dim", "2", "--learner", "ls", "--task", "regress", "line.csv", "-o", "m.kfe",
            "--report", "r.html")
        expected = {"predicted", "residuals", "path", "loadings", "scatter", "coefficients", "vip", "variance"}
    elif kind == "reproduce":
        text = kfe(tmp_path, "reproduce", "-q", "004-figure1", "--report", "r.html")
        assert "scatter-ratio" in text and "\f" not in text
        expected = {"described"}
    else:
        kfe(tmp_path, "fit", "-q", "-m", "koc", "-k", "rbf", "iris.csv", "-o", "m.kfe")
        kfe(tmp_path, "plot", "scatter", "m.kfe", "iris.csv", "-o", "r.html")
        expected = {"scatter"}
    with chromium.Chromium() as page:
        page.open(tmp_path / "r.html")
        assert expected <= set(scroll_through(page))
        check_quiet(page, tmp_path / "r.html")


def make_report(kind, folder):
    """A report of one of the four kinds, about data with a long name."""
    kfe(folder, "generate", "waveform", "--n", "90", "--seed", "1", "-o", "train.csv")
    kfe(folder, "generate", "waveform", "--n", "60", "--seed", "2", "-o", "test.csv")
    if kind == "cv":
        (folder / "line.csv").write_text("a,b,moisture\n" + "".join(f"{i},{i * i % 7},{2 * i + 3 * (i * i % 7) + 0.5 * (i % 3)}\n" for i in range(60)))
        kfe(folder, "cv", "-q", "-m", "pls", "--learner", "ls", "--task", "regress", "--grid", "dim=1,2", "--permutations", "5", "line.csv", "--report", "r.html")
    elif kind == "compare":
        kfe(folder, "compare", "-q", "-m", "kfd", "-m", "koc", "-m", "pca", "--learner", "knn", "--folds", "3", "train.csv", "--report", "r.html")
    else:
        kfe(folder, "fit", "-q", "-m", "kfd", "-k", "rbf", "--learner", "knn", "train.csv", "-o", "m.kfe", "--report", "r.html")
        if kind == "evaluate":
            kfe(folder, "evaluate", "-q", "m.kfe", "test.csv", "--report", "r.html")
    return folder / "r.html"


HEADS = {"fit": ("kfd with rbf: label of train", "Only training examples were given, so this says how well the model remembers: accuracy "),
         "evaluate": ("kfd with rbf: label of test", "Accuracy "),
         "cv": ("Cross-validation of pls: moisture of line", "RMSE "),
         "compare": ("Comparison of kfd, koc and pca: label of train", "the best of 3 methods: accuracy ")}


@needs_chromium
@pytest.mark.parametrize("kind", HEADS)
def test_reports_fit_wide_and_narrow_windows(kind, tmp_path):
    """Nothing is wider than the window, and no word or number of a table is broken; the title and the quality stand first."""
    path = make_report(kind, tmp_path)
    with chromium.Chromium() as page:
        page.open(path)
        for width in (1300, 400):
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=1700, deviceScaleFactor=1, mobile=False)
            page.wait("window.kfeReport && window.kfeReport.figures")
            page.wait(f"document.documentElement.scrollWidth <= {width}")
            assert page.evaluate("document.querySelector('h1').textContent") == HEADS[kind][0]
            assert HEADS[kind][1] in page.evaluate("document.querySelector('.quality').textContent")
            order = page.evaluate("[...document.querySelectorAll('h1, .quality, .lead, h2')].map(e => e.className || e.textContent)")
            assert order[1:3] == ["quality", "lead"] and next(each for each in order[3:] if each != "Warnings") == "Quality"
            page.wait("document.querySelectorAll('.table td.number').length > 0")
            lines = page.evaluate("[...document.querySelectorAll('.table td.number')].map(e => { const r = document.createRange();"
                                  " r.selectNodeContents(e); return r.getClientRects().length; })")
            assert max(lines) == 1  # each number on one line
            sections = page.evaluate("[...document.querySelectorAll('main h2')].map(e => e.textContent)")
            assert len(sections) == len(set(sections))
        check_quiet(page, path)


@needs_chromium
@needs_charts
def test_panels_stand_below_each_other_in_a_narrow_window(tmp_path):
    (tmp_path / "line.csv").write_text("".join(f"{i},{i * i % 7},{2 * i + 0.5 * (i % 3)}\n" for i in range(60)))
    kfe(tmp_path, "fit", "-q", "-m", "pls", "--dim", "2", "--learner", "ls", "--task", "regress", "line.csv", "-o", "m.kfe",
        "--report", "r.html")

    def places(page):
        return page.evaluate("[...document.querySelectorAll('#figure-path .xtitle, #figure-path .x2title')].map(t => t.getBoundingClientRect())"
                             ".map(r => [Math.round(r.left), Math.round(r.top)])")

    with chromium.Chromium() as page:
        page.open(tmp_path / "r.html")
        scroll_through(page)
        left, right = places(page)
        assert left[1] == right[1] and left[0] < right[0]
        page.call("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
        page.wait("(() => { const t = [...document.querySelectorAll('#figure-path .xtitle, #figure-path .x2title')].map(e => e.getBoundingClientRect().top);"
                  " return t.length === 2 && t[1] - t[0] > 100; })()")
        page.wait("document.documentElement.scrollWidth <= 400")  # nothing is wider than the window
        check_quiet(page, tmp_path / "r.html")


@needs_chromium
@needs_charts
def test_charts_keep_their_place_when_the_window_changes(hostile):
    """After the window became a little narrower no chart covers its caption, and the names of features stand in the scatter matrix."""
    with chromium.Chromium() as page:
        page.open(hostile / "r.html")
        scroll_through(page)
        names = page.evaluate("[...document.querySelectorAll('#figure-matrix .annotation-text')].map(e => e.textContent)")
        assert names == ["PC 1", "PC 2", "PC 3"]
        page.call("Emulation.setDeviceMetricsOverride", width=900, height=900, deviceScaleFactor=1, mobile=False)
        page.wait("document.querySelector('#figure-scatter .main-svg').getBoundingClientRect().width < 900")
        page.evaluate("new Promise((resolve) => { setTimeout(resolve, 1500); })")  # plotly.js waits before it draws again
        covered = page.evaluate("[...document.querySelectorAll('figure')].filter((f) => f.querySelector('.main-svg') &&"
                                " f.querySelector('.main-svg').getBoundingClientRect().bottom > f.querySelector('figcaption').getBoundingClientRect().top + 1)"
                                ".map((f) => f.id)")
        assert covered == []
        assert page.evaluate("[...document.querySelectorAll('.chart')].every((c) => parseFloat(c.style.height) > 300)")  # also while it is drawn


@needs_chromium
@needs_charts
def test_one_shade_means_one_value(tmp_path):
    """Training and test rows share a colour bar, at 1300 and at 400 pixels, and no number at the end of an axis is hidden."""
    rows = [f"{i % 7},{i * i % 5},{i * 3 % 11},{i % 7 + 0.5 * (i % 3) + i / 40}\n" for i in range(80)]
    (tmp_path / "a.csv").write_text("".join(rows[:50]))
    (tmp_path / "b.csv").write_text("".join(rows[50:]))
    kfe(tmp_path, "fit", "-q", "-m", "pls", "--dim", "2", "--learner", "ls", "--task", "regress", "a.csv", "-o", "m.kfe")
    kfe(tmp_path, "report", "-q", "m.kfe", "--train", "a.csv", "--test", "b.csv", "-o", "r.html")
    with chromium.Chromium() as page:
        page.open(tmp_path / "r.html")
        scroll_through(page)
        for width in (1300, 400):
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            page.wait(f"Math.abs(document.querySelector('#figure-scatter .main-svg').getBoundingClientRect().width - {min(width, 960)}) < 60")
            assert page.evaluate("document.querySelectorAll('#figure-scatter .colorbar').length") == 1
            axis = page.evaluate("document.querySelector('#figure-scatter .chart')._fullLayout.coloraxis")
            values = [float(row.split(",")[3]) for row in rows]
            assert abs(axis["cmin"] - min(values)) < 1e-9 and abs(axis["cmax"] - max(values)) < 1e-9
            assert page.evaluate("[...document.querySelectorAll('#figure-scatter .xtick text')].every(t => t.style.opacity !== '0')")
        check_quiet(page, tmp_path / "r.html")


@needs_chromium
def test_without_charts_the_pictures_stay(hostile):
    kfe(hostile, "report", "m.kfe", "--test", "<i>&'data'.csv", "-o", "static.html", KFE_CHARTS="")
    text = (hostile / "static.html").read_text()
    assert "static pictures" in text and len(text) < 1_000_000
    with chromium.Chromium() as page:
        page.open(hostile / "static.html")
        page.wait("window.kfeReport && window.kfeReport.figures")
        shown = page.evaluate("[...document.querySelectorAll('.plot > svg')].filter(s => s.getBoundingClientRect().height > 100).length")
        assert shown >= 8
        page.evaluate("document.querySelector('#figure-roc details').open = true")
        page.wait("document.querySelectorAll('#figure-roc tbody tr').length > 3")
        assert page.evaluate("window.hacked") is None
        check_quiet(page, hostile / "static.html")


def test_the_page_says_what_was_done(hostile):
    text = (hostile / "r.html").read_text()
    assert "Predictions are judged on the data that the model was fitted on" in text  # at the top, before any figure
    assert text.index("class=\"warnings\"") < text.index("<figure")
    assert "kfe report m.kfe --train &#39;&lt;i&gt;" in text
    for fact in ("seed", "threads", "time", "date", "training data", "test data", "command"):
        assert f"<dt>{fact}</dt>" in text
    assert not re.search(r"(src|href)=[\"'](?!#)", text.split("<script type=\"text/plain\"")[0])


def test_thousands_of_classes_stay_small(tmp_path):
    count = 10000
    for name, step in (("many.csv", 1), ("some.csv", 100)):
        (tmp_path / name).write_text("x,y,class\n" + "".join(f"{i % 100},{i // 100},<{i}>\n" for i in range(0, count, step)))
    kfe(tmp_path, "fit", "-q", "-m", "none", "--learner", "knn", "--neighbors", "1", "many.csv", "-o", "m.kfe")
    kfe(tmp_path, "report", "m.kfe", "--test", "some.csv", "-o", "r.html")
    assert (tmp_path / "r.html").stat().st_size < 3_000_000


def test_refusals(hostile):
    def refused(*arguments):
        done = subprocess.run([KFE, *arguments], cwd=hostile, capture_output=True, timeout=60)
        assert done.returncode == 2
        return done.stderr.decode()

    assert "-o report.html" in refused("report", "m.kfe")
    (hostile / "data.html").write_text((hostile / "<i>&'data'.csv").read_text())
    assert "overwrite the input" in refused("report", "m.kfe", "--test", "data.html", "-o", "data.html")
    assert "ends in .html" in refused("report", "m.kfe", "--test", "<i>&'data'.csv", "-o", "report.csv")
    (hostile / "cv.json").write_text(json.dumps({"splits": []}))
    assert "nothing to report" in refused("report", "cv.json", "-o", "x.html")
    assert "takes no data" in refused("report", "cv.json", "--test", "<i>&'data'.csv", "-o", "x.html")
    assert "no directory" in refused("evaluate", "m.kfe", "<i>&'data'.csv", "--report", "nowhere/r.html")
    assert not pathlib.Path(hostile / "x.html").exists()
