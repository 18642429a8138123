#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of reports; exits with 77 (skipped) if pytest is not installed. Those in a browser skip without Chromium.
cd "$(dirname "$0")" || exit 1
if ! /usr/bin/python3 -c 'import pytest' 2> /dev/null; then
    echo "skipped: Debian's python3-pytest is not installed"
    exit 77
fi
exec /usr/bin/python3 -B -m pytest -p no:cacheprovider --tb=short -rs --durations=10 --durations-min=1 .
