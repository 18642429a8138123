#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the command line; exits with 77 (skipped) if pytest is not installed.
cd "$(dirname "$0")" || exit 1
if ! /usr/bin/python3 -c 'import pytest, numpy' 2> /dev/null; then
    echo "skipped: Debian's python3-pytest and python3-numpy are not installed"
    exit 77
fi
exec /usr/bin/python3 -B -m pytest -p no:cacheprovider --tb=short -rs --durations=10 --durations-min=1 .
