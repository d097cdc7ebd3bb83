//! Keys that the command line sets: `--set topology.leaves=8`.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key that the command line sets, with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its path: `topology.leaves`, or `failure[0].at`.
    pub key: String,
    /// Its value as TOML writes it; what is no TOML is a text, so that `16MB` needs no quotes.
    pub value: String,
}

impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        let (key, value) = (key.trim(), value.trim());
        let has_names = steps(key).is_some();
        match has_names && !value.is_empty() {
            true => Ok(Self { key: key.to_owned(), value: value.to_owned() }),
            false => Err("expected KEY=VALUE, such as topology.leaves=8 or failure[0].at=10us; \
                          `evenkeel explain` lists the keys"
                .to_owned()),
        }
    }
}

/// A step on the way to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

/// The steps to a key; `None` if it is not a path of names and indices. Studies write `job.0.bytes`
/// for `job[0].bytes`.
fn steps(key: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    for part in key.split('.') {
        let (name, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        let step = name.parse().map_or(Step::Name(name), Step::Index);
        if name.is_empty() || name.contains([']', ' ']) {
            return None;
        }
        steps.push(step);
        let mut rest = indices;
        while !rest.is_empty() {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Index(index.parse().ok()?));
            rest = after;
        }
    }
    matches!(steps.first(), Some(Step::Name(_))).then_some(steps)
}

/// Sets a key of a document to the value whose text is `value` and stands at `range`; the key's
/// name is there too.
///
/// # Errors
/// Fails with what is wrong with the key.
pub(super) fn apply<'i>(
    table: &mut DeTable<'i>,
    key: &'i str,
    value: &'i str,
    range: &Range<usize>,
) -> Result<(), String> {
    let value = match DeValue::parse(value) {
        Ok(parsed) if !has_unit(parsed.get_ref()) => at(parsed.into_inner(), range),
        _ => DeValue::String(Cow::Borrowed(value)),
    };
    let steps = steps(key).ok_or("it is no path of names and indices")?;
    let [Step::Name(first), ..] = steps.as_slice() else { unreachable!("a name is first") };
    let way = Way { steps: &steps, done: 1 };
    set(entry(table, first, range), way, Spanned::new(range.clone(), value), range)
}

/// Whether a number has letters after its digits, such as `1_000ns`: then it is a text. The parser
/// finds that out only when the number is read.
pub(super) fn has_unit(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Integer(number) => {
            let digits = number.as_str().trim_start_matches(['+', '-']);
            digits.chars().any(|digit| !digit.is_digit(number.radix()))
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().is_err(),
        _ => false,
    }
}

/// The steps to a key, of which some are done.
#[derive(Debug, Clone, Copy)]
struct Way<'s, 'i> {
    steps: &'s [Step<'i>],
    done: usize,
}

impl<'i> Way<'_, 'i> {
    /// The next step, and the way after it.
    fn next(self) -> Option<(Step<'i>, Self)> {
        let step = self.steps.get(self.done)?;
        Some((*step, Self { done: self.done + 1, ..self }))
    }

    /// Whether the key of the last step that is done may hold a name in place of a table.
    fn is_name_or_table(&self) -> bool {
        matches!(self.steps[self.done - 1], Step::Name("policy" | "model"))
    }

    /// The path of the steps that are done.
    fn path(&self) -> String {
        let parts = self.steps[..self.done].iter().map(|step| match step {
            Step::Name(name) => format!(".{name}"),
            Step::Index(index) => format!("[{index}]"),
        });
        parts.collect::<String>().trim_start_matches('.').to_owned()
    }
}

/// Sets what is below `place` by the steps that are left.
fn set<'i>(
    place: &mut Spanned<DeValue<'i>>,
    way: Way<'_, 'i>,
    value: Spanned<DeValue<'i>>,
    range: &Range<usize>,
) -> Result<(), String> {
    let Some((step, rest)) = way.next() else {
        *place = value;
        return Ok(());
    };
    match (step, place.get_mut()) {
        (Step::Name(name), DeValue::Table(table)) => {
            set(entry(table, name, range), rest, value, range)
        }
        (Step::Index(index), DeValue::Array(items)) => {
            let count = items.len();
            match items.get_mut(index) {
                Some(item) => set(item, rest, value, range),
                None => Err(format!("there is no element {index}: the scenario has {count}")),
            }
        }
        (Step::Index(index), _) => Err(format!(
            "[{index}] needs a list, which is not there; set the whole list, as in \
             failure=[{{ link = \"leaf0-spine0\" }}]"
        )),
        (Step::Name(_), DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_)) => {
            Err(no_table(way))
        }
        (Step::Name(_), DeValue::String(_)) if !way.is_name_or_table() => Err(no_table(way)),
        // The whole value is replaced, as `policy = "reps"` by `policy.name`.
        (Step::Name(name), _) => {
            let mut table = DeTable::new();
            let result = set(entry(&mut table, name, range), rest, value, range);
            *place = Spanned::new(range.clone(), DeValue::Table(table));
            result
        }
    }
}

/// What is wrong with a key below a value that has none.
fn no_table(way: Way<'_, '_>) -> String {
    format!("{} is no table: it has no keys", way.path())
}

/// The value of a key of a table, which gets an empty table if it has none.
fn entry<'t, 'i>(
    table: &'t mut DeTable<'i>,
    name: &'i str,
    range: &Range<usize>,
) -> &'t mut Spanned<DeValue<'i>> {
    if !table.contains_key(name) {
        let empty = Spanned::new(range.clone(), DeValue::Table(DeTable::new()));
        table.insert(Spanned::new(range.clone(), Cow::Borrowed(name)), empty);
    }
    table.get_mut(name).expect("it was inserted")
}

/// A value all of whose parts stand at `range`.
fn at<'i>(value: DeValue<'i>, range: &Range<usize>) -> DeValue<'i> {
    let moved =
        |value: Spanned<DeValue<'i>>| Spanned::new(range.clone(), at(value.into_inner(), range));
    match value {
        DeValue::Array(items) => DeValue::Array(items.into_iter().map(moved).collect()),
        DeValue::Table(table) => {
            let key = |key: Spanned<Cow<'i, str>>| Spanned::new(range.clone(), key.into_inner());
            let moved = table.into_iter().map(|(name, value)| (key(name), moved(value)));
            DeValue::Table(moved.collect())
        }
        scalar => scalar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_names_and_indices() {
        use Step::{Index, Name};
        assert_eq!(steps("topology.leaves"), Some(vec![Name("topology"), Name("leaves")]));
        let of_failure = Some(vec![Name("failure"), Index(2), Name("at")]);
        assert_eq!(steps("failure[2].at"), of_failure);
        assert_eq!(steps("failure.2.at"), of_failure);
        for wrong in ["", ".", "a.", "[1]", "a[", "a[x]", "a]", "1.a"] {
            assert_eq!(steps(wrong), None, "{wrong}");
        }
        let setting: Setting = "workload.bytes = 16MB".parse().unwrap();
        assert_eq!((setting.key.as_str(), setting.value.as_str()), ("workload.bytes", "16MB"));
        for wrong in ["seed", "seed=", "=3", "a..b=1"] {
            let error = wrong.parse::<Setting>().unwrap_err();
            assert!(error.contains("expected KEY=VALUE"), "{wrong}: {error}");
        }
    }
}
