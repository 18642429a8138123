#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds what wheels bundle, from source, where the system's packages are too old or missing: the containers of cibuildwheel
# (manylinux, musllinux) and macOS. OpenBLAS is built with OpenMP, and contains LAPACKE.
# usage: tools/ci-wheel-deps.sh [PREFIX]      PREFIX: where to install (/usr/local)
#
# Beside each library, PREFIX/share/kfe-bundled/NAME says for tools/wheel-notices what it is, and has its licence.
set -euo pipefail
prefix=${1:-/usr/local}
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
jobs=$(getconf _NPROCESSORS_ONLN)
machine=$(uname -m)

install_packages() {
    if command -v dnf > /dev/null; then
        dnf install -y gcc-gfortran zlib-devel xz-devel libzstd-devel git pkgconf-pkg-config
    elif command -v apk > /dev/null; then
        apk add gfortran zlib-dev xz-dev zstd-dev git pkgconf linux-headers
    elif command -v brew > /dev/null; then
        brew install gcc xz zstd libomp pkgconf cmake
    fi
}

get() { # NAME ADDRESS TAG
    git clone -q --depth 1 --branch "$3" "$2" "$source/$1"
    cd "$source/$1"
}

tell() { # NAME VERSION ADDRESS LICENCE_FILE LIBRARY
    local folder=$prefix/share/kfe-bundled/$1
    mkdir -p "$folder"
    cp "$4" "$folder/LICENSE"
    printf '{"name": "%s", "version": "%s", "source": "%s", "library": "%s"}\n' "$1" "$2" "$3" "$5" > "$folder/package.json"
}

build_openblas() {
    local version=v0.3.28 address=https://github.com/OpenMathLib/OpenBLAS
    get openblas $address $version
    local options=(USE_OPENMP=1 DYNAMIC_ARCH=1 NUM_THREADS=128 NO_STATIC=1 PREFIX="$prefix")
    make -j "$jobs" "${options[@]}" libs netlib shared > "$source/openblas.log" 2>&1 || { tail -n 40 "$source/openblas.log"; return 1; }
    make "${options[@]}" install > /dev/null
    tell openblas $version $address LICENSE libopenblas
}

build_sleef() {
    local version=3.6.1 address=https://github.com/shibatch/sleef
    get sleef $address $version
    cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DSLEEF_BUILD_SHARED_LIBS=ON \
        -DSLEEF_BUILD_TESTS=OFF -DSLEEF_BUILD_DFT=OFF > /dev/null
    cmake --build build -j "$jobs" > /dev/null
    cmake --install build > /dev/null
    tell sleef $version $address LICENSE.txt libsleef
}

suffix=so
[[ $(uname) != Darwin ]] || suffix=dylib
install_packages
build_openblas
[[ $machine != x86_64 ]] || build_sleef
