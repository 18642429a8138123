#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Packs the fuzzing harnesses for a machine without compilers and libraries: harnesses, all shared libraries with the
# loader, corpora, and go.sh, which runs all harnesses at once.
# usage: tests/fuzz/bundle.sh BUILD_DIR FOLDER
# There:  FOLDER/go.sh SECONDS OUTPUT_DIR     then here: tests/fuzz/absorb.sh BUILD_DIR OUTPUT_DIR
set -euo pipefail
build=$(realpath "${1:?usage: bundle.sh BUILD_DIR FOLDER}") out=$(realpath -m "${2:?}") here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$out"
pack=$(mktemp -d)
trap 'rm -rf "$pack"' EXIT
mkdir -p "$out" "$pack/bin" "$pack/lib" "$pack/corpus"
for harness in "$build"/tests/fuzz/fuzz_*; do
    [[ -x $harness && -f $harness ]] || continue
    strip -o "$pack/bin/$(basename "$harness")" "$harness"
    ldd "$harness"
done | awk '/=> \// { print $3 } /^\t\/lib64/ { print $1 }' | sort -u | while read -r library; do
    cp -L "$library" "$pack/lib/"
done
strip "$pack"/lib/*.so* 2> /dev/null || true
cp -r "$here"/corpus/. "$pack/corpus"
tar -C "$pack" -cf - . | xz --lzma2=preset=3,dict=192MiB > "$out/fuzz.tar.xz" # the harnesses share most of their code
cp "$here/go.sh" "$out/go.sh"
git -C "$here" log -1 --format='%h %s' > "$out/version.txt"
du -sh "$out"
