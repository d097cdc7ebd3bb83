//! Origin of each value of a scenario: a line of the file, a default or an override.

use std::path::{Component, Path, PathBuf};

use super::file::transport::DeliveryName;
use super::resolve::derived;
use super::resolved::Scenario;
use crate::nic::recovery::RecoveryName;
use crate::units::Span;

/// A key of a resolved scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// Path of the key: `topology.leaves`, `failure[0].at`.
    pub key: String,
    /// Value as TOML writes it.
    pub value: String,
    /// Origin of the value.
    pub from: ValueOrigin,
    /// Value that `auto` resolved to. `value` stays `auto`, so that another policy gets its own.
    pub here: Option<String>,
}

/// Origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueOrigin {
    /// This line of the scenario file.
    Line(usize),
    /// An override on the command line.
    CommandLine,
    /// The key's own default.
    Default,
    /// The default set by the policy's transport or loss recovery.
    Policy,
}

impl std::fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::CommandLine => f.write_str("command line"),
            Self::Default => f.write_str("default"),
            Self::Policy => f.write_str("default of the policy"),
        }
    }
}

impl Scenario {
    /// Returns every key of the resolved scenario with its value and origin, in the order of the
    /// format.
    pub fn explain(&self) -> Vec<Explained> {
        let explained = |(key, value): (String, toml::Value)| {
            let value = value.to_string();
            let (from, here) = (self.origin_of(&key, &value), self.resolved_auto(&key));
            Explained { key, value, from, here }
        };
        flat(&self.as_table()).into_iter().map(explained).collect()
    }

    fn origin_of(&self, key: &str, value: &str) -> ValueOrigin {
        let overridable = [self.file.general.seed.key(), self.file.policy.name.key()];
        if overridable.iter().any(|it| it.is_overridden() && it.path() == key) {
            return ValueOrigin::CommandLine;
        }
        let source = &self.origin.source;
        if source.is_set(key) {
            return ValueOrigin::CommandLine;
        }
        // `policy = "reps"` in a job sets `policy.name`.
        let policy = || source.line_of(key.strip_suffix(".name")?).filter(|_| is_of_job(key));
        match source.line_of(key).or_else(policy) {
            Some(line) => ValueOrigin::Line(line),
            None if self.is_of_policy(key, value) => ValueOrigin::Policy,
            None => ValueOrigin::Default,
        }
    }

    /// True if the value is the default that the policy sets for `key`. Acknowledgement defaults
    /// that come with the policy's loss recovery count too, because another policy's recovery may
    /// not support them.
    fn is_of_policy(&self, key: &str, value: &str) -> bool {
        let own = self.scheme.transport.own_defaults();
        let is_own = |(name, own): &(&str, Option<String>)| {
            *name == key && own.as_ref().is_none_or(|own| own == value)
        };
        let of_recovery = [
            ("transport.ack_range", "\"last-64\""),
            ("transport.ack_span", "\"unlimited\""),
            ("transport.ack_resent", "\"at-once\""),
        ];
        let follows = *self.file.transport.recovery == RecoveryName::default();
        own.iter().any(is_own) || follows && of_recovery.contains(&(key, value))
    }

    /// Returns the resolved scenario as a table, in the order of the format. Keys that have no
    /// effect and are not set are omitted. Paths are relative to the original file.
    pub fn as_table(&self) -> toml::Table {
        let mut table = toml::Table::try_from(&self.file).expect("a scenario is a TOML table");
        self.omitted.iter().for_each(|path| remove_key(&mut table, path));
        table
    }

    /// Renders the resolved scenario as TOML, with a comment on each line that names the value's
    /// origin. It parses back to the same scenario. Paths are relative to the original file.
    pub fn render(&self) -> String {
        self.render_with(&|path| path.to_owned())
    }

    /// Renders like [`Self::render`], with paths relative to `folder`, for a file stored there. A
    /// path becomes absolute if no relative one exists.
    pub fn render_in(&self, folder: &Path) -> String {
        let own = absolute(self.origin.folder());
        self.render_with(&|path| relative_path(&own.join(path), folder).display().to_string())
    }

    fn render_with(&self, path_of: &dyn Fn(&str) -> String) -> String {
        let mut text = String::new();
        let mut open = String::new();
        for Explained { key, value, from, here } in self.explain() {
            let (section, name) = sectioned(&key);
            let value = match path_in(&key, &value) {
                Some(path) => toml::Value::String(path_of(&path)).to_string(),
                None => value,
            };
            if section != open {
                let header = section.split('[').next().unwrap_or(section);
                let header =
                    if section == header { format!("[{header}]") } else { format!("[[{header}]]") };
                text.push_str(&format!("\n{header}\n"));
                section.clone_into(&mut open);
            }
            let note = here.map_or_else(String::new, |it| format!("; here {it}"));
            // Commented out, because another policy has other defaults for these keys.
            let mark = if from == ValueOrigin::Policy { "# " } else { "" };
            text.push_str(&format!("{mark}{name} = {value}  # {from}{note}\n"));
        }
        text
    }

    /// Returns what a key's `auto` resolved to.
    fn resolved_auto(&self, key: &str) -> Option<String> {
        let transport = &self.file.transport;
        let nic = &self.nic;
        match key {
            "transport.recovery" if *transport.recovery == RecoveryName::default() => {
                let own = self.job_policies.iter().map(|own| {
                    let job = &self.workload.jobs[own.job].name;
                    format!(", {} for {job}", own.recovery.name())
                });
                Some(nic.recovery.name().to_owned() + &own.collect::<String>())
            }
            "transport.delivery" if *transport.delivery == DeliveryName::Auto => {
                let delivery = nic.queue_pairs.delivery.unwrap_or(nic.recovery.delivery());
                Some(delivery.to_string())
            }
            "transport.retransmit_timeout"
                if !self.origin.source.has(transport.retransmit_timeout.key()) =>
            {
                let path = self.longest_path();
                let waiting = derived::waiting(&self.topology, &self.fabric, path)
                    + derived::coalesced(nic, &self.workload);
                let round_trip = Span::from_ns(path.round_trip.as_ps().div_ceil(1_000));
                let rate = path.slowest;
                Some(format!("two base round trips of {round_trip} and {waiting} at {rate}"))
            }
            _ => None,
        }
    }
}

/// Returns the keys of a table with their paths, such as `failure[0].at`, and values.
pub fn flat(table: &toml::Table) -> Vec<(String, toml::Value)> {
    let mut keys = Vec::new();
    add_keys(table, "", &mut keys);
    keys
}

fn add_keys(table: &toml::Table, above: &str, keys: &mut Vec<(String, toml::Value)>) {
    for (key, value) in table {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            toml::Value::Table(inner) => add_keys(inner, &path, keys),
            toml::Value::Array(items) if items.iter().all(toml::Value::is_table) => {
                for (index, item) in items.iter().enumerate() {
                    if let toml::Value::Table(inner) = item {
                        add_keys(inner, &format!("{path}[{index}]"), keys);
                    }
                }
            }
            scalar => keys.push((path, scalar.clone())),
        }
    }
}

/// Removes the key at a path such as `failure[0].at`.
fn remove_key(table: &mut toml::Table, path: &str) {
    let Some((first, rest)) = path.split_once('.') else {
        table.remove(path);
        return;
    };
    let (name, index) = match first.strip_suffix(']').and_then(|it| it.split_once('[')) {
        Some((name, index)) => (name, index.parse::<usize>().ok()),
        None => (first, None),
    };
    let inner = match (table.get_mut(name), index) {
        (Some(toml::Value::Array(items)), Some(index)) => items.get_mut(index),
        (inner, _) => inner,
    };
    if let Some(toml::Value::Table(inner)) = inner {
        remove_key(inner, rest);
    }
}

/// Returns the path in `value` if `key` names a file.
fn path_in(key: &str, value: &str) -> Option<String> {
    let is_file = key.ends_with(".file") || key == "topology.path";
    let text = is_file.then(|| value.parse::<toml::Value>().ok())??;
    text.as_str().map(str::to_owned)
}

/// Returns the path from `folder` to `file`, or an absolute path if there is no relative one. Both
/// are absolute or relative to the working directory.
pub fn relative_path(file: &Path, folder: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default();
    let whole = absolute(file.parent().unwrap_or(Path::new(""))).join(name);
    relative(&whole, &absolute(folder)).unwrap_or(whole)
}

fn absolute(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let absolute = folder.canonicalize().or_else(|_| std::path::absolute(folder));
    absolute.unwrap_or_else(|_| folder.to_owned())
}

/// Returns the path from one absolute path to another. Components are compared as written, after
/// `..` is resolved lexically.
fn relative(file: &Path, folder: &Path) -> Option<PathBuf> {
    let [file, folder] = [file, folder].map(lexically_normal);
    let (mut to, mut from) = (file.components().peekable(), folder.components().peekable());
    // On Windows, a path to another drive has no relative form.
    if to.peek() != from.peek() {
        return None;
    }
    while to.peek().is_some() && to.peek() == from.peek() {
        to.next();
        from.next();
    }
    let up = from.map(|_| Component::ParentDir);
    Some(up.chain(to).collect())
}

/// Removes `.` and `..` from a path.
fn lexically_normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

/// True if `key` is the policy name of a job.
fn is_of_job(key: &str) -> bool {
    key.starts_with("job[") && key.ends_with("].policy.name")
}

/// Splits a path into its section and the rest: `switch.ecn.step` into `switch` and `ecn.step`.
fn sectioned(path: &str) -> (&str, &str) {
    path.split_once('.').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_lead_from_one_folder_to_a_file_in_another() {
        let way = |file: &str, folder: &str| {
            relative(Path::new(file), Path::new(folder)).unwrap().display().to_string()
        };
        assert_eq!(way("/a/b/c.et", "/a/b"), "c.et");
        assert_eq!(way("/a/b/c.et", "/a/out/run"), "../../b/c.et");
        assert_eq!(way("/a/b/../traces/./c", "/a/b/x/.."), "../traces/c");
        assert_eq!(way("/c", "/"), "c");
    }
}
