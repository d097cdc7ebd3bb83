//! The text of a scenario as a table that relations edit.

use std::path::Path;

use evenkeel::scenario::{Overrides, Scenario};
use toml::{Table, Value};

/// A scenario that can be edited by keys such as `topology.spines`.
#[derive(Clone)]
pub(super) struct Draft(pub(super) Table);

impl Draft {
    /// Reads a scenario.
    ///
    /// # Panics
    /// If the text is not TOML.
    pub(super) fn new(text: &str) -> Self {
        Self(text.parse().unwrap_or_else(|error| panic!("{error}\n{text}")))
    }

    fn section(&mut self, name: &str) -> &mut Table {
        let section = self.0.entry(name).or_insert_with(|| Value::Table(Table::new()));
        section.as_table_mut().expect("the section is a table")
    }

    /// Sets a key of a section, or a top-level key such as `seed`.
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        match key.split_once('.') {
            Some((section, key)) => self.section(section).insert(key.to_owned(), value.into()),
            None => self.0.insert(key.to_owned(), value.into()),
        };
        self
    }

    /// Replaces a section with the keys of `text`.
    pub(super) fn replace(&mut self, section: &str, text: &str) -> &mut Self {
        let keys: Table = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        self.0.insert(section.to_owned(), Value::Table(keys));
        self
    }

    /// Removes a key or a section if it exists.
    pub(super) fn remove(&mut self, key: &str) -> &mut Self {
        match key.split_once('.') {
            Some((section, key)) => drop(self.section(section).remove(key)),
            None => drop(self.0.remove(key)),
        }
        self
    }

    /// Returns the value of a key, such as `topology.kind`.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        match key.split_once('.') {
            Some((section, key)) => self.0.get(section)?.as_table()?.get(key),
            None => self.0.get(key),
        }
    }

    /// Returns the text of a key; empty if it is missing.
    pub(super) fn name(&self, key: &str) -> &str {
        self.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the number of a key, or `default`.
    pub(super) fn count(&self, key: &str, default: i64) -> i64 {
        self.get(key).and_then(Value::as_integer).unwrap_or(default)
    }

    /// Adds a table to a list of tables, such as `[[failure]]`.
    pub(super) fn push(&mut self, list: &str, text: &str) -> &mut Self {
        let item: Table = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let items = self.0.entry(list).or_insert_with(|| Value::Array(Vec::new()));
        items.as_array_mut().expect("the section is a list").push(Value::Table(item));
        self
    }

    /// Returns the scenario's text.
    pub(super) fn text(&self) -> String {
        toml::to_string(&self.0).expect("a scenario is a TOML table")
    }

    /// Returns the scenario, with its files in `folder`; `None` if it is invalid, as some random
    /// ones are.
    pub(super) fn scenario_in(&self, folder: &Path) -> Option<Scenario> {
        Scenario::parse(&self.text(), "drawn", folder, &Overrides::default()).ok()
    }

    /// Returns the scenario; `None` if it is invalid.
    pub(super) fn scenario(&self) -> Option<Scenario> {
        self.scenario_in(Path::new(""))
    }

    /// Makes the fabric a leaf-spine of one plane, and removes keys that only other fabrics have.
    pub(super) fn leaf_spine(&mut self) -> &mut Self {
        let kept = ["host_rate", "fabric_rate", "delay", "gap", "forwarding_delay", "llr"];
        let shape = ["leaves", "spines", "hosts_per_leaf", "parallel_links"];
        let is_leaf_spine = self.name("topology.kind") == "leaf-spine";
        let keys: Table = (self.section("topology").iter())
            .filter(|(key, _)| kept.contains(&key.as_str()) || shape.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        self.0.insert("topology".to_owned(), Value::Table(keys));
        self.set("topology.kind", "leaf-spine");
        if !is_leaf_spine {
            self.set("topology.leaves", 2).set("topology.spines", 2);
            self.set("topology.hosts_per_leaf", 2);
            self.remove("failure");
        }
        if ["valiant", "ugal"].contains(&self.name("policy.name")) {
            self.replace("policy", "name = 'ecmp'");
        }
        self
    }

    /// Keeps one workload instead of jobs and traffic classes.
    pub(super) fn one_workload(&mut self) -> &mut Self {
        if let Some(Value::Array(jobs)) = self.0.remove("job") {
            let mut first = jobs.first().and_then(Value::as_table).cloned().unwrap_or_default();
            for key in ["name", "class", "after", "policy", "start"] {
                first.remove(key);
            }
            self.0.insert("workload".to_owned(), Value::Table(first));
        }
        self.remove("class")
    }

    /// Makes timers longer than queues. Timers below a round trip cause retransmission storms, in
    /// which a picosecond matters.
    pub(super) fn calm(&mut self) -> &mut Self {
        self.set("transport.retransmit_timeout", "500us").set("transport.nack_interval", "500us")
    }

    /// Shortens the messages so that a run takes milliseconds.
    pub(super) fn short(&mut self, most: u64) -> &mut Self {
        let sections = ["workload", "job"].into_iter();
        let mut found: Vec<Table> = Vec::new();
        for name in sections {
            match self.0.get(name) {
                Some(Value::Table(table)) => found.push(table.clone()),
                Some(Value::Array(jobs)) => {
                    found.extend(jobs.iter().filter_map(Value::as_table).cloned());
                }
                _ => {}
            }
        }
        for table in &mut found {
            let bytes = table.get("bytes").and_then(Value::as_str).unwrap_or("16MB");
            let bytes: u64 = bytes.trim_end_matches('B').parse().unwrap_or(most);
            table.insert("bytes".to_owned(), Value::String(format!("{}B", bytes.min(most))));
        }
        match self.0.contains_key("job") {
            true => {
                let jobs = found.into_iter().map(Value::Table).collect();
                self.0.insert("job".to_owned(), Value::Array(jobs));
            }
            false => {
                let workload = found.pop().unwrap_or_default();
                self.0.insert("workload".to_owned(), Value::Table(workload));
            }
        }
        self
    }
}
