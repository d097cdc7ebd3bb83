//! The shapes of a figure's SVG, read again for formats other than SVG.
//!
//! Only the elements that `plotters` writes are known. All lengths are units of the view box.

use thiserror::Error;

/// Height of an x in the embedded font, relative to the size of the text.
const X_HEIGHT: f64 = 0.53;

/// The reason why a figure cannot be drawn in another format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the figure cannot be drawn: {0}")]
pub struct PictureError(pub(super) String);

/// Red, green and blue.
pub(super) type Rgb = [u8; 3];

/// A figure as shapes, in drawing order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picture {
    pub title: String,
    /// Width and height in pixels of 1/96 inch.
    pub size: (f64, f64),
    /// Units of the view box per pixel.
    pub units: f64,
    pub shapes: Vec<Shape>,
}

/// A shape with its colour and its opacity from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub color: Rgb,
    pub opacity: f64,
    pub form: Form,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// A filled polygon.
    Polygon(Vec<(f64, f64)>),
    /// A line through points.
    Line {
        points: Vec<(f64, f64)>,
        width: f64,
    },
    /// A filled circle.
    Circle {
        center: (f64, f64),
        radius: f64,
    },
    Text(Text),
}

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    pub text: String,
    /// The anchor, at half the height of an x.
    pub at: (f64, f64),
    pub size: f64,
    /// The part of the text before the anchor: 0, 0.5 or 1.
    pub before: f64,
    /// True for text that reads upwards.
    pub is_upright: bool,
}

impl Picture {
    /// Reads the SVG of a figure.
    pub(super) fn of(svg: &str) -> Result<Self, PictureError> {
        let mut elements = svg.split('<').skip(1);
        let head = elements.next().unwrap_or_default();
        let [width, height] = ["width", "height"].map(|key| number(head, key));
        let (width, height) = (width?, height?);
        let title = elements.next().unwrap_or_default();
        let title = title.strip_prefix("title>").ok_or_else(|| unknown(title))?;
        let view = attribute(head, "viewBox")?;
        let across = view.split(' ').nth(2).and_then(|it| it.parse::<f64>().ok());
        let units = across.ok_or_else(|| unknown(head))? / width;
        let shapes = elements.filter(|element| !element.starts_with('/'));
        let shapes = shapes.map(shape).collect::<Result<_, _>>()?;
        Ok(Self { title: unescaped(title), size: (width, height), units, shapes })
    }
}

/// Reads an element, from the name of its tag to the next tag.
fn shape(element: &str) -> Result<Shape, PictureError> {
    let (color, form) = match element.split(' ').next() {
        Some("rect") => {
            let [x, y, width, height] = numbers(element, ["x", "y", "width", "height"])?;
            let corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
            match attribute(element, "fill")? {
                "none" => {
                    let points = corners.into_iter().chain([corners[0]]).collect();
                    ("stroke", Form::Line { points, width: 1.0 })
                }
                _ => ("fill", Form::Polygon(corners.to_vec())),
            }
        }
        Some("polygon") => ("fill", Form::Polygon(points(element)?)),
        Some("polyline") => {
            let width = number(element, "stroke-width")?;
            ("stroke", Form::Line { points: points(element)?, width })
        }
        Some("line") => {
            let [x1, y1, x2, y2, width] =
                numbers(element, ["x1", "y1", "x2", "y2", "stroke-width"])?;
            ("stroke", Form::Line { points: vec![(x1, y1), (x2, y2)], width })
        }
        Some("circle") => {
            let [x, y, radius] = numbers(element, ["cx", "cy", "r"])?;
            ("fill", Form::Circle { center: (x, y), radius })
        }
        Some("text") => ("fill", Form::Text(text(element)?)),
        _ => return Err(unknown(element)),
    };
    let opacity = number(element, "opacity")?;
    Ok(Shape { color: rgb(attribute(element, color)?)?, opacity, form })
}

fn text(element: &str) -> Result<Text, PictureError> {
    let [x, y, size] = numbers(element, ["x", "y", "font-size"])?;
    let before = match attribute(element, "text-anchor")? {
        "start" => 0.0,
        "middle" => 0.5,
        _ => 1.0,
    };
    // Distance from the anchor in the SVG to half the height of an x: below a text's upper end, at
    // its middle, or above its base line.
    let shift = match attribute(element, "dy")? {
        "0.76em" => 0.5 * size,
        "0.5ex" => 0.0,
        "-0.5ex" => -X_HEIGHT * size,
        _ => return Err(unknown(element)),
    };
    let content = element.split_once(">\n").ok_or_else(|| unknown(element))?.1;
    let is_upright = element.contains(" transform=\"rotate(270");
    let at = if is_upright { (x + shift, y) } else { (x, y + shift) };
    let text = unescaped(content.trim_end_matches('\n'));
    Ok(Text { text, at, size, before, is_upright })
}

fn unknown(element: &str) -> PictureError {
    let start: String = element.chars().take(40).collect();
    PictureError(format!("unknown element '<{start}'"))
}

/// Returns an attribute of an element.
fn attribute<'a>(element: &'a str, key: &str) -> Result<&'a str, PictureError> {
    let start = format!(" {key}=\"");
    let value = element.split_once(&start).and_then(|(_, rest)| rest.split_once('"'));
    value.map(|(value, _)| value).ok_or_else(|| unknown(element))
}

fn number(element: &str, key: &str) -> Result<f64, PictureError> {
    attribute(element, key)?.parse().map_err(|_| unknown(element))
}

fn numbers<const N: usize>(element: &str, keys: [&str; N]) -> Result<[f64; N], PictureError> {
    let mut numbers = [0.0; N];
    for (to, key) in numbers.iter_mut().zip(keys) {
        *to = number(element, key)?;
    }
    Ok(numbers)
}

fn points(element: &str) -> Result<Vec<(f64, f64)>, PictureError> {
    let point = |pair: &str| {
        let (x, y) = pair.split_once(',')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    };
    let points: Option<_> = attribute(element, "points")?.split_whitespace().map(point).collect();
    points.ok_or_else(|| unknown(element))
}

fn rgb(color: &str) -> Result<Rgb, PictureError> {
    let part = |at: usize| u8::from_str_radix(color.get(at..at + 2)?, 16).ok();
    let parts = (part(1), part(3), part(5));
    let (Some(red), Some(green), Some(blue)) = parts else { return Err(unknown(color)) };
    Ok([red, green, blue])
}

fn unescaped(text: &str) -> String {
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    entities.iter().fold(text.trim_end().to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::super::canvas;
    use super::super::style::{INK, TEXT};
    use super::*;

    #[test]
    fn shapes_are_read_as_they_were_drawn() {
        let svg = canvas::svg(80.0, 20.0, "a < b", |area| {
            canvas::path(area, &[(1.0, 2.0), (3.0, 4.0)], INK, 1.0);
            let font = canvas::font(TEXT, INK);
            canvas::write(area, "x & \"y\"", (5.0, 6.0), font, canvas::Anchor::Upright);
        });
        let picture = Picture::of(&svg).unwrap();
        assert_eq!(
            (picture.title.as_str(), picture.size, picture.units),
            ("a < b", (80.0, 20.0), 4.0)
        );
        assert_eq!(picture.shapes.len(), 3, "with the background");
        let line = Form::Line { points: vec![(4.0, 8.0), (12.0, 16.0)], width: 4.0 };
        assert_eq!((picture.shapes[1].form.clone(), picture.shapes[1].color), (line, [31, 41, 51]));
        let Form::Text(text) = &picture.shapes[2].form else { panic!("a text") };
        assert_eq!((text.text.as_str(), text.before, text.is_upright), ("x & \"y\"", 0.5, true));
    }

    #[test]
    fn texts_at_a_base_line_are_above_it() {
        let x_height = 2.0 * super::super::font::Font::new().half_x();
        assert!((X_HEIGHT - x_height).abs() < 0.01, "{x_height}");
        let element = "text x=\"8\" y=\"90\" dy=\"-0.5ex\" text-anchor=\"middle\" \
                       font-size=\"10\" opacity=\"1\" fill=\"#000000\">\nsize\n";
        assert_eq!(text(element).unwrap().at, (8.0, 84.7));
        let upright = element.replace(" opacity", " transform=\"rotate(270, 8, 90)\" opacity");
        assert_eq!(text(&upright.replace("-0.5ex", "0.76em")).unwrap().at, (13.0, 90.0));
    }

    #[test]
    fn other_svg_is_an_error() {
        let svg = canvas::svg(8.0, 2.0, "", |_| {}).replace("<rect", "<path");
        let error = Picture::of(&svg).unwrap_err().to_string();
        assert!(error.contains("unknown element '<path"), "{error}");
        assert!(Picture::of("no svg").is_err());
    }
}
