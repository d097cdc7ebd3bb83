//! `evenkeel plot`: draws figures of results.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use evenkeel_draw::plot::{self, Band, Figure, Look, Order, Request, Scale, Units};
use evenkeel_study::report::{OutputError, OutputFile, OutputKind, write_output};
use evenkeel_study::results::Results;

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel run examples/recording.toml --out results/recording
  evenkeel plot results/recording --out figures
  evenkeel plot results/ecmp results/reps --out cdf.pdf --figure completion-cdf
  evenkeel plot results/sizes --out sizes.pdf --size 8.5cmx6cm --units si \\
    --title \"Permutation of 64 hosts\" --y-label \"completion time\"
  evenkeel plot results/sizes --out spines.png --x workload.bytes \\
    --facet topology.spines --band quartiles
  evenkeel plot results/studies/nezha.csv --out figures --metric cpu_busy_ns_max
  evenkeel compare a.toml --policies ecmp,reps --seeds 5 --format csv > c.csv
  evenkeel plot c.csv --out c.svg

The figures depend on the data in the results:
  completion-cdf       runs: CDF of the messages' completion times
  by-policy            several policies: medians with 95 % intervals over seeds
  over-KEY             sweeps and studies: a metric over the swept key
  slowdown-by-size     runs with messages of several sizes
  link-load            runs: the bytes of each link between switches
  operations, rail-shares
                       runs with [[rail]]: times of operations, shares of rails
  queues, utilisation, send-rates, allowed-rates, windows
                       runs of a scenario with [record]: time series

docs/plotting.md shows them.
";

/// Draw figures of results, as SVG, PDF or PNG, or their data as CSV
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
    /// Folder for the figures, or file of a single one, whose ending is its format (*.svg, *.pdf,
    /// *.png, *.csv); only earlier figures are replaced
    #[arg(long, value_name = "DIR|FILE")]
    out: PathBuf,
    /// Format of figures in a folder; a file's format follows its name
    #[arg(long, value_enum, default_value_t = Format::Svg)]
    format: Format,
    /// Draw only the figure with this name, or those whose names start with it
    #[arg(long, value_name = "NAME")]
    figure: Option<String>,
    /// Metric of figures that compare runs: a key of summary.json, or a column of a study's table
    #[arg(long, visible_alias = "y", value_name = "KEY", default_value = "cct_ns")]
    metric: String,
    /// Swept key on the horizontal axis [default: the numeric one with the most values]
    #[arg(long, value_name = "KEY")]
    x: Option<String>,
    /// Swept key with a panel for each of its values
    #[arg(long, value_name = "KEY")]
    facet: Option<String>,
    /// Band around medians over seeds
    #[arg(long, value_enum, default_value_t = BandName::Interval)]
    band: BandName,
    #[command(flatten)]
    look: LookArguments,
}

/// The look of figures.
#[derive(Debug, Args)]
#[command(next_help_heading = "Look")]
struct LookArguments {
    /// Title of the figure
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Label of the horizontal axis, without the unit
    #[arg(long, value_name = "TEXT")]
    x_label: Option<String>,
    /// Label of the vertical axis, without the unit; by policy, of the axis of the values
    #[arg(long, value_name = "TEXT")]
    y_label: Option<String>,
    /// Scale of the horizontal axis [default: logarithmic for values that grow by factors]
    #[arg(long, value_enum, value_name = "SCALE")]
    x_scale: Option<ScaleName>,
    /// Scale of the vertical axis [default: logarithmic if values differ by more than 40]
    #[arg(long, value_enum, value_name = "SCALE")]
    y_scale: Option<ScaleName>,
    /// Order of lines and rows: data, name, value, or names separated by commas
    #[arg(long, value_name = "ORDER", value_parser = order)]
    order: Option<Order>,
    /// Width and height, in pixels of 1/96 inch or with a unit: 640x400, 8.5cmx6cm, 3.4inx2.4in
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(f64, f64)>,
    /// Spelling of units: us, KB, Gbps, or µs, kB, Gbit/s
    #[arg(long, value_enum, default_value_t = UnitsName::Plain)]
    units: UnitsName,
}

impl LookArguments {
    fn look(&self) -> Look {
        Look {
            title: self.title.clone(),
            x_label: self.x_label.clone(),
            y_label: self.y_label.clone(),
            x_scale: self.x_scale.map(ScaleName::scale),
            y_scale: self.y_scale.map(ScaleName::scale),
            order: self.order.clone(),
            size: self.size,
            units: match self.units {
                UnitsName::Plain => Units::Plain,
                UnitsName::Si => Units::Si,
            },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BandName {
    /// Confidence interval of the median
    Interval,
    /// First to third quartile
    Quartiles,
    /// Smallest to largest value
    Range,
    /// No band
    None,
}

impl BandName {
    fn band(self) -> Band {
        match self {
            Self::Interval => Band::Interval,
            Self::Quartiles => Band::Quartiles,
            Self::Range => Band::Range,
            Self::None => Band::None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScaleName {
    Linear,
    Log,
}

impl ScaleName {
    fn scale(self) -> Scale {
        match self {
            Self::Linear => Scale::Linear,
            Self::Log => Scale::Logarithmic,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UnitsName {
    Plain,
    Si,
}

/// Kind of file that a figure may replace.
const FIGURE: OutputKind = OutputKind { name: "a figure", is_own: plot::is_figure };

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Svg,
    Pdf,
    Png,
    /// The data: a row for each point
    Csv,
}

impl Format {
    /// Returns the format of a file by its ending; `None` for a folder.
    fn of_file(path: &Path) -> anyhow::Result<Option<Self>> {
        let Some(ending) = path.extension().and_then(|it| it.to_str()) else { return Ok(None) };
        let format = <Self as ValueEnum>::from_str(ending, true).ok();
        // Names of folders may have dots, too, but not these.
        let others = ["eps", "ps", "jpg", "jpeg", "gif", "webp", "html", "json", "tex", "pgf"];
        match format {
            None if others.contains(&ending.to_lowercase().as_str()) => {
                let out = path.display();
                bail!(
                    "--out {out}: no format has the ending .{ending}; use .svg, .pdf, .png or .csv"
                )
            }
            format => Ok(format),
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Png => "png",
            Self::Csv => "csv",
        }
    }

    fn bytes(self, figure: &Figure) -> anyhow::Result<Vec<u8>> {
        Ok(match self {
            Self::Svg => figure.svg().into_bytes(),
            Self::Pdf => plot::pdf(&figure.svg())?,
            // Twice the pixels of the SVG: 192 per inch.
            Self::Png => plot::png(&figure.svg(), 2.0)?,
            Self::Csv => plot::tidy_csv(std::slice::from_ref(figure)).into_bytes(),
        })
    }
}

/// Parses an order of lines and rows.
fn order(text: &str) -> Result<Order, String> {
    match text {
        "data" => Ok(Order::Data),
        "name" => Ok(Order::Name),
        "value" => Ok(Order::Value),
        "" => Err("expected data, name, value, or names such as ecmp,reps".to_owned()),
        names => Ok(Order::Names(names.split(',').map(|name| name.trim().to_owned()).collect())),
    }
}

/// Smallest and largest side of a figure, in pixels.
const SIDES: std::ops::RangeInclusive<f64> = 120.0..=10_000.0;

/// Parses a size such as `640x400` or `8.5cmx6cm`, in pixels of 1/96 inch.
fn size(text: &str) -> Result<(f64, f64), String> {
    let length = |text: &str| {
        let text = text.trim();
        let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(unit);
        let pixels = match unit {
            "" | "px" => 1.0,
            "pt" => 96.0 / 72.0,
            "mm" => 96.0 / 25.4,
            "cm" => 96.0 / 2.54,
            "in" => 96.0,
            _ => return None,
        };
        Some(number.trim().parse::<f64>().ok()? * pixels).filter(|side| SIDES.contains(side))
    };
    // The unit px has the letter that separates both lengths.
    let plain = text.replace("px", "");
    let sides = plain.split_once('x').and_then(|(a, b)| Some((length(a)?, length(b)?)));
    sides.ok_or_else(|| {
        "expected a width and a height from 120 to 10000 pixels of 1/96 inch, such as 640x400 or \
         8.5cmx6cm"
            .to_owned()
    })
}

/// Reads the results and draws their figures.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let format = Format::of_file(&arguments.out)?;
    let results = arguments.results.iter().map(|path| Results::open(path));
    let results = results.collect::<Result<Vec<_>, _>>()?;
    let request = Request {
        metric: arguments.metric.clone(),
        x: arguments.x.clone(),
        facet: arguments.facet.clone(),
        band: arguments.band.band(),
    };
    let (mut figures, notes) = plot::figures(&results, &request)?;
    notes.iter().for_each(|note| output::note(note));
    if let Some(wanted) = &arguments.figure {
        let selected = plot::select(figures, wanted);
        figures = selected.map_err(|reason| anyhow!("--figure {wanted}: {reason}"))?;
    }
    if figures.is_empty() {
        bail!(
            "no run of the results has '{}'; use --metric to select another metric",
            request.metric
        );
    }
    if let ([_, _, ..], Some(title)) = (&figures[..], &arguments.look.title) {
        let names = names(&figures);
        bail!("--title '{title}': it is for one figure; use --figure with one of {names}");
    }
    let look = arguments.look.look();
    let figures = figures.into_iter().map(|figure| figure.with_look(&look));
    let figures = figures.collect::<Result<Vec<_>, _>>()?;
    match format {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("640x400"), Ok((640.0, 400.0)));
        assert_eq!(size("640px x 400px"), Ok((640.0, 400.0)));
        assert_eq!(size("2inx144pt"), Ok((192.0, 192.0)));
        let (width, height) = size("8.5cmx60mm").unwrap();
        assert!((width - 321.26).abs() < 0.01 && (height - 226.77).abs() < 0.01);
        for text in ["640", "640x", "1x1", "640x400km", "infx400", "-640x400"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_ending_of_a_file_is_its_format() {
        let of = |path: &str| Format::of_file(Path::new(path)).unwrap();
        assert_eq!([of("a.pdf"), of("b/a.PNG")], [Some(Format::Pdf), Some(Format::Png)]);
        assert_eq!([of("figures"), of("v0.2")], [None; 2]);
        let said = Format::of_file(Path::new("a.eps")).unwrap_err().to_string();
        assert_eq!(
            said,
            "--out a.eps: no format has the ending .eps; use .svg, .pdf, .png or .csv"
        );
    }
}
