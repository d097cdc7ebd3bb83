//! The files of a session's results.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use super::{FinishedSession, Session, Subject};
use crate::hpcc::ResultTable;
use crate::report::{self, Folder, FolderError, Summary, Writer};
use crate::scenario::Scenario;

impl FinishedSession {
    /// Writes the results folder. `flows` writes `flows.csv` if messages are read or generated
    /// during the run, since the outcome then lacks flows. `others` are files kept during the run.
    ///
    /// # Errors
    /// Fails if the folder cannot be written.
    pub fn write_results(
        &self,
        folder: &Folder,
        flows: Option<Writer<'_>>,
        others: &[(&str, Writer<'_>)],
    ) -> Result<(), FolderError> {
        self.with_files((folder.path(), flows, others), |files, summary| {
            report::write_run_results(folder, files, summary)
        })
    }

    /// Returns the texts of the results folder by their names, for a program without a file system.
    /// Paths in the scenario are relative to `folder`; the other arguments are those of
    /// [`Self::write_results`].
    ///
    /// # Errors
    /// Fails if a writer does.
    pub fn results_in_memory(
        &self,
        folder: &Path,
        flows: Option<Writer<'_>>,
        others: &[(&str, Writer<'_>)],
    ) -> io::Result<BTreeMap<String, String>> {
        self.with_files((folder, flows, others), |files, summary| {
            let mark: Writer<'_> = &|to| report::write_summary(to, summary);
            let text = |(name, write): &(&str, Writer<'_>)| {
                let mut bytes = Vec::new();
                write(&mut bytes)?;
                let text = String::from_utf8(bytes).map_err(io::Error::other)?;
                Ok(((*name).to_owned(), text))
            };
            files.iter().chain(&[(report::SUMMARY, mark)]).map(text).collect()
        })
    }

    /// Passes the files of a results folder to `keep`, and the summary that completes them.
    fn with_files<R>(
        &self,
        (folder, flows, others): (&Path, Option<Writer<'_>>, &[(&str, Writer<'_>)]),
        keep: impl FnOnce(&[(&str, Writer<'_>)], &Summary) -> R,
    ) -> R {
        let Self { session: Session { subject, identity, setup, .. }, outcome, .. } = self;
        let of_outcome: Writer<'_> = &|to| report::write_flows_csv(to, setup, outcome);
        let links: Writer<'_> = &|to| report::write_links_csv(to, &setup.topology, outcome);
        let scenario = subject.scenario();
        let resolved = scenario.map(|it| report::resolved(identity, it, folder));
        let copy = scenario.and_then(|it| it.topology_text());
        let copy = copy.map(|(text, format)| (report::TOPOLOGIES[format as usize], text));
        let texts: Vec<(&str, &str)> =
            resolved.iter().map(|text| (report::SCENARIO, text.as_str())).chain(copy).collect();
        let texts: Vec<_> = texts
            .into_iter()
            .map(|(name, text)| (name, move |to: &mut dyn Write| to.write_all(text.as_bytes())))
            .collect();
        let number = report::hosts_then_switches(&setup.topology);
        let pauses = |to: &mut dyn Write| match subject {
            Subject::Scenario(_) => report::write_pfc_txt(to, &setup.topology, outcome, &number),
            Subject::Experiment(experiment) => {
                let number = |node| experiment.node_number(node);
                report::write_pfc_txt(to, &setup.topology, outcome, &number)
            }
        };
        let completions = |to: &mut dyn Write| match subject {
            Subject::Scenario(_) => Ok(()),
            Subject::Experiment(it) => to.write_all(it.fct_table(outcome).as_bytes()),
        };
        let tables = self.tables();
        let mut files = vec![("flows.csv", flows.unwrap_or(of_outcome)), ("links.csv", links)];
        files.extend(texts.iter().map(|(name, text)| (*name, text as Writer<'_>)));
        files.extend(tables.iter().map(|(table, name)| {
            let write: Writer<'_> = match table {
                ResultTable::Completions => &completions,
                ResultTable::Pauses => &pauses,
            };
            (name.as_str(), write)
        }));
        let ranks: Writer<'_> = &|to| report::write_ranks_csv(to, setup, outcome);
        files.extend(self.finished.summary.has_breakdown().then_some(("ranks.csv", ranks)));
        files.extend_from_slice(others);
        let resolved = scenario.map(Scenario::as_table);
        keep(&files, &Summary { resolved, ..self.finished.summary.clone() })
    }

    /// Returns the tables in the format of the HPCC family, with their file names. A scenario has
    /// that of pauses under PFC.
    fn tables(&self) -> Vec<(ResultTable, String)> {
        match &self.session.subject {
            Subject::Experiment(experiment) => experiment.tables(),
            Subject::Scenario(_) if self.session.setup.fabric.switch.pfc.is_some() => {
                vec![(ResultTable::Pauses, "pfc.txt".to_owned())]
            }
            Subject::Scenario(_) => Vec::new(),
        }
    }
}
