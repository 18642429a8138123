# SPDX-License-Identifier: Apache-2.0
"""kfe.h and kfe_arrow.h are headers that generators of bindings read: alone, as C and as C++, without macros that hide functions. Programs in Rust and Julia use it."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["SOURCE"])
HEADER = SOURCE / "include" / "kfe.h"
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]


@pytest.mark.parametrize("standard", ["c99", "c11", "c17", "c++11", "c++17"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_header_stands_alone(compiler, standard, tmp_path):
    language = "c++" if "+" in standard else "c"
    if language == "c++" and subprocess.run([compiler, "-x", "c++", "-fsyntax-only", "-"], input=b"#include <cstdint>", capture_output=True).returncode:
        pytest.skip(f"{compiler} has no C++ headers")
    done = subprocess.run([compiler, "-x", language, f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-"],
                          input=f'#include "{HEADER}"\n#include "{HEADER.parent / "kfe_arrow.h"}"\n'.encode(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_every_function_is_declared_in_plain_c():
    """What a parser of C sees after the preprocessor are the functions that the header marks, none of them inline or variadic."""
    text = subprocess.run([COMPILERS[0], "-E", "-P", str(HEADER)], capture_output=True, check=True).stdout.decode()
    declared = set(re.findall(r"\b(kfe_\w+)\s*\([^;{]*\)\s*;", text))
    marked = set(re.findall(r"KFE_API[^;]*?\b(kfe_\w+)\s*\(", re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)))
    assert len(marked) > 100 and marked <= declared
    assert "inline" not in text.split("kfe_version")[1] and "..." not in text.split("kfe_version")[1]


# How Julia writes a type of the header; pointers to structs of the library are Ptr{Cvoid}.
JULIA_TYPES = {"int64_t": {"Int64"}, "double *": {"Ptr{Cdouble}"}, "const char *": {"Cstring"}, "kfe_status": {"Cint"}, "void": {"Cvoid"},
               "kfe_matrix *": {"Ref{kfe_matrix}"}}


def julia_types(declared):
    """The types that Julia may give a C type, without the name of the argument."""
    declared = re.sub(r"\s+", " ", declared).strip()
    declared = re.sub(r"\b(?!kfe_status$|void$)\w+$", "", declared).strip() if not declared.endswith("*") else declared
    if declared in JULIA_TYPES:
        return JULIA_TYPES[declared]
    return {"Ptr{Ptr{Cvoid}}"} if declared.endswith("**") else {"Ptr{Cvoid}"} if declared.endswith("*") else set()


def test_julia_calls_what_the_header_declares():
    """Every @ccall of the example has the arguments and the result of the header, and its struct has the same fields."""
    text = subprocess.run([COMPILERS[0], "-E", "-P", str(HEADER)], capture_output=True, check=True).stdout.decode()
    program = (SOURCE / "examples" / "julia" / "features.jl").read_text()
    calls = re.findall(r"@ccall libkfe\.(kfe_\w+)\((.*?)\)::(\w+)", program)
    assert len({name for name, *_ in calls}) >= 10 and len(calls) == program.count("@ccall")
    for name, given, result in calls:
        found = re.search(r"([\w ]+?[ *]+)\b" + name + r"\s*\(([^)]*)\)\s*;", text)
        assert found, name
        kind = re.sub(r"__attribute__.*?\)\)|extern", "", found.group(1)).strip()
        assert result in julia_types(kind if kind.endswith("*") else kind + " x" if kind == "int64_t" else kind), (name, kind, result)
        declared, types = found.group(2).split(","), re.findall(r"::([\w{}]+)", given)
        assert len(declared) == len(types), name
        for argument, julia in zip(declared, types):
            assert julia in julia_types(argument), (name, argument, julia)
    fields = re.search(r"typedef struct kfe_matrix \{(.*?)\} kfe_matrix;", text, re.S).group(1)
    order = [word for line in fields.split(";") for word in re.findall(r"(\w+)(?=\s*(?:,|$))", line.strip())]
    assert re.findall(r"^    (\w+)::", program.split("mutable struct kfe_matrix")[1].split("end")[0], re.M) == order


def test_julia(tmp_path):
    if os.environ.get("KFE_SANITIZE"):
        pytest.skip("programs that are not built with sanitizers cannot use this library")
    if not shutil.which("julia"):
        pytest.skip("julia is not installed")
    done = subprocess.run(["julia", str(SOURCE / "examples" / "julia" / "features.jl")], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"150 examples, 2 features.*refused: .*no-such-method", done.stdout, re.S), done.stdout


def test_rust(tmp_path):
    """bindgen reads the header, and a program in Rust fits a model with the bindings."""
    if os.environ.get("KFE_SANITIZE"):
        pytest.skip("programs that are not built with sanitizers cannot use this library")
    if not shutil.which("bindgen") or not shutil.which("rustc"):
        pytest.skip("Debian's packages bindgen and rustc are not installed")
    library = pathlib.Path(os.environ["KFE_LIBRARY"])
    subprocess.run(["bindgen", str(HEADER), "-o", str(tmp_path / "kfe.rs"), "--allowlist-function", "kfe_.*", "--allowlist-type", "kfe_.*"],
                   check=True, timeout=300)
    program = tmp_path / "features.rs"
    program.write_text((SOURCE / "examples" / "rust" / "features.rs").read_text())
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "libkfe.so").symlink_to(library)
    subprocess.run(["rustc", "--edition", "2021", str(program), "-o", str(tmp_path / "features"), "-L", str(folder), "-l", "dylib=kfe"],
                   check=True, timeout=300)
    done = subprocess.run([str(tmp_path / "features")], capture_output=True, text=True, timeout=300, cwd=tmp_path,
                          env={**os.environ, "LD_LIBRARY_PATH": str(library.parent)})
    assert done.returncode == 0, done.stderr
    assert re.search(r"150 examples, 2 features.*refused: .*no-such-method", done.stdout, re.S), done.stdout
