#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages that building and testing need, on Debian or Ubuntu. Does nothing if they are installed.
# usage: tools/install-deps.sh [--build]     --build: only the packages for building the library and kfe
set -euo pipefail

packages=(gcc g++ make cmake ninja-build pkg-config libopenblas-openmp-dev libopenblas0-openmp liblapacke-dev
    zlib1g-dev liblzma-dev libzstd-dev libsleef-dev)
# COMMAND=PACKAGE: what is used if it is there; another vendor's package may provide the command
optional=(node=nodejs npm=npm mpicc=libopenmpi-dev)
r_packages=() # of the R package, whose tests are skipped without R
clang_version=$(command -v clang > /dev/null && clang -dumpversion | cut -d. -f1 || echo 14)
if [[ ${1-} != --build ]]; then
    packages+=(clang clang-tidy clang-format libomp-dev "libclang-rt-$clang_version-dev" libcmocka-dev libjansson-dev coinor-libclp-dev
        libsdp-dev liblinear-dev libsvm-dev
        binutils dpkg-dev git locales valgrind
        python3 python3-venv python3-numpy python3-scipy python3-sklearn python3-pandas python3-pytest python3-hypothesis
        python3-matplotlib python3-sphinx python3-myst-parser furo groff-base)
    optional+=(ccache=ccache mold=mold zstd=zstd bindgen=bindgen rustc=rustc chromium=chromium rsvg-convert=librsvg2-bin pandoc=pandoc mpirun=openmpi-bin ip=iproute2)
    r_packages=(r-base-core r-cran-matrix r-cran-jsonlite r-cran-testthat r-cran-knitr r-cran-rmarkdown r-cran-recipes r-cran-caret r-cran-pls)
fi

missing=()
for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) == installed ]] || missing+=("$package")
done

wanted=()
for pair in "${optional[@]}"; do
    command -v "${pair%%=*}" > /dev/null || wanted+=("${pair#*=}")
done
[[ ${1-} == --build ]] || /usr/bin/python3 -c "import mpi4py" 2> /dev/null || wanted+=(python3-mpi4py)
[[ ${1-} == --build ]] || /usr/bin/python3 -c "import dask, distributed" 2> /dev/null || wanted+=(python3-dask python3-distributed)
command -v Rscript > /dev/null || wanted+=("${r_packages[@]}")

if ((${#missing[@]} + ${#wanted[@]})); then
    install=(apt-get install -y --no-install-recommends)
    if [[ $(id -u) == 0 ]]; then
        as_root=()
    elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
        as_root=(sudo)
    elif ((${#missing[@]})); then
        echo "These packages are missing. As root, run:" >&2
        echo "    apt-get update && ${install[*]} ${missing[*]} ${wanted[*]}" >&2
        exit 1
    else
        echo "note: not installed, and left out: ${wanted[*]}" >&2
        wanted=()
    fi
    export DEBIAN_FRONTEND=noninteractive
fi
if ((${#missing[@]} + ${#wanted[@]})); then
    echo "installing: ${missing[*]} ${wanted[*]}"
    "${as_root[@]}" apt-get update -qq
    ((${#missing[@]} == 0)) || "${as_root[@]}" "${install[@]}" "${missing[@]}"
    ((${#wanted[@]} == 0)) || "${as_root[@]}" "${install[@]}" "${wanted[@]}" ||
        echo "note: could not be installed, and is left out: ${wanted[*]}" >&2
fi

# Another build of OpenBLAS may be installed too and may be preferred at run time. It works, but ignores a context's
# number of threads.
chosen=$(readlink -f "/usr/lib/$(gcc -dumpmachine)/libopenblas.so.0" || true)
if [[ $chosen != *openmp* ]]; then
    echo "note: programs will use $chosen, not the OpenMP build of OpenBLAS, and --threads will not be" >&2
    echo "obeyed everywhere. As root: update-alternatives --config libopenblas.so.0-$(gcc -dumpmachine)" >&2
fi
