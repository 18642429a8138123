#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compares exported models with kfe in ONNX Runtime. Its packages come from PyPI, into a folder of the build; exits with 77
# (skipped) if they cannot be had.
# usage: run.sh FOLDER      with KFE naming the command
here=$(cd "$(dirname "$0")" && pwd) place=${1:?usage: run.sh FOLDER}
if [[ -n ${KFE_SANITIZE-} ]]; then
    echo "skipped: the same models are exported by the tests without sanitizers"
    exit 77
fi
if ! "$place/bin/python" -c 'import onnx, onnxruntime, pytest' 2> /dev/null; then
    rm -rf "$place"
    if ! { /usr/bin/python3 -m venv "$place" && "$place/bin/pip" install -q onnx onnxruntime pytest; } > "$place.log" 2>&1; then
        echo "skipped: onnx and onnxruntime cannot be installed from PyPI (see $place.log)"
        exit 77
    fi
fi
export OMP_NUM_THREADS=1
cd "$here" && exec "$place/bin/python" -B -m pytest -p no:cacheprovider --tb=short -rs --durations=10 --durations-min=1 .
