//! By gain and cost, in seconds. Ours: ping-pong is a sign that migration does not pay; what it pays
//! can be measured. The account and the two rules by which it stops are in `books.rs`.
//!
//! Every epoch holds against each other what the moves of the last `horizon` seconds bring, and what they
//! cost: those moves and the watching. They bring it for as long as the horizon, or for as long as the process has
//! migrated so far, if that is longer: what has lasted is taken to last as long again (as
//! [`crate::CostBenefit::at_age`] has it). It stops when the gain has stayed at
//! or below the cost for `patience` seconds, or what moved in the last `quiet` seconds and as many cost
//! less than the watching and does not bring what that costs: a hot set in place brings what it brings
//! without being watched. Stopped, a process is looked at again (`watched.rs`) when its accesses change (Algorithm 2 of Adaptive,
//! by the entries seen accessed, and by those of them in fast memory), when it loses what it accesses in fast memory, when there is
//! room for what it accesses in slow memory, and after `again` seconds in any case.
//!
//! It takes for true that
//! - had nothing moved within the horizon, the process would make the same accesses, and all of its
//!   memory would lie where it lay then (nobody else would have moved it);
//! - every access that comes in from slow memory waits by the same time longer, whoever else uses
//!   that memory just then, and accesses that are waited for together count once (as in
//!   [`crate::CostBenefit`]);
//! - a move takes from the process what [`crate::CostBenefit`] says, however it is carried out; a second of
//!   watching on another core costs as much as one of the process;
//! - what a move brought so far it will bring for that long.

use super::access_change::{self, ChangeRule};
use super::books::{Account, Books, Stop, Terms};
use super::watched::{Restart, Watched};
use super::{Counters, Governor, GovernorInfo, Verdict};
use crate::options::OptionInfo;

const OPTIONS: [OptionInfo; 11] = [
    OptionInfo {
        name: "horizon",
        summary: "seconds whose moves are judged, and in which they must at least have brought what they cost",
        default: 60.0,
        range: (1.0, 1e6),
        whole: false,
    },
    OptionInfo {
        name: "credit",
        summary: "part of the time for which it has migrated that moves have to bring what they cost, if that is \
                  more than the horizon; five times that at most",
        default: 1.0,
        range: (0.0, 100.0),
        whole: false,
    },
    OptionInfo {
        name: "quiet",
        summary: "seconds whose moves, with those of the patience, must bring what watching costs, or it is settled",
        default: 20.0,
        range: (1.0, 1e6),
        whole: false,
    },
    OptionInfo {
        name: "patience",
        summary: "seconds for which the gain must stay at or below the cost",
        default: 10.0,
        range: (0.0, 1e6),
        whole: false,
    },
    OptionInfo {
        name: "again",
        summary: "seconds after which it tries again in any case; doubled when that brought nothing, up to 16 times as long",
        default: 3600.0,
        range: (1.0, LONGEST_S),
        whole: false,
    },
    access_change::OPTIONS[0],
    access_change::OPTIONS[1],
    access_change::OPTIONS[2],
    access_change::OPTIONS[3],
    access_change::OPTIONS[4],
    access_change::OPTIONS[5],
];

/// Longest `again`, and how many times as long the time until it tries again becomes at most.
const LONGEST_S: f64 = 1e9;
const MOST_WAITS: f64 = 16.0;

pub(crate) const INFO: GovernorInfo = GovernorInfo {
    name: "gain",
    summary: "stops when moves and watching cost more than they bring; restarts when accesses change",
    source: "ours",
    needs_balance: true,
    options: &OPTIONS,
    build: |settings| {
        let again_s = settings.get("again");
        Box::new(Gain {
            terms: Terms {
                horizon_s: settings.get("horizon"),
                patience_s: settings.get("patience"),
                credit: settings.get("credit"),
                quiet_s: settings.get("quiet"),
            },
            again_s,
            waits_s: again_s,
            change: ChangeRule::new(settings).on_one_side(),
            state: State::New,
            restarted: None,
            reason: String::new(),
        })
    },
};

struct Gain {
    terms: Terms,
    again_s: f64,
    /// How long it waits before it tries again in any case.
    waits_s: f64,
    change: ChangeRule,
    state: State,
    /// Why it did last; none: it never did.
    restarted: Option<Restart>,
    reason: String,
}

enum State {
    New,
    Migrating(Books),
    Stopped(Box<Watched>),
}

impl Governor for Gain {
    fn judge(&mut self, counters: &Counters) -> Verdict {
        let Some(balance) = counters.balance else { return Verdict::Migrate };
        match &mut self.state {
            State::New => self.state = State::Migrating(Books::new(counters, &balance)),
            State::Migrating(books) => {
                let stop = books.look(counters, &balance, &self.terms);
                if let Some(stop) = stop {
                    let paid = books.paid(&stop, &balance, &self.terms);
                    self.stop(&stop, paid, counters);
                }
            }
            State::Stopped(watched) => {
                if let Some((restart, reason)) = watched.look(&self.change, counters) {
                    (self.restarted, self.reason) = (Some(restart), reason);
                    self.state = State::Migrating(Books::new(counters, &balance));
                }
            }
        }
        match self.state {
            State::Stopped(_) => Verdict::StandStill,
            State::New | State::Migrating(_) => Verdict::Migrate,
        }
    }

    fn reason(&self) -> String {
        self.reason.clone()
    }

    fn does_the_same(&self) -> bool {
        matches!(self.restarted, Some(Restart::Room | Restart::Again))
    }

    fn recent_s(&self) -> f64 {
        self.terms.horizon_s
    }
}

impl Gain {
    fn stop(&mut self, stop: &Stop, paid: bool, counters: &Counters) {
        if paid {
            self.change.learn(true);
            self.waits_s = self.again_s;
        } else {
            // What one of them brought says nothing of the other: changes that repaid nothing no less try again in the end, and
            // who tried in vain sees a change as soon.
            match self.restarted {
                Some(Restart::Changed | Restart::Room) => self.change.learn(false),
                Some(Restart::Again) => {
                    self.waits_s = (2.0 * self.waits_s).min(MOST_WAITS * self.again_s);
                }
                None => {}
            }
        }
        self.reason = why(stop);
        let until_s = counters.now_s + self.waits_s;
        self.state = State::Stopped(Box::new(Watched::new(&self.change, until_s)));
    }
}

fn why(stop: &Stop) -> String {
    let (what, account) = match stop {
        Stop::DoesNotPay(account) => ("does not pay", account),
        Stop::Settled(account) => ("settled", account),
    };
    let Account { brings_s, moving_s, watching_s, within_s, credit_s } = account;
    if *moving_s > 0.0 {
        let [moving, watching, brings] = [*moving_s, *watching_s, *brings_s].map(Seconds);
        let long =
            if credit_s > within_s { format!("{credit_s:.0} s") } else { "as many".to_owned() };
        format!(
            "{what}: in {within_s:.0} s moving {moving} and watching {watching}, which bring {brings} in {long}"
        )
    } else {
        let watching = Seconds(*watching_s);
        format!("{what}: in {within_s:.0} s nothing moved, and watching took {watching}")
    }
}

/// A short time for people.
struct Seconds(f64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.abs() < 0.5e-3 {
            // Of what is a little below nothing no "-0 ms".
            f.write_str("0 ms")
        } else if self.0.abs() >= 1.0 {
            write!(f, "{:.1} s", self.0)
        } else {
            write!(f, "{:.0} ms", self.0 * 1e3)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_below_nothing_is_nothing() {
        let shown = [-0.0001, 0.0, 0.0004, -0.002, 0.0006, -1.5].map(|s| Seconds(s).to_string());
        assert_eq!(shown, ["0 ms", "0 ms", "0 ms", "-2 ms", "1 ms", "-1.5 s"]);
    }
}
