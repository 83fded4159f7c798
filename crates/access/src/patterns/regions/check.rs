//! What is refused of a description: the first thing that makes no sense, by the names of part and
//! parameter.

use super::{LINE, Part, PartWalk, Phase, Sharing, sweep::block};
use crate::{
    parameter::{ParameterError, Result, TEN_YEARS, positive, refuse, share},
    patterns::Setup,
};
use pagetide_types::Bytes;
use std::collections::BTreeSet;

/// The most lines of a run, and passes over a window.
const MANY: u32 = 1 << 20;

/// Refuses parts that make no sense.
pub(super) fn parts(parts: &[Part], setup: &Setup) -> Result<()> {
    if parts.is_empty() {
        return refuse("part", "(none)", "give at least one");
    }
    let mut names = BTreeSet::new();
    for part in parts {
        if !names.insert(&part.name) {
            return refuse("name", &part.name, "two parts have it; give each its own");
        }
        place(part, setup)
            .and_then(|()| accesses(part))
            .and_then(|()| walk(part, setup))
            .and_then(|()| threads(part, setup))
            .map_err(|error| of(&part.name, error))?;
    }
    pointers(parts, setup)
}

/// Refuses phases that make no sense.
pub(super) fn phases(phases: &[Phase], parts: &[Part]) -> Result<()> {
    for phase in phases {
        positive("seconds", phase.seconds, TEN_YEARS)?;
        for (name, factor) in &phase.weights {
            if !parts.iter().any(|part| part.name == *name) {
                let known: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
                return refuse(
                    "weights",
                    name,
                    format!("no such part; known: {}", known.join(", ")),
                );
            }
            factor_of("weights", *factor).map_err(|error| of(name, error))?;
        }
        factor_of("others", phase.others)?;
        if parts.iter().all(|part| phase.factor(&part.name) == 0.0) {
            return refuse(
                "weights",
                0,
                "no part is accessed in the phase; give one a factor above 0",
            );
        }
    }
    Ok(())
}

fn of(part: &str, error: ParameterError) -> ParameterError {
    ParameterError { value: format!("{} of '{part}'", error.value), ..error }
}

fn factor_of(parameter: &'static str, factor: f64) -> Result<()> {
    if (0.0..=1e6).contains(&factor) {
        return Ok(());
    }
    refuse(parameter, factor, "give a factor from 0 to 1000000")
}

fn place(part: &Part, setup: &Setup) -> Result<()> {
    share("from", part.from)?;
    share("to", part.to)?;
    if part.from >= part.to {
        return refuse("from", part.from, format!("give less than `to`, {}", part.to));
    }
    if part.extent(setup.size()).len == 0 {
        return refuse("to", part.to, format!("less than a page; at a `size` of {}", setup.size()));
    }
    Ok(())
}

fn accesses(part: &Part) -> Result<()> {
    positive("weight", part.weight, 1e6)?;
    share("writes", part.writes)?;
    if matches!(part.walk, PartWalk::Chase { .. }) && part.writes > 0.5 {
        return refuse(
            "writes",
            part.writes,
            "an object is read before it is written; give at most 0.5",
        );
    }
    if (1..=MANY).contains(&part.run) {
        return Ok(());
    }
    refuse("run", part.run, format!("give 1 to {MANY} lines"))
}

fn walk(part: &Part, setup: &Setup) -> Result<()> {
    let len = Bytes(part.extent(setup.size()).len);
    let lines = |parameter, bytes: Bytes| {
        if bytes.0 > 0 && bytes.0.is_multiple_of(LINE) && bytes <= len {
            return Ok(());
        }
        refuse(parameter, bytes.0, format!("give a multiple of 64 bytes, at most the part's {len}"))
    };
    let (parameter, room) = match &part.walk {
        PartWalk::Sweep { stride, window, passes } => {
            lines("stride", *stride)?;
            positive("window", *window, 1.0)?;
            if !(1..=MANY).contains(passes) {
                return refuse("passes", passes, format!("give 1 to {MANY}"));
            }
            // In a sequential sweep a run is only a longer turn.
            ("stride", if stride.0 == LINE { u64::MAX } else { stride.0 })
        }
        PartWalk::Random => ("to", len.0),
        PartWalk::Zipf { exponent, object, .. } => {
            if !(0.0..=20.0).contains(exponent) {
                return refuse("exponent", exponent, "give a number from 0 (uniform) to 20");
            }
            lines("object", *object)?;
            ("object", object.0)
        }
        PartWalk::Chase { object } => {
            lines("object", *object)?;
            ("object", object.0)
        }
    };
    if u64::from(part.run) * LINE > room {
        let remedy = format!("{} lines fit into `{parameter}`", room / LINE);
        return refuse("run", part.run, remedy);
    }
    Ok(())
}

fn threads(part: &Part, setup: &Setup) -> Result<()> {
    let units = part.extent(setup.size()).len / part.walk.unit();
    let pieces = match (part.sharing(), &part.walk) {
        (Sharing::Interleaved, PartWalk::Sweep { stride, .. }) => units.div_ceil(block(stride.0)),
        (Sharing::Interleaved, _) => {
            let remedy = "only sweeps are; give `slices` or `whole`";
            return refuse("threads", Sharing::Interleaved, remedy);
        }
        (Sharing::Slices, PartWalk::Random) => units / u64::from(part.run),
        (Sharing::Slices, _) => units,
        (Sharing::Whole, _) => u64::MAX,
    };
    if pieces < setup.threads().into() {
        return refuse("threads", setup.threads(), "too many for so small a part; give fewer");
    }
    Ok(())
}

/// A line holds one pointer only.
fn pointers(parts: &[Part], setup: &Setup) -> Result<()> {
    let chased = || parts.iter().filter(|part| matches!(part.walk, PartWalk::Chase { .. }));
    let range = |part: &Part| {
        let extent = part.extent(setup.size());
        extent.first..extent.first + extent.len
    };
    for (before, part) in chased().enumerate() {
        let it = range(part);
        let both = |other: &&Part| range(other).start < it.end && it.start < range(other).end;
        if let Some(other) = chased().take(before).find(both) {
            let remedy = format!("overlaps '{}', which is chased, too", other.name);
            return refuse("from", part.from, remedy).map_err(|error| of(&part.name, error));
        }
    }
    Ok(())
}
