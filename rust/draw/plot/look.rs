//! The look of figures, as a user chooses it: titles, axes, order, size and the spelling of units.

use thiserror::Error;

use super::axis::extent;
use super::chart::{Chart, Series};
use super::{Axis, Drawing, Figure, Scale};

/// Choices about the look of figures; what is `None` is left as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// Title.
    pub title: Option<String>,
    /// Label of the horizontal axis.
    pub x_label: Option<String>,
    /// Label of the vertical axis; of dot plots, of the axis of the values.
    pub y_label: Option<String>,
    /// Scale of the horizontal axis.
    pub x_scale: Option<Scale>,
    /// Scale of the vertical axis; of dot plots, of the axis of the values.
    pub y_scale: Option<Scale>,
    /// Order of lines and rows.
    pub order: Option<Order>,
    /// Width and height in pixels of 1/96 inch.
    pub size: Option<(f64, f64)>,
    /// Spelling of units.
    pub units: Units,
}

/// The order of lines and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// The order of the results.
    Data,
    /// By name, with numbers in it by value.
    Name,
    /// The smallest value first; of a line, the mean of its values.
    Value,
    /// Those whose names are or begin with these words first, in this order.
    Names(Vec<String>),
}

/// The spelling of units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Units {
    /// As scenarios have them: `us`, `KB`, `Gbps`.
    #[default]
    Plain,
    /// As papers have them: `µs`, `kB`, `Gbit/s`.
    Si,
}

/// A choice that a figure cannot follow.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LookError {
    /// A logarithmic axis of values that are not positive.
    #[error("{figure}: its {axis} axis has {value}, which a logarithmic axis cannot show")]
    NotPositive {
        /// Name of the figure.
        figure: String,
        /// `horizontal` or `vertical`.
        axis: &'static str,
        /// The smallest value.
        value: String,
    },
    /// A name that no line or row has.
    #[error("{figure}: no line or row is called '{name}'; expected some of {known}")]
    NoName {
        /// Name of the figure.
        figure: String,
        /// The name.
        name: String,
        /// The names in the figure.
        known: String,
    },
}

impl Figure {
    /// Changes the look of the figure.
    ///
    /// # Errors
    /// Fails if a logarithmic axis would have values that are not positive, or if the order has a
    /// name that the figure lacks.
    pub fn with_look(mut self, look: &Look) -> Result<Self, LookError> {
        self.set_title(look);
        let name = self.name.clone();
        for chart in self.charts_mut() {
            of_chart(chart, look).map_err(|fault| fault.of(&name))?;
        }
        match &mut self.drawing {
            Drawing::Dots(dots) => {
                let values = dots.rows.iter().map(|row| row.value);
                set_axis(&mut dots.axis, &look.y_label, (look.y_scale, look.units), values)
                    .map_err(|least| Fault::Scale("vertical", least).of(&name))?;
                if let Some(order) = &look.order {
                    let key = |row: &super::DotRow| (row.name.clone(), row.value);
                    arrange(&mut dots.rows, order, key).map_err(|fault| fault.of(&name))?;
                }
            }
            Drawing::Heat(heat) => spell(&mut heat.axis, look.units),
            Drawing::Chart(_) | Drawing::Facets(_) => {}
        }
        self.size = look.size.or(self.size);
        Ok(self)
    }

    fn set_title(&mut self, look: &Look) {
        let Some(title) = &look.title else { return };
        *match &mut self.drawing {
            Drawing::Chart(chart) => &mut chart.title,
            Drawing::Dots(dots) => &mut dots.title,
            Drawing::Heat(heat) => &mut heat.title,
            Drawing::Facets(facets) => &mut facets.title,
        } = title.clone();
    }
}

/// A fault of a figure whose name is not known yet.
enum Fault {
    Scale(&'static str, f64),
    Name(String, String),
}

impl Fault {
    fn of(self, figure: &str) -> LookError {
        let figure = figure.to_owned();
        match self {
            Self::Scale(axis, value) => {
                LookError::NotPositive { figure, axis, value: super::axis::number(value) }
            }
            Self::Name(name, known) => LookError::NoName { figure, name, known },
        }
    }
}

fn of_chart(chart: &mut Chart, look: &Look) -> Result<(), Fault> {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let xs: Vec<f64> = points().map(|point| point.x).collect();
    let ys: Vec<f64> = points().map(|point| point.y).collect();
    set_axis(&mut chart.x, &look.x_label, (look.x_scale, look.units), xs.into_iter())
        .map_err(|least| Fault::Scale("horizontal", least))?;
    set_axis(&mut chart.y, &look.y_label, (look.y_scale, look.units), ys.into_iter())
        .map_err(|least| Fault::Scale("vertical", least))?;
    let Some(order) = &look.order else { return Ok(()) };
    let key = |series: &Series| {
        let ys = series.points.iter().map(|point| point.y);
        (series.name.clone(), ys.sum::<f64>() / series.points.len().max(1) as f64)
    };
    arrange(&mut chart.series, order, key)
}

/// Changes an axis; the error is the smallest value that a logarithmic axis cannot show.
fn set_axis(
    axis: &mut Axis,
    label: &Option<String>,
    (scale, units): (Option<Scale>, Units),
    values: impl Iterator<Item = f64>,
) -> Result<(), f64> {
    if let Some(label) = label {
        axis.label.clone_from(label);
    }
    if let Some(scale) = scale {
        let least = extent(values).0;
        if scale == Scale::Logarithmic && least <= 0.0 {
            return Err(least);
        }
        if scale != axis.scale {
            axis.ticks.clear();
        }
        axis.scale = scale;
    }
    spell(axis, units);
    Ok(())
}

/// Writes the unit of an axis, and those in the texts of its ticks.
fn spell(axis: &mut Axis, units: Units) {
    const SI: [(&str, &str); 7] = [
        ("us", "µs"),
        ("KB", "kB"),
        ("Tbps", "Tbit/s"),
        ("Gbps", "Gbit/s"),
        ("Mbps", "Mbit/s"),
        ("bps", "bit/s"),
        ("%", "%"),
    ];
    if units == Units::Plain {
        return;
    }
    if let Some((_, si)) = SI.iter().find(|(plain, _)| *plain == axis.unit) {
        axis.unit = si;
    }
    for tick in &mut axis.ticks {
        let digits = tick.text.find(|c: char| c.is_ascii_alphabetic());
        let Some((number, unit)) = digits.map(|at| tick.text.split_at(at)) else { continue };
        let si = SI.iter().find(|(plain, _)| *plain == unit).map_or(unit, |(_, si)| si);
        tick.text = format!("{} {si}", number.trim_end());
    }
}

/// Sorts items by the name and the value that `key` returns.
fn arrange<T>(
    items: &mut [T],
    order: &Order,
    key: impl Fn(&T) -> (String, f64),
) -> Result<(), Fault> {
    match order {
        Order::Data => {}
        Order::Name => items.sort_by_cached_key(|item| natural(&key(item).0)),
        Order::Value => items.sort_by(|a, b| key(a).1.total_cmp(&key(b).1)),
        Order::Names(names) => {
            let known: Vec<String> = items.iter().map(|item| key(item).0).collect();
            let is_of = |whole: &str, name: &String| {
                let rest = whole.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ' ']))
            };
            let is_missing = |name: &&String| !known.iter().any(|whole| is_of(whole, name));
            if let Some(name) = names.iter().find(is_missing) {
                return Err(Fault::Name(name.clone(), known.join("; ")));
            }
            let place = |whole: &String| names.iter().position(|name| is_of(whole, name));
            items.sort_by_cached_key(|item| place(&key(item).0).unwrap_or(usize::MAX));
        }
    }
    Ok(())
}

/// Splits a name into texts and numbers, so that `leaf2` is before `leaf10`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(is_digit).unwrap_or(rest.len());
        let (text, after) = rest.split_at(digits);
        let end = after.find(|c: char| !is_digit(c)).unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        parts.push((text.to_owned(), number.parse().unwrap_or(0)));
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::{DotPlot, DotRow, Tick};
    use super::*;
    use crate::results::Dimension;

    fn dots(values: &[(&str, f64)]) -> Figure {
        let axis = Axis::new("time", Dimension::Time, values.iter().map(|(_, value)| *value));
        let rows = values.iter().map(|&(name, value)| DotRow {
            name: name.to_owned(),
            value,
            interval: None,
            values: Vec::new(),
            reference: None,
        });
        let (title, note, reference) = (String::new(), String::new(), String::new());
        let plot = DotPlot { title, note, axis, rows: rows.collect(), reference };
        Figure { name: "a".to_owned(), drawing: Drawing::Dots(plot), size: None }
    }

    fn names(figure: &Figure) -> String {
        let Drawing::Dots(dots) = &figure.drawing else { panic!("dots") };
        dots.rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rows_are_in_the_chosen_order() {
        let ordered = |order: Order| {
            let look = Look { order: Some(order), ..Look::default() };
            dots(&[("k10", 5e3), ("k9", 7e3), ("a b", 6e3)]).with_look(&look)
        };
        assert_eq!(names(&ordered(Order::Data).unwrap()), "k10 k9 a b");
        assert_eq!(names(&ordered(Order::Name).unwrap()), "a b k9 k10");
        assert_eq!(names(&ordered(Order::Value).unwrap()), "k10 a b k9");
        let chosen = |name: &str| ordered(Order::Names(vec![name.to_owned()]));
        assert_eq!(names(&chosen("a").unwrap()), "a b k10 k9");
        let said = chosen("c").unwrap_err().to_string();
        assert_eq!(said, "a: no line or row is called 'c'; expected some of k10; k9; a b");
    }

    #[test]
    fn a_look_has_labels_scales_and_the_spelling_of_units() {
        let look = Look {
            title: Some("T".to_owned()),
            y_label: Some("CCT".to_owned()),
            y_scale: Some(Scale::Logarithmic),
            units: Units::Si,
            ..Look::default()
        };
        let figure = dots(&[("a", 3e3), ("b", 4e3)]).with_look(&look).unwrap();
        assert_eq!(figure.title(), "T");
        let Drawing::Dots(plot) = &figure.drawing else { panic!("dots") };
        assert_eq!((plot.axis.title().as_str(), plot.axis.scale), ("CCT (µs)", Scale::Logarithmic));
        let said = dots(&[("a", 0.0)]).with_look(&look).unwrap_err().to_string();
        assert_eq!(said, "a: its vertical axis has 0, which a logarithmic axis cannot show");
        let mut axis = plot.axis.clone();
        axis.ticks = vec![Tick { at: 4e3, text: "4KB".to_owned() }];
        spell(&mut axis, Units::Si);
        assert_eq!(axis.ticks[0].text, "4 kB");
    }
}
