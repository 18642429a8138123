#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs all benchmarks and writes bench/RESULTS.md. Installs the peers (scikit-learn, pandas, R kernlab) from Debian.
# Takes
# about an hour on 2 cores; --quick skips benchmarks that take minutes. Run nothing else meanwhile. If KFE_DATA names
# the
# folder of the data sets, the comparisons on real data run as well.
set -euo pipefail
cd "$(dirname "$0")/.."
quick=${1-}
[[ -z $quick || $quick == --quick ]] || { echo "usage: bench/run.sh [--quick]" >&2; exit 2; }

tools/install-deps.sh
peers=(r-cran-kernlab python3-sklearn python3-pandas)
dpkg -s "${peers[@]}" > /dev/null 2>&1 || { [[ $(id -u) == 0 ]] || exec sudo "$0" "$@"; apt-get install -y --no-install-recommends "${peers[@]}"; }

cmake -S . -B build-bench -G Ninja -DCMAKE_C_COMPILER=gcc -DKFE_BUILD_BENCH=ON > /dev/null
cmake --build build-bench > /dev/null
bench=build-bench/bench
out=$(mktemp)
trap 'rm -f "$out"' EXIT

{
    echo "# Measurements"
    echo
    echo "Made by \`bench/run.sh${quick:+ $quick}\` on $(date +%F), commit $(git rev-parse --short HEAD)."
    echo "$(nproc) cores of $(lscpu | sed -n 's/^Model name: *//p'), $(free -g | awk '/Mem/ {print $2}') GB; $(gcc --version | head -n 1); OpenBLAS $(pkg-config --modversion openblas);"
    echo "$(/usr/bin/python3 -c 'import numpy, scipy, sklearn, pandas; print("NumPy", numpy.__version__ + ", SciPy", scipy.__version__ + ", scikit-learn", sklearn.__version__ + ", pandas", pandas.__version__)'); $(Rscript -e 'cat("R", as.character(getRversion()), "kernlab", as.character(packageVersion("kernlab")))')."
    echo "Times are medians of 3 to 5 runs, except where one run takes minutes; peers use all cores too. Ratios are of"
    echo "times from the same run."
    echo
    echo "## The road: koc and transform against bare GEMM + exp"
    echo
    "$bench/bench_road"
    echo
    echo "## The Gram engine against its floors"
    echo
    echo "| what | seconds | floor, seconds | ratio | target |"
    echo "|---|---|---|---|---|"
    "$bench/bench_engine" gram times
    "$bench/bench_solve" fits 4000 5
    if [[ -z $quick ]]; then
        "$bench/bench_solve" fits 10000 3
        "$bench/bench_engine" solve
        "$bench/bench_engine" solve-large
    fi
    echo
    echo "## Requests of one row"
    echo
    "$bench/bench_serve"
    echo
    echo "## Against other libraries"
    echo
    /usr/bin/python3 bench/peers.py build-bench/libkfe.so $quick
    /usr/bin/python3 bench/kpca.py build-bench/libkfe.so 5000
    /usr/bin/python3 bench/neighbours.py build-bench/libkfe.so
    /usr/bin/python3 bench/pls.py build-bench/libkfe.so
    /usr/bin/python3 bench/svm.py build-bench/libkfe.so
    /usr/bin/python3 bench/pls_cv.py build-bench/libkfe.so
    echo
    echo "## Landmarks, against Nystroem with the linear counterpart, and against the exact methods"
    echo
    PYTHONPATH=python KFE_LIBRARY=$PWD/build-bench/libkfe.so /usr/bin/python3 -B bench/landmarks.py $([[ -z $quick ]] || echo 20000 200)
    echo
    echo "## Subspace kernels, against SciPy"
    echo
    /usr/bin/python3 bench/subspace.py build-bench/libkfe.so ${KFE_DATA:+"$KFE_DATA"} $quick
    echo
    echo "## sma and smc: seconds to fit, to transform the same rows, and peak memory"
    echo
    echo "| what | fit, seconds | transform, seconds | peak, GiB |"
    echo "|---|---|---|---|"
    "$bench/bench_pursuit" sma 125000 400 500
    "$bench/bench_pursuit" sma 250000 400 500
    if [[ -z $quick ]]; then
        "$bench/bench_pursuit" sma 500000 400 500
        "$bench/bench_pursuit" sma 1000000 400 500
        "$bench/bench_pursuit" smc 1000000 400 500
    fi
    echo
    echo "## sma and smc on one thread and on all"
    echo
    "$bench/bench_pursuit" threads 100000 50 500
    echo
    echo "## rfm against its solves and products (target: 1.3), and on a million rows"
    echo
    "$bench/bench_rfm" fit $([[ -z $quick ]] && echo 20000 100 1 || echo 3000 100 3)
    echo
    "$bench/bench_rfm" landmarks $([[ -z $quick ]] && echo 1000000 100 2000 || echo 50000 100 500)
    echo
    echo "## hsic-mkl: weights of 4 kernels, n = 900, to a relative gap of 1e-8"
    echo
    "$bench/bench_mkl" 900
    if [[ -n ${KFE_DATA-} ]]; then
        echo
        echo "## sldr and lmkl on MULTIFEAT, and the same SVMs from scratch by LIBSVM (target: seconds; 5 times LIBSVM's speed)"
        echo
        echo "| what | seconds | iterations | objective | accuracy | support | SVMs, seconds | LIBSVM, seconds | ratio | mean gate |"
        echo "|---|---|---|---|---|---|---|---|---|---|"
        for c in 1 10 100; do
            "$bench/bench_local" "$KFE_DATA" sldr "local-dim=2,gate-dim=10,svm-C=$c" 3 libsvm
        done
        "$bench/bench_local" "$KFE_DATA" lmkl svm-C=10 2 libsvm
        echo
        echo "n = 5,000, six generated views (SVMs: seconds, and their share of the time):"
        "$bench/bench_local" 5000 sldr local-dim=2,gate-dim=10 1
        echo
        echo "## A grid search, against scikit-learn's"
        echo
        /usr/bin/python3 bench/cv.py build-bench/cli/kfe "$KFE_DATA"
        echo
        echo "## Test error at an equal number of kernel evaluations per projection"
        echo
        /usr/bin/python3 bench/sparse.py build-bench/cli/kfe "$KFE_DATA"
    fi
    echo
    echo "## Reading a 1,000,000 x 50 CSV, against pandas' C reader"
    echo
    /usr/bin/python3 bench/read_csv.py "$bench/bench_read_csv" || true
    echo
    echo "## What Python adds"
    echo
    KFE_LIBRARY=$PWD/build-bench/libkfe.so /usr/bin/python3 -B bench/python.py
} > "$out"
[[ -f bench/NOTES.md ]] && { echo; cat bench/NOTES.md; } >> "$out"
cp "$out" bench/RESULTS.md
cat bench/RESULTS.md
