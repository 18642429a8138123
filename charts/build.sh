#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the charts of reports from the packages that the lock file pins. Without npm or without its packages the build
# goes on, and reports have static figures.
# usage: charts/build.sh FOLDER OUTPUT.js.gz OUTPUT.LICENSES.txt      FOLDER: where npm may put 200 MB
set -uo pipefail
source=$(cd "$(dirname "$0")" && pwd)
folder=$1 bundle=$2 licences=$3

give_up() {
    echo "note: $1; reports will have static figures. Build again to retry." >&2
    rm -f "$bundle" "$licences"
    exit 0
}

command -v npm > /dev/null && command -v node > /dev/null || give_up "npm is not installed"
mkdir -p "$folder" "$(dirname "$bundle")"
cp "$source"/{package.json,package-lock.json,charts.js,build.mjs} "$folder" || exit 1
cd "$folder" || exit 1
npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 --fetch-timeout=30000 --loglevel=error \
    > npm.log 2>&1 || give_up "npm could not install plotly.js (see $folder/npm.log)"
node build.mjs "$bundle.new" "$licences.new" > build.log 2>&1 || give_up "esbuild failed (see $folder/build.log)"
mv "$bundle.new" "$bundle" && mv "$licences.new" "$licences"
