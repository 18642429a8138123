#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh SOURCE_DIR
cd "$1/python" || exit 1
if [[ -n ${KFE_SANITIZE-} ]]; then
    echo "skipped: Python cannot load a library that was built with sanitizers"
    exit 77
fi
if ! /usr/bin/python3 -c 'import pytest, numpy, scipy, sklearn, pandas' 2> /dev/null; then
    echo "skipped: Debian's python3-pytest, python3-sklearn and python3-pandas are not installed"
    exit 77
fi
# Waiting OpenMP threads of two programs spin and slow each other down: with small matrices one thread each is faster.
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
exec /usr/bin/python3 -B -m pytest -p no:cacheprovider --tb=short -rs --durations=10 --durations-min=1 tests
