//! The files that an experiment writes, and their names.

use crate::hpcc::Experiment;
use crate::hpcc::config::Family;

/// A file that is written while an experiment runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedFile {
    /// Packet events at the traced nodes, `TRACE_OUTPUT_FILE`.
    Trace,
    /// Queue lengths of switches, `QLEN_MON_FILE`.
    Queues,
    /// Bytes that switches with hosts send upwards, `UPLINK_MON_FILE`.
    Uplinks,
    /// Connections of hosts, `CONN_MON_FILE`.
    Connections,
    /// Congestion notifications of each host, `CNP_OUTPUT_FILE`.
    Notifications,
}

/// A table that is written when an experiment has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultTable {
    /// Completed flows and their times, `fct.txt`.
    Completions,
    /// Pauses and resumes of priority flow control, `pfc.txt`.
    Pauses,
}

/// Names that the results folder reserves.
const RESULTS: [&str; 6] =
    ["cost.json", "fct.txt", "pfc.txt", "flows.csv", "links.csv", "summary.json"];

/// Default name of each [`RecordedFile`], in order.
const DEFAULT_NAMES: [&str; 5] = ["mix.tr", "qlen.txt", "uplink.txt", "conn.txt", "cnp.txt"];

impl Experiment {
    /// Returns the files to write during the run, with their names in the configuration. These are
    /// the trace if `ENABLE_TRACE` and `TRACE_FILE` request it, queue lengths if an HPCC
    /// configuration sets a time span, and those ConWeave monitors that are named.
    pub fn recorded(&self) -> Vec<(RecordedFile, String)> {
        let (config, names) = (&self.config, &self.config.outputs);
        let is_of = |family| config.family() == family;
        let has_span = config.queues_from.zip(config.queues_until).is_some_and(|(a, b)| a < b);
        let monitors = |name: &Option<String>| is_of(Family::ConWeave) && name.is_some();
        let candidates = [
            (self.traced.is_some(), RecordedFile::Trace, &names.trace),
            (is_of(Family::Hpcc) && has_span, RecordedFile::Queues, &names.queues),
            (monitors(&names.uplinks), RecordedFile::Uplinks, &names.uplinks),
            (monitors(&names.connections), RecordedFile::Connections, &names.connections),
            (monitors(&names.notifications), RecordedFile::Notifications, &names.notifications),
        ];
        let mut files: Vec<(RecordedFile, String)> = Vec::new();
        let candidates = candidates.into_iter().zip(DEFAULT_NAMES);
        for ((_, file, name), default) in candidates.filter(|((asked, ..), _)| *asked) {
            // The configured name unless it is taken; else the default; else a numbered one.
            let is_free = |name: &String| {
                !RESULTS.contains(&name.as_str()) && !files.iter().any(|(_, used)| used == name)
            };
            let numbered = (2..).map(|n: u32| format!("{n}-{default}"));
            let names = name.iter().cloned().chain([default.to_owned()]).chain(numbered);
            let name = names.into_iter().find(is_free).expect("a number is free");
            files.push((file, name));
        }
        files
    }

    /// Returns a warning for each file that is renamed because its configured name is taken.
    pub(in crate::hpcc) fn renamed(&self) -> Vec<String> {
        let names = &self.config.outputs;
        let recorded = self.recorded();
        let tables = self.tables();
        let is_table = |table, name: &String| tables.contains(&(table, name.clone()));
        let recorded_as = |file| recorded.iter().find(|(it, _)| *it == file).map(|(_, name)| name);
        let of_table = [
            ("FCT_OUTPUT_FILE", &names.fct, ResultTable::Completions, "fct.txt"),
            ("PFC_OUTPUT_FILE", &names.pfc, ResultTable::Pauses, "pfc.txt"),
        ];
        let of_table = of_table.into_iter().filter_map(|(key, name, table, own)| {
            let name = name.as_ref().filter(|name| !is_table(table, name))?;
            Some((key, name, own.to_owned()))
        });
        let of_recorder = [
            ("TRACE_OUTPUT_FILE", &names.trace, RecordedFile::Trace),
            ("QLEN_MON_FILE", &names.queues, RecordedFile::Queues),
            ("UPLINK_MON_FILE", &names.uplinks, RecordedFile::Uplinks),
            ("CONN_MON_FILE", &names.connections, RecordedFile::Connections),
            ("CNP_OUTPUT_FILE", &names.notifications, RecordedFile::Notifications),
        ];
        let of_recorder = of_recorder.into_iter().filter_map(|(key, name, file)| {
            let own = recorded_as(file).filter(|own| Some(*own) != name.as_ref())?;
            Some((key, name.as_ref()?, own.clone()))
        });
        let warning = |(key, name, own): (&str, &String, String)| {
            format!("{key} {name}: another result has that name; it is written to {own}")
        };
        of_table.chain(of_recorder).map(warning).collect()
    }

    /// Returns every name that a file of this experiment may have, including files that this
    /// configuration does not enable. A file of such a name in a results folder is an earlier
    /// result.
    pub fn file_names(&self) -> Vec<String> {
        let names = &self.config.outputs;
        let configured = [
            &names.fct,
            &names.pfc,
            &names.queues,
            &names.trace,
            &names.uplinks,
            &names.connections,
            &names.notifications,
        ];
        let configured = configured.into_iter().flatten();
        let configured = configured.filter(|name| !RESULTS.contains(&name.as_str()));
        let recorded = self.recorded().into_iter().map(|(_, name)| name);
        let default = DEFAULT_NAMES.map(str::to_owned);
        recorded.chain(configured.cloned()).chain(default).collect()
    }

    /// Returns the tables to write at the end: `fct.txt` and `pfc.txt`, and a copy of each under
    /// its configured name unless that is taken.
    pub fn tables(&self) -> Vec<(ResultTable, String)> {
        let mut files = vec![
            (ResultTable::Completions, "fct.txt".to_owned()),
            (ResultTable::Pauses, "pfc.txt".to_owned()),
        ];
        let recorded = self.recorded();
        let configured = [
            (ResultTable::Completions, &self.config.outputs.fct),
            (ResultTable::Pauses, &self.config.outputs.pfc),
        ];
        for (table, name) in configured {
            let Some(name) = name else { continue };
            let is_recorded = recorded.iter().any(|(_, other)| other == name);
            let is_used = RESULTS.contains(&name.as_str()) || is_recorded;
            if !is_used && !files.iter().any(|(_, other)| other == name) {
                files.push((table, name.clone()));
            }
        }
        files
    }
}
