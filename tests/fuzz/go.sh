#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs all harnesses of a bundle (bundle.sh) at once, each with a copy of its corpus.
# usage: go.sh SECONDS OUTPUT_DIR     the last fifth of the time, at most 90 s, is for minimising the inputs found
# Leaves summary.txt (executions, coverage, corpus by harness), findings.tar.gz (inputs that fail, with logs) and
# corpus.tar.gz (new inputs that reach new code) in OUTPUT_DIR.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd) total=${1:?usage: go.sh SECONDS OUTPUT_DIR}
mkdir -p "${2:?}"
out=$(cd "$2" && pwd)
work=$(mktemp -d)
tar -C "$work" -xJf "$here/fuzz.tar.xz"
mkdir -p "$work/found" "$work/logs" "$work/live" "$work/new" "$work/tmp"
saving=$((total / 5 < 90 ? total / 5 : 90))
fuzzing=$((total - saving))
export work fuzzing saving OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive TMPDIR=$work/tmp PATH=${PATH:-/usr/bin:/bin}

# Starts a harness with the bundle's loader and libraries. To merge, libFuzzer starts itself again, as this program.
for harness in "$work"/bin/fuzz_*; do
    name=${harness##*/}
    printf '#!/bin/bash\nexec %q --argv0 %q --library-path %q %q "$@"\n' "$work/lib/ld-linux-x86-64.so.2" "$work/$name" \
        "$work/lib" "$harness" > "$work/$name"
    chmod +x "$work/$name"
done

# The leak check needs ptrace, which some containers forbid.
leaks=1
export ASAN_OPTIONS=allocator_release_to_os_interval_ms=-1
"$work/fuzz_csv" -detect_leaks=1 "$work"/corpus/csv/* > "$work/logs/leak-check" 2>&1 || leaks=0
((leaks)) || export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
export leaks
# On processors that OpenBLAS 0.3.21 does not know it takes kernels for SSE, whose dsymv reads past the end of its matrix.
export OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-Haswell}
options=(-rss_limit_mb=3000 -timeout=25 -max_len=65536)

fuzz() {  # HARNESS INSTANCE SECONDS      restarts after a finding, at most 40 times
    local name=$1 live=$work/live/$1-$2 until=$((SECONDS + $3)) try left
    mkdir -p "$live"
    cp -r "$work/corpus/${name#fuzz_}/." "$live"
    for try in {1..40}; do
        left=$((until - SECONDS))
        ((left > 0)) || break
        "$work/$name" -rss_limit_mb=3000 -timeout=25 -report_slow_units=20 -max_len=65536 -detect_leaks="$leaks" -print_final_stats=1 -reload=0 \
            -max_total_time="$left" -artifact_prefix="$work/found/$name-" "$live" > "$work/logs/$name-$2-$try.log" 2>&1 && break
    done
}

all_at_once() { # two processes for the harnesses that reach most code
    local path name
    for path in "$work"/bin/fuzz_*; do
        name=${path##*/}
        fuzz "$name" 1 "$fuzzing" &
        [[ ! $name =~ ^fuzz_(use|fit|plan|search)$ ]] || fuzz "$name" 2 "$fuzzing" &
    done
    wait
}
all_at_once

merge() {  # HARNESS      keeps inputs that reach code which the bundle's corpus does not
    local short=${1#fuzz_}
    mkdir -p "$work/new/$short"
    cp -r "$work/corpus/$short/." "$work/new/$short"
    # if merging took too long: some small new inputs, unmerged
    timeout "$saving" "$work/$1" "${options[@]}" -merge=1 "$work/new/$short" "$work"/live/"$1"-* > "$work/logs/$1-merge.log" 2>&1 ||
        find "$work"/live/"$1"-* -type f -size -4k | tail -n 1000 | xargs -r cp -n -t "$work/new/$short" 2> /dev/null
    (cd "$work/new/$short" && for file in *; do [[ ! -e $work/corpus/$short/$file ]] || rm -f "$file"; done)
}
for harness in "$work"/bin/fuzz_*; do merge "${harness##*/}" & done
wait

summarise() {
    local name
    printf '%-12s %12s %8s %8s %8s %8s %8s\n' harness executions cov of ft corpus found
    for name in "$work"/bin/fuzz_*; do
        name=${name##*/}
        awk -v name="$name" -v found="$(find "$work/found" -name "$name-*" | wc -l)" '
            FNR == 1 { last = 0 }
            /^#[0-9]+\t/ { n = substr($1, 2) + 0; sum += n - last; last = n
                for (i = 2; i < NF; i++) {
                    if ($i == "cov:" && $(i + 1) > cov) cov = $(i + 1)
                    if ($i == "ft:" && $(i + 1) > ft) ft = $(i + 1)
                    if ($i == "corp:" && $(i + 1) + 0 > corp) corp = $(i + 1) + 0 } }
            /stat::number_of_executed_units/ { sum += $2 - last; last = $2 }
            /inline 8-bit counters\)/ && match($0, /\([0-9]+ inline/) { of = substr($0, RSTART + 1, RLENGTH - 8) }
            END { printf "%-12s %12d %8d %8d %8d %8d %8d\n", name, sum, cov, of, ft, corp, found }' \
            "$work"/logs/"$name"-[0-9]-*.log
    done
    echo "$(nproc --all) processors, $fuzzing s each, leak check $([[ $leaks == 1 ]] && echo on || echo off)"
}
summarise > "$out/summary.txt"
cat "$out/summary.txt"
# The end of a log shows what happened; inputs that fail are small.
for log in "$work"/logs/*.log; do tail -c 12000 "$log" > "$log.tail" && mv "$log.tail" "$log"; done
find "$work/found" -size +200k -delete
tar -C "$work" -czf "$out/findings.tar.gz" found logs
find "$work/new" -type f -size +40k -delete
tar -C "$work" -czf "$out/corpus.tar.gz" new
ls -la "$out"
rm -rf "$work"
