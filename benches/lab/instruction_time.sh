#!/bin/sh
# Things whose data fit the caches, one after the other: name, and its CPU time in s; of some how often they did something, and
# the seconds that passed. Run on the host and in a guest by benches/instruction_time.py. Given:
# BUSYBOX, KERNEL_TIME (kernel_time.c), PAGETIDE.
set -e
took() {
    name=$1
    shift
    $BUSYBOX time -p "$@" 2>/tmp/instruction-time >/dev/null
    $BUSYBOX awk -v name=$name '/^(user|sys)/ { s += $2 } END { printf "%s %.2f\n", name, s }' /tmp/instruction-time
}
text=/tmp/instruction-time.txt
$BUSYBOX awk 'BEGIN { srand(1); for (i = 0; i < 150000; i++) print int(rand() * 1e9), i % 97, "the quick brown fox", i * 7 }' >$text
took gzip $BUSYBOX gzip -9 -c $text
took sort $BUSYBOX sort -n $text
took md5sum $BUSYBOX sh -c "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do $BUSYBOX md5sum $text; done"
took awk $BUSYBOX awk '{ s[$2] += $1; n = split($0, a, " "); c += length(a[n]) } END { print c }' $text
took shell $BUSYBOX sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
$KERNEL_TIME
for program in "zipf --exponent 1.2 --keys scattered" gups; do
    $PAGETIDE workload $program --size 1M --page-size 4K --seconds 2 |
        $BUSYBOX sed -n 's/^done \([a-z]*\) accesses=\([0-9]*\) seconds=\([0-9.]*\).*/\1 \2 \3/p'
done
rm $text /tmp/instruction-time
