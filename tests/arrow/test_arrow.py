# SPDX-License-Identifier: Apache-2.0
"""Tables of polars, pandas and pyarrow are read like the CSV file with the same content; so are Parquet and Feather files."""
import gc
import os
import subprocess

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

import kfe


def frame(rows=60):
    draw = np.random.default_rng(5)
    return pd.DataFrame({"x": draw.normal(size=rows), "n": draw.integers(0, 9, rows), "color": draw.choice(["red", "blue", "a longer text than twelve"], rows),
                         "single": draw.normal(size=rows).astype(np.float32), "kind": draw.choice(["a", "b"], rows)})


def tables(table):
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    chunked = pa.concat_tables([arrow.slice(0, 7), arrow.slice(7, 20), arrow.slice(27)])
    coded = arrow.set_column(2, "color", arrow["color"].dictionary_encode()).set_column(4, "kind", arrow["kind"].dictionary_encode())
    category = pl.from_pandas(table).with_columns(pl.col("color").cast(pl.Categorical))
    return {"pandas": table, "pyarrow": arrow, "chunks": chunked, "dictionaries": coded, "slice": pa.concat_tables([arrow, arrow]).slice(60),
            "polars": pl.from_pandas(table), "polars categories": category}


@pytest.mark.parametrize("name", tables(frame()))
def test_same_as_csv(name, tmp_path):
    table = frame()
    table.to_csv(tmp_path / "t.csv", index=False)
    expected, labels = kfe.read(tmp_path / "t.csv", encode="auto")
    found, kinds = kfe.read(tables(table)[name], encode="auto")
    assert found.shape == (60, 6) and (kinds == labels).all()
    assert np.allclose(found, expected, rtol=1e-6) and (found[:, 0] == expected[:, 0]).all()


def test_nulls_are_missing_values():
    table = pl.DataFrame({"x": [1.0, None, 3.0], "y": [1, 2, None], "flag": [True, False, True]})
    with pytest.raises(ValueError, match="missing"):
        kfe.read(table)
    x, y = kfe.read(table, missing="mean")
    assert x.tolist() == [[1, 1], [2, 2], [3, 1.5]] and y.tolist() == ["true", "false", "true"]


def test_columns_are_chosen_by_name():
    x, y = kfe.read(pl.from_pandas(frame()), label="n", drop="color,kind", task="regress")
    assert x.shape == (60, 2) and y.dtype == float
    with pytest.raises(ValueError, match="holds text; use encode='auto'"):
        kfe.read(pl.from_pandas(frame()))
    with pytest.raises(ValueError, match="cast it"):
        kfe.read(pl.DataFrame({"when": [pd.Timestamp("2020-01-01")], "y": [1]}))


def test_a_model_is_the_same():
    table = frame()
    x, y = kfe.read(pa.Table.from_pandas(table), drop="color")
    model = kfe.KFDClassifier(kernel="rbf:gamma=0.5", learner="knn").fit(x, y)
    again = kfe.KFDClassifier(kernel="rbf:gamma=0.5", learner="knn").fit(table[["x", "n", "single"]].to_numpy(), table["kind"])
    assert (model.predict(x) == again.predict(x)).all()


def test_everything_is_released():
    gc.collect()
    before = pa.total_allocated_bytes()
    for _ in range(5):
        kfe.read(pa.table({"x": np.arange(100000.0), "y": np.arange(100000) % 2}))
        with pytest.raises(ValueError):
            kfe.read(pa.table({"x": ["text"] * 1000, "y": np.arange(1000)}))
    gc.collect()
    assert pa.total_allocated_bytes() <= before


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow", "t.bin"])
def test_files(name, tmp_path):
    table = frame()
    arrow, path = pa.Table.from_pandas(table, preserve_index=False), tmp_path / name
    if name == "t.parquet":
        pa.parquet.write_table(arrow, path)
    elif name == "t.bin":  # the content decides, not the name
        with pa.ipc.new_stream(path, arrow.schema) as out:
            out.write_table(arrow)
    else:
        pa.feather.write_feather(arrow, path, compression="zstd" if name == "t.arrow" else "uncompressed")
    x, y = kfe.read(path, encode="auto")
    expected, labels = kfe.read(arrow, encode="auto")
    assert (x == expected).all() and (y == labels).all()
    path.write_bytes(path.read_bytes()[:-20])
    if name != "t.bin":  # a stream may lack its end mark
        with pytest.raises(ValueError, match=name):
            kfe.read(path, encode="auto")


def test_the_command_names_the_file(tmp_path):
    pa.parquet.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / "t.parquet")
    done = subprocess.run([os.environ["KFE"], "convert", tmp_path / "t.parquet", "-"], capture_output=True, text=True)
    assert done.returncode == 2 and "a Parquet file" in done.stderr and "pandas.read_parquet" in done.stderr
