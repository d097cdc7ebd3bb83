//! Lines over a number: the data of a chart, whoever draws it.

use serde::Serialize;

use super::Axis;

/// A chart with lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What readers should know of it; may be empty.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
    /// Times at which something happened.
    pub marks: Vec<Mark>,
}

/// A line of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// How its points are joined.
    pub join: Join,
    /// The points, by `x`.
    pub points: Vec<Point>,
}

/// How two points are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// By a straight line, with a marker at each point.
    Line,
    /// The value stays until the next point.
    Step,
}

/// A point, in the axes' base units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The horizontal position.
    pub x: f64,
    /// The vertical position.
    pub y: f64,
    /// The 95 % interval of `y`, if there is one.
    pub interval: Option<(f64, f64)>,
}

/// Something that happened at a position of the horizontal axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// The position.
    pub x: f64,
    /// What happened.
    pub text: String,
}

impl Point {
    /// A point without an interval.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y, interval: None }
    }
}
