#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/gpu/run.sh BUILD_FOLDER [LOG_FOLDER]
# Tests the CUDA plug-in on a machine with a GPU: every call of the device interface against the host's plug-in, the same methods
# with and without the device, memory and race checks of small cases, and failing allocations. BUILD_FOLDER is built with
# KFE_CUDA=ON. Exit status 0: nothing failed; 77: there is no GPU.
set -uo pipefail
build=$(cd "$1" && pwd)
logs=${2:-$build/gpu-logs}
mkdir -p "$logs"
export KFE_DEVICE_PATH=$build OMP_WAIT_POLICY=passive
compare=$build/tests/gpu/compare_plugins host=$build/libkfe_host.so cuda=$build/libkfe_cuda.so
kfe=$build/cli/kfe
failures=0

nvidia-smi > /dev/null 2>&1 || { echo "no GPU: skipped"; exit 77; }

# check NAME COMMAND...: counts a failure and shows the end of its output
check() {
  local name=$1 log
  shift
  log=$logs/$(tr -c 'a-z0-9\n-' '_' <<< "$name").txt
  if "$@" > "$log" 2>&1; then
    echo "ok      $name: $(tail -n 1 "$log")"
  else
    echo "FAILED  $name"
    tail -n 12 "$log"
    failures=$((failures + 1))
  fi
}

# The same features with and without the device: correlation of each column, because eigenvectors have no sign.
same_features() {
  local folder
  folder=$(mktemp -d)
  "$kfe" generate waveform --n 3000 -o "$folder/data.csv" || return 1
  for device in cpu cuda; do
    KFE_DEVICE=$device "$kfe" fit "$folder/data.csv" --label last -k rbf:gamma=0.02 -o "$folder/$device.kfe" "$@" || return 1
    "$kfe" transform "$folder/$device.kfe" "$folder/data.csv" --label last -o "$folder/$device.npy" || return 1
  done
  python3 - "$folder" <<'PYTHON'
import sys
import numpy as np
a, b = (np.load(f"{sys.argv[1]}/{device}.npy") for device in ("cpu", "cuda"))
difference = np.minimum(np.abs(a - b).max(0), np.abs(a + b).max(0)) / np.abs(a).max(0)
print(f"largest difference {difference.max():.1e}")
sys.exit(not difference.max() < 1e-6)
PYTHON
  local result=$?
  rm -rf "$folder"
  return $result
}

# The k-th allocation fails, for every k: a status, never a crash (which would be above 127), and never a hang.
failing_allocations() {
  local k status
  for k in $(seq 1 "$1"); do
    KFE_DEVICE_FAIL_ALLOCATION=$k timeout 60 "$compare" "$host" "$cuda" "$2" > "$logs/allocation.txt" 2>&1
    status=$?
    [[ $status -gt 3 ]] && { echo "allocation $k: exit status $status"; cat "$logs/allocation.txt"; return 1; }
  done
  echo "$1 allocations failed in turn"
}

for part in block map times group_sums stream gather gemm elements factor eigen memory; do
  check "compare $part" "$compare" "$host" "$cuda" "$part"
done
check "hsic on both" same_features -m hsic
check "kfd on both" same_features -m kfd
check "kpca on both" same_features -m kpca --dim 5
check "koc on both" same_features -m koc
check "sma on both" same_features -m sma --dim 5
for part in gather elements; do
  check "failing allocations, $part" failing_allocations 30 "$part"
done
if command -v compute-sanitizer > /dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    check "$tool" compute-sanitizer --tool $tool --error-exitcode 9 "$compare" "$host" "$cuda" gather
  done
  check "memcheck of products" compute-sanitizer --tool memcheck --error-exitcode 9 "$compare" "$host" "$cuda" group
fi
echo "$failures failed"
[[ $failures -eq 0 ]]
