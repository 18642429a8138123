#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_use: one small model for each kind of projector, predictor, data and kernel.
# usage: tests/fuzz/make_seeds.sh KFE [FOLDER]     KFE: the command; FOLDER: the output (tests/fuzz/corpus/use)
set -euo pipefail
kfe=$(realpath "${1:?usage: make_seeds.sh KFE [FOLDER]}")
out=$(realpath -m "${2:-$(dirname "$0")/corpus/use}")
mkdir -p "$out"
cd "$(mktemp -d)"
printf '1,0,a\n0,1,b\n2,0.5,a\n0,2,b\n1.5,0,a\n0,3,b\n' > two.csv
printf '1,0,a\n0,1,b\n2,2,c\n1,0.5,a\n0.5,1,b\n3,2,c\n' > three.csv
printf '1,0,0.5\n0,1,1.5\n2,2,2.25\n1,0.5,0.75\n0.5,1,3.5\n3,2,-1\n' > real.csv
printf 'a 1:1\nb 2:1\na 1:2 3:1\nb 2:2\n' > sparse.svm
printf 'aacc\nttgg\naact\nttga\n' > strings.csv
printf 'a\nb\na\nb\n' > strings.txt
printf 'x,color,kind\n1,red,a\n0,blue,b\n2,red,a\n0,,b\n1.5,green,a\n0,blue,b\n' > colors.csv
printf '4,1,2,1\n1,3,1,2\n2,1,4,1\n1,2,1,5\n' > given.csv

fit() { # NAME ARGUMENT...
    local name=$1
    shift
    "$kfe" fit -q "$@" -o "$out/$name.kfe" 2> log || { echo "$name: $(cat log)" >&2; return 1; }
}

fit koc-knn -m koc -k rbf:gamma=1 --learner knn three.csv
fit koc-centroid -m koc -k laplacian:gamma=1 --learner centroid --scale standard three.csv
fit pca-ls -m pca --learner ls three.csv
fit pca-linear-svm -m pca --learner linear-svm two.csv
fit kpca-svm -m kpca -k poly --learner svm three.csv
fit kfd-svm-rbf -m kfd -k rbf:gamma=1 --learner svm --learner-kernel rbf:gamma=1 three.csv
fit none-svm -m none -k rbf:gamma=1 --learner svm three.csv
fit none-knn-real -m none --learner knn --task regress real.csv
fit pls-ls-real -m pls --learner ls --task regress real.csv
fit sma-real -m sma -k rbf:gamma=1 --learner ls --task regress real.csv
fit sparse -m koc -k cosine --learner knn sparse.svm
fit strings -m kpca -k spectrum:length=2 --content strings --label none strings.csv
fit given -m kfd -k precomputed --label none --label-file strings.txt --learner knn given.csv
fit views -m koc -k rbf:gamma=1 --learner knn --label-file strings.txt --label none --view x=given.csv --view y=given.csv
fit steps -m pca --prepare msc,sg:window=3,order=1,cut:keep=1..2,standard --label none given.csv
fit steps-views -m koc -k rbf:gamma=1 --prepare 'area;y=log:offset=1,bin' --label-file strings.txt --label none --view x=given.csv --view y=given.csv
fit akda-qr -m akda-qr -k rbf:gamma=1 three.csv
fit mkl -m mkl -k rbf:gamma=1 -k linear three.csv
fit svm-joint -m svm-joint -k rbf:gamma=1 three.csv
fit slmc -m slmc -k rbf:gamma=1 two.csv
fit lmkl -m lmkl -k linear -k rbf:gamma=1 three.csv
fit sldr -m sldr -k linear -k laplacian:gamma=1 two.csv
fit encoded -m koc -k rbf:gamma=1 --learner knn --encode auto --missing most-frequent colors.csv
for i in 1 2 3 4 5 6; do sed "s/^/$i/" three.csv; done > many.csv
fit rfm -m rfm -k rbf:gamma=1 many.csv
fit tree -m rfm -k rbf:gamma=1 --leaf-size 12 --iterations 2 many.csv
fit gkdr -m gkdr -k rbf:gamma=1 --learner knn many.csv
fit klfda -m klfda -k rbf:gamma=1 --learner ls many.csv
fit kopls2 -m kopls2 -k rbf:gamma=1 --learner ls --task regress real.csv
fit landmarks -m kfd -k rbf:gamma=1 --landmarks 4 --learner ls many.csv
fit distance -m koc -k rbf:gamma=1 --distance "$out/rfm.kfe" --learner knn many.csv
fit platt -m koc -k rbf:gamma=1 --learner svm --calibration platt many.csv
fit isotonic -m oc --learner linear-svm --calibration isotonic many.csv
fit conformal -m pls --dim 1 --learner ls --conformal split --task regress real.csv
fit matern -m kpca -k matern:sigma=1 --learner ls many.csv
fit spls -m spls --learner ls --task regress real.csv
ls "$out" | wc -l

# tables in other packings, for fuzz_gzip; its first byte selects the options of reading
packed=$(dirname "$out")/gzip
mkdir -p "$packed"
for pack in "xz -0 --check=none" "xz -0 --check=crc32" "xz --format=lzma" "zstd -q" "zstd -q --no-check --ultra -20"; do
    { printf '\0'; $pack -c < three.csv; } > "$packed/seed-$(tr -c 'a-z0-9\n' - <<< "$pack")"
done
