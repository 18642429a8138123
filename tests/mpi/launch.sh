#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program in several processes; exits with 77 (skipped) without mpirun or without the plug-in.
# usage: launch.sh PROCESSES PROGRAM [ARGUMENT ...]
processes=$1
shift
if ! command -v mpirun > /dev/null; then
    echo "skipped: mpirun is not installed"
    exit 77
fi
if [[ ! -e ${KFE_DEVICE_PATH:-.}/libkfe_mpi.so ]]; then
    echo "skipped: kfe was built without the plug-in for MPI"
    exit 77
fi
# Sanitizers would report memory that Open MPI keeps until the process ends.
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0
[[ $(id -u) != 0 ]] || as_root=--allow-run-as-root
exec mpirun ${as_root-} --oversubscribe --bind-to none -n "$processes" "$@"
