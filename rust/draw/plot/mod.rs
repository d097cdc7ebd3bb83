//! Figures of results: what is drawn ([`Figure`]), and how (one look for all).
//!
//! A figure is made from files that were read back ([`results`](crate::results)); it never starts
//! a run. [`figures()`] chooses what the results have data for. Series differ in colour (the
//! palette of Okabe and Ito, which colour-blind readers can tell apart), in dashes and in markers,
//! so that a print in grey is legible too.

mod axis;
mod canvas;
mod chart;
mod dots;
mod figures;
mod heat_map;
mod lines;
#[cfg(feature = "png")]
mod png;
mod ruler;
mod style;
mod swatch;

pub use axis::{Axis, Scale};
pub use chart::{Chart, Join, Mark, Point, Series};
pub use dots::{DotPlot, DotRow};
pub use figures::{Request, figures};
pub use heat_map::{HeatMap, Panel};
#[cfg(feature = "png")]
pub use png::{PngError, png};
pub use style::{DASHES, PALETTE, heat_color};

/// A text in every PNG, as its format has it, by which it is told from those of others.
const MARK_OF_PNG: &[u8] = b"tEXtSoftware\0evenkeel";

/// True if a file that starts with these bytes is a figure, as SVG or PNG.
pub fn is_figure(start: &[u8]) -> bool {
    let holds = |part: &[u8]| start.windows(part.len()).any(|window| window == part);
    let is_svg = start.starts_with(canvas::HEAD.as_bytes()) && holds(canvas::TITLE.as_bytes());
    is_svg || (start.starts_with(b"\x89PNG\r\n") && holds(MARK_OF_PNG))
}

/// A figure with the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it shows, as part of a file's name: `completion-cdf`.
    pub name: String,
    /// The drawing.
    pub drawing: Drawing,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// Lines over a number.
    Chart(Chart),
    /// A value with its interval for each of several names.
    Dots(DotPlot),
    /// A colour for each link.
    Heat(HeatMap),
}

impl Figure {
    /// The title.
    pub fn title(&self) -> &str {
        match &self.drawing {
            Drawing::Chart(chart) => &chart.title,
            Drawing::Dots(dots) => &dots.title,
            Drawing::Heat(heat) => &heat.title,
        }
    }

    /// The figure as SVG.
    pub fn svg(&self) -> String {
        match &self.drawing {
            Drawing::Chart(chart) => lines::svg(chart),
            Drawing::Dots(dots) => dots::svg(std::slice::from_ref(dots)),
            Drawing::Heat(heat) => heat_map::svg(heat),
        }
    }
}

/// Several dot plots side by side in one SVG.
pub fn dots_side_by_side(plots: &[DotPlot]) -> String {
    dots::svg(plots)
}
