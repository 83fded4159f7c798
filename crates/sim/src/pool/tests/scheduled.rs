//! Banks that serve out of order, against closed formulas.

use super::*;
use pagetide_access::generators::Rng;
use pagetide_machine::{Rows, WriteBuffer};
use pagetide_types::Bytes;

const COUNT: u32 = 40_000;

/// Fetched and written back to the pool, per nanosecond.
fn rate(outcome: &PoolOutcome) -> f64 {
    let of = |node: &NodeOutcome| node.pool_fetches + node.pool_write_backs;
    outcome.nodes.iter().map(of).sum::<u64>() as f64 / (outcome.seconds * 1e9)
}

fn rows(interleave: u64) -> PoolMachine {
    let mut machine = machine(1);
    machine.pool.rows = Some(Rows { size: Bytes(8192), hit_ns: 30.0 });
    machine.pool.interleave = Bytes(interleave);
    machine.network.bandwidth_gb_s = None;
    machine
}

fn buffered(entries: u32, at_once: Option<u32>) -> PoolMachine {
    let mut machine = machine(1);
    machine.pool.write_buffer =
        Some(WriteBuffer { entries, at_once, flush_at: 0.9, flush_to: 0.3 });
    machine.network.bandwidth_gb_s = None;
    machine
}

/// A sweep of core 0, and one of core 1 that is so many lines further on.
fn sweeps(apart: u32) -> [Misses; 2] {
    [0, apart].map(|from| misses(COUNT, 0, Kind::Read, |i| from + i))
}

#[test]
fn where_nothing_may_overtake_banks_serve_as_in_order() {
    // Rows of a line are never open for the next, and a buffer that nothing comes to changes nothing.
    let plain = replay(&machine(4), &sweeps(COUNT), Placement::Pool, None).unwrap();
    let mut machine = machine(4);
    machine.pool.rows = Some(Rows { size: Bytes(64), hit_ns: 30.0 });
    machine.pool.write_buffer = buffered(32, None).pool.write_buffer;
    let outcome = replay(&machine, &sweeps(COUNT), Placement::Pool, None).unwrap();
    close(outcome.seconds, plain.seconds, 0.1);
    close(outcome.delay_ns(), plain.delay_ns(), 0.5);
    close(outcome.busy_share, plain.busy_share, 0.1);
}

#[test]
fn a_row_is_opened_once_and_read_on_from() {
    // One core at a time in a bank: of the 128 lines of a row the first takes 300 ns, the others 30.
    let mut machine = rows(8192);
    machine.core.outstanding = 1;
    let outcome = replay(&machine, &sweeps(COUNT)[..1], Placement::Pool, None).unwrap();
    close(outcome.delay_ns(), 80.0 + (300.0 + 127.0 * 30.0) / 128.0, 0.5);
}

#[test]
fn reads_of_the_open_row_go_first() {
    // Two sweeps of one bank: in order each read would open its row again.
    let mut machine = rows(8192);
    machine.pool.banks = 1;
    let outcome = replay(&machine, &sweeps(COUNT), Placement::Pool, None).unwrap();
    close(rate(&outcome), 128.0 / (300.0 + 127.0 * 30.0), 3.0);
}

#[test]
fn random_lines_find_their_row_closed() {
    let random = |core| {
        let mut rng = Rng::new(3, core);
        let mut misses = Misses::default();
        #[expect(clippy::cast_possible_truncation, reason = "below 2^22")]
        (0..COUNT).for_each(|_| misses.push(rng.below(1 << 22) as u32, Kind::Read, 0));
        misses
    };
    let with = |machine: &PoolMachine| {
        replay(machine, &[random(0), random(1)], Placement::Pool, None).unwrap()
    };
    close(with(&rows(64)).seconds, with(&machine(1)).seconds, 2.0);
}

#[test]
fn so_many_writes_are_under_way_at_most() {
    let writes: Vec<Misses> =
        (0..2).map(|core| misses(COUNT, 0, Kind::WriteBack, |i| core * COUNT + i)).collect();
    // A core's end is when its last line has left; what is written after that is a buffer's worth.
    for (at_once, banks) in [(None, 16.0), (Some(4), 4.0), (Some(1), 1.0)] {
        let mut machine = buffered(32, at_once);
        machine.core.outstanding = 1;
        let both: Vec<Misses> = writes.iter().map(with_reads).collect();
        let outcome = replay(&machine, &both, Placement::Pool, None).unwrap();
        let written = outcome.nodes[0].pool_write_backs as f64 / (outcome.seconds * 1e9);
        let most = banks / 1000.0;
        assert!(written <= 1.01 * most, "{written} of {most}");
        if at_once.is_some() {
            close(written, most, 3.0);
        }
    }
}

/// A read of another line after each hundred writes, so that the end is felt.
fn with_reads(writes: &Misses) -> Misses {
    let mut both = Misses::default();
    for (number, write) in (0..).zip(writes.all()) {
        both.push(write.line(), Kind::WriteBack, 0);
        if number % 8 == 0 {
            both.push(4 * COUNT + write.line(), Kind::Read, 0);
        }
    }
    both
}

#[test]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
fn reads_wait_for_writes_under_way_alone_as_cobham_says() {
    // Two cores, 16 banks; reads and writes anywhere, after exponential times.
    for (reads, writes) in [(0.3, 0.2), (0.2, 0.5)] {
        let mut machine = buffered(4096, None);
        (machine.core.outstanding, machine.pool.outstanding) = (4096, 65_536);
        let rate = reads / 300.0 + writes / 1000.0;
        let mean = 4.0 * 2.0 / (16.0 * rate);
        let core = |core| {
            let mut lines = Rng::new(8, core);
            let mut chance = Rng::new(7, core);
            let mut unit = || (chance.word() >> 11) as f64 / (1_u64 << 53) as f64;
            let mut misses = Misses::default();
            for _ in 0..4 * COUNT {
                let after = (-(1.0 - unit()).ln() * mean).round() as u64;
                let kind = if unit() < reads / 300.0 / rate { Kind::Read } else { Kind::WriteBack };
                misses.push(lines.below(1 << 22) as u32, kind, after);
            }
            misses
        };
        let cores = [core(0), core(1)];
        let outcome = replay(&machine, &cores, Placement::Pool, None).unwrap();
        // Cobham: reads go first and nothing is broken off, so a read waits for what is under way and for
        // the reads before it.
        let waits = (reads * 300.0 + writes * 1000.0) / 2.0 / (1.0 - reads);
        close(outcome.delay_ns() - 380.0, waits, 5.0);
    }
}

#[test]
fn swaps_and_counts_take_their_turn_there_as_well() {
    use super::migration::{migration, rereads};
    let with = |machine: &PoolMachine, migration: Migration| {
        replay(machine, &rereads(20_000, 100), Placement::Pool, Some(&migration)).unwrap()
    };
    // A buffer that one write fills is no buffer, and rows of a line are none.
    let mut scheduled = machine(1);
    scheduled.pool.rows = Some(Rows { size: Bytes(64), hit_ns: 30.0 });
    for migration in [
        Migration { dma_in_banks: true, ..migration() },
        Migration { accounting: Accounting::Within, pact_entries: Some(2), ..migration() },
        Migration { swap_stall: SwapStall::Page, ..migration() },
    ] {
        let [plain, other] =
            [machine(1), scheduled.clone()].map(|machine| with(&machine, migration.clone()));
        close(other.seconds, plain.seconds, 2.0);
        assert_eq!(other.requests, plain.requests);
        assert!(other.nodes[0].moved_in > 0, "{other:?}");
    }
}
