#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tries what README.md promises on a bare Debian 12: makes a root with debootstrap and git, clones the last commit into it, and runs
# ./demo.sh, ./test.sh, the three ways to install, and the examples of README.md. As root, with debootstrap and a network.
# usage: tools/try-fresh.sh [--all] [--only STEP,...] [--root FOLDER] [--data FOLDER] [--ccache FOLDER] [--logs FOLDER]
#
# --all              the step test runs ./test.sh --all, as before a release
# --only STEP,...    some of the steps, in the order given: demo, cmake, pip, r, test, and test:STAGE for a stage of ./test.sh (all but the last)
# --root FOLDER      make the root here and keep it; a root that is already there is used again, with the packages it has got
#                    (a folder of its own, which is removed)
# --data FOLDER      published data sets, bound read-only: the tests that want them are not skipped (see KFE_DATA in test.sh)
# --ccache FOLDER    a folder of ccache that the root shares with this machine; what was compiled here is then not compiled again
# --logs FOLDER      a log per step (test-logs/fresh)
#
# KFE_DEBIAN_MIRROR  the mirror; without it, the one of this machine if it runs Debian, else debootstrap's own. FUZZ_SECONDS, JOBS and LANES
# are passed on. The settings of apt, pip and npm of this machine, its proxies and certificates are used in the root too.
#
# Everything runs in namespaces of its own, so that Ctrl-C or a kill leaves no mount and no process behind. To run it in the background:
#     setsid nohup nice tools/try-fresh.sh > fresh.log 2>&1 &      # fresh.log shows how far it is; the logs have everything
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
usage() { sed -n '6,17s/^# \{0,1\}//p' "$0" >&2; exit 2; }

only=demo,cmake,pip,r,test root= keep=0 data= ccache= all= logs=$source/test-logs/fresh
while (($#)); do
    [[ $1 != --all ]] || { all=--all; shift; continue; }
    [[ $1 == --only || $1 == --root || $1 == --data || $1 == --ccache || $1 == --logs ]] && (($# > 1)) || usage
    case $1 in
        --only) only=$2 ;;
        --root) root=$(realpath -m "$2") keep=1 ;;
        --data) data=$(realpath -e "$2") ;;
        --ccache) mkdir -p "$2"; ccache=$(realpath "$2") ;;
        --logs) logs=$(realpath -m "$2") ;;
    esac
    shift 2
done
IFS=, read -ra steps <<< "$only"
for step in "${steps[@]}"; do
    [[ $step =~ ^(demo|cmake|pip|r|test|test:[a-z]+)$ ]] || { echo "try-fresh.sh: there is no step '$step'" >&2; usage; }
done
[[ $(id -u) == 0 ]] && command -v debootstrap > /dev/null || {
    echo "try-fresh.sh: needs root and debootstrap (apt-get install debootstrap)" >&2
    exit 1
}
[[ -z $(git status --porcelain --untracked-files=no) ]] || echo "note: changes that are not committed are not tried" >&2

# In namespaces of its own: its mounts and processes end with it. The second call of this script finds itself there.
if [[ -z ${KFE_IN_NAMESPACE-} ]]; then
    # Other users must get through the root: tests run the command as one of them.
    ((keep)) || { root=$(mktemp -d /var/tmp/kfe-fresh.XXXXXX) && chmod 755 "$root"; }
    mkdir -p "$logs"
    KFE_IN_NAMESPACE=1 unshare --mount --pid --fork --kill-child "$0" $all --only "$only" --root "$root" --logs "$logs" \
        ${data:+--data "$data"} ${ccache:+--ccache "$ccache"} &
    child=$!
    trap 'kill -KILL "$child" 2> /dev/null; wait "$child" || true; ((keep)) || rm -rf --one-file-system "$root"' EXIT
    trap 'exit 130' INT TERM
    result=0
    wait "$child" || result=$?
    exit "$result"
fi

# ---- the root ----

# "URI SUITE..." of this machine's first Debian source; nothing on another system.
host_mirror() {
    . /etc/os-release
    [[ $ID == debian ]] || return 0
    cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources 2> /dev/null |
        sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' | head -n 1
}

copy_settings() {
    local file
    if [[ $(. /etc/os-release; echo "${VERSION_CODENAME-}") == bookworm ]]; then
        for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
            [[ ! -f $file ]] || { rm -f "$root/etc/apt/sources.list"; cp "$file" "$root$file"; }
        done
    fi
    apt-config dump Acquire | grep -E '^Acquire::(http|https|Check-Valid-Until|Check-Date|Retries)' > "$root/etc/apt/apt.conf.d/90host" || true
    for file in /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/pip.conf "$HOME/.config/pip" "$HOME/.pip" /etc/npmrc "$HOME/.npmrc" /etc/resolv.conf \
        /etc/hosts /usr/local/share/ca-certificates; do
        [[ -e $file ]] || continue
        mkdir -p "$root$(dirname "$file")"
        cp -r --no-target-directory --dereference "$file" "$root${file/#$HOME/\/root}"
    done
}

# The folders of packages that the settings of pip name; the pages of an index (…/simple) lead to files beside it.
local_packages() {
    cat "$root/etc/pip.conf" "$root"/root/.config/pip/pip.conf "$root"/root/.pip/pip.conf 2> /dev/null | cat - <(echo "= ${PIP_FIND_LINKS-}") |
        sed -n '/=/s/^[^=]*=//p' | tr ' ' '\n' | sed 's|^file://||' | grep '^/' | while read -r folder; do
        [[ ! -d $folder ]] || realpath "${folder%/simple}"
    done | sort -u
}

bind() { # FOLDER [PLACE]      read-only
    mkdir -p "$root${2:-$1}" && mount --bind "$1" "$root${2:-$1}" && mount -o remount,bind,ro "$root${2:-$1}"
}

mount_all() {
    local folder
    mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/dev/shm" && bind /sys || return
    for folder in $(local_packages); do bind "$folder" || return; done
    [[ -z $data ]] || bind "$data" /data || return
    [[ -z $ccache ]] || { mkdir -p "$root/root/.cache/ccache" && mount --bind "$ccache" "$root/root/.cache/ccache"; }
}

in_root() { # COMMAND...     with nothing of this machine's environment but what leads to the network
    local name passed=()
    for name in $(compgen -e | grep -iE '^((https?|no|all)_proxy|PIP_FIND_LINKS|PIP_INDEX_URL|npm_config_.*|FUZZ_SECONDS|JOBS|LANES)$'); do
        passed+=("$name=${!name}")
    done
    [[ -z $data ]] || passed+=(KFE_DATA=/data)
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
        DEBIAN_FRONTEND=noninteractive "${passed[@]}" "$@"
}

make_root() {
    local mirror=${KFE_DEBIAN_MIRROR:-$(host_mirror)}
    if [[ ! -e $root/etc/kfe-fresh ]]; then
        [[ -z $(ls "$root" 2> /dev/null) ]] || { echo "$root is not empty, and is no root that was made here to the end; remove it"; return 1; }
        debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} || return
    fi
    copy_settings && mount_all || return
    if [[ ! -e $root/etc/kfe-fresh ]]; then
        in_root apt-get update -qq && in_root apt-get install -y --no-install-recommends git ca-certificates || return
        touch "$root/etc/kfe-fresh"
    fi
    in_root update-ca-certificates && git bundle create -q "$root/tmp/kfe.bundle" HEAD
}

# ---- the steps: each in a clone of its own ----

run_in_clone() { # NAME COMMANDS
    in_root bash -ec "mkdir -p /work; cd /work; rm -rf $1; git clone -q /tmp/kfe.bundle $1; cd $1; $2"
}

step_demo() { run_in_clone demo ./demo.sh; }
step_test() { run_in_clone test "./test.sh ${*:-$all}"; }
step_cmake() {
    run_in_clone cmake 'tools/install-deps.sh --build
        cmake -S . -B build && cmake --build build -j"$(nproc)" && cmake --install build
        PATH=/usr/local/bin:$PATH; cd /tmp
        kfe generate slabs -o train.csv --seed 1 && kfe generate slabs -o new.csv --seed 2
        kfe fit -q -m koc -k rbf:gamma=0.2 --learner svm train.csv -o model.kfe
        kfe evaluate -q model.kfe new.csv --metrics accuracy,f1'
}
# What docs/install.md and docs/r.md ask for beside the packages of install-deps.sh --build.
step_pip() {
    run_in_clone pip 'tools/install-deps.sh --build; apt-get install -y --no-install-recommends python3-venv
        python3 -m venv /work/venv; . /work/venv/bin/activate; pip install ".[tables]"
        sed -n "/^## Five lines of Python/,/^## Three/{/^...python\$/,/^...\$/{//!p}}" README.md > /tmp/readme.py # between the fences
        cd /tmp; test -s readme.py; python readme.py; kfe --version'
}
step_r() {
    run_in_clone r 'tools/install-deps.sh --build; apt-get install -y --no-install-recommends r-base-core r-cran-jsonlite
        tools/build-r.sh && R CMD INSTALL kfe_*.tar.gz
        cd /tmp; Rscript -e "library(kfe); model <- kfe(Species ~ ., iris, method = \"koc\", kernel = \"rbf\", gamma = 0.2, learner = \"svm\"); print(model)" \
            -e "stopifnot(mean(predict(model, iris) == iris\$Species) > 0.9)"'
}

run_step() { # NAME COMMAND...     its log, and on the screen the lines that say how far it is
    local name=$1 log=$logs/${1//:/-}.log began=$SECONDS result=0 shown
    shift
    rm -f "$log.status"
    echo "== $name ($(date +%H:%M)): $log"
    { ("$@") < /dev/null 2>&1 || echo "$?" > "$log.status"; } | tee "$log" |
        grep --line-buffered -E '^(== |Stages:|  [a-z]+ +(passed|FAILED|skipped)|[0-9]+ passed)' || true
    [[ ! -e $log.status ]] || { result=$(cat "$log.status"); rm "$log.status"; }
    ((result == 0)) && shown=passed || shown="FAILED (status $result)"
    results+=("$name: $shown, $((SECONDS - began)) s")
    logged+=("$log")
    echo "== ${results[-1]}"
    return "$result"
}

results=() logged=() bad=0
if run_step root make_root; then
    for step in "${steps[@]}"; do
        name=${step%%:*}
        run_step "$step" "step_$name" ${step:${#name}+1} || bad=1
    done
else
    bad=1
fi

for log in "${logged[@]}"; do
    printf '\n---- last lines of %s\n' "$log"
    tail -n 12 "$log"
done
printf '\nOn %s, from %s:\n' "$(cat "$root/etc/debian_version" 2> /dev/null || echo "a root that was not made")" "$(git log -1 --format='%h %s')"
printf '  %s\n' "${results[@]}"
exit "$bad"
