//! Renders a figure's SVG as PNG, with an embedded font.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use thiserror::Error;

use super::PNG_SIGNATURE;

/// Arimo, which has the metrics of Helvetica and Arial, under the SIL Open Font License (see the
/// file next to it).
const FONT: &[u8] = include_bytes!("font/Arimo-latin.ttf");

/// The reason why an SVG cannot be rendered.
#[derive(Debug, Error)]
#[error("the figure cannot be drawn as PNG: {0}")]
pub struct PngError(String);

/// Renders an SVG as PNG, `scale` times as large.
///
/// # Errors
/// Fails if the text is not SVG, or if the picture is too large.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("Arimo");
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| PngError(error.to_string()))?;
    let size = tree.size();
    let side = |length: f32| (length * scale).ceil() as u32;
    let (width, height) = (side(size.width()), side(size.height()));
    let pixels = Pixmap::new(width, height);
    let mut pixels = pixels.ok_or_else(|| PngError(format!("{width} x {height} pixels")))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map(with_signature).map_err(|error| PngError(error.to_string()))
}

/// Inserts the mark after the first chunk, the header, whose length is fixed.
fn with_signature(mut png: Vec<u8>) -> Vec<u8> {
    let (signature, header) = (8, 4 + 4 + 13 + 4);
    let data = PNG_SIGNATURE.len() as u32 - 4;
    let mut sum = flate2::Crc::new();
    sum.update(PNG_SIGNATURE);
    let chunk = [&data.to_be_bytes()[..], PNG_SIGNATURE, &sum.sum().to_be_bytes()].concat();
    let at = signature + header;
    png.splice(at..at, chunk);
    png
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_rendered_with_the_embedded_font() {
        let svg = |text: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"80\" height=\"20\"><text \
                 x=\"2\" y=\"15\" font-family=\"Helvetica, sans-serif\">{text}</text></svg>"
            )
        };
        let [empty, text] = ["", "evenkeel"].map(|text| png(&svg(text), 2.0).unwrap());
        assert!(text.starts_with(b"\x89PNG") && text.len() > empty.len() + 200);
        assert!(png("no svg", 1.0).is_err());
        assert!(super::super::is_figure(&text[..100]), "it has the mark");
        let (data, crc) = (33 + 4 + PNG_SIGNATURE.len(), 4);
        assert_eq!(text[33..37], (PNG_SIGNATURE.len() as u32 - 4).to_be_bytes());
        assert_eq!(&text[data + crc + 4..data + crc + 8], b"IDAT", "the next chunk");
    }
}
