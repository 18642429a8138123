# SPDX-License-Identifier: Apache-2.0
"""Runs kfe in a folder of its own, and checks the form of every failure."""
import os
import pathlib
import shutil
import subprocess

import pytest

KFE = os.environ.get("KFE", "kfe")
with open(shutil.which(KFE), "rb") as program:
    SANITIZED = b"__asan_init" in program.read()
takes_long = pytest.mark.skipif("KFE_TEST_ALL" not in os.environ, reason="takes long: only in ./test.sh --all")


class Kfe:
    """kfe, run in a temporary folder."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *arguments, status=0, stdin=None, **options):
        done = subprocess.run([KFE, *map(str, arguments)], cwd=self.folder, input=stdin, timeout=300,
                              capture_output=True, **options)
        done.out, done.err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        assert done.returncode == status, f"{arguments}: {done.returncode}: {done.err}"
        return done

    def ok(self, *arguments, **options):
        return self.run(*arguments, **options)

    def refused(self, *arguments, says=(), status=2, **options):
        """Checks that the command fails with one clear message and writes no file."""
        before = self.files()
        done = self.run(*arguments, status=status, **options)
        problem = [line for line in done.err.splitlines() if not line.startswith("kfe: warning:")]
        assert len(problem) == 1 and problem[0].startswith("kfe: "), done.err
        for text in [says] if isinstance(says, str) else says:
            assert text in done.err, f"'{text}' is not in: {done.err}"
        assert self.files() == before, "a failed command left a file"
        return done.err

    def files(self):
        return sorted(p.name for p in self.folder.iterdir())

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def path(self, name) -> pathlib.Path:
        return self.folder / name

    def model(self, name="m.kfe"):
        """A small model on three columns with the classes a and b."""
        self.write("small.csv", SMALL)
        self.ok("fit", "-q", "-m", "koc", "-k", "rbf:gamma=0.5", "small.csv", "-o", name)
        return name


SMALL = "x,y,z,class\n" + "".join(
    f"{0.1 * i},{(i * 7) % 5},{(i * 3) % 4},{'ab'[i % 2]}\n" for i in range(12))


@pytest.fixture
def kfe(tmp_path):
    return Kfe(tmp_path)
