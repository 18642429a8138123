#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes for hours and keeps the results: builds the harnesses, shares the time among them, and adds new minimised
# inputs to tests/fuzz/corpus. Check `git status tests/fuzz/corpus` afterwards and commit the small ones.
# usage: tests/fuzz/long.sh HOURS [HARNESS...]     HOURS of processor time in all, for example 2 or 0.5
set -euo pipefail
cd "$(dirname "$0")/../.."
hours=${1:?usage: tests/fuzz/long.sh HOURS [HARNESS...]}
shift
cmake -S . -B build-asan -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKFE_BUILD_TESTS=ON -DKFE_BUILD_FUZZERS=ON \
    -DKFE_SANITIZE=address,undefined,float-cast-overflow -DKFE_ASSERT=ON > /dev/null
cmake --build build-asan --target fuzzers
count=$#
((count)) || count=$(ls tests/fuzz/fuzz_*.c | wc -l)
seconds=$(awk -v hours="$hours" -v count="$count" 'BEGIN { printf "%d", hours * 3600 / count }')
echo "$count harnesses, $seconds s each"
GROW=1 OMP_NUM_THREADS=1 tests/fuzz/run.sh build-asan "$seconds" "$@"
