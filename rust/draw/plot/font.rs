//! The embedded font, whose metrics are those of Helvetica and Arial.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Arimo, under the SIL Open Font License (see the file next to it).
pub(super) const DATA: &[u8] = include_bytes!("font/Arimo-latin.ttf");

/// The font, read.
pub(super) struct Font(Face<'static>);

impl Font {
    pub(super) fn new() -> Self {
        Self(Face::parse(DATA, 0).expect("the embedded font is valid"))
    }

    /// Returns the face, for its metrics.
    pub(super) fn face(&self) -> &Face<'static> {
        &self.0
    }

    /// Returns the glyphs of a text; characters that the font lacks are question marks.
    pub(super) fn glyphs(&self, text: &str) -> Vec<(char, GlyphId)> {
        let known = |character: char| Some((character, self.0.glyph_index(character)?));
        text.chars().filter_map(|it| known(it).or_else(|| known('?'))).collect()
    }

    /// Returns the advance of a glyph relative to the size of the text.
    pub(super) fn advance(&self, glyph: GlyphId) -> f64 {
        f64::from(self.0.glyph_hor_advance(glyph).unwrap_or(0)) / self.em()
    }

    /// Returns the width of a text relative to its size.
    pub(super) fn width(&self, text: &str) -> f64 {
        self.glyphs(text).iter().map(|(_, glyph)| self.advance(*glyph)).sum()
    }

    /// Returns half the height of an x relative to the size of the text: where the anchor of a
    /// vertically centred text is above its base line.
    pub(super) fn half_x(&self) -> f64 {
        self.0.x_height().map_or(0.26, |height| f64::from(height) / self.em() / 2.0)
    }

    /// Returns the number of font units in the size of a text.
    pub(super) fn em(&self) -> f64 {
        f64::from(self.0.units_per_em())
    }

    /// Passes the outline of a glyph in font units.
    pub(super) fn outline(&self, glyph: GlyphId, to: &mut dyn OutlineBuilder) {
        self.0.outline_glyph(glyph, to);
    }
}
