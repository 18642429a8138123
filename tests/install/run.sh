#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh BUILD_DIR C_COMPILER CMAKE
set -euo pipefail
build=$1 compiler=$2 cmake=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

step() { echo "-- $*"; }

step "install into a prefix, and into a DESTDIR"
"$cmake" --install "$build" --prefix "$prefix" > "$work/log" || { cat "$work/log"; exit 1; }
DESTDIR=$work/stage "$cmake" --install "$build" --prefix /usr > "$work/log" || { cat "$work/log"; exit 1; }
test -x "$work/stage/usr/bin/kfe"
library=$(find "$prefix" -name libkfe.so)
libdir=$(dirname "$library")
for file in "$prefix/include/kfe.h" "$prefix/include/kfe.hpp" "$libdir/libkfe.a" "$libdir/pkgconfig/kfe.pc" \
    "$libdir/cmake/kfe/kfe-config.cmake" "$prefix/share/man/man1/kfe.1" "$prefix/share/man/man1/kfe-fit.1" "$prefix/bin/kfe-reproduce" "$prefix/share/man/man1/kfe-reproduce.1" \
    "$prefix/share/zsh/site-functions/_kfe" "$prefix/share/fish/vendor_completions.d/kfe.fish" \
    "$prefix/share/bash-completion/completions/kfe"; do
    test -s "$file" || { echo "missing: $file"; exit 1; }
done

step "what is installed is hardened, and loads nothing from the folder that it runs in"
if ! grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Debug$' "$build/CMakeCache.txt"; then
    "$here/../../tools/check-binaries" "$prefix"/bin/kfe* "$(realpath "$library")" $(find "$libdir/kfe" -name '*.so' 2> /dev/null)
fi

step "the shared library has a SONAME and shows nothing but kfe_ symbols"
objdump -p "$library" | grep 'SONAME *libkfe\.so\.[0-9]' > /dev/null
symbols=$(nm -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//')
echo "$symbols" | grep '^kfe_fit$' > /dev/null
if foreign=$(echo "$symbols" | grep -v '^kfe_' | grep -vxE '_init|_fini|_edata|_end|__bss_start|KFE_[0-9.]+'); then
    echo "symbols that should be hidden: $foreign"; exit 1
fi
if inner=$(echo "$symbols" | grep '^kfe_i_'); then
    echo "inner symbols that should be hidden: $inner"; exit 1
fi

step "programs that were built with the last release still run"
CC=$compiler "$here/../../tools/check-abi" --library "$library" "$prefix/include/kfe.h" "$prefix/include/kfe_arrow.h"

step "the header is pedantic C11 and C++"
echo '#include <kfe.h>' > "$work/header.c"
cp "$work/header.c" "$work/header.cc"
"$compiler" -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" "$work/header.c"
for cxx in g++ clang++; do
    command -v $cxx > /dev/null || continue
    $cxx -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" "$work/header.cc"
done

step "pkg-config: shared"
export PKG_CONFIG_PATH=$libdir/pkgconfig
"$compiler" -std=c11 -Wall -Werror $(pkg-config --cflags kfe) "$here/program.c" -o "$work/shared" \
    $(pkg-config --libs kfe)
LD_LIBRARY_PATH=$libdir "$work/shared"
if readelf -d "$work/shared" | grep 'NEEDED.*liblapacke' > /dev/null; then
    echo "pkg-config --libs names a library that only a static link needs"; exit 1
fi

step "pkg-config: static"
if { pkg-config --static --libs kfe; cat "$libdir"/cmake/kfe/*; } | grep -iE 'jansson|-lsvm|-llinear|libsvm|liblinear'; then
    echo "the library is said to need what only kfe-reproduce or the tests use"; exit 1
fi
mkdir "$work/static-only"
cp "$libdir/libkfe.a" "$work/static-only"
"$compiler" -std=c11 $(pkg-config --cflags kfe) "$here/program.c" -o "$work/static" \
    -L"$work/static-only" $(pkg-config --static --libs kfe | sed 's|-L[^ ]*/pkgconfig/[^ ]*||')
if readelf -d "$work/static" | grep 'NEEDED.*libkfe' > /dev/null; then
    echo "the static program needs the shared library"; exit 1
fi
"$work/static"

step "find_package"
"$cmake" -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DKFE_VERSION="$(pkg-config --modversion kfe)" \
    -DCMAKE_C_COMPILER="$compiler" > "$work/log" && "$cmake" --build "$work/consumer" >> "$work/log" ||
    { cat "$work/log"; exit 1; }
"$work/consumer/with_kfe"
"$work/consumer/with_static"

step "the installed command"
"$prefix/bin/kfe" --version

step "man pages without warnings"
for page in "$prefix"/share/man/man1/*.1; do
    if command -v groff > /dev/null; then
        warnings=$(groff -K utf8 -man -T utf8 -ww -z "$page" 2>&1)
        test -z "$warnings" || { echo "$warnings"; exit 1; }
    fi
    if command -v mandoc > /dev/null; then
        # Without a date, so that the same sources give the same page.
        warnings=$(mandoc -T lint -W warning "$page" | grep -v 'missing date' || true)
        test -z "$warnings" || { echo "$warnings"; exit 1; }
    fi
done

step "completion"
completions() {  # words of the line; the last one is completed
    bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kfe; printf "%s\n" "${COMPREPLY[@]}"' \
        "$prefix/share/bash-completion/completions/kfe" "$@"
}
completions kfe tr | grep -x transform > /dev/null
completions kfe fit -m ko | grep -x koc > /dev/null
completions kfe fit -k rb | grep -x rbf > /dev/null
completions kfe fit -m kpca --d | grep -x -- --dim > /dev/null
completions kfe generate sl | grep -x slabs > /dev/null
completions kfe convert --missing m | grep -x mean > /dev/null
echo "-- all fine"
