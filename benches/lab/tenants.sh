# Runs in a guest of benches/tenants.py: two programs in one cgroup, one that gains by migration and one that
# does not, the second one started while the first is managed. Given: PAGETIDE, LAB, FIRST, SECOND (programs;
# SECOND may be empty), OFFSET, SECONDS_, OPTIONS.
set -e
echo 0 >/proc/sys/kernel/numa_balancing
now() { cut -d ' ' -f 1 /proc/uptime; }
group=/sys/fs/cgroup/tenants
mkdir -p $group
# Starts a program in the cgroup: begin NAME WORDS...
begin() {
    name=$1
    shift
    sh -c 'echo $$ >'$group'/cgroup.procs; exec "$@"' sh "$@" >/tmp/$name 2>&1 &
    eval "$name=$!"
    until grep -q ready /tmp/$name; do sleep 0.1; done
    echo "$name $(now) $(sed -n 's/.*range=\([0-9a-fx-]*\).*/\1/p' /tmp/$name) $!"
}
# By program the base pages on each node, again and again.
watch() {
    while sleep 1; do
        for name in first second; do
            eval "pid=\$$name"
            [ -n "$pid" ] && awk -v name=$name -v at=$(now) '
                { for (i = 1; i <= NF; i++) if ($i ~ /^N[01]=/) { split($i, part, "="); n[part[1]] += part[2] * size() } }
                function size(   j, part) { for (j = 1; j <= NF; j++) if (split($j, part, "=") == 2 && part[1] == "kernelpagesize_kB") return part[2] / 4; return 1 }
                END { print name, at, n["N0"] + 0, n["N1"] + 0 }' /proc/$pid/numa_maps
        done
    done >>$OUT/places
}
$PAGETIDE record -q --for 1s -o /tmp/first.heat -- sleep 1
begin first $FIRST
watch &
watcher=$!
$LAB probe mark 1
echo "start $(now)"
$PAGETIDE run -q --json $OPTIONS --for ${SECONDS_}s --log $OUT/log.jsonl --cgroup $group >$OUT/run.json &
run=$!
if [ -n "$SECOND" ]; then
    sleep $OFFSET
    begin second $SECOND
    # The watcher has to know it.
    kill $watcher
    watch &
    watcher=$!
fi
wait $run
echo "end $(now)"
$LAB probe mark 2
kill $watcher $first $second
wait || true
