//! `evenkeel plot`: draws figures of results.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use evenkeel_draw::plot::{self, Figure, Request};
use evenkeel_study::report::{OutputError, OutputFile, OutputKind, write_output};
use evenkeel_study::results::Results;

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel run examples/recording.toml --out results/recording
  evenkeel plot results/recording --out figures
  evenkeel plot results/ecmp results/reps --out cdf.svg --figure completion-cdf
  evenkeel plot results/studies/nezha.csv --out figures --metric cpu_busy_ns_max
  evenkeel compare a.toml --policies ecmp,reps --seeds 5 --format csv > c.csv
  evenkeel plot c.csv --out c.svg

The figures depend on the data in the results:
  completion-cdf       runs: CDF of the messages' completion times
  by-policy            several policies: means with 95 % intervals over seeds
  over-KEY             sweeps and studies: a metric over the swept key
  slowdown-by-size     runs with messages of several sizes
  link-load            runs: the bytes of each link between switches
  queues, utilisation, send-rates, allowed-rates, windows
                       runs of a scenario with [record]: time series

docs/plotting.md shows them.
";

/// Draw figures of results, as SVG or PNG
///
/// DIR is a folder that run, sweep or reproduce wrote with --out, or a table of a study. Draws
/// every figure that the results have data for. Comparable runs share a figure. Nothing is
/// simulated.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folders of results, or tables of studies
    #[arg(value_name = "DIR", required = true)]
    results: Vec<PathBuf>,
    /// Folder for the figures, or file of a single one (*.svg, *.png); only earlier figures are
    /// replaced
    #[arg(long, value_name = "DIR|FILE")]
    out: PathBuf,
    /// Format of figures in a folder; a file's format follows its name
    #[arg(long, value_enum, default_value_t = Format::Svg)]
    format: Format,
    /// Draw only the figure with this name, or those whose names start with it
    #[arg(long, value_name = "NAME")]
    figure: Option<String>,
    /// Metric of figures that compare runs: a key of summary.json, or a column of a study's table
    #[arg(long, value_name = "KEY", default_value = "cct_ns")]
    metric: String,
}

/// Kind of file that a figure may replace.
const FIGURE: OutputKind = OutputKind { name: "a figure", is_own: plot::is_figure };

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Svg,
    Png,
}

impl Format {
    fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            _ => None,
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }

    fn bytes(self, figure: &Figure) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Svg => Ok(figure.svg().into_bytes()),
            Self::Png => png(figure),
        }
    }
}

/// Renders at twice the pixels of the SVG: about 200 dots per inch, where the SVG has 96.
#[cfg(feature = "png")]
fn png(figure: &Figure) -> anyhow::Result<Vec<u8>> {
    Ok(plot::png(&figure.svg(), 2.0)?)
}

#[cfg(not(feature = "png"))]
fn png(_: &Figure) -> anyhow::Result<Vec<u8>> {
    bail!(
        "PNG: not supported by this build; use SVG, or build with `cargo build --release \
         --features png`"
    )
}

/// Reads the results and draws their figures.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let results = arguments.results.iter().map(|path| Results::open(path));
    let results = results.collect::<Result<Vec<_>, _>>()?;
    let request = Request { metric: arguments.metric.clone() };
    let (mut figures, notes) = plot::figures(&results, &request)?;
    notes.iter().for_each(|note| output::note(note));
    if let Some(wanted) = &arguments.figure {
        let names = names(&figures);
        let is_whole = figures.iter().any(|figure| figure.name == *wanted);
        figures.retain(|figure| match is_whole {
            true => figure.name == *wanted,
            false => figure.name.starts_with(wanted.as_str()),
        });
        if figures.is_empty() {
            bail!("--figure {wanted}: no such figure in the results; expected one of {names}");
        }
    }
    if figures.is_empty() {
        bail!(
            "no run of the results has '{}'; use --metric to select another metric",
            request.metric
        );
    }
    match Format::of_file(&arguments.out) {
        Some(format) => one(arguments, &figures, format)?,
        None => all(arguments, &figures)?,
    }
    Ok(Status::Done)
}

fn names(figures: &[Figure]) -> String {
    figures.iter().map(|figure| figure.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Writes the only figure to a file.
fn one(arguments: &Arguments, figures: &[Figure], format: Format) -> anyhow::Result<()> {
    let out = arguments.out.display();
    let [figure] = figures else {
        let names = names(figures);
        bail!("--out {out}: a file holds one figure; use --figure with one of {names}");
    };
    write_output(&arguments.out, &FIGURE, &format.bytes(figure)?).map_err(not_written)?;
    output::print_text(&format!("{out}: {}\n", figure.title()))
}

/// Writes each figure to a file in the folder.
fn all(arguments: &Arguments, figures: &[Figure]) -> anyhow::Result<()> {
    let folder = &arguments.out;
    let failed = |reason| anyhow!("--out {}: cannot create the folder: {reason}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    let path =
        |figure: &Figure| folder.join(format!("{}.{}", figure.name, arguments.format.ending()));
    // Opens all files before writing any, so that none is written if one cannot be.
    let files = figures.iter().map(|figure| OutputFile::begin(&path(figure), &FIGURE));
    let files = files.collect::<Result<Vec<_>, _>>().map_err(not_written)?;
    for (figure, file) in figures.iter().zip(files) {
        file.write(&arguments.format.bytes(figure)?).map_err(not_written)?;
        output::print_text(&format!("{}: {}\n", path(figure).display(), figure.title()))?;
    }
    Ok(())
}

/// Returns the error for an `--out` file that cannot be written.
pub(super) fn not_written(error: OutputError) -> anyhow::Error {
    anyhow!("--out {error}")
}
