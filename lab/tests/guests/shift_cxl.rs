//! `pagetide shift` in guests with volatile CXL memory: it has no labels, and `kmem` takes it by itself at each boot.

use crate::{
    lab::{can_have_cxl, pagetide},
    shift::{clean, script_in},
};
use std::{fs, path::Path};

const TOPOLOGY: &str = "shift-cxl";

/// Functions for the scripts. A device's lines: who drives it, and how much of it is in use.
const CXL: &str = r#"
driver() { readlink /sys/bus/dax/devices/$1/driver | sed 's#.*/##'; }
blocks() {
    size=$((0x$(cat /sys/devices/system/memory/block_size_bytes)))
    from=$(($(cat /sys/bus/dax/devices/$1/resource) / size))
    seq $from $((from + $(cat /sys/bus/dax/devices/$1/size) / size - 1))
}
in_use() {
    for block in $(blocks $1); do cat /sys/devices/system/memory/memory$block/state 2>/dev/null || true; done | grep -c '^online' || true
}
say() { echo "$1: dax2.0 $(driver dax2.0) $(in_use dax2.0), dax3.0 $(driver dax3.0) $(in_use dax3.0)"; }
# As another program that uses a device would have it.
as_storage() {
    echo $1 >/sys/bus/dax/drivers/kmem/unbind
    echo $1 >/sys/bus/dax/drivers/device_dax/new_id
}
search() { pagetide-lab probe search /dev/$1 $(cat /sys/bus/dax/devices/$1/size) | sed "s/^/$1 /"; }
fails() { if "$@" >/tmp/said 2>/tmp/why; then echo "WRONG: it succeeded: $*"; else sed "s/^/$? /" /tmp/why; fi; }
grow() { pagetide shift run --threshold 100% --for 4s 2>&1; }
"#;

/// What a script says in a guest of a topology whose memory lies in `keep`.
fn boot(topology: &str, pagetide: &Path, keep: &Path, commands: &str) -> String {
    let run = script_in(topology, pagetide, keep, &format!("set -e; {CXL}\n{commands}"));
    println!("{}", run.out);
    run.out
}

/// Every one of `lines` was said, in this order.
fn in_order(out: &str, lines: &[&str]) {
    let mut rest = out;
    for line in lines {
        let at = rest.find(line).unwrap_or_else(|| panic!("'{line}' is not in its place in {out}"));
        rest = &rest[at + line.len()..];
    }
    assert!(!out.contains("WRONG"), "{out}");
}

#[test]
fn cxl_memory_makes_its_round_and_is_made_right_after_a_reboot() {
    let test = "cxl_memory_makes_its_round_and_is_made_right_after_a_reboot";
    let Some(pagetide) = pagetide(test).filter(|_| can_have_cxl(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    let boot = |commands| boot(TOPOLOGY, &pagetide, keep.path(), commands);
    let first = boot(
        r#"say booted
        pagetide shift run --for 1s 2>&1
        pagetide shift prepare --device dax2.0
        say prepared
        grow
        say grown
        # A program lives there while it is given back.
        numactl --membind=1 pagetide-lab probe fill --size 150M --until /tmp/back >/tmp/filled & program=$!
        until_it grep filled /tmp/filled
        pagetide shift give-back --time 120s --size 512M
        touch /tmp/back
        wait $program
        tail -n 1 /tmp/filled
        say back
        search dax2.0
        # Its owner has it; it is taken again when he offers it, and not before.
        grow
        say owners
        pagetide shift prepare --device dax2.0
        grow
        say again
        # What a program leaves there is on it at the reboot; another program's data is on the other device.
        numactl --membind=1 pagetide-lab probe fill --size 100M
        as_storage dax3.0
        pagetide-lab probe poke /dev/dax3.0 8388608 4711
        fails pagetide shift prepare --device dax3.0
        say data"#,
    );
    in_order(
        &first,
        &[
            "booted: dax2.0 kmem 0, dax3.0 kmem 0",
            "no device is prepared",
            "prepared: dax2.0 device_dax 0, dax3.0 kmem 0",
            "grown: dax2.0 kmem 4, dax3.0 kmem 0",
            "verified 1",
            "back: dax2.0 device_dax 0, dax3.0 kmem 0",
            "dax2.0 signatures 0 nonzero 0",
            "owners: dax2.0 device_dax 0, dax3.0 kmem 0",
            "again: dax2.0 kmem 4, dax3.0 kmem 0",
            "dax3.0 holds data (the first at byte 8388608)",
            "data: dax2.0 kmem 4, dax3.0 device_dax 0",
        ],
    );
    let second = boot(
        r#"say booted
        fails pagetide shift recover
        say untouched
        search dax2.0 | sed 's/^/left: /'
        pagetide shift recover --zero dax2.0
        say recovered
        search dax2.0
        grow
        say grown
        pagetide shift give-back --size 512M
        pagetide shift prepare --device dax2.0
        search dax2.0
        # The other one is another's still.
        fails pagetide shift prepare --device dax3.0
        timeout 20 pagetide-lab probe await /dev/dax3.0 8388608 4711
        say data"#,
    );
    in_order(
        &second,
        &[
            "booted: dax2.0 kmem 0, dax3.0 kmem 0",
            "recover --zero dax2.0",
            "untouched: dax2.0 device_dax 0",
            "left: dax2.0 signatures",
            "recovered: dax2.0 device_dax 0",
            "dax2.0 signatures 0 nonzero 0",
            "grown: dax2.0 kmem 4, dax3.0 kmem 0",
            "dax2.0 signatures 0 nonzero 0",
            "dax3.0 holds data (the first at byte 8388608)",
            "data: dax2.0 device_dax 0, dax3.0 device_dax 0",
        ],
    );
    let left = second.lines().find(|line| line.starts_with("left: ")).unwrap();
    assert!(!left.contains("signatures 0 "), "what the program left is there: {second}");
    // What was storage by the journal, and kmem took at the boot, is storage as before.
    let third = boot(
        r#"say booted
        pagetide shift recover
        say recovered
        search dax2.0
        pagetide-lab probe await /dev/dax2.0 16777216 99 & holder=$!
        sleep 1
        grow
        say open
        kill $holder"#,
    );
    in_order(
        &third,
        &[
            "booted: dax2.0 kmem 0, dax3.0 kmem 0",
            "storage as before",
            "recovered: dax2.0 device_dax 0, dax3.0 kmem 0",
            "dax2.0 signatures 0 nonzero 0",
            "in use by pagetide-lab",
            "open: dax2.0 device_dax 0",
        ],
    );
}

#[test]
fn cxl_memory_that_is_made_anew_is_not_taken_for_what_was_there() {
    let test = "cxl_memory_that_is_made_anew_is_not_taken_for_what_was_there";
    let Some(pagetide) = pagetide(test).filter(|_| can_have_cxl(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    let out = boot(
        TOPOLOGY,
        &pagetide,
        keep.path(),
        r#"# Its region leaves and comes again, as when a pool lends another.
        anew() {
            for word in unbind bind; do echo region2 >/sys/bus/cxl/drivers/cxl_region/$word; done
            until_it driver dax2.0
        }
        pagetide shift prepare --device dax2.0
        anew
        pagetide shift recover
        grow
        say grown
        for block in $(blocks dax2.0); do echo offline >/sys/devices/system/memory/memory$block/state; done
        echo dax2.0 >/sys/bus/dax/drivers/kmem/unbind
        anew
        say anew
        [ $(driver dax2.0) = device_dax ] || as_storage dax2.0
        pagetide-lab probe poke /dev/dax2.0 8388608 4711
        fails pagetide shift recover
        fails pagetide shift give-back --size 512M
        pagetide shift run --for 3s 2>&1
        fails pagetide shift prepare --device dax2.0
        timeout 20 pagetide-lab probe await /dev/dax2.0 8388608 4711
        say left
        pagetide shift recover --zero dax2.0
        search dax2.0"#,
    );
    in_order(
        &out,
        &[
            "what is ours is storage",
            "grown: dax2.0 kmem 4, dax3.0 kmem 0",
            "anew: dax2.0 kmem 0, dax3.0 kmem 0",
            "a device made anew there, since it was memory: what is on it (the first at byte 8388608)",
            "1 pagetide: 0 B of 512 MiB were given back",
            "dax2.0 is left as it is",
            "1 pagetide: dax2.0 is being converted, or memory",
            "left: dax2.0 device_dax 0, dax3.0 kmem 0",
        ],
    );
    clean(&out);
}

#[test]
fn cxl_memory_that_the_kernel_took_into_use_at_the_boot_is_adopted() {
    let test = "cxl_memory_that_the_kernel_took_into_use_at_the_boot_is_adopted";
    let Some(pagetide) = pagetide(test).filter(|_| can_have_cxl(test)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let shipped = include_str!("../../topologies/shift-cxl.toml");
    let with_structures = format!("kernel = \"memory_hotplug.memmap_on_memory=Y\"\n{shipped}");
    let topology = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    // Offline, nothing is written to it, wherever page structures lie: it can be prepared.
    let offline = topology("offline.toml", &with_structures);
    let first = boot(
        &offline,
        &pagetide,
        folder.path(),
        "say booted; pagetide shift prepare --device dax2.0; say prepared",
    );
    in_order(
        &first,
        &["booted: dax2.0 kmem 0, dax3.0 kmem 0", "prepared: dax2.0 device_dax 0, dax3.0 kmem 0"],
    );
    let movable = with_structures.replace("echo offline >", "echo online_movable >");
    assert_ne!(movable, with_structures);
    let online = topology("online.toml", &movable);
    let second = boot(
        &online,
        &pagetide,
        folder.path(),
        r#"say booted
        fails pagetide shift prepare --device dax2.0
        pagetide shift recover
        pagetide shift status
        pagetide shift give-back --size 512M
        say back
        search dax2.0
        # What was in use is not empty: its page structures, and what programs left.
        for block in $(blocks dax3.0); do echo offline >/sys/devices/system/memory/memory$block/state; done
        fails pagetide shift prepare --device dax3.0
        say data"#,
    );
    in_order(
        &second,
        &[
            "booted: dax2.0 kmem 4, dax3.0 kmem 4",
            "1 pagetide: dax2.0 is memory already",
            "dax2.0 is memory",
            ": memory, not ours",
            "back: dax2.0 device_dax 0, dax3.0 kmem 4",
            "dax2.0 signatures 0 nonzero 0",
            "1 pagetide: dax3.0 holds data (the first at byte ",
            "data: dax2.0 device_dax 0, dax3.0 device_dax 0",
        ],
    );
}

#[test]
fn a_program_larger_than_dram_finishes_without_swapping_on_cxl_memory() {
    let test = "a_program_larger_than_dram_finishes_without_swapping_on_cxl_memory";
    let Some(pagetide) = pagetide(test).filter(|_| can_have_cxl(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    let out = boot(
        TOPOLOGY,
        &pagetide,
        keep.path(),
        r#"pagetide shift prepare --device dax2.0
        pagetide shift prepare --device dax3.0
        both_storage() { [ "$(pagetide shift status --json | grep -c '"state": "storage"')" = 2 ]; }
        before=$(counter pswpout)
        pagetide shift run --demote 2>&1 & manager=$!
        pagetide-lab probe fill --size 1200M --rate 60M --hold 1
        say filled
        until_it both_storage
        echo swapped $(($(counter pswpout) - before)) killed $(counter oom_kill)
        kill $manager
        say back
        search dax2.0
        search dax3.0"#,
    );
    in_order(
        &out,
        &["verified 1", "swapped 0 killed 0", "back: dax2.0 device_dax 0, dax3.0 device_dax 0"],
    );
    assert_eq!(out.matches("signatures 0 nonzero 0").count(), 2, "{out}");
    assert!(out.contains("dax2.0 is memory now") || out.contains("dax3.0 is memory now"), "{out}");
}
