//! Fabrics and failures of the runs of comparisons and sweeps, which have no table of links.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::{ComparisonTable, Disturbance, StudyTable};

/// Size and failures of a fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct FabricFacts {
    /// Number of hosts.
    pub hosts: u64,
    /// Number of switches.
    pub switches: u64,
    /// Number of links.
    pub links: u64,
    /// Failures, in order of time.
    pub failures: Vec<Disturbance>,
}

/// A failure in the object of a run.
#[derive(Deserialize)]
struct Failure {
    link: String,
    kind: String,
    at_ns: f64,
    until_ns: Option<f64>,
}

/// The part of a run's object that describes its fabric.
#[derive(Deserialize)]
struct RunFabric {
    hosts: u64,
    switches: u64,
    links: u64,
    #[serde(default)]
    failures: Vec<Failure>,
}

/// A line of the log of a sweep.
#[derive(Deserialize)]
struct Logged {
    result: Option<RunFabric>,
}

impl From<RunFabric> for FabricFacts {
    fn from(run: RunFabric) -> Self {
        let kind = |kind: &str| match kind {
            "degrade" => "degraded",
            "loss" => "lossy",
            _ => "down",
        };
        let failure = |it: Failure| Disturbance {
            kind: kind(&it.kind),
            link: it.link,
            at_ns: it.at_ns,
            until_ns: it.until_ns,
        };
        let RunFabric { hosts, switches, links, failures } = run;
        Self { hosts, switches, links, failures: failures.into_iter().map(failure).collect() }
    }
}

impl ComparisonTable {
    /// Returns the distinct fabrics of the runs, in their order.
    pub fn fabrics(&self) -> Vec<FabricFacts> {
        let read = |run: &Value| RunFabric::deserialize(run).ok().map(FabricFacts::from);
        distinct(self.runs.iter().filter_map(read))
    }
}

impl StudyTable {
    /// Returns the distinct fabrics of the runs of a sweep, from its log; empty without a log.
    pub fn fabrics(&self) -> Vec<FabricFacts> {
        let Some(log) = self.log().and_then(|path| File::open(path).ok()) else {
            return Vec::new();
        };
        let lines = BufReader::new(log).lines().map_while(Result::ok);
        // The last line of an interrupted sweep may be incomplete.
        let read = |line: String| serde_json::from_str::<Logged>(&line).ok()?.result;
        distinct(lines.filter_map(read).map(FabricFacts::from))
    }

    /// Returns the path of the log of finished runs.
    fn log(&self) -> Option<std::path::PathBuf> {
        let log = Path::new(self.file()).with_file_name("sweep.runs.jsonl");
        (self.is_sweep() && log.is_file()).then_some(log)
    }
}

fn distinct(all: impl Iterator<Item = FabricFacts>) -> Vec<FabricFacts> {
    let mut known: Vec<FabricFacts> = Vec::new();
    for facts in all {
        if !known.contains(&facts) {
            known.push(facts);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_has_the_distinct_fabrics_of_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("results.csv");
        std::fs::write(&table, "point,seed,cct_ns\n1,1,5\n").unwrap();
        let line = |hosts: u64, failures: &str| {
            format!("{{\"result\":{{\"hosts\":{hosts},\"switches\":4,\"links\":16{failures}}}}}\n")
        };
        let failed =
            ",\"failures\":[{\"link\":\"a-b\",\"kind\":\"loss\",\"at_ns\":5.5,\"until_ns\":null}]";
        let log = line(8, "") + &line(8, failed) + &line(8, "") + "{\"result\":null}\n{\"resu";
        std::fs::write(folder.path().join("sweep.runs.jsonl"), log).unwrap();
        let facts = StudyTable::read(&table).unwrap().fabrics();
        let lossy =
            Disturbance { link: "a-b".to_owned(), kind: "lossy", at_ns: 5.5, until_ns: None };
        let of = |failures| FabricFacts { hosts: 8, switches: 4, links: 16, failures };
        assert_eq!(facts, [of(Vec::new()), of(vec![lossy])]);
    }
}
