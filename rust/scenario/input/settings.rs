//! Keys set on the command line: `--set topology.leaves=8`.

use toml::de::DeValue;
use toml::{Spanned, Table, Value};

use super::document::{Collector, Entries, Entry, Rejected, has_unit};
use super::error::Fault;
use super::located::Key;
use super::position::Position;

/// A key and value from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Path of the key: `topology.leaves`, or `failure[0].at`.
    pub key: String,
    /// Value as TOML. Anything that is not TOML is text, so that `16MB` needs no quotes.
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

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

/// Returns the steps of a path; `None` if it does not consist of names and indices. Studies may
/// write `job.0.bytes` for `job[0].bytes`.
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

impl Setting {
    /// Returns its position, for errors.
    pub(super) fn position(&self) -> Position {
        Position::Setting { key: self.key.clone(), value: self.value.clone() }
    }

    /// Sets the key in a table and in its entries, as the setting with that index.
    ///
    /// # Errors
    /// Fails if the key cannot be set, or for a number out of range.
    pub(super) fn apply(
        &self,
        table: &mut Table,
        entries: &mut Entries,
        index: usize,
    ) -> Result<(), Rejected> {
        let fault = |reason: &str| {
            let (key, reason) = (self.key.clone(), reason.to_owned());
            Rejected { range: None, fault: Box::new(Fault::BadValue { key, reason }) }
        };
        let steps =
            steps(&self.key).ok_or_else(|| fault("it is not a path of names and indices"))?;
        let [Step::Name(first), ..] = steps.as_slice() else { unreachable!("a name is first") };
        let path = |resolved| PathCursor { steps: &steps, resolved }.path();
        // Sections around the key count as set, unless the file already has them.
        for above in 1..steps.len() {
            entries.entry(path(above)).or_insert(Entry::Set(index));
        }
        let key = path(steps.len());
        // The new value replaces everything below the key.
        let is_below =
            |path: &str| path.strip_prefix(&*key).is_some_and(|rest| rest.starts_with(['.', '[']));
        entries.retain(|path, _| !is_below(path));
        let text = || Spanned::new(0..0, DeValue::String(self.value.as_str().into()));
        let parsed = DeValue::parse(&self.value).ok().filter(|it| !has_unit(it.get_ref()));
        let mut collector = Collector { entries, setting: Some(index) };
        let value = collector.entry(Key::ROOT.child(&key), 0..0, &parsed.unwrap_or_else(text))?;
        let cursor = PathCursor { steps: &steps, resolved: 1 };
        set(entry(table, first), cursor, value).map_err(|reason| fault(&reason))
    }
}

/// A path that is partly resolved.
#[derive(Debug, Clone, Copy)]
struct PathCursor<'s, 'i> {
    steps: &'s [Step<'i>],
    resolved: usize,
}

impl<'i> PathCursor<'_, 'i> {
    /// Returns the next step and the rest of the path.
    fn step(self) -> Option<(Step<'i>, Self)> {
        let step = self.steps.get(self.resolved)?;
        Some((*step, Self { resolved: self.resolved + 1, ..self }))
    }

    /// True if the last resolved key takes either a name or a table.
    fn is_name_or_table(&self) -> bool {
        matches!(self.steps[self.resolved - 1], Step::Name("policy" | "model"))
    }

    /// Returns the path of the resolved steps.
    fn path(&self) -> String {
        let parts = self.steps[..self.resolved].iter().map(|step| match step {
            Step::Name(name) => format!(".{name}"),
            Step::Index(index) => format!("[{index}]"),
        });
        parts.collect::<String>().trim_start_matches('.').to_owned()
    }
}

/// Sets the value at the remaining steps below `place`.
fn set(place: &mut Value, cursor: PathCursor<'_, '_>, value: Value) -> Result<(), String> {
    let Some((step, rest)) = cursor.step() else {
        *place = value;
        return Ok(());
    };
    match (step, &mut *place) {
        (Step::Name(name), Value::Table(table)) => set(entry(table, name), rest, value),
        (Step::Index(index), Value::Array(items)) => {
            let count = items.len();
            match items.get_mut(index) {
                Some(item) => set(item, rest, value),
                None => Err(format!("there is no element {index}: the scenario has {count}")),
            }
        }
        (Step::Index(index), _) => Err(format!(
            "[{index}] needs a list, but there is none; set the whole list, as in \
             failure=[{{ link = \"leaf0-spine0\" }}]"
        )),
        (Step::Name(_), Value::Integer(_) | Value::Float(_) | Value::Datetime(_)) => {
            Err(not_a_table(cursor))
        }
        (Step::Name(_), Value::String(_)) if !cursor.is_name_or_table() => Err(not_a_table(cursor)),
        // The whole value is replaced, as `policy.name` replaces `policy = "reps"`.
        (Step::Name(name), _) => {
            let mut table = Table::new();
            let result = set(entry(&mut table, name), rest, value);
            *place = Value::Table(table);
            result
        }
    }
}

/// Returns the message for a key below a value that is not a table.
fn not_a_table(cursor: PathCursor<'_, '_>) -> String {
    format!("{} is not a table: it has no keys", cursor.path())
}

/// Returns the value of a key, inserting an empty table if it is missing.
fn entry<'t>(table: &'t mut Table, name: &str) -> &'t mut Value {
    table.entry(name).or_insert_with(|| Value::Table(Table::new()))
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
