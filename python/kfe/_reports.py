# SPDX-License-Identifier: Apache-2.0
"""Results of cv, compare, evaluate and measure, with values as Python has them and tables for pandas."""
from __future__ import annotations

from typing import Any


def typed(value: Any) -> Any:
    """A report with the values of settings as numbers and truth values; the library writes them as text."""
    if isinstance(value, dict):
        return {key: ({name: _typed_text(text) for name, text in each.items()} if key in ("setting", "best") and
                      isinstance(each, dict) else typed(each)) for key, each in value.items()}
    return [typed(each) for each in value] if isinstance(value, list) else value


def _typed_text(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    if text in ("yes", "no"):
        return text == "yes"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Report(dict):
    """A result as a dict, the same that the command line prints with ``--json``."""

    def to_dataframe(self):
        """The numbers as a table, for pandas to show."""
        raise NotImplementedError


class CrossValidation(Report):
    """The outcome of `cv`. ``best_estimator_`` is there if it was asked for."""

    def to_dataframe(self):
        """One row for each split: where it was, what was chosen, what was measured, and the seconds of its fit."""
        import pandas
        return pandas.DataFrame([_split_row(split) for split in self["splits"]])


class Comparison(Report):
    """The outcome of `compare`."""

    def to_dataframe(self):
        """One row for each method: mean and standard deviation of each metric, and the seconds that it took."""
        import pandas
        rows = [{"label": method["label"], **_summary(method), "seconds": method["seconds"]} for method in self["methods"]]
        return pandas.DataFrame(rows).set_index("label")

    def differences(self):
        """One row for each pair of methods, with tests of whether they differ."""
        import pandas
        rows = [{"a": pair["a"], "b": pair["b"], "difference": pair["difference"],
                 **{f"{test}_{key}": value for test in ("paired", "corrected") for key, value in pair[test].items()}}
                for pair in self["differences"]]
        return pandas.DataFrame(rows)


class Evaluation(Report):
    """The outcome of `evaluate`."""

    def to_dataframe(self):
        """The metrics, one row."""
        import pandas
        return pandas.DataFrame([self["metrics"]])


class Measures(list):
    """The outcome of `measure`: a dict for each kernel."""

    def to_dataframe(self):
        """One row for each kernel."""
        import pandas
        return pandas.DataFrame(list(self)).set_index("kernel")


def _split_row(split: dict[str, Any]) -> dict[str, Any]:
    row = {key: value for key, value in split.items() if key not in ("setting", "metrics")}
    return {**row, **split["setting"], **split["metrics"]}


def _summary(method: dict[str, Any]) -> dict[str, float]:
    return {f"{name}_{part}": values[part] for name, values in method["metrics"].items() for part in ("mean", "sd")}
