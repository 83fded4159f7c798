
for region in /sys/bus/nd/devices/region*; do
    case $(cat $region/size) in 2147483648) pm=${region##*/} ;; esac
done
# Waits, 120 s at most, until a command succeeds.
until_it() { for i in $(seq 1200); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; echo "never: $*"; exit 9; }
online() { pagetide shift status --json | grep -c '"is": "memory"'; }
all_storage() { [ "$(pagetide shift status --json | grep -c '"state": "storage"')" = 4 ]; }
none_online() { [ "$(online)" = 0 ]; }
some_online() { [ "$(online)" -gt 0 ]; }
# What is left of programs' memory on devices that are storage.
leftover() {
    for device in /dev/dax*; do
        name=${device##*/}
        pagetide-lab probe search $device $(cat /sys/bus/dax/devices/$name/size) | sed "s/^/$name /"
    done
}
counter() { awk -v name=$1 '$1 == name { print $2 }' /proc/vmstat; }

set -e

    echo 0 >/proc/sys/kernel/numa_balancing
    pagetide shift prepare --region $pm --size 512M --count 1 >/dev/null
    on_pm() { awk '{ for (i = 1; i <= NF; i++) if (sub("^N1=", "", $i)) pages += $i } END { print int(pages / 256) }' /proc/$1/numa_maps; }
    cold() {
        numactl --membind=1 pagetide-lab probe fill --size 70M --until /tmp/over >/tmp/filled & last=$!
        until_it grep filled /tmp/filled; rm /tmp/filled
    }
    # Who is managed, and with what.
    leaves() {
        name=$1; shift
        rm -f /tmp/over
        pagetide shift prepare --device $(ls /sys/bus/dax/devices) >/dev/null 2>&1 || true
        pagetide shift run --threshold 100% --for 3s >/dev/null
        until_it some_online
        cold; first=$last
        pagetide workload hot-cold --size 50M --hot 48M --page-size 4K --node 1 --seconds 900 >/tmp/said & hot=$!
        until_it grep range= /tmp/said
        cold; second=$last
        run=
        if [ -n "$1" ]; then
            pagetide run --payback 1ms --governor none --budget 50% --epoch 2s --log /tmp/log.$name -p $hot,$first,$second >/dev/null 2>/tmp/notes & run=$!
            # All of it has been watched by then.
            enough() { [ "$(cat /tmp/log.$name | wc -l)" -ge 8 ]; }
            until_it enough
            if [ $1 = stopped ]; then kill -STOP $run; fi
        fi
        echo $name before $(on_pm $hot) $(($(on_pm $first) + $(on_pm $second)))
        began=$(cut -d' ' -f1 /proc/uptime)
        pagetide shift give-back --size 384M --time 60s >/tmp/back 2>&1 & back=$!
        left=
        while kill -0 $back 2>/dev/null; do
            if [ -z "$left" ] && [ $(on_pm $hot) -lt 3 ]; then
                left=$(($(on_pm $first) + $(on_pm $second)))
                echo $name left $left
            fi
            sleep 0.05
        done
        wait $back && echo $name is back
        echo $name took $(awk -v began=$began '{ print int($1 - began) }' /proc/uptime)
        [ ! -e /run/pagetide/shift/leaving ] || echo $name: it is still said
        if [ -n "$run" ]; then
            kill -CONT $run; kill -TERM $run; wait $run || true
            grep -o '"leaving":[0-9]*,"for_leaving":[0-9]*' /tmp/log.$name | sed "s/^/$name /"
        fi
        touch /tmp/over; kill $hot; wait $hot $first $second || true
    }

leaves managed yes
leaves alone ''
leaves stuck stopped
