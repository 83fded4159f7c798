# Runs in a guest of benches/verify.py or slowdown.py: a program, and a recording of it, `pagetide run`, or nothing. Given:
# PAGETIDE, LAB, DO, PROGRAM, SECONDS_, OPTIONS; LEAVE, so many MiB of fast memory are left free, if not all.
set -e
. /common.sh
# The program from a file of its own: what two map cannot be watched, and would lie in fast memory all the time.
cp $PAGETIDE /program
free=$(awk '/MemFree/ { print int($4 / 1024) }' /sys/devices/system/node/node0/meminfo)
# A file takes the rest: the memory nearest to the CPUs first, so that of the fast node.
[ -z "$LEAVE" ] || dd if=/dev/zero of=/rest bs=1M count=$((free - LEAVE)) 2>/dev/null
awk '/MemFree/ { print "free", $4 }' /sys/devices/system/node/node0/meminfo
begin_program
awk '/MemFree/ { print "left", $4 }' /sys/devices/system/node/node0/meminfo
areas $pid
$LAB probe mark 1
echo "start $(now)"
case $DO in
record) $PAGETIDE record -q $OPTIONS --for ${SECONDS_}s -o $OUT/seen.heat -p $pid ;;
run) $PAGETIDE run -q --json $OPTIONS --for ${SECONDS_}s --log $OUT/log.jsonl -p $pid >$OUT/run.json ;;
*) sleep $SECONDS_ ;;
esac
echo "end $(now)"
$LAB probe mark 2
areas $pid
kill $load
wait $load || true
cat /tmp/load
