#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: bench/gpu_bundle.sh BUILD_FOLDER ARCHIVE.tar.gz
# Packs what bench/gpu.sh and tests/gpu/run.sh need of a build folder, with the libraries that it is linked with, so that both run on a
# machine with a GPU that has no packages of ours: unpack the archive there and give them its folder. BUILD_FOLDER is built with
# KFE_CUDA=ON and KFE_BUILD_BENCH=ON. The C and C++ libraries are left out: programs use those of the machine.
set -euo pipefail
build=$(cd "$1" && pwd) archive=$(realpath -m "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir "$folder/lib"
for file in libkfe_cuda.so libkfe_host.so cli/kfe bench/bench_gpu bench/bench_gpu_fit bench/bench_gpu_cv \
  tests/gpu/compare_plugins tests/test_device tests/test_device_gradient tests/test_device_solve tests/test_learn_device tests/test_conformance_device; do
  [[ -e $build/$file ]] || { echo "$file is not built: left out"; continue; }
  mkdir -p "$folder/$(dirname $file)"
  cp -L "$build/$file" "$folder/$file"
  strip --strip-debug "$folder/$file"
  ldd "$folder/$file" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' >> "$folder/libraries"
done
sort -u "$folder/libraries" | while read -r library; do
  case $(basename "$library") in
    libc.so.* | libm.so.* | libstdc++.so.* | libgcc_s.so.* | ld-linux*) ;;
    *) cp -L "$library" "$folder/lib/" ;;
  esac
done
rm "$folder/libraries"
mkdir -p "$(dirname "$archive")"
tar -czf "$archive" -C "$folder" .
ls -l "$archive"
