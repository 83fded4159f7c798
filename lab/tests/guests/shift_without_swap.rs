//! Where there is no swap, memory that comes too late is a program that is killed.

use crate::lab::{can_boot, pagetide};
use crate::shift::{clean, script};

#[test]
fn without_swap_a_program_larger_than_dram_is_killed_unmanaged_and_finishes_managed() {
    let test = "without_swap_a_program_larger_than_dram_is_killed_unmanaged_and_finishes_managed";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    let run = script(
        &pagetide,
        keep.path(),
        r#"set -e
        swapoff $(awk 'NR > 1 { print $1 }' /proc/swaps)
        # Else the kernel refuses to promise so much.
        echo 1 >/proc/sys/vm/overcommit_memory
        killed() { echo $1 at $rate killed $(($(counter oom_kill) - before)) swapped $(counter pswpout); }
        for rate in 30M 60M 120M; do
            before=$(counter oom_kill)
            pagetide-lab probe fill --size 1200M --rate $rate --hold 1 || true
            killed unmanaged
        done
        pagetide shift prepare --region $pm --size 512M
        pagetide shift run --demote >/dev/null & manager=$!
        for rate in 30M 60M 120M; do
            before=$(counter oom_kill)
            pagetide-lab probe fill --size 1200M --rate $rate --hold 1
            killed managed
            until_it all_storage
        done
        kill $manager
        leftover"#,
    );
    for rate in ["30M", "60M", "120M"] {
        for (who, kills) in [("unmanaged", 1), ("managed", 0)] {
            let line = format!("{who} at {rate} killed {kills} swapped 0");
            assert!(run.out.contains(&line), "{line}: {run:?}");
        }
    }
    assert_eq!(run.out.matches("verified 1").count(), 3, "{run:?}");
    clean(&run.out);
}
