//! A program as parts of its memory, each accessed in a way of its own: its arrays, tables, heaps.
//! What models of real programs are written in, of those of SPEC, NPB or of searches over graphs,
//! whose shares of accesses by array, order and phases are known but whose code is not at hand.
//!
//! Apex-Map (Strohmaier and Shan, SC 2005) describes a program's accesses by how many there are in
//! a row and how popular their places are; here each part has both of its own. Phases that return
//! are those of Sherwood et al. (ASPLOS 2002).
//!
//! Accesses are of cache lines: reads of a line's first word, writes of its second. So pointers,
//! which lie in first words, stay whole wherever parts overlap.

mod chase;
mod check;
mod init;
mod part;
mod phase;
mod scatter;
mod shares;
mod sweep;
#[cfg(test)]
mod tests;
mod text;
mod walk;
mod writes;

pub use init::Init;
pub use part::{Part, PartWalk, Sharing};
pub use phase::Phase;
pub use walk::RegionsWalk;

use super::{Fill, Pattern, Setup};
use crate::parameter::Result;
use serde::Deserialize;

/// What an access touches, in bytes.
const LINE: u64 = 64;
/// Where parts begin and end, in bytes.
const PAGE: u64 = 4096;

/// Accesses the parts of its memory by their weights, which phases change.
///
/// In the long run each part has exactly its share of a thread's accesses. A thread makes 16
/// accesses or more to a part (whole runs) before it goes on to the next one, in a fixed order
/// that begins at random.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regions {
    /// Its parts, at least one. They may overlap; memory in none of them is touched first and then
    /// never again.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    /// Its phases, in turn, again and again. Without any, weights stay as they are.
    #[serde(default, rename = "phase")]
    pub phases: Vec<Phase>,
    /// In which order it touches its pages before it begins.
    #[serde(default, deserialize_with = "text::word")]
    pub init: Init,
}

impl Pattern for Regions {
    type Walk = RegionsWalk;

    fn check(&self, setup: &Setup) -> Result<()> {
        check::parts(&self.parts, setup)?;
        check::phases(&self.phases, &self.parts)
    }

    fn first_touch(&self, setup: &Setup) -> impl Iterator<Item = u64> {
        self.init.pages(&self.parts, setup.size())
    }

    fn fill(&self, setup: &Setup) -> impl Iterator<Item = Fill> {
        chase::fill(&self.parts, setup)
    }

    fn walks(&self, setup: &Setup) -> Result<Vec<RegionsWalk>> {
        self.check(setup)?;
        Ok(walk::walks(self, setup))
    }
}
