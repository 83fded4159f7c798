//! Amounts of memory, printed and read the way people write them (`64G`, `1.5 GiB`).

use serde::{Deserialize, Serialize};
use std::{fmt, iter::Sum, ops, str::FromStr};

/// An amount of memory in bytes. Suffixes are binary: `64G` is 64 x 2^30.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

const SUFFIXES: [(&str, u32); 5] = [("T", 40), ("G", 30), ("M", 20), ("K", 10), ("", 0)];

impl Bytes {
    /// `n` KiB.
    #[must_use]
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }
    /// `n` MiB.
    #[must_use]
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }
    /// `n` GiB.
    #[must_use]
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }
    /// Reads an amount with its unit: a bare number may be bytes as well as what its writer is
    /// used to.
    ///
    /// # Errors
    /// What is wrong, in words for a command line.
    pub fn with_unit(text: &str) -> Result<Self, String> {
        let bare = text.trim();
        if bare.parse::<f64>().is_ok_and(|number| number > 0.0) {
            return Err(format!(
                "'{bare}' has no unit; write {bare}G or {bare}M ({bare}B for bytes)"
            ));
        }
        text.parse().map_err(|error: ParseBytesError| error.to_string())
    }
    /// The same amount as a float, for ratios.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
    /// `self` less `other`, or 0.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Bytes {
    /// Three significant digits with a binary unit: `1.46 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (suffix, shift) =
            SUFFIXES.iter().find(|(_, shift)| self.0 >= 1 << shift).unwrap_or(&SUFFIXES[4]);
        if *shift == 0 {
            return f.pad(&format!("{} B", self.0));
        }
        let value = self.0 as f64 / (1u64 << shift) as f64;
        let digits = match value {
            v if v < 9.995 => 2,
            v if v < 99.95 => 1,
            _ => 0,
        };
        f.pad(&format!("{value:.digits$} {suffix}iB"))
    }
}

/// Why a text is no amount of memory.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ParseBytesError {
    /// It is none.
    #[error("'{0}' is not an amount of memory; write for example 512M, 64G, 1.5GiB or 4096B")]
    NoAmount(String),
    /// 64 bits cannot count its bytes.
    #[error("'{0}' is more than any machine's memory, which is below 16777216T")]
    TooMuch(String),
}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseBytesError::NoAmount(text.to_owned());
        let too_much = || ParseBytesError::TooMuch(text.to_owned());
        let upper = text.trim().to_ascii_uppercase();
        let number_end =
            upper.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(upper.len());
        let (number, suffix) = upper.split_at(number_end);
        let suffix = suffix.trim().trim_end_matches('B').trim_end_matches('I');
        let (_, shift) = SUFFIXES.iter().find(|(s, _)| *s == suffix).ok_or_else(error)?;
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(1 << shift).map(Self).ok_or_else(too_much);
        }
        let value: f64 = number.parse().map_err(|_| error())?;
        let bytes = value * (1u64 << shift) as f64;
        if !(0.0..1.8e19).contains(&bytes) {
            return Err(too_much());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "range checked"
        )]
        Ok(Self(bytes.round() as u64))
    }
}

impl ops::Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl ops::AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self(0), ops::Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, bytes) in [
            ("64G", Bytes::gib(64)),
            ("1.5GiB", Bytes::mib(1536)),
            ("1.5 gib", Bytes::mib(1536)),
            ("512m", Bytes::mib(512)),
            ("4096", Bytes(4096)),
            ("4096B", Bytes(4096)),
            ("4KB", Bytes::kib(4)),
        ] {
            assert_eq!(text.parse(), Ok(bytes), "{text}");
        }
        for text in ["", "G", "-1G", "1.2.3G", "64X", "1e400G"] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains("not an amount of memory"), "{error}");
        }
        for text in ["16777216T", "99999999999T", "99999999999.5T"] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains("more than any machine's memory"), "{error}");
        }
    }

    #[test]
    fn an_amount_without_a_unit_is_asked_about() {
        assert_eq!(Bytes::with_unit("10G"), Ok(Bytes::gib(10)));
        assert_eq!(Bytes::with_unit("4096B"), Ok(Bytes(4096)));
        assert_eq!(Bytes::with_unit("0"), Ok(Bytes(0)));
        let unit = Bytes::with_unit("10").err().unwrap_or_default();
        assert!(unit.contains("10G") && unit.contains("10B for bytes"), "{unit}");
        assert!(Bytes::with_unit("plenty").is_err());
    }

    #[test]
    fn prints_three_digits() {
        for (bytes, text) in [
            (Bytes(0), "0 B"),
            (Bytes(1023), "1023 B"),
            (Bytes::kib(1), "1.00 KiB"),
            (Bytes::mib(1536), "1.50 GiB"),
            (Bytes::mib(200), "200 MiB"),
            (Bytes::gib(1 << 12), "4.00 TiB"),
        ] {
            assert_eq!(bytes.to_string(), text);
        }
    }
}
