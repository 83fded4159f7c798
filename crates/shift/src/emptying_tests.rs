//! What is moved off a block, in which pieces, and where to.

use super::*;
use pagetide_host::Identity;
use pagetide_types::Pid;

fn pages(pid: i32, first: u64, pages: u64, huge: bool) -> MappedPages {
    let process = Identity { pid: Pid(pid), start_ticks: 1 };
    MappedPages { process, start: VirtAddr(first * PAGE), pages, huge, range: 0 }
}

/// Who, the first page, how many.
fn short(of: &[MappedPages]) -> Vec<(i32, u64, u64)> {
    of.iter().map(|it| (it.process.pid.0, it.start.0 / PAGE, it.pages)).collect()
}

#[test]
fn so_much_is_taken_at_a_time_and_the_rest_later() {
    let mut found = VecDeque::from([pages(7, 10, 3, false), pages(8, 20, 5, false)]);
    assert_eq!(short(&take(&mut found, Bytes(4 * PAGE))), [(7, 10, 3), (8, 20, 1)]);
    assert_eq!(short(&take(&mut found, Bytes(100 * PAGE))), [(8, 21, 4)]);
    assert_eq!(short(&take(&mut found, Bytes(100 * PAGE))), []);
}

#[test]
fn huge_pages_stay_whole() {
    let mut found = VecDeque::from([pages(7, 512, 1024, true)]);
    // 100 MB are 47 of them and a part.
    assert_eq!(short(&take(&mut found, Bytes(700 * PAGE))), [(7, 512, 512)]);
    assert_eq!(short(&take(&mut found, Bytes(511 * PAGE))), []);
    let orders = orders(&[pages(7, 512, 1024, true)], NodeId(2), &[(NodeId(0), Bytes(600 * PAGE))]);
    assert_eq!(orders.len(), 1);
    assert_eq!((orders[0].huge, orders[0].bytes()), (true, Bytes::mib(2)));
}

#[test]
fn pages_go_to_the_nearest_dram_that_has_room_whoever_else_maps_them() {
    let targets = [(NodeId(0), Bytes(4 * PAGE)), (NodeId(1), Bytes(2 * PAGE))];
    let orders = orders(&[pages(7, 10, 3, false), pages(8, 20, 5, false)], NodeId(2), &targets);
    let moves: Vec<_> =
        orders.iter().map(|it| (it.pid.0, it.start.0 / PAGE, it.end.0 / PAGE, it.to.0)).collect();
    // What fits nowhere is left to the kernel.
    assert_eq!(moves, [(7, 10, 13, 0), (8, 20, 21, 0), (8, 21, 23, 1)]);
    assert!(orders.iter().all(|it| it.shared && it.from == NodeId(2)));
}

#[test]
fn the_processes_are_looked_through_for_many_blocks_at_once() {
    let blocks: Vec<BlockId> = (40..72).map(BlockId).collect();
    let next = ahead(&blocks, BlockId(45), Bytes::mib(128));
    assert_eq!((next.len(), next[0], next[15]), (16, BlockId(45), BlockId(60)));
    assert_eq!(ahead(&blocks, BlockId(71), Bytes::mib(128)), [BlockId(71)]);
    // Blocks may be as large as that.
    assert_eq!(ahead(&blocks, BlockId(45), Bytes::gib(2)), [BlockId(45)]);
}
