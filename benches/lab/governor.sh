# Runs in a guest of benches/governor.py: one or two programs in one cgroup, the second some time after the first,
# and Pagetide beside them; the first may end before. Given: PAGETIDE, LAB, MODE, FIRST, SECOND, GAP, ENDS, SECONDS_, OPTIONS.
set -e
. /common.sh
group=/sys/fs/cgroup/tenants
mkdir $group
# start NAME WORDS: a workload in the cgroup, ready; its number is in $pid.
start() {
    sh -c "echo \$\$ >$group/cgroup.procs; exec $PAGETIDE workload $2 --seconds 9999" >/tmp/$1 2>&1 &
    pid=$!
    until_ready $pid /tmp/$1
    echo "pid $1 $pid"
    areas $pid | sed "s/^area/area $1/"
    tenants="$tenants $1:$pid"
}
# What of each tenant lies on the fast node, MiB.
places() {
    for tenant in $tenants; do
        awk -v at=$(now) -v name=${tenant%:*} '{
            size = 4
            for (i = 1; i <= NF; i++) if ($i ~ /^kernelpagesize_kB=/) size = substr($i, 19)
            for (i = 1; i <= NF; i++) if ($i ~ /^N0=/) sum += substr($i, 4) * size
        } END { printf "fast %s %s %.2f\n", name, at, sum / 1024 }' /proc/${tenant#*:}/numa_maps
    done
}
start first "$FIRST"
sleep 2
places
$LAB probe mark 1
begin=$(now)
echo "start $begin"
case $MODE in
pagetide) $PAGETIDE run -q --json $OPTIONS --for ${SECONDS_}s --log $OUT/log.jsonl --cgroup tenants >$OUT/run.json & ;;
none) sleep $SECONDS_ & ;;
esac
tiering=$!
passed() { [ $(now | cut -d . -f 1) -ge $((${begin%.*} + $1)) ]; }
ended=
while kill -0 $tiering 2>/dev/null; do
    if [ -n "$SECOND" ] && [ "${tenants#*second}" = "$tenants" ] && passed $GAP; then
        start second "$SECOND"
    fi
    if [ $ENDS -gt 0 ] && [ -z "$ended" ] && passed $ENDS; then
        ended=$(echo $tenants | cut -d ' ' -f 1)
        kill ${ended#*:}
        wait ${ended#*:} || true
        tenants=${tenants#* $ended}
        echo "ended $(now)"
    fi
    sleep 2
    places
done
wait $tiering
$LAB probe mark 2
for tenant in $tenants; do
    kill ${tenant#*:}
    wait ${tenant#*:} || true
done
