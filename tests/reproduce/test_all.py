# SPDX-License-Identifier: Apache-2.0
"""reproduce/all.sh: jobs, results, restarting, the summary, and the page of results."""
import importlib.util
import json
import math
import os
import pathlib
import random
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
REPRODUCE = ROOT / "reproduce"
SPECS = {path.stem: json.loads(path.read_text()) for path in sorted((REPRODUCE / "specs").glob("*.json"))}
KFE = os.environ.get("KFE", "kfe")


def module(name):
    spec = importlib.util.spec_from_file_location(name, REPRODUCE / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


jobs, summary = module("jobs"), module("summary")


def all_sh(*arguments):
    environment = {key: value for key, value in os.environ.items() if key != "KFE_DATA"}
    return subprocess.run([REPRODUCE / "all.sh", "--kfe", KFE, *map(str, arguments)], env=environment,
                          capture_output=True, text=True)


# ---- jobs ----

def test_jobs_cover_every_cell():
    for name, spec in SPECS.items():
        listed = [job for _, job in jobs.jobs_of(name, spec, pathlib.Path("."))]
        assert len(set(listed)) == len(listed)
        if spec.get("kind", "table") not in ("table", "curve"):
            assert listed == [(name, "-", "-")]
            continue
        cells = [(name, row["name"], column["name"]) for row in spec["rows"] for column in spec["columns"]
                 if (row.get("columns", {}).get(column["name"], {}) is not None and
                     "method" in {**column, **row.get("columns", {}).get(column["name"], {})})
                 or column["name"] in row.get("paper", {})]
        assert listed == cells


@pytest.mark.parametrize("grid, count", [("gamma=1", 1), ("C=1,2,3", 3), ("C=0.1:10:log5", 5), ("dim=1:9:lin3", 3)])
def test_values_of_a_grid(grid, count):
    assert jobs.settings_of(grid) == count


# ---- specifications ----

# Settings whose defaults are chosen from the data, or have changed since a table was computed.
CHOSEN = {"kfd": ["ridge"], "kopls": ["ridge"], "rkopls": ["ridge"], "kda-qr": ["ridge"], "akda-qr": ["ridge"], "kb": ["ridge"],
          "hsic": ["lambda"], "uhsic": ["xi"], "hsic-mkl": ["xi"], "svm-joint": ["lambda", "svm-C"],
          "usvm-joint": ["xi", "svm-C"], "svm-mkl": ["xi", "svm-C"], "mkl": ["svm-C"], "slmc": ["svm-C"], "lmkl": ["svm-C"],
          "sldr": ["svm-C", "local-dim"], "skpls": ["nu"], "skblf": ["nu"], "skfe": ["max-iter"], "sma": ["dim"],
          "smc": ["dim"], "blf": ["dim"], "knn": ["neighbors"], "svm": ["C"], "linear-svm": ["C"]}


@pytest.mark.parametrize("name", SPECS)
def test_no_cell_depends_on_a_default_that_may_change(name):
    spec = SPECS[name]
    over = spec.get("over", {}).get("parameter")
    for row in spec["rows"]:
        for column in spec["columns"]:
            cell = {**column, **(row.get("columns", {}).get(column["name"]) or {})}
            given = set(cell.get("params", {})) | set(cell.get("learner-params", {})) | {over}
            given |= {grid.split("=", 1)[0] for grid in cell.get("grid", [])}
            wanted = CHOSEN.get(cell.get("method"), []) + CHOSEN.get(cell.get("learner"), [])
            assert set(wanted) <= given, f"{name}, {row['name']}, {column['name']}"


def test_numbers_of_many_folds_are_classes(tmp_path):
    """Table 5 of the third paper has 27 classes with numbers as names, which are read as real values unless the
    specification says otherwise."""
    folder = tmp_path / "protein27"
    folder.mkdir()
    classes = [i % 27 + 1 for i in range(694)]
    (folder / "labels.csv").write_text("".join(f"{c}\n" for c in classes))
    for view in range(1, 13):
        rows = (f"{(c > 15) + 0.1 * math.sin(i * view)},{math.cos(i + view)}\n" for i, c in enumerate(classes))
        (folder / f"view{view:02}.csv").write_text("".join(rows))
    done = subprocess.run([KFE, "reproduce", "003-table5", "--row", "all twelve views", "--column", "SVM", "--quick", "--json",
                           "--data", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["ours"] > 95


def test_units_of_heart_do_not_matter(tmp_path):
    """The IDA benchmark has standardised columns, UCI's heart has years and mg/dl."""
    numbers = random.Random(1)
    units = [1] * 12 + [1000]
    answers = []
    for name, factors in (("one", [1] * 13), ("other", units)):
        numbers.seed(1)
        (tmp_path / name / "heart").mkdir(parents=True)
        rows = []
        for _ in range(270):
            row = [numbers.gauss(0, 1) for _ in factors]
            label = int(sum(row[:4]) + numbers.gauss(0, 1) > 0)
            rows.append(",".join(str(value * factor) for value, factor in zip(row, factors)) + f",{label}")
        (tmp_path / name / "heart/heart.csv").write_text("\n".join(rows) + "\n")
        run = subprocess.run([KFE, "reproduce", "004-table1", "--quick", "--row", "Heart", "--column", "KFD", "--json",
                              "--data", tmp_path / name], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        answers.append(json.loads(run.stdout)["results"][0]["ours"])
    assert answers[0] == pytest.approx(answers[1], abs=0.01)


# ---- running ----

@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    done = all_sh("--only", "004-figure3,004-figure1", "--quick", "--jobs", 2, "--output", folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_every_cell_has_a_result(results):
    folder, out = results
    names = sorted(path.name for path in (folder / "cells").glob("*.json"))
    assert names == ["004-figure1------.json", "004-figure3--slabs--KOC___linear_SVM.json", "004-figure3--slabs--SVM.json"]
    assert not list((folder / "cells").glob("*.part"))
    assert "004-figure3" in out and "not compared" in out


def test_cells_are_those_of_the_whole_table(results):
    folder, _ = results
    done = subprocess.run([KFE, "reproduce", "004-figure3", "--quick", "--json", "--threads", "1"], capture_output=True,
                          text=True, check=True)
    whole = json.loads(done.stdout)["results"]
    merged = summary.read_results(folder, SPECS)["004-figure3"]
    without_seconds = [{**result, "seconds": None} for result in merged]
    assert without_seconds == [{**result, "seconds": None} for result in whole]


def test_text_is_that_of_the_command(results):
    folder, _ = results
    done = subprocess.run([KFE, "reproduce", "004-figure3", "--quick", "--threads", "1"], capture_output=True, text=True,
                          check=True)
    lines = summary.table_lines(SPECS["004-figure3"], summary.read_results(folder, SPECS)["004-figure3"])
    assert "\n".join(lines) in done.stdout


def test_finished_cells_are_skipped(results):
    folder, _ = results
    path = folder / "cells" / "004-figure3--slabs--SVM.json"
    path.write_text(path.read_text().replace('"metric": "accuracy"', '"metric": "kept"'))
    other = folder / "cells" / "004-figure3--slabs--KOC___linear_SVM.json"
    other.unlink()
    done = all_sh("--only", "004-figure3", "--quick", "--output", folder)
    assert done.returncode == 0 and other.exists()
    assert '"kept"' in path.read_text()


def test_missing_data_is_skipped(tmp_path):
    done = all_sh("--only", "002-table2-ovr,004-figure1", "--quick", "--jobs", 2, "--output", tmp_path, "--data",
                  tmp_path)
    assert done.returncode == 0
    assert "skipped: 002-table2-ovr, Wine, SVM" in done.stdout and "wine/wine.csv" in done.stdout
    assert "004-figure1" in done.stdout


@pytest.mark.parametrize("arguments, message", [(["--jbos", "2"], "unknown argument"), (["--only"], "needs a value"),
                                                (["--only", "004-tabel1"], "no table or figure '004-tabel1'")])
def test_mistakes(tmp_path, arguments, message):
    done = all_sh("--output", tmp_path, *arguments)
    assert done.returncode != 0 and message in done.stderr


# ---- the summary ----

def entry(metric, ours, paper, difference, row="R", column="C"):
    return {"row": row, "column": column, "metric": metric, "ours": ours, "sd": 1, "paper": paper, "paper-sd": None,
            "difference": difference, "splits": 4, "seconds": 1, "setting": None, "note": None}


@pytest.mark.parametrize("metric, difference, expected", [
    ("error", 1.9, "within"), ("error", 2.1, "worse"), ("error", -2.1, "better"), ("accuracy", -2.1, "worse"),
    ("accuracy", 3, "better"), ("support-vectors", 9, None), ("error", None, None)])
def test_verdicts(metric, difference, expected):
    assert summary.verdict(entry(metric, 1, 1, difference)) == expected


def test_worse_entries_have_the_nearest_reason(capsys):
    tables = {"t": [entry("error", 9, 5, 4), entry("error", 9, 5, 4, column="D"), entry("error", 5, 5, 0)]}
    summary.print_summary(tables, {"t": {"* | *": "general", "R | D": "special"}})
    out = capsys.readouterr().out
    assert "t, R, C, error: 9 against 5 (+4.0): general" in out
    assert "t, R, D, error: 9 against 5 (+4.0): special" in out
    assert out.splitlines()[1].split() == ["t", "1", "0", "2", "0"]


def test_reasons_name_what_exists():
    reasons = json.loads((REPRODUCE / "reasons.json").read_text())
    for name, entries in reasons.items():
        rows = [row["name"] for row in SPECS[name]["rows"]] + ["*"]
        columns = [column["name"] for column in SPECS[name]["columns"]] + ["*"]
        for key in entries:
            row, column = key.split(" | ")
            assert row in rows and column in columns, (name, key)


# ---- the page ----

SPEC = {"metrics": ["error"], "rows": [{"name": "R"}, {"name": "Rest", "note": "a note"}], "columns": [{"name": "C"}, {"name": "C, L2"}]}


def page_of(tmp_path, results):
    page = tmp_path / "page.md"
    page.write_text("### A\n\n    kfe reproduce t --data DIR --quick\n\n    old\n\nText stays.\n\n### B\n\n    kfe reproduce tt\n\n"
                    "    untouched\n")
    summary.write_page(page, {"t": results, "u": results}, {"t": SPEC, "u": SPEC})
    return page


def all_entries():
    return [entry("error", 9, 5, 4, row, column) for row in ("R", "Rest") for column in ("C", "C, L2")]


def test_numbers_are_replaced_in_the_page(tmp_path, capsys):
    page = page_of(tmp_path, all_entries()).read_text()
    lines = "".join(f"    {line}\n" for line in summary.table_lines(SPEC, all_entries()))
    assert page == ("### A\n\n    kfe reproduce t --data DIR\n\n" + lines + "\nText stays.\n\n### B\n\n    kfe reproduce tt\n\n"
                    "    untouched\n")
    assert "u were not written" in capsys.readouterr().out


def test_a_part_of_a_table_keeps_the_other_lines(tmp_path):
    page = page_of(tmp_path, all_entries())
    before = page.read_text().splitlines()
    new = entry("error", 4, 5, -1, "Rest", "C")
    summary.write_page(page, {"t": [new]}, {"t": SPEC})
    after = page.read_text().splitlines()
    changed = [number for number, (old, line) in enumerate(zip(before, after)) if old != line]
    assert len(before) == len(after) and len(changed) == 1
    assert after[changed[0]].split() == ["C", "5", "4.000", "+-", "1.000", "-1.0"] and "Rest (a note)" in after[changed[0] - 1]
    assert [summary.verdict(result) for result in summary.read_page(page, {"t": SPEC})["t"]] == ["worse", "worse", "within", "worse"]


def test_parts_of_curves_are_not_written(tmp_path, capsys):
    spec = {**SPEC, "over": {"name": "x"}}
    points = [{**result, "x": 1} for result in all_entries()]
    page = tmp_path / "page.md"
    page.write_text("    kfe reproduce t\n\n    old\n\n")
    summary.write_page(page, {"t": points}, {"t": spec})
    full = page.read_text()
    assert "C, L2" in full and "old" not in full
    summary.write_page(page, {"t": points[:1]}, {"t": spec})
    assert page.read_text() == full and "computed in part" in capsys.readouterr().out


def test_counts_on_the_page_are_those_of_its_numbers():
    """The differences on the page are rounded, so that an entry at 2.0 may count as either."""
    page = ROOT / "docs" / "reproduction.md"
    rows = (line.strip("| ").split(" | ") for line in page.read_text().splitlines() if line.startswith("| 0"))
    told = {cells[0]: [int(cell) for cell in cells[1:4]] for cells in rows if len(cells) == 5 and cells[0] in SPECS}
    tables = summary.read_page(page, SPECS)
    assert len(told) > 10
    for name in told.keys() & tables.keys():
        verdicts = [summary.verdict(result) for result in tables[name]]
        edge = sum(result["difference"] is not None and abs(abs(result["difference"]) - 2) < 0.051 for result in tables[name])
        counts = [verdicts.count(word) for word in ("within", "better", "worse")]
        assert max(abs(a - b) for a, b in zip(counts, told[name])) <= edge, (name, counts, told[name])


@pytest.mark.parametrize("mean, sd, expected", [(None, None, "-"), (12.346, None, "12.35"), (0.5, 0.1, "0.5000 +- 0.1000"),
                                                (2e-4, 1e-5, "2.00e-04 +- 1.0e-05"), (150.0, 2.0, "150.00 +- 2.00")])
def test_numbers_as_text(mean, sd, expected):
    assert summary.shown(mean, sd) == expected
