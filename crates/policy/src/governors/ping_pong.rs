//! Whether migration has become of no use: Algorithm 1 of Adaptive (section 4.2), by how fast pages
//! that were promoted are demoted again.
//!
//! Every tick d is what went down again in it, and its slope (d[t] - d[t-2]) / 2. The slope varies as
//! long as it or the one before exceeds a part of the steepest one seen. Once it has varied for a
//! while, pages have moved; once it has been stable for a while, migration has got where it gets:
//! the hot set is in place (d stays at 0), or pages go up and down for ever (d stays high).
//!
//! The text alone stops a hot set that is still being put in place, never stops a stream whose slope
//! swings, and waits for ever for one that never varies. So three rules of ours stand around it; each
//! is switched off by a 0.
//!
//! Within one look totals are taken to grow evenly, so that its ticks say nothing of how stable the slope is. What is stable
//! has been so for as many looks as a slope stands on, too.

use super::ticks::Ticks;
use crate::Counters;
use crate::options::{OptionInfo, Settings};
use pagetide_types::Bytes;
use std::collections::VecDeque;

pub(crate) const OPTIONS: [OptionInfo; 9] = [
    OptionInfo {
        name: "every",
        summary: "seconds of a tick",
        default: 2.0,
        range: (0.1, 1e6),
        whole: false,
    },
    OptionInfo {
        name: "theta",
        summary: "part of the steepest slope that a slope must exceed to vary",
        default: 0.5,
        range: (0.0, 1.0),
        whole: false,
    },
    OptionInfo {
        name: "varying",
        summary: "ticks in a row that the slope must have varied",
        default: 3.0,
        range: (0.0, 1e6),
        whole: true,
    },
    OptionInfo {
        name: "stabilizing",
        summary: "ticks that it must have been stable afterwards (one that varies takes one back)",
        default: 8.0,
        range: (1.0, 10_000.0),
        whole: true,
    },
    OptionInfo {
        name: "churn",
        summary: "part of what was promoted lately that must have gone down again while promotions \
                  go on; 0: none (as published)",
        default: 0.5,
        range: (0.0, 1.0),
        whole: false,
    },
    OptionInfo {
        name: "patience",
        summary: "ticks after which so much churn is enough, stable or not; 0: never (as published)",
        default: 30.0,
        range: (0.0, 10_000.0),
        whole: true,
    },
    OptionInfo {
        name: "floor",
        summary: "idle ticks in a row that are enough, varied or not, once all memory was watched in \
                  them; 0: never (as published)",
        default: 15.0,
        range: (0.0, 10_000.0),
        whole: true,
    },
    OptionInfo {
        name: "passes",
        summary: "how often all memory must have been watched in idle ticks where nothing went up so far (a page \
                  promoted by how far apart its faults are shows that in the third pass at the earliest)",
        default: 4.0,
        range: (0.0, 1000.0),
        whole: false,
    },
    OptionInfo {
        name: "idle",
        summary: "a tick is idle if no more went up in it than this part of what went up in the busiest one",
        default: 0.05,
        range: (0.0, 1.0),
        whole: false,
    },
];

/// A slope stands on so many values of d.
const LOOKS: u64 = 3;

/// Its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StopRule {
    every_s: f64,
    theta: f64,
    varying: u64,
    stabilizing: u64,
    churn: f64,
    patience: u64,
    floor: u64,
    passes: f64,
    idle: f64,
}

impl StopRule {
    /// From [`OPTIONS`].
    pub(crate) fn new(settings: &Settings<'_>) -> Self {
        Self {
            every_s: settings.get("every"),
            theta: settings.get("theta"),
            varying: settings.whole("varying"),
            stabilizing: settings.whole("stabilizing"),
            churn: settings.get("churn"),
            patience: settings.whole("patience"),
            floor: settings.whole("floor"),
            passes: settings.get("passes"),
            idle: settings.get("idle"),
        }
    }
}

/// A process that migrates.
#[derive(Clone, Debug)]
pub(crate) struct PingPong {
    ticks: Ticks<2>,
    /// What went down again in the last two ticks, the older first: nothing, before it migrated.
    again: [f64; 2],
    slope: f64,
    steepest: f64,
    /// Ticks in a row in which it varied, until they are enough.
    varied: u64,
    /// Ticks, and looks, in which it has been stable since.
    stable: u64,
    stable_looks: u64,
    /// Most bytes that went up in a tick.
    most_up: f64,
    /// Ticks in a row in which next to nothing went up.
    idle: u64,
    /// How often all of its memory was watched in these.
    watched: f64,
    /// What went up and what went down again, tick by tick, the newest last.
    recent: VecDeque<(f64, f64)>,
}

/// Why migration is of no use any more: what moved in the last seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stop {
    /// Seconds.
    pub(crate) within_s: f64,
    /// Went up.
    pub(crate) up: Bytes,
    /// Went down again.
    pub(crate) again: Bytes,
    /// Pages go up and down; else they are where they belong.
    pub(crate) ping_pong: bool,
}

impl PingPong {
    /// It migrates from now on.
    pub(crate) fn new(rule: &StopRule, counters: &Counters) -> Self {
        Self {
            ticks: Ticks::new(rule.every_s, counters.now_s, totals(counters)),
            again: [0.0; 2],
            slope: 0.0,
            steepest: 0.0,
            varied: 0,
            stable: 0,
            stable_looks: 0,
            most_up: 0.0,
            idle: 0,
            watched: 0.0,
            recent: VecDeque::new(),
        }
    }

    /// Takes in the end of an epoch: whether to stop.
    pub(crate) fn look(&mut self, rule: &StopRule, counters: &Counters) -> Option<Stop> {
        self.watched += counters.watched_share();
        let ticks = self.ticks.advance(counters.now_s, totals(counters));
        if ticks.is_empty() {
            return None;
        }
        let varied_before = self.varied >= rule.varying;
        let (mut varies, looked) = (false, ticks.len() as u64);
        for [up, again] in ticks {
            varies |= self.tick(rule, up, again);
        }
        if self.idle < looked {
            self.watched = 0.0;
        }
        if varies {
            self.stable_looks = self.stable_looks.saturating_sub(1);
        } else if varied_before {
            self.stable_looks += 1;
        }
        self.verdict(rule)
    }

    /// One tick more; whether it varies.
    fn tick(&mut self, rule: &StopRule, up: f64, again: f64) -> bool {
        let keep = rule.stabilizing.max(rule.patience).max(rule.floor);
        self.recent.push_back((up, again));
        if self.recent.len() as u64 > keep {
            self.recent.pop_front();
        }
        self.most_up = self.most_up.max(up);
        self.idle = if up <= rule.idle * self.most_up { self.idle + 1 } else { 0 };
        let varies = self.varies(rule, again);
        if self.varied < rule.varying {
            self.varied = if varies { self.varied + 1 } else { 0 };
        } else if varies {
            self.stable = self.stable.saturating_sub(1);
        } else {
            self.stable += 1;
        }
        varies
    }

    /// Whether the recent slope or the one before is steep.
    fn varies(&mut self, rule: &StopRule, again: f64) -> bool {
        let slope = ((again - self.again[0]) / 2.0).abs();
        let before = std::mem::replace(&mut self.slope, slope);
        self.again = [self.again[1], again];
        self.steepest = self.steepest.max(slope);
        slope.max(before) > rule.theta * self.steepest
    }

    fn verdict(&self, rule: &StopRule) -> Option<Stop> {
        let stable = self.varied >= rule.varying
            && self.stable >= rule.stabilizing
            && self.stable_looks >= rule.stabilizing.min(LOOKS);
        let lately = self.within(rule, rule.stabilizing);
        let arrives = self.goes_on(rule, rule.stabilizing) && !churns(rule, &lately);
        if stable && (!arrives || rule.churn == 0.0) {
            return Some(lately);
        }
        let long = self.within(rule, rule.patience);
        let waited = rule.patience > 0 && self.recent.len() as u64 >= rule.patience;
        if waited && self.goes_on(rule, rule.patience) && churns(rule, &long) {
            return Some(long);
        }
        let passes = if self.most_up > 0.0 { 1.0 } else { rule.passes };
        let idle = self.idle >= rule.floor && self.watched >= passes;
        let settled = rule.floor > 0 && idle;
        settled.then(|| self.within(rule, rule.floor))
    }

    /// Whether more than next to nothing went up in the last ticks, all together.
    fn goes_on(&self, rule: &StopRule, ticks: u64) -> bool {
        let next_to_nothing = rule.idle * self.most_up * ticks as f64;
        self.last(ticks).map(|(up, _)| up).sum::<f64>() > next_to_nothing
    }

    /// The last ticks.
    fn within(&self, rule: &StopRule, ticks: u64) -> Stop {
        let up: f64 = self.last(ticks).map(|(up, _)| up).sum();
        let again: f64 = self.last(ticks).map(|(_, again)| again).sum();
        Stop {
            within_s: self.last(ticks).count() as f64 * rule.every_s,
            up: bytes(up),
            again: bytes(again),
            ping_pong: self.goes_on(rule, ticks) && 2.0 * again >= up,
        }
    }

    fn last(&self, ticks: u64) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.recent.iter().rev().zip(0..ticks).map(|(tick, _)| *tick)
    }
}

fn churns(rule: &StopRule, stop: &Stop) -> bool {
    stop.again.as_f64() >= rule.churn * stop.up.as_f64()
}

fn totals(counters: &Counters) -> [f64; 2] {
    [counters.promoted.as_f64(), counters.promoted_then_demoted.as_f64()]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of bytes")]
fn bytes(sum: f64) -> Bytes {
    Bytes(sum.round() as u64)
}
