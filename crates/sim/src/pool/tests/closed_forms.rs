//! Little's law, wherever something bounds what is under way: banks, a core's misses, a module's
//! requests, the network. Expected are rates of the bound that holds, so ours can be above neither it nor
//! 1 % below.

use super::*;
use pagetide_access::generators::Rng;

const COUNT: u32 = 40_000;

/// Lines fetched per nanosecond.
fn rate(outcome: &PoolOutcome) -> f64 {
    let lines: u64 = outcome.nodes.iter().map(|node| node.pool_fetches + node.local_fetches).sum();
    lines as f64 / (outcome.seconds * 1e9)
}

fn sweep() -> Vec<Misses> {
    (0..2).map(|core| misses(COUNT, 0, Kind::Read, |i| core * COUNT + i)).collect()
}

#[test]
fn banks_serve_one_line_at_a_time() {
    for (nodes, banks, read_ns) in [(8, 16, 300.0), (4, 16, 150.0), (2, 5, 300.0)] {
        let mut machine = machine(nodes);
        (machine.pool.banks, machine.pool.read_ns) = (banks, read_ns);
        let outcome = replay(&machine, &sweep(), Placement::Pool, None).unwrap();
        close(rate(&outcome), f64::from(banks) / read_ns, 1.0);
        close(outcome.busy_share, 1.0, 1.0);
        // Little: what is under way is rate times delay; all cores wait with all that they may have.
        let under_way = f64::from(nodes * 2 * machine.core.outstanding);
        close(outcome.delay_ns(), under_way / rate(&outcome), 1.0);
    }
}

#[test]
fn a_write_keeps_its_bank_as_long_as_a_write_takes() {
    let machine = machine(1);
    let both: Vec<Misses> = (0..2_u32)
        .map(|core| {
            let mut both = Misses::default();
            for line in 0..COUNT {
                both.push(core * 2 * COUNT + line, Kind::Read, 0);
                both.push(core * 2 * COUNT + COUNT + line, Kind::WriteBack, 0);
            }
            both
        })
        .collect();
    let outcome = replay(&machine, &both, Placement::Pool, None).unwrap();
    close(rate(&outcome), 16.0 / (300.0 + 1000.0), 1.0);
}

#[test]
fn misses_under_way_bound_a_core() {
    let mut machine = machine(1);
    machine.core.count = 1;
    (machine.pool.banks, machine.pool.outstanding) = (4096, 65_536);
    machine.network.bandwidth_gb_s = None;
    for outstanding in [1, 8, 32] {
        machine.core.outstanding = outstanding;
        let outcome = replay(&machine, &sweep()[..1], Placement::Pool, None).unwrap();
        close(rate(&outcome), f64::from(outstanding) / 380.0, 1.0);
        close(outcome.delay_ns(), 380.0, 0.1);
    }
}

#[test]
fn latency_of_both_ways_together_is_half_each_way() {
    let mut machine = machine(1);
    (machine.core.outstanding, machine.network.round_trip) = (1, true);
    machine.network.bandwidth_gb_s = None;
    let outcome = replay(&machine, &sweep()[..1], Placement::Pool, None).unwrap();
    close(outcome.delay_ns(), 340.0, 0.1);
}

#[test]
fn requests_inside_bound_a_module() {
    let mut machine = machine(8);
    (machine.pool.banks, machine.pool.outstanding) = (65_536, 24);
    machine.network.bandwidth_gb_s = None;
    let outcome = replay(&machine, &sweep(), Placement::Pool, None).unwrap();
    close(rate(&outcome), 24.0 / 300.0, 1.0);
}

#[test]
fn bandwidth_bounds_a_port_and_a_channel() {
    let mut machine = machine(4);
    (machine.pool.banks, machine.pool.outstanding) = (4096, 65_536);
    machine.network.bandwidth_gb_s = Some(2.0);
    let outcome = replay(&machine, &sweep(), Placement::Pool, None).unwrap();
    close(rate(&outcome), 4.0 * 2.0 / 64.0, 1.0);
    machine.network.bandwidth_gb_s = None;
    machine.pool.bandwidth_gb_s = Some(3.0);
    let outcome = replay(&machine, &sweep(), Placement::Pool, None).unwrap();
    close(rate(&outcome), 3.0 / 64.0, 1.0);
}

#[test]
fn modules_add_up() {
    let mut machine = machine(8);
    machine.pool.modules = 2;
    let outcome = replay(&machine, &sweep(), Placement::Pool, None).unwrap();
    close(rate(&outcome), 2.0 * 16.0 / 300.0, 1.0);
}

#[test]
fn local_memory_has_no_network() {
    let mut machine = machine(1);
    (machine.core.outstanding, machine.local.bandwidth_gb_s) = (1, None);
    let outcome = replay(&machine, &sweep()[..1], Placement::LocalFirst, None).unwrap();
    close(outcome.delay_ns(), 60.0, 0.1);
    assert_eq!(outcome.local_share(), 1.0);
}

#[test]
fn instructions_take_their_cycles() {
    let machine = machine(1);
    let cores = [misses(1000, 100_000, Kind::Read, |i| i)];
    let outcome = replay(&machine, &cores, Placement::Pool, None).unwrap();
    close(outcome.ipc, 2.0, 0.1);
}

#[test]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
fn who_comes_at_random_waits_for_as_long_as_pollaczek_and_khinchine_say() {
    let mut machine = machine(1);
    (machine.core.outstanding, machine.pool.outstanding) = (4096, 65_536);
    machine.network.bandwidth_gb_s = None;
    for busy in [0.3, 0.5, 0.7] {
        // Two cores, 16 banks of 300 ns, four instructions a nanosecond; lines anywhere, after exponential times.
        let mean = 4.0 * 2.0 * 300.0 / (16.0 * busy);
        let core = |core| {
            let mut rng = Rng::new(7, core);
            let mut misses = Misses::default();
            for _ in 0..COUNT {
                let unit = (rng.word() >> 11) as f64 / (1_u64 << 53) as f64;
                let after = (-(1.0 - unit).ln() * mean).round() as u64;
                misses.push(rng.below(u64::from(COUNT)) as u32, Kind::Read, after);
            }
            misses
        };
        let cores = [core(0), core(1)];
        let outcome = replay(&machine, &cores, Placement::Pool, None).unwrap();
        // Each bank is an M/D/1 queue: half of what its load over its rest is, in services.
        let waits = 300.0 * busy / (2.0 * (1.0 - busy));
        close(outcome.delay_ns() - 380.0, waits, 5.0);
    }
}

#[test]
fn nodes_slow_each_other_as_far_as_banks_are_short() {
    // 0.0133 lines a nanosecond of each node; 0.0533 of all banks.
    let cores = [misses(COUNT, 300, Kind::Read, |i| i)];
    let ipc = |nodes| replay(&machine(nodes), &cores, Placement::Pool, None).unwrap().ipc;
    close(ipc(2), 2.0, 1.0);
    close(ipc(8) / ipc(2), 0.5, 1.0);
}
