# Runs in a guest of benches/compare.py: a program whose memory is where the kernel put it at first, and one
# way of tiering. Given: PAGETIDE, LAB, MODE, PROGRAM, SECONDS_, OPTIONS.
set -e
. /common.sh
awk '/MemFree/ { print "free", $4 }' /sys/devices/system/node/node0/meminfo
# As on a machine, on before programs start. Where demotion is not, kswapd gives up while memory fills, and does not begin again.
[ $MODE != kernel ] || kernel_tiering
begin_program
# CPU time so far of the program, with what faults took in it, and of the kernel's reclaim, ns.
ran() {
    echo "ran program $1 $(cat /proc/$load/task/*/schedstat /proc/$pid/task/*/schedstat | sort -u | awk '{ ns += $1 } END { printf "%.0f", ns }')"
    echo "ran kswapd $1 $(cut -d ' ' -f 1 $(dirname $(grep -lx kswapd0 /proc/[0-9]*/comm))/schedstat)"
}
# What the program has of the fast tier, KiB.
has() {
    awk -v when=$1 '{ size = 4; pages = 0
        for (i = 3; i <= NF; i++) { if ($i ~ /^N0=/) pages = substr($i, 4); if ($i ~ /^kernelpagesize_kB=/) size = substr($i, 19) }
        sum += pages * size } END { print "has", when, sum + 0 }' /proc/$pid/numa_maps
}
counters before
ran before
has before
areas $pid
$LAB probe mark 1
echo "start $(now)"
case $MODE in
pagetide*) $PAGETIDE run -q --json $OPTIONS --for ${SECONDS_}s --log $OUT/log.jsonl -p $pid >$OUT/run.json ;;
*) sleep $SECONDS_ ;;
esac
echo "end $(now)"
$LAB probe mark 2
counters after
ran after
has after
areas $pid
kill $load
wait $load || true
cat /tmp/load
