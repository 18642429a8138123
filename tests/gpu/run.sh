#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/gpu/run.sh BUILD_FOLDER [LOG_FOLDER [PART...]]
# Tests the CUDA plug-in on a machine with a GPU. BUILD_FOLDER is built with KFE_CUDA=ON, or is an archive of bench/gpu_bundle.sh,
# unpacked; nothing is downloaded. PART, all of them by default:
#     calls         every call of the device interface against the host's plug-in
#     methods       the same features with and without the device
#     search        the same cross-validation with and without the device
#     programs      the tests of devices, on this device
#     allocations   the k-th allocation fails, for every k
#     sanitizer     memory and race checks of small cases, if compute-sanitizer is there
# KFE_GPU_DEVICE=host tries the script itself out, without a GPU. Exit status 0: nothing failed; 77: there is no GPU.
set -uo pipefail
build=$(cd "$1" && pwd)
logs=${2:-$build/gpu-logs}
shift $(($# < 2 ? $# : 2))
[[ $# -gt 0 ]] || set -- calls methods search programs allocations sanitizer
mkdir -p "$logs"
export KFE_DEVICE_PATH=$build OMP_WAIT_POLICY=passive
[[ ! -d $build/lib ]] || export LD_LIBRARY_PATH=$build/lib:${LD_LIBRARY_PATH:-}
gpu=${KFE_GPU_DEVICE:-cuda}
compare=$build/tests/gpu/compare_plugins host=$build/libkfe_host.so plugin=$build/libkfe_$gpu.so
kfe=$build/cli/kfe
failures=0

[[ $gpu == host ]] || nvidia-smi > /dev/null 2>&1 || { echo "no GPU: skipped"; exit 77; }
for file in "$compare" "$host" "$plugin" "$kfe"; do
  [[ -e $file ]] || { echo "$file is missing: build the targets compare_plugins, kfe_host, kfe_cuda and kfe_cli"; exit 2; }
done

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

# same_features ROWS FLAG...: the same features with and without the device; eigenvectors have no sign
same_features() {
  local folder device result rows=$1
  shift
  folder=$(mktemp -d)
  "$kfe" generate waveform --n "$rows" -o "$folder/data.csv" || return 1
  for device in cpu $gpu; do
    KFE_DEVICE=$device timeout 120 "$kfe" fit "$folder/data.csv" --label last -k rbf:gamma=0.02 -o "$folder/$device.kfe" "$@" || return 1
    KFE_DEVICE=$device timeout 120 "$kfe" transform "$folder/$device.kfe" "$folder/data.csv" --label last -o "$folder/$device.npy" || return 1
  done
  LD_LIBRARY_PATH= python3 - "$folder" "$gpu" <<'PYTHON'
import sys
import numpy as np
a, b = (np.load(f"{sys.argv[1]}/{device}.npy") for device in ("cpu", sys.argv[2]))
difference = np.minimum(np.abs(a - b).max(0), np.abs(a + b).max(0)) / np.abs(a).max(0)
print(f"largest difference {difference.max():.1e}")
sys.exit(not difference.max() < 1e-6)
PYTHON
  result=$?
  rm -rf "$folder"
  return $result
}

# same_search ROWS LEARNER GRID FLAG...: the same scores of every setting with and without the device.
same_search() {
  local folder device result rows=$1 learner=$2 grid=$3
  shift 3
  folder=$(mktemp -d)
  "$kfe" generate waveform --n "$rows" -o "$folder/data.csv" || return 1
  for device in cpu $gpu; do
    KFE_DEVICE=$device timeout 120 "$kfe" cv "$folder/data.csv" --label last -k rbf --learner "$learner" --folds 3 --inner-folds 0 \
      --grid gamma=0.003,0.01,0.03 --grid "$grid" --json "$@" > "$folder/$device.json" || return 1
  done
  LD_LIBRARY_PATH= python3 - "$folder" "$gpu" <<'PYTHON'
import json, sys
def numbers(value, key=""):
    if isinstance(value, dict):
        return [x for k, v in value.items() for x in numbers(v, k)]
    if isinstance(value, list):
        return [x for v in value for x in numbers(v, key)]
    return [value] if isinstance(value, float) and "second" not in key else []
a, b = (numbers(json.load(open(f"{sys.argv[1]}/{device}.json"))) for device in ("cpu", sys.argv[2]))
difference = max(abs(x - y) for x, y in zip(a, b))
print(f"{len(a)} numbers, largest difference {difference:.1e}")
sys.exit(not (len(a) == len(b) > 5 and difference < 2e-3))
PYTHON
  result=$?
  rm -rf "$folder"
  return $result
}

# The k-th allocation fails, for every k: a status, never a crash (which would be above 127), and never a hang.
failing_allocations() {
  local k status
  for k in $(seq 1 "$1"); do
    KFE_DEVICE_FAIL_ALLOCATION=$k timeout 60 "$compare" "$host" "$plugin" "$2" > "$logs/allocation.txt" 2>&1
    status=$?
    [[ $status -gt 3 ]] && { echo "allocation $k: exit status $status"; cat "$logs/allocation.txt"; return 1; }
  done
  echo "$1 allocations failed in turn"
}

calls() {
  local part
  for part in gemm elements reuse memory gather map group_sums stream factor eigen block times linear_svms nearest; do
    check "compare $part" timeout 300 "$compare" "$host" "$plugin" "$part"
  done
}

# Eigenvectors of a matrix of which the device has room for a part.
partly_stored() {
  local said
  said=$(KFE_DEVICE_MEMORY=$1 same_features "$2" -m kpca --dim 3 -k laplacian:gamma=0.1 -v 2>&1) || { echo "$said"; return 1; }
  grep -q 'some rows stored on the device' <<< "$said" || { echo "$said"; return 1; }
  tail -n 1 <<< "$said"
}

methods() {
  check "kpca with some rows stored" partly_stored 450000000 12000
  check "sma with a pool in single precision on both" same_features 160000 -m sma --dim 12 --columns 200
  check "hsic on both" same_features 3000 -m hsic
  check "kfd on both" same_features 3000 -m kfd
  check "kpca on both" same_features 3000 -m kpca --dim 5
  check "koc on both" same_features 3000 -m koc
  check "sma on both" same_features 3000 -m sma --dim 5
  check "rfm on both" same_features 3000 -m rfm --iterations 2
}

search() {
  check "search with koc" same_search 2000 knn neighbors=5,9 -m koc
  check "search with kfd" same_search 2000 knn neighbors=5,9 -m kfd --ridge 0.1
  check "search with kpca" same_search 2000 knn neighbors=5,9 -m kpca --dim 5
  check "search with linear SVMs" same_search 4000 linear-svm C=1e-3:1e4:log20 -m koc
}

programs() {
  local name
  for name in test_device test_device_gradient test_device_solve test_learn_device test_conformance_device; do
    if [[ -x $build/tests/$name ]]; then
      KFE_TEST_DEVICE=$gpu check "$name" timeout 300 "$build/tests/$name"
    fi
  done
}

allocations() {
  local part
  for part in gather elements svms_small nearest_small; do
    check "failing allocations, $part" failing_allocations 30 "$part"
  done
}

sanitizer() {
  local tool part
  command -v compute-sanitizer > /dev/null || { echo "skipped sanitizer: compute-sanitizer is missing"; return; }
  for tool in memcheck racecheck initcheck synccheck; do
    check "$tool" timeout 300 compute-sanitizer --tool $tool --error-exitcode 9 "$compare" "$host" "$plugin" gather
  done
  check "memcheck of products" timeout 300 compute-sanitizer --tool memcheck --error-exitcode 9 "$compare" "$host" "$plugin" group_sums
  for part in svms_small nearest_small; do
    check "memcheck of $part" timeout 300 compute-sanitizer --tool memcheck --error-exitcode 9 "$compare" "$host" "$plugin" $part
    check "racecheck of $part" timeout 300 compute-sanitizer --tool racecheck --error-exitcode 9 "$compare" "$host" "$plugin" $part
  done
  check "racecheck of sums" timeout 300 compute-sanitizer --tool racecheck --error-exitcode 9 "$compare" "$host" "$plugin" elements
}

for part in "$@"; do
  case $part in
    calls | methods | search | programs | allocations | sanitizer) "$part" ;;
    *) echo "no such part: $part"; exit 2 ;;
  esac
done
echo "$failures failed"
[[ $failures -eq 0 ]]
