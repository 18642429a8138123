# SPDX-License-Identifier: Apache-2.0
"""Every command does its job."""
import gzip
import json
import pathlib

import numpy as np
import pytest

from conftest import SMALL


def test_the_road_from_file_to_features(kfe):
    kfe.ok("generate", "slabs", "-o", "train.csv", "--seed", "1")
    kfe.ok("generate", "slabs", "-o", "test.csv", "--seed", "2")
    summary = kfe.ok("fit", "-m", "koc", "-k", "rbf:gamma=0.2", "train.csv", "-o", "m.kfe").err
    for word in ("train.csv", "600 examples", "3 classes", "koc", "rbf:gamma=0.2", "features", "m.kfe"):
        assert word in summary
    kfe.ok("transform", "m.kfe", "test.csv", "-o", "z.npy")
    z = np.load(kfe.path("z.npy"))
    assert z.shape[0] == 600 and np.isfinite(z).all()
    assert "koc" in kfe.ok("info", "m.kfe").out
    described = json.loads(kfe.ok("info", "m.kfe", "--json").out)
    assert described["method"] == "koc"
    assert kfe.files() == ["m.kfe", "test.csv", "train.csv", "z.npy"]


def test_quiet_says_nothing_and_json_goes_to_standard_output(kfe):
    kfe.write("small.csv", SMALL)
    assert kfe.ok("fit", "-q", "-m", "koc", "small.csv", "-o", "m.kfe").err == ""
    done = kfe.ok("fit", "--json", "-m", "koc", "small.csv", "-o", "m.kfe")
    assert json.loads(done.out)["method"] == "koc"


def test_flags_can_be_written_in_every_usual_way(kfe):
    kfe.write("small.csv", SMALL)
    forms = [["-m", "kpca", "--dim", "2"], ["-mkpca", "--dim=2"], ["--method=kpca", "--dim", "2"],
             ["--dim", "2", "--method", "kpca"]]
    features = []
    for form in forms:
        kfe.ok("fit", *form, "-q", "-k", "rbf", "-o", "m.kfe", "--", "small.csv")
        features.append(kfe.ok("transform", "m.kfe", "small.csv").out)
    assert len(set(features)) == 1
    assert features[0].splitlines()[-1].count(",") == 1


def test_output_formats_agree(kfe):
    model = kfe.model()
    text = kfe.ok("transform", model, "small.csv").out
    kfe.ok("transform", model, "small.csv", "-o", "z.csv")
    assert kfe.path("z.csv").read_text() == text
    rows = [line.split(",") for line in text.splitlines()]
    if not rows[0][0].lstrip("-")[:1].isdigit():
        rows = rows[1:]
    expected = np.array(rows, float)
    kfe.ok("transform", model, "small.csv", "-o", "z.npy")
    np.testing.assert_array_equal(np.load(kfe.path("z.npy")), expected)
    kfe.ok("transform", model, "small.csv", "-o", "z.tsv.gz")
    assert gzip.decompress(kfe.path("z.tsv.gz").read_bytes()).decode().replace("\t", ",") == text
    kfe.ok("transform", model, "small.csv", "-o", "z.npz")
    assert any(np.array_equal(a, expected) for a in np.load(kfe.path("z.npz")).values())


def test_standard_input_and_output(kfe):
    kfe.model("file.kfe")
    done = kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.5", "-", "-o", "-", stdin=SMALL.encode())
    kfe.write("pipe.kfe", done.stdout)
    assert kfe.ok("transform", "pipe.kfe", "-", stdin=SMALL.encode()).out == \
        kfe.ok("transform", "file.kfe", "small.csv").out


def test_standard_output_is_appended_to(kfe):
    model = kfe.model()
    expected = kfe.ok("transform", model, "small.csv").out
    with open(kfe.path("log"), "w+b") as log:
        log.write(b"before\n")
        log.flush()
        import subprocess
        from conftest import KFE
        subprocess.run([KFE, "transform", model, "small.csv"], cwd=kfe.folder, stdout=log, check=True)
    assert kfe.path("log").read_text() == "before\n" + expected


def test_labels_may_be_missing_or_elsewhere_at_transform_time(kfe):
    model = kfe.model()
    with_labels = kfe.ok("transform", model, "small.csv").out
    bare = "".join(line.rsplit(",", 1)[0] + "\n" for line in SMALL.splitlines())
    kfe.write("bare.csv", bare)
    assert kfe.ok("transform", model, "bare.csv").out == with_labels
    kfe.write("labels.txt", "".join(line.rsplit(",", 1)[1] + "\n" for line in SMALL.splitlines()[1:]))
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.5", "--label", "none", "--label-file", "labels.txt",
           "bare.csv", "-o", "other.kfe")
    assert kfe.ok("transform", "other.kfe", "bare.csv").out == with_labels


def test_a_target_that_an_unsupervised_method_does_not_use_is_named(kfe):
    """The last column of a table is the label unless --label says otherwise; a fit of kpca mentions it."""
    kfe.write("numbers.csv", "1.5,2,3\n3,4,4\n5,7.5,1\n2,2,8\n")
    told = "column 3, the last, was taken as the target, which kpca does not use; --label none makes it data"
    assert told in kfe.ok("fit", "-m", "kpca", "numbers.csv", "-o", "m.kfe").err
    for arguments in (["-m", "kpca", "--label", "none"], ["-m", "kpca", "--label", "last"], ["-m", "kpls"],
                      ["-m", "kpca", "--learner", "ls"]):
        assert "was taken as the target" not in kfe.ok("fit", *arguments, "numbers.csv", "-o", "m.kfe").err
    kfe.write("rows.svm", "1 1:2 2:3\n2 1:3 2:1\n1 1:4\n")
    assert "was taken as the target" not in kfe.ok("fit", "-m", "kpca", "rows.svm", "-o", "m.kfe").err


def test_the_summary_of_a_fit_names_the_kernel(kfe):
    """gamma=scale is 1 / (sum of the variances of the columns)."""
    kfe.write("numbers.csv", "0,1\n2,5\n")
    told = kfe.ok("fit", "-m", "kpca", "-k", "rbf:gamma=scale", "--label", "none", "numbers.csv", "-o", "m.kfe").err
    gamma = float(told.split("kpca with rbf:gamma=")[1].split(":")[0])
    assert gamma == pytest.approx(1 / (1 + 4))
    assert "kpca with rbf:gamma=" in kfe.ok("fit", "-m", "kpca", "--label", "none", "numbers.csv", "-o", "m.kfe").err
    told = kfe.ok("fit", "-m", "kpca", *["-k", "rbf:gamma=0.5"] * 6, "--label", "none", "numbers.csv", "-o", "m.kfe").err
    assert "with " + " + ".join(["rbf:gamma=0.5"] * 4) + " + 2 more kernels: " in told
    assert " with " not in kfe.ok("fit", "-m", "pca", "--label", "none", "numbers.csv", "-o", "m.kfe").err


def test_every_sparse_view_is_called_sparse(kfe):
    kfe.write("dense.csv", "1,2\n2,1\n3,5\n4,4\n")
    kfe.write("sparse.svm", "1 1:2 2:3\n2 1:3 2:1\n1 1:4\n2 2:1\n")
    told = kfe.ok("fit", "-m", "koc", "dense.csv", "sparse.svm", "-o", "m.kfe").err
    assert "4 examples, 2 + 2 (sparse) columns, 2 classes" in told
    told = kfe.ok("fit", "-m", "koc", "sparse.svm", "-o", "m.kfe").err
    assert "4 examples, 2 columns (sparse), 2 classes" in told


def test_several_views(kfe):
    kfe.write("first.csv", "1,2\n2,1\n3,5\n4,4\n5,1\n6,0\n")
    kfe.write("second.csv", "0.5,a\n0.1,b\n0.3,a\n0.2,b\n0.9,a\n0.4,b\n")
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=1", "first.csv", "second.csv", "-o", "m.kfe")
    by_name = ["--view", "numbers=first.csv", "--view=rest=second.csv"]
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=1", *by_name, "-o", "n.kfe")
    first = kfe.ok("transform", "m.kfe", "first.csv", "second.csv").out
    assert kfe.ok("transform", "n.kfe", *by_name).out == first
    assert len(first.splitlines()) >= 6


def test_strings(kfe):
    rows = ["abcabcabc,x", "abcabbabc,x", "xyzxyzxyz,y", "xyzzyzxyz,y", "abcabcab,x", "xyzxyz,y"]
    kfe.write("words.csv", "\n".join(rows) + "\n")
    kfe.ok("fit", "-q", "-m", "koc", "-k", "spectrum:length=2", "words.csv", "-o", "m.kfe")
    text = kfe.ok("transform", "m.kfe", "words.csv").out.splitlines()
    assert len(text) in (6, 7)


def test_ready_kernel(kfe):
    kfe.write("gram.csv", "2,1,0,0,a\n1,2,0,0,a\n0,0,2,1,b\n0,0,1,2,b\n")
    kfe.ok("fit", "-q", "-m", "koc", "-k", "precomputed", "gram.csv", "-o", "m.kfe")
    kfe.ok("transform", "m.kfe", "gram.csv", "-o", "z.npy")
    assert np.load(kfe.path("z.npy")).shape[0] == 4


def test_several_kernels_are_summed(kfe):
    kfe.write("small.csv", SMALL)
    kfe.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=1", "-k", "linear:weight=0.5", "small.csv", "-o", "m.kfe")
    text = json.dumps(json.loads(kfe.ok("info", "--json", "m.kfe").out))
    assert "rbf" in text and "linear" in text


@pytest.mark.parametrize("extension", ["csv", "tsv", "svm", "npy", "npz", "csv.gz", "svm.gz"])
def test_convert_there_and_back(kfe, extension):
    kfe.ok("generate", "waveform", "--n", 30, "-o", "a.csv")
    kfe.ok("convert", "a.csv", f"b.{extension}")
    kfe.ok("convert", f"b.{extension}", "c.csv")
    table = lambda name: np.array([line.split(",")[:21] for line in kfe.path(name).read_text().splitlines()
                                   if line[0] in "-0123456789"], float)
    np.testing.assert_array_equal(table("c.csv"), table("a.csv"))


def test_measure(kfe):
    kfe.write("small.csv", SMALL)
    text = kfe.ok("measure", "small.csv", "-k", "linear", "-k", "rbf:gamma=median").out
    assert "linear" in text and "rbf" in text and "lignment" in text
    json.loads(kfe.ok("measure", "small.csv", "-k", "linear", "--json").out)


def test_generate_is_the_same_for_a_seed_and_another_for_another(kfe):
    same = [kfe.ok("generate", "banana", "--seed", seed).out for seed in (3, 3, 4)]
    assert same[0] == same[1] != same[2]


def names(kfe, command):
    return [entry["name"] for entry in json.loads(kfe.ok(*command, "--json").out)]


def test_every_generator_makes_data_that_fits(kfe):
    for name in names(kfe, ["generate", "--list"]):
        kfe.ok("generate", name, "-o", "data.csv")
        kfe.ok("fit", "-q", "-m", "pca", "data.csv", "-o", "m.kfe")


def test_every_entry_shows_itself_and_its_parameters(kfe):
    for command in (["methods"], ["learners"], ["steps"], ["kernels"]):
        for listed in json.loads(kfe.ok(*command, "--json").out):
            name = listed["name"]
            entry = json.loads(kfe.ok(*command, name, "--json").out)
            assert entry == listed
            text = kfe.ok(*command, name).out
            assert entry["summary"] in " ".join(text.split())
            for param in entry["parameters"]:
                assert f"  {param['name']}" in text and param["help"].split()[0] in text


def test_help_lists_every_parameter(kfe):
    for method in names(kfe, ["methods"]):
        text = kfe.ok("fit", "-m", method, "--help").out
        for param in json.loads(kfe.ok("methods", method, "--json").out)["parameters"]:
            assert f"--{param['name']}" in text
    for entry in json.loads(kfe.ok("generate", "--list", "--json").out):
        text = kfe.ok("generate", entry["name"], "--help").out
        for param in entry["parameters"]:
            assert f"--{param['name']}" in text
    for flag in ("label", "label-file", "delimiter", "header", "format", "task", "missing", "scale", "gram"):
        assert f"--{flag}" in kfe.ok("fit", "--help").out


def test_help_of_every_command(kfe):
    overview = kfe.ok("help").out
    assert kfe.ok("--help").out == overview == kfe.run(status=2).err
    for command in ("fit transform predict evaluate explain cv compare info measure reproduce convert generate methods "
                    "learners steps kernels help").split():
        assert f"  {command} " in overview
        text = kfe.ok(command, "--help").out
        assert text.startswith(f"Usage: kfe {command}") and text == kfe.ok("help", command).out
        for flag in ("--threads", "--seed", "--memory", "--quiet", "--verbose", "--help", "--version"):
            assert flag in text
        assert f".TH \"KFE-{command.upper()}\"" in kfe.ok("help", "--man", command).out
    assert kfe.ok("--version").out == kfe.ok("fit", "--version").out
    assert "complete " in kfe.ok("help", "--completion", "bash").out


def test_threads_and_memory_are_accepted_in_their_forms(kfe):
    kfe.write("small.csv", SMALL)
    for size in ("500M", "1.5GB", "8GiB", "123456789", "64k", "2TB", "1000000B"):
        kfe.ok("fit", "-q", "-m", "pca", "--threads", 1, "--memory", size, "small.csv", "-o", "m.kfe")


def test_same_seed_same_bytes(kfe):
    kfe.ok("generate", "rings", "-o", "rings.csv")
    for name in ("a.kfe", "b.kfe"):
        kfe.ok("fit", "-q", "-m", "koc", "--seed", 5, "--threads", 2, "rings.csv", "-o", name)
    assert kfe.path("a.kfe").read_bytes() == kfe.path("b.kfe").read_bytes()


def test_models_by_solvers_that_are_gone_load(kfe):
    """A model of kfe 0.1 by LIBSVM, and the rows that it was fitted on (tests/fuzz/make_seeds.sh)."""
    model = pathlib.Path(__file__).parents[1] / "fuzz" / "corpus" / "use" / "kpca-svm.kfe"
    kfe.write("three.csv", "1,0\n0,1\n2,2\n1,0.5\n0.5,1\n3,2\n")
    assert "svm-solver=libsvm" in kfe.ok("info", model).out
    assert kfe.ok("predict", "-q", model, "three.csv", "--label", "none").out.split()[1:] == list("abcabc")
    kfe.refused("fit", "-m", "pca", "--learner", "svm", "--svm-solver", "libsvm", "three.csv", "-o", "m.kfe",
                says="svm-solver no longer takes libsvm; leave it out: smo finds the same solution")


def test_names_of_features(kfe):
    """One name for a feature in every host: what the field says, or else the method; columns that are passed on keep theirs."""
    rows = [[i % 3 - i / 9, i * i % 7, (i * 5) % 4 + i / 8] for i in range(24)]
    kfe.write("t.csv", "a,b,c,y\n" + "".join(f"{a},{b},{c},{'uv'[i % 2]}\n" for i, (a, b, c) in enumerate(rows)))
    for wanted, flags in {
        "LV1,LV2": ("-m", "pls", "--dim", "2"), "PC1,PC2,PC3": ("-m", "kpca", "--dim", "3"), "LD1": ("-m", "kfd"),
        "predictive1,orthogonal1,orthogonal2": ("-m", "opls", "--orthogonal", "2"), "hsic1": ("-m", "hsic", "--dim", "1"),
        "sma1,sma2": ("-m", "sma", "--dim", "2"), "a,b,c": ("-m", "none", "--learner", "knn"),
    }.items():
        kfe.ok("fit", "-q", *flags, "t.csv", "--label", "y", "-o", "m.kfe")
        assert kfe.ok("transform", "-q", "m.kfe", "t.csv").out.splitlines()[0] == wanted, flags
