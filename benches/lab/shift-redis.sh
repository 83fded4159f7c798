# Runs in a guest of benches/shift.py with two pairs of DRAM and persistent memory: redis lies in the persistent memory of
# the first pair, whose DRAM is full; then that becomes storage. Given: PAGETIDE, LAB, HOW (stock: the kernel's own
# offlining; ours: give-back), KEYS, REQUESTS.
set -e
echo 0 >/proc/sys/kernel/numa_balancing
of_node() { awk -v name=$2: '$3 == name { print $4 }' /sys/devices/system/node/node$1/meminfo; }
# MiB of a process in DRAM of the first pair, of the second, in persistent memory of the first, of the second.
where_is() {
    awk -v own=$near -v other=$far '{
        for (i = 1; i <= NF; i++) if ($i ~ /^N[0-9]+=/) { split(substr($i, 2), of, "="); pages[of[1]] += of[2] }
    } END { print int(pages[0] / 256), int(pages[1] / 256), int(pages[own] / 256), int(pages[other] / 256) }' /proc/$1/numa_maps
}
for region in /sys/bus/nd/devices/region*; do
    $PAGETIDE shift prepare --region ${region##*/} --size 512M >/dev/null
done
$PAGETIDE shift run --threshold 100% --lead 0 --for 4s >/tmp/run 2>&1 || cat /tmp/run
# The kernel numbers them as it finds them; the first pair's is nearest to node 0.
near=$(awk '{ print $3 < $4 ? 2 : 3 }' /sys/devices/system/node/node0/distance)
far=$((5 - near))
for device in /sys/bus/dax/devices/*; do
    [ "$(cat $device/target_node)" != $near ] || own=${device##*/}
done
echo "online $(of_node $near MemTotal) $(of_node $far MemTotal)"

# Its own DRAM is somebody else's, but for what the kernel needs. So the next memory is the socket's persistent one.
numactl --membind=0 $LAB probe fill --size $(($(of_node 0 MemFree) / 1024 - 40))M --until /tmp/tried >/tmp/filled & filler=$!
until grep -q filled /tmp/filled 2>/dev/null; do kill -0 $filler; sleep 0.2; done

numactl --cpunodebind=0 redis-server --save "" --appendonly no --port 0 --unixsocket /tmp/redis >/tmp/server 2>&1 & server=$!
until [ -S /tmp/redis ]; do sleep 0.2; done
# The client is on the other socket.
ask() { numactl --cpunodebind=1 --preferred=1 redis-benchmark -s /tmp/redis -r $KEYS -d 1000 --csv "$@"; }
ask -t mset -n $((KEYS / 5)) | tail -n 1
ask -t lpush -n $((KEYS / 5)) | tail -n 1
echo "where populated $(where_is $server)"

echo "free $(of_node 0 MemFree) $(of_node 1 MemFree) $(of_node $far MemFree)"
if [ $HOW = stock ]; then
    for block in /sys/devices/system/node/node$near/memory[0-9]*; do
        echo offline >$block/state
    done
else
    $PAGETIDE shift give-back --device $own --time 300s
fi
echo "where offline $(where_is $server)"

mark=0
for operation in mset set get lpush rpop; do
    mark=$((mark + 1))
    $LAB probe mark $mark
    echo "operation $operation $mark $REQUESTS"
    ask -t $operation -n $REQUESTS | tail -n 1
    $LAB probe mark 100
done
echo "where end $(where_is $server)"
awk '$1 ~ /^[0-9a-f]+-[0-9a-f]+$/ { range = $1 } $1 == "Rss:" && $2 >= 1024 { print "area", range, $2 }' /proc/$server/smaps
kill $server
touch /tmp/tried
wait $filler || true
