#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that pip builds the sdist on a fresh Debian, after tools/install-deps.sh --build. As root, with debootstrap and a network.
# usage: tests/wheel/sdist.sh SDIST
#
# KFE_DEBIAN_ROOT     a root that debootstrap made before, with python3 and python3-venv (build-wheel/debian-root, made if it is not there)
# KFE_DEBIAN_MIRROR   http://deb.debian.org/debian
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[[ -f ${1-} ]] || { sed -n '4s/^# //p' "$0"; exit 2; }
root=${KFE_DEBIAN_ROOT:-$here/../../build-wheel/debian-root}
[[ -x $root/usr/bin/python3 ]] || {
    mkdir -p "$root"
    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$root" "${KFE_DEBIAN_MIRROR:-http://deb.debian.org/debian}"
}
rm -rf "$root/sdist"
mkdir "$root/sdist"
cp "$1" "$root/sdist/kfe.tar.gz"
cp /etc/resolv.conf "$root/etc/"
[[ ! -f /etc/ssl/certs/ca-certificates.crt ]] || cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
mountpoint -q "$root/proc" || { mount -t proc proc "$root/proc" && trap 'umount "$root/proc"' EXIT; }
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 bash -ec '
cd /sdist
tar xzf kfe.tar.gz --wildcards "*/tools/install-deps.sh"
kfe-*/tools/install-deps.sh --build
python3 -m venv venv
venv/bin/pip install --config-settings=cmake.define.KFE_CHARTS=OFF ./kfe.tar.gz
venv/bin/kfe generate slabs -o train.csv --seed 1
venv/bin/kfe fit -q -m koc -k rbf:gamma=0.2 --learner svm train.csv -o model.kfe
venv/bin/python -c "import kfe; print(kfe.__version__, kfe.load(\"model.kfe\"))"'
