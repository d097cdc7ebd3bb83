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

/// A text chunk in every PNG, without length and checksum, that identifies it as written by
/// evenkeel.
const PNG_SIGNATURE: &[u8] = b"tEXtSoftware\0evenkeel";

/// Returns true if a file that starts with these bytes is a figure, as SVG or PNG.
pub fn is_figure(start: &[u8]) -> bool {
    let holds = |part: &[u8]| start.windows(part.len()).any(|window| window == part);
    let is_svg = start.starts_with(canvas::HEAD.as_bytes()) && holds(canvas::TITLE.as_bytes());
    is_svg || (start.starts_with(b"\x89PNG\r\n") && holds(PNG_SIGNATURE))
}

/// A figure with the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// File name without the extension, such as `completion-cdf`.
    pub name: String,
    /// The drawing.
    pub drawing: Drawing,
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
}

impl Figure {
    /// Returns the title.
    pub fn title(&self) -> &str {
        match &self.drawing {
            Drawing::Chart(chart) => &chart.title,
            Drawing::Dots(dots) => &dots.title,
            Drawing::Heat(heat) => &heat.title,
        }
    }

    /// Returns the figure as SVG.
    pub fn svg(&self) -> String {
        match &self.drawing {
            Drawing::Chart(chart) => lines::svg(chart),
            Drawing::Dots(dots) => dots::svg(std::slice::from_ref(dots)),
            Drawing::Heat(heat) => heat_map::svg(heat),
        }
    }
}

/// Returns several dot plots side by side as one SVG.
pub fn dot_plots_svg(plots: &[DotPlot]) -> String {
    dots::svg(plots)
}
