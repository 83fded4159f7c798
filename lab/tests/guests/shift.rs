//! `pagetide shift` in guests with persistent memory: what must be shown before anybody runs it as root.

use crate::lab::{LAB, Ran, can_boot, lab, pagetide, ran};
use std::{fs, path::Path};

/// Where the device of `shift` lies, and functions for the scripts.
const PRELUDE: &str = r#"
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
"#;

/// A script in a guest whose persistent memory lies in `keep`.
pub(crate) fn script(pagetide: &Path, keep: &Path, commands: &str) -> Ran {
    script_in("shift", pagetide, keep, commands)
}

/// The same in a guest of another topology.
pub(crate) fn script_in(topology: &str, pagetide: &Path, keep: &Path, commands: &str) -> Ran {
    let all = format!("{PRELUDE}\n{commands}");
    let run = ran(lab()
        .args(["-t", topology, "--with", LAB, "--with"])
        .arg(pagetide)
        .arg("--keep")
        .arg(keep)
        .args(["--", "sh", "-c", &all]));
    assert_eq!(run.code, 0, "{run:?}");
    run
}

/// No line that a program left is on any device.
pub(crate) fn clean(out: &str) {
    let found: Vec<&str> = out.lines().filter(|line| line.contains("signatures")).collect();
    assert!(!found.is_empty(), "{out}");
    for line in found {
        assert!(line.ends_with("signatures 0 nonzero 0"), "{out}");
    }
}

#[test]
fn a_program_larger_than_dram_finishes_without_swapping() {
    let test = "a_program_larger_than_dram_finishes_without_swapping";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    // Unmanaged it swaps.
    let alone = script(
        &pagetide,
        keep.path(),
        "pagetide-lab probe fill --size 1200M --rate 60M; echo swapped $(counter pswpout)",
    );
    let swapped = alone.out.lines().find_map(|line| line.strip_prefix("swapped ")).unwrap();
    assert!(swapped.parse::<u64>().unwrap() > 0, "{alone:?}");
    // Managed it does not, at three rates, and all of it is there; afterwards nothing of it is left.
    let managed = script(
        &pagetide,
        keep.path(),
        r#"set -e
        pagetide shift prepare --region $pm --size 512M
        before=$(counter pswpout)
        pagetide shift run --demote & manager=$!
        for rate in 30M 60M 120M; do
            pagetide-lab probe fill --size 1200M --rate $rate --hold 1
            until_it all_storage
            echo at $rate swapped $(($(counter pswpout) - before)) killed $(counter oom_kill)
        done
        kill $manager
        leftover"#,
    );
    assert_eq!(managed.out.matches("verified 1").count(), 3, "{managed:?}");
    for rate in ["30M", "60M", "120M"] {
        let line = format!("at {rate} swapped 0 killed 0");
        assert!(managed.out.contains(&line), "{line}: {managed:?}");
    }
    clean(&managed.out);
}

#[test]
fn what_is_used_is_given_back_where_dram_has_room_and_refused_elsewhere() {
    let test = "what_is_used_is_given_back_where_dram_has_room_and_refused_elsewhere";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    let run = script(
        &pagetide,
        keep.path(),
        r#"set -e
        pagetide shift prepare --region $pm --size 512M --count 1
        # 0, 10 and 50 % of 384 MiB are used, by a program that lives on, then nearly all.
        for used in 0 38 192 370; do
            pagetide shift prepare --device $(ls /sys/bus/dax/devices) >/dev/null || true
            pagetide shift run --threshold 100% --for 3s >/dev/null
            some_online
            program=
            if [ $used != 0 ]; then
                numactl --membind=1 pagetide-lab probe fill --size ${used}M --until /tmp/tried >/tmp/filled & program=$!
                until_it grep filled /tmp/filled
            fi
            if pagetide shift give-back --json --time 120s --size 384M >/tmp/back 2>/tmp/why; then
                echo back at $used, moved $(sed -n 's/.*"moved": *\([0-9]*\).*/\1/p' /tmp/back)
            else
                echo kept at $used: $(cat /tmp/why)
            fi
            touch /tmp/tried
            if [ -n "$program" ]; then wait $program && echo ended $(tail -n 1 /tmp/filled); rm /tmp/filled; fi
            rm /tmp/tried
            if some_online; then pagetide shift give-back --size 384M >/dev/null; fi
            leftover
        done"#,
    );
    for part in ["back at 0,", "back at 38,", "back at 192,", "kept at 370:"] {
        assert!(run.out.contains(part), "{part} in {run:?}");
    }
    // Nearly all of what the program had was moved by us, and not by the kernel's offlining.
    for used in [38_u64, 192] {
        let line = format!("back at {used}, moved ");
        let moved = run.out.lines().find_map(|it| it.strip_prefix(&line)).unwrap();
        assert!(moved.parse::<u64>().unwrap() >= (used << 20) / 10 * 9, "{run:?}");
    }
    assert!(run.out.contains("less than three times that"), "{run:?}");
    assert_eq!(run.out.matches("ended verified 1").count(), 3, "{run:?}");
    clean(&run.out);
}

#[test]
fn memory_in_pieces_is_moved_together_by_schedule_and_on_request() {
    let test = "memory_in_pieces_is_moved_together_by_schedule_and_on_request";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    // A program fills both nodes with base pages and gives half of them back, anywhere; pages of pipes lie between
    // those of DRAM, and cannot be moved.
    let run = script(
        &pagetide,
        keep.path(),
        r#"set -e
        pagetide shift prepare --region $pm --size 512M --count 1
        pagetide shift run --threshold 100% --for 3s >/dev/null
        some_online
        pagetide-lab probe fragment --free 50 --pipes 8M >/tmp/said & program=$!
        until_it grep ready /tmp/said
        free() {
            pagetide shift compact --node $1 --dry-run --json >/tmp/free
            sed -n "s/.*\"blocks\": *\([0-9]*\).*/$2 \1/p" /tmp/free
            sed -n "s/.*\"free\": *\([0-9]*\).*/$2-bytes \1/p" /tmp/free
        }
        free 1 pieces
        pagetide shift run --threshold 20% --lead 0 --compact 1s --for 6s --json | grep -c compacted | sed 's/^/times /'
        free 1 together
        free 0 dram-pieces
        pagetide shift compact --node 0
        free 0 dram-together
        pagetide shift compact --node 7 || echo refused $?
        kill $program"#,
    );
    let number = |name: &str| -> u64 {
        let line = run.out.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{name}: {run:?}"))
    };
    // How much there is to bring together depends on how much of the device the program filled.
    let most = number("pieces-bytes") / (2 << 20) - number("pieces");
    assert!(most > 20, "{run:?}");
    assert!(2 * (number("together") - number("pieces")) > most, "{run:?}");
    assert!(number("times") >= 1, "{run:?}");
    assert!(number("dram-together") > number("dram-pieces") + 50, "{run:?}");
    assert!(run.out.contains("refused 1"), "{run:?}");
}

/// A machine whose persistent memory can be read whole in seconds.
const SMALL: &str = r#"
name = "small"
title = "256 MiB of persistent memory that somebody uses"
modules = ["nfit", "nd_pmem", "nd_btt", "device_dax", "dax_pmem", "kmem"]
setup = """
echo 8c1d0a3d5b9e4c0f9a52d3f0c0ffee11 >/etc/machine-id
echo offline >/sys/devices/system/memory/auto_online_blocks
"""
node = [
    { name = "DRAM", cpus = 2, memory = "1G", latency_ns = 100, bandwidth_gb_s = 100 },
    { name = "PM", latency_ns = 300, bandwidth_gb_s = 10 },
]
nvdimm = [{ node = 1, size = "256M" }]
"#;

#[test]
fn occupied_devices_are_refused_and_left_byte_for_byte() {
    let test = "occupied_devices_are_refused_and_left_byte_for_byte";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("small.toml");
    fs::write(&topology, SMALL).unwrap();
    let commands = r#"
    # What must be refused: its name, and the words of the refusal. Nothing may have changed.
    refused() {
        before=$(cksum </dev/pmem0)
        if pagetide shift prepare --region region0 --size 256M 2>/tmp/why; then echo "TAKEN: $1"; fi
        grep -q "$2" /tmp/why || { echo "WRONG: $1: $(cat /tmp/why)"; }
        [ "$before" = "$(cksum </dev/pmem0)" ] || echo "CHANGED: $1"
        echo "refused $1: $(cat /tmp/why)"
    }
    clear() { dd if=/dev/zero of=/dev/pmem0 bs=1M count=$1 conv=notrunc 2>/dev/null; }
    mke2fs /dev/pmem0 >/dev/null 2>&1
    refused filesystem "holds data"
    mkdir -p /mnt; mount -t ext4 /dev/pmem0 /mnt
    refused mounted "is mounted"
    umount /mnt; clear 256
    printf 'o\nn\np\n1\n\n\nw\n' | fdisk /dev/pmem0 >/dev/null 2>&1
    refused partitions "holds data"
    clear 1; mkswap /dev/pmem0 >/dev/null; swapon /dev/pmem0
    refused swap "is mounted"
    swapoff /dev/pmem0; clear 1
    printf x | dd of=/dev/pmem0 bs=1 seek=268435455 conv=notrunc 2>/dev/null
    refused last-byte "first at byte 268435455"
    clear 256
    sleep 1000 </dev/pmem0 & sleeper=$!
    refused open "is open in sleep"
    kill $sleeper; wait
    # As a file system of direct access, and in sectors.
    ndctl disable-region region0 >/dev/null; ndctl init-labels nmem0 >/dev/null 2>&1; ndctl enable-region region0 >/dev/null
    for mode in fsdax sector; do
        ndctl create-namespace -r region0 -m $mode >/dev/null
        before=$(cat /sys/bus/nd/devices/region0/namespace0.0/uuid)
        pagetide shift prepare --region region0 --size 256M 2>/tmp/why && echo "TAKEN: $mode"
        grep -q "it holds namespace0.0" /tmp/why || echo "WRONG: $mode: $(cat /tmp/why)"
        [ "$before" = "$(cat /sys/bus/nd/devices/region0/namespace0.0/uuid)" ] || echo "CHANGED: $mode"
        echo "refused $mode: $(cat /tmp/why)"
        ndctl destroy-namespace -f namespace0.0 >/dev/null 2>&1
    done
    # Devices of direct access: what is on them is not ours, they are open, they are memory.
    ndctl create-namespace -r region0 -m devdax >/dev/null
    device=$(ls /sys/bus/dax/devices)
    pagetide shift run --for 1s 2>&1 | grep -q "no device is prepared" || echo "WRONG: none is prepared"
    device_refused() {
        if pagetide shift prepare --device $device 2>/tmp/why; then echo "TAKEN: $1"; fi
        grep -q "$2" /tmp/why || echo "WRONG: $1: $(cat /tmp/why)"
        echo "refused $1: $(cat /tmp/why)"
    }
    pagetide-lab probe poke /dev/$device 8388608 4711
    device_refused data "holds data (the first at byte 8388608)"
    pagetide-lab probe await /dev/$device 8388608 4711 && pagetide-lab probe poke /dev/$device 8388608 0
    pagetide-lab probe await /dev/$device 16777216 99 & holder=$!
    sleep 1
    device_refused mapped "in use by pagetide-lab"
    kill $holder
    wait
    daxctl reconfigure-device --mode=system-ram $device >/dev/null 2>&1
    device_refused memory "is memory already"
    echo done
    "#;
    let run = ran(lab()
        .arg("-t")
        .arg(&topology)
        .args(["--with", LAB, "--with"])
        .arg(&pagetide)
        .args(["--", "sh", "-c", commands]));
    eprintln!("{}", run.out);
    assert_eq!(run.code, 0, "{run:?}");
    for wrong in ["TAKEN", "WRONG", "CHANGED"] {
        assert!(!run.out.contains(wrong), "{run:?}");
    }
    let refused = run.out.lines().filter(|line| line.trim_start().starts_with("refused "));
    assert_eq!(refused.count(), 11, "{run:?}");
}
