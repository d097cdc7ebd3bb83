//! Figures of results: their content ([`Figure`]) and a common style.
//!
//! A figure is made from result files that were read back ([`results`](crate::results)); it never
//! starts a run. [`figures()`] chooses the figures for which the results have data. Series differ
//! in colour, dashes and markers, so that a greyscale print is legible too. The colours are the
//! palette of Okabe and Ito, which colour-blind readers can distinguish.

mod axis;
mod canvas;
mod chart;
mod dots;
mod facets;
mod figures;
mod font;
mod heat_map;
mod lines;
mod look;
#[cfg(test)]
mod overlaps;
mod pdf;
mod picture;
mod png;
mod ruler;
mod style;
mod swatch;
mod tidy;

pub use axis::{Axis, Scale, Tick};
pub use chart::{Chart, Facets, Join, Mark, Point, Series};
pub use dots::{DotPlot, DotRow};
pub use figures::{Band, Request, figures};
pub use heat_map::{HeatMap, Panel};
pub use look::{Look, LookError, Order, Units};
pub use pdf::pdf;
pub use picture::PictureError;
pub use png::png;
pub use style::{DASHES, PALETTE, heat_color};
pub use tidy::{TIDY_COLUMNS, TidyRow, tidy_csv};

/// A text chunk in every PNG, without length and checksum, that identifies it as written by
/// evenkeel.
const PNG_SIGNATURE: &[u8] = b"tEXtSoftware\0evenkeel";

/// The start of every PDF. Its second line identifies it as written by evenkeel, and tells programs
/// that the file is binary.
const PDF_HEAD: &[u8] = b"%PDF-1.5\n%evenkeel \xb5\xb5\xb5\xb5\n";

/// Returns true if a file that starts with these bytes is a figure, as SVG, PNG or PDF, or the data
/// of figures.
pub fn is_figure(start: &[u8]) -> bool {
    let holds = |part: &[u8]| start.windows(part.len()).any(|window| window == part);
    let is_svg = start.starts_with(canvas::HEAD.as_bytes()) && holds(canvas::TITLE.as_bytes());
    let is_named = start.starts_with(PDF_HEAD) || start.starts_with(tidy::head().as_bytes());
    is_svg || is_named || (start.starts_with(b"\x89PNG\r\n") && holds(PNG_SIGNATURE))
}

/// A figure with the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// File name without the extension, such as `completion-cdf`.
    pub name: String,
    /// The drawing.
    pub drawing: Drawing,
    /// Width and height in pixels of 1/96 inch; those that suit the content if `None`.
    pub size: Option<(f64, f64)>,
}

/// The content of a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// Lines over a numeric axis.
    Chart(Chart),
    /// One value with its interval per name.
    Dots(DotPlot),
    /// One colour per link.
    Heat(HeatMap),
    /// Several charts with common axes.
    Facets(Facets),
}

impl Figure {
    /// Returns the title.
    pub fn title(&self) -> &str {
        match &self.drawing {
            Drawing::Chart(chart) => &chart.title,
            Drawing::Dots(dots) => &dots.title,
            Drawing::Heat(heat) => &heat.title,
            Drawing::Facets(facets) => &facets.title,
        }
    }

    /// Returns the figure as SVG.
    pub fn svg(&self) -> String {
        match &self.drawing {
            Drawing::Chart(chart) => lines::svg(chart, self.size),
            Drawing::Dots(dots) => dots::svg(std::slice::from_ref(dots), self.size),
            Drawing::Heat(heat) => heat_map::svg(heat, self.size),
            Drawing::Facets(facets) => facets::svg(facets, self.size),
        }
    }

    /// Returns the charts of the figure, to change them.
    fn charts_mut(&mut self) -> &mut [Chart] {
        match &mut self.drawing {
            Drawing::Chart(chart) => std::slice::from_mut(chart),
            Drawing::Facets(facets) => &mut facets.panels,
            Drawing::Dots(_) | Drawing::Heat(_) => &mut [],
        }
    }
}

/// Returns the figure with this name or else those whose names start with it.
///
/// # Errors
/// Fails with the reason if no figure matches.
pub fn select(mut figures: Vec<Figure>, wanted: &str) -> Result<Vec<Figure>, String> {
    let names: Vec<String> = figures.iter().map(|figure| figure.name.clone()).collect();
    match names.iter().any(|name| name == wanted) {
        true => figures.retain(|figure| figure.name == wanted),
        false => figures.retain(|figure| figure.name.starts_with(wanted)),
    }
    match figures.is_empty() {
        false => Ok(figures),
        true => Err(format!("no such figure in the results; expected one of {}", names.join(", "))),
    }
}

/// Returns several dot plots side by side as one SVG.
pub fn dot_plots_svg(plots: &[DotPlot]) -> String {
    dots::svg(plots, None)
}
