#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the command line in 1, 2, 3, 4 and 7 processes; exits with 77 (skipped) without MPI or pytest. Takes some minutes.
# usage: KFE=path/to/kfe tests/mpi/run.sh [--quick]     --quick: a small part, which ctest runs
cd "$(dirname "$0")" || exit 1
if ! command -v mpirun > /dev/null; then
    echo "skipped: mpirun is not installed"
    exit 77
fi
if ! /usr/bin/python3 -c 'import pytest, numpy' 2> /dev/null; then
    echo "skipped: Debian's python3-pytest and python3-numpy are not installed"
    exit 77
fi
marks=()
[[ ${1-} != --quick ]] || marks=(-m quick)
exec /usr/bin/python3 -B -m pytest -p no:cacheprovider --tb=short -rs --durations=10 --durations-min=1 "${marks[@]}" .
