# Runs in a guest of benches/frames.py: a program fragments memory, the kernel compacts it on request, and what
# /proc says of it meanwhile is written down. Given: LAB, FRAGMENT.
set -e
tracing=/sys/kernel/tracing
# Nothing compacts but on request, and no huge page is made.
echo 0 >/proc/sys/vm/compaction_proactiveness
echo never >/sys/kernel/mm/transparent_hugepage/enabled
echo 0 >/proc/sys/kernel/numa_balancing
# Each CPU keeps as few free pages for itself as it may: they belong to no free block.
echo 100000 >/proc/sys/vm/percpu_pagelist_high_fraction
# Which blocks become another type.
echo 1024 >$tracing/buffer_size_kb
echo 1 >$tracing/events/kmem/mm_page_alloc_extfrag/enable
# Places for what is read, so that reading takes no new pages.
for name in before after; do dd if=/dev/zero of=$OUT/$name bs=1M count=$((FRAMES * 8 / 1048576 + 1)) 2>/dev/null; done
flags() { dd if=/proc/kpageflags of=$OUT/$1 bs=1M conv=notrunc 2>/dev/null; }
# Taking a free frame out of use has all CPUs give up the free pages that they keep; the frame is lost.
drain() {
    frame=$(dd if=/proc/kpageflags bs=8 skip=$((FRAMES / 2)) count=20000 2>/dev/null | hexdump -v -e '2/4 "%x " "\n"' |
        awk -v first=$((FRAMES / 2)) '$1 ~ /[4567cdef]..$/ { print first + NR - 1; exit }')
    echo $((frame * 4096)) >/sys/devices/system/memory/soft_offline_page
}
state() {
    echo "== $1"
    cat /proc/buddyinfo /proc/pagetypeinfo
    grep -E '^(compact_|pgmigrate_|nr_free_pages)' /proc/vmstat
    awk '/^Node/ { zone = $4 } /^ *(min|low|high|managed) |^ *start_pfn:|^ +count:/ { print "zone", zone, $1, $2 }' /proc/zoneinfo
}
taskset 2 $LAB probe fragment $FRAGMENT >/tmp/said 2>&1 &
program=$!
until grep -q ready /tmp/said; do
    kill -0 $program || { cat /tmp/said; exit 1; }
    sleep 0.2
done
cat /tmp/said
# Used pages that wait to be put on their lists are put there.
echo 1 >/proc/sys/vm/drop_caches
drain
flags before
state before
awk 'BEGIN {
    while (1) {
        getline up <"/proc/uptime"; close("/proc/uptime")
        split(up, word, " ")
        line = "sample " word[1]
        while ((getline text <"/proc/vmstat") > 0)
            if (split(text, word, " ") && word[1] ~ /^(pgmigrate_success|pgmigrate_fail|compact_isolated)$/) line = line " " word[1] "=" word[2]
        close("/proc/vmstat")
        while ((getline text <"/proc/buddyinfo") > 0) {
            count = split(text, word, " ")
            line = line " " word[4] "="
            for (i = 5; i <= count; i++) line = line word[i] (i < count ? "," : "")
        }
        close("/proc/buddyinfo")
        print line
        fflush()
        system("sleep 0.05")
    }
}' >/tmp/samples &
sampler=$!
sleep 1
taskset 2 sh -c 'echo 1 >/proc/sys/vm/compact_memory'
sleep 1
kill $sampler
state end
drain
flags after
state drained
cat /tmp/samples
echo "== events"
grep mm_page_alloc_extfrag $tracing/trace | sed 's/.*mm_page_alloc_extfrag: //'
kill $program
