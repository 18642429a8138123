# SPDX-License-Identifier: Apache-2.0
"""kfe.h and kfe_arrow.h are headers that generators of bindings read: alone, as C and as C++, without macros that hide functions. A program in Rust uses it."""
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
