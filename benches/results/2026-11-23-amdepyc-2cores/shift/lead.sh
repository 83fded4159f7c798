# Run in a guest of the topology `shift`, with pagetide and pagetide-lab: how much is swapped while a program fills
# more than DRAM at three rates. Words: options of `pagetide shift run`.
for region in /sys/bus/nd/devices/region*; do
    case $(cat $region/size) in 2147483648) pm=${region##*/} ;; esac
done
counter() { awk -v name=$1 '$1 == name { print $2 }' /proc/vmstat; }
pagetide shift prepare --region $pm --size 512M
echo options: "$@"
pagetide shift run -v "$@" >$OUT/run.txt 2>&1 & manager=$!
sleep 3
for rate in 30M 60M 120M; do
    before=$(counter pswpout)
    echo "$rate begins at $(cut -d' ' -f1 /proc/uptime)"
    timeout 200 pagetide-lab probe fill --size 1200M --rate $rate --hold 1
    echo "$rate swapped out $(($(counter pswpout) - before)) pages of 4 KiB, killed $(counter oom_kill)"
    for i in $(seq 60); do
        pagetide shift status --json | grep -q '"is": "memory"' || break
        sleep 1
    done
    sleep 3
done
pagetide shift status | cut -c1-100
kill $manager
sleep 1
grep -v 'free (smoothed' $OUT/run.txt
