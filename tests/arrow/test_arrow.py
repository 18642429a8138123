# SPDX-License-Identifier: Apache-2.0
"""Tables of polars, pandas and pyarrow are read like the CSV file with the same content; so are Parquet and Feather files."""
import gc
import os
import pathlib
import shutil
import subprocess
import sys

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


# ---- the command, with the plug-in for files ----


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """The folder of libkfe_arrow.so, built by CMake against the library inside pyarrow."""
    if not shutil.which("g++") or not shutil.which("cmake"):
        pytest.skip("g++ or cmake is not installed")
    folder = tmp_path_factory.mktemp("plugin")
    source = pathlib.Path(__file__).resolve().parents[2]
    (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(kfe LANGUAGES C)\ninclude(GNUInstallDirs)\n"
                                           f"set(PROJECT_SOURCE_DIR {source})\ninclude({source}/cmake/hardening.cmake)\nadd_subdirectory({source}/backends/arrow arrow)\n")
    for command in (["cmake", "-S", folder, "-B", folder / "build", "-DKFE_ARROW=ON", f"-DKFE_ARROW_PYTHON={sys.executable}"],
                    ["cmake", "--build", folder / "build"]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build"


def command(plugin, *arguments, status=0):
    done = subprocess.run([os.environ["KFE"], *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "KFE_DEVICE_PATH": str(plugin)})
    assert done.returncode == status, done.stderr
    return done.stderr if status else done.stdout


def write_all(folder, table):
    """The table in every kind of file; their names."""
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    for codec in ("none", "snappy", "gzip", "zstd"):
        pa.parquet.write_table(arrow, folder / f"{codec}.parquet", compression=codec, row_group_size=13)
    pa.feather.write_feather(arrow, folder / "t.feather")
    with pa.ipc.new_stream(folder / "t.arrows", arrow.schema) as out:
        out.write_table(arrow, max_chunksize=9)
    return ["none.parquet", "snappy.parquet", "gzip.parquet", "zstd.parquet", "t.feather", "t.arrows"]


def test_the_command_reads_files(plugin, tmp_path):
    table = frame().drop(columns="single")  # CSV has it with fewer digits
    table.loc[3, "color"] = 'a "quoted", text'
    table.to_csv(tmp_path / "t.csv", index=False)
    expected = command(plugin, "convert", "-q", "--encode", "auto", tmp_path / "t.csv", "-")
    for name in write_all(tmp_path, table):
        assert command(plugin, "convert", "-q", "--encode", "auto", tmp_path / name, "-") == expected, name
    assert expected.count("\n") == 61


def test_a_model_of_the_command_takes_every_kind_of_file(plugin, tmp_path):
    """Columns are found by name and categories are those of the model, whatever the order of the columns."""
    table = frame().drop(columns="single")
    files = write_all(tmp_path, table[["color", "n", "x"]])
    table.to_csv(tmp_path / "t.csv", index=False)
    pa.parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), tmp_path / "train.parquet")
    command(plugin, "fit", "-q", "-m", "kfd", "--learner", "knn", "--encode", "auto", tmp_path / "train.parquet", "-o", tmp_path / "m.kfe")
    expected = command(plugin, "transform", "-q", tmp_path / "m.kfe", tmp_path / "t.csv")
    for name in files:
        assert command(plugin, "transform", "-q", tmp_path / "m.kfe", tmp_path / name) == expected, name


def test_numbers_keep_their_kind(plugin, tmp_path):
    pa.parquet.write_table(pa.table({"x": [1.5, None, 3.0, 4.5], "flag": [True, False, True, False], "y": [1.0, 2.0, 1.0, 2.0]}), tmp_path / "t.parquet")
    assert "missing" in command(plugin, "convert", "-q", tmp_path / "t.parquet", "-", status=2)
    assert command(plugin, "convert", "-q", "--missing", "mean", tmp_path / "t.parquet", "-").splitlines()[1:3] == ["1.5,1,1.0", "3,0,2.0"]  # a column of floats is a real target


def test_damaged_files_are_refused(plugin, tmp_path):
    for name in write_all(tmp_path, frame()):
        content = (tmp_path / name).read_bytes()
        for cut in (len(content) // 2, len(content) - 20):
            (tmp_path / name).write_bytes(content[:cut])
            if name != "t.arrows" or cut < len(content) - 20:  # a stream may lack its end mark
                assert name in command(plugin, "convert", "-q", "--encode", "auto", tmp_path / name, tmp_path / "x.csv", status=2)
    pa.parquet.write_table(pa.table({"when": [pd.Timestamp("2020-01-01")], "y": [1]}), tmp_path / "t.parquet")
    assert "'when'" in command(plugin, "convert", "-q", tmp_path / "t.parquet", "-", status=2)
    pa.parquet.write_table(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "t.parquet")
    assert "empty" in command(plugin, "convert", "-q", tmp_path / "t.parquet", "-", status=2)


def test_the_command_names_the_file(tmp_path):
    pa.parquet.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / "t.parquet")
    done = subprocess.run([os.environ["KFE"], "convert", tmp_path / "t.parquet", "-"], capture_output=True, text=True)
    assert done.returncode == 2 and "a Parquet file" in done.stderr and "pandas.read_parquet" in done.stderr
