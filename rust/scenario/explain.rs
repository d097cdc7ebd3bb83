//! Which line, default or override each value of a scenario is from.

use super::resolved::Scenario;

/// A key of a resolved scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// Its path: `topology.leaves`, `failure[0].at`.
    pub key: String,
    /// Its value, as TOML writes it.
    pub value: String,
    /// The origin of its value.
    pub from: ValueOrigin,
}

/// The origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueOrigin {
    /// This line of the scenario's file.
    Line(usize),
    /// An override of the command line.
    CommandLine,
    /// The default of its key.
    Default,
}

impl std::fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::CommandLine => f.write_str("command line"),
            Self::Default => f.write_str("default"),
        }
    }
}

impl Scenario {
    /// Every key of the resolved scenario with its value and where that is from, in the order of
    /// the format.
    pub fn explain(&self) -> Vec<Explained> {
        let file = toml::Table::try_from(&self.file).expect("a scenario is a TOML table");
        let mut explained = Vec::new();
        self.explain_table(&file, "", &mut explained);
        explained
    }

    fn explain_table(&self, table: &toml::Table, above: &str, explained: &mut Vec<Explained>) {
        for (key, value) in table {
            let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
            match value {
                toml::Value::Table(inner) => self.explain_table(inner, &path, explained),
                toml::Value::Array(items) if items.iter().all(toml::Value::is_table) => {
                    for (index, item) in items.iter().enumerate() {
                        if let toml::Value::Table(inner) = item {
                            self.explain_table(inner, &format!("{path}[{index}]"), explained);
                        }
                    }
                }
                scalar => explained.push(Explained {
                    value: scalar.to_string(),
                    from: self.origin_of(&path),
                    key: path,
                }),
            }
        }
    }

    fn origin_of(&self, key: &str) -> ValueOrigin {
        let overridable = [self.file.general.seed.key(), self.file.policy.name.key()];
        if overridable.iter().any(|it| it.is_overridden() && it.path() == key) {
            return ValueOrigin::CommandLine;
        }
        let source = &self.origin.source;
        // `policy = "reps"` of a job is the name of its policy.
        let policy = || source.line_of(key.strip_suffix(".name")?).filter(|_| is_of_job(key));
        source.line_of(key).or_else(policy).map_or(ValueOrigin::Default, ValueOrigin::Line)
    }

    /// The resolved scenario as TOML, each line with a comment that says where its value is
    /// from. It parses back to the same scenario; paths in it are relative to the original file.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let mut open = String::new();
        for Explained { key, value, from } in self.explain() {
            let (section, name) = sectioned(&key);
            if section != open {
                let header = section.split('[').next().unwrap_or(section);
                let header =
                    if section == header { format!("[{header}]") } else { format!("[[{header}]]") };
                text.push_str(&format!("\n{header}\n"));
                section.clone_into(&mut open);
            }
            text.push_str(&format!("{name} = {value}  # {from}\n"));
        }
        text
    }
}

/// True for the name of a job's policy.
fn is_of_job(key: &str) -> bool {
    key.starts_with("job[") && key.ends_with("].policy.name")
}

/// The section of a path and the rest: `switch.ecn.step` is `ecn.step` in `switch`.
fn sectioned(path: &str) -> (&str, &str) {
    path.split_once('.').unwrap_or(("", path))
}
