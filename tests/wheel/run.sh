#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests a repaired wheel on a Debian that has Python and nothing else, and beside NumPy, scikit-learn and torch. Takes minutes.
# usage: tests/wheel/run.sh WHEEL [alone] [neighbours]
#
# alone         in a root made by debootstrap, as root; otherwise in a virtual environment of this system
# neighbours    in a virtual environment with the newest NumPy, SciPy, scikit-learn and joblib
#
# KFE_CLEAN_ROOT      a root that debootstrap made before (build-wheel/clean-root, made if it is not there)
# KFE_NEIGHBOURS      a virtual environment to use for the neighbours, such as one with torch
# KFE_DEBIAN_MIRROR   http://deb.debian.org/debian
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
[[ -f ${1-} ]] || { sed -n '4,7s/^# //p' "$0"; exit 2; }
wheel=$(realpath "$1")
shift
python=${PYTHON:-/usr/bin/python3}
unset PYTHONPATH LD_LIBRARY_PATH KFE_LIBRARY

make_root() { # FOLDER
    [[ ! -x $1/usr/bin/python3 ]] || return 0
    command -v debootstrap > /dev/null && [[ $(id -u) == 0 ]] || return 1
    mkdir -p "$(dirname "$1")"
    debootstrap --variant=minbase --include=python3,python3-venv bookworm "$1" \
        "${KFE_DEBIAN_MIRROR:-http://deb.debian.org/debian}" > "$1.log" 2>&1 || { tail -n 5 "$1.log"; return 1; }
}

# The root has no network: what pip installs there is brought along, for the root's version of Python.
test_in_root() { # FOLDER
    local root=$1 version
    version=$(chroot "$root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    rm -rf "$root/test"
    mkdir -p "$root/test/wheels"
    cp "$wheel" "$root/test/wheels"
    "$python" -m pip download -q -d "$root/test/wheels" --only-binary :all: --python-version "$version" \
        --platform manylinux_2_34_x86_64 --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 "$wheel" 2> /dev/null
    cp "$here/check_alone.py" "$root/test"
    mountpoint -q "$root/proc" || { mount -t proc proc "$root/proc" && trap 'trap - RETURN; umount "$root/proc"' RETURN; }
    chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 sh -ec \
        'cd /test; python3 -m venv --clear venv; venv/bin/pip install -q --no-index --find-links wheels kfe; venv/bin/python check_alone.py'
}

test_alone() {
    local root=${KFE_CLEAN_ROOT:-$source/build-wheel/clean-root}
    if make_root "$root"; then
        echo "-- alone, in $root"
        test_in_root "$root"
    else
        echo "-- alone, in a virtual environment: debootstrap is not installed, or this is not root"
        environment "$source/build-wheel/alone" && "$source/build-wheel/alone/bin/python" "$here/check_alone.py"
    fi
}

environment() { # FOLDER PACKAGE...
    [[ -x $1/bin/python ]] || "$python" -m venv "$1"
    "$1/bin/pip" install -q --upgrade "${@:2}" "$wheel" 2> /dev/null
    "$1/bin/pip" install -q --force-reinstall --no-deps "$wheel" 2> /dev/null
}

test_neighbours() {
    local folder=${KFE_NEIGHBOURS:-$source/build-wheel/neighbours}
    echo "-- neighbours"
    environment "$folder" numpy scipy scikit-learn joblib
    (cd / && "$folder/bin/python" "$here/check_neighbours.py")
}

(($#)) || set -- alone neighbours
for name; do
    "test_$name"
done
