//! Renders a figure as PDF: vectors, and text that can be searched and copied, with the embedded
//! font, as journals ask for.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use flate2::{Compression, write::ZlibEncoder};

use super::PDF_HEAD;
use super::font::{self, Font};
use super::picture::{Form, Picture, PictureError, Shape, Text};

/// Points of 1/72 inch per pixel of 1/96 inch.
const POINTS: f64 = 0.75;
/// Distance of the control points of a quarter of a circle, relative to the radius.
const ARC: f64 = 0.552_284_75;

/// Renders the SVG of a figure as PDF with one page of its size.
///
/// # Errors
/// Fails if the text is not the SVG of a figure.
pub fn pdf(svg: &str) -> Result<Vec<u8>, PictureError> {
    let picture = Picture::of(svg)?;
    let mut page = Page { font: Font::new(), used: BTreeMap::new(), text: String::new() };
    let (width, height) = (picture.size.0 * POINTS, picture.size.1 * POINTS);
    let unit = POINTS / picture.units;
    // The origin of PDF is at the lower left corner.
    page.line(&format!("{} 0 0 {} 0 {} cm", short(unit), short(-unit), short(height)));
    for shape in &picture.shapes {
        page.draw(shape);
    }
    Ok(page.document(&picture.title, (width, height)))
}

/// The content of the page.
struct Page {
    font: Font,
    /// The glyphs in use, with their characters.
    used: BTreeMap<u16, char>,
    text: String,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn draw(&mut self, shape: &Shape) {
        let [red, green, blue] = shape.color.map(|part| short(f64::from(part) / 255.0));
        let (fill, stroke) = match shape.form {
            Form::Line { .. } => ("", "RG"),
            _ => ("rg", ""),
        };
        self.line(&format!("/A{} gs {red} {green} {blue} {fill}{stroke}", percent(shape)));
        match &shape.form {
            Form::Polygon(points) => self.path(points, "h f"),
            Form::Line { points, width } => {
                self.line(&format!("{} w", short(*width)));
                self.path(points, "S");
            }
            Form::Circle { center, radius } => self.circle(*center, *radius),
            Form::Text(text) => self.write(text),
        }
    }

    fn path(&mut self, points: &[(f64, f64)], paint: &str) {
        for (index, (x, y)) in points.iter().enumerate() {
            let operator = if index == 0 { "m" } else { "l" };
            self.line(&format!("{} {} {operator}", short(*x), short(*y)));
        }
        self.line(paint);
    }

    fn circle(&mut self, (x, y): (f64, f64), radius: f64) {
        let arc = ARC * radius;
        self.line(&format!("{} {} m", short(x + radius), short(y)));
        // Quarters, each between two directions.
        let directions = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
        for quarter in 0..4 {
            let ((ax, ay), (bx, by)) = (directions[quarter], directions[(quarter + 1) % 4]);
            let numbers = [
                x + radius * ax + arc * bx,
                y + radius * ay + arc * by,
                x + radius * bx + arc * ax,
                y + radius * by + arc * ay,
                x + radius * bx,
                y + radius * by,
            ];
            self.line(&format!("{} c", numbers.map(short).join(" ")));
        }
        self.line("f");
    }

    fn write(&mut self, text: &Text) {
        let (along, below) = (
            -text.before * self.font.width(&text.text) * text.size,
            self.font.half_x() * text.size,
        );
        // The matrix of the text mirrors it back, since the page is mirrored.
        let (x, y) = text.at;
        let matrix = match text.is_upright {
            false => [1.0, 0.0, 0.0, -1.0, x + along, y + below],
            true => [0.0, -1.0, -1.0, 0.0, x + below, y - along],
        };
        let mut glyphs = String::new();
        for (character, glyph) in self.font.glyphs(&text.text) {
            self.used.insert(glyph.0, character);
            write!(glyphs, "{:04X}", glyph.0).expect("a string is written");
        }
        let (matrix, size) = (matrix.map(short).join(" "), short(text.size));
        self.line(&format!("BT /F {size} Tf {matrix} Tm <{glyphs}> Tj ET"));
    }

    /// Returns the file.
    fn document(self, title: &str, (width, height): (f64, f64)) -> Vec<u8> {
        let states: String = (0..=100).filter(|it| self.text.contains(&format!("/A{it} gs"))).fold(
            String::new(),
            |states, it| {
                let share = short(f64::from(it) / 100.0);
                states + &format!("/A{it} << /ca {share} /CA {share} >> ")
            },
        );
        let face = self.font.face();
        let scaled = |units: i16| (f64::from(units) * 1000.0 / self.font.em()).round();
        let bounds = face.global_bounding_box();
        let bounds = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(scaled);
        let bounds = bounds.map(|it| it.to_string()).join(" ");
        let (ascent, descent) = (scaled(face.ascender()), scaled(face.descender()));
        let cap = scaled(face.capital_height().unwrap_or(face.ascender()));
        let title: String = title.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
        let objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents 4 0 R /Resources << \
                 /Font << /F 5 0 R >> /ExtGState << {states}>> >> >>",
                short(width),
                short(height)
            )
            .into(),
            stream("", self.text.as_bytes()),
            b"<< /Type /Font /Subtype /Type0 /BaseFont /Arimo /Encoding /Identity-H \
              /DescendantFonts [6 0 R] /ToUnicode 9 0 R >>"
                .to_vec(),
            format!(
                "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Arimo /CIDSystemInfo << \
                 /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 7 0 R \
                 /CIDToGIDMap /Identity /W [{}] >>",
                self.widths()
            )
            .into(),
            format!(
                "<< /Type /FontDescriptor /FontName /Arimo /Flags 4 /FontBBox [{bounds}] \
                 /ItalicAngle 0 /Ascent {ascent} /Descent {descent} /CapHeight {cap} /StemV 80 \
                 /FontFile2 8 0 R >>"
            )
            .into(),
            stream(&format!("/Length1 {} ", font::DATA.len()), font::DATA),
            stream("", self.characters().as_bytes()),
            format!("<< /Producer (evenkeel) /Title <FEFF{title}> >>").into(),
        ];
        assembled(&objects)
    }

    /// Returns the widths of the glyphs in use.
    fn widths(&self) -> String {
        let width = |glyph: &u16| {
            let width = 1000.0 * self.font.advance(ttf_parser::GlyphId(*glyph));
            format!("{glyph} [{}]", width.round())
        };
        self.used.keys().map(width).collect::<Vec<_>>().join(" ")
    }

    /// Returns the map from glyphs to characters.
    fn characters(&self) -> String {
        let mut text = String::from(
            "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n\
             /CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n\
             /CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n\
             1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n",
        );
        let used: Vec<(&u16, &char)> = self.used.iter().collect();
        // A block has at most 100 lines.
        for block in used.chunks(100) {
            text += &format!("{} beginbfchar\n", block.len());
            for (glyph, character) in block {
                text += &format!("<{glyph:04X}> <{:04X}>\n", u32::from(**character));
            }
            text += "endbfchar\n";
        }
        text + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    }
}

/// Returns the opacity of a shape in percent.
fn percent(shape: &Shape) -> u32 {
    (100.0 * shape.opacity).round() as u32
}

/// Returns a number with at most four decimals.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Returns a compressed stream with these entries in its dictionary.
fn stream(entries: &str, data: &[u8]) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(data).expect("memory is written");
    let packed = packed.finish().expect("memory is written");
    let length = packed.len();
    let head = format!("<< {entries}/Filter /FlateDecode /Length {length} >>\nstream\n");
    [head.as_bytes(), &packed, b"\nendstream"].concat()
}

/// Returns the file with these objects. The last object describes the file.
fn assembled(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = PDF_HEAD.to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (index, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", file.len());
        file.extend(format!("{} 0 obj\n", index + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let (start, count) = (file.len(), objects.len());
    file.extend(table.bytes());
    let trailer = format!(
        "trailer\n<< /Size {} /Root 1 0 R /Info {count} 0 R >>\nstartxref\n{start}\n%%EOF\n",
        count + 1
    );
    file.extend(trailer.bytes());
    file
}

#[cfg(test)]
mod tests {
    use super::super::canvas::{self, Anchor};
    use super::super::style::{INK, TEXT};
    use super::*;

    #[test]
    fn offsets_lead_to_objects_and_the_page_has_the_size_of_the_figure() {
        let svg = canvas::svg(80.0, 20.0, "a µ", |area| {
            canvas::write(area, "µs", (2.0, 10.0), canvas::font(TEXT, INK), Anchor::Left);
        });
        let file = pdf(&svg).unwrap();
        assert!(super::super::is_figure(&file[..64]), "it has the mark");
        let text = String::from_utf8_lossy(&file).into_owned();
        assert!(text.contains("/MediaBox [0 0 60 15]"), "80 x 20 pixels of 1/96 inch");
        assert!(text.contains("/Title <FEFF0061002000B5>"));
        let at = |offset: usize| String::from_utf8_lossy(&file[offset..]).into_owned();
        let start: usize =
            text.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse().unwrap();
        let table = at(start);
        let offsets = table.lines().skip(3).map_while(|line| line.strip_suffix(" 00000 n "));
        for (index, offset) in offsets.enumerate() {
            let object = at(offset.parse().unwrap());
            assert!(object.starts_with(&format!("{} 0 obj\n", index + 1)), "{object:.20}");
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.1875, -0.1875, 3.0, -0.00001].map(short), ["0.1875", "-0.1875", "3", "0"]);
    }
}
