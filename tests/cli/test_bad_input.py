# SPDX-License-Identifier: Apache-2.0
"""Bad input gives a clear error that names file, line, column and remedy, exit status 2, and no output file."""
import gzip
import json
import os
import shutil
import struct
import subprocess

import pytest

from conftest import KFE, SMALL

FIT = ("fit", "-q", "-m", "koc", "-k", "rbf:gamma=1")


@pytest.mark.parametrize("content, place", [
    pytest.param("1,2,a\n3,4,b\n5,6\n7,8,a\n", "bad.csv:3", id="ragged, too short"),
    pytest.param("1,2,a\n3,4,b\n5,6,7,a\n7,8,a\n", "bad.csv:3", id="ragged, too long"),
    pytest.param("1,2,a\n3,4,b\n5,six,a\n7,8,b\n", "bad.csv:3:2", id="text in a number"),
    pytest.param("1,2,a\n3,4,b\nnan,6,a\n7,8,b\n", "bad.csv:3:1", id="nan"),
    pytest.param("1,2,a\n3,inf,b\n5,6,a\n7,8,b\n", "bad.csv:2:2", id="inf"),
    pytest.param("1,2,a\n3,,b\n5,6,a\n7,8,b\n", "bad.csv:2:2", id="missing value"),
    pytest.param("1,2,a\n3,4e999,b\n5,6,a\n", "bad.csv:2:2", id="number too large"),
    pytest.param("", "bad.csv", id="empty file"),
    pytest.param("\n\n\n", "bad.csv", id="empty lines only"),
    pytest.param("x,y,class\n", "bad.csv", id="header only"),
    pytest.param('1,"2,a\n3,4,b\n', "bad.csv", id="quote that never closes"),
])
def test_bad_csv(kfe, content, place):
    kfe.write("bad.csv", content)
    kfe.refused(*FIT, "bad.csv", "-o", "m.kfe", says=place)


def test_missing_values_can_be_filled_or_dropped(kfe):
    kfe.write("holes.csv", "1,2,a\n3,,b\n5,6,a\n7,8,b\n")
    kfe.refused(*FIT, "holes.csv", "-o", "m.kfe", says=("holes.csv:2:2", "missing"))
    for how in ("mean", "drop"):
        kfe.ok(*FIT, "--missing", how, "holes.csv", "-o", "m.kfe")


@pytest.mark.parametrize("content, place", [
    pytest.param("1 1:0.5 2:1\n0 2:1 1:3\n", "bad.svm:2", id="unsorted indices"),
    pytest.param("1 1:0.5 2:1\n0 2:1 2:3\n", "bad.svm:2", id="an index twice"),
    pytest.param("1 1:0.5\n0 0:1\n", "bad.svm:2", id="index 0"),
    pytest.param("1 1:0.5\n0 1:x\n", "bad.svm:2", id="text in a number"),
    pytest.param("1 1:0.5\n0 99999999999:1\n", "bad.svm:2", id="index that overflows"),
])
def test_bad_libsvm(kfe, content, place):
    kfe.write("bad.svm", content)
    kfe.refused(*FIT, "bad.svm", "-o", "m.kfe", says=place)


def test_files_that_cannot_be_read(kfe):
    kfe.refused(*FIT, "absent.csv", "-o", "m.kfe", says=("absent.csv", "No such file"))
    kfe.path("folder").mkdir()
    kfe.refused(*FIT, "folder", "-o", "m.kfe", says=("folder", "directory"))
    kfe.write("cut.csv.gz", gzip.compress(SMALL.encode() * 50)[:-20])
    kfe.refused(*FIT, "cut.csv.gz", "-o", "m.kfe", says="cut.csv.gz")
    kfe.write("magic.npy", b"\x93NUMPX" + bytes(100))
    kfe.refused(*FIT, "magic.npy", "-o", "m.kfe", says="magic.npy")
    kfe.write("cut.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", 118))
    kfe.refused(*FIT, "cut.npy", "-o", "m.kfe", says="cut.npy")
    kfe.write("magic.npz", b"PK\x03\x04" + bytes(10))
    kfe.refused(*FIT, "magic.npz", "-o", "m.kfe", says="magic.npz")


def as_nobody(kfe, *arguments):
    """Root may read every file, so the test of permissions runs as another user."""
    if os.getuid() != 0:
        return subprocess.run([KFE, *arguments], cwd=kfe.folder, capture_output=True)
    if not shutil.which("setpriv"):
        pytest.skip("running as root without setpriv: nothing is unreadable to root")
    for folder in [kfe.folder, *kfe.folder.parents][:4]:
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    kfe.folder.chmod(0o777)
    copy = kfe.path("kfe-copy")
    shutil.copy(KFE, copy)
    copy.chmod(0o755)
    return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy, *arguments],
                          cwd=kfe.folder, capture_output=True)


def test_unreadable_file(kfe):
    kfe.write("secret.csv", SMALL)
    kfe.path("secret.csv").chmod(0)
    done = as_nobody(kfe, *FIT, "secret.csv", "-o", "m.kfe")
    assert done.returncode == 2 and b"secret.csv" in done.stderr and b"Permission denied" in done.stderr
    assert not kfe.path("m.kfe").exists()


def test_unwritable_folder(kfe):
    kfe.write("small.csv", SMALL)
    kfe.path("locked").mkdir(mode=0o555)
    done = as_nobody(kfe, *FIT, "small.csv", "-o", "locked/m.kfe")
    assert done.returncode == 2 and b"locked/m.kfe" in done.stderr and b"Permission denied" in done.stderr
    assert not list(kfe.path("locked").iterdir())


def test_label_column(kfe):
    kfe.write("small.csv", SMALL)
    for label in ("9", "0", "colour"):
        kfe.refused(*FIT, "--label", label, "small.csv", "-o", "m.kfe", says=("small.csv", label))
    kfe.write("numbers.csv", "1,2\n3,4\n5,7\n")
    kfe.refused(*FIT, "--label", "none", "numbers.csv", "-o", "m.kfe", says="koc needs labels")
    kfe.write("labels.txt", "a\nb\n")
    kfe.refused(*FIT, "--label-file", "labels.txt", "--label", "none", "numbers.csv", "-o", "m.kfe",
                says=["labels.txt", "2", "3"])
    kfe.write("labels.txt", "a\nb\na\n")
    for label in ("1", "last", "first"):
        kfe.refused(*FIT, "--label-file", "labels.txt", "--label", label, "numbers.csv", "-o", "m.kfe",
                    says=f"--label {label} and --label-file both say where the labels are")


def test_supervised_methods_need_two_classes(kfe):
    kfe.write("one.csv", "1,2,a\n3,4,a\n5,6,a\n")
    kfe.refused(*FIT, "one.csv", "-o", "m.kfe", says=["koc needs at least two classes", "every example is of class 'a'"])


def test_more_features_than_there_can_be_is_a_warning(kfe):
    kfe.write("small.csv", SMALL)
    err = kfe.ok("fit", "-q", "-m", "kpca", "-k", "rbf", "--dim", 1000, "small.csv", "-o", "m.kfe").err
    assert "kfe: warning:" in err and "1000" in err


def test_other_number_of_columns_names_both(kfe):
    model = kfe.model()
    kfe.write("wide.csv", "1,2,3,4,5,6,7\n")
    message = kfe.refused("transform", model, "wide.csv", "-o", "z.csv")
    assert "3" in message and any(number in message for number in ("6", "7"))
    kfe.write("narrow.csv", "1,2\n")
    message = kfe.refused("transform", model, "narrow.csv", "-o", "z.csv")
    assert "3" in message and any(number in message for number in ("1", "2"))


def header_and_payload(blob):
    size = struct.unpack("<Q", blob[:8])[0]
    return json.loads(blob[8:8 + size]), blob[8 + size:]


def pack(header, payload):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + payload


def hostile_models(blob):
    header, payload = header_and_payload(blob)
    tensor = next(name for name in header if name != "__metadata__")

    def changed(**fields):
        copy = json.loads(json.dumps(header))
        copy[tensor].update(fields)
        return pack(copy, payload)

    yield "empty", b""
    yield "four bytes", blob[:4]
    yield "cut header", blob[:40]
    yield "cut payload", blob[:-9]
    yield "longer payload", blob + b"x"
    yield "altered payload", blob[:-1] + bytes([blob[-1] ^ 1])
    yield "text", b"1,2,3\n" * 50
    yield "huge header", struct.pack("<Q", 1 << 62) + blob[8:]
    yield "negative header", struct.pack("<Q", (1 << 64) - 1) + blob[8:]
    yield "no JSON", struct.pack("<Q", 16) + b"{" * 16 + payload
    yield "shape that overflows", changed(shape=[1 << 62, 1 << 62])
    yield "negative shape", changed(shape=[-1, 4])
    yield "shape and bytes differ", changed(shape=[1, 1 << 40])
    yield "offsets past the end", changed(data_offsets=[0, 1 << 50])
    yield "offsets backwards", changed(data_offsets=[64, 0])
    yield "unknown type", changed(dtype="Q99")
    yield "no metadata", pack({k: v for k, v in header.items() if k != "__metadata__"}, payload)
    metadata = dict(header["__metadata__"])
    version_key = next((key for key in metadata if "version" in key), None)
    if version_key:
        yield "newer version", pack({**header, "__metadata__": {**metadata, version_key: "999"}}, payload)
    kernel_key = next(key for key, value in metadata.items() if "rbf:gamma=0.5" in value)
    unknown = metadata[kernel_key].replace("rbf", "nosuch")
    yield "unknown kernel", pack({**header, "__metadata__": {**metadata, kernel_key: unknown}}, payload)


def test_model_files_that_are_not_sound(kfe):
    blob = kfe.path(kfe.model()).read_bytes()
    count = 0
    for name, content in hostile_models(blob):
        kfe.write("bad.kfe", content)
        try:
            kfe.refused("info", "bad.kfe", says="bad.kfe")
            kfe.refused("transform", "bad.kfe", "small.csv", "-o", "z.csv", says="bad.kfe")
        except AssertionError as problem:
            raise AssertionError(f"model with {name}: {problem}") from problem
        count += 1
    assert count >= 18


def test_memory_limit(kfe):
    kfe.ok("generate", "twonorm", "--n", 3000, "-o", "data.csv")
    kfe.refused("fit", "-q", "-m", "kpca", "-k", "rbf", "--memory", "200k", "data.csv", "-o", "m.kfe",
                says=("memory", "limit"))


def test_output_that_cannot_be_written(kfe):
    model = kfe.model()
    kfe.refused(*FIT, "small.csv", "-o", "absent/m.kfe", says=("absent/m.kfe", "directory"))
    kfe.refused("transform", model, "small.csv", "-o", "absent/z.csv", says="absent/z.csv")
    kfe.path("folder").mkdir()
    kfe.refused(*FIT, "small.csv", "-o", "folder", says=("folder", "directory"))
    kfe.refused("transform", model, "small.csv", "-o", "z.docx", says="z.docx")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_search_is_shown_even_if_its_model_cannot_be_saved(kfe):
    kfe.write("small.csv", SMALL)
    done = kfe.run("cv", "-m", "koc", "--learner", "centroid", "--folds", "2", "small.csv", "--save", "/dev/full",
                   status=2)
    assert "/dev/full" in done.err and "accuracy" in done.out


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_full_device(kfe):
    model = kfe.model()
    for command in (["methods"], ["kernels", "--json"], ["info", model], ["transform", model, "small.csv"],
                    ["generate", "iris"], ["help"], ["help", "--man"], ["fit", "--help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([KFE, *command], cwd=kfe.folder, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 2 and b"No space left" in done.stderr, (command, done)


def test_full_disk(kfe):
    if os.getuid() != 0:
        pytest.skip("only root may mount a small disk")
    kfe.model()
    disk = kfe.path("disk")
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("no right to mount a small disk here")
    try:
        kfe.ok("generate", "waveform", "--n", 4000, "-o", "big.csv")
        kfe.refused("convert", "big.csv", "disk/big.npy", says=("disk/big.npy", "No space left"))
        kfe.refused("convert", "big.csv", "disk/big.csv.gz", says=("disk/big.csv.gz", "No space left"))
        kfe.refused(*FIT, "big.csv", "-o", "disk/m.kfe", says=("disk/m.kfe", "No space left"))
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_failed_write_leaves_the_old_file(kfe):
    model = kfe.model()
    before = kfe.path(model).read_bytes()
    kfe.write("one.csv", "1,2,3,a\n3,4,5,a\n")
    kfe.refused(*FIT, "one.csv", "-o", model)
    assert kfe.path(model).read_bytes() == before


@pytest.mark.parametrize("arguments, says", [
    (["fti"], "did you mean fit"),
    (["--nosuch"], "kfe help"),
    (["fit", "-m", "kpac", "x.csv", "-o", "m"], "did you mean kpca"),
    (["cv", "-m", "koc", "--learner", "knn", "--folds", "1.5", "x.csv"], "kfe: --folds takes an integer from 2 up, not"),
    (["fit", "-m", "koc", "--missing", "never", "x.csv", "-o", "m"], "--missing takes one of"),
    (["fit", "-m", "kocc", "x.csv", "-o", "m"], "did you mean koc"),
    (["fit", "-m", "koc", "--clustres", "2", "x.csv", "-o", "m"], "--clustres"),
    (["fit", "-m", "kpca", "--dimm", "2", "x.csv", "-o", "m"], "did you mean --dim"),
    (["fit", "--dimm", "2"], "did you mean --dim"),
    (["fit", "x.csv", "-o", "m"], "-m METHOD"),
    (["fit", "-m", "koc", "x.csv"], "-o MODEL"),
    (["fit", "-m", "koc", "-o", "m"], "data file"),
    (["fit", "-m"], "needs a value"),
    (["fit", "-m", "kpca", "--dim", "two", "x.csv", "-o", "m"], "dim"),
    (["fit", "-m", "kpca", "--dim", "0", "x.csv", "-o", "m"], "dim takes an integer from 1 up or auto, not"),
    (["fit", "-m", "koc", "-k", "rbff", "x.csv", "-o", "m"], "rbff"),
    (["fit", "-m", "koc", "-k", "rbf:gama=1", "x.csv", "-o", "m"], "gama"),
    (["fit", "-m", "koc", "-k", "rbf:gamma=-1", "x.csv", "-o", "m"], "gamma"),
    (["fit", "-m", "koc", "-k", "rbf:gamma", "x.csv", "-o", "m"], "gamma"),
    (["fit", "-m", "koc", "--scale", "loud", "x.csv", "-o", "m"], "scale"),
    (["fit", "-m", "koc", "--view", "nofile", "-o", "m"], "NAME=FILE"),
    (["fit", "-Z"], "-Z"),
    (["fit", "--threads", "many"], "--threads"),
    (["fit", "--threads", "1.5"], "--threads"),
    (["fit", "--seed", "-1"], "--seed"),
    (["methods", "--memory", "lots"], "--memory"),
    (["methods", "--memory", "0"], "--memory"),
    (["methods", "--json=perhaps"], "yes or no"),
    (["methods", "nosuch"], "kfe methods"),
    (["fit", "-m", "koc", "--gamma", "3", "x.csv", "-o", "m"], "-k rbf:gamma=3"),
    (["methods", "koc", "kpca"], "kpca"),
    (["kernels", "rfb"], "did you mean rbf"),
    (["generate", "slab"], "did you mean slabs"),
    (["generate"], "--list"),
    (["generate", "banana", "--noise", "x"], "noise"),
    (["transform"], "usage"),
    (["transform", "m.kfe"], "m.kfe"),
    (["info"], "usage"),
    (["info", "absent.kfe"], "absent.kfe"),
    (["convert", "x.csv"], "usage"),
    (["measure", "x.csv"], "-k KERNEL"),
    (["help", "nosuch"], "nosuch"),
])
def test_wrong_usage(kfe, arguments, says):
    kfe.refused(*arguments, says=says)


def test_no_flag_is_suggested_that_shares_no_letter_with_what_was_typed(kfe):
    """One edit turns k into C, but the user did not mean C."""
    assert "did you mean" not in kfe.refused("fit", "-m", "koc", "--k", "3")
    assert "did you mean" not in kfe.refused("fit", "-m", "foo", "x.csv", "-o", "m")


def test_one_row_of_new_data(kfe):
    """A single row has no mean for its gaps, and dropping it leaves no rows: the message must not suggest either."""
    model = kfe.model()
    kfe.write("gap.csv", "x,y,z,class\n1,,3,a\n")
    kfe.refused("transform", model, "gap.csv", "--missing", "mean", says=("has not learned", "--missing drop"))
    kfe.refused("transform", model, "gap.csv", "--missing", "drop", says="no row would be left; fill them in")
    kfe.ok("fit", "-q", "-m", "koc", "--learner", "knn", "small.csv", "-o", "k.kfe")
    kfe.write("row.csv", "x,y,z,class\n1,2,3,a\n")
    assert "row.csv: 1 example, 3 columns, 1 class (a)" in kfe.ok("evaluate", "k.kfe", "row.csv").err


def test_odd_tables_that_newcomers_bring(kfe):
    """Each table is one that Excel, R, pandas or a colleague would write; all contain the same numbers."""
    rows = [line.split(",") for line in SMALL.splitlines()]
    comma = "\n".join(",".join(row) for row in rows)
    tables = {
        "crlf.csv": comma.replace("\n", "\r\n").encode(),
        "bom.csv": b"\xef\xbb\xbf" + comma.encode(),
        "no-newline-at-end.csv": comma.encode(),
        "blank-lines.csv": (comma.replace("\n", "\n\n") + "\n\n").encode(),
        "semicolon.csv": comma.replace(",", ";").encode(),
        "tab.txt": comma.replace(",", "\t").encode(),
        "quoted.csv": "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows).encode(),
        "spaces.csv": comma.replace(",", ", ").encode(),
        "no-header.csv": "\n".join(comma.split("\n")[1:]).encode(),
        "gzip-without-extension": gzip.compress(comma.encode()),
        "name with blanks, and comma.csv": comma.encode(),
        "exponents.csv": comma.replace("0.1,", "1e-1,").encode(),
    }
    model = kfe.model()
    expected = kfe.ok("transform", model, "small.csv").out
    for name, content in tables.items():
        kfe.write(name, content)
        try:
            kfe.ok(*FIT[:-1], "rbf:gamma=0.5", name, "-o", "odd.kfe")
            assert kfe.ok("transform", "odd.kfe", name).out == expected
        except AssertionError as problem:
            raise AssertionError(f"{name}: {problem}") from problem


def test_constant_and_duplicate_data(kfe):
    kfe.write("constant.csv", "1,1,a\n1,1,b\n1,1,a\n1,1,b\n")
    # equal points have the kernel value 1, so both centroids are the same vector of norm 1
    done = kfe.ok(*FIT, "--scale", "standard", "constant.csv", "-o", "m.kfe")
    assert "1 of 2 centroids are linearly dependent" in done.err
    assert kfe.ok("transform", "m.kfe", "constant.csv").out.split() == ["koc1", "1", "1", "1", "1"]
    kfe.refused("fit", "-q", "-m", "kpca", "constant.csv", "-k", "rbf:gamma=1", "-o", "n.kfe", says="do not vary")
    kfe.refused("fit", "-q", "-m", "kfd", "constant.csv", "-k", "rbf:gamma=1", "-o", "n.kfe", says="all examples are the same")


@pytest.mark.parametrize("arguments, reason", [
    (["fit", "-m", "koc", "-k", "rfb", "-o", "model.kfe"], "no kernel 'rfb'"),
    (["fit", "-m", "kco", "-o", "model.kfe"], "no method 'kco'"),
    (["fit", "-m", "pls", "-k", "rbf", "-o", "model.kfe"], "use kpls"),
    (["fit", "-m", "koc", "--learner", "smv", "-o", "model.kfe"], "smv"),
    (["fit", "-m", "koc", "-o", "nowhere/model.kfe"], "no directory nowhere"),
    (["cv", "-m", "koc", "--learner", "knn", "--save", "nowhere/model.kfe"], "no directory nowhere"),
    (["cv", "-m", "koc", "-k", "rfb", "--learner", "knn"], "no kernel 'rfb'"),
    (["cv", "-m", "koc", "-k", "rbf"], "needs a learner"),
    (["cv", "-m", "koc", "-k", "rbf", "--learner", "knn", "--grid", "gama=1,2"], "gama"),
    (["cv", "-m", "koc", "-k", "rbf", "--learner", "knn", "--grid", "gamma=1,x"], "gamma"),
    (["compare", "-k", "rfb", "--learner", "knn"], "no kernel 'rfb'"),
    (["compare", "-m", "koc", "-m", "kpac", "--learner", "knn"], "no method 'kpac'"),
    (["compare", "-k", "rbf", "--learner", "knn", "--grid", "gama=1,2"], "gama"),
    (["cv", "-m", "koc", "--learner", "knn", "--metrics", "acuracy"], "no metric 'acuracy'"),
    (["measure", "-k", "rfb"], "no kernel 'rfb'"),
    (["tune", "--time", "soon"], "--time takes a time"),
    (["tune", "--metrics", "accuracy,acu"], "no metric 'acu'"),
    (["tune", "-o", "nowhere/model.kfe"], "no directory nowhere"),
])
def test_mistakes_show_before_data_is_read(kfe, arguments, reason):
    """The data file does not exist, but the message is about the mistake."""
    assert "no-such-file" not in kfe.refused(*arguments, "no-such-file.csv", says=reason)
