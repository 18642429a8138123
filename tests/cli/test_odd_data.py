# SPDX-License-Identifier: Apache-2.0
"""Unusual data of real users: one test for each case that once failed."""
import json
import os
import random

import pytest


def test_labels_that_are_not_utf8_are_refused_with_their_place(kfe):
    kfe.write("latin1.csv", b"1,2,b\n3,4,\xe4\n5,6,b\n0,1,\xe4\n")
    kfe.refused("fit", "-m", "koc", "latin1.csv", "-o", "m.kfe", says=["latin1.csv:2:", "UTF-8", "iconv"])
    kfe.write("half.csv", b"1,2,b\n3,4,\xc3\n")
    kfe.refused("fit", "-m", "koc", "half.csv", "-o", "m.kfe", says="half.csv:2:")


def test_column_names_that_are_not_utf8_are_told(kfe):
    kfe.write("latin1.csv", b"a,gr\xf6\xdfe,kind\n1,2,u\n2,1,v\n3,4,u\n4,1,v\n")
    told = kfe.ok("fit", "-q", "-m", "koc", "latin1.csv", "-o", "m.kfe").err
    assert "latin1.csv:1: the name of column 2 is not UTF-8 text" in told and "'iconv -f latin1 -t utf-8'" in told
    kfe.write("utf8.csv", "a,größe,kind\n1,2,u\n2,1,v\n3,4,u\n4,1,v\n")
    assert kfe.ok("fit", "-q", "-m", "koc", "utf8.csv", "-o", "m.kfe").err == ""


@pytest.mark.parametrize("code", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_named(kfe, code):
    kfe.write("wide.csv", "a,größe,kind\n1,2,u\n2,1,v\n".encode(code))
    name = code[:6] + code[7:]
    kfe.refused("fit", "-m", "koc", "wide.csv", "-o", "m.kfe", says=["wide.csv: this is UTF-16 text without a byte order mark", f"'iconv -f {name} -t utf-8'"])


def test_strings_and_numbers_are_told_apart(kfe):
    kfe.write("numbers.csv", "a,b,kind\n1,2,u\n2,1,v\n3,4,u\n4,1,v\n")
    kfe.write("strings.csv", "text,kind\nhello you,u\nhello all,u\nfoo bar,v\nbar foo,v\n")
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "rbf", "--learner", "ls", "numbers.csv", "-o", "n.kfe")
    kfe.ok("fit", "-q", "-m", "kfd", "-k", "spectrum", "--learner", "ls", "strings.csv", "-o", "s.kfe")
    kfe.refused("fit", "-m", "kfd", "-k", "rbf", "strings.csv", "-o", "x.kfe", says="use a kernel on strings, such as --kernel spectrum")
    kfe.refused("fit", "-m", "kfd", "-k", "spectrum", "numbers.csv", "-o", "x.kfe", says="use a kernel on numbers, such as --kernel rbf")
    kfe.refused("predict", "n.kfe", "strings.csv", says="it takes numbers, but this file has text")
    kfe.refused("predict", "n.kfe", "--header", "no", "strings.csv", says="the model takes numbers: correct it")
    kfe.refused("predict", "s.kfe", "numbers.csv", says="the model takes strings, one column besides the label, but this file has 2")


def test_a_category_that_is_missing_is_filled_with_the_most_frequent(kfe):
    kfe.write("t.arff", "@relation t\n@attribute color {red,green}\n@attribute x numeric\n@attribute kind {u,v}\n@data\n"
              "red,1,u\n?,2,v\ngreen,3,u\nred,2,v\n")
    fit = ["fit", "-q", "-m", "kfd", "-k", "rbf", "--encode", "auto", "t.arff", "-o", "m.kfe"]
    kfe.refused(*fit, says="t.arff:7:1: field 1 ('color') is missing; fill it in, or use --missing most-frequent or --missing drop")
    kfe.ok(*fit, "--missing", "most-frequent")
    kfe.write("x.csv", "x,y,kind\n1,2,u\n,2,v\n")
    kfe.refused("fit", "-m", "kfd", "x.csv", "-o", "m.kfe", says="use --missing mean or --missing drop")


def test_a_file_name_that_is_not_utf8_gives_a_model_that_loads(kfe):
    name = os.fsdecode(b"n\xe4me.csv")
    kfe.path(name).write_text("1,2,a\n3,4,b\n5,1,a\n")
    kfe.ok("fit", "-q", "-m", "koc", name, "-o", "m.kfe")
    assert json.loads(kfe.ok("info", "--json", "m.kfe").out)["views"][0]["name"] == "n?me"


def test_a_label_name_that_two_columns_have_is_refused(kfe):
    kfe.write("twice.csv", "x,y,x\n1,2,a\n3,4,b\n")
    kfe.refused("fit", "-m", "koc", "--label", "x", "twice.csv", "-o", "m.kfe", says=["columns 1 and 3", "--label"])
    kfe.ok("fit", "-q", "-m", "koc", "--label", "3", "twice.csv", "-o", "m.kfe")


def test_decimal_commas_are_recognised(kfe):
    kfe.write("german.csv", "x;y;c\n1;2;a\n1,5;2,5;b\n")
    kfe.refused("fit", "-m", "koc", "german.csv", "-o", "m.kfe", says=["german.csv:3:1", "'1,5'", "point"])


def test_long_and_hostile_labels_are_shown_short(kfe):
    kfe.write("long.csv", "1,2," + "ä" * 100000 + "\n3,4,\x1b[2J\n")
    summary = kfe.ok("fit", "-m", "koc", "long.csv", "-o", "m.kfe").err
    assert len(summary) < 500 and "\x1b" not in summary and "�" not in summary


@pytest.mark.parametrize("method", ["oc", "koc", "kfd", "kda-qr", "akda-qr", "pca", "kpca"])
def test_values_whose_squares_overflow_are_refused(kfe, method):
    kfe.write("huge.csv", "1,2,a\n3,-4e200,b\n5,6,a\n0,1,b\n")
    kfe.refused("fit", "-m", method, "--scale", "none", "huge.csv", "-o", "m.kfe",
                says=["huge.csv", "row 2, column 2", "too large"])


@pytest.mark.parametrize("method", ["kfd", "kda-qr", "akda-qr", "pca", "kpca"])
def test_data_without_any_difference_is_bad_input(kfe, method):
    kfe.write("same.csv", "7,7,a\n7,7,b\n7,7,a\n")
    kernel = [] if method == "pca" else ["-k", "rbf:gamma=1"]
    assert method in kfe.refused("fit", "-m", method, *kernel, "same.csv", "-o", "m.kfe")


def test_no_width_comes_from_data_without_any_difference(kfe):
    """Also if rounding adds a tiny difference: the mean of three sevens, summed in thirds, may differ from seven."""
    for value in ("7", "0", "0.1"):
        kfe.write("same.csv", "".join(f"{value},{value},{name}\n" for name in "abababa"))
        kfe.refused("fit", "-m", "kfd", "same.csv", "-o", "m.kfe", says=["variance is 0", "give gamma a number"])


def test_a_model_may_come_from_standard_input(kfe):
    kfe.write("t.csv", "1,2,a\n3,4,b\n5,1,a\n")
    model = kfe.ok("fit", "-q", "-m", "koc", "t.csv", "-o", "-").stdout
    kfe.path("m.kfe").write_bytes(model)
    assert kfe.ok("transform", "-", "t.csv", stdin=model).out == kfe.ok("transform", "m.kfe", "t.csv").out
    assert kfe.ok("info", "-", stdin=model).out == kfe.ok("info", "m.kfe").out
    kfe.refused("info", "-", stdin=b"", says=("standard input", "kfe fit -o -"))
    kfe.refused("transform", "-", "-", stdin=model, says="only once")


def test_features_are_never_infinite(kfe):
    model = kfe.model()
    kfe.ok("fit", "-q", "-m", "koc", "-k", "poly", "small.csv", "-o", model)
    kfe.write("huge.csv", "1,2,3\n1e200,0,1\n")
    kfe.refused("transform", model, "huge.csv", "-o", "z.csv", says=["huge.csv", "row 2", "too large"])


def test_model_and_json_do_not_mix_on_standard_output(kfe):
    kfe.model()
    kfe.refused("fit", "-m", "koc", "--json", "small.csv", "-o", "-", says="standard output")


def test_a_first_row_with_a_typing_error_does_not_vanish_unnoticed(kfe):
    kfe.write("slip.csv", "1,2x,a\n3,4,b\n5,6,a\n")
    assert "slip.csv:1: this row is taken for a header, although field 1" in kfe.ok("convert", "slip.csv", "-").err
    kfe.refused("convert", "--header", "no", "slip.csv", "out.csv", says=["slip.csv:1:2", "'2x'"])
    kfe.write("fine.csv", "x,y,class\n3,4,b\n5,6,a\n")
    assert kfe.ok("convert", "fine.csv", "-").err == kfe.ok("convert", "--header", "yes", "slip.csv", "-").err == ""


@pytest.mark.parametrize("method", ["kfd", "hsic", "kopls", "kb", "kpca"])
@pytest.mark.parametrize("gamma", ["1e-6", "1e-8", "1e-10"])
def test_a_wide_gaussian_is_positive_definite(kfe, method, gamma):
    """Entries near 1 are rounded by more than a relative error of the centred matrix, whose eigenvalues are tiny."""
    draw = random.Random(1)
    kfe.write("plain.csv", "".join(",".join(f"{draw.gauss(i % 2, 1):.4f}" for _ in range(10)) + f",{'ab'[i % 2]}\n"
                                   for i in range(90)))
    assert "definite" not in kfe.ok("fit", "-m", method, "-k", f"rbf:gamma={gamma}", "plain.csv", "-o", kfe.model()).err


@pytest.mark.parametrize("method", ["kblf", "kpca", "kpls", "kopls", "kfd", "koc", "hsic", "uhsic", "skfe", "kda-qr"])
def test_landmarks_whose_kernel_vanishes(kfe, method):
    """Products of such values are zero, so that the landmarks leave no direction: that is said, and memory is not blamed."""
    rows = [f"{(i * 7 % 11 - 5) * 1e-170!r},{(i * 3 % 7 - 3) * 1e-170!r},{'uv'[i % 2]}" for i in range(20)]
    kfe.write("tiny.csv", "a,b,kind\n" + "\n".join(rows) + "\n")
    problem = kfe.refused("fit", "-q", "-m", method, "-k", "linear", "--scale", "none", "--landmarks", 3, "tiny.csv", "-o", "m.kfe")
    assert "memory" not in problem


DENORMAL = ["5e-324", "1e-310", "0", "-5e-324", "2e-308", "1e-320"]


TOO_SMALL, NO_DIRECTION = "the largest weight is 1e-310, too small", "no direction of the data covaries"


@pytest.mark.parametrize("memory", [[], ["--memory", "64M"]], ids=["unlimited", "limited"])
@pytest.mark.parametrize("values, weights, says", [("denormal", "denormal", TOO_SMALL), ("ordinary", "denormal", TOO_SMALL), ("denormal", "mixed", NO_DIRECTION),
                                                   ("denormal", "ordinary", NO_DIRECTION), ("ordinary", "mixed", None), ("ordinary", "ordinary", None)])
@pytest.mark.parametrize("task", ["classify", "regress"])
def test_denormal_data_and_weights_end_with_a_message(kfe, memory, values, weights, says, task):
    """kblf with three landmarks once ran out of memory without a word."""
    lines = []
    for i in range(9):
        x = (DENORMAL[(5 * i + 1) % 6], DENORMAL[7 * i % 6]) if values == "denormal" else (str(i), str(i * i % 5))
        weight = {"denormal": DENORMAL[i % 2], "mixed": [DENORMAL[0], "1", DENORMAL[5]][i // 3], "ordinary": str(1 + i % 2)}[weights]
        lines.append(",".join([*x, weight, "pqr"[i * 2 % 3] if task == "classify" else f"{i * i % 7}.5"]))
    kfe.write("tiny.csv", "a,b,w,y\n" + "\n".join(lines) + "\n")
    fit = ["fit", "-q", "-m", "kblf", "-k", "rbf:gamma=1", "--landmarks", "3", "--weight", "w", "--task", task, *memory, "tiny.csv", "-o", "m.kfe"]
    if says:
        kfe.refused(*fit, says=says)
    else:
        kfe.ok(*fit)
        kfe.ok("transform", "-q", "m.kfe", "tiny.csv")
