#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages that building and testing need, on Debian or Ubuntu. Does nothing if they are installed.
# usage: tools/install-deps.sh [--build]     --build: only the packages for building the library and kfe
set -euo pipefail

packages=(gcc g++ cmake ninja-build pkg-config libopenblas-openmp-dev libopenblas0-openmp liblapacke-dev
    libsvm-dev liblinear-dev coinor-libclp-dev libsdp-dev libjansson-dev zlib1g-dev libsleef-dev libcmocka-dev
    nodejs npm)
clang_version=$(command -v clang > /dev/null && clang -dumpversion | cut -d. -f1 || echo 14)
if [[ ${1-} != --build ]]; then
    packages+=(clang clang-tidy clang-format libomp-dev "libclang-rt-$clang_version-dev" binutils git valgrind
        python3 python3-venv python3-numpy python3-scipy python3-sklearn python3-pandas python3-pytest python3-hypothesis
        python3-matplotlib chromium librsvg2-bin python3-sphinx python3-myst-parser furo groff-base)
fi

missing=()
for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) == installed ]] || missing+=("$package")
done

if ((${#missing[@]})); then
    install=(apt-get install -y --no-install-recommends "${missing[@]}")
    if [[ $(id -u) == 0 ]]; then
        as_root=()
    elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
        as_root=(sudo)
    else
        echo "These packages are missing. As root, run:" >&2
        echo "    apt-get update && ${install[*]}" >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    echo "installing: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" "${install[@]}"
fi

# Another build of OpenBLAS may be installed too and may be preferred at run time. It works, but ignores a context's
# number of threads.
chosen=$(readlink -f "/usr/lib/$(gcc -dumpmachine)/libopenblas.so.0" || true)
if [[ $chosen != *openmp* ]]; then
    echo "note: programs will use $chosen, not the OpenMP build of OpenBLAS, and --threads will not be" >&2
    echo "obeyed everywhere. As root: update-alternatives --config libopenblas.so.0-$(gcc -dumpmachine)" >&2
fi
