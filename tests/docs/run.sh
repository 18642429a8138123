#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the pages with an installed copy; exits with 77 (skipped) if pytest is not installed.
# usage: run.sh BUILD_DIR CMAKE     KFE and KFE_LIBRARY are in the environment
build=$1 cmake=$2
cd "$(dirname "$0")" || exit 1
if [[ ! -d ../../docs ]]; then
    echo "skipped: this copy of the sources is without docs/"
    exit 77
fi
if ! /usr/bin/python3 -c 'import pytest' 2> /dev/null; then
    echo "skipped: Debian's python3-pytest is not installed"
    exit 77
fi
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
"$cmake" --install "$build" --prefix "$prefix" > "$prefix/log" || { cat "$prefix/log"; exit 1; }
# Pages and programs use the installed command, library and package, as users do.
libraries=$(dirname "$(find "$prefix" -name libkfe.so)")
export PATH=$prefix/bin:$PATH PKG_CONFIG_PATH=$libraries/pkgconfig LD_LIBRARY_PATH=$libraries
export PYTHONPATH=$PWD/../../python OMP_NUM_THREADS=1 MPLBACKEND=Agg PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 -B -m pytest -p no:cacheprovider --tb=short -rs --durations=10 --durations-min=1 .
