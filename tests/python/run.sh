#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the library against scikit-learn; exits with 77 (skipped) if it cannot be used.
cd "$(dirname "$0")" || exit 1
if [[ -n ${KFE_SANITIZE-} ]]; then
    echo "skipped: Python cannot load a library that was built with sanitizers"
    exit 77
fi
if ! /usr/bin/python3 -c 'import pytest, numpy, scipy, sklearn' 2> /dev/null; then
    echo "skipped: Debian's python3-pytest and python3-sklearn are not installed"
    exit 77
fi
# Waiting OpenMP threads of two programs spin and slow each other down: with small matrices one thread each is faster.
export OMP_NUM_THREADS=1
exec /usr/bin/python3 -B -m pytest -p no:cacheprovider --tb=short -rs --durations=10 --durations-min=1 .
