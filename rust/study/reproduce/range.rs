//! Ranges of values: `{ from = "1MB", to = "64MB", times = 2 }` for an axis, instead of a list.

use toml::{Table, Value};

use super::error::Rejection;

/// Maximum number of values in a range.
const MAX_VALUES: usize = 10_000;

/// Expands a range of the axis `key`. Each value is the previous one plus `step` or multiplied by
/// `times`, up to the last. Numbers may have a unit, which must be the same in all of them.
pub(super) fn values(key: &str, range: &Table) -> Result<Vec<Value>, Rejection> {
    let reject = |what: String| Rejection::new(key, what);
    if let Some(other) = range.keys().find(|it| !KEYS.contains(&it.as_str())) {
        let what = format!("{EXPECTED}, not `{other}`");
        return Err(Rejection::new(format!("{key}.{other}"), what));
    }
    let quantity = |name: &str| {
        let value =
            range.get(name).ok_or_else(|| reject(format!("`{name}` is missing; {EXPECTED}")))?;
        Quantity::of(value).ok_or_else(|| {
            let what = format!("{value}: expected a number, or one with a unit such as \"1MB\"");
            Rejection::new(format!("{key}.{name}"), what)
        })
    };
    let (from, to) = (quantity("from")?, quantity("to")?);
    let next = match (range.contains_key("step"), range.contains_key("times")) {
        (true, false) => Next::Step(quantity("step")?),
        (false, true) => Next::Times(quantity("times")?),
        _ => return Err(reject(EXPECTED.to_owned())),
    };
    if from.unit != to.unit || next.unit().is_some_and(|unit| unit != from.unit) {
        return Err(reject("expected the same unit in `from`, `to` and `step`".to_owned()));
    }
    if from.number > to.number || !next.grows(from.number) {
        let what = "expected `from` to be at most `to`, and a `step` above 0 or `times` above 1";
        return Err(reject(what.to_owned()));
    }
    let last = to.number + from.number.abs().max(to.number.abs()) * ROUNDING;
    let numbers = (0..=MAX_VALUES).map(|index| next.after(from.number, index as i32));
    let numbers: Vec<f64> = numbers.take_while(|number| *number <= last).collect();
    if numbers.len() > MAX_VALUES {
        return Err(reject(format!("expected at most {MAX_VALUES} values")));
    }
    let is_whole = from.is_whole && next.is_whole();
    Ok(numbers.into_iter().map(|number| from.with(number, is_whole)).collect())
}

const KEYS: [&str; 4] = ["from", "to", "step", "times"];
const EXPECTED: &str =
    "expected a list of values, or a range with `from`, `to`, and `step` or `times`";

/// Relative error allowed for sums of decimal fractions.
const ROUNDING: f64 = 1e-9;

/// A number with its unit, which is empty for a plain number.
struct Quantity {
    number: f64,
    unit: String,
    /// True if it was typed as a whole number without a unit.
    is_whole: bool,
}

impl Quantity {
    fn of(value: &Value) -> Option<Self> {
        let (number, unit, is_whole) = match value {
            Value::Integer(number) => (*number as f64, String::new(), true),
            Value::Float(number) => (*number, String::new(), false),
            Value::String(text) => {
                let unit = text.find(|c: char| c.is_alphabetic() || c == '%')?;
                (text[..unit].trim().parse().ok()?, text[unit..].to_owned(), false)
            }
            _ => return None,
        };
        number.is_finite().then_some(Self { number, unit, is_whole })
    }

    /// Formats a value of the range in the style of this one.
    fn with(&self, number: f64, is_whole: bool) -> Value {
        if is_whole {
            return Value::Integer(number.round() as i64);
        }
        // Round to ten digits, so that 0.1 + 0.2 is 0.3.
        let number: f64 = format!("{number:.9e}").parse().unwrap_or(number);
        match self.unit.as_str() {
            "" => Value::Float(number),
            unit => Value::String(format!("{number}{unit}")),
        }
    }
}

enum Next {
    Step(Quantity),
    Times(Quantity),
}

impl Next {
    fn after(&self, from: f64, steps: i32) -> f64 {
        match self {
            Self::Step(step) => from + f64::from(steps) * step.number,
            Self::Times(times) => from * times.number.powi(steps),
        }
    }

    fn grows(&self, from: f64) -> bool {
        match self {
            Self::Step(step) => step.number > 0.0,
            Self::Times(times) => times.number > 1.0 && from > 0.0 && times.unit.is_empty(),
        }
    }

    fn unit(&self) -> Option<&str> {
        match self {
            Self::Step(step) => Some(&step.unit),
            Self::Times(_) => None,
        }
    }

    fn is_whole(&self) -> bool {
        match self {
            Self::Step(quantity) | Self::Times(quantity) => quantity.is_whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(range: &str) -> Result<String, String> {
        let values = values("a", &range.parse().unwrap());
        let values = values.map_err(|it| format!("{}: {}", it.key, it.reason))?;
        Ok(values.iter().map(Value::to_string).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_range_ends_at_or_before_its_last_value() {
        let of = |range: &str| labels(range).unwrap();
        assert_eq!(of("from = 2\nto = 9\nstep = 3"), "2 5 8");
        assert_eq!(of("from = 1\nto = 64\ntimes = 4"), "1 4 16 64");
        assert_eq!(of("from = 0.1\nto = 0.3\nstep = 0.1"), "0.1 0.2 0.3");
        assert_eq!(of("from = \"1MB\"\nto = \"4MB\"\ntimes = 2"), r#""1MB" "2MB" "4MB""#);
        assert_eq!(of("from = \"1.5us\"\nto = \"2us\"\nstep = \"0.25us\""), {
            r#""1.5us" "1.75us" "2us""#
        });
        assert_eq!(of("from = 3\nto = 3\nstep = 1"), "3");
    }

    #[test]
    fn errors_of_ranges_say_what_is_expected() {
        let error = |range: &str| labels(range).unwrap_err();
        assert!(error("from = 1\nto = 2").contains("and `step` or `times`"));
        assert!(error("from = 1\nto = 2\nby = 1").ends_with("not `by`"));
        assert!(error("to = 2\nstep = 1").starts_with("a: `from` is missing"));
        assert!(
            error("from = \"x\"\nto = 2\nstep = 1").contains("a.from: \"x\": expected a number")
        );
        assert!(error("from = \"1us\"\nto = \"2ms\"\nstep = \"1us\"").contains("the same unit"));
        assert!(error("from = 1\nto = 2\nstep = 0").contains("a `step` above 0"));
        assert!(error("from = 0\nto = 2\ntimes = 2").contains("`times` above 1"));
        assert!(error("from = 1\nto = 100000\nstep = 1").contains("at most 10000 values"));
    }
}
