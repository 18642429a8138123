#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh SOURCE_DIR C_COMPILER CMAKE
set -euo pipefail
source=$1 compiler=$2 cmake=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

copy=$work/kfe
mkdir "$copy"
for part in CMakeLists.txt cmake include src backends charts cli tests examples reproduce CONTRIBUTING.md; do
    cp -r "$source/$part" "$copy/$part"
done

echo "-- what CONTRIBUTING.md says"
for file in src/method/centroid/scratch.c src/method/methods.def src/kernel/formula/cauchy.c src/kernel/kernels.def; do
    awk -v file="$file" -f "$here/extract.awk" "$source/CONTRIBUTING.md" > "$work/block" ||
        { echo "CONTRIBUTING.md has no block after '<!-- recipe: $file -->'"; exit 1; }
    cat "$work/block" >> "$copy/$file"
    cat "$work/block"
done

echo "-- build"
# What the build beside the sources has compiled comes out of ccache, if that is installed.
export CCACHE_BASEDIR=$copy CCACHE_NOHASHDIR=1
build=$copy/build
"$cmake" -S "$copy" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$compiler" -DKFE_WERROR=ON -DKFE_BUILD_TESTS=ON \
    -DCMAKE_BUILD_TYPE=Release > "$work/log" || { cat "$work/log"; exit 1; }
"$cmake" --build "$build" --target kfe_cli \
    $(cd "$source/tests/conformance" && basename -s .c test_*.c) > "$work/log" ||
    { tail -n 60 "$work/log"; exit 1; }
kfe=$build/cli/kfe

echo "-- the method is listed, has help, and works"
"$kfe" methods | grep scratch
"$kfe" fit -m scratch --help | grep 'Flags of method scratch'
"$kfe" methods scratch
"$kfe" generate iris -o "$work/iris.csv"
"$kfe" fit -m scratch "$work/iris.csv" -o "$work/m.kfe"
"$kfe" transform "$work/m.kfe" "$work/iris.csv" -o "$work/features.csv"
head -n 3 "$work/features.csv"

echo "-- the kernel is listed, and its values are right"
"$kfe" kernels | grep cauchy
printf '0,0\n3,4\n' > "$work/two.csv"
"$kfe" convert --label none -k cauchy:gamma=0.04 "$work/two.csv" -o "$work/kernel.csv"
cat "$work/kernel.csv"
[[ $(head -n 1 "$work/kernel.csv") == 1,0.5 ]]

echo "-- the conformance suite runs them"
# The list goes through a file, because grep -q would close ctest's pipe.
(cd "$build" && KFE_TEST_FILTER='*scratch*' ctest -R conformance -V) > "$work/log" 2>&1 || { tail -n 60 "$work/log"; exit 1; }
grep -m 3 scratch "$work/log"
(cd "$build" && KFE_TEST_FILTER='*cauchy*' ctest -R 'conformance(_device)?$' -V) > "$work/log" 2>&1 || { tail -n 60 "$work/log"; exit 1; }
grep -m 3 cauchy "$work/log"
