//! A drawing area in pixels, based on `plotters`.
//!
//! The SVG backend of `plotters` rounds to whole pixels. Everything is therefore drawn at four
//! times its size and scaled down by the view box.

use std::fmt::Debug;

use plotters::coord::Shift;
use plotters::prelude::{
    DrawingArea, IntoDrawingArea, IntoFont, PathElement, Rectangle, SVGBackend, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, RGBColor, ShapeStyle, TextStyle, WHITE};

use super::style;

/// Backend units per pixel.
const FINE: f64 = 4.0;
/// The divisor that `plotters` applies to text sizes in SVG.
const FONT_UNIT: f64 = 1.24;

/// A drawing area in backend units.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Unwraps the result of a drawing operation, which cannot fail when writing to a string.
pub(super) fn drawn<T, E: Debug>(result: Result<T, E>) -> T {
    result.expect("writing to a string cannot fail")
}

/// Converts pixels to backend units.
pub(super) fn fine(pixels: f64) -> i32 {
    (pixels * FINE).round() as i32
}

/// The start of every SVG.
pub(super) const HEAD: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"";

/// The text between the size and the title of every SVG.
pub(super) const TITLE: &str = " role=\"img\">\n<title>";

/// Returns the SVG of a sheet that `draw` fills, with a title for screen readers.
pub(super) fn svg(width: f64, height: f64, title: &str, draw: impl FnOnce(&Area<'_>)) -> String {
    let mut text = String::new();
    let (wide, high) = (fine(width) as u32, fine(height) as u32);
    {
        let area = SVGBackend::with_string(&mut text, (wide, high)).into_drawing_area();
        drawn(area.fill(&WHITE));
        draw(&area);
        drawn(area.present());
    }
    let escaped = title.replace('&', "&amp;").replace('<', "&lt;");
    let start = format!(
        "{HEAD}{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {wide} {high}\"{TITLE}{escaped}\
         </title>\n"
    );
    // The start tag of the backend lacks a title and the display size.
    let body = text.split_once(">\n").map_or("", |(_, body)| body);
    start + body
}

/// Returns the SVG of a sheet of this size, displayed larger by a factor.
pub(super) fn resized(svg: &str, (width, height): (f64, f64), factor: f64) -> String {
    let head = |width: f64, height: f64| format!("{HEAD}{width:.0}\" height=\"{height:.0}\"");
    svg.replacen(&head(width, height), &head(width * factor, height * factor), 1)
}

/// Returns a font of this size in pixels.
pub(super) fn font(size: f64, color: RGBColor) -> TextStyle<'static> {
    (style::FONT, size * FINE * FONT_UNIT).into_font().color(&color)
}

/// The position of a text relative to its anchor point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Left,
    Middle,
    Right,
    /// Centred, rotated to read upwards.
    Upright,
}

/// Writes a text, vertically centred at `at.1`.
pub(super) fn write(area: &Area<'_>, text: &str, at: (f64, f64), look: TextStyle<'_>, to: Anchor) {
    let horizontal = match to {
        Anchor::Left => HPos::Left,
        Anchor::Middle | Anchor::Upright => HPos::Center,
        Anchor::Right => HPos::Right,
    };
    let mut look = look.pos(Pos::new(horizontal, VPos::Center));
    if to == Anchor::Upright {
        look = look.transform(FontTransform::Rotate270);
    }
    drawn(area.draw(&Text::new(text.to_owned(), (fine(at.0), fine(at.1)), look)));
}

/// Draws a line through points.
pub(super) fn path(area: &Area<'_>, points: &[(f64, f64)], color: RGBColor, width: f64) {
    let points: Vec<_> = points.iter().map(|(x, y)| (fine(*x), fine(*y))).collect();
    let stroke = stroke(color, width);
    drawn(area.draw(&PathElement::new(points, stroke)));
}

/// Draws a filled rectangle.
pub(super) fn rectangle(area: &Area<'_>, from: (f64, f64), to: (f64, f64), color: RGBColor) {
    let corners = [(fine(from.0), fine(from.1)), (fine(to.0), fine(to.1))];
    drawn(area.draw(&Rectangle::new(corners, color.filled())));
}

/// Returns a line style with a width in pixels.
pub(super) fn stroke(color: RGBColor, width: f64) -> ShapeStyle {
    color.stroke_width(fine(width) as u32)
}
