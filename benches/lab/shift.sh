# Runs in a guest of benches/shift.py: a program fills memory, or memory that is in use is given back. Given: PAGETIDE,
# LAB, KIND; for growth OPTIONS and PROGRAM, or SIZE, RATE, HOLD, FOLLOW; for give-back PERCENT, LIMIT.
set -e
for region in /sys/bus/nd/devices/region*; do
    case $(cat $region/size) in 2147483648) pm=${region##*/} ;; esac
done
now() { cut -d ' ' -f 1 /proc/uptime; }
at() { echo "at $1 $(now)"; }
counters() { sed -n "/^pswp\|^oom_kill\|^pgmigrate\|^pgdemote\|^thp_migration/s/^/$1 /p" /proc/vmstat; }
# A line of a node's meminfo, KiB; 0 where the node has no memory.
of_node() {
    cat /sys/devices/system/node/node$1/meminfo 2>/dev/null | awk -v name=$2: '$3 == name { kib = $4 } END { print kib + 0 }'
}
# Four times a second: memory of both nodes in KiB, pages swapped out, microseconds that tasks waited for memory.
samples() {
    awk 'function node(number, of, line, word, total, free, file) {
        of = "/sys/devices/system/node/node" number "/meminfo"
        while ((getline line <of) > 0) {
            split(line, word, " ")
            if (word[3] == "MemTotal:") total = word[4]
            if (word[3] == "MemFree:") free = word[4]
            if (word[3] ~ /^(Active|Inactive)\(file\):$/) file += word[4]
        }
        close(of)
        return "," total + 0 "," free + 0 "," file + 0
    }
    BEGIN {
        print "seconds,dram_total,dram_free,dram_file,pm_total,pm_free,pm_file,swapped_out,stalled_us"
        while (1) {
            getline text <"/proc/uptime"; close("/proc/uptime")
            split(text, word, " ")
            row = word[1] node(0) node(1)
            swapped = 0
            while ((getline text <"/proc/vmstat") > 0) if (split(text, word, " ") && word[1] == "pswpout") swapped = word[2]
            close("/proc/vmstat")
            getline text <"/proc/pressure/memory"; close("/proc/pressure/memory")
            sub(/.*total=/, "", text)
            print row "," swapped "," text
            fflush()
            system("sleep 0.25")
        }
    }'
}
# The program: what is named, or memory that is filled, kept and verified. One that is killed is a result, too.
program() {
    if [ -n "$PROGRAM" ]; then
        $PAGETIDE $PROGRAM || echo "failed $?"
    else
        $LAB probe fill --size $SIZE --rate $RATE --hold $HOLD || echo "failed $?"
    fi
}
case $KIND in
growth)
    # Unmanaged, nothing is prepared.
    [ -z "$OPTIONS" ] || $PAGETIDE shift prepare --region $pm --size 512M
    samples >$OUT/samples.csv & sampler=$!
    if [ -n "$OPTIONS" ]; then
        $PAGETIDE shift run --json -v $OPTIONS >$OUT/checks.jsonl & manager=$!
    fi
    sleep 3
    at begin
    counters before
    program
    if [ -n "$FOLLOW" ]; then
        # The journal says when the last device begins to be given back.
        events() { grep -c $1 /var/lib/pagetide/shift/journal || true; }
        until [ "$(events to-storage)" = "$(events to-memory)" ]; do sleep 0.1; done
        sleep $FOLLOW
        counters before
        program
    fi
    at end
    counters after
    if [ -n "$manager" ]; then
        for i in $(seq 120); do
            [ $(of_node 1 MemTotal) != 0 ] || break
            sleep 1
        done
        at given-back
        # It ends after the conversion that it is at.
        kill $manager
        wait $manager || true
    fi
    kill $sampler
    ;;
give-back)
    $PAGETIDE shift prepare --region $pm --size 640M --count 1
    device=$(ls /sys/bus/dax/devices)
    # Whatever is free, all of it is to be: the device becomes memory.
    $PAGETIDE shift run --threshold 100% --for 3s >/tmp/run 2>&1 || cat /tmp/run
    # Beside what is left for the kernel and the program's own pages.
    free=$(($(of_node 1 MemFree) - 12288))
    if [ $PERCENT != 0 ]; then
        numactl --membind=1 $LAB probe fill --size $((free * PERCENT / 102400))M --until /tmp/tried >/tmp/filled & program=$!
        until grep -q filled /tmp/filled; do
            kill -0 $program
            sleep 0.1
        done
        grep -i huge /proc/$program/smaps_rollup | sed -n 's/^AnonHugePages: *\([0-9]*\) kB/kib huge \1/p'
    fi
    for name in MemTotal MemFree; do
        echo "kib dram_$name $(of_node 0 $name)"
        echo "kib pm_$name $(of_node 1 $name)"
    done
    counters before
    at begin
    # Refused or not, what it says is the result.
    $PAGETIDE shift give-back --json --time ${LIMIT}s --device $device >$OUT/back.json || echo "exit code $?"
    at end
    counters after
    echo "kib pm_left $(of_node 1 MemTotal)"
    if [ -n "$program" ]; then
        touch /tmp/tried
        wait $program || echo "failed $?"
        cat /tmp/filled
    fi
    # What is left of the program's memory where the device is storage.
    [ $(of_node 1 MemTotal) != 0 ] || $LAB probe search /dev/$device $(cat /sys/bus/dax/devices/$device/size)
    ;;
esac
