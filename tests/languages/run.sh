#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh SOURCE_DIR FOLDER      with KFE and KFE_LIBRARY naming the command and the library
export SOURCE=${1:?usage: run.sh SOURCE_DIR FOLDER} FOLDER=${2:?} OMP_NUM_THREADS=1
cd "$(dirname "$0")" || exit 1
if ! /usr/bin/python3 -c 'import pytest, numpy' 2> /dev/null; then
    echo "skipped: Debian's python3-pytest and python3-numpy are not installed"
    exit 77
fi
exec /usr/bin/python3 -B -m pytest -p no:cacheprovider --tb=short -rs --durations=10 --durations-min=1 .
