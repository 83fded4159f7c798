//! `pagetide run` beside `pagetide shift`: slow memory that comes and goes under a program that is managed, and promotions
//! by the batch.

use crate::lab::{can_boot, lab, pagetide, ran};
use crate::shift::script;

#[test]
fn a_run_uses_memory_that_comes_and_survives_that_it_goes() {
    let test = "a_run_uses_memory_that_comes_and_survives_that_it_goes";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    let run = script(
        &pagetide,
        keep.path(),
        r#"set -e
        pagetide shift prepare --region $pm --size 512M --count 1
        pagetide workload hot-cold --size 300M --hot 100M --ratio 400 --page-size 4K --seconds 900 >/tmp/said & program=$!
        until_it grep range= /tmp/said
        pagetide run --fast 200M --budget 33% --epoch 2s --log /tmp/run.jsonl -p $program >/tmp/summary 2>/tmp/notes & run=$!
        until_it test -s /tmp/run.jsonl
        on_pm() { awk '{ for (i = 1; i <= NF; i++) if (sub("^N1=", "", $i)) pages += $i } END { print pages + 0 }' /proc/$program/numa_maps; }
        echo before $(on_pm)
        pagetide shift run --threshold 100% --for 3s >/dev/null
        until_it some_online
        moved_down() { [ $(on_pm) -gt 20000 ]; }
        until_it moved_down
        echo after $(on_pm)
        pagetide shift give-back --size 384M >/dev/null
        until_it none_online
        until_it grep "no slow memory" /tmp/run.jsonl
        kill -TERM $run
        wait $run || true
        kill -0 $program && echo the program lives, with $(on_pm) pages there
        cat /tmp/notes /tmp/summary"#,
    );
    for part in [
        "no slow memory yet",
        "before 0",
        "after 2",
        "the program lives, with 0 pages there",
        // What the summary says of each change of the tiers, then the log of the last.
        "Then        from ",
        "no slow memory",
    ] {
        assert!(run.out.contains(part), "{part}: {run:?}");
    }
}

/// What one epoch of a run decided.
#[derive(Debug)]
struct Epoch {
    /// Bytes that were free of fast memory.
    free: u64,
    /// Bytes that were to go up.
    up: u64,
    /// Bytes that had gone up, by where the pages were afterwards.
    went: u64,
}

/// The epochs in the log that stands between `begin NAME` and `end NAME`.
#[expect(clippy::unwrap_used, reason = "a test's own log")]
fn epochs(out: &str, name: &str) -> Vec<Epoch> {
    let lines = out.lines().skip_while(|line| *line != format!("begin {name}")).skip(1);
    let rows = lines.take_while(|line| *line != format!("end {name}"));
    rows.map(|line| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let pages = |size: &str| row["moves"]["promoted"][size].as_u64().unwrap_or(0);
        let went = (pages("base_pages") << 12) + (pages("huge_pages") << 21);
        Epoch { free: row["free"].as_u64().unwrap(), up: row["promote"].as_u64().unwrap(), went }
    })
    .collect()
}

#[test]
fn promotions_go_up_in_batches_and_wait_for_three_times_as_much_free() {
    let test = "promotions_go_up_in_batches_and_wait_for_three_times_as_much_free";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let program = format!("P={}", pagetide.display());
    // 300 MiB begin in slow memory, and all of it is worth its place: in free DRAM without batches and by batches, then where
    // other programs leave 180 MiB, with and without, until they end.
    let commands = r#"
        echo 0 >/proc/sys/kernel/numa_balancing
        free() { awk '/MemFree/ { print int($4 / 1024) }' /sys/devices/system/node/node0/meminfo; }
        until_ready() {
            for i in $(seq 600); do
                if grep -qs ready "$1"; then return; fi
                sleep 0.2
            done
            cat "$1"; exit 8
        }
        on_fast() { awk '{ for (i = 1; i <= NF; i++) if (sub("^N0=", "", $i)) pages += $i } END { print int(pages / 256) }' /proc/$1/numa_maps; }
        # Runs until 290 MiB are in DRAM, or beside another program for six epochs, or for so many seconds.
        runs() {
            name=$1; seconds=$2; shift 2
            rm -f said
            $P workload hot-cold --size 300M --hot 150M --ratio 4 --node 1 --seconds 900 >said & program=$!
            until_ready said
            $P run --payback 1000s --governor none --budget 50% --epoch 2s --log log.$name "$@" -p $program >/dev/null 2>notes & run=$!
            for i in $(seq $seconds); do
                [ $(on_fast $program) -lt 290 ] || break
                [ -z "$hog" ] || [ $(cat log.$name 2>/dev/null | wc -l) -lt 6 ] || break
                sleep 1
            done
            if [ -n "$hog" ]; then
                echo beside $name $(on_fast $program)
                kill -KILL $hog; hog=
                for i in $(seq 60); do
                    [ $(on_fast $program) -lt 290 ] || break
                    sleep 1
                done
            fi
            # Until that is told, too.
            sleep 4
            kill -TERM $run || { cat notes; exit 9; }
            wait $run || true
            echo fast $name $(on_fast $program)
            echo begin $name; cat log.$name; echo end $name
            kill $program; wait $program || true
        }
        hogs() {
            rm -f full
            $P workload hot-cold --size $((($(free) - 220) / 2 * 2))M --node 0 --hot 64M --seconds 900 >full & hog=$!
            until_ready full; kill -STOP $hog
        }
        hog=
        runs whole 120
        runs batches 120 --promote-batch 40M
        hogs
        runs short-whole 120
        hogs
        runs short-batches 120 --promote-batch 400M"#;
    let mut run = lab();
    run.args(["-t", "two-tiers", "--env", &program, "--with"]).arg(&pagetide);
    let run = ran(run.args(["--", "sh", "-ec", commands]));
    assert_eq!(run.code, 0, "{run:?}");
    let batch = 40 << 20;
    let whole = epochs(&run.out, "whole");
    assert!(whole.iter().any(|epoch| epoch.up > batch), "{whole:?}");
    let batches = epochs(&run.out, "batches");
    assert!(batches.iter().all(|epoch| epoch.up <= batch), "{batches:?}");
    // What moved by then is no more than what was decided on.
    let (mut up, mut went) = (0, 0);
    for epoch in &batches {
        (up, went) = (up + epoch.up, went + epoch.went);
        assert!(went <= up, "{batches:?}");
    }
    let third = |epoch: &Epoch| epoch.up <= epoch.free / 3;
    let short_whole = epochs(&run.out, "short-whole");
    assert!(!short_whole.iter().all(third), "{short_whole:?}");
    let short = epochs(&run.out, "short-batches");
    assert!(short.iter().all(third), "{short:?}");
    // It goes up as long as there is room for a third of it, and at once when there is for all.
    let is_short = |epoch: &&Epoch| epoch.free < 300 << 20;
    assert!(short.iter().filter(is_short).filter(|epoch| epoch.up > 0).count() >= 2, "{short:?}");
    assert!(short.iter().any(|epoch| epoch.free > 600 << 20 && epoch.up > 100 << 20), "{short:?}");
    for name in ["batches", "short-batches"] {
        let line = run.out.lines().find_map(|line| line.strip_prefix(&format!("fast {name} ")));
        assert!(line.unwrap().parse::<u64>().unwrap() >= 290, "{name}: {run:?}");
    }
}
