//! Exact parsing of decimal numbers without a unit, for files whose format fixes the unit of each
//! column.

use thiserror::Error;

/// Reason why a text is not a valid decimal number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecimalError {
    /// The text is not made of digits, optionally with a decimal point and an exponent.
    #[error("it is not a number")]
    NotANumber,
    /// The number is below zero.
    #[error("it is negative")]
    Negative,
    /// The scaled number is not whole.
    #[error("it has more decimals than can be held")]
    TooFine,
    /// The scaled number does not fit 64 bits.
    #[error("it is too large")]
    TooLarge,
}

/// Parses `text` and scales it by ten to the `power`, exactly: `decimal("2.5e-3", 12)` is 2.5
/// thousandths of a second in picoseconds. No floating-point number is involved.
///
/// # Errors
/// Fails if the text is not a number, if the number is negative, and if the scaled number is not
/// whole or does not fit 64 bits.
pub fn decimal(text: &str, power: u32) -> Result<u64, DecimalError> {
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent: i32 = exponent.parse().map_err(|_| DecimalError::NotANumber)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DecimalError::NotANumber);
    }
    // Trailing zeros only scale the number: without them, `1.000` is as exact as `1`.
    let kept = digits.trim_end_matches('0');
    let significant = kept.trim_start_matches('0');
    // Before the sign is checked: minus zero is zero.
    if significant.is_empty() {
        return Ok(0);
    }
    if negative {
        return Err(DecimalError::Negative);
    }
    let zeros = (digits.len() - kept.len()) as i64;
    let scale = i64::from(power) + i64::from(exponent) - fraction.len() as i64 + zeros;
    // The digits have no trailing zeros, so a negative scale would lose a digit.
    let scale = u32::try_from(scale).map_err(|_| match scale {
        ..0 => DecimalError::TooFine,
        _ => DecimalError::TooLarge,
    })?;
    let factor = 10u64.checked_pow(scale).ok_or(DecimalError::TooLarge)?;
    let value: u64 = significant.parse().map_err(|_| DecimalError::TooLarge)?;
    value.checked_mul(factor).ok_or(DecimalError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, power, value) in [
            ("2", 12, 2_000_000_000_000),
            ("2.000000000", 12, 2_000_000_000_000),
            ("2.000000001", 12, 2_000_000_001_000),
            (".13", 12, 130_000_000_000),
            ("1e-05", 12, 10_000_000),
            ("+2.5E3", 0, 2_500),
            ("0.00", 0, 0),
            ("-0", 3, 0),
            ("18446744073709551615", 0, u64::MAX),
            ("0.0000001", 7, 1),
            ("000000000000000000000000000000000001", 0, 1),
        ] {
            assert_eq!(decimal(text, power), Ok(value), "{text}");
        }
    }

    #[test]
    fn invalid_decimals_are_rejected() {
        for (text, power, error) in [
            ("", 0, DecimalError::NotANumber),
            (".", 0, DecimalError::NotANumber),
            ("2s", 12, DecimalError::NotANumber),
            ("1.2.3", 3, DecimalError::NotANumber),
            ("1e", 0, DecimalError::NotANumber),
            ("--1", 0, DecimalError::NotANumber),
            ("nan", 0, DecimalError::NotANumber),
            ("-2.0", 12, DecimalError::Negative),
            ("0.0000000000001", 12, DecimalError::TooFine),
            ("2e-2000000000", 0, DecimalError::TooFine),
            ("40000000000000.00", 12, DecimalError::TooLarge),
            ("1e2000000000", 0, DecimalError::TooLarge),
            ("18446744073709551616", 0, DecimalError::TooLarge),
        ] {
            assert_eq!(decimal(text, power), Err(error), "{text}");
        }
    }
}
