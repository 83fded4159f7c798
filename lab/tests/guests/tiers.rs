//! `pagetide run` beside `pagetide shift`: slow memory that comes and goes under a program that is managed.

use crate::lab::{can_boot, pagetide};
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
