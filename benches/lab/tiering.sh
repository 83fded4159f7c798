# Runs in a guest of benches/tiering.py: a workload whose memory is all slow at first, and one way
# of tiering. Given: PAGETIDE, LAB, MODE, PAGE, SIZE, HOT, RATIO, SECONDS_, SCALE, OPTIONS.
set -e
echo 0 >/proc/sys/kernel/numa_balancing
now() { cut -d ' ' -f 1 /proc/uptime; }
counters() { sed -n "/^pg\(migrate\|promote\|demote\)\|^thp_migration\|^numa_\(hint\|pages\)/s/^/$1 /p" /proc/vmstat; }
# Time constants of the kernel's tiering, in proportion to how slow the guest is taken to be.
for name in scan_delay_ms scan_period_min_ms scan_period_max_ms hot_threshold_ms; do
    file=/sys/kernel/debug/sched/numa_balancing/$name
    echo $(($(cat $file) * SCALE)) >$file
done
# The recorder's self-test runs once per boot, and takes long here.
$PAGETIDE record -q --for 1s -o /tmp/first.heat -- sleep 1
$PAGETIDE workload hot-cold --size $SIZE --hot $HOT --ratio $RATIO --page-size $PAGE --node 1 \
    --seconds 9999 --truth /tmp/truth.heat --truth-epoch 1 >/tmp/load 2>&1 &
load=$!
until grep -q ready /tmp/load; do
    kill -0 $load || { cat /tmp/load; exit 1; }
    sleep 0.1
done
ready=$(now)
sleep 5
counters before
$LAB probe mark 1
echo "start $ready $(now)"
case $MODE in
kernel)
    echo 1 >/sys/kernel/mm/numa/demotion_enabled
    echo 2 >/proc/sys/kernel/numa_balancing
    sleep $SECONDS_
    ;;
pagetide) $PAGETIDE run -q --json $OPTIONS --for ${SECONDS_}s --log $OUT/log.jsonl -p $load >$OUT/run.json ;;
none) sleep $SECONDS_ ;;
esac
echo "end $(now)"
counters after
$LAB probe mark 2
kill $load
wait $load || true
cat /tmp/load
$PAGETIDE trace export /tmp/truth.heat >$OUT/truth.csv
