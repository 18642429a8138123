#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of reproduce/all.sh; exits with 77 (skipped) if pytest is not installed.
cd "$(dirname "$0")" || exit 1
/usr/bin/python3 -c 'import pytest' 2> /dev/null || { echo "skipped: needs python3-pytest"; exit 77; }
exec /usr/bin/python3 -m pytest -p no:cacheprovider --durations=10 --durations-min=1 test_all.py
