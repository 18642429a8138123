#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the files of a release: sdist, wheel, list of what the wheel bundles (SBOM), changes, checksums.
# usage: tools/release.sh [--try] [--check] [FOLDER]     FOLDER: where they go (dist/VERSION)
#
# --check    only check that a release could be made
# --try      go on where a release would be refused: uncommitted changes, versions that differ, a changelog without a date
set -euo pipefail
cd "$(dirname "$0")/.."

try=0 check=0
while [[ ${1-} == --* ]]; do
    case $1 in
        --try) try=1 ;;
        --check) check=1 ;;
        *) sed -n '4,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
    shift
done

refuse() {
    echo "tools/release.sh: $1" >&2
    ((try)) || exit 1
}

version=$(sed -n 's/^#define KFE_VERSION "\([^"]*\)".*/\1/p' include/kfe.h)
[[ -z $(git status --porcelain) ]] || refuse "there are uncommitted changes; commit them, or use --try"
tools/check-versions --release > /dev/null || refuse "the version is not settled (see above)"
tagged=$(git rev-list -n 1 "v$version" 2> /dev/null || true)
[[ -z $tagged || $tagged == "$(git rev-parse HEAD)" ]] ||
    refuse "v$version is the tag of another commit; a new release needs a new version in include/kfe.h"
! ((check)) || { echo "kfe $version can be released"; exit 0; }

dist=$(realpath -m "${1:-dist/$version}")
mkdir -p "$dist"
find "$dist" -maxdepth 1 -type f -name 'kfe-*' -delete
tools/build-wheel.sh "$dist"
wheel=$(ls "$dist"/*.whl)
python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' \
    "$wheel" "kfe-$version.dist-info/sboms/kfe.cdx.json" > "$dist/kfe-$version.cdx.json"
# The part of the changelog about this version.
awk -v version="$version" '/^## / { on = index($2, version) == 1 } on' CHANGELOG.md > "$dist/kfe-$version-changes.md"
[[ -s $dist/kfe-$version-changes.md ]] || refuse "CHANGELOG.md says nothing about $version"
(cd "$dist" && sha256sum kfe-* > SHA256SUMS && sha256sum --quiet -c SHA256SUMS)
ls -l "$dist"
((try)) && echo "This was a trial. Do not publish it." || echo "Test it with tools/try-fresh.sh --all and tests/wheel/run.sh, tag the commit v$version, and publish $dist."
