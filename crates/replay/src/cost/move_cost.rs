//! What moves cost in a plan: time by the kind of page that moves, and traffic in both memories. What `run` takes one to cost, and
//! whether it pays: `policy::CostBenefit`.

use crate::Curve;
use pagetide_machine::Migration;

/// Bytes of a base and of a huge page.
const BASE: f64 = 4096.0;
const HUGE: f64 = 2_097_152.0;

/// Prices of one kind of page, seconds.
#[derive(Clone, Copy, Debug)]
struct Price {
    bytes: f64,
    one: f64,
    /// A page up and one down at once.
    pair: f64,
}

impl Price {
    fn new(bytes: f64, page_us: f64, exchange_us: Option<f64>) -> Self {
        // Who can exchange need not.
        let pair = exchange_us.map_or(2.0 * page_us, |pair| pair.min(2.0 * page_us));
        Self { bytes, one: page_us / 1e6, pair: pair / 1e6 }
    }

    /// Seconds for so many bytes up and down. What goes up takes the place of what goes down:
    /// fast memory is full, so that moves pair off but for what was born or died.
    fn seconds(self, up: u64, down: u64) -> f64 {
        let pages = |bytes: u64| bytes as f64 / self.bytes;
        pages(up.min(down)) * self.pair + pages(up.abs_diff(down)) * self.one
    }
}

/// What moving costs on one machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MoveCost {
    base: Price,
    huge: Price,
}

/// The moves of a curve at one entry, per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moves {
    /// Time that they take, over run time.
    pub(crate) time: f64,
    /// Bytes read from slow memory and written to fast.
    pub(crate) up: f64,
    /// Bytes read from fast memory and written to slow.
    pub(crate) down: f64,
}

impl MoveCost {
    pub(crate) fn new(cost: &Migration) -> Self {
        Self {
            base: Price::new(BASE, cost.page_4k_us, cost.exchange_4k_us),
            huge: Price::new(HUGE, cost.page_2m_us, cost.exchange_2m_us),
        }
    }

    /// At the curve's entry `i`.
    pub(crate) fn of(&self, curve: &Curve, i: usize) -> Moves {
        if curve.seconds <= 0.0 {
            return Moves::default();
        }
        let (up, down) = (curve.promoted[i], curve.demoted[i]);
        let huge = |of: &[u64], all: u64| of.get(i).copied().unwrap_or(0).min(all);
        let (up_huge, down_huge) =
            (huge(&curve.promoted_huge, up), huge(&curve.demoted_huge, down));
        let seconds = self.huge.seconds(up_huge, down_huge)
            + self.base.seconds(up - up_huge, down - down_huge);
        Moves {
            time: seconds / curve.seconds,
            up: up as f64 / curve.seconds,
            down: down as f64 / curve.seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(up: u64, down: u64, up_huge: u64, down_huge: u64) -> Curve {
        Curve {
            seconds: 2.0,
            promoted: vec![up],
            demoted: vec![down],
            promoted_huge: vec![up_huge],
            demoted_huge: vec![down_huge],
            ..Curve::default()
        }
    }

    fn prices(exchange: Option<f64>) -> MoveCost {
        MoveCost::new(&Migration {
            page_4k_us: 10.0,
            page_2m_us: 400.0,
            exchange_4k_us: exchange,
            exchange_2m_us: None,
            source: String::new(),
        })
    }

    #[test]
    fn every_page_at_the_price_of_its_kind() {
        let (base, huge) = (4096, 1 << 21);
        let found = prices(None).of(&curve(3 * huge + 5 * base, huge, 3 * huge, huge), 0);
        assert!((found.time - (4.0 * 400e-6 + 5.0 * 10e-6) / 2.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.up, (3 * huge + 5 * base) as f64 / 2.0);
        assert_eq!(found.down, huge as f64 / 2.0);
    }

    #[test]
    fn an_exchange_is_paid_once_where_the_machine_has_one() {
        let pages = curve(5 * 4096, 3 * 4096, 0, 0);
        let apart = prices(None).of(&pages, 0).time;
        assert!((apart - 8.0 * 10e-6 / 2.0).abs() < 1e-12);
        let paired = prices(Some(12.0)).of(&pages, 0).time;
        assert!((paired - (3.0 * 12e-6 + 2.0 * 10e-6) / 2.0).abs() < 1e-12);
        // Dearer than two moves: two moves it is.
        assert_eq!(prices(Some(50.0)).of(&pages, 0).time, apart);
    }
}
