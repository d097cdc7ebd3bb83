//! Figures of results, and the page of a report.
//!
//! For programs that draw results, or charts of their own in the same style. The figures of a
//! results folder come from [`plot::figures()`]. A chart from values:
//!
//! ```
//! use evenkeel_draw::plot::{Axis, Chart, Drawing, Figure, Join, Point, Series};
//! use evenkeel_study::results::Dimension;
//!
//! let (sizes, times) = ([1e6, 4e6, 16e6], [30e3, 95e3, 350e3]);
//! let points = sizes.iter().zip(&times).map(|(&x, &y)| Point::new(x, y));
//! let line = Series::new("ethereal".to_owned(), Join::Line, points.collect());
//! let figure = Figure {
//!     name: "sizes".to_owned(),
//!     drawing: Drawing::Chart(Chart {
//!         title: "Completion time by size".to_owned(),
//!         note: String::new(),
//!         x: Axis::new("size", Dimension::Size, sizes.into_iter()),
//!         y: Axis::new("completion time", Dimension::Time, times.into_iter()),
//!         series: vec![line],
//!         marks: Vec::new(),
//!     }),
//!     size: None,
//! };
//! assert!(evenkeel_draw::plot::is_figure(figure.svg().as_bytes()));
//! ```
//!
//! The crate `evenkeel` re-exports this one and describes the architecture.

use evenkeel_observe::record;
use evenkeel_study as study;
use evenkeel_study::{report, results};

pub mod page;
pub mod plot;
