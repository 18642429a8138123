#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/gpu/check_plugin.sh BUILD_FOLDER
# Checks the compiled CUDA plug-in on a machine without a GPU: it exports one symbol, links nothing of CUDA, is hardened, and says what is
# missing.
set -uo pipefail
build=$(cd "$1" && pwd) plugin=$(cd "$1" && pwd)/libkfe_cuda.so

exported=$(nm -D --defined-only "$plugin" | awk '{print $3}')
[[ $exported == kfe_device_plugin ]] || { echo "$plugin exports: $exported"; exit 1; }

linked=$(readelf -d "$plugin" | grep NEEDED | grep -iE 'cuda|cublas|cusolver|cusparse|nvidia')
[[ -z $linked ]] || { echo "$plugin links: $linked"; exit 1; }

"$(dirname "$0")/../../tools/check-binaries" "$plugin" || exit 1

if nvidia-smi > /dev/null 2>&1; then
  echo "there is a GPU: tests/gpu/run.sh tests the plug-in"
  exit 0
fi
said=$(KFE_DEVICE_PATH=$build "$build/cli/kfe" devices)
grep -qE "cuda +not usable: .*(driver|GPU)" <<< "$said" || { echo "kfe devices says: $said"; exit 1; }
KFE_DEVICE_PATH=$build "$build/cli/kfe" transform --device cuda nothing.kfe nothing.csv -o nothing.npy > /dev/null 2>&1
[[ $? -eq 2 ]] || { echo "--device cuda without a GPU does not end with status 2"; exit 1; }
echo "the plug-in exports one symbol, links nothing of CUDA, is hardened and names what is missing"
