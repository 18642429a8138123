#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds kfe and shows the main job: choose a model on known rows, judge it on new ones, and see why it decides as it does.
set -euo pipefail
cd "$(dirname "$0")"

tools/install-deps.sh --build
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release > /dev/null
echo "== Compiling kfe, once; pip install and the packages of docs/install.md have it ready"
cmake --build build --target kfe_cli
export PATH=$PWD/build/cli:$PATH
mkdir -p demo-output
cd demo-output

show() {
    echo
    echo "\$ $*"
    "$@"
}
accuracy() { # MODEL DATA
    kfe evaluate -q "$1" "$2" --metrics accuracy | awk '$1 == "accuracy" { print $2, $3, $4 }'
}

echo
echo "== Fisher's iris: 100 flowers to learn from, 50 others to be judged on"
kfe generate -q iris -o iris.csv
awk 'NR == 1 || NR % 3' iris.csv > train.csv
awk 'NR == 1 || NR % 3 == 0' iris.csv > new.csv
show kfe tune train.csv --time 10s -o model.kfe
show kfe evaluate model.kfe new.csv
show kfe transform model.kfe new.csv -o features.csv
show head -n 4 features.csv
show kfe report model.kfe --train train.csv --test new.csv -o report.html

echo
echo "== Three crossing slabs: no line divides these classes, three kernel features do"
kfe generate -q slabs -o slabs.csv --seed 1
kfe generate -q slabs -o new-slabs.csv --seed 2
show kfe fit -q -m koc -k rbf:gamma=0.2 --learner svm slabs.csv -o slabs.kfe
show kfe fit -q -m none --learner linear-svm slabs.csv -o linear.kfe

echo
echo "Accuracy on new rows:"
printf '  %-28s %s\n' "iris, chosen by kfe tune" "$(accuracy model.kfe new.csv)" \
    "slabs, koc and an SVM" "$(accuracy slabs.kfe new-slabs.csv)" "slabs, a linear SVM" "$(accuracy linear.kfe new-slabs.csv)"
echo
echo "Everything is in demo-output/; open demo-output/report.html in a browser."
