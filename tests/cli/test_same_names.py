# SPDX-License-Identifier: Apache-2.0
"""Two columns of one name, and the column that names the rows: how new data is matched to a model."""
import numpy as np
import pytest


def table(header, swap=False, rows=60, seed=1):
    random = np.random.default_rng(seed)
    code = np.arange(rows) % 2
    x = np.column_stack([random.normal(size=rows) + 40 * code, random.normal(size=rows), random.normal(size=rows)])
    x = x[:, [1, 0, 2]] if swap else x
    lines = [header] if header else []
    return "\n".join(lines + [",".join(f"{v:.5g}" for v in row) + f",{'ab'[c]}" for row, c in zip(x, code)]) + "\n"


COMMANDS = [("predict", "m.kfe", "new.csv"), ("transform", "m.kfe", "new.csv"), ("evaluate", "m.kfe", "new.csv"),
            ("explain", "m.kfe", "new.csv"), ("report", "m.kfe", "--test", "new.csv", "-o", "r.html"),
            ("predict", "m.kfe", "-")]


def fit(kfe, header="x,x,z,y"):
    kfe.write("d.csv", table(header))
    return kfe.ok("fit", "-m", "kfd", "--learner", "knn", "d.csv", "-o", "m.kfe")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_twins_are_told_at_the_fit_and_refused_later(kfe, command):
    err = fit(kfe).err
    assert "columns 1 and 2 are both called 'x'" in err and "--drop" in err
    for header, swap in (("x,x,z,y", True), ("x,x,z,y", False), ("x,x.1,z,y", False)):
        text = table(header, swap)
        kfe.write("new.csv", text)
        kfe.refused(*command, says="'x" if "x.1" in header else "'x', ", stdin=text.encode() if "-" in command[-1] else None)


def test_without_names_the_place_decides(kfe):
    fit(kfe)
    kfe.write("new.csv", table(None))
    kfe.run("predict", "-q", "m.kfe", "d.csv", status=2)
    assert "accuracy            1\n" in kfe.ok("evaluate", "m.kfe", "new.csv").out


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_twins_in_new_data_only(kfe, command):
    assert "both called" not in fit(kfe, "x,w,z,y").err
    text = table("x,w,z,y").replace("x,w,z,y", "x,w,z,x,y").replace(",a\n", ",0,a\n").replace(",b\n", ",0,b\n")
    kfe.write("new.csv", text)
    kfe.refused(*command, says="two columns are called 'x'", stdin=text.encode() if command[-1] == "-" else None)
    other = text.replace("x,w,z,x,y", "x,w,q,q,y").replace("q,q", "z,q")
    kfe.write("new.csv", other)
    kfe.ok(*command, stdin=other.encode() if command[-1] == "-" else None)


def test_twins_that_the_model_does_not_use(kfe):
    kfe.write("d.csv", table("x,x,z,y"))
    assert "both called" not in kfe.ok("fit", "-m", "kfd", "--learner", "knn", "--drop", "1,2", "d.csv", "-o", "m.kfe").err
    kfe.ok("evaluate", "m.kfe", "d.csv")


@pytest.mark.parametrize("flags", [["--drop", "2"], ["--select", "1,3"], ["--id", "2"]], ids=" ".join)
def test_the_twin_that_is_left_out_again_is_not_meant(kfe, flags):
    """The fit advises to leave one out; the same flag then tells the two apart in new data."""
    kfe.write("d.csv", table("x,x,z,y"))
    kfe.write("only.csv", "".join(line.split(",", 2)[0] + "," + line.split(",", 2)[2] for line in table("x,x,z,y").splitlines(True)))
    assert "both called" not in kfe.ok("fit", "-m", "kfd", "--learner", "knn", *flags, "d.csv", "-o", "m.kfe").err
    for command in ("predict", "transform", "evaluate"):
        expected = kfe.ok(command, "-q", "m.kfe", "only.csv").out
        found = kfe.ok(command, "-q", *flags, "m.kfe", "d.csv").out
        assert found == expected or "--id" in flags and command != "evaluate", command
    if "--id" not in flags: # the model knows which column names the rows
        kfe.refused("predict", "m.kfe", "d.csv", says="two columns are called 'x'")
        kfe.refused("predict", "--drop", "z", "m.kfe", "d.csv", says="two columns are called 'x'")


def test_twins_of_a_stream(kfe):
    kfe.write("a.csv", table("x,x,z,y"))
    kfe.write("b.csv", table("x,x,z,y", swap=True))
    err = kfe.ok("fit", "--stream", "-m", "pca", "--learner", "centroid", "a.csv", "-o", "m.kfe").err
    assert "columns 1 and 2 are both called 'x'" in err
    for command in ("predict", "transform", "evaluate"):
        kfe.refused(command, "m.kfe", "b.csv", says="two columns are called 'x'")
    kfe.write("b.csv", table("x,z,x,y"))
    kfe.refused("fit", "-q", "--stream", "-m", "pca", "--learner", "centroid", "a.csv", "b.csv", "-o", "s.kfe", says="b.csv: column 2 is 'z'")


def test_twins_in_one_of_several_files(kfe):
    lines = table("x,x,z,y").splitlines()
    kfe.write("left.csv", "".join(",".join(line.split(",")[:2]) + "\n" for line in lines))
    kfe.write("right.csv", "".join(",".join(line.split(",")[2:]) + "\n" for line in lines))
    err = kfe.ok("fit", "-m", "kfd", "--learner", "knn", "left.csv", "right.csv", "-o", "m.kfe").err
    assert "left.csv: columns 1 and 2 are both called 'x'" in err
    for command in ("predict", "transform", "evaluate"):
        kfe.refused(command, "m.kfe", "left.csv", "right.csv", says="two columns are called 'x'")


def test_one_name_in_two_files_is_clear(kfe):
    lines = table("x,w,x,y").splitlines()
    kfe.write("left.csv", "".join(",".join(line.split(",")[:2]) + "\n" for line in lines))
    kfe.write("right.csv", "".join(",".join(line.split(",")[2:]) + "\n" for line in lines))
    assert "both called" not in kfe.ok("fit", "-m", "kfd", "--learner", "knn", "left.csv", "right.csv", "-o", "m.kfe").err
    kfe.ok("evaluate", "m.kfe", "left.csv", "right.csv")


@pytest.mark.parametrize("views", [("a=1,2", "b=3"), ("a=1", "b=2,3")], ids=" ".join)
def test_twins_of_a_divided_table(kfe, views):
    """They are told also if they belong to different views: both are columns of the one table."""
    kfe.write("d.csv", table("x,x,z,y"))
    err = kfe.ok("fit", "-m", "kfd", "--learner", "knn", *(word for view in views for word in ("--view", view)), "d.csv", "-o", "m.kfe").err
    assert err.count("columns 1 and 2 are both called 'x'") == 1
    kfe.refused("predict", "m.kfe", "d.csv", says="two columns are called 'x'")


@pytest.mark.parametrize("kind", ["model", "matrix"])
def test_twins_of_a_learned_distance(kfe, kind):
    """Columns of a distance are matched by name, which two of one name do not allow, in the distance or in the data."""
    def learned(header, name):
        if kind == "matrix":
            return kfe.write(name + ".csv", header + "\n1,0,0\n0,2,0\n0,0,3\n")
        kfe.write("t.csv", table(header + ",y"))
        kfe.ok("fit", "-q", "-m", "rfm", "-k", "rbf", "--scale", "none", "t.csv", "-o", name + ".kfe")
        return name + ".kfe"

    twins, single = learned("x,x,z", "twins"), learned("x,w,z", "single")
    kfe.write("twins.data.csv", table("x,x,z,y"))
    kfe.write("single.data.csv", table("x,w,z,y"))
    kfe.write("plain.csv", table(None))
    fit = ["fit", "-q", "-m", "kfd", "-k", "rbf", "-o", "m.kfe", "--distance"]
    before = kfe.files()
    for distance in (twins, single):
        done = kfe.run(*fit, distance, "twins.data.csv", status=2)
        assert "twins.data.csv: columns 1 and 2 are both called 'x', so --distance cannot match" in done.err and kfe.files() == before
    kfe.refused(*fit, twins, "single.data.csv", says=[f"{twins}: columns 1 and 2 are both called 'x'", "without names"])
    for distance, data in ((single, "single.data.csv"), (single, "plain.csv"), (twins, "plain.csv")):
        kfe.ok(*fit, distance, data)


# ---- the column that names the rows ----


def named_rows(kfe):
    lines = table("p,q,r,y").splitlines()
    kfe.write("d.csv", "\n".join(["patient," + lines[0], *(f"P{i},{line}" for i, line in enumerate(lines[1:]))]) + "\n")
    kfe.ok("fit", "-q", "-m", "kfd", "--learner", "knn", "--id", "patient", "d.csv", "-o", "m.kfe")


@pytest.mark.parametrize("command", ["predict", "transform"])
def test_predictions_keep_the_names_of_rows(kfe, command):
    named_rows(kfe)
    done = kfe.ok(command, "m.kfe", "d.csv")
    assert done.out.startswith("patient,") and "P0," in done.out and "does not know" not in done.err
    assert done.out == kfe.ok(command, "-q", "m.kfe", "d.csv", "--id", "patient").out
    assert kfe.ok(command, "-q", "m.kfe", "-", stdin=kfe.path("d.csv").read_bytes()).out == done.out


def test_names_of_rows_are_no_feature_anywhere(kfe):
    named_rows(kfe)
    for command in (("evaluate", "m.kfe", "d.csv"), ("explain", "m.kfe", "d.csv"), ("report", "m.kfe", "--test", "d.csv", "-o", "r.html")):
        done = kfe.ok(*command)
        assert "patient" not in done.out + done.err
    kfe.write("new.csv", "".join(line.split(",", 1)[1] for line in kfe.path("d.csv").read_text().splitlines(True)))
    assert kfe.ok("predict", "-q", "m.kfe", "new.csv").out.startswith("label\n")


@pytest.mark.parametrize("flags", [("--drop", "patient"), ("--select", "p,q,r"), ("--groups", "patient"), ("--weight", "w")], ids=" ".join)
def test_other_columns_that_are_no_features(kfe, flags):
    named_rows(kfe)
    kfe.write("d.csv", kfe.path("d.csv").read_text().replace("\nP", "\n").replace(",a\n", ",1,a\n").replace(",b\n", ",1,b\n")
              .replace("r,y", "r,w,y"))
    kfe.ok("fit", "-q", "-m", "kfd", "--learner", "knn", *flags, "d.csv", "-o", "m.kfe")
    done = kfe.ok("predict", "m.kfe", "d.csv")
    assert f"ignored: '{'w' if 'w' in flags else 'patient'}'" in done.err
    assert kfe.ok("evaluate", "-q", "m.kfe", "d.csv").out.startswith("accuracy            1")
