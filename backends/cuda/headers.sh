#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: headers.sh FOLDER
# Puts the headers of cuBLAS and cuSOLVER for CUDA 13 into FOLDER, unless they are there; the CUDA plug-in is compiled with them.
# They come from NVIDIA's packages on PyPI; the libraries in these packages are not kept.
set -euo pipefail
folder=$1
[[ -e $folder/cublas_v2.h && -e $folder/cusolverDn.h ]] && exit 0
mkdir -p "$folder"
packages=$(mktemp -d "$folder/packages.XXXXXX")
trap 'rm -rf "$packages"' EXIT
python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$packages" 'nvidia-cublas>=13,<14' 'nvidia-cusolver>=12,<13'
for package in "$packages"/*.whl; do
  python3 - "$package" "$folder" <<'PYTHON'
import pathlib, sys, zipfile
package, folder = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2])
for name in package.namelist():
    if "/include/" in name and name.endswith(".h"):
        (folder / pathlib.Path(name).name).write_bytes(package.read(name))
PYTHON
done
test -e "$folder/cublas_v2.h" -a -e "$folder/cusolverDn.h"
