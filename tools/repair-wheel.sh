#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Bundles into a wheel the libraries that it needs, and their licences. tools/build-wheel.sh and cibuildwheel call it.
# usage: tools/repair-wheel.sh WHEEL FOLDER BUILD_FOLDER      FOLDER: where the repaired wheel goes
set -euo pipefail
tools=$(cd "$(dirname "$0")" && pwd)
wheel=$1 folder=$2 build=$3
log=$(mktemp)
trap 'rm -f "$log"' EXIT
mkdir -p "$folder"

if [[ $(uname) == Darwin ]]; then
    delocate-wheel -v -w "$folder" "$wheel" # the licences of its libraries are to be added by hand: nothing was published for it yet
    exit
fi
# The OpenMP build of OpenBLAS, whatever the system's default is.
blas=$(pkg-config --variable=libdir openblas)
LD_LIBRARY_PATH=$blas${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} auditwheel -v repair -w "$folder" "$wheel" > "$log" 2>&1 ||
    { tail -n 20 "$log"; exit 1; }
grep -o 'New filename tags: .*' "$log"
repaired=$(ls -t "$folder"/*.whl | head -n 1)
"$tools/check-binaries" "$repaired"
python3 "$tools/wheel-notices" "$repaired" "$log" "$build"
