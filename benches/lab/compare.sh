# Runs in a guest of benches/compare.py: a program whose memory is where the kernel put it at first, and one
# way of tiering. Given: PAGETIDE, LAB, MODE, PROGRAM, SECONDS_, OPTIONS.
set -e
now() { cut -d ' ' -f 1 /proc/uptime; }
counters() { sed -n "/^pg\(migrate\|promote\|demote\)\|^thp_migration\|^numa_\(hint\|pages\)/s/^/$1 /p" /proc/vmstat; }
# Mappings of a process of which at least 2 MiB are resident.
areas() {
    awk '$1 ~ /^[0-9a-f]+-[0-9a-f]+$/ { range = $1 } $1 == "Rss:" && $2 >= 2048 { print "area", range, $2 }' /proc/$1/smaps
}
echo 0 >/proc/sys/kernel/numa_balancing
# The recorder's self-test runs once per boot, and takes long here.
$PAGETIDE record -q --for 1s -o /tmp/first.heat -- sleep 1
case $MODE in
kernel*)
    echo 1 >/sys/kernel/mm/numa/demotion_enabled
    echo 2 >/proc/sys/kernel/numa_balancing
    ;;
esac
awk '/MemFree/ { print "free", $4 }' /sys/devices/system/node/node0/meminfo
$PROGRAM >/tmp/load 2>&1 &
load=$!
until grep -q ready /tmp/load; do
    kill -0 $load || { cat /tmp/load; exit 1; }
    sleep 0.1
done
pid=$(sed -n 's/.*server_pid=\([0-9]*\).*/\1/p' /tmp/load)
pid=${pid:-$load}
sleep 2
counters before
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
areas $pid
kill $load
wait $load || true
cat /tmp/load
