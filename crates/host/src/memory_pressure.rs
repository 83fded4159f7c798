//! How long programs waited for memory (pressure stall information, Documentation/accounting/psi.rst).

use crate::{Error, Host, error::Malformed, files::lines};
use std::time::Duration;

/// Time since boot in which tasks waited for memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPressure {
    /// At least one task waited.
    pub some: Duration,
    /// All tasks that were not idle waited.
    pub full: Duration,
}

impl Host {
    /// How long tasks have waited for memory; none on a kernel without this, or with it off
    /// (`psi=0`).
    ///
    /// # Errors
    /// When the file has an unknown format.
    pub fn memory_stalls(&self) -> Result<Option<MemoryPressure>, Error> {
        let path = "proc/pressure/memory";
        // With psi=0 the file is there and cannot be opened.
        let Ok(bytes) = self.read(path) else { return Ok(None) };
        parse(&bytes).map(Some).map_err(|bad| bad.at(self.path(path)))
    }
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=87`, in microseconds; kernels of one task group
/// have no `full`.
fn parse(bytes: &[u8]) -> Result<MemoryPressure, Malformed> {
    let mut stalls = MemoryPressure::default();
    for (number, line) in lines(bytes) {
        let bad = || Malformed::new(number, "some or full with total=MICROSECONDS", line);
        let text = std::str::from_utf8(line).map_err(|_| bad())?;
        let (kind, rest) = text.split_once(' ').ok_or_else(bad)?;
        let total = rest.split_whitespace().find_map(|word| word.strip_prefix("total="));
        let total = total.and_then(|total| total.parse().ok()).ok_or_else(bad)?;
        match kind {
            "some" => stalls.some = Duration::from_micros(total),
            "full" => stalls.full = Duration::from_micros(total),
            _ => return Err(bad()),
        }
    }
    Ok(stalls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use proptest::prelude::*;

    #[test]
    fn waits_since_boot_are_read() {
        let fake = Fake::new();
        assert_eq!(fake.host().memory_stalls().unwrap(), None);
        fake.file(
            "proc/pressure/memory",
            "some avg10=1.00 avg60=0.00 avg300=0.00 total=87\nfull avg10=0.00 total=9\n",
        );
        let stalls = fake.host().memory_stalls().unwrap().unwrap();
        assert_eq!((stalls.some.as_micros(), stalls.full.as_micros()), (87, 9));
        fake.file("proc/pressure/memory", "some avg10=1.00\n");
        let error = fake.host().memory_stalls().unwrap_err().to_string();
        assert!(error.contains("pressure/memory:1"), "{error}");
    }

    proptest! {
        #[test]
        fn never_panics(text in "((some|full|x) ?[a-z0-9=. ]{0,40}\n){0,4}") {
            let _ = parse(text.as_bytes());
        }
    }
}
