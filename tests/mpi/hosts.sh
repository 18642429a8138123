#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program in three processes on two "hosts": network namespaces with names of their own, joined by a cable with a delay (tc netem).
# Exits with 77 (skipped) where namespaces or delays cannot be had, or without mpirun.
# usage: hosts.sh DELAY PROGRAM [ARGUMENT ...]     DELAY such as 1ms
set -uo pipefail
skip() { echo "skipped: $1"; exit 77; }
command -v mpirun > /dev/null || skip "mpirun is not installed"
command -v ip > /dev/null && command -v tc > /dev/null || skip "ip and tc (iproute2) are not installed"
[[ $(id -u) == 0 ]] || skip "network namespaces need root"

delay=$1
shift
one=kfe$$a two=kfe$$b work=$(mktemp -d)
clean() {
    ip netns del "$one" 2> /dev/null
    ip netns del "$two" 2> /dev/null
    rm -rf "$work"
}
trap clean EXIT
ip netns add "$one" 2> /dev/null && ip netns add "$two" 2> /dev/null || skip "network namespaces cannot be made here"
ip link add "$one" netns "$one" type veth peer name "$two" netns "$two" 2> /dev/null || skip "veth devices cannot be made here"
for side in "$one 10.77.77.1" "$two 10.77.77.2"; do
    read -r name address <<< "$side"
    ip -n "$name" address add "$address/24" dev "$name" && ip -n "$name" link set "$name" up && ip -n "$name" link set lo up ||
        skip "the namespaces cannot be configured"
    tc -n "$name" qdisc add dev "$name" root netem delay "$delay" 2> /dev/null || echo "note: no delay: tc netem is not in this kernel"
done

# mpirun starts its daemon on the other host through this instead of ssh.
cat > "$work/agent" << AGENT
#!/bin/bash
shift
exec ip netns exec "$two" unshare --uts bash -c 'hostname $two; exec "\$@"' - bash -c "\$*"
AGENT
chmod +x "$work/agent"
[[ $(id -u) != 0 ]] || as_root=--allow-run-as-root
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0
ip netns exec "$one" unshare --uts bash -c "hostname $one; exec \"\$@\"" - \
    mpirun ${as_root-} --oversubscribe --bind-to none --host 10.77.77.1:2,10.77.77.2:1 -n 3 \
    --mca plm_rsh_agent "$work/agent" --mca btl tcp,self --mca pml ob1 \
    --mca btl_tcp_if_include 10.77.77.0/24 --mca oob_tcp_if_include 10.77.77.0/24 \
    -x OMP_WAIT_POLICY -x OMP_NUM_THREADS -x ASAN_OPTIONS -x PATH ${KFE_DEVICE_PATH:+-x KFE_DEVICE_PATH} "$@"
