#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: bench/gpu.sh BUILD_FOLDER [NAME...]
# Prints the measurements of bench/GPU.md on a machine with a GPU; NAME: floors cv sma fits rfm million learn peers, all of them by
# default; or pool, a part of the floors.
# BUILD_FOLDER is built with KFE_CUDA=ON and KFE_BUILD_BENCH=ON, or is an archive of bench/gpu_bundle.sh, unpacked. No measurement may
# take longer than KFE_GPU_SECONDS (300); one that fails does not stop the others. Exit status 0: none failed; 77: there is no GPU.
set -uo pipefail
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
shift
[[ $# -gt 0 ]] || set -- floors cv sma fits rfm million learn peers
export KFE_DEVICE_PATH=$build OMP_WAIT_POLICY=passive
limit=${KFE_GPU_SECONDS:-300}
failures=0

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2> /dev/null || { echo "no GPU: skipped"; exit 77; }
echo "$(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"

# Libraries of an archive are for its own programs, not for Python.
run() {
  LD_LIBRARY_PATH=$build/lib:${LD_LIBRARY_PATH:-} timeout "$limit" "$@" || { echo "FAILED ($?): $*"; failures=$((failures + 1)); }
}
fit() { run "$build/bench/bench_gpu_fit" cuda "$@"; }

floors() {
  local name
  for name in gram gram-single stored fused pool stream; do
    run "$build/bench/bench_gpu" "$build/libkfe_cuda.so" $name
  done
}

pool() { run "$build/bench/bench_gpu" "$build/libkfe_cuda.so" pool; }

# Linear SVMs, nearest neighbours, kernels of sparse rows.
learn() {
  local name
  for name in svms nearest sparse; do
    run "$build/bench/bench_gpu" "$build/libkfe_cuda.so" $name
  done
}

# Accuracies must be the same on both devices; the last columns are times.
cv() {
  local device folder
  folder=$(mktemp -d)
  for device in cuda cpu; do
    run "$build/bench/bench_gpu_cv" $device 20000 50 10 > "$folder/$device"
    sed -n 1p "$folder/$device"
    sed -n 's/^\(.*±[^ ]* *[0-9.]*\) .*/\1/p' "$folder/$device" > "$folder/accuracies-$device"
  done
  echo "settings whose accuracies differ: $(diff "$folder/accuracies-cuda" "$folder/accuracies-cpu" | grep -c '^<')" \
    "of $(wc -l < "$folder/accuracies-cpu")"
  rm -rf "$folder"
}

sma() { fit sma dim=400,columns=500 0.01 1000000 50 0; }

fits() {
  fit hsic lambda=0.1 0.002 100000 256 10
  fit kfd ridge=0.1 0.002 100000 256 10
  fit hsic lambda=0.1 0.002 150000 256 10
  fit kpca dim=10 0.002 100000 256 10
}

# Five iterations with real targets and with ten classes; the last line is that of the CPU.
rfm() {
  local settings=distance=full,held-out=0,ridge=0.01 kernel=exp:sigma=14
  fit rfm $settings $kernel 20000 100 0
  fit rfm $settings $kernel 20000 100 10
  fit rfm $settings $kernel 100000 100 0
  fit rfm $settings $kernel 100000 100 10
  run "$build/bench/bench_gpu_fit" cpu rfm $settings $kernel 20000 100 10
}

million() { fit kpca dim=10 0.01 1000000 50 10; }

peers() {
  python3 -c 'import torch' 2> /dev/null || { echo "no PyTorch: its measurements are skipped"; return; }
  timeout "$limit" python3 "$here/gpu_peers.py" 100000 256 || { echo "FAILED ($?): gpu_peers.py"; failures=$((failures + 1)); }
}

for name in "$@"; do
  case $name in
    floors | pool | cv | sma | fits | rfm | million | learn | peers) "$name" ;;
    *) echo "no such measurement: $name"; exit 2 ;;
  esac
done
echo "$failures failed"
[[ $failures -eq 0 ]]
