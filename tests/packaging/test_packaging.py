# SPDX-License-Identifier: Apache-2.0
"""The tools that make releases refuse what must not be released, and the recipes are complete."""
import ast
import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTICES = ROOT / "tools" / "wheel-notices"
ZLIB = "/usr/lib/x86_64-linux-gnu/libz.so.1"


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, **options)


# ---- licences ----

def make_wheel(folder, library, source=ZLIB):
    """A wheel with one bundled library, the log of auditwheel that tells where it came from, and a build folder."""
    wheel, log = folder / "kfe-1.2.3-py3-none-any.whl", folder / "log"
    with zipfile.ZipFile(wheel, "w") as archive:
        program = zipfile.ZipInfo("kfe/bin/kfe", (2026, 1, 1, 0, 0, 0))
        program.external_attr = 0o100755 << 16
        archive.writestr(program, "program")
        for name in (f"kfe.libs/{library}", "kfe-1.2.3.dist-info/WHEEL", "kfe-1.2.3.dist-info/RECORD"):
            archive.writestr(name, "content of " + name)
        archive.writestr("kfe/kfe-charts.LICENSES.txt", "==== @plotly/d3 3.8.2: BSD-3-Clause ====\n\ntext\n")
    log.write_text(f"DEBUG:auditwheel.repair:Grafting: {source} -> kfe.libs/{library}\n")
    (folder / "CMakeCache.txt").write_text("LAPACKE_LIBRARY:FILEPATH=/usr/lib/liblapacke.so\n")
    return wheel, log


def notices(folder, library, source=ZLIB):
    wheel, log = make_wheel(folder, library, source)
    return wheel, run(sys.executable, NOTICES, wheel, log, folder)


@pytest.mark.parametrize("library, reason", [("libnew-0a1b.so.1", "not in the table of licences")])
@pytest.mark.skipif(not os.path.exists(ZLIB), reason="no Debian on x86-64")
def test_libraries_that_stop_a_wheel(library, reason, tmp_path):
    wheel, done = notices(tmp_path, library)
    assert done.returncode == 1 and library in done.stderr and reason in done.stderr, done.stderr
    assert not any("licenses" in name for name in zipfile.ZipFile(wheel).namelist())


def test_a_library_of_no_package_stops_a_wheel(tmp_path):
    (tmp_path / "libz.so.1").write_text("built by hand")
    _, done = notices(tmp_path, "libz-0a1b.so.1", tmp_path / "libz.so.1")
    assert done.returncode == 1 and "belongs to no package" in done.stderr


@pytest.mark.skipif(not os.path.exists(ZLIB), reason="no Debian on x86-64")
def test_notices(tmp_path):
    wheel, done = notices(tmp_path, "libz-0a1b.so.1")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
        assert archive.getinfo("kfe/bin/kfe").external_attr >> 16 == 0o100755
    info = "kfe-1.2.3.dist-info/"
    assert contents[info + "licenses/bundled/zlib1g-copyright.txt"] == pathlib.Path("/usr/share/doc/zlib1g/copyright").read_bytes()
    assert b"Zlib; zlib1g" in contents[info + "licenses/bundled/README.txt"]
    document = json.loads(contents[info + "sboms/kfe.cdx.json"])
    library, script = document["components"]
    assert library["hashes"][0]["content"] == hashlib.sha256(contents["kfe.libs/libz-0a1b.so.1"]).hexdigest()
    assert script["purl"] == "pkg:npm/%40plotly/d3@3.8.2" and script["licenses"] == [{"expression": "BSD-3-Clause"}]
    rows = {row[0]: row[1] for row in csv.reader(io.StringIO(contents[info + "RECORD"].decode()))}
    assert set(rows) == set(contents) and rows.pop(info + "RECORD") == ""
    for name, digest in rows.items():
        expected = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).rstrip(b"=").decode()
        assert digest == "sha256=" + expected, name


# ---- versions ----

@pytest.fixture
def copy(tmp_path):
    """A repository with the files that name the version, released today."""
    for name in ("include/kfe.h", "CHANGELOG.md", "debian/changelog", "debian/control", "pyproject.toml", "R/kfe/DESCRIPTION", "conda/recipe.yaml",
                 "tools/release.sh", "tools/check-versions", "tests/header/abi.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("debian/changelog", "debian/control", "R/kfe/DESCRIPTION"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(re.sub(r"[\w.+-]+@[\w.-]+", "kfe@lists.real.org", text))
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(re.sub("unreleased", "1 January 2026", changes.read_text()))
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(folder, *arguments):
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    assert run("git", *identity, *arguments, cwd=folder).returncode == 0, arguments


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")


def release(folder):
    return run(folder / "tools" / "release.sh", "--check")


def test_versions_agree():
    done = run(ROOT / "tools" / "check-versions")
    assert done.returncode == 0, done.stderr


def test_a_release_can_be_made(copy):
    done = release(copy)
    assert done.returncode == 0 and "can be released" in done.stdout, done.stderr


def test_uncommitted_changes_are_refused(copy):
    (copy / "new").touch()
    done = release(copy)
    assert done.returncode == 1 and "uncommitted changes" in done.stderr
    assert run(copy / "tools" / "release.sh", "--try", "--check").returncode == 0


@pytest.mark.parametrize("file, old, new", [("include/kfe.h", '#define KFE_VERSION "', '#define KFE_VERSION "9'), ("debian/changelog", "kfe (", "kfe (9"),
                                            ("conda/recipe.yaml", '  version: "', '  version: "9'), ("CHANGELOG.md", "## ", "## 9"),
                                            ("CHANGELOG.md", "1 January 2026", "unreleased"), ("tests/header/abi.txt", "kfe ", "kfe 9")])
def test_unsettled_versions_are_refused(copy, file, old, new):
    text = (copy / file).read_text()
    assert old in text
    (copy / file).write_text(text.replace(old, new, 1))
    commit(copy)
    done = release(copy)
    assert done.returncode == 1 and "not settled" in done.stderr and file in done.stderr, done.stderr


@pytest.mark.parametrize("file", ["debian/control", "debian/changelog", "R/kfe/DESCRIPTION"])
@pytest.mark.parametrize("address", ["kfe@example.org", "kfe@users.noreply.host.example", "a.b+c@mail.example.com"])
def test_addresses_that_nobody_reads_are_refused(copy, file, address):
    text = (copy / file).read_text()
    assert "kfe@lists.real.org" in text
    (copy / file).write_text(text.replace("kfe@lists.real.org", address))
    commit(copy)
    done = release(copy)
    assert done.returncode == 1 and f"{file}: {address} is a placeholder" in done.stderr, done.stderr
    assert run(copy / "tools" / "check-versions", copy).returncode == 0  # between releases they may stay


def test_a_version_is_released_once(copy):
    version = run(copy / "tools" / "check-versions", copy).stdout.strip()
    git(copy, "tag", "v" + version)
    assert release(copy).returncode == 0
    (copy / "new").touch()
    commit(copy)
    done = release(copy)
    assert done.returncode == 1 and "tag of another commit" in done.stderr


# ---- recipes ----

def test_conda_recipe():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text())
    assert set(recipe) == {"schema_version", "context", "recipe", "source", "build", "outputs", "about"} and recipe["schema_version"] == 1
    for output in recipe["outputs"]:
        assert set(output) == {"package", "build", "requirements", "tests"} and set(output["requirements"]) <= {"build", "host", "run", "run_exports"}
    options = set(re.findall(r"-D(KFE_\w+)=", (ROOT / "conda" / "recipe.yaml").read_text() + (ROOT / "debian" / "rules").read_text()))
    known = "".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake"), *ROOT.glob("backends/*/CMakeLists.txt")])
    for option in options:
        assert re.search(rf"option\({option} |set\({option} .* CACHE ", known), f"{option} is no option of the build"


@pytest.mark.skipif(not shutil.which("dpkg-parsechangelog"), reason="dpkg-dev is not installed")
def test_debian_files():
    version = run(ROOT / "tools" / "check-versions").stdout.strip()
    found = run("dpkg-parsechangelog", "-l", ROOT / "debian" / "changelog", "-S", "Version").stdout
    assert found.startswith(version + "-")
    assert "\nPackage: libkfe0\n" in (ROOT / "debian" / "control").read_text()
    header = (ROOT / "include" / "kfe.h").read_text()
    assert re.search(r"#define KFE_VERSION_MAJOR (\d+)", header).group(1) == "0", "the package libkfe0 is named after the major version"


# ---- what runs where ----

NOT_INSTALLED = ["bc", "file", "gfortran", "jq", "lsb_release", "pgrep", "pkill", "ps", "unzip", "which", "zip", "/usr/bin/time"]


def test_scripts_use_what_is_installed():
    """A bare Debian with the packages of install-deps.sh lacks these. Words of comments and messages are no programs."""
    scripts = [*ROOT.glob("*.sh"), *(path for path in (ROOT / "tools").iterdir() if path.is_file()), *(ROOT / "tests").rglob("*.sh")]
    scripts = [path for path in scripts if path.read_text().startswith(("#!/bin/bash", "#!/bin/sh"))]
    assert len(scripts) > 20
    begin = r"(?:^|[;|&({!]|\bthen|\bdo|\belse|\bif|\b[A-Z_]+=\S*)\s*"
    program = re.compile(begin + "(" + "|".join(NOT_INSTALLED) + r")(?=\s|$)", re.MULTILINE)
    assert program.search("a | which x") and program.search("x=$(ps -e)") and not program.search("# which machine\n    name which zip")
    found = [f"{path.relative_to(ROOT)}: {match[1]}" for path in scripts for match in program.finditer(re.sub(r"#.*", "", path.read_text()))]
    assert not found, found


def test_a_bare_root_can_run_all_stages():
    """Whatever else is asked for, --all reaches ./test.sh, and a stage runs alone."""
    script = (ROOT / "tools" / "try-fresh.sh").read_text()
    step = next(line for line in script.splitlines() if line.startswith("step_test()"))
    shown = run("bash", "-c", f'run_in_clone() {{ echo "$2"; }}; {step}; all=--all; step_test; step_test unit; all=; step_test').stdout
    assert [line.rstrip() for line in shown.splitlines()] == ["./test.sh --all", "./test.sh unit", "./test.sh"]
    assert "tools/try-fresh.sh --all" in (ROOT / "tools" / "release.sh").read_text()


# What tests in Python, C and R may start without asking whether it is there: {program: its package, "" if a bare Debian has it}.
INSTALLED = {**dict.fromkeys(["bash", "sh", "env", "nproc", "rm", "ldd", "mount", "umount"], ""), "/usr/bin/python3": "python3", "cc": "gcc",
             "git": "git", "groff": "groff-base", "nm": "binutils", "localedef": "locales"}
STARTERS = {"run", "Popen", "call", "check_call", "check_output"}


def started_by_python(text):
    """The first words of lists that subprocess gets, and of the arguments of `run` in this file."""
    for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and node.args):
        of_module = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "subprocess" and call.func.attr in STARTERS
        if not of_module and not (isinstance(call.func, ast.Name) and call.func.id == "run" and "def run(*command" in text):
            continue
        first = call.args[0]
        while isinstance(first, ast.BinOp):
            first = first.left
        first = first.elts[0] if isinstance(first, ast.List) and first.elts else first
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value


def started_by_c(text):
    """Commands are a literal, or printed into `command`."""
    return re.findall(r'\b(?:(?:system|popen|execlp|execvp)\(|snprintf\(command, sizeof command, )"([\w./-]+)', text) if "system(" in text else []


def started_by_r(text):
    return re.findall(r'\bsystem2?\(\s*"([\w./-]+)', text)


def test_tests_start_what_is_installed():
    """A program is installed by install-deps.sh, or its test asks for it first."""
    found, wrong = set(), []
    for ending, started, folders in (".py", started_by_python, ["tests", "python"]), (".c", started_by_c, ["tests"]), (".R", started_by_r, ["tests", "R"]):
        for path in (path for folder in folders for path in (ROOT / folder).rglob("*" + ending)):
            text = path.read_text()
            asked = set(re.findall(r"which\(\"([^\"]+)\"\)", text)) | set(re.findall(r'system\("(\w+) [^"]*2>/dev/null"\) != 0', text))
            programs = set(started(text)) - {"kfe"}
            found |= programs
            wrong += [f"{path.relative_to(ROOT)}: {name}" for name in programs - asked if name not in INSTALLED and not name.startswith(("./", "/nowhere"))]
    assert {"git", "localedef", "nproc"} <= found and not wrong, wrong
    installs = set(re.findall(r"[a-z0-9.+-]+", (ROOT / "tools" / "install-deps.sh").read_text()))
    assert not [name for name, package in INSTALLED.items() if package and package not in installs]


@pytest.mark.skipif("KFE_LIBRARY" not in os.environ or not shutil.which("objdump"), reason="needs the library and binutils")
def test_old_systems():
    """Wheels run on every system with glibc 2.34: RHEL 9, Ubuntu 22.04, Debian 12."""
    symbols = run("objdump", "-T", os.environ["KFE_LIBRARY"]).stdout
    needed = {(int(minor), name) for minor, name in re.findall(r"\(GLIBC_2\.(\d+)[\d.]*\)\s+(\w+)", symbols)}
    assert len(needed) > 20
    assert not [entry for entry in needed if entry[0] > 34], "functions that are new in glibc 2.35 or later"


BINARIES = [pathlib.Path(path) for path in os.environ.get("KFE_BINARIES", "").split(";") if path]


@pytest.mark.skipif(not BINARIES or not shutil.which("readelf"), reason="needs the programs and binutils")
def test_binaries_are_hardened_and_load_nothing_from_the_current_folder():
    done = run(ROOT / "tools" / "check-binaries", *[path for path in BINARIES if path.exists()])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", ["debian/rules", "conda/recipe.yaml", "tools/repair-wheel.sh", "tests/install/run.sh", "tests/r/run.sh"])
def test_every_package_is_checked(path):
    """The Debian and conda packages, wheels, what cmake installs, and the R package."""
    assert "check-binaries" in (ROOT / path).read_text()


@pytest.mark.skipif(not shutil.which("patchelf") and not shutil.which("cc"), reason="needs a compiler")
@pytest.mark.parametrize("runpath, fault", [("/usr/lib:", "has the entry ''"), (".", "has the entry '.'"), ("lib:/usr/lib", "has the entry 'lib'"),
                                            ("/usr/lib:$ORIGIN/../lib", ""), ("$ORIGINAL", "has the entry '$ORIGINAL'")])
def test_the_check_of_runpaths(tmp_path, runpath, fault):
    (tmp_path / "a.c").write_text("int kfe_nothing(void) { return 0; }\n")
    library = tmp_path / "a.so"
    assert run("cc", "-shared", "-fPIC", "-o", library, tmp_path / "a.c", f"-Wl,--enable-new-dtags,-rpath,{runpath}").returncode == 0
    done = run(ROOT / "tools" / "check-binaries", "--paths-only", library)
    assert done.returncode == (1 if fault else 0) and fault in done.stderr, done.stderr
    assert run(ROOT / "tools" / "check-binaries", library).returncode == 1  # built without the flags


@pytest.mark.skipif(not shutil.which("objdump"), reason="binutils is not installed")
def test_portable_build(tmp_path):
    """Files with code for AVX compile without it."""
    special = [path for path in (ROOT / "src").rglob("*.c") if re.search("__x86_64__|immintrin|__builtin_cpu_supports", path.read_text())]
    assert len(special) > 4
    flags = ["-std=c11", "-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", "-DKFE_PORTABLE", "-DKFE_NO_SLEEF",
             f"-I{ROOT}/include", f"-I{ROOT}/src", *(f"-I{path}" for path in os.environ.get("OPENBLAS_INCLUDE", "").split(";") if path)]
    for name in special:
        target = tmp_path / "object.o"
        done = run(os.environ.get("CC", "cc"), *flags, "-c", name, "-o", target)
        assert done.returncode == 0, done.stderr
        code = run("objdump", "-d", "--no-show-raw-insn", target).stdout
        assert len(code) > 1000 and not re.search(r"%[yz]mm\d", code), f"{name} uses AVX although KFE_PORTABLE is defined"
        assert "Sleef" not in run("nm", target).stdout


# ---- the R package with the sources inside ----

def compiled_by_cmake():
    """The library's sources of this build, without .c, and those among them that contract multiply-adds."""
    commands = json.loads((pathlib.Path(os.environ["KFE_BUILD"]) / "compile_commands.json").read_text())
    own = [row for row in commands if "/kfe_objects.dir/src/" in row["command"]]
    return ({os.path.relpath(row["file"], ROOT)[:-2] for row in own},
            {os.path.relpath(row["file"], ROOT)[:-2] for row in own if "-ffp-contract=fast" in row["command"]})


@pytest.mark.skipif(not shutil.which("R"), reason="R is not installed")
@pytest.mark.skipif(not os.path.exists(os.path.join(os.environ.get("KFE_BUILD", ""), "compile_commands.json")),
                    reason="needs a build with CMAKE_EXPORT_COMPILE_COMMANDS")
def test_r_compiles_what_cmake_compiles(tmp_path):
    package = tmp_path / "kfe"
    shutil.copytree(ROOT / "R" / "kfe", package)
    shutil.copytree(ROOT / "src", package / "src" / "libkfe" / "src")
    done = run("./configure", cwd=package, env=dict(os.environ, KFE_BUNDLED="yes"))
    assert done.returncode == 0, done.stderr
    made = (package / "src" / "Makevars").read_text()
    objects = re.search(r"^OBJECTS = (.*)$", made, re.M)[1].split()
    files, contracted = compiled_by_cmake()
    assert {name[len("libkfe/"):-2] for name in objects if name.startswith("libkfe/src/")} == files
    assert set(re.findall(r"^libkfe/(.*)\.o: .*-ffp-contract=fast$", made, re.M)) == contracted
