//! What a survey saw of a unit.

use pagetide_types::KEEP;

/// The normal quantile of 90 %.
const NINE_IN_TEN: f64 = 1.2816;
/// Of a huge page, a visit that is less likely than this is odd.
const ODD: f64 = 1e-3;
/// Sightings that a unit counts for beside its own, in no time: the rate of one never seen is unknown, not 0.
const UNKNOWN: f64 = 0.5;

/// What was seen of a unit, fading.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    before: Sums,
    /// Of this interval, if it was watched in it.
    now: Option<Sums>,
    /// Of a huge page, this interval's odd visits: those that saw it far sooner than expected, less those that saw it far
    /// later; none if they do not agree.
    pub(super) odd: Option<f64>,
    /// It has changed since it was watched last.
    pub(super) stale: bool,
    /// Of one of many, the rates that its visits of this interval say, added up, and how many visits.
    pub(super) said: [f64; 2],
    /// Accesses a second.
    pub(super) rate: f64,
    /// See [`Self::traffic`].
    traffic: f64,
}

/// What visits saw, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Accesses, and for how long they were watched for, ns.
    accesses: f64,
    watched_ns: f64,
    /// Of the accesses, those of pages that came in order.
    in_order: f64,
    /// In so many intervals.
    intervals: f64,
}

impl Seen {
    /// Accesses to single lines or objects, and of pages that came in order.
    pub(super) fn watched(&mut self, [alone, in_order]: [f64; 2], for_ns: f64) {
        let now = self.now.get_or_insert(Sums { intervals: 1.0, ..Sums::default() });
        now.accesses += alone + in_order;
        now.watched_ns += for_ns;
        now.in_order += in_order;
    }

    /// A visit of a huge page: when it was last seen untouched, and when touched, if it was.
    pub(super) fn visited(&mut self, untouched_ns: f64, touched_ns: Option<f64>) {
        let first = self.now.is_none();
        match touched_ns {
            Some(at_ns) => self.watched([1.0, 0.0], f64::midpoint(untouched_ns, at_ns)),
            None => self.watched([0.0; 2], untouched_ns),
        }
        let side = if touched_ns.is_some_and(|at_ns| 1.0 - self.untouched(at_ns) < ODD) {
            1.0
        } else if self.untouched(untouched_ns) < ODD {
            -1.0
        } else {
            0.0
        };
        let before = if first { Some(0.0) } else { self.odd };
        self.odd = before.filter(|odd| side != 0.0 && odd * side >= 0.0).map(|odd| odd + side);
    }

    /// How likely it is to go without an access for so long, by what was seen before this interval: its rate follows a gamma
    /// distribution.
    fn untouched(&self, for_ns: f64) -> f64 {
        let Sums { accesses, watched_ns, .. } = self.before;
        if watched_ns == 0.0 {
            return 0.5;
        }
        (watched_ns / (watched_ns + for_ns)).powf(accesses + UNKNOWN)
    }

    /// What this interval saw and what the ones before let expect, if it was watched in both.
    pub(super) fn surprise(&self) -> Option<[f64; 2]> {
        let Sums { accesses, watched_ns, .. } = self.now?;
        let expected = self.before.rate() * watched_ns / 1e9;
        (self.before.watched_ns > 0.0 && !self.stale).then_some([accesses, expected])
    }

    /// Takes an interval in; whether it was watched in it, and seen accessed.
    pub(super) fn learn(&mut self) -> Option<bool> {
        self.traffic = 0.0;
        let now = self.now.take()?;
        let [rates, visits] = std::mem::take(&mut self.said);
        self.traffic = if visits > 0.0 { rates / visits } else { self.traffic_of(&now) };
        let keep = if std::mem::take(&mut self.stale) { 0.0 } else { f64::from(KEEP) };
        self.before = self.before.fade(keep, now);
        Some(now.accesses > 0.0)
    }

    /// What is known of it by itself.
    pub(super) fn known(&self) -> Sums {
        if self.stale { Sums::default() } else { self.before }
    }

    /// Accesses a second.
    #[expect(clippy::cast_possible_truncation, reason = "a rate")]
    pub(super) fn rate(&self) -> f32 {
        self.rate as f32
    }

    /// Accesses a second in an interval by what was seen in it alone. A visit ends when enough was seen, so that their number
    /// over its time is too high on the mean, most where pages are swept over; what they are more than was expected in that
    /// time, over the time that is usual, is not: below 0 now and then. Of one of many its visits say it.
    fn traffic_of(&self, now: &Sums) -> f64 {
        let Sums { watched_ns, intervals, .. } = self.known();
        if intervals == 0.0 {
            return now.rate();
        }
        let more = now.accesses - self.rate * now.watched_ns * 1e-9;
        self.rate + more * intervals / watched_ns * 1e9
    }

    /// That of the interval that ended last, of so many units like it; 0 if it was not watched in it. What a move brings is
    /// judged by other sights than those that it was chosen by.
    #[expect(clippy::cast_possible_truncation, reason = "a rate")]
    pub(super) fn traffic(&self, stands_for: f64) -> f32 {
        (stands_for * self.traffic) as f32
    }

    /// Of its rate, what came in order.
    #[expect(clippy::cast_possible_truncation, reason = "a rate")]
    pub(super) fn in_order(&self) -> f32 {
        let Sums { accesses, in_order, .. } = self.before;
        let part = if accesses > 0.0 { in_order / accesses } else { 0.0 };
        (self.rate * part) as f32
    }

    /// At least, but for one chance in ten: the gamma distribution of as many sightings (Wilson and
    /// Hilferty 1931).
    #[expect(clippy::cast_possible_truncation, reason = "a rate")]
    pub(super) fn least(&self) -> f32 {
        let of = (9.0 * self.before.accesses.max(1e-9)).recip();
        let part = (1.0 - of - NINE_IN_TEN * of.sqrt()).max(0.0).powi(3);
        (self.rate * part) as f32
    }
}

impl Sums {
    /// As one visit.
    pub(super) fn visit(&self) -> [f64; 2] {
        [self.accesses, self.watched_ns * 1e-9]
    }

    /// Accesses a second.
    pub(super) fn rate(&self) -> f64 {
        if self.watched_ns > 0.0 { self.accesses / self.watched_ns * 1e9 } else { 0.0 }
    }

    /// What is kept of it, and more.
    fn fade(self, keep: f64, more: Self) -> Self {
        let add = |old: f64, new: f64| keep * old + new;
        Self {
            accesses: add(self.accesses, more.accesses),
            watched_ns: add(self.watched_ns, more.watched_ns),
            in_order: add(self.in_order, more.in_order),
            intervals: add(self.intervals, more.intervals),
        }
    }
}
