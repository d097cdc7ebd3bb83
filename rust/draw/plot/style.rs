//! The common style of all figures.

use plotters::style::RGBColor;

/// Colours of series, used cyclically: the palette of Okabe and Ito, "Color Universal Design"
/// (2008), without its yellow, which is too light for lines on white.
pub const PALETTE: [(u8, u8, u8); 7] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (0, 0, 0),
];

/// Lengths of a dash and of the gap after it in pixels, used cyclically; `None` for a solid line.
/// With four dash patterns and seven colours, 28 series are distinct.
pub const DASHES: [Option<(u32, u32)>; 4] = [None, Some((9, 4)), Some((2, 3)), Some((5, 8))];

/// Colour of text.
pub(super) const INK: RGBColor = RGBColor(31, 41, 51);
/// Colour of axes and secondary text.
pub(super) const FAINT: RGBColor = RGBColor(87, 96, 106);
/// Colour of grid lines.
pub(super) const GRID: RGBColor = RGBColor(225, 229, 234);
/// Colour of failures and references.
pub(super) const ALARM: RGBColor = RGBColor(213, 94, 0);

/// Fonts with equal metrics; most machines have at least one of them.
pub(super) const FONT: &str = "Helvetica, Arial, Arimo, Liberation Sans, sans-serif";
/// Text sizes in pixels.
pub(super) const TITLE: f64 = 16.0;
pub(super) const TEXT: f64 = 13.0;
pub(super) const NOTE: f64 = 12.0;

/// Returns the colour of a series by its index.
pub(super) fn color(index: usize) -> RGBColor {
    let (red, green, blue) = PALETTE[index % PALETTE.len()];
    RGBColor(red, green, blue)
}

/// Returns the dashes of a series by its index.
pub(super) fn dashes(index: usize) -> Option<(u32, u32)> {
    DASHES[index % DASHES.len()]
}

/// Returns the colour of a fraction between 0 and 1, from light to dark. The scale (ColorBrewer's
/// Blues) keeps its order in greyscale.
pub(super) fn heat(share: f64) -> RGBColor {
    const STOPS: [(u8, u8, u8); 5] =
        [(239, 246, 252), (189, 215, 231), (107, 174, 214), (33, 113, 181), (8, 38, 84)];
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let index = (at as usize).min(STOPS.len() - 2);
    let part = at - index as f64;
    let ((r0, g0, b0), (r1, g1, b1)) = (STOPS[index], STOPS[index + 1]);
    let mix = |a: u8, b: u8| (f64::from(a) + part * (f64::from(b) - f64::from(a))).round() as u8;
    RGBColor(mix(r0, r1), mix(g0, g1), mix(b0, b1))
}

/// Returns the colour of a fraction between 0 and 1 as `#rrggbb`.
pub fn heat_color(share: f64) -> String {
    let RGBColor(red, green, blue) = heat(share);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Returns a generous estimate of a text's width in pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let wide = |character: char| match character {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ' ' | '-' | '/' | '|' | '(' | ')' => 0.34,
        'm' | 'w' | 'M' | 'W' => 0.87,
        'A'..='Z' => 0.69,
        _ => 0.57,
    };
    text.chars().map(wide).sum::<f64>() * size
}

/// Returns the size at which a text fits into a width, at most `size` and at least half of it.
pub(super) fn fitting(text: &str, size: f64, room: f64) -> f64 {
    size * (room / width(text, size)).clamp(0.5, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_differ_in_colour_or_dashes() {
        let all: std::collections::BTreeSet<_> = (0..28)
            .map(|index| {
                let RGBColor(red, green, blue) = color(index);
                (red, green, blue, dashes(index))
            })
            .collect();
        assert_eq!(all.len(), 28);
    }

    #[test]
    fn more_heat_is_darker() {
        let light = |share| {
            let RGBColor(red, green, blue) = heat(share);
            0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue)
        };
        let shares: Vec<f64> = (0..=20).map(|it| f64::from(it) / 20.0).collect();
        assert!(shares.windows(2).all(|pair| light(pair[0]) > light(pair[1])));
    }
}
