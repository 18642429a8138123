# SPDX-License-Identifier: Apache-2.0
"""Draws the description of a figure on matplotlib axes; used by the displays of `kfe.plot`."""
from __future__ import annotations

from typing import Any

import numpy as np

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
DASHES = ("-", "--", ":", "-.")
GREY = "#888888"


def _column(figure: dict, number: int) -> np.ndarray:
    """The values of a column, from 1: numbers, or codes of words."""
    column = figure["columns"][number - 1]
    values = column.get("numbers", column.get("codes"))
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _values(figure: dict, series: dict, key: str) -> np.ndarray | None:
    number = series.get(key, 0)
    first = series.get("first", 0)
    return _column(figure, number)[first:first + series["count"]] if number else None


def _draw_points(ax, figure, series, label):
    x, y, shade = (_values(figure, series, key) for key in ("x", "y", "shade"))
    if series.get("shift"):
        y = y + _values(figure, series, "shift")
    if series.get("crosses"):
        marker, colour = ("+", GREY) if series.get("hollow") else ("x", "black")  # training examples beside test examples
        ax.plot(x, y, linestyle="none", marker=marker, color=colour, markersize=6, markeredgewidth=0.8, label=label)
        return
    spread = _values(figure, series, "spread")
    if spread is not None:
        ax.errorbar(x, y, yerr=spread, fmt="none", ecolor=GREY, elinewidth=1, capsize=3)
    marker = MARKERS[series["style"] % len(MARKERS)]
    if shade is not None:
        drawn = ax.scatter(x, y, c=shade, s=16, marker=marker, cmap="viridis_r", label=label)
        ax.figure.colorbar(drawn, ax=ax, label=figure["columns"][series["shade"] - 1]["name"])
        return
    face = "none" if series.get("hollow") else series["colour"]
    ax.plot(x, y, linestyle="none", marker=marker, markersize=4, markerfacecolor=face, markeredgecolor=series["colour"],
            alpha=0.8, label=label)


def _draw_line(ax, figure, series, label):
    x, y, spread = (_values(figure, series, key) for key in ("x", "y", "spread"))
    dash = "--" if series.get("dashed") else "-" if series.get("grey") or series.get("plain") else DASHES[series["style"] % len(DASHES)]
    marker = MARKERS[series["style"] % len(MARKERS)] if series.get("dotted") else None
    beside = [each for each in figure["series"] if each["mark"] == "line" and each.get("panel", 0) == series.get("panel", 0)]
    if spread is not None and len(beside) <= 3:
        ax.fill_between(x, y - spread, y + spread, color=series["colour"], alpha=0.18, linewidth=0)
    ax.plot(x, y, dash, color=series["colour"], marker=marker, markersize=4, label=label,
            linewidth=0.8 if series.get("plain") else None)


def _draw_labels(ax, figure, series, _label):
    words = figure["columns"][series["label"] - 1]["words"]
    for x, y, code in zip(*(_values(figure, series, key) for key in ("x", "y", "label"))):
        if code >= 0:
            ax.annotate(words[int(code)].replace("$", r"\$"), (x, y), xytext=(3, 3), textcoords="offset points", fontsize="x-small")


def _draw_ellipse(ax, panel):
    x, y, a, b, c = panel["ellipse"]
    angle = np.linspace(0, 2 * np.pi, 73)
    ax.plot(x + a * np.cos(angle), y + b * np.cos(angle) + c * np.sin(angle), "--", color=GREY, linewidth=1, zorder=0)


def _draw_bars(ax, figure, series, label):
    own = [each for each in figure["series"] if each["mark"] == "bars" and each.get("panel", 0) == series.get("panel", 0)]
    width = 0.8 / len(own)
    place = _values(figure, series, "x") + (own.index(series) - (len(own) - 1) / 2) * width
    light = series["style"] % 2  # an outline with a light filling, so that neighbours differ in grey as well
    ax.bar(place, _values(figure, series, "y"), width=width, color=series["colour"] + ("59" if light else ""),
           edgecolor=series["colour"] if light else None, yerr=_values(figure, series, "spread"), label=label)


def _draw_heat(ax, figure, series, _label):
    xs, ys = (figure["columns"][series[key] - 1]["words"] for key in "xy")
    matrix = np.full((len(ys), len(xs)), np.nan)
    matrix[_values(figure, series, "y").astype(int), _values(figure, series, "x").astype(int)] = _values(figure, series, "z")
    drawn = ax.imshow(matrix, cmap="Blues", aspect="equal" if figure.get("square") else "auto",
                      origin="upper" if figure.get("reversed") else "lower", vmin=0 if figure.get("counts") else None)
    ax.figure.colorbar(drawn, ax=ax, label=figure["columns"][series["z"] - 1]["name"])
    if figure.get("counts") and max(matrix.shape) <= 20:
        top = np.nanmax(matrix)
        for (i, j), value in np.ndenumerate(matrix):
            if np.isfinite(value):
                ax.text(j, i, f"{value:g}", ha="center", va="center", color="white" if value > 0.55 * top else "black")


DRAWERS = {"points": _draw_points, "line": _draw_line, "bars": _draw_bars, "heat": _draw_heat, "labels": _draw_labels}


def _finish_axis(ax, figure, panel, number, letter):
    about, axis = panel[letter], ax.xaxis if letter == "x" else ax.yaxis
    axis.set_label_text(about["title"])
    if about.get("log"):
        (ax.set_xscale if letter == "x" else ax.set_yscale)("log")
    if "range" in about:
        (ax.set_xlim if letter == "x" else ax.set_ylim)(*about["range"])
    if about.get("reversed") and not axis.get_inverted():
        axis.set_inverted(True)
    series = next((each for each in figure["series"] if each.get("panel", 0) == number), None)
    words = figure["columns"][series[letter] - 1].get("words") if series else None
    if words is not None:
        if series["mark"] != "heat":
            (ax.set_xlim if letter == "x" else ax.set_ylim)(-0.5, len(words) - 0.5)
        step = max(1, len(words) // 40)
        shown = list(range(0, len(words), step))
        axis.set_ticks(shown)
        longest = max((len(words[k]) for k in shown), default=0)
        turned = {"rotation": 40, "ha": "right"} if letter == "x" and longest * len(shown) > 60 else {}
        axis.set_ticklabels([words[k].replace("$", r"\$") for k in shown], **turned)


def draw_panel(ax, figure, number):
    panel = figure["panels"][number]
    if not any(series.get("panel", 0) == number for series in figure["series"]):  # a panel without series is only its name
        ax.set_axis_off()
        ax.text(0.5, 0.5, panel.get("title", ""), ha="center", va="center", transform=ax.transAxes)
        return
    for series in figure["series"]:
        if series.get("panel", 0) == number:
            name = series.get("name")
            DRAWERS[series["mark"]](ax, figure, series, name.replace("$", r"\$") if name else None)
    if "ellipse" in panel:
        _draw_ellipse(ax, panel)
    for letter in "xy":
        _finish_axis(ax, figure, panel, number, letter)
    if panel["reference"] == "diagonal":
        ends = [max(ax.get_xlim()[0], ax.get_ylim()[0]), min(ax.get_xlim()[1], ax.get_ylim()[1])]
        ax.plot(ends, ends, "--", color=GREY, linewidth=1, zorder=0)
    elif panel["reference"] in ("zero", "level"):
        ax.axhline(panel.get("level", 0), linestyle="--", color=GREY, linewidth=1, zorder=0)
    if panel.get("title"):
        ax.set_title(panel["title"])
    if any(series.get("name") and series.get("panel", 0) == number for series in figure["series"]):
        ax.legend(fontsize="small")


def axes_for(figure: dict, ax: Any) -> np.ndarray:
    """One axes object per panel: those given, or new ones."""
    count = len(figure["panels"])
    if ax is not None:
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(axes) != count:
            raise ValueError(f"this plot has {count} panel{'s' if count > 1 else ''}: give ax as {count} axes, not {len(axes)}")
        return axes
    import matplotlib.pyplot as plt
    across = figure.get("across", 1)
    down = -(-count // across)
    made, axes = plt.subplots(down, across, figsize=(6.4 if across == 1 else 4.2 * across, max(4.2, 3.0 * down)),
                              squeeze=False, layout="constrained")
    for unused in axes.ravel()[count:]:
        unused.remove()
    return axes.ravel()[:count]
