#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the R package into a folder of its own and runs its tests.
# usage: run.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source=$1 work=$2/package
if [[ -n ${KFE_SANITIZE-} ]]; then
    echo "skipped: R cannot load a library that was built with sanitizers"
    exit 77
fi
if ! Rscript -e 'for (p in c("jsonlite", "testthat")) stopifnot(requireNamespace(p, quietly = TRUE))' > /dev/null 2>&1; then
    echo "skipped: R (r-base-core) with r-cran-jsonlite and r-cran-testthat is not installed"
    exit 77
fi
# Waiting threads of other tests slow these down: with small matrices one thread is faster.
export TZ=UTC KFE_INCLUDE=$source/include OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive R_LIBS=$work/library
rm -rf "$work"
mkdir -p "$work/library"
cp -r "$source/R/kfe" "$work/kfe" # R builds in the folder of the sources
R CMD INSTALL --no-docs --no-test-load --library="$work/library" "$work/kfe" > "$work/install.log" 2>&1 || {
    cat "$work/install.log"
    exit 1
}
if (cd "$work/kfe" && KFE_LIB=lib ./configure) > "$work/configure.log" 2>&1 || ! grep -q "absolute path" "$work/configure.log"; then
    echo "configure takes libraries from a relative path"
    exit 1
fi
! command -v readelf > /dev/null || "$source/tools/check-binaries" "$work/library/kfe/libs/kfe.so"
cd "$work/kfe/tests"
Rscript "$source/tests/r/page.R" "$source/docs/r.md"
exec Rscript -e 'library(testthat); library(kfe); test_dir("testthat", package = "kfe", reporter = "check", stop_on_failure = TRUE)'
