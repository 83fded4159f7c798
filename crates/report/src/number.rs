//! Numbers as people read them in a table.

pub(crate) use pagetide_replay::percents as band;
use pagetide_types::Bytes;

/// A count with a decimal prefix and two or three digits: `1.2 M`.
pub(crate) fn count(value: f64) -> String {
    // The sum of nothing is minus zero.
    let value = value + 0.0;
    let (value, prefix) = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]
        .into_iter()
        .find(|(size, _)| value >= *size)
        .map_or((value, ""), |(size, prefix)| (value / size, prefix));
    // What is next to nothing is not told as nothing.
    if value > 0.0 && value < 0.00995 {
        return if value < 1e-4 {
            format!("{value:.0e}")
        } else {
            format!("{value:.4}").trim_end_matches('0').to_owned()
        };
    }
    let digits = match value {
        v if v > 0.0 && v < 0.995 => 2,
        v => usize::from(v < 9.95 && (v - v.round()).abs() >= 0.05),
    };
    format!("{value:.digits$} {prefix}").trim_end().to_owned()
}

/// Bytes per second: `12.3 MiB/s`.
pub(crate) fn bytes_per_s(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let bytes = Bytes(value.round().clamp(0.0, 1.8e19) as u64);
    if bytes.0 == 0 { "0".to_owned() } else { format!("{bytes}/s") }
}

/// So many of something: `1 epoch`, `7 epochs`.
pub(crate) fn many(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Seconds: `42 s`, `5 min 10 s`, `2 h 3 min`.
pub(crate) fn duration(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let whole = seconds.round().clamp(0.0, 1e15) as u64;
    match whole {
        0..=119 if seconds < 9.95 && (seconds - seconds.round()).abs() >= 0.05 => {
            format!("{seconds:.1} s")
        }
        0..=119 => format!("{whole} s"),
        120..=7199 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Lengths, from the shortest to the longest: `5 s`, or `1 s to 5 s` where they differ by more than a tenth.
pub(crate) fn lengths(shortest: f64, longest: f64) -> String {
    let (from, to) = (duration(shortest), duration(longest));
    if shortest < 0.9 * longest && from != to { format!("{from} to {to}") } else { to }
}

/// Times below seconds: `20 us`, `0.2 ms`, `1 s`.
pub(crate) fn short_time(seconds: f64) -> String {
    let trimmed = |value: f64| {
        let text = if value < 9.95 { format!("{value:.2}") } else { format!("{value:.0}") };
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    };
    match seconds {
        s if s >= 1.0 => format!("{} s", trimmed(s)),
        s if s >= 1e-3 => format!("{} ms", trimmed(s * 1e3)),
        s => format!("{} us", trimmed(s * 1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_replay::Band;

    #[test]
    fn reads_well() {
        let counts = [
            (0.0, "0"),
            (-0.0, "0"),
            (0.83, "0.83"),
            (0.0062, "0.0062"),
            (0.0004, "0.0004"),
            (3e-7, "3e-7"),
            (7.25, "7.2"),
            (950.0, "950"),
            (1234.0, "1.2 k"),
            (2.5e7, "25 M"),
        ];
        for (value, text) in counts {
            assert_eq!(count(value), text);
        }
        assert_eq!(bytes_per_s(1536.0 * 1024.0), "1.50 MiB/s");
        assert_eq!(band(Band { low: 0.008, high: 0.05 }), "0.8 – 5 %");
        assert_eq!(band(Band { low: 0.05, high: 0.05 }), "5 %");
        assert_eq!(band(Band { low: 0.0001, high: 0.05 }), "<0.1 – 5 %");
        assert_eq!(band(Band { low: 0.0001, high: 0.0005 }), "below 0.1 %");
        assert_eq!([many(1, "epoch"), many(0, "epoch")], ["1 epoch", "0 epochs"]);
        assert_eq!(duration(4.96), "5 s");
        assert_eq!(duration(2.5), "2.5 s");
        assert_eq!(
            [2e-5, 2.5e-3, 0.2, 1.0, 0.0].map(short_time),
            ["20 us", "2.5 ms", "200 ms", "1 s", "0 us"]
        );
        assert_eq!(duration(3725.0), "62 min 5 s");
        assert_eq!(duration(9000.0), "2 h 30 min");
    }
}
