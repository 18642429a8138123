#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Summarises the results of all.sh, and writes them into the page of results.

usage: reproduce/summary.py RESULTS [--reasons FILE] [--tables] [--write PAGE]

RESULTS is the output folder of all.sh, a folder of JSON files, or the page with the numbers (its rounded ones). Prints how
many entries are within two standard errors of the paper, better and worse, for each table, and the worse ones with a reason
from reasons.json.

  --tables      print the numbers of every table as well
  --write PAGE  replace the numbers in the page: the block that follows each "    kfe reproduce NAME ..." line. Of a table
                that was computed in part, the other lines stay as they are; of curves, nothing is written
"""
import argparse
import collections
import json
import math
import pathlib
import re

LARGER_IS_BETTER = ("accuracy", "balanced-accuracy", "auc", "average-precision", "f1", "r2")
SMALLER_IS_BETTER = ("error", "ovr-error", "rmse", "mae")
STANDARD_ERRORS = 2
HERE = pathlib.Path(__file__).parent


# ---- results ----

def read_results(folder, specs):
    """The results of each table, in the order of its rows, points and columns."""
    tables = collections.defaultdict(list)
    cells = folder / "cells"
    for path in sorted((cells if cells.is_dir() else folder).glob("*.json")):
        found = json.loads(path.read_text())
        tables[pathlib.Path(found["name"]).stem] += found["results"]
    for name, results in tables.items():
        if name in specs:
            results.sort(key=lambda result: position(specs[name], result))
    return dict(sorted(tables.items()))


def position(spec, result):
    rows = [row["name"] for row in spec["rows"]]
    columns = [column["name"] for column in spec["columns"]]
    metrics = spec.get("metrics", [result["metric"]])
    point = result.get(spec["over"]["name"]) if "over" in spec else 0
    return (rows.index(result["row"]), point if point is not None else math.inf, columns.index(result["column"]),
            metrics.index(result["metric"]) if result["metric"] in metrics else 0)


def verdict(result):
    """within, better or worse; None if the entry cannot be compared."""
    difference = result["difference"]
    if difference is None or result["metric"] not in LARGER_IS_BETTER + SMALLER_IS_BETTER:
        return None
    if abs(difference) <= STANDARD_ERRORS:
        return "within"
    return "better" if (difference > 0) == (result["metric"] in LARGER_IS_BETTER) else "worse"


def reason_for(reasons, name, result):
    """The most specific of the entries "ROW | COLUMN", "ROW | *", "* | COLUMN" and "* | *"."""
    of_table = reasons.get(name, {})
    row, column = result["row"], result["column"]
    for key in (f"{row} | {column}", f"{row} | *", f"* | {column}", "* | *"):
        if key in of_table:
            return of_table[key]
    return "unknown, nothing was tried"


# ---- the summary ----

def print_summary(tables, reasons):
    total = collections.Counter()
    print(f"{'':22}{'within 2':>9}{'better':>8}{'worse':>7}{'not compared':>14}")
    for name, results in tables.items():
        counts = collections.Counter(verdict(result) or "not compared" for result in results)
        total += counts
        print_counts(name, counts)
    print_counts("all", total)
    print("\nWorse by more than two standard errors:")
    for name, results in tables.items():
        for result in results:
            if verdict(result) == "worse":
                print(f"  {name}, {result['row']}, {result['column']}, {result['metric']}: {result['ours']:.4g} "
                      f"against {result['paper']:.4g} ({result['difference']:+.1f}): "
                      f"{reason_for(reasons, name, result)}")


def print_counts(name, counts):
    print(f"{name:22}{counts['within']:9}{counts['better']:8}{counts['worse']:7}{counts['not compared']:14}")


# ---- tables as text, as `kfe reproduce` prints them ----

def decimals(value):
    places, limit = 2, 10.0
    while places < 5 and abs(value) < limit:
        places, limit = places + 1, limit / 10
    return places


def shown(mean, sd):
    if mean is None:
        return "-"
    if 0 < abs(mean) < 1e-3:
        return f"{mean:.3e}" if sd is None else f"{mean:.2e} +- {sd:.1e}"
    places = decimals(mean)
    return f"{mean:.{places}f}" if sd is None else f"{mean:.{places}f} +- {sd:.{places}f}"


def shown_paper(result):
    if result["paper"] is None:
        return "-"
    return f"{result['paper']:g}" if result["paper-sd"] is None else f"{result['paper']:g} +- {result['paper-sd']:g}"


def shown_name(spec, result):
    several = len(spec.get("metrics", [])) > 1 or spec.get("kind") == "scatter"
    return f"{result['column']}, {result['metric']}" if several else result["column"]


def list_line(name, width, compared, result):
    line = f"  {name:{width}}"
    if compared:
        line += f"  {shown_paper(result):>12}"
    line += f"  {shown(result['ours'], result['sd']):>16}"
    if compared:
        line += f"  {'-' if result['difference'] is None else format(result['difference'], '+.1f'):>10}"
    remark = result["note"] or result["setting"]
    return line + (f"  {remark}" if remark else "")


def list_lines(spec, results):
    names = [shown_name(spec, result) for result in results]
    width = max(map(len, names))
    compared = any(result["paper"] is not None for result in results)
    notes = {row["name"]: row.get("note") for row in spec["rows"]}
    if compared:
        yield f"  {'':{width}}  {'paper':>12}  {'ours +- sd':>16}  {'difference':>10}"
    last = None
    for name, result in zip(names, results):
        if result["row"] != last:
            last = result["row"]
            yield last + (f" ({notes[last]})" if notes.get(last) else "")
        yield list_line(name, width, compared, result)


def curve_lines(spec, results):
    over = spec["over"]["name"]
    last = None
    for row in dict.fromkeys(result["row"] for result in results):
        of_row = [result for result in results if result["row"] == row]
        heads = list(dict.fromkeys((result["column"], result["metric"]) for result in of_row))
        width = max([16] + [len(word) for head in heads for word in head])
        yield row
        yield f"  {'':10}" + "".join(f"  {column:>{width}}" for column, _ in heads)
        yield f"  {over:>10}" + "".join(f"  {metric:>{width}}" for _, metric in heads)
        for point in dict.fromkeys(result[over] for result in of_row):
            cells = {(r["column"], r["metric"]): shown(r["ours"], r["sd"]) for r in of_row if r[over] == point}
            yield f"  {point:10g}" + "".join(f"  {cells.get(head, '-'):>{width}}" for head in heads)


def table_lines(spec, results):
    lines = curve_lines(spec, results) if "over" in spec else list_lines(spec, results)
    return [line.rstrip() for line in lines]


# ---- the page ----

def find_block(page, name):
    """The place of the command of this table and of the indented block after it; None if the page has no such command."""
    return re.search(rf"(^    kfe reproduce {re.escape(name)}(?: [^\n]*)?\n\n)((?:(?:    [^\n]*)?\n)*)", page, re.M)


def entries_of(spec, block):
    """Pairs of the number of a line and the entry on it, a row and the name of a column."""
    rows = sorted((row["name"] for row in spec["rows"]), key=len, reverse=True)
    metrics = [f", {metric}" for metric in spec.get("metrics", []) + ["neighbour-accuracy", "scatter-ratio"]] + [""]
    names = sorted((column["name"] + metric for column in spec["columns"] for metric in metrics), key=len, reverse=True)
    row = None
    for number, line in enumerate(block.splitlines()):
        text = line[4:]
        if text and text[0] != " ":
            row = next((known for known in rows if text.startswith(known)), None)
        elif row is not None:
            name = next((known for known in names if text.startswith(f"  {known}  ")), None)
            if name:
                yield number, (row, name)


def merge_block(spec, block, results):
    """The block with the lines of these results in place of those before."""
    lines = block.splitlines()
    places = {entry: number for number, entry in entries_of(spec, block)}
    width = max(len(name) for _, name in places)
    compared = lines[0].split()[:1] == ["paper"]
    for result in results:
        name = shown_name(spec, result)
        place = places[result["row"], name]
        lines[place] = "    " + list_line(name, width, compared, result).rstrip()
    return "\n".join(lines) + "\n\n"


def is_part(spec, block, results):
    """Whether the block has entries that the results have not."""
    return not {entry for _, entry in entries_of(spec, block)} <= {(r["row"], shown_name(spec, r)) for r in results}


def new_block(spec, block, results):
    """The numbers as an indented block, merged with the block before if they are a part of it; None for parts of curves."""
    if "over" in spec:
        computed = {(r["row"], r["column"]) for r in results}
        wanted = {(row["name"], column["name"]) for row in spec["rows"] for column in spec["columns"]}
        lines = table_lines(spec, results)
        missing = any(row in block for row, column in wanted - computed if row in block and column in block)
        return None if missing else "".join(f"    {line}\n" for line in lines) + "\n"
    if is_part(spec, block, results):
        return merge_block(spec, block.rstrip("\n") + "\n", results)
    return "".join(f"    {line}\n" if line else "\n" for line in table_lines(spec, results)) + "\n"


def write_page(path, tables, specs):
    page = path.read_text()
    for name, results in tables.items():
        found = find_block(page, name)
        block = found and new_block(specs[name], found.group(2), results)
        if not block:
            reason = "it has been computed in part" if found else f"{path} has no line '    kfe reproduce {name}'"
            print(f"the numbers of {name} were not written: {reason}")
            continue
        page = page[:found.start()] + found.group(1).replace(" --quick", "") + block + page[found.end():]
    path.write_text(page)


def read_page(path, specs):
    """The entries on the page that have a published number, as results; differences are rounded there."""
    page, tables = path.read_text(), {}
    for name, spec in sorted(specs.items()):
        found = find_block(page, name)
        lines = found.group(2).splitlines() if found and "over" not in spec else []
        tables[name] = []
        for number, (row, shown_as) in entries_of(spec, found.group(2)) if lines else []:
            column = max((c["name"] for c in spec["columns"] if shown_as.startswith(c["name"])), key=len)
            parts = re.split(r" {2,}", lines[number][6 + len(shown_as):].strip()) + ["-"] * 3
            compared = lines[0].split()[:1] == ["paper"]
            tables[name].append({"row": row, "column": column, "metric": shown_as[len(column) + 2:] or first_metric(spec),
                                 "paper": first_number(parts[0]) if compared else None,
                                 "ours": first_number(parts[1 if compared else 0]),
                                 "difference": first_number(parts[2]) if compared else None})
    return {name: results for name, results in tables.items() if results}


def first_metric(spec):
    return "seconds" if spec.get("kind") == "time" else spec.get("metrics", ["accuracy"])[0]


def first_number(text):
    try:
        return float(text.split()[0])
    except ValueError:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--reasons", type=pathlib.Path, default=HERE / "reasons.json")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    specs = {path.stem: json.loads(path.read_text()) for path in (HERE / "specs").glob("*.json")}
    from_page = arguments.results.is_file()
    tables = (read_page if from_page else read_results)(arguments.results, specs)
    if not tables:
        parser.error(f"{arguments.results} holds no results")
    if from_page and (arguments.tables or arguments.write):
        parser.error("--tables and --write need results, not a page")
    if arguments.tables:
        for name, results in tables.items():
            print(name, *table_lines(specs[name], results), "", sep="\n")
    print_summary(tables, json.loads(arguments.reasons.read_text()))
    if arguments.write:
        write_page(arguments.write, tables, specs)


if __name__ == "__main__":
    main()
