# SPDX-License-Identifier: Apache-2.0
"""Results of cv, compare, evaluate, measure and tune, with Python values and as tables for pandas."""
from __future__ import annotations

from typing import Any

POOLED = ("rmsecv", "rmsecv_error", "q2", "bias", "sep")  # what each setting of a regression has


def typed(value: Any) -> Any:
    """A result whose settings are numbers and booleans; the library writes them as text."""
    if isinstance(value, dict):
        return {key: _typed_settings(each) if key in ("setting", "best") and isinstance(each, dict) else typed(each)
                for key, each in value.items()}
    return [typed(each) for each in value] if isinstance(value, list) else value


def _typed_settings(settings: dict) -> dict:
    return {name: typed({name: each})[name] if isinstance(each, dict) else _typed_text(each)
            for name, each in settings.items()}


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


class Result(dict):
    """A result as a dict, equal to the JSON that the command line prints with ``--json``. ``print`` shows its tables; ``dict(result)``
    has all numbers."""

    _pictures: tuple[str, ...] = ()

    def to_dataframe(self):
        """The numbers as a pandas table."""
        raise NotImplementedError

    def _rows(self) -> list[dict[str, Any]]:
        """What a notebook shows as a table."""
        return []

    def __repr__(self) -> str:
        from ._page import result_text
        try:
            return result_text(self) or super().__repr__()
        except (ValueError, RuntimeError):  # someone changed the dict
            return super().__repr__()

    def _repr_html_(self) -> str:
        from ._page import picture_html, table_html
        return table_html(self._rows()) + picture_html(self, *self._pictures)


class CrossValidation(Result):
    """The result of `cv`. It has ``best_estimator_`` if refit was requested."""

    _pictures = ("cv-surface", "cv-curve")

    def _rows(self) -> list[dict[str, Any]]:
        return [_split_row(split) for split in self["splits"]]

    def to_dataframe(self):
        """One row per split: its repeat and fold, the setting chosen, the metrics, and the seconds of its fit."""
        import pandas
        return pandas.DataFrame([_split_row(split) for split in self["splits"]])

    def settings(self):
        """One row per setting of the grid: its parameters, mean, standard error and standard deviation of each metric on
        the splits that settings were compared on and, for real targets, ``rmsecv``, ``q2``, ``bias`` and ``sep`` over all
        predictions of the splits that were asked for."""
        import pandas
        rows = [{**row["setting"], **_summary(row), **{key: row[key] for key in POOLED if key in row}}
                for row in self["settings"]]
        return pandas.DataFrame(rows)

    def held_out(self):
        """One row per held-out prediction: the row of the data, its split, the truth and the prediction; kept for up to
        2,000 of them, or with ``held_out="yes"``."""
        import pandas
        if "held_out" not in self:
            raise ValueError("held-out predictions were not kept; cv(..., held_out=\"yes\") keeps them")
        return pandas.json_normalize(self["held_out"], sep="_")


class Comparison(Result):
    """The result of `compare`."""

    _pictures = ("comparison",)

    def _rows(self) -> list[dict[str, Any]]:
        return [{"label": method["label"], **_summary(method), "seconds": method["seconds"]} for method in self["methods"]]

    def to_dataframe(self):
        """One row per method: mean, standard error and standard deviation over splits of each metric, and the seconds it took."""
        import pandas
        rows = [{"label": method["label"], **_summary(method), "seconds": method["seconds"]} for method in self["methods"]]
        return pandas.DataFrame(rows).set_index("label")

    def differences(self):
        """One row per pair of methods, with tests of whether they differ."""
        import pandas
        rows = [{"a": pair["a"], "b": pair["b"], "difference": pair["difference"],
                 **{f"{test}_{key}": value for test in ("paired", "corrected") for key, value in pair[test].items()}}
                for pair in self["differences"]]
        return pandas.DataFrame(rows)


class Evaluation(Result):
    """The result of `evaluate`."""

    def _rows(self) -> list[dict[str, Any]]:
        return [self["metrics"]]

    def _repr_html_(self) -> str:
        from ._page import table_html
        text, confusion = super()._repr_html_(), self.get("confusion")
        if isinstance(confusion, dict) and len(confusion.get("classes", ())) <= 50:
            names = confusion["classes"]
            text += table_html([{"true \\ predicted": name, **{str(other): count for other, count in zip(names, row)}}
                                for name, row in zip(names, confusion["matrix"])])
        return text

    def to_dataframe(self):
        """The metrics, in one row."""
        import pandas
        return pandas.DataFrame([self["metrics"]])


class Measures(list):
    """The result of `measure`: one dict per kernel."""

    def __repr__(self) -> str:
        from ._page import result_text
        return result_text(list(self))

    def _repr_html_(self) -> str:
        from ._page import table_html
        return table_html(list(self))

    def to_dataframe(self):
        """One row per kernel."""
        import pandas
        return pandas.DataFrame(list(self)).set_index("kernel")


def _split_row(split: dict[str, Any]) -> dict[str, Any]:
    row = {key: value for key, value in split.items() if key not in ("setting", "metrics")}
    return {**row, **split["setting"], **split["metrics"]}


def _summary(method: dict[str, Any]) -> dict[str, float]:
    return {f"{name}_{part}": values[part] for name, values in method["metrics"].items()
            for part in ("mean", "standard_error", "sd")}
