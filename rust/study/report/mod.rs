//! The outputs of a run, one format per file.
//!
//! This module converts an [`Outcome`](crate::fabric::Outcome) into bytes. It does not know how the
//! run was made or which command asked for it. A run never draws; figures are drawn from the files
//! written here. For the same scenario, seed and version, outputs are byte-identical except for the
//! cost of a run: wall time and memory.

mod breakdown;
mod cells;
mod check_line;
mod checked;
mod classes;
mod compare_table;
mod comparison_files;
mod comparison_folder;
mod comparison_table;
mod cost;
mod exported;
mod failures;
mod flow_positions;
mod flows_csv;
mod folder;
mod folder_error;
mod hardware;
pub mod human;
mod identity;
mod inputs;
mod jobs;
mod junit;
mod links_csv;
mod markdown;
mod new_file;
mod nic_state;
mod open;
mod output_file;
mod output_schema;
mod own_files;
mod pfc_txt;
mod rails;
mod rails_table;
mod rank_times;
mod rates;
mod remarks;
mod reproduction_alternatives;
mod reproduction_index;
mod reproduction_page;
mod reproduction_table;
mod resolved;
mod run_results;
mod run_table;
mod scale_up;
mod study_folder;
mod summary;
mod table;
mod temporary;
pub mod trace_files;
mod transport;
mod twin;
mod twin_table;

pub use breakdown::{Breakdown, Communication, Parallelisms, Phases, TimeShares, write_ranks_csv};
pub use cells::{
    Cell, CellKind, FLOW_COLUMNS, LINK_COLUMNS, SCALE_UP, flow_columns, flow_row, link_rows,
};
pub use check_line::{check_line, rails_check_line, study_check_line};
pub use checked::{CheckError, CheckSummary, CheckedFile, MendedTraces};
pub use classes::ClassSummary;
pub use compare_table::compare_table;
pub use comparison_files::{
    COMPARISON_CSV, comparison_csv, comparison_json_lines, comparison_markdown,
};
pub use comparison_folder::{AllRuns, ComparisonFolder, Interrupted, MissingRuns};
pub use comparison_table::{assertion_table, indicator_table, verdicts};
pub use cost::{Cost, CostSummary, Stopwatch};
pub use exported::{ExportError, ExportFormat, Exported, export, export_traces, late_start};
pub use failures::FailureSummary;
pub(crate) use failures::MAX_LISTED;
pub use flow_positions::FlowPositions;
pub use flows_csv::{FlowsCsv, write_flows_csv};
pub use folder::{Folder, Writer};
pub use folder_error::{FolderError, NotAFile};
pub use hardware::HardwareSummary;
pub use identity::{Identity, VERSION};
pub use inputs::Inputs;
pub use jobs::JobSummary;
pub use junit::{JUNIT, JunitCase, JunitResult, JunitSuite, junit};
pub use links_csv::write_links_csv;
pub use new_file::{NewFileError, write_new};
pub use nic_state::{Qps, State};
pub use open::{MessageState, OpenMessage, OpenMessages};
pub use output_file::{OutputError, OutputFile, OutputKind, write_output};
pub(crate) use output_schema::time_series_schema;
pub use output_schema::{OUTPUT_SCHEMAS, OutputSchema};
pub use own_files::{MATRIX, RUNS, STATISTICS, TOPOLOGIES};
pub(crate) use own_files::{SCENARIO, SUMMARY};
pub use pfc_txt::{hosts_then_switches, write_pfc_txt};
pub use rails::{
    OperationSummary, RailLine, RailSummary, TimelineLine, write_operations_csv,
    write_rail_results, write_timeline_csv,
};
pub use rails_table::{rails_compare_table, rails_table};
pub use rates::Rates;
pub use remarks::remarks_on_load;
pub(crate) use remarks::{below_bound, remarks};
pub use reproduction_index::reproduction_index;
pub use reproduction_page::reproduction_page;
pub use reproduction_table::{reproduction_table, study_table};
pub use resolved::resolved;
pub use run_results::write_run_results;
pub use run_table::run_table;
pub use scale_up::ScaleUpSummary;
pub use study_folder::{StudyFolder, StudyFolderError};
pub use summary::{Fct, Packets, Summary, write_summary};
pub use table::{guess_table, list_table};
pub use temporary::remove_temporary_files;
pub(crate) use temporary::{TEMPORARY, TemporaryFile};
pub use transport::TransportSummary;
pub use twin::{Count, Difference, LinkDifference, Side, TOLERANCE, Twin};
pub use twin_table::twin_table;

#[cfg(test)]
pub(crate) mod sample;
