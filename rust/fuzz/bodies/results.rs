//! Readers of the files that runs and studies write: any file yields a value or an error, never a
//! panic.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use evenkeel::results::{FabricGraph, Quantity, Results, ResultsError, StudyTable, Table};

/// Folder of this process in which each input is written and read.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("evenkeel-fuzz-results-{}", std::process::id());
    std::env::temp_dir().join(name)
});

/// Separator between two files of an input.
const BETWEEN: &str = "\n====\n";

/// File names of a folder, selected by the first byte of an input.
const FOLDERS: [&[&str]; 3] =
    [&["summary.json", "flows.csv", "links.csv"], &["comparison.csv"], &["results.csv"]];

/// Reads results. The input is a byte that selects the kind, then the files.
pub fn results(data: &[u8]) {
    let Some((&which, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    if let Ok(table) = Table::parse("table.csv", text) {
        read_cells(&table);
    }
    let names = FOLDERS[usize::from(which) % FOLDERS.len()];
    let _ = fs::remove_dir_all(&*FOLDER);
    fs::create_dir_all(&*FOLDER).expect("the temporary folder can be written");
    for (name, content) in names.iter().zip(text.split(BETWEEN)) {
        fs::write(FOLDER.join(name), content).expect("the temporary folder can be written");
    }
    let read = Results::open(&FOLDER).and_then(|results| read(&results));
    fs::remove_dir_all(&*FOLDER).expect("it was just written");
    if let Err(error) = read {
        let message = error.to_string();
        assert!(message.len() > 10, "an error with only '{message}'");
    }
}

/// Reads each cell of a table as text and as a number.
fn read_cells(table: &Table) {
    for name in table.columns() {
        let column = table.column(name).expect("it is in the list");
        for row in 0..table.len() {
            let number = table.number(row, column);
            assert!(number.is_err() || !table.text(row, column).is_empty());
            Quantity::parse(table.text(row, column));
        }
    }
}

/// Reads everything that a figure or a page requests.
fn read(results: &Results) -> Result<(), ResultsError> {
    match results {
        Results::Run(run) => {
            let names = [run.scenario(), run.policy()];
            assert!(names.iter().all(|name| name.len() < 5_000));
            run.metric("fct_ns.p99");
            run.messages()?;
            let graph = FabricGraph::of(&run.links()?);
            (0..=graph.top()).for_each(|tier| drop(graph.tier(tier)));
        }
        Results::Comparison(table) => assert!(!table.file().is_empty()),
        Results::Studies(tables) => tables.iter().try_for_each(read_rows)?,
    }
    Ok(())
}

fn read_rows(table: &StudyTable) -> Result<(), ResultsError> {
    for row in &table.rows {
        for metric in table.metrics() {
            table.metric(row, metric)?;
        }
        row.words();
    }
    Ok(())
}
