for region in /sys/bus/nd/devices/region*; do
    case $(cat $region/size) in 2147483648) pm=${region##*/} ;; esac
done
uptime
pagetide shift prepare --region $pm --size 512M
uptime; echo swapped $(grep pswpout /proc/vmstat)
(pagetide shift run -v --demote > $OUT/run.txt 2>&1) & 
for rate in 60M 120M; do
  timeout 60 pagetide-lab probe fill --size 1200M --rate $rate --hold 1
  uptime; grep -E 'pswpout|oom_kill|pgdemote|pgmigrate' /proc/vmstat
  sleep 18
  pagetide shift status | cut -c1-100
done
killall pagetide; sleep 1
