# SPDX-License-Identifier: Apache-2.0
"""`python -m kfe` is the command line, for those whose shell does not find `kfe`."""
import os
import shutil
import sys

from ._lib import HERE


def find_command() -> str | None:
    """The program inside the package, else one of the system."""
    inside = HERE / "bin" / "kfe"
    return str(inside) if inside.is_file() else shutil.which("kfe")


def main() -> None:
    program = find_command()
    if program is None:
        sys.exit("kfe: this installation of the Python package has no command line, and `kfe` is not in PATH")
    os.execv(program, ["kfe", *sys.argv[1:]])


if __name__ == "__main__":
    main()
