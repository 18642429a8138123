#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and tests everything; stops at the first failure.
# usage: ./test.sh [--quick]     --quick: only the gcc build and its tests
# KFE_DATA names a folder of published data sets for the tests that want them.
# FUZZ_SECONDS (default 30) is how long each fuzzing harness runs; 0 leaves fuzzing out.
set -uo pipefail
cd "$(dirname "$0")"

quick=0
[[ ${1-} == --quick ]] && quick=1
[[ ${1-} == "" || $quick == 1 ]] || { echo "usage: ./test.sh [--quick]" >&2; exit 2; }
jobs=$(nproc)
# Tests run several at a time, each with several threads: those that wait must not spin.
export OMP_WAIT_POLICY=passive
# Published data sets, if they are at hand; tests that want them say so when they are not.
[[ -n ${KFE_DATA-} || ! -d ../shared/data ]] || export KFE_DATA=$PWD/../shared/data
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
passed=0 failed=0 skipped=0 stage=0

totals() {
    echo "$passed passed, $failed failed, $skipped skipped"
}

title() {
    stage=$((stage + 1))
    echo
    echo "== $stage. $*"
}

# A stage that is one check: passes or ends the run.
check() {
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $*" >&2
        totals
        exit 1
    fi
}

# Preparation that does not count as a test.
must() {
    "$@" || { failed=$((failed + 1)); echo "failed: $*" >&2; totals; exit 1; }
}

build() { # FOLDER CMAKE_OPTION...
    local folder=$1
    shift
    must cmake -S . -B "$folder" -G Ninja -DKFE_WERROR=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" > "$logs/configure"
    must cmake --build "$folder" -j "$jobs"
}

# Adds up what pytest and CMocka programs say of themselves; any other entry of CTest is one test.
count_tests() { # JUNIT_FILE
    read -r more_passed more_failed more_skipped < <(/usr/bin/python3 - "$1" <<'PYTHON'
import re, sys, xml.etree.ElementTree as xml
passed = failed = skipped = 0
for case in xml.parse(sys.argv[1]).getroot().iter("testcase"):
    output = case.findtext("system-out") or ""
    inner = re.search(r"=+ (?=.*(?:passed|failed|skipped))(.*) in [\d.]+s", output)
    number = lambda word: int((re.search(r"(\d+) " + word, inner.group(1)) or [0, 0])[1])
    if inner:
        passed, failed, skipped = (passed + number("passed"), failed + number("(?:failed|error)"),
                                   skipped + number("skipped"))
    elif "[  PASSED  ]" in output:
        count = lambda word: sum(map(int, re.findall(r"\[ +%s +\] (\d+) test" % word, output)))
        passed, failed, skipped = passed + count("PASSED"), failed + count("FAILED"), skipped + count("SKIPPED")
    elif case.get("status") == "run":
        passed += 1
    elif case.get("status") == "fail":
        failed += 1
    else:
        skipped += 1
print(passed, failed, skipped)
PYTHON
)
    passed=$((passed + more_passed)) failed=$((failed + more_failed)) skipped=$((skipped + more_skipped))
}

run_tests() { # FOLDER CTEST_OPTION...
    local folder=$1 result
    shift
    ctest --test-dir "$folder" --output-on-failure -j "$jobs" --output-junit "$logs/junit.xml" \
        --test-output-size-passed 100000 "$@"
    result=$?
    count_tests "$logs/junit.xml"
    if ((result != 0)); then
        ((failed > 0)) || failed=1
        totals
        exit 1
    fi
}

fuzz() {
    local seconds=${FUZZ_SECONDS:-30} harness name
    mkdir -p build-fuzz/found
    export seconds
    find build-fuzz -type f -executable -name 'fuzz_*' | sort > "$logs/harnesses"
    test -s "$logs/harnesses" || { echo "no harness was built" >&2; return 1; }
    run_harness() {
        name=$(basename "$1")
        corpus=$(mktemp -d)
        seeds=tests/fuzz/corpus/${name#fuzz_}
        [[ -d $seeds ]] && cp -r "$seeds/." "$corpus"
        "$1" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -print_final_stats=0 \
            -artifact_prefix="build-fuzz/found/$name-" "$corpus" > "build-fuzz/found/$name.log" 2>&1
        local result=$?
        rm -rf "$corpus"
        ((result == 0)) && echo "$name: fine after $seconds s" ||
            { echo "$name: found something:"; tail -n 40 "build-fuzz/found/$name.log"; }
        return $result
    }
    export -f run_harness
    xargs -P "$jobs" -I{} bash -c 'run_harness {} || exit 255' < "$logs/harnesses"
}

title "what is needed"
if ((quick)); then must tools/install-deps.sh --build; else must tools/install-deps.sh; fi

if ((!quick)); then
    title "layers"
    check tools/check-layers
    title "format"
    check tools/check-format
fi

title "build with gcc"
build build -DCMAKE_C_COMPILER=gcc -DKFE_BUILD_TESTS=ON -DKFE_BUILD_BENCH=ON
title "tests (gcc)"
run_tests build

if ((!quick)); then
    title "the site, warnings as errors"
    check cmake --build build --target docs
fi

if ((!quick)); then
    title "build with clang"
    build build-clang -DCMAKE_C_COMPILER=clang -DKFE_BUILD_BENCH=ON
    title "tests (clang)"
    run_tests build-clang -E '^(recipe|python-package)$'

    title "clang-tidy"
    check tools/check-tidy build-clang

    title "build with the address and undefined-behaviour sanitizers"
    build build-asan -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKFE_SANITIZE=address,undefined
    title "tests (sanitizers)"
    run_tests build-asan -E '^(recipe)$'

    title "fuzzing"
    if [[ ${FUZZ_SECONDS:-30} == 0 ]]; then
        skipped=$((skipped + 1))
        echo "left out: FUZZ_SECONDS is 0"
    else
        build build-fuzz -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKFE_BUILD_FUZZERS=ON \
            -DKFE_BUILD_TESTS=OFF
        check fuzz
    fi
fi

echo
totals
