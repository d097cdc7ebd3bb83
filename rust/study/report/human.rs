//! Numbers for people: few digits and a suitable unit.

use std::time::Duration;

use crate::units::Span;

const TIME_UNITS: [(&str, f64); 5] =
    [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0)];
const BYTE_UNITS: [(&str, f64); 5] =
    [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)];
const COUNT_UNITS: [(&str, f64); 5] = [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)];

/// Formats a simulated time with four digits: `17.06us`.
pub fn span(span: Span) -> String {
    nanoseconds(span.as_ns_f64())
}

/// Formats a simulated time in nanoseconds with four digits: `17.06us`.
pub fn nanoseconds(ns: f64) -> String {
    with_unit(ns * 1e3, 4, &TIME_UNITS)
}

/// Formats a ratio with four digits: `2.740`, `15.77`, `302.3`.
pub fn ratio(ratio: f64) -> String {
    let decimals = match ratio {
        ..9.9995 => 3,
        ..99.995 => 2,
        ..999.95 => 1,
        _ => 0,
    };
    format!("{ratio:.decimals$}")
}

/// Formats bytes with three digits, in powers of 1000: `812KB`.
pub fn bytes(bytes: f64) -> String {
    with_unit(bytes, 3, &BYTE_UNITS)
}

/// Formats a count with three digits: `12.3M`. Whole numbers below 1000 are exact.
pub fn count(count: f64) -> String {
    with_unit(count, 3, &COUNT_UNITS)
}

/// Formats wall time with three digits: `1.23s`.
pub fn seconds(seconds: f64) -> String {
    with_unit(seconds * 1e12, 3, &TIME_UNITS)
}

/// Formats an estimated wall time with three digits: `12.0s`, `3.40min`, `2.58h`.
pub fn duration(duration: Duration) -> String {
    match duration.as_secs_f64() {
        short @ ..99.95 => seconds(short),
        minutes @ ..3_597.0 => format!("{}min", three_digits(minutes / 60.0)),
        hours => format!("{}h", three_digits(hours / 3_600.0)),
    }
}

fn three_digits(value: f64) -> String {
    with_unit(value, 3, &[("", 1.0)])
}

/// Formats a count with its noun: `1 host`, `2 hosts`.
pub fn plural(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// Formats `value` with at most `digits` significant digits, in the largest unit that leaves at
/// least one digit before the decimal point.
fn with_unit(value: f64, digits: usize, units: &[(&str, f64)]) -> String {
    // Round before choosing the unit: 999.96 ns becomes 1.000 us.
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    let fitting = units.iter().find(|(_, scale)| rounded >= *scale);
    let (unit, scale) = fitting.or(units.last()).copied().unwrap_or(("", 1.0));
    let scaled = rounded / scale;
    if scale == 1.0 && scaled.fract() == 0.0 {
        return format!("{scaled}{unit}");
    }
    let before_point = format!("{:.0}", scaled.trunc()).len();
    format!("{scaled:.*}{unit}", digits.saturating_sub(before_point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_four_digits() {
        for (ps, text) in [
            (0, "0ps"),
            (999, "999ps"),
            (17_056_941, "17.06us"),
            (817_123_000, "817.1us"),
            (999_960, "1.000us"),
            (1_000_000_000_000, "1.000s"),
            (12_345_000_000_000_000, "12340s"),
        ] {
            assert_eq!(span(Span::from_ps(ps)), text);
        }
        assert_eq!(nanoseconds(17_056.941), "17.06us");
        assert_eq!(
            [1.0402, 15.773, 302.284, 1234.5].map(ratio),
            ["1.040", "15.77", "302.3", "1234"]
        );
        assert_eq!(seconds(0.0123), "12.3ms");
    }

    #[test]
    fn long_durations_are_minutes_and_hours() {
        let shown = |seconds: f64| duration(Duration::from_secs_f64(seconds));
        assert_eq!([0.0123, 76.4, 99.94].map(shown), ["12.3ms", "76.4s", "99.9s"]);
        assert_eq!([99.96, 155.0, 3_590.0].map(shown), ["1.67min", "2.58min", "59.8min"]);
        let hours = [3_600.0, 12_345.0, 1e6, 3.6e7].map(shown);
        assert_eq!(hours, ["1h", "3.43h", "278h", "10000h"]);
    }

    #[test]
    fn bytes_and_counts_have_three_digits() {
        assert_eq!(bytes(800_000.0), "800KB");
        assert_eq!(bytes(0.0), "0B");
        assert_eq!(bytes(12.34), "12.3B");
        assert_eq!(count(999.0), "999");
        assert_eq!(count(65_280.0), "65.3k");
        assert_eq!(count(999_999.0), "1.00M");
        assert_eq!(count(0.5), "0.50");
    }

    #[test]
    fn a_count_of_one_is_singular() {
        assert_eq!((plural(1, "host"), plural(0, "host")), ("1 host".into(), "0 hosts".into()));
    }
}
