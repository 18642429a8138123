#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds kfe and shows the main job: from a file to features, and what they are good for.
set -euo pipefail
cd "$(dirname "$0")"

tools/install-deps.sh --build
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release > /dev/null
cmake --build build
export PATH=$PWD/build/cli:$PATH
mkdir -p demo-output
cd demo-output

show() {
    echo
    echo "\$ $*"
    "$@"
}

# How far apart the classes are, in the features: the share of examples whose own class has the nearest
# centroid. Reads features.csv beside labels.
nearest_centroid() { # FEATURES.csv DATA.csv
    paste -d, "$1" <(awk -F, '{ print $NF }' "$2") | awk -F, '
        NR == 1 && $1 + 0 != $1 { next }
        { n++; label[n] = $NF; count[$NF]++
          for (j = 1; j < NF; j++) { x[n, j] = $j; sum[$NF, j] += $j } d = NF - 1 }
        END {
            for (i = 1; i <= n; i++) {
                best = -1
                for (c in count) {
                    s = 0
                    for (j = 1; j <= d; j++) s += (x[i, j] - sum[c, j] / count[c]) ^ 2
                    if (best < 0 || s < best) { best = s; guess = c }
                }
                right += guess == label[i]
            }
            printf "%d of %d examples lie nearest to the centroid of their own class (%.1f %%)\n", right, n, 100 * right / n
        }'
}

echo "== Fisher's iris: three classes of flowers, told apart by three features"
show kfe generate iris -o iris.csv
show kfe fit -m koc -k rbf:gamma=100 iris.csv -o iris.kfe
show kfe transform iris.kfe iris.csv -o iris-features.csv
show kfe info iris.kfe
show head -n 5 iris-features.csv
echo
nearest_centroid iris-features.csv iris.csv

echo
echo "== Three crossing slabs: learned on one sample, applied to another"
show kfe generate slabs -o train.csv --seed 1
show kfe generate slabs -o test.csv --seed 2
show kfe fit -m koc -k rbf:gamma=0.2 train.csv -o m.kfe
show kfe transform m.kfe test.csv -o z.npy
show kfe info m.kfe
kfe transform m.kfe test.csv -o z.csv
echo
nearest_centroid z.csv test.csv
echo
echo "The files are in demo-output/."
