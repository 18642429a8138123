# SPDX-License-Identifier: Apache-2.0
"""Results of the library as Python values: `take` gives dicts and lists in the layout of their JSON."""
from __future__ import annotations

import itertools
from ctypes import POINTER, byref, c_char_p, c_void_p, cast
from typing import Any

import numpy as np

from ._arrays import view
from ._lib import lib

GROUP = 4  # KFE_COLUMN_GROUP


def tables(pointer: c_void_p) -> list[Any]:
    """The tables of a result, in its memory."""
    found: list[Any] = []
    while table := lib.kfe_result_table(pointer, len(found)):
        found.append(table.contents)
    return found


def columns(table: Any) -> list[Any]:
    return [lib.kfe_table_column(byref(table), index).contents for index in range(table.cols)]


def numbers(column: Any, rows: int) -> np.ndarray:
    return view(column.numbers, (rows,), column)


def values(column: Any, rows: int) -> list[Any]:
    """Copied; None where a value is not available."""
    if column.texts:
        return [text and text.decode() for text in cast(column.texts, POINTER(c_char_p))[:rows]]
    convert = (float, int, bool)[column.kind]
    return [convert(number) if np.isfinite(number) else None for number in numbers(column, rows).tolist()]


def _put(row: dict[str, Any], name: str, value: Any) -> Any:
    *groups, last = name.split("/")
    for group in groups:
        row = row.setdefault(group, {})
    return row.setdefault(last, value)


def _rows(table: Any) -> list[Any]:
    """Rows as dicts or, of a list, as their values."""
    if table.is_list:
        read = [values(column, table.rows) for column in columns(table)]
        return read[0] if len(read) == 1 else [list(row) for row in zip(*read)]
    rows: list[dict[str, Any]] = [{} for _ in range(table.rows)]
    for column in columns(table):
        given = view(column.given, (table.rows,), column, "|u1") if column.given else itertools.repeat(1)
        own = values(column, table.rows) if column.kind != GROUP else ({} for _ in rows)
        for row, value, is_given in zip(rows, own, given):
            if is_given:
                _put(row, column.name.decode(), value)
    return rows


def _tree(pointer: c_void_p) -> Any:
    found = tables(pointer)
    rows = [_rows(table) for table in found]
    for table, own in zip(found[1:], rows[1:]):
        lists = [_put(row, table.name.decode(), []) for row in rows[table.parent]]
        for row, owner in zip(own, view(table.parent_row, (table.rows,), table, "<i8").tolist()):
            lists[owner].append(row)
    return rows[1] if found[-1].name == b"measures" else rows[0][0]


def take(pointer: c_void_p) -> Any:
    """The result as dicts and lists; frees it."""
    try:
        return _tree(pointer)
    finally:
        lib.kfe_result_free(pointer)
