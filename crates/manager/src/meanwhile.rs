//! What moved while an epoch was watched, and where it lies since.

use pagetide_migrate::{Order, OrderReport, Round};
use pagetide_policy::Outcome;
use pagetide_scan::Place;
use pagetide_types::{Bytes, NodeId, Pid, UnitId};
use std::collections::BTreeMap;

/// Orders with what became of them, in the order of the work.
fn done(round: &Round) -> impl Iterator<Item = (&Order, &OrderReport)> {
    round.work.promote.iter().chain(&round.work.demote).zip(&round.report.orders)
}

/// What became of each order. `ordered`: one for each.
pub(crate) fn outcomes(round: &Round, ordered: Vec<Outcome>) -> Vec<Outcome> {
    let reports = round.report.orders.iter();
    let outcome = |(outcome, report): (Outcome, &OrderReport)| Outcome {
        moved: Bytes(report.moved << 12),
        moved_back: Bytes(report.moved_back << 12),
        ..outcome
    };
    ordered.into_iter().zip(reports).map(outcome).collect()
}

/// Where pages went, and which part of those that were elsewhere.
#[derive(Clone, Copy, Debug)]
struct Went {
    to: NodeId,
    part: f64,
}

/// Puts places that were read before the round where it has brought them. `ordered`: by order, for which unit.
pub(crate) fn put(places: &mut [Place], round: &Round, ordered: &[Outcome]) {
    let mut ranges: Vec<(Pid, u64, u64, Went)> = Vec::new();
    let mut shared: BTreeMap<UnitId, Went> = BTreeMap::new();
    for ((order, report), outcome) in done(round).zip(ordered) {
        let stayed = report.moved_back + report.refused + report.left;
        if report.moved == 0 {
            continue;
        }
        let part = report.moved as f64 / (report.moved + stayed) as f64;
        let went = Went { to: order.to, part };
        if order.shared {
            // For all who map it.
            shared.insert(outcome.unit, went);
        } else {
            ranges.push((order.pid, order.start.0, order.end.0, went));
        }
    }
    ranges.sort_unstable_by_key(|(pid, start, _, _)| (*pid, *start));
    for place in places {
        let key = (place.pid, place.range().start);
        let at = ranges.partition_point(|(pid, start, _, _)| (*pid, *start) <= key);
        let range = at.checked_sub(1).map(|at| ranges[at]);
        let within = range.filter(|(pid, _, end, _)| (*pid, *end) > key && *pid == place.pid);
        let went = within.map(|(.., went)| went).or_else(|| shared.get(&place.unit).copied());
        if let Some(Went { to, part }) = went {
            bring(place, to, part);
        }
    }
}

/// So large a part of its pages that are elsewhere is on that node now.
fn bring(place: &mut Place, to: NodeId, part: f64) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of u16")]
    let stay = |pages: u16| pages - (f64::from(pages) * part).round() as u16;
    let all: u16 = place.nodes().map(|(_, pages)| pages).sum();
    let elsewhere = place.nodes().filter(|(node, _)| *node != to);
    let left: Vec<(NodeId, u16)> = elsewhere.map(|(node, pages)| (node, stay(pages))).collect();
    let there = all - left.iter().map(|(_, pages)| *pages).sum::<u16>();
    let now = left.into_iter().chain([(to, there)]);
    place.lies(now.filter(|(_, pages)| *pages > 0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_migrate::{Report, Work};
    use pagetide_scan::Range;
    use pagetide_types::VirtAddr;

    const FAST: NodeId = NodeId(0);
    const SLOW: NodeId = NodeId(1);
    const HUGE: u64 = 2 << 20;

    fn place(pid: i32, unit: u32, start: u64, bytes: u64, nodes: &[(NodeId, u16)]) -> Place {
        let range = Range { start, end: start + bytes };
        Place::new(UnitId(unit), Pid(pid), range, false, nodes.iter().copied())
    }

    /// One order up for `HUGE` at `start` of process 7 that moved so many pages and left others.
    fn round(start: u64, shared: bool, moved: u64, left: u64) -> (Round, Vec<Outcome>) {
        let (start, end) = (VirtAddr(start), VirtAddr(start + HUGE));
        let (pid, from, to) = (Pid(7), SLOW, FAST);
        let order = Order { tag: 0, pid, start, end, huge: false, from, to, shared };
        let work = Work { promote: vec![order], demote: Vec::new() };
        let orders = vec![OrderReport { moved, left, ..OrderReport::default() }];
        let report = Report { orders, ..Report::default() };
        let (unit, none) = (UnitId(3), Bytes(0));
        let outcome =
            Outcome { row: 0, unit, huge: false, up: true, moved: none, moved_back: none };
        (Round { work, report }, vec![outcome])
    }

    fn put_one(place: Place, (round, ordered): &(Round, Vec<Outcome>)) -> Vec<(NodeId, u16)> {
        let mut places = [place];
        put(&mut places, round, ordered);
        places[0].nodes().collect()
    }

    #[test]
    fn what_moved_lies_where_it_went() {
        let whole = |start, nodes: &[_]| place(7, 3, start, HUGE, nodes);
        let all = round(HUGE, false, 300, 0);
        assert_eq!(put_one(whole(HUGE, &[(FAST, 212), (SLOW, 300)]), &all), [(FAST, 512)]);
        let half = round(HUGE, false, 150, 150);
        let nodes = [(FAST, 212), (SLOW, 300)];
        assert_eq!(put_one(whole(HUGE, &nodes), &half), [(SLOW, 150), (FAST, 362)]);
        assert_eq!(put_one(whole(4 * HUGE, &[(SLOW, 512)]), &all), [(SLOW, 512)], "elsewhere");
        let nothing = round(HUGE, false, 0, 300);
        assert_eq!(put_one(whole(HUGE, &nodes), &nothing), nodes);
    }

    #[test]
    fn a_page_of_what_moved_went_with_it_whatever_its_unit_is_now() {
        let page = |pid| Place::of_page(UnitId(90), Pid(pid), HUGE + 4096, SLOW);
        let all = round(HUGE, false, 512, 0);
        assert_eq!(put_one(page(7), &all), [(FAST, 1)]);
        assert_eq!(put_one(page(8), &all), [(SLOW, 1)], "another process's");
    }

    #[test]
    fn shared_memory_went_for_all_who_map_it() {
        let all = round(HUGE, true, 512, 0);
        let other = |unit| place(8, unit, 50 * HUGE, HUGE, &[(SLOW, 512)]);
        assert_eq!(put_one(other(3), &all), [(FAST, 512)]);
        assert_eq!(put_one(other(4), &all), [(SLOW, 512)]);
    }

    #[test]
    fn each_order_has_its_outcome() {
        let (round, ordered) = round(HUGE, false, 300, 212);
        let found = outcomes(&round, ordered);
        assert_eq!((found[0].moved, found[0].moved_back), (Bytes(300 << 12), Bytes(0)));
    }
}
