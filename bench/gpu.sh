#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: bench/gpu.sh BUILD_FOLDER
# Prints the measurements of bench/GPU.md on a machine with a GPU: floors first, then whole fits, then PyTorch if it is there.
# BUILD_FOLDER is built with KFE_CUDA=ON and KFE_BUILD_BENCH=ON.
set -uo pipefail
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
export KFE_DEVICE_PATH=$build OMP_WAIT_POLICY=passive
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
for name in gram gram-single stored fused pool stream; do
  "$build/bench/bench_gpu" "$build/libkfe_cuda.so" $name
done
fit() { "$build/bench/bench_gpu_fit" cuda "$@"; }
fit hsic lambda=0.1 0.002 100000 256 10
fit kfd ridge=0.1 0.002 100000 256 10
fit hsic lambda=0.1 0.002 150000 256 10
fit kpca dim=10 0.002 100000 256 10
fit kpca dim=10 0.01 1000000 50 10
fit sma dim=400,columns=500 0.01 1000000 50 0 10000000
python3 -c 'import torch' 2> /dev/null && python3 "$here/gpu_peers.py" 100000 256
