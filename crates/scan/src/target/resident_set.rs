//! What is resident: from memory maps and one walk of the page tables to the list of regions.

use crate::bits::clear_refs::Kind;
use crate::bits::eyes::{Eyes, Lost};
use crate::bits::madv_cold::Live;
use crate::pages::{Pages, REGION, turned};
use crate::survey::glimpse::Glimpsed;
use crate::survey::history::History;
use crate::target::region::Region;
use crate::target::sharing::Sharing;
use crate::target::units::{Mapping, Units};
use crate::target::unmapped::Unmapped;
use crate::walk::row::{Range, Row};
use pagetide_host::{Area, Host, Maps, Skip};
use pagetide_types::{AreaKind, EpochId, Pid, UnitKey, UnitSize};
use std::mem::take;

const HUGE: u64 = 1 << 21;
const PAGE: u64 = 1 << 12;

/// Reused storage of a resident-set walk.
#[derive(Default)]
pub(crate) struct ResidentSet {
    maps: Maps,
    ranges: Vec<Range>,
    /// Per range: what it belongs to.
    listed: Vec<Listed>,
    /// Regions of the page table that are resident, of areas whose units begin elsewhere.
    odd: Vec<Row>,
    rows: Vec<Row>,
    /// What nobody maps of the shared memory that was met.
    pub(crate) unmapped: Unmapped,
    /// Which regions are watched page by page, of those that could be.
    pub(crate) pages_left: PagesLeft,
    /// From so many accesses a second on it matters which of its pages lie in fast memory.
    pub(crate) matters: f64,
}

/// What a range belongs to.
#[derive(Clone, Copy)]
struct Listed {
    mapping: Mapping,
    /// How `clear_refs` reaches it (not the hugetlb pool).
    refs: Option<Kind>,
    /// Which of the maps' areas: the first, and the one after the last.
    area: (usize, usize),
}

/// Areas that are taken for one.
type Pieces = std::ops::Range<usize>;

/// How `clear_refs` reaches an area, if it does; none if it does not count.
fn refs(area: &Area) -> Option<Option<Kind>> {
    match area.skip {
        None if area.backing().is_some() => Some(Some(Kind::Files)),
        None => Some(Some(Kind::Anonymous)),
        Some(Skip::Hugetlb) => Some(None),
        Some(_) => None,
    }
}

/// So many areas that begin in a unit are told apart.
const TOLD_APART: usize = 8;

/// How many of the areas from this one on are taken for one: private memory cut into very many pieces, by protection
/// or by holes, each of which would cost time in every epoch.
fn taken_for_one(maps: &Maps, first: usize) -> usize {
    let areas = &maps.areas()[first..];
    let unit = |area: &Area| area.start.0 / HUGE;
    let small = |area: &&Area| {
        area.end.0 - area.start.0 < HUGE && area.skip.is_none() && area.backing().is_none()
    };
    let of_first = |area: &&Area| {
        unit(area) == unit(&areas[0])
            && area.kind == areas[0].kind
            && maps.have_one_name(area, &areas[0])
    };
    match areas.iter().take_while(small).take_while(of_first).count() {
        pieces @ TOLD_APART.. => pieces,
        _ => 1,
    }
}

/// How the pages of a region differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Are {
    /// Not at all.
    One,
    Unknown,
    Uneven,
}

/// How many base pages may still be watched one by one; none: all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PagesLeft {
    left: Option<u64>,
    /// There are not more of them.
    enough: bool,
}

impl PagesLeft {
    /// So many at most, where there were `all` at the last walk.
    pub(crate) fn new(at_most: Option<u64>, all: u64) -> Self {
        Self { left: at_most, enough: at_most.is_none_or(|most| all <= most) }
    }

    /// Whether a region of so many pages is watched page by page. With a limit huge pages and what is accessed alike
    /// are not; where there are more pages only those regions are of which one unit would surely not do.
    fn take(&mut self, pages: u16, pages_are: Are) -> bool {
        let Some(left) = &mut self.left else { return true };
        let single = match pages_are {
            Are::Uneven => true,
            Are::Unknown => self.enough,
            Are::One => false,
        };
        let rest = left.checked_sub(u64::from(pages)).filter(|_| single);
        *left = rest.unwrap_or(*left);
        rest.is_some()
    }
}

/// Whose memory is counted, and how.
pub(crate) struct Subject<'a> {
    /// Its number among the followed.
    pub(crate) process: usize,
    pub(crate) pid: Pid,
    /// The number of its address space, which a new program changes.
    pub(crate) space: u64,
    pub(crate) command: &'a str,
    pub(crate) epoch: EpochId,
    /// Only memory at these addresses counts.
    pub(crate) within: Range,
}

impl Subject<'_> {
    /// Whether all of an area counts.
    fn holds(&self, area: &Area) -> bool {
        self.within.start <= area.start.0 && area.end.0 <= self.within.end
    }
}

impl ResidentSet {
    /// The areas of the last reading that count, with their part inside of what is recorded; of small ones that
    /// are one the first.
    fn areas<'a>(
        maps: &'a Maps,
        subject: &'a Subject<'_>,
    ) -> impl Iterator<Item = (Pieces, &'a Area, Range)> {
        let (all, within) = (maps.areas(), subject.within);
        let mut next = 0;
        let pieces = std::iter::from_fn(move || {
            let first = next;
            next += (first < all.len()).then(|| taken_for_one(maps, first))?;
            Some(first..next)
        });
        pieces.filter_map(move |pieces| {
            let (area, end) = (&all[pieces.start], all[pieces.end - 1].end.0);
            let range = Range { start: area.start.0, end }.within(within)?;
            refs(area).is_some().then_some((pieces, area, range))
        })
    }

    /// Walks the areas whose units begin at other addresses than regions of the page table, whole:
    /// only what is resident of them is taken apart. Returns whether the address space is the one
    /// that was walked last.
    fn find_odd(
        &mut self,
        live: &mut Live,
        units: &mut Units,
        subject: &Subject<'_>,
    ) -> Result<bool, Lost> {
        self.ranges.clear();
        for (_, area, range) in Self::areas(&self.maps, subject) {
            if !units.mapping(subject.space, area).shift.is_multiple_of(HUGE) {
                self.ranges.push(range);
            }
        }
        live.walk(subject.process, &self.ranges, &mut self.odd)
    }

    /// Lists the ranges to walk, ascending: an area each; of areas whose units begin elsewhere what
    /// is resident, by unit and region of the page table.
    fn list(&mut self, units: &mut Units, subject: &Subject<'_>) {
        self.ranges.clear();
        self.listed.clear();
        let mut odd = self.odd.iter().peekable();
        for (pieces, area, range) in Self::areas(&self.maps, subject) {
            let mapping = units.mapping(subject.space, area);
            let listed =
                Listed { mapping, refs: refs(area).flatten(), area: (pieces.start, pieces.end) };
            if mapping.shift.is_multiple_of(HUGE) {
                self.ranges.push(range);
                self.listed.push(listed);
                continue;
            }
            while let Some(row) = odd.next_if(|row| row.addr < range.end) {
                let end = ((row.addr | (HUGE - 1)) + 1).min(range.end);
                let offset = row.addr.wrapping_add(mapping.shift) % HUGE;
                let next = end.min(row.addr + (HUGE - offset));
                for part in [Range { start: row.addr, end: next }, Range { start: next, end }] {
                    if part.start < part.end {
                        self.ranges.push(part);
                        self.listed.push(listed);
                    }
                }
            }
        }
    }

    /// Appends the regions of one process to `regions`, ascending by address, with what `before`
    /// (its regions of the last resident-set walk) knew of them. Returns false when the address space is not
    /// the one that was walked last.
    pub(crate) fn read(
        &mut self,
        host: &Host,
        live: &mut Live,
        units: &mut Units,
        subject: &Subject<'_>,
        before: &mut [Region],
        regions: &mut Vec<Region>,
    ) -> Result<bool, Lost> {
        host.read_maps(subject.pid, &mut self.maps).map_err(|_| Lost)?;
        let same = self.find_odd(live, units, subject)?;
        self.list(units, subject);
        let same = live.walk(subject.process, &self.ranges, &mut self.rows)? && same;
        let who = (subject.pid, subject.command, subject.epoch);
        for area in self.maps.areas().iter().filter(|area| area.kind == AreaKind::Shared) {
            // Of a part of it nobody knows what it holds.
            if subject.holds(area) && refs(area).is_some() {
                let mapping = units.mapping(subject.space, area);
                self.unmapped.meet(host, units, (area, &self.maps), who, mapping);
            }
        }
        let mut noted = None;
        let mut known = before.iter_mut().peekable();
        let mut bits = live.bits().iter();
        for row in &self.rows {
            let bits = bits.next();
            let request = row.request as usize;
            let Listed { mapping, refs, area } = self.listed[request];
            // Only what holds memory is remembered: a program may map what it likes.
            if noted.replace(area) != Some(area) {
                let mut whole = self.maps.areas()[area.0];
                whole.end = self.maps.areas()[area.1 - 1].end;
                let mapped = self.unmapped.is_counted(mapping.object).then_some(true);
                units.note_area(mapping, (&whole, &self.maps), who, mapped);
            }
            let end = ((row.addr | (HUGE - 1)) + 1).min(self.ranges[request].end);
            while known.next_if(|region| region.range.start < row.addr).is_some() {}
            let old = known.next_if(|region| same && region.range.start == row.addr);
            let unit = match &old {
                // The same place of the same address space; a file mapped anew has a new object.
                Some(region) if mapping.shift == 0 => region.unit,
                _ => units.number(UnitKey {
                    object: mapping.object,
                    index: row.addr.wrapping_add(mapping.shift) / HUGE,
                }),
            };
            let skew = (mapping.shift / PAGE % REGION as u64) as usize;
            if let Some(bits) = bits {
                self.unmapped.mapped(mapping.object, unit, &turned(&bits.present, skew));
            }
            let mut old = old.filter(|region| region.unit == unit && region.huge == row.huge);
            let reached = old.as_ref().is_some_and(|region| region.reached);
            let least = old.as_ref().map_or(0.0, |region| region.least);
            let in_order = old.as_ref().map_or(0.0, |region| region.in_order);
            let beside = old.as_ref().map_or(1.0, |region| region.beside);
            let outdated = old.as_ref().is_some_and(|region| region.outdated);
            let glimpsed = old.as_ref().map(|region| region.glimpsed).unwrap_or_default();
            let (rate, uncleared, pages) = match &mut old {
                Some(old) => (old.rate, old.uncleared, old.pages.take()),
                None => (None, false, None),
            };
            let (mut history, mut sharing): (Box<History>, _) = match &mut old {
                Some(old) => (take(&mut old.history), take(&mut old.sharing)),
                None => Default::default(),
            };
            // Other processes may map what was mapped anew of a file.
            if old.is_none_or(|old| old.present != row.present) && refs == Some(Kind::Files) {
                sharing = Sharing::Unknown;
            }
            // Once taken apart it stays so.
            let apart = |pages: &Pages| pages.uneven || pages.differ() == Some(true);
            let apart = pages.as_deref().is_some_and(apart);
            let are = |history: &mut History| match () {
                () if row.huge => Are::One,
                () if glimpsed != Glimpsed::Never => Are::Unknown,
                () if apart || history.uneven(self.matters) => Are::Uneven,
                () if history.alike() => Are::One,
                () => Are::Unknown,
            };
            let bits = bits.filter(|_| units.size() == UnitSize::Base);
            let are = bits.map_or(Are::One, |_| are(&mut history));
            let bits = bits.filter(|_| self.pages_left.take(row.present, are));
            let pages = bits.map(|bits| {
                let mut pages = pages.unwrap_or_else(|| {
                    let mut pages = Box::<Pages>::default();
                    if let Sharing::Some(shared) = &sharing {
                        pages.found_shared(shared);
                    }
                    pages
                });
                (pages.resident, pages.dirty) = (bits.present, bits.dirty);
                pages.uneven = are == Are::Uneven;
                pages.node = bits.node;
                pages.skew = skew;
                pages
            });
            regions.push(Region {
                process: subject.process,
                range: Range { start: row.addr, end },
                unit,
                present: row.present,
                dirty: row.dirty > 0,
                huge: row.huge,
                sparse: false,
                node: row.node,
                spread: row.spread,
                uncleared: refs.is_none() || uncleared,
                sharing,
                outdated,
                joined: row.joined,
                window: None,
                glimpsed,
                history,
                refs,
                reached,
                rate,
                least,
                in_order,
                beside,
                pages,
            });
        }
        Ok(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The map of a process with these areas: start and end in pages, access, name.
    fn maps(areas: &[(u64, u64, &str, &str)]) -> Maps {
        let tree = tempfile::tempdir().unwrap();
        let folder = tree.path().join("proc/7");
        std::fs::create_dir_all(&folder).unwrap();
        let line = |(start, end, access, name): &(u64, u64, &str, &str)| {
            format!("{:08x}-{:08x} {access} 00000000 00:00 0 {name}\n", start * PAGE, end * PAGE)
        };
        std::fs::write(folder.join("maps"), areas.iter().map(line).collect::<String>()).unwrap();
        let mut maps = Maps::default();
        Host::new(tree.path()).read_maps(Pid(7), &mut maps).unwrap();
        maps
    }

    fn listed(areas: &[(u64, u64, &str, &str)]) -> Vec<(u64, u64)> {
        let within = Range { start: 0, end: u64::MAX };
        let subject =
            Subject { process: 0, pid: Pid(7), space: 0, command: "", epoch: EpochId(0), within };
        let maps = maps(areas);
        ResidentSet::areas(&maps, &subject).map(|(.., r)| (r.start / PAGE, r.end / PAGE)).collect()
    }

    #[test]
    fn memory_in_very_many_pieces_is_asked_for_by_unit() {
        let access = |page: u64| if page.is_multiple_of(2) { "rw-p" } else { "r--p" };
        let pieces: Vec<_> = (1024..2048).map(|page| (page, page + 1, access(page), "")).collect();
        assert_eq!(listed(&pieces), [(1024, 1536), (1536, 2048)]);
        let holes: Vec<_> = pieces.iter().step_by(4).copied().collect();
        assert_eq!(listed(&holes), [(1024, 1533), (1536, 2045)]);
        assert_eq!(listed(&pieces[..7]).len(), 7, "few are told apart");
        let long = (1536, 4096, "rw-p", "");
        let with_long: Vec<_> = pieces[..512].iter().copied().chain([long]).collect();
        assert_eq!(listed(&with_long), [(1024, 1536), (1536, 4096)], "and what is long");
        let mut names = pieces[..512].to_vec();
        names[256..].iter_mut().for_each(|area| area.3 = "[heap]");
        assert_eq!(listed(&names), [(1024, 1280), (1280, 1536)], "and what has a name");
    }

    #[test]
    fn pages_are_watched_one_by_one_where_one_unit_would_not_do_up_to_a_limit() {
        let taken = |mut left: PagesLeft, regions: [(u16, Are); 5]| {
            regions.map(|(pages, are)| left.take(pages, are))
        };
        let [one, unknown, uneven] = [Are::One, Are::Unknown, Are::Uneven].map(|are| (400, are));
        let any = [one, unknown, uneven, uneven, unknown];
        assert_eq!(taken(PagesLeft::new(None, 5000), any), [true; 5], "a recording of pages");
        let too_many = PagesLeft::new(Some(1000), 1001);
        assert_eq!(taken(too_many, any), [false, false, true, true, false]);
        let enough = PagesLeft::new(Some(1000), 1000);
        assert_eq!(taken(enough, any), [false, true, true, false, false], "up to it");
    }
}
