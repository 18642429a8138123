#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and tests, in stages. A stage that fails does not stop the others.
#
# usage: ./test.sh               what a contributor runs before a commit: the stages marked with + below
#        ./test.sh --all         every stage, and every test whole
#        ./test.sh STAGE...      some of them, whole: ./test.sh unit docs
#        ./test.sh --list        the stages, with what each does
#
# KFE_DATA      folder of published data sets; tests that want them are skipped without it
# FUZZ_SECONDS  how long each fuzzing harness runs (8); 0: only replay the corpora
# JOBS          compilers or tests at a time within a stage (number of cores)
# LANES         stages at a time (2; 1 if a single stage is asked for)
#
# Logs are kept in test-logs/. ccache and mold are used where they are installed.
set -uo pipefail
cd "$(dirname "$0")"

# ---- stages: a line here and a function stage_NAME below ----
# A stage runs in a shell of its own, in the order of this list, with its output in test-logs/NAME.log. It returns 0
# if it passed and 77 if it was skipped. What it counts with `count` is added up; a stage that counts nothing is one test.
# A + marks the stages of ./test.sh; a contributor waits for these, so they take at most 12 minutes on two cores.

STAGES="
layers   + source files include only their own layer and those below it
format   + C files are formatted as .clang-format says
unit     + gcc build; all C test programs and examples, the R package
cli      + the command line as a user sees it
python   + the Python package, and the library against scikit-learn
docs     + commands and programs in the documentation
install  + install, pkg-config, find_package, man pages, completion
tidy     + clang-tidy over the library and the command line; without --all, over files that differ from the upstream branch
sanitize - clang build with assertions, address and undefined-behaviour sanitizers; C test programs
fuzz     - replay all corpora in the same build, then run each harness for FUZZ_SECONDS
mpi      - several processes: every method with every kernel in three, the command line in 1, 2, 3, 4 and 7, and two hosts
recipe   - CONTRIBUTING.md's recipe for a new method, done as it stands there
site     - the pages as a site, warnings as errors
cuda     - the plug-in for NVIDIA GPUs, compiled where nvcc is installed; what it exports and links, and what it says without a GPU
tsan     - clang build with the thread sanitizer; the C tests that run threads
valgrind - loading and using models of the corpora under valgrind
"

stage_layers() { tools/check-layers; }
stage_format() { tools/check-format; }
stage_unit() { build_gcc && run_tests build -LE "^(cli|python|docs|install|recipe$short)\$"; }
stage_cli() { build_gcc && run_tests build -L '^cli$'; }
stage_python() { build_gcc && run_tests build -L '^python$'; }
stage_docs() { build_gcc && run_tests build -L '^docs$'; }
stage_install() { build_gcc && run_tests build -L '^install$'; }
stage_recipe() { build_gcc && run_tests build -L '^recipe$'; }
stage_site() { build_gcc && cmake --build build --target docs; }
stage_tidy() {
    local files=--changed
    ((whole)) && files=
    build_gcc && tools/check-tidy build $files
}
# LLVM's OpenMP keeps some memory of its threads until the end. With the address sanitizer, OpenBLAS waits in it for a thread that never
# comes (seen with version 14 on an AMD EPYC), so BLAS has one thread; tests of threads ask for several themselves.
stage_sanitize() {
    build_sanitize && OMP_NUM_THREADS=1 LSAN_OPTIONS=suppressions=$PWD/tests/leaks.txt run_tests build-asan -LE '^(cli|python|docs|r|reproduce)$'
}
stage_mpi() {
    command -v mpirun > /dev/null || { echo "skipped: mpirun is not installed"; return 77; }
    build_gcc || return
    local result=0
    KFE_TEST_CLUSTER=1 KFE_DEVICE_PATH=$PWD/build tests/mpi/launch.sh 3 build/tests/mpi/mpi_processes &&
        count 1 0 0 || result=1
    KFE=$PWD/build/cli/kfe tests/mpi/run.sh && count 1 0 0 || result=1
    return "$result"
}
stage_cuda() {
    local nvcc
    nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc) || { echo "skipped: nvcc is not installed"; return 77; }
    [[ -e $(dirname "$(realpath "$nvcc")")/../include/cusolverDn.h ]] || backends/cuda/headers.sh build/backends/cuda/headers ||
        { echo "skipped: the headers of cuBLAS and cuSOLVER are neither in the toolkit nor on PyPI"; return 77; }
    target="kfe_cuda kfe_cli" build build -DCMAKE_C_COMPILER=gcc -DKFE_BUILD_BENCH=ON && tests/gpu/check_plugin.sh build &&
        count 3 0 0
}
stage_fuzz() { build_sanitize && OMP_NUM_THREADS=1 tests/fuzz/run.sh build-asan "${FUZZ_SECONDS:-8}" && count "$(ls tests/fuzz/fuzz_*.c | wc -l)" 0 0; }
# Threads of OpenMP are seen by the sanitizer through archer, which comes with clang's OpenMP. OpenBLAS is not instrumented.
tsan_tests=(test_threads test_workers test_gram)
stage_tsan() {
    local tools
    tools=$(find /usr/lib/llvm-*/lib -name libarcher.so 2> /dev/null | sort -V | tail -n 1)
    [[ -n $tools ]] || { echo "skipped: archer, of libomp-dev, is not installed"; return 77; }
    build_tsan || return
    OMP_TOOL_LIBRARIES=$tools ARCHER_OPTIONS=verbose=0 OMP_NUM_THREADS=3 OPENBLAS_NUM_THREADS=1 \
        TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1 \
        run_tests build-tsan -R "^($(tr ' ' '|' <<< "${tsan_tests[*]}"))\$"
}
stage_valgrind() {
    command -v valgrind > /dev/null || { echo "skipped: valgrind is not installed"; return 77; }
    target=replay_use build build -DCMAKE_C_COMPILER=gcc -DKFE_BUILD_BENCH=ON || return
    OMP_NUM_THREADS=1 valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        build/tests/replay/replay_use tests/fuzz/corpus/use tests/fuzz/corpus/model
}

# ---- builds that stages share ----

configure() { # FOLDER CMAKE_OPTION...
    local folder=$1
    shift
    cmake -S . -B "$folder" -G Ninja -DKFE_BUILD_TESTS=ON -DKFE_WERROR=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${linker[@]}" "$@" > /dev/null
}

# One stage at a time builds a folder; the next one finds it built.
build() { # FOLDER CMAKE_OPTION...     $target: what to build (all)
    (
        flock 9
        configure "$@" && cmake --build "$1" -j "$JOBS" --target ${target:-all}
    ) 9> "$logs/$1.lock"
}

clang=(-DCMAKE_C_COMPILER=clang)
build_gcc() { build build -DCMAKE_C_COMPILER=gcc -DKFE_BUILD_BENCH=ON; }
build_sanitize() {
    build build-asan "${clang[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKFE_SANITIZE=address,undefined,float-cast-overflow -DKFE_ASSERT=ON \
        -DKFE_BUILD_FUZZERS=ON
}
build_tsan() {
    target="${tsan_tests[*]}" build build-tsan "${clang[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKFE_SANITIZE=thread
}
# ---- counting ----

count() { # PASSED FAILED SKIPPED
    echo "$*" >> "$counts"
}

run_tests() { # FOLDER CTEST_OPTION...
    local folder=$1 result
    shift
    ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$JOBS" --output-junit "$counts.xml" \
        --test-output-size-passed 1000000 "$@"
    result=$?
    tools/count-tests "$counts.xml" "$counts.times" >> "$counts"
    return $result
}

# ---- running them ----

run_stage() { # NAME      leaves "RESULT SECONDS CPU_SECONDS PASSED FAILED SKIPPED" in $logs/NAME.result
    local name=$1 result sums cpu word=passed
    counts=$logs/$name.counts
    : > "$counts"
    SECONDS=0
    "stage_$name" < /dev/null
    result=$?
    sums=$(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$counts")
    if ((result == 77)); then
        word=skipped
        [[ $sums != "0 0 0" ]] || sums="0 0 1"
    elif ((result != 0)); then
        word=FAILED
        [[ $sums =~ ^[0-9]+\ 0\  ]] && sums=$(awk '{ print $1, 1, $3 }' <<< "$sums")
    elif [[ $sums == "0 0 0" ]]; then
        sums="1 0 0"
    fi
    times > "$counts.cpu"
    cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += 60 * t[1] + t[2] } printf "%.0f", s }' "$counts.cpu")
    echo "$word $SECONDS $cpu $sums" > "$logs/$name.result"
}

report_stage() { # NAME
    read -r word seconds cpu passed failed skipped < "$logs/$1.result"
    [[ $word != FAILED || $LANES == 1 ]] || { echo "---- output of stage $1:"; cat "test-logs/$1.log"; echo "---- end of stage $1"; }
    printf '== %-9s %s: %d passed, %d failed, %d skipped; %d s, %d s of CPU\n' \
        "$1" "$word" "$passed" "$failed" "$skipped" "$seconds" "$cpu"
}

stop() {
    trap - INT TERM EXIT
    for group in $(jobs -p); do kill -- "-$group" 2> /dev/null; done
    rm -rf "$logs"
    exit 130
}

run_all() { # NAME...
    local name running=0
    set -m # each stage is a process group, so that Ctrl-C ends all of it
    for name in "$@"; do
        ((running < LANES)) || { wait -n; running=$((running - 1)); }
        show_finished "$@"
        echo "== $name: $(describe "$name")"
        if ((LANES == 1)); then
            { run_stage "$name" 2>&1 | tee "test-logs/$name.log"; } &
        else
            run_stage "$name" > "test-logs/$name.log" 2>&1 &
        fi
        running=$((running + 1))
    done
    wait
    show_finished "$@"
}

declare -A shown=()
show_finished() { # NAME...
    local name
    for name in "$@"; do
        [[ -f $logs/$name.result && -z ${shown[$name]-} ]] || continue
        shown[$name]=1
        report_stage "$name"
    done
}

summary() { # NAME...
    local name passed=0 failed=0 skipped=0 bad=0
    echo
    echo "Stages:"
    for name in "$@"; do
        [[ -f $logs/$name.result ]] || echo "FAILED 0 0 0 1 0" > "$logs/$name.result"
        read -r word seconds cpu p f s < "$logs/$name.result"
        printf '  %-9s %-7s %5d passed %3d failed %4d skipped %5d s %5d s of CPU\n' \
            "$name" "$word" "$p" "$f" "$s" "$seconds" "$cpu"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
        [[ $word != FAILED ]] || bad=1
    done
    show_slowest
    echo
    echo "$passed passed, $failed failed, $skipped skipped"
    return $bad
}

show_slowest() {
    local times=("$logs"/*.counts.times)
    [[ -s ${times[0]} ]] || return 0
    echo
    echo "Slowest tests, in seconds:"
    sort -rn "${times[@]}" | awk 'NR <= 10 { printf "  %7.1f %s\n", $1, $2 }'
}

names() { awk -v mark="${1-}" 'NF && (mark == "" || $2 == mark) { print $1 }' <<< "$STAGES"; }
describe() { awk -v name="$1" '$1 == name { $1 = $2 = ""; print substr($0, 3) }' <<< "$STAGES"; }

# ---- what was asked for ----

whole=1
case ${1-} in
    "") whole=0 wanted=($(names +)) ;;
    --all) wanted=($(names)) ;;
    --list) awk 'NF' <<< "$STAGES"; exit 0 ;;
    -*) echo "usage: ./test.sh [--all | --list | STAGE...]" >&2; exit 2 ;;
    *) wanted=("$@") ;;
esac
for name in "${wanted[@]}"; do
    names | grep -qx -- "$name" || { echo "no stage '$name'; stages: $(names | xargs)" >&2; exit 2; }
done

JOBS=${JOBS:-$(nproc)}
LANES=${LANES:-$((${#wanted[@]} > 1 ? 2 : 1))}
# Tests run several at a time, so each has one thread unless it asks for more, and threads that wait do not spin.
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
# Labels of tests that only --all runs, and the variable by which other tests know that they are to be whole.
short="|long|mpi"
((whole == 0)) || { export KFE_TEST_ALL=1; short=; }
[[ -n ${KFE_DATA-} || ! -d ../shared/data ]] || export KFE_DATA=$PWD/../shared/data
mkdir -p test-logs
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
trap stop INT TERM

if ! tools/install-deps.sh; then
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
[[ -n ${CMAKE_C_COMPILER_LAUNCHER-} ]] || ! command -v ccache > /dev/null || export CMAKE_C_COMPILER_LAUNCHER=ccache
linker=()
! command -v mold > /dev/null || linker=(-DCMAKE_{EXE,SHARED,MODULE}_LINKER_FLAGS=-fuse-ld=mold)
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 # a build in another folder finds what this one compiled
run_all "${wanted[@]}"
summary "${wanted[@]}"
