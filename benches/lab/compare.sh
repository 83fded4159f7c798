# Runs in a guest of benches/compare.py: a program whose memory is where the kernel put it at first, and one
# way of tiering. Given: PAGETIDE, LAB, MODE, PROGRAM, SECONDS_, OPTIONS.
set -e
. /common.sh
awk '/MemFree/ { print "free", $4 }' /sys/devices/system/node/node0/meminfo
begin_program
counters before
areas $pid
$LAB probe mark 1
echo "start $(now)"
case $MODE in
kernel)
    # Only now: all begin with the same placement.
    kernel_tiering
    sleep $SECONDS_
    ;;
pagetide*) $PAGETIDE run -q --json $OPTIONS --for ${SECONDS_}s --log $OUT/log.jsonl -p $pid >$OUT/run.json ;;
*) sleep $SECONDS_ ;;
esac
echo "end $(now)"
$LAB probe mark 2
counters after
areas $pid
kill $load
wait $load || true
cat /tmp/load
