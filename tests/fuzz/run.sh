#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Replays the corpus of every fuzzing harness, then searches for new inputs for some seconds per harness.
# usage: tests/fuzz/run.sh BUILD_DIR SECONDS [HARNESS...]     SECONDS 0: replay only
# A failing input is left in BUILD_DIR/found with its log. GROW=1 adds new minimised inputs to the corpora.
set -uo pipefail
build=$(realpath "${1:?usage: run.sh BUILD_DIR SECONDS [HARNESS...]}") seconds=${2:?} here=$(cd "$(dirname "$0")" && pwd)
shift 2
mkdir -p "$build/found"
export build seconds here GROW=${GROW-}

run_harness() { # PROGRAM
    local name corpus seeds log options=(-rss_limit_mb=2048 -timeout=20 -max_len=65536)
    name=$(basename "$1")
    seeds=$here/corpus/${name#fuzz_}
    log=$build/found/$name.log
    options+=("-artifact_prefix=$build/found/$name-")
    # A search begins with the whole corpus.
    if ((seconds == 0)) && [[ -d $seeds ]] && ! "$1" "${options[@]}" "$seeds"/* > "$log" 2>&1; then
        echo "$name: an input of its corpus fails:"
        tail -n 60 "$log"
        return 1
    fi
    ((seconds > 0)) || { echo "$name: $(ls "$seeds" 2> /dev/null | wc -l) inputs replayed"; return 0; }
    corpus=$(mktemp -d)
    [[ -d $seeds ]] && cp -r "$seeds/." "$corpus"
    if ! "$1" "${options[@]}" -max_total_time="$seconds" -print_final_stats=1 "$corpus" > "$log" 2>&1; then
        echo "$name: found something:"
        tail -n 60 "$log"
        rm -rf "$corpus"
        return 1
    fi
    if [[ -n $GROW ]]; then
        mkdir -p "$seeds"
        "$1" "${options[@]}" -merge=1 "$seeds" "$corpus" >> "$log" 2>&1
    fi
    rm -rf "$corpus"
    echo "$name: $(awk '/number_of_executed_units/ { print $2 }' "$log") executions in $seconds s," \
        "coverage $(grep -oE 'cov: [0-9]+' "$log" | tail -n 1 | cut -d' ' -f2)"
}
export -f run_harness

if (($#)); then
    printf "$build/tests/fuzz/%s\n" "$@"
else
    find "$build" -type f -executable -name 'fuzz_*' | sort
fi > "$build/harnesses"
[[ -s $build/harnesses ]] || { echo "no harness was built in $build" >&2; exit 1; }
xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'run_harness {} || exit 1' < "$build/harnesses"
