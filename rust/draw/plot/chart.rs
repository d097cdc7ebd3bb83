//! The data of a line chart, independent of the renderer.

use serde::Serialize;

use super::Axis;

/// A chart with lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Title.
    pub title: String,
    /// Note for readers; may be empty.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
    /// Events that are marked on the horizontal axis.
    pub marks: Vec<Mark>,
}

/// A line of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// How its points are joined.
    pub join: Join,
    /// Points, sorted by `x`.
    pub points: Vec<Point>,
    /// Index of its colour, dashes and marker. A link or a policy has the same in all figures.
    pub style: usize,
}

impl Series {
    /// Creates a line; its style is assigned when all figures are known.
    pub fn new(name: String, join: Join, points: Vec<Point>) -> Self {
        Self { name, join, points, style: 0 }
    }
}

/// How two points are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// By a straight line, with a marker at each point.
    Line,
    /// By a step: the value holds until the next point.
    Step,
}

/// A point, in the axes' base units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The horizontal position.
    pub x: f64,
    /// The vertical position.
    pub y: f64,
    /// The band around `y`, such as its 95 % interval, if there is one.
    pub interval: Option<(f64, f64)>,
}

/// Charts with common axes and a common legend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facets {
    /// Title.
    pub title: String,
    /// Note for readers; may be empty.
    pub note: String,
    /// The charts, each with the value that it is for as its title.
    pub panels: Vec<Chart>,
}

/// An event at a position of the horizontal axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// The position.
    pub x: f64,
    /// Description of the event.
    pub text: String,
}

impl Point {
    /// Creates a point without an interval.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y, interval: None }
    }
}
