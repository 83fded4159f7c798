//! Adaptive (Adaptive Migration Decision for Multi-Tenant Memory Systems, sections 4.2 to 4.4): stops
//! a process when what it promotes stops changing how much of it goes down again (`ping_pong`), and
//! restarts it when its accesses change (`access_change`).
//!
//! The texts give no constants: the defaults are inferred [I]. Rules of ours, each switched off by the
//! value that its option names, keep it from known traps.

use super::access_change::{self, AccessChange, ChangeRule};
use super::counting::Counting;
use super::ping_pong::{self, PingPong, Stop, StopRule};
use super::{Counters, Governor, GovernorInfo, Verdict};
use crate::options::OptionInfo;

const OPTIONS: [OptionInfo; 15] = joined();

/// Of both algorithms.
const fn joined() -> [OptionInfo; 15] {
    let mut all = [ping_pong::OPTIONS[0]; 15];
    let mut at = 0;
    while at < 15 {
        all[at] = if at < 9 { ping_pong::OPTIONS[at] } else { access_change::OPTIONS[at - 9] };
        at += 1;
    }
    all
}

pub(crate) const INFO: GovernorInfo = GovernorInfo {
    name: "adaptive",
    summary: "stops when ping-pong levels out, high or low; restarts when accesses change",
    source: "Adaptive, algorithms 1 and 2",
    needs_balance: false,
    options: &OPTIONS,
    build: |settings| {
        Box::new(Adaptive {
            stop: StopRule::new(settings),
            change: ChangeRule::new(settings),
            state: State::New,
            restarted: false,
            reason: String::new(),
        })
    },
};

struct Adaptive {
    stop: StopRule,
    change: ChangeRule,
    state: State,
    /// At least once.
    restarted: bool,
    reason: String,
}

enum State {
    New,
    Migrating(PingPong),
    Stopped(Counting, AccessChange),
}

impl Governor for Adaptive {
    fn judge(&mut self, counters: &Counters) -> Verdict {
        match &mut self.state {
            State::New => self.state = State::Migrating(PingPong::new(&self.stop, counters)),
            State::Migrating(ping_pong) => {
                if let Some(stop) = ping_pong.look(&self.stop, counters) {
                    if self.restarted {
                        self.change.learn(!stop.ping_pong);
                    }
                    self.reason = why(&stop);
                    self.state = State::Stopped(
                        Counting::new(self.change.every_s()),
                        AccessChange::default(),
                    );
                }
            }
            State::Stopped(counting, change) => {
                let count = counting.take(counters.accessed_entries(), counters.length_s);
                if let Some(changed) = count.and_then(|count| change.take(&self.change, &count)) {
                    self.reason = changed.told("seen accessed");
                    self.state = State::Migrating(PingPong::new(&self.stop, counters));
                    self.restarted = true;
                }
            }
        }
        match self.state {
            State::Stopped(..) => Verdict::StandStill,
            State::New | State::Migrating(_) => Verdict::Migrate,
        }
    }

    fn reason(&self) -> String {
        self.reason.clone()
    }
}

fn why(stop: &Stop) -> String {
    let Stop { within_s, up, again, ping_pong } = stop;
    if *ping_pong {
        format!("ping-pong: of {up} promoted in {within_s:.0} s, {again} went down again")
    } else {
        format!("settled: {up} promoted in {within_s:.0} s")
    }
}
