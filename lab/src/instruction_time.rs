//! What a guest's clock advances by with an instruction, where it goes by them.

use std::str::FromStr;

/// Nanoseconds of an instruction: a power of two, or hundredths of one, and then others for those of the kernel. QEMU knows
/// the powers of two; for less the meter gives a share of the instructions back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InstructionTime {
    hundredths: u32,
    kernel_hundredths: u32,
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

    /// Of a hundred instructions of programs so many take no time.
    pub(crate) fn free_percent(self) -> u32 {
        100_u32.saturating_sub(self.hundredths)
    }

    /// The same of the kernel.
    pub(crate) fn kernel_free_percent(self) -> u32 {
        100_u32.saturating_sub(self.kernel_hundredths)
    }
}

/// 0.01 to 0.99.
fn hundredths(text: &str) -> Option<u32> {
    let digits = format!("{:0<2}", text.strip_prefix("0.")?);
    digits.parse().ok().filter(|hundredths| (1..=99).contains(hundredths) && digits.len() == 2)
}

impl FromStr for InstructionTime {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str =
            "write a power of two up to 1024, or 0.01 to 0.99, or two of these: 0.07,0.35";
        let (programs, kernel) = text.split_once(',').unwrap_or((text, text));
        if let [Some(hundredths), Some(kernel_hundredths)] = [programs, kernel].map(hundredths) {
            return Ok(Self { hundredths, kernel_hundredths });
        }
        match text.parse::<u32>() {
            Ok(ns) if ns.is_power_of_two() && ns <= 1024 => {
                Ok(Self { hundredths: 100 * ns, kernel_hundredths: 100 * ns })
            }
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
        let two = "0.07,0.35".parse::<InstructionTime>().unwrap();
        assert_eq!((two.ns(), two.free_percent(), two.kernel_free_percent()), (1, 93, 65));
        assert_eq!(of("1"), Ok((1, 0, 0)));
        assert_eq!(of("8"), Ok((8, 3, 0)));
        assert_eq!(of("0.33"), Ok((1, 0, 67)));
        assert_eq!(of("0.5"), Ok((1, 0, 50)));
        for wrong in [
            "0", "3", "0.0", "0.00", "0.333", "1.5", "2048", "-1", "0.x", "fast", "0.07,1", "1,2",
            "0.1,",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
