//! Numbers as a reader compares them: three digits that count.

/// Three digits, without zeros at the end: `0.00123`, `1.23`, `12300`.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        // Minus zero is zero.
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let magnitude = value.abs();
    if !(1e-4..1e9).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    let digits = [100.0, 10.0, 1.0, 0.1, 0.01, 0.001];
    // 99.95 has three digits as 100.
    let digits = digits.iter().position(|from| magnitude >= from * 0.9995).unwrap_or(6);
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A ratio: two digits behind the point, as all of a column.
pub(super) fn ratio(value: f64) -> String {
    if value.abs() < 0.01 || value.abs() >= 1000.0 { short(value) } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_count() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (2.50, "2.5"),
            (99.96, "100"),
            (12_345.6, "12346"),
            (-2.345_67, "-2.35"),
            (0.012_345, "0.0123"),
            (0.000_01, "1.00e-5"),
            (2.5e9, "2.50e9"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(value), text);
        }
        assert_eq!([1.2, 0.004, 12_345.0].map(ratio), ["1.20", "0.004", "12345"]);
    }
}
