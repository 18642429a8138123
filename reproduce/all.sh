#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Computes every published table and figure and summarises how our numbers compare. Takes a night on two cores.
#
# usage: reproduce/all.sh [--data DIR] [--output DIR] [--only NAME,NAME...] [--jobs N] [--quick] [--kfe PROGRAM]
#
#   --data    folder with the data sets, by default $KFE_DATA; rows without data are skipped
#   --output  folder for the results, by default reproduce-results
#   --only    these tables and figures only (kfe reproduce --list)
#   --jobs    cells that run at the same time, by default one per core; each uses one thread
#   --quick   fewer splits, for a first look
#   --kfe     the program, by default kfe
#
# Every cell becomes one JSON file. A cell whose file exists is skipped, so that a run that was interrupted can be started
# again. At the end summary.py prints the number of entries within two standard errors of the paper, better and worse.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
data=${KFE_DATA:-} output=reproduce-results only='' jobs=$(nproc) quick='' kfe=kfe

usage() { sed -n '3,15s/^# \{0,1\}//p' "$0"; }
fail() { echo "all.sh: $1" >&2; exit 2; }

while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) quick=--quick; shift ;;
    --help | -h) usage; exit 0 ;;
    --data | --output | --only | --jobs | --kfe)
      [[ $# -ge 2 ]] || fail "$1 needs a value"
      declare "${1#--}=$2"; shift 2 ;;
    *) fail "unknown argument '$1'; --help shows the flags" ;;
  esac
done
command -v "$kfe" > /dev/null || fail "there is no program '$kfe'; give its path with --kfe"
mkdir -p "$output/cells"

# One cell: NAME<tab>ROW<tab>COLUMN. The result appears whole or not at all.
run_cell() {
  local name row column file arguments=()
  IFS=$'\t' read -r name row column <<< "$1"
  file=$output/cells/$(tr -c 'A-Za-z0-9.\n-' '_' <<< "$name--$row--$column")
  [[ ! -s $file.json ]] || return 0
  [[ $row == - ]] || arguments+=(--row "$row" --column "$column")
  [[ -z $data ]] || arguments+=(--data "$data")
  if "$kfe" reproduce "$name" "${arguments[@]}" $quick --json > "$file.part" 2> "$file.log"; then
    mv "$file.part" "$file.json"
  else
    rm -f "$file.part"
    echo "skipped: $name, $row, $column: $(tail -n 1 "$file.log")"
  fi
}
export -f run_cell
export output data quick kfe
export OMP_NUM_THREADS=1

python3 "$here/jobs.py" --data "${data:-.}" --only "$only" > "$output/jobs"
grep -v -- $'\t-\t-$' "$output/jobs" | xargs -r -d '\n' -P "$jobs" -I{} bash -c 'run_cell "$1"' _ {}
grep -- $'\t-\t-$' "$output/jobs" | while read -r job; do run_cell "$job"; done || true
python3 "$here/summary.py" "$output"
