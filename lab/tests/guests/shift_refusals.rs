//! What a machine or a program does that `pagetide shift` cannot work with: it says so, and leaves it as it was.

use crate::lab::{can_boot, pagetide};
use crate::shift::{clean, script};

#[test]
fn a_kernel_that_takes_memory_by_itself_and_pages_that_do_not_move_are_told() {
    let test = "a_kernel_that_takes_memory_by_itself_and_pages_that_do_not_move_are_told";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    let run = script(
        &pagetide,
        keep.path(),
        r#"set -e
        blocks() { pagetide shift status --json | sed -n 's/.*"blocks_online": *\([0-9]*\).*/\1/p'; }
        policy=/sys/devices/system/memory/auto_online_blocks
        pagetide shift prepare --region $pm --size 512M --count 1 >/dev/null
        echo online >$policy
        if pagetide shift run --threshold 100% --for 3s >/dev/null 2>/tmp/why; then echo it ran; fi
        echo by itself: $(cat /tmp/why)
        none_online
        echo the policy is $(cat $policy)

        echo offline >$policy
        pagetide shift run --threshold 100% --for 3s >/dev/null
        some_online
        before=$(blocks)
        # A pipe refers to eight of its pages.
        numactl --membind=1 pagetide-lab probe fill --size 64M --pinned 8 --until /tmp/over >/tmp/filled & program=$!
        until_it grep filled /tmp/filled
        began=$(cut -d. -f1 /proc/uptime)
        if pagetide shift give-back --size 384M --time 10s >/dev/null 2>/tmp/why; then echo it went; fi
        echo pinned: $(cat /tmp/why)
        echo took $(($(cut -d. -f1 /proc/uptime) - began))
        echo blocks $before $(blocks)
        touch /tmp/over; wait $program; tail -n 1 /tmp/filled
        pagetide shift give-back --size 384M --time 60s >/dev/null
        none_online
        leftover"#,
    );
    eprintln!("{}", run.out);
    let line = |begin: &str| {
        let found = run.out.lines().find_map(|line| line.strip_prefix(begin));
        found.unwrap_or_else(|| panic!("{begin}: {run:?}"))
    };
    for part in ["by itself", "echo offline >/sys/devices/system/memory/auto_online_blocks"] {
        assert!(line("by itself: ").contains(part), "{run:?}");
    }
    assert_eq!(line("the policy is "), "online", "it is changed by nobody but its owner");
    for part in ["did not go offline", "Pinned pages", "--time"] {
        assert!(line("pinned: ").contains(part), "{run:?}");
    }
    assert!(line("took ").parse::<u64>().unwrap() < 30, "{run:?}");
    let (before, after) = line("blocks ").split_once(' ').unwrap();
    assert!(before == after && before != "0", "{run:?}");
    assert!(run.out.contains("verified 1"), "{run:?}");
    assert!(!run.out.contains("it ran") && !run.out.contains("it went"), "{run:?}");
    clean(&run.out);
}
