//! Texts of a figure do not overlap each other, in any kind of figure.

use super::axis::{Axis, Tick};
use super::canvas::{self, Anchor};
use super::chart::{Chart, Facets, Join, Mark, Point, Series};
use super::font::Font;
use super::picture::{Form, Picture, Text};
use super::style::INK;
use super::{DotPlot, DotRow, Drawing, Figure, HeatMap, Panel};
use crate::results::Dimension;

/// A text with its left, upper, right and lower end in pixels.
type Placed = (String, [f64; 4]);

/// Parts of a text's size above and below its base line.
const ASCENT: f64 = 0.74;
const DESCENT: f64 = 0.21;

/// Least distance of two texts in pixels.
const LEAST: f64 = 1.0;

fn placed(text: &Text, font: &Font, units: f64) -> Placed {
    let length = font.width(&text.text) * text.size;
    let base = font.half_x() * text.size;
    let (x, y) = text.at;
    let (along, above, below) =
        (text.before * length, ASCENT * text.size - base, DESCENT * text.size + base);
    let ends = match text.is_upright {
        false => [x - along, y - above, x + length - along, y + below],
        true => [x - above, y + along - length, x + below, y + along],
    };
    (text.text.clone(), ends.map(|it| it / units))
}

/// Returns pairs of texts that overlap or nearly touch.
fn overlaps(name: &str, svg: &str) -> Vec<String> {
    let picture = Picture::of(svg).expect("a figure can be read");
    let font = Font::new();
    let texts = picture.shapes.iter().filter_map(|shape| match &shape.form {
        Form::Text(text) => Some(placed(text, &font, picture.units)),
        _ => None,
    });
    let texts: Vec<Placed> = texts.collect();
    let meet = |a: &[f64; 4], b: &[f64; 4]| {
        let is_apart = |low: usize| a[low + 2] + LEAST <= b[low] || b[low + 2] + LEAST <= a[low];
        !is_apart(0) && !is_apart(1)
    };
    let mut found = Vec::new();
    for (index, (text, ends)) in texts.iter().enumerate() {
        for (other, others) in &texts[index + 1..] {
            if meet(ends, others) {
                found.push(format!("{name}: '{text}' {ends:.0?} and '{other}' {others:.0?}"));
            }
        }
    }
    found
}

fn axis(label: &str, dimension: Dimension, most: f64) -> Axis {
    Axis::new(label, dimension, [most].into_iter())
}

fn series(name: &str, most: f64) -> Series {
    let points = (1..=8).map(|at| Point::new(most * f64::from(at) / 8.0, f64::from(at) * 1e5));
    Series::new(name.to_owned(), Join::Line, points.collect())
}

fn chart(note: &str, marks: usize) -> Chart {
    let marks = (0..marks).map(|at| Mark {
        x: 1e5 * at as f64,
        text: format!("link leaf{at}-spine0 goes down for a while"),
    });
    Chart {
        title: "Completion time over the size of messages, by policy and seed".to_owned(),
        note: note.to_owned(),
        x: axis("message size", Dimension::Size, 1e6),
        y: axis("completion time", Dimension::Time, 8e5),
        series: ["ecmp, median", "ecmp, 99 %", "reps, median"].map(|it| series(it, 1e6)).to_vec(),
        marks: marks.collect(),
    }
}

/// A chart whose horizontal axis has long texts at its ticks.
fn with_ticks() -> Chart {
    let ticks = (0..9).map(|power| {
        let at = f64::from(1_u32 << power) * 1e3;
        Tick { at, text: format!("{}KB each", 1 << power) }
    });
    let x = axis("workload.bytes", Dimension::Size, 256e3).log_if_by_factors(ticks.collect());
    let points = x.ticks.iter().map(|tick| Point::new(tick.at, 1e5)).collect();
    let series = vec![Series::new("all".to_owned(), Join::Line, points)];
    Chart { x, series, ..chart(NOTE, 0) }
}

const NOTE: &str = "medians of 5 seeds; completion time relative to the same message alone, with \
                    95 % intervals";

fn facets(panels: usize, note: &str) -> Facets {
    let panel = |index: usize| Chart { title: format!("spines {index}"), ..chart("", 0) };
    let (title, note) = ("Completion time".to_owned(), note.to_owned());
    Facets { title, note, panels: (0..panels).map(panel).collect() }
}

fn dots() -> DotPlot {
    let row = |index: u32| DotRow {
        name: format!("policy-{index} with one entropy value a packet"),
        value: 1e5 * f64::from(index),
        interval: Some((9e4 * f64::from(index), 1.2e5 * f64::from(index))),
        values: vec![1e5 * f64::from(index)],
        reference: Some(1.1e5 * f64::from(index)),
    };
    DotPlot {
        title: "Completion time".to_owned(),
        note: NOTE.to_owned(),
        axis: axis("completion time", Dimension::Time, 8e5),
        rows: (1..=8).map(row).collect(),
        reference: "published".to_owned(),
    }
}

fn heat(count: usize) -> HeatMap {
    let names = |of: &str| (0..count).map(|at| format!("{of}{at}")).collect::<Vec<_>>();
    let panel = |title: &str| Panel {
        title: title.to_owned(),
        rows: names("leaf"),
        columns: names("spine"),
        values: vec![vec![Some(1e6); count]; count],
        failed: vec![(0, 1)],
    };
    HeatMap {
        title: "Bytes of each link".to_owned(),
        note: "failed links have a frame".to_owned(),
        axis: axis("bytes", Dimension::Size, 1e6),
        panels: vec![panel("leaf to spine, upwards"), panel("spine to leaf, downwards")],
    }
}

#[test]
fn no_text_of_a_figure_overlaps_another() {
    let drawings = [
        ("lines", Drawing::Chart(chart(NOTE, 0))),
        ("lines without a note", Drawing::Chart(chart("", 0))),
        ("marks", Drawing::Chart(chart(NOTE, 9))),
        ("ticks", Drawing::Chart(with_ticks())),
        ("facets", Drawing::Facets(facets(5, NOTE))),
        ("two facets", Drawing::Facets(facets(2, ""))),
        ("dots", Drawing::Dots(dots())),
        ("links", Drawing::Heat(heat(16))),
        ("many links", Drawing::Heat(heat(64))),
    ];
    let sizes = [None, Some((400.0, 300.0)), Some((640.0, 360.0)), Some((1200.0, 800.0))];
    let mut found = Vec::new();
    for (name, drawing) in drawings {
        for size in sizes {
            let figure = Figure { name: String::new(), drawing: drawing.clone(), size };
            found.extend(overlaps(&format!("{name} {size:?}"), &figure.svg()));
        }
    }
    assert!(found.is_empty(), "{} overlaps:\n{}", found.len(), found.join("\n"));
}

#[test]
fn overlapping_texts_are_found() {
    let found = |distance: f64| {
        let svg = canvas::svg(80.0, 80.0, "", |area| {
            for y in [20.0, 20.0 + distance] {
                canvas::write(area, "packets", (5.0, y), canvas::font(13.0, INK), Anchor::Left);
            }
        });
        overlaps("f", &svg).len()
    };
    assert_eq!([11.0, 16.0].map(found), [1, 0]);
}
