#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: bench/tabular.sh BUILD_FOLDER DATA_FOLDER OUT [options of bench/tabular.py run]
# Compares rfm and other methods of kfe with scikit-learn on the tables of DATA_FOLDER and prints mean ranks, wins and losses, and
# times. All 34 tables with 10 splits take about half a day of one core; an interrupted run goes on where it stopped.
set -euo pipefail
(( $# >= 3 )) || { sed -n 3,5p "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) build=$1 data=$2 out=$3
shift 3
export OMP_WAIT_POLICY=passive
/usr/bin/python3 -B "$here/tabular.py" run "$build/cli/kfe" "$data" "$out" "$@"
/usr/bin/python3 -B "$here/tabular.py" summary "$out"
