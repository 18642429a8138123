# SPDX-License-Identifier: Apache-2.0
"""Checks an installed wheel on a machine that has Python and nothing else. Uses no test framework, since there is none.

usage: python check_alone.py
"""
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import kfe

PACKAGE = pathlib.Path(kfe.__file__).parent
SITE = PACKAGE.parent
PROGRAM = PACKAGE / "bin" / "kfe"
COMMAND = pathlib.Path(sys.executable).parent / "kfe"
# What every Linux with Python has: the C library, the run-time libraries of gcc, zlib.
SYSTEM = re.compile(r"(linux-vdso|ld-linux[\w-]*|libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|libz)\.so\b")
OURS = re.compile(r"lib(kfe|openblasp?|blas|lapacke?|gomp|gfortran|quadmath|svm|linear|sleef|jansson)\b")


def run(*command, status=0):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("KFE", "LD_", "PYTHON"))}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=clean, timeout=300)
    assert done.returncode == status, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def check_libraries_of_files():
    """The loader finds everything inside the wheel, but for what every system has."""
    for file in (PACKAGE / "libkfe.so", PROGRAM, *sorted((SITE / "kfe.libs").iterdir())):
        for line in run("ldd", file).splitlines():
            name, _, path = (part.strip() for part in line.partition("=>"))
            assert "not found" not in path, (file, line)
            assert SYSTEM.match(pathlib.Path(name.split()[0]).name) or path.startswith(str(SITE)), (file, line)


def check_libraries_of_this_process():
    x, y = kfe.generate("iris")
    assert kfe.KOCClassifier(kernel="rbf:gamma=0.2", learner="svm").fit(x, y).score(x, y) > 0.9
    mapped = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if ".so" in line}
    ours = [path for path in mapped if OURS.match(pathlib.Path(path).name)]
    assert sum("libkfe.so" in path for path in ours) == 1 and any("libopenblas" in path for path in ours), ours
    assert all(path.startswith(str(SITE)) for path in ours), ours


def check_command(folder):
    train, model, page = folder / "train.csv", folder / "model.kfe", folder / "page.html"
    assert kfe.__version__ in run(COMMAND, "--version") and kfe.__version__ in run(sys.executable, "-m", "kfe", "--version")
    run(COMMAND, "generate", "slabs", "-o", train, "--seed", 1)
    run(COMMAND, "fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.2", "--learner", "svm", train, "-o", model)
    assert "accuracy" in run(COMMAND, "evaluate", model, train)
    assert kfe.load(model).predict(kfe.generate("slabs", random_state=1)[0]).shape
    run(COMMAND, "report", model, "--train", train, "-o", page)
    return page.read_text()


def check_charts(page):
    """Reports are interactive: the file of charts was found beside the library."""
    charts = (PACKAGE / "kfe-charts.js.gz").is_file()
    assert charts == (len(page) > 600_000), len(page)
    print("charts of reports:", "inside" if charts else "left out")


def check_licences():
    """Every bundled library stands in the list with a licence and a hash, and there is a text for each."""
    files = {str(file): file for file in importlib.metadata.files("kfe")}
    (name,) = (name for name in files if name.endswith("sboms/kfe.cdx.json"))
    components = json.loads(files[name].read_text())["components"]
    told = {entry["properties"][0]["value"] for entry in components}
    for library in (SITE / "kfe.libs").iterdir():
        assert f"kfe.libs/{library.name}" in told, library
    texts = "".join(name for name in files if "/licenses/bundled/" in name)
    for entry in components:
        assert entry["licenses"][0]["expression"] and entry["version"]
        if entry["purl"].startswith("pkg:deb/"):
            assert f"{entry['name']}-copyright.txt" in texts, entry["name"]


def main():
    check_libraries_of_files()
    check_libraries_of_this_process()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_charts(check_command(folder))
    check_licences()
    print(f"kfe {kfe.__version__} needs nothing outside {SITE}")


if __name__ == "__main__":
    main()
