# Runs in a guest of benches/tiering.py: a workload whose memory is all slow at first, and one way
# of tiering. Given: PAGETIDE, LAB, MODE, PAGE, SIZE, HOT, RATIO, SECONDS_, OPTIONS, FILES.
set -e
. /common.sh
# What is cached of a disk stays as long as it is open.
[ -z "$FILES" ] || { exec 8</dev/ram0; cat /dev/ram0 >/dev/null; }
$PAGETIDE workload hot-cold --size $SIZE --hot $HOT --ratio $RATIO --page-size $PAGE --node 1 \
    --seconds 9999 >/tmp/load 2>&1 &
load=$!
until_ready $load /tmp/load
sleep 2
counters before
$LAB probe mark 1
echo "start $(now)"
case $MODE in
kernel)
    kernel_tiering
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
# What moving as much alone takes in this boot, with fast memory free.
exec 8<&-
case $PAGE in 2M) batch=8 ;; *) batch=512 ;; esac
$PAGETIDE bench migrate --json --size $HOT --page-size $PAGE --batch $batch --threads 2 --rounds 3 >$OUT/migrate.json
