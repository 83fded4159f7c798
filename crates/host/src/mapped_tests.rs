//! Who maps which frames, on made-up trees and on ourselves.

use super::*;
use crate::fake::Fake;
use pagetide_types::Pid;
use std::cell::Cell;

/// An entry of a page that only this process maps, or of one that others map, too.
fn alone(frame: u64) -> u64 {
    PRESENT | EXCLUSIVE | frame
}
fn shared(frame: u64) -> u64 {
    PRESENT | frame
}

/// A process whose area begins at page `first`, with these entries.
fn process(fake: &Fake, pid: i32, first: u64, entries: &[u64]) {
    fake.process(pid, "app", 1);
    let end = first + entries.len() as u64;
    let maps = format!("{:x}-{:x} rw-p 00000000 00:00 0\n", first * PAGE, end * PAGE);
    fake.file(format!("proc/{pid}/maps"), maps);
    let before = std::iter::repeat_n(&0, usize::try_from(first).unwrap());
    let bytes: Vec<u8> = before.chain(entries).flat_map(|entry| entry.to_ne_bytes()).collect();
    fake.file(format!("proc/{pid}/pagemap"), bytes);
}

fn search(ranges: &[Range<Pfn>]) -> MappedSearch<'_> {
    MappedSearch { ranges, resident: &Untold, stop: &|| false, most: 1000 }
}

/// Who, the first page, how many, huge or not, in which range.
type Short = (i32, u64, u64, bool, usize);

/// What is found, and whether that is all.
fn found(fake: &Fake, search: &MappedSearch<'_>) -> (Vec<Short>, bool) {
    let frames = fake.host().mapped(search).unwrap();
    let short =
        |it: &MappedPages| (it.process.pid.0, it.start.0 / PAGE, it.pages, it.huge, it.range);
    (frames.pages.iter().map(short).collect(), frames.whole)
}

/// Two blocks with a hole between them.
const BLOCKS: [Range<Pfn>; 2] = [Pfn(0x1000)..Pfn(0x2000), Pfn(0x3000)..Pfn(0x4000)];

#[test]
fn neighbours_in_one_range_are_named_together() {
    let fake = Fake::new();
    let entries = [
        alone(0x1005),
        alone(0x1002),
        // Elsewhere, in the hole, not there, swapped out.
        alone(0x500),
        alone(0x2000),
        0,
        1 << 62 | 0x1007,
        alone(0x1fff),
        alone(0x3000),
    ];
    process(&fake, 7, 100, &entries);
    let expected = vec![(7, 100, 2, false, 0), (7, 106, 1, false, 0), (7, 107, 1, false, 1)];
    assert_eq!(found(&fake, &search(&BLOCKS)), (expected, true));
}

#[test]
fn a_frame_that_several_map_is_named_once() {
    let fake = Fake::new();
    process(&fake, 7, 10, &[shared(0x1001), alone(0x1002)]);
    process(&fake, 8, 20, &[shared(0x1001), shared(0x1003)]);
    let expected = vec![(7, 10, 2, false, 0), (8, 21, 1, false, 0)];
    assert_eq!(found(&fake, &search(&BLOCKS)), (expected, true));
}

#[test]
fn a_huge_page_is_named_whole() {
    let fake = Fake::new();
    let mut entries: Vec<u64> = (0x1200..0x1400).map(alone).collect();
    // As contiguous, but of base pages by the kernel's flags.
    entries.extend((0x1600..0x1800).map(alone));
    // A huge page that is mapped at odd addresses is moved by base pages.
    entries.push(0);
    entries.extend((0x1400..0x1600).map(alone));
    process(&fake, 7, 512, &entries);
    let mut flags = vec![0_u64; 0x2000];
    (flags[0x1200], flags[0x1400]) = (KPF_THP, KPF_THP);
    let bytes: Vec<u8> = flags.iter().flat_map(|word| word.to_ne_bytes()).collect();
    fake.file("proc/kpageflags", bytes);
    let expected = vec![(7, 512, 512, true, 0), (7, 1024, 512, false, 0), (7, 1537, 512, false, 0)];
    assert_eq!(found(&fake, &search(&BLOCKS)), (expected, true));
}

#[test]
fn who_has_ended_or_has_no_memory_maps_nothing() {
    let fake = Fake::new();
    process(&fake, 7, 10, &[alone(0x1001)]);
    // A thread of the kernel, one that waits to be collected, one that is just ending.
    for (pid, state, flags) in [(2, 'S', 0x0020_0040), (8, 'Z', 0), (9, 'R', 0)] {
        process(&fake, pid, 10, &[alone(0x1002)]);
        fake.stat(pid, "x", state, 1, flags, 5);
    }
    fake.file("proc/9/pagemap", "");
    assert_eq!(found(&fake, &search(&BLOCKS)), (vec![(7, 10, 1, false, 0)], true));
    // Of one that shows nothing it is not known.
    fake.process(11, "dark", 1);
    assert_eq!(found(&fake, &search(&BLOCKS)), (vec![(7, 10, 1, false, 0)], false));
}

#[test]
fn it_stops_when_asked_and_when_it_has_enough() {
    let fake = Fake::new();
    process(&fake, 7, 10, &[alone(0x1001)]);
    process(&fake, 8, 10, &[alone(0x1002)]);
    let enough = MappedSearch { most: 1, ..search(&BLOCKS) };
    assert_eq!(found(&fake, &enough), (vec![(7, 10, 1, false, 0)], false));
    let asked = Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) >= 2;
    let stopped = MappedSearch { stop: &stop, ..search(&BLOCKS) };
    assert!(!found(&fake, &stopped).1);
}

/// A kernel that tells what is resident.
struct Told(Vec<Range<u64>>);

impl Resident for Told {
    fn parts(&self, _pagemap: &File, within: Range<u64>) -> io::Result<Option<Parts>> {
        let next = self.0.iter().find(|part| part.start >= within.start).cloned();
        let looked_to = next.as_ref().map_or(within.end, |part| part.end);
        Ok(Some(Parts { pages: next.into_iter().collect(), looked_to }))
    }
}

#[test]
fn what_is_reserved_and_not_resident_is_not_read() {
    let fake = Fake::new();
    process(&fake, 7, 10, &[alone(0x1001), alone(0x1002), 0, alone(0x1003)]);
    // 64 TiB, of which two parts are resident.
    fake.file("proc/7/maps", "a000-400000000000 rw-p 00000000 00:00 0\n");
    let told = Told(vec![10..11, 13..14]);
    let search = MappedSearch { resident: &told, ..search(&BLOCKS) };
    let expected = vec![(7, 10, 1, false, 0), (7, 13, 1, false, 0)];
    assert_eq!(found(&fake, &search), (expected, true));
    // A kernel that does not tell would have to read 128 GiB of entries.
    let untold = MappedSearch { resident: &Untold, ..search };
    assert_eq!(found(&fake, &untold), (vec![], false));
}

#[test]
fn our_own_memory_is_found_by_its_frames() {
    let test = "our_own_memory_is_found_by_its_frames";
    const PAGES: u64 = 64;
    let memory = vec![1_u8; usize::try_from((PAGES + 1) * PAGE).unwrap()];
    let first = (memory.as_ptr() as u64).div_ceil(PAGE);
    let host = Host::live();
    let me = Pid(i32::try_from(std::process::id()).unwrap());
    let file = File::open("/proc/self/pagemap").unwrap();
    let mut bytes = vec![0; usize::try_from(PAGES * 8).unwrap()];
    file.read_exact_at(&mut bytes, first * 8).unwrap();
    let (entries, _) = bytes.as_chunks::<8>();
    let mut frames: Vec<u64> =
        entries.iter().map(|entry| u64::from_ne_bytes(*entry) & FRAME).collect();
    frames.sort_unstable();
    if frames[0] == 0 {
        eprintln!("SKIPPED {test}: frames are not shown; run as root");
        return;
    }
    let ranges: Vec<Range<Pfn>> = frames.iter().map(|frame| Pfn(*frame)..Pfn(frame + 1)).collect();
    let search = MappedSearch { most: 1 << 20, ..search(&ranges) };
    let id = host.process(me).unwrap().id;
    let mut finding = Finding::new(&host, &search);
    host.mapped_by(id, &mut finding).unwrap();
    let found = finding.found;
    assert!(found.pages.iter().all(|it| it.process == id), "{found:?}");
    let ours = found.pages.iter().flat_map(|it| it.start.0 / PAGE..it.start.0 / PAGE + it.pages);
    let ours: BTreeSet<u64> = ours.collect();
    // The kernel may move a page meanwhile.
    let there = (first..first + PAGES).filter(|page| ours.contains(page)).count();
    assert!(there as u64 >= PAGES - 2, "{there} of {PAGES}: {found:?}");
    drop(memory);
}
