//! What is resident: from memory maps and one walk of the page tables to the list of pieces.

use crate::eyes::Lost;
use crate::live::Live;
use crate::piece::Piece;
use crate::units::{Mapping, Units};
use crate::walker::{Range, Row};
use pagetide_host::{Host, Maps, Skip};
use pagetide_types::{EpochId, Pid, UnitKey, UnitSize};

const HUGE: u64 = 1 << 21;

/// Reused storage of a census.
#[derive(Default)]
pub(crate) struct Census {
    maps: Maps,
    ranges: Vec<Range>,
    /// Per range: its mapping, and whether the area is of the hugetlb pool.
    mappings: Vec<(Mapping, bool)>,
    rows: Vec<Row>,
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
}

impl Census {
    /// Appends the pieces of one process to `pieces`, ascending by address, with what `before`
    /// (its pieces of the last census) knew of them. Returns false when the address space is not
    /// the one that was walked last.
    pub(crate) fn take(
        &mut self,
        host: &Host,
        live: &mut Live,
        units: &mut Units,
        subject: &Subject<'_>,
        before: &[Piece],
        pieces: &mut Vec<Piece>,
    ) -> Result<bool, Lost> {
        host.read_maps(subject.pid, &mut self.maps).map_err(|_| Lost)?;
        self.ranges.clear();
        self.mappings.clear();
        let mut push = |range: Range, mapping: Mapping, hugetlb: bool| {
            self.ranges.push(range);
            self.mappings.push((mapping, hugetlb));
        };
        for area in self.maps.areas() {
            let hugetlb = match area.skip {
                None => false,
                Some(Skip::Hugetlb) => true,
                Some(_) => continue,
            };
            let mapping = units.mapping(subject.space, area);
            let shift = UnitSize::Huge.shift();
            let who = (subject.pid, subject.command, subject.epoch);
            units.note_area(mapping, area, &self.maps, shift, who);
            let (start, end) = (area.start.0, area.end.0);
            if mapping.shift.is_multiple_of(HUGE) {
                push(Range { start, end }, mapping, hugetlb);
            } else {
                // Units of the file begin at other addresses than regions of the page table.
                let mut at = start;
                while at < end {
                    let offset = at.wrapping_add(mapping.shift);
                    let next = end.min(at + (HUGE - offset % HUGE));
                    push(Range { start: at, end: next }, mapping, hugetlb);
                    at = next;
                }
            }
        }
        let same = live.census(subject.process, &self.ranges, &mut self.rows)?;
        let mut known = before.iter().peekable();
        for row in &self.rows {
            let request = row.request as usize;
            let (mapping, hugetlb) = self.mappings[request];
            let end = ((row.addr | (HUGE - 1)) + 1).min(self.ranges[request].end);
            while known.next_if(|piece| piece.range.start < row.addr).is_some() {}
            let old = known.peek().filter(|p| same && p.range.start == row.addr);
            let unit = match old {
                // The same place of the same address space; a file mapped anew has a new object.
                Some(piece) if mapping.shift == 0 => piece.unit,
                _ => units.number(UnitKey {
                    object: mapping.object,
                    index: row.addr.wrapping_add(mapping.shift) / HUGE,
                }),
            };
            let old = old.filter(|piece| piece.unit == unit && piece.huge == row.huge);
            pieces.push(Piece {
                process: subject.process,
                range: Range { start: row.addr, end },
                unit,
                present: row.present,
                dirty: row.dirty > 0,
                huge: row.huge,
                node: row.node,
                uncleared: hugetlb || old.is_some_and(|piece| piece.uncleared),
                rate: old.and_then(|piece| piece.rate),
                saturated: old.is_some_and(|piece| piece.saturated),
            });
        }
        Ok(same)
    }
}
