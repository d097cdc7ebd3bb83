//! Renders a figure as PNG, with the embedded font.

use std::io::Write as _;

use flate2::{Compression, Crc, write::ZlibEncoder};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform,
};
use ttf_parser::OutlineBuilder;

use super::PNG_SIGNATURE;
use super::font::Font;
use super::picture::{Form, Picture, PictureError, Shape, Text};

/// Renders the SVG of a figure as PNG, `scale` times as large.
///
/// # Errors
/// Fails if the text is not the SVG of a figure, or if the picture is too large.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PictureError> {
    let picture = Picture::of(svg)?;
    let side = |length: f64| (length * f64::from(scale)).ceil() as u32;
    let (width, height) = (side(picture.size.0), side(picture.size.1));
    let pixels = Pixmap::new(width, height);
    let mut pixels = pixels.ok_or_else(|| PictureError(format!("{width} x {height} pixels")))?;
    // The last row and column may be covered only partly.
    pixels.fill(Color::WHITE);
    let factor = scale / picture.units as f32;
    let font = Font::new();
    for shape in &picture.shapes {
        draw(shape, &mut pixels, Transform::from_scale(factor, factor), &font);
    }
    // About 3,780 pixels per metre are 96 per inch.
    let per_metre = (f64::from(scale) * 96.0 / 0.0254).round() as u32;
    Ok(encode(&pixels, per_metre))
}

fn draw(shape: &Shape, pixels: &mut Pixmap, place: Transform, font: &Font) {
    let mut paint = Paint::default();
    let [red, green, blue] = shape.color;
    paint.set_color_rgba8(red, green, blue, (shape.opacity * 255.0).round() as u8);
    paint.anti_alias = true;
    match &shape.form {
        Form::Polygon(points) => {
            if let Some(path) = path(points, true) {
                pixels.fill_path(&path, &paint, FillRule::Winding, place, None);
            }
        }
        Form::Line { points, width } => {
            let stroke = Stroke {
                width: *width as f32,
                line_cap: LineCap::Butt,
                line_join: LineJoin::Miter,
                ..Stroke::default()
            };
            if let Some(path) = path(points, false) {
                pixels.stroke_path(&path, &paint, &stroke, place, None);
            }
        }
        Form::Circle { center, radius } => {
            let [x, y, radius] = [center.0, center.1, *radius].map(|it| it as f32);
            let bounds = Rect::from_xywh(x - radius, y - radius, 2.0 * radius, 2.0 * radius);
            if let Some(path) = bounds.and_then(PathBuilder::from_oval) {
                pixels.fill_path(&path, &paint, FillRule::Winding, place, None);
            }
        }
        Form::Text(text) => write(text, pixels, &paint, place, font),
    }
}

fn path(points: &[(f64, f64)], is_closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        match index {
            0 => path.move_to(x as f32, y as f32),
            _ => path.line_to(x as f32, y as f32),
        }
    }
    if is_closed {
        path.close();
    }
    path.finish()
}

fn write(text: &Text, pixels: &mut Pixmap, paint: &Paint<'_>, place: Transform, font: &Font) {
    let scale = (text.size / font.em()) as f32;
    let turn = if text.is_upright { -90.0 } else { 0.0 };
    let start = -text.before * font.width(&text.text) * text.size;
    let place = place
        .pre_translate(text.at.0 as f32, text.at.1 as f32)
        .pre_rotate(turn)
        .pre_translate(start as f32, (font.half_x() * text.size) as f32)
        .pre_scale(scale, -scale);
    let mut outline = Outline { path: PathBuilder::new(), left: 0.0 };
    for (_, glyph) in font.glyphs(&text.text) {
        font.outline(glyph, &mut outline);
        outline.left += (font.advance(glyph) * font.em()) as f32;
    }
    if let Some(path) = outline.path.finish() {
        pixels.fill_path(&path, paint, FillRule::Winding, place, None);
    }
}

/// Collects the outlines of glyphs, each at its place.
struct Outline {
    path: PathBuilder,
    left: f32,
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.left + x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.left + x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.left + x1, y1, self.left + x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let left = self.left;
        self.path.cubic_to(left + x1, y1, left + x2, y2, left + x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// Returns opaque pixels as PNG with eight bits per colour.
fn encode(pixels: &Pixmap, per_metre: u32) -> Vec<u8> {
    let (width, height) = (pixels.width(), pixels.height());
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in pixels.data().chunks_exact(4 * width as usize) {
        // Each row begins with its filter: none.
        let colors = row.chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied();
        let bytes: Vec<u8> = [0].into_iter().chain(colors).collect();
        rows.write_all(&bytes).expect("memory is written");
    }
    let rows = rows.finish().expect("memory is written");
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // Eight bits, red, green and blue; the only compression and filter method; not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut density = [per_metre.to_be_bytes(), per_metre.to_be_bytes()].concat();
    density.push(1);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let named = |name: &[u8], data: &[u8]| [name, data].concat();
    for chunk in [
        named(b"IHDR", &header),
        PNG_SIGNATURE.to_vec(),
        named(b"pHYs", &density),
        named(b"IDAT", &rows),
        named(b"IEND", &[]),
    ] {
        let mut sum = Crc::new();
        sum.update(&chunk);
        png.extend((chunk.len() as u32 - 4).to_be_bytes());
        png.extend(&chunk);
        png.extend(sum.sum().to_be_bytes());
    }
    png
}

#[cfg(test)]
mod tests {
    use super::super::canvas::{self, Anchor};
    use super::super::style::{INK, TEXT};
    use super::*;

    #[test]
    fn text_is_rendered_with_the_embedded_font() {
        let svg = |text: &str| {
            canvas::svg(80.0, 20.0, "", |area| {
                canvas::write(area, text, (2.0, 10.0), canvas::font(TEXT, INK), Anchor::Left);
            })
        };
        let [empty, text] = ["", "evenkeel µs"].map(|text| png(&svg(text), 2.0).unwrap());
        assert!(text.starts_with(b"\x89PNG") && text.len() > empty.len() + 200);
        assert!(png("no svg", 1.0).is_err());
        assert!(super::super::is_figure(&text[..100]), "it has the mark");
        assert_eq!(text[16..24], [0, 0, 0, 160, 0, 0, 0, 40], "width and height");
    }

    #[test]
    fn a_shape_covers_its_pixels() {
        let svg = canvas::svg(4.0, 2.0, "", |area| {
            canvas::rectangle(area, (1.0, 0.0), (2.0, 2.0), INK);
        });
        let picture = Picture::of(&svg).unwrap();
        let mut pixels = Pixmap::new(4, 2).unwrap();
        for shape in &picture.shapes {
            draw(shape, &mut pixels, Transform::from_scale(0.25, 0.25), &Font::new());
        }
        let red: Vec<u8> = pixels.pixels()[..4].iter().map(|pixel| pixel.red()).collect();
        assert_eq!(red, [255, 31, 255, 255]);
    }
}
