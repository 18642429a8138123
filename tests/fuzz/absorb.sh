#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Adds the inputs that go.sh found on another machine to the corpora: minimised, and only those that reach new code.
# usage: tests/fuzz/absorb.sh BUILD_DIR OUTPUT_DIR     BUILD_DIR: with the harnesses; OUTPUT_DIR: of go.sh
set -euo pipefail
build=$(realpath "${1:?usage: absorb.sh BUILD_DIR OUTPUT_DIR}") from=$(realpath "${2:?}") here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xzf "$from/corpus.tar.gz"
export OMP_NUM_THREADS=1
for folder in "$work"/new/*; do
    name=$(basename "$folder")
    find "$folder" -type f -size +"${KEEP_BELOW:-4k}" -delete  # the repository keeps small inputs only
    mkdir -p "$here/corpus/$name"
    "$build/tests/fuzz/fuzz_$name" -rss_limit_mb=2048 -timeout=25 -merge=1 "$here/corpus/$name" "$folder" 2>&1 | tail -n 1
    echo "$name: $(ls "$here/corpus/$name" | wc -l) inputs, $(du -sk "$here/corpus/$name" | cut -f1) KB"
done
