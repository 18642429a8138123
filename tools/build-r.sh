#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes the source package of R, kfe_VERSION.tar.gz, with the C sources of the library inside.
# usage: tools/build-r.sh [--check] [FOLDER]     FOLDER: where to write it (default: the current one)
# --check also runs `R CMD check --no-manual` on it: it compiles the C sources and takes minutes.
set -euo pipefail
check=no
if [[ ${1-} == --check ]]; then
    check=yes
    shift
fi
if [[ ${1-} == -* ]]; then
    sed -n 's/^# \(usage:\|--check\)/\1/p' "$0" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-.}"
target=$(cd "${1:-.}" && pwd)
command -v R > /dev/null || {
    echo "build-r.sh: R is not installed (Debian: r-base-core)" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/R/kfe" "$work/kfe"
cd "$work/kfe"
./cleanup
mkdir -p src/libkfe
cp -r "$root/include" "$root/src" src/libkfe/
find src/libkfe -name '*.md' -delete
# The page of reports is embedded by CMake; here, once, so that the package needs no CMake.
cmake -DOUTPUT="$work/kfe/src/libkfe/page_embedded.c" -DFOLDER="$root/charts" -P "$root/charts/embed.cmake"
version=$(sed -n 's/^#define KFE_VERSION "\(.*\)".*/\1/p' src/libkfe/include/kfe.h)
sed -i "s/^Version: .*/Version: $version/" DESCRIPTION

cd "$work"
export KFE_BUNDLED=yes
flags=${KFE_R_BUILD_FLAGS-}
Rscript -e 'quit(status = !(requireNamespace("knitr", quietly = TRUE) && requireNamespace("rmarkdown", quietly = TRUE)))' || {
    echo "note: without the vignettes, which need knitr and rmarkdown (Debian: r-cran-knitr, r-cran-rmarkdown)" >&2
    flags+=" --no-build-vignettes"
}
R CMD build $flags kfe
mv "kfe_$version.tar.gz" "$target/"
echo "written: $target/kfe_$version.tar.gz"
if [[ $check == yes ]]; then
    cd "$target"
    R CMD check --no-manual "kfe_$version.tar.gz"
fi
