#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds kfe for aarch64 on Debian x86-64 and runs core tests and the command under qemu. Takes tens of minutes.
# usage: tools/cross-aarch64.sh [TEST_REGEX]
#
# Needs gcc-aarch64-linux-gnu and qemu-user-static. The libraries for arm64 are downloaded and unpacked into build-aarch64/sysroot; nothing
# is installed on this system.
set -euo pipefail
cd "$(dirname "$0")/.."
tests=${1:-^test_(core|csv|file|fork|kfd|koc|npy|rng|row_sums|symmetric|thin|vexp|workers)$}
work=$PWD/build-aarch64
export KFE_SYSROOT=$work/sysroot

for program in aarch64-linux-gnu-gcc qemu-aarch64-static; do
    command -v $program > /dev/null ||
        { echo "$program is not installed: apt-get install gcc-aarch64-linux-gnu qemu-user-static" >&2; exit 1; }
done

packages=(libc6-dev libgcc-s1 libgomp1 libopenblas-openmp-dev liblapacke-dev libjansson-dev zlib1g-dev
    liblzma-dev libzstd-dev libcmocka-dev)

# apt with a state of its own, which knows arm64 only.
download() {
    local state=$work/apt
    mkdir -p "$state"/{lists/partial,cache/archives/partial}
    : > "$state/status"
    local apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$state" -o Dir::State::status="$state/status"
        -o Dir::Cache="$state/cache" -o APT::Install-Recommends=false -o Debug::NoLocking=true)
    "${apt[@]}" update > "$work/apt.log" 2>&1
    "${apt[@]}" install -y --download-only "${packages[@]}" >> "$work/apt.log" 2>&1 || { tail -n 20 "$work/apt.log"; return 1; }
}

# Without maintainer scripts: what update-alternatives would link is linked here.
unpack() {
    local libraries=$KFE_SYSROOT/usr/lib/aarch64-linux-gnu file
    mkdir -p "$KFE_SYSROOT"/usr/lib
    ln -sfn usr/lib "$KFE_SYSROOT/lib"
    for file in "$work"/apt/cache/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$file" | tar x -C "$KFE_SYSROOT" --keep-directory-symlink
    done
    for file in "$libraries"/openblas-openmp/*.so*; do
        ln -sfn "openblas-openmp/$(basename "$file")" "$libraries/$(basename "$file")"
    done
    ln -sfn ../openblas-openmp/pkgconfig/openblas.pc "$libraries/pkgconfig/openblas.pc"
    touch "$KFE_SYSROOT/unpacked"
}

[[ -f $KFE_SYSROOT/unpacked ]] || { echo "-- libraries for arm64"; download && unpack; }

echo "-- build"
cmake -S . -B "$work/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/tools/aarch64.cmake" -DKFE_BUILD_TESTS=ON -DKFE_WERROR=ON \
    -DKFE_CHARTS=OFF -DKFE_CUDA=OFF -DKFE_MPI=OFF -DKFE_ARROW=OFF -DKFE_RUNPATH= > "$work/cmake.log" 2>&1 || { tail -n 30 "$work/cmake.log"; exit 1; }
mapfile -t programs < <(ctest --test-dir "$work/build" -N -R "$tests" | sed -n 's/^ *Test *#[0-9]*: //p')
((${#programs[@]})) || { echo "no test is called $tests" >&2; exit 1; }
ninja -C "$work/build" kfe kfe_cli "${programs[@]}" > "$work/ninja.log" 2>&1 || { grep -E 'error|FAILED' "$work/ninja.log"; exit 1; }
aarch64-linux-gnu-readelf -h "$work/build/libkfe.so" | grep -o AArch64

echo "-- tests under qemu"
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
ctest --test-dir "$work/build" --output-on-failure --timeout 1200 -R "$tests"

echo "-- the command"
kfe=(qemu-aarch64-static -L "$KFE_SYSROOT" "$work/build/cli/kfe")
cd "$work"
"${kfe[@]}" generate slabs -o train.csv --seed 1
"${kfe[@]}" fit -q -m koc -k rbf:gamma=0.2 --learner svm train.csv -o model.kfe
"${kfe[@]}" evaluate -q model.kfe train.csv --metrics accuracy
