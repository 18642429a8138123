#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Reads tables of polars, pandas and pyarrow. The packages come from PyPI, into a folder of the build; exits with 77 (skipped) if
# they cannot be had.
# usage: run.sh FOLDER      with KFE and KFE_LIBRARY naming the command and the library
here=$(cd "$(dirname "$0")" && pwd) place=${1:?usage: run.sh FOLDER}
if [[ -n ${KFE_SANITIZE-} ]]; then
    echo "skipped: Python cannot load a library that was built with sanitizers"
    exit 77
fi
if ! "$place/bin/python" -c 'import pyarrow, polars, pandas, scipy, sklearn, pytest' 2> /dev/null; then
    rm -rf "$place"
    if ! { /usr/bin/python3 -m venv "$place" &&
        "$place/bin/pip" install -q pyarrow polars pandas scipy scikit-learn pytest; } > "$place.log" 2>&1; then
        echo "skipped: pyarrow and polars cannot be installed from PyPI (see $place.log)"
        exit 77
    fi
fi
export OMP_NUM_THREADS=1
cd "$here" && exec "$place/bin/python" -B -m pytest -p no:cacheprovider --tb=short -rs --durations=10 --durations-min=1 .
