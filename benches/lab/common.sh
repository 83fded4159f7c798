# What the scripts in guests share.
now() { cut -d ' ' -f 1 /proc/uptime; }
counters() {
    sed -n "/^pg\(migrate\|promote\|demote\|scan_kswapd\|steal_kswapd\)\|^thp_migration\|^numa_\(hint\|pages\)/s/^/$1 /p" /proc/vmstat
    # Nodes that kswapd gave up.
    echo "$1 unreclaimable $(awk '/node_unreclaimable/ { sum += $2 } END { print sum + 0 }' /proc/zoneinfo)"
}
# Mappings of a process of which at least 2 MiB are resident.
areas() {
    awk '$1 ~ /^[0-9a-f]+-[0-9a-f]+$/ { range = $1 } $1 == "Rss:" && $2 >= 2048 { print "area", range, $2 }' /proc/$1/smaps
}
# The kernel's own tiering.
kernel_tiering() {
    echo 1 >/sys/kernel/mm/numa/demotion_enabled
    echo 2 >/proc/sys/kernel/numa_balancing
}
# Waits until the program of this number has said into its file that it is ready.
until_ready() {
    until grep -q ready $2 2>/dev/null; do
        kill -0 $1 || { cat $2; exit 1; }
        sleep 0.1
    done
}
# Starts PROGRAM, and waits until it has its memory: `load` is what was started, `pid` the server if it has one.
begin_program() {
    $PROGRAM >/tmp/load 2>&1 &
    load=$!
    until_ready $load /tmp/load
    pid=$(sed -n 's/.*server_pid=\([0-9]*\).*/\1/p' /tmp/load)
    pid=${pid:-$load}
    sleep 2
}
# One boot in five keeps the memory that its files were unpacked from: another one is to be taken.
free=$(awk '/MemFree/ { print int($4 / 1024) }' /sys/devices/system/node/node0/meminfo)
[ $free -ge ${LEAST_FREE:-0} ] || exit 77
echo 0 >/proc/sys/kernel/numa_balancing
# The recorder's self-test runs once per boot, and takes long here. Some of the fast memory that it uses stays in use: in all
# modes, or programs would have less of it under Pagetide.
$PAGETIDE record -q --for 1s -o /tmp/first.heat -- sleep 1 2>/dev/null
rm -r /tmp/first.heat
sleep 1
