//! Before a device goes back `pagetide run`, which is running then, promotes the hottest of what is on it.

use crate::lab::{can_boot, pagetide};
use crate::shift::script;

/// Two programs that hardly use their 60 MiB and one that uses its 50 MiB all the time lie on the device, the hot one
/// between the others; no move would pay. The device goes back, and it is looked how much of whom is still there.
const LEAVES: &str = r#"
    echo 0 >/proc/sys/kernel/numa_balancing
    pagetide shift prepare --region $pm --size 512M --count 1 >/dev/null
    # MiB on the device of the first process, and of the others together: read at once, for they move meanwhile.
    on_pm() {
        awk '{ for (i = 1; i <= NF; i++) if (sub("^N1=", "", $i)) pages[FILENAME != ARGV[1]] += $i }
            END { print int(pages[0] / 256), int(pages[1] / 256) }' $(printf '/proc/%s/numa_maps ' $*)
    }
    cold() {
        numactl --membind=1 pagetide-lab probe fill --size 60M --until /tmp/over >/tmp/filled & last=$!
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
        echo $name before $(on_pm $hot $first $second)
        began=$(cut -d' ' -f1 /proc/uptime)
        pagetide shift give-back --size 384M --time 60s >/tmp/back 2>&1 & back=$!
        left=
        while kill -0 $back 2>/dev/null; do
            set -- $(on_pm $hot $first $second)
            if [ -z "$left" ] && [ $1 -lt 3 ]; then
                left=$2
                echo $name left $left
            fi
            sleep 0.05
        done
        if wait $back; then echo $name is back; else echo $name refused: $(cat /tmp/back); fi
        echo $name took $(awk -v began=$began '{ print int($1 - began) }' /proc/uptime)
        [ ! -e /run/pagetide/shift/leaving ] || echo $name: it is still said
        if [ -n "$run" ]; then
            kill -CONT $run; kill -TERM $run; wait $run || true
            grep -o '"leaving":[0-9]*,"for_leaving":[0-9]*' /tmp/log.$name | sed "s/^/$name /"
        fi
        touch /tmp/over; kill $hot; wait $hot $first $second || true
    }
"#;

#[expect(clippy::unwrap_used, reason = "a test's own output")]
fn number(out: &str, line: &str) -> u64 {
    let found = out.lines().find_map(|it| it.strip_prefix(line));
    found.unwrap_or_else(|| panic!("{line}: {out}")).trim().parse().unwrap()
}

#[test]
fn the_hottest_of_a_device_goes_up_before_it_goes_back() {
    let test = "the_hottest_of_a_device_goes_up_before_it_goes_back";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    let commands =
        format!("set -e\n{LEAVES}\nleaves alone ''\nleaves managed yes\nleaves stuck stopped");
    let run = script(&pagetide, keep.path(), &commands);
    let out = &run.out;
    eprintln!("{out}");
    for name in ["alone", "managed", "stuck"] {
        assert!(out.contains(&format!("{name} is back")), "{run:?}");
        // All of it was on the device, whatever `run` saw before.
        let before = out.lines().find_map(|it| it.strip_prefix(&format!("{name} before ")));
        let before = before.unwrap().split_once(' ').unwrap();
        assert!(before.0.parse::<u64>().unwrap() >= 48, "{run:?}");
        assert!(before.1.parse::<u64>().unwrap() >= 118, "{run:?}");
    }
    // By the order of addresses a half of the others has gone when it has.
    let (alone, managed) = (number(out, "alone left "), number(out, "managed left "));
    assert!(alone <= 80 && managed >= alone + 20, "{run:?}");
    assert!(out.contains("managed \"leaving\":402653184,\"for_leaving\":"), "{run:?}");
    // Whatever becomes of `run`, it is within the time for giving back.
    for name in ["managed", "stuck"] {
        assert!(number(out, &format!("{name} took ")) < 60, "{run:?}");
    }
    assert!(!out.contains("still said"), "{run:?}");
}
