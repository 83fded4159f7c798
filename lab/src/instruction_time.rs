//! What a guest's clock advances by with an instruction, where it goes by them.

use std::str::FromStr;

/// Nanoseconds of an instruction: a power of two, or hundredths of one. QEMU knows the powers of two; for less the meter
/// gives a share of the instructions back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InstructionTime {
    hundredths: u32,
}

impl InstructionTime {
    /// The exponent of the power of two that QEMU is told.
    pub(crate) fn shift(self) -> u32 {
        self.ns().ilog2()
    }

    /// What QEMU takes an instruction for, ns.
    pub(crate) fn ns(self) -> u32 {
        (self.hundredths / 100).max(1)
    }

    /// Of a hundred instructions so many take no time.
    pub(crate) fn free_percent(self) -> u32 {
        100_u32.saturating_sub(self.hundredths)
    }
}

impl FromStr for InstructionTime {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "write a power of two up to 1024, or 0.01 to 0.99";
        if let Some(part) = text.strip_prefix("0.") {
            let digits = format!("{part:0<2}");
            return match digits.parse::<u32>() {
                Ok(hundredths @ 1..=99) if digits.len() == 2 => Ok(Self { hundredths }),
                _ => Err(WRONG),
            };
        }
        match text.parse::<u32>() {
            Ok(ns) if ns.is_power_of_two() && ns <= 1024 => Ok(Self { hundredths: 100 * ns }),
            _ => Err(WRONG),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_power_of_two_or_hundredths_of_one() {
        let of = |text: &str| {
            text.parse::<InstructionTime>().map(|it| (it.ns(), it.shift(), it.free_percent()))
        };
        assert_eq!(of("1"), Ok((1, 0, 0)));
        assert_eq!(of("8"), Ok((8, 3, 0)));
        assert_eq!(of("0.33"), Ok((1, 0, 67)));
        assert_eq!(of("0.5"), Ok((1, 0, 50)));
        for wrong in ["0", "3", "0.0", "0.00", "0.333", "1.5", "2048", "-1", "0.x", "fast"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
