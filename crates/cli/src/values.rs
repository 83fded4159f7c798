//! Values of the command line, read alike for every command: what is wrong is said with a remedy.

use pagetide_scan::Range;
use pagetide_types::Bytes;
use std::str::FromStr;
use std::time::Duration;

/// Addresses, `START-END` in hexadecimal, as the memory maps have them; whole pages.
pub(crate) fn addresses(text: &str) -> Result<Range, String> {
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let (start, end) =
        text.split_once('-').ok_or("expected START-END, for instance 7f0000000000-7f0040000000")?;
    match (number(start), number(end)) {
        (Some(start), Some(end)) if start % 4096 != 0 || end % 4096 != 0 => Err(format!(
            "{text} does not begin and end with a page: multiples of 1000 (hexadecimal) do"
        )),
        (Some(start), Some(end)) if start < end => Ok(Range { start, end }),
        (Some(_), Some(_)) => {
            Err(format!("{text} holds nothing: its end must come after its start"))
        }
        _ => Err(format!(
            "{text} is not hexadecimal; expected START-END, for instance 7f0000000000-7f0040000000"
        )),
    }
}

/// The number of a process.
pub(crate) fn pid(text: &str) -> Result<i32, String> {
    match text.trim().parse::<i32>() {
        Ok(pid) if pid > 0 => Ok(pid),
        _ => Err(format!("'{text}' is not the number of a process; pgrep NAME prints them")),
    }
}

/// Times that are taken.
const RANGE: &str = "1ms to 115d";
/// The shortest epoch of a run: a burst of looks must fit into it.
const SHORTEST_EPOCH: Duration = Duration::from_millis(200);

/// `5s`, `200ms`, `2min`; a number alone is seconds, whatever it is for.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let value = in_seconds(text)?;
    if !(1e-3..1e7).contains(&value) {
        return Err(format!("'{text}' is out of range: {RANGE}, for example 5s or 2min"));
    }
    Ok(Duration::from_secs_f64(value))
}

/// The number of seconds that a text stands for, of any size.
fn in_seconds(text: &str) -> Result<f64, String> {
    const UNITS: &str = "ms, s, min or m, h, d";
    let units =
        [("ms", 1e-3), ("min", 60.0), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))
        .unwrap_or((text, 1.0));
    let value: f64 = number.trim().parse().map_err(|_| {
        format!("'{text}' is not a time; write for example 5s, 200ms or 2min (units: {UNITS})")
    })?;
    Ok(value * factor)
}

/// `30%` or `20-40%`.
pub(crate) fn percent_range(text: &str) -> Result<(f64, f64), String> {
    let Some((low, high)) = text.split_once('-').filter(|(low, _)| !low.is_empty()) else {
        return percent(text).map(|share| (share, share));
    };
    // One sign stands for both.
    let sign = if high.ends_with('%') && !low.ends_with('%') { "%" } else { "" };
    let (low, high) = (percent(&format!("{low}{sign}"))?, percent(high)?);
    if low > high {
        return Err(format!("'{text}' goes down; write the lower end first"));
    }
    Ok((low, high))
}

/// `5` and `5%` are 0.05; what may be meant as a fraction is asked about.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let (number, sign) = text.strip_suffix('%').map_or((text, false), |number| (number, true));
    let value: f64 = number
        .trim()
        .parse()
        .map_err(|_| format!("'{text}' is not a percentage; write for example 5%"))?;
    if !(value > 0.0 && value <= 100.0) {
        return Err(format!("'{text}' is out of range: more than 0% and at most 100%"));
    }
    if value < 1.0 && !sign {
        let hundredfold = format!("{:.6}", value * 100.0);
        let hundredfold = hundredfold.trim_end_matches('0').trim_end_matches('.');
        return Err(format!(
            "'{text}' may be {number}% or {hundredfold}%; write which, with the %"
        ));
    }
    Ok(value / 100.0)
}

/// The length of an epoch of a run.
pub(crate) fn epoch(text: &str) -> Result<Duration, String> {
    let of_epochs = RANGE.replace("1ms", "200ms");
    match seconds(text) {
        Ok(epoch) if epoch >= SHORTEST_EPOCH => Ok(epoch),
        Ok(_) => Err(format!("'{text}' is out of range: {of_epochs}, for example 5s or 2min")),
        Err(error) => Err(error.replace(RANGE, &of_epochs)),
    }
}

/// A time, or none.
pub(crate) fn seconds_or_0(text: &str) -> Result<Duration, String> {
    match in_seconds(text) {
        Ok(0.0) => Ok(Duration::ZERO),
        _ => seconds(text).map_err(|error| error.replace(RANGE, &format!("0, or {RANGE}"))),
    }
}

/// Memory of which there must be some, with a unit: `64M`.
pub(crate) fn size(text: &str) -> Result<Bytes, String> {
    match Bytes::with_unit(text)? {
        Bytes(0) => Err(format!("'{text}' is nothing; write for example 64M")),
        size => Ok(size),
    }
}

/// Bytes per second: `100M`, `100M/s`.
pub(crate) fn rate(text: &str) -> Result<Bytes, String> {
    match Bytes::with_unit(text.strip_suffix("/s").unwrap_or(text))? {
        Bytes(0) => Err(format!("'{text}' moves nothing; write for example 100M, or --dry-run")),
        rate => Ok(rate),
    }
}

/// The number of a NUMA node.
pub(crate) fn node(text: &str) -> Result<u16, String> {
    let number = text.trim();
    number
        .strip_prefix("node")
        .unwrap_or(number)
        .parse()
        .map_err(|_| format!("'{text}' is not the number of a node; pagetide doctor lists them"))
}

/// A dax device by its name in sysfs, also as `ls /dev/dax*` shows it.
#[expect(clippy::unnecessary_wraps, reason = "a parser of clap's")]
pub(crate) fn device(text: &str) -> Result<String, String> {
    let name = text.trim();
    Ok(name.strip_prefix("/dev/").unwrap_or(name).to_owned())
}

/// How many, from 1 on.
pub(crate) fn count<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    match text.trim().parse::<T>() {
        Ok(count) if count >= T::from(1) => Ok(count),
        _ => Err(format!("'{text}' is not a whole number from 1 on")),
    }
}

/// A factor from 1 on.
pub(crate) fn at_least_1(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 1.0 => Ok(factor),
        _ => Err(format!("'{text}' is no factor; give a number from 1 on")),
    }
}

/// A weight in a split.
pub(crate) fn weight(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(weight) if weight.is_finite() && weight > 0.0 => Ok(weight),
        _ => Err(format!("'{text}' is no weight; give a number above 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_percentages() {
        assert_eq!(seconds("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(seconds("5"), Ok(Duration::from_secs(5)));
        assert_eq!(seconds("2min"), Ok(Duration::from_secs(120)));
        assert!(seconds("0").is_err() && seconds("-1s").is_err() && seconds("soon").is_err());
        assert_eq!(percent("5%"), Ok(0.05));
        assert_eq!(percent_range("20-40%"), Ok((0.2, 0.4)));
        assert!(percent_range("40-20%").is_err());
        assert!(percent("0").is_err() && percent("101").is_err() && percent("x").is_err());
        assert_eq!(percent_range("30%"), Ok((0.3, 0.3)));
        assert_eq!(percent_range("0.5-2%"), Ok((0.005, 0.02)));
    }

    #[test]
    fn what_has_two_readings_is_asked_about() {
        assert_eq!(percent("0.02%"), Ok(0.0002));
        let both = percent("0.02").unwrap_err();
        assert!(both.contains("0.02% or 2%"), "{both}");
        assert!(percent_range("0.2-0.4").is_err_and(|error| error.contains("0.2% or 20%")));
    }

    #[test]
    fn epochs_may_be_short_but_not_too_short() {
        assert_eq!(epoch("200ms"), Ok(Duration::from_millis(200)));
        for short in ["199ms", "0", "-1s", "0.5ms"] {
            assert!(
                epoch(short).is_err_and(|error| error.contains("out of range: 200ms to 115d")),
                "{short}"
            );
        }
        assert_eq!(seconds_or_0("0"), Ok(Duration::ZERO));
        assert_eq!(seconds_or_0("0s"), Ok(Duration::ZERO));
        assert_eq!(seconds_or_0("2s"), Ok(Duration::from_secs(2)));
        for wrong in ["soon", "0x", "0foo", "5x", "ms"] {
            assert!(
                seconds_or_0(wrong).is_err_and(|error| error.contains("is not a time")),
                "{wrong}"
            );
        }
        for text in ["-1", "0.0001"] {
            let error = seconds_or_0(text).unwrap_err();
            assert!(error.contains("is out of range: 0, or 1ms to 115d"), "{error}");
            assert!(seconds(text).is_err_and(|error| error.contains("range: 1ms to 115d")));
        }
    }

    #[test]
    fn ranges_of_addresses_are_whole_pages_and_hold_something() {
        let range = Range { start: 0x7f00_0000_0000, end: 0x7f00_4000_0000 };
        assert_eq!(addresses("7f0000000000-7f0040000000"), Ok(range));
        assert_eq!(addresses("0x7f0000000000-0x7f0040000000"), Ok(range));
        for (text, says) in [
            ("7f", "START-END"),
            ("0-1001", "begin and end with a page"),
            ("2000-1000", "holds nothing"),
            ("z-1000", "not hexadecimal"),
        ] {
            assert!(addresses(text).unwrap_err().contains(says), "{text}");
        }
    }

    #[test]
    fn amounts_that_must_not_be_nothing() {
        assert_eq!((size("64M"), rate("100M")), (Ok(Bytes::mib(64)), Ok(Bytes::mib(100))));
        assert_eq!(rate("100M/s"), Ok(Bytes::mib(100)));
        for wrong in ["0", "0B", "-1G", "100", "much", ""] {
            assert!(size(wrong).is_err() && rate(wrong).is_err(), "{wrong}");
        }
        assert!(rate("100").is_err_and(|error| error.contains("100M")));
    }

    #[test]
    fn numbers_of_nodes_counts_and_weights() {
        assert_eq!((node("3"), count::<usize>("2"), weight("0.5")), (Ok(3), Ok(2), Ok(0.5)));
        assert_eq!(node("node1"), Ok(1));
        assert_eq!(device("/dev/dax0.0"), device("dax0.0"));
        assert!(node("-1").is_err_and(|error| error.contains("pagetide doctor")));
        assert!(node("70000").is_err() && count::<usize>("0").is_err());
        assert!(count::<usize>("1.5").is_err() && count::<usize>("-1").is_err());
        assert!(weight("0").is_err() && weight("inf").is_err() && weight("NaN").is_err());
    }
}
