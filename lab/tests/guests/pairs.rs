//! Two sockets, each with DRAM and slower memory that the firmware says is nearer than the other's DRAM: where pages
//! land on a stock kernel, and with `pagetide run`.

use crate::lab::{can_boot, lab, pagetide, ran};
use std::path::Path;

/// Runs shell commands in a guest of two pairs, with `$P` the program `pagetide`, and `where_is PID`: MiB by node.
fn pairs(pagetide: &Path, commands: &str) -> String {
    let program = format!("P={}", pagetide.display());
    let helpers = r#"
        echo 0 >/proc/sys/kernel/numa_balancing
        where_is() {
            awk '{
                for (i = 1; i <= NF; i++) if ($i ~ /^N[0-9]+=/) { split(substr($i, 2), of, "="); pages[of[1]] += of[2] }
            } END { print int(pages[0] / 256), int(pages[1] / 256), int(pages[2] / 256), int(pages[3] / 256) }' /proc/$1/numa_maps
        }
        until_ready() {
            for _ in $(seq 600); do
                if grep -q ready "$1"; then return; fi
                sleep 0.2
            done
            echo "not ready: $1: $(cat "$1")" >&2
            dmesg | grep -i 'out of memory' >&2
            exit 1
        }
    "#;
    let mut run = lab();
    run.args(["-t", "two-pairs", "--env", &program, "--with"]).arg(pagetide);
    let run = ran(run.args(["--", "sh", "-ec", &format!("{helpers}{commands}")]));
    assert_eq!(run.code, 0, "{run:?}");
    run.out
}

/// The MiB by node in the line that begins with `name`.
fn by_node(out: &str, name: &str) -> Vec<u64> {
    let line = out.lines().find_map(|line| line.strip_prefix(name));
    let numbers = line.unwrap_or_default().split_whitespace();
    let found: Vec<u64> = numbers.filter_map(|number| number.parse().ok()).collect();
    assert_eq!(found.len(), 4, "{name}: {out}");
    found
}

#[test]
fn a_command_of_ours_fills_the_other_sockets_dram_before_slow_memory() {
    let test = "a_command_of_ours_fills_the_other_sockets_dram_before_slow_memory";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let out = pairs(
        &pagetide,
        r#"
        taskset 1 $P workload hot-cold --size 900M --hot 64M --seconds 600 >stock & program=$!
        until_ready stock
        echo stock $(where_is $program)
        kill $program; wait $program || true
        taskset 1 $P run -q -- $P workload hot-cold --size 900M --hot 64M --seconds 600 >ours 2>&1 & run=$!
        until_ready ours
        echo ours $(where_is $(sed -n 's/.*ready.* pid=\([0-9]*\).*/\1/p' ours))
        kill -TERM $run; wait $run || true"#,
    );
    let (stock, ours) = (by_node(&out, "stock"), by_node(&out, "ours"));
    assert!(stock[2] > 150 && stock[1] < 50, "its own slow memory first: {out}");
    assert!(ours[1] > 150 && ours[2] + ours[3] < 20, "DRAM of both sockets first: {out}");
}

#[test]
fn pages_leave_slow_memory_for_the_other_sockets_dram_where_their_own_is_full() {
    let test = "pages_leave_slow_memory_for_the_other_sockets_dram_where_their_own_is_full";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let out = pairs(
        &pagetide,
        r#"
        free() { awk '/MemFree/ { print int($4 / 1024) }' /sys/devices/system/node/node0/meminfo; }
        # Node 0 but for 100 MiB is somebody else's.
        $P workload hot-cold --size $((($(free) - 100) / 2 * 2))M --node 0 --hot 64M --seconds 900 >full & hog=$!
        until_ready full; kill -STOP $hog
        taskset 1 $P workload hot-cold --size 256M --hot 192M --node 2 --seconds 900 >said & program=$!
        until_ready said
        echo before $(where_is $program)
        $P run --payback 1000s --governor none --for 20s -p $program
        echo after $(where_is $program)
        kill $program; kill -KILL $hog; wait || true"#,
    );
    let (before, after) = (by_node(&out, "before"), by_node(&out, "after"));
    assert!(before[2] > 240, "{out}");
    assert!(after[1] > 80, "the other socket's DRAM: {out}");
    assert!(after[3] < 8, "not the other socket's slow memory: {out}");
}

#[test]
fn who_is_bound_to_a_socket_gets_its_dram_wherever_the_pages_were() {
    let test = "who_is_bound_to_a_socket_gets_its_dram_wherever_the_pages_were";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let out = pairs(
        &pagetide,
        r#"
        for socket in 0 1; do
            taskset $((1 << socket)) $P workload hot-cold --size 256M --hot 192M --node 2 --seconds 900 >said$socket & program=$!
            until_ready said$socket
            $P run -q --payback 1000s --governor none --for 10s -p $program
            echo socket$socket $(where_is $program)
            kill $program; wait $program || true
        done"#,
    );
    let (first, second) = (by_node(&out, "socket0"), by_node(&out, "socket1"));
    assert!(first[0] > 150 && first[1] < 8, "nearest to where it lay: {out}");
    assert!(second[1] > 150 && second[0] < 8, "where it runs: {out}");
}
