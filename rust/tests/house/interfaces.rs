//! What other programs are compiled against: the public items of the library and the headers of
//! C++. A table has their number and a fingerprint, so that no change of them goes unnoticed.
//!
//! Items that are `pub` can be reached from outside, since rustc's lint `unreachable_pub` is on.
//! Of a function the signature counts, of an enum the variants, of a trait the methods; fields
//! and methods are items of their own.

use std::collections::BTreeMap;

use super::lexer;
use super::project::SourceFile;

/// The table; `version` is that of the crate.
pub(crate) fn table(rust: &[SourceFile], cpp: &[SourceFile], version: &str) -> String {
    let mut text = format!(
        "Public items of version {version}: their number and a fingerprint. A change needs an\n\
         entry in CHANGELOG.md; then: INSTA_UPDATE=always cargo test --test house\n\n"
    );
    let mut modules: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in rust {
        let items = items(&file.text).into_iter().map(|item| format!("{}: {item}", file.path));
        modules.entry(module(&file.path)).or_default().extend(items);
    }
    for file in cpp {
        let code = lexer::split(&file.text).code;
        let lines = code.lines().map(words).filter(|line| !line.is_empty());
        let place = file.path.split('/').next().unwrap_or_default();
        let entry = modules.entry(format!("{place}/*.h, lines of code")).or_default();
        entry.extend(lines.map(|line| format!("{}: {line}", file.path)));
    }
    modules.retain(|_, items| !items.is_empty());
    let width = modules.keys().map(String::len).max().unwrap_or(0);
    for (module, mut items) in modules {
        items.sort();
        let (count, print) = (items.len(), fingerprint(&items.join("\n")));
        text.push_str(&format!("{module:width$}  {count:5}  {print:016x}\n"));
    }
    text
}

/// The top-level module of a file: `nic` of `rust/nic/qp.rs` and of `rust/nic.rs`.
fn module(path: &str) -> String {
    let rest = path.strip_prefix("rust/").unwrap_or(path);
    rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs").to_owned()
}

/// The public items of a text, each with single spaces, without tests.
fn items(text: &str) -> Vec<String> {
    let code = lexer::split(text).code;
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    let mut items = Vec::new();
    let mut offset = 0;
    for line in code.lines() {
        let start = offset + line.len() - line.trim_start().len();
        offset += line.len() + 1;
        if code[start..].starts_with("pub ") {
            items.push(words(item(&code[start..])));
        }
    }
    items
}

/// An item from its `pub` on: up to its body, or with it where that is part of the interface.
fn item(code: &str) -> &str {
    let has_public_body = ["pub enum ", "pub trait "].iter().any(|head| code.starts_with(head));
    let (mut depth, mut angles) = (0usize, 0usize);
    let mut before = b' ';
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'<' => angles += 1,
            // Not the arrow of a return type.
            b'>' if before != b'-' => angles = angles.saturating_sub(1),
            b'{' if depth == 0 && !has_public_body && !code.starts_with("pub use ") => {
                return &code[..at];
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return &code[..at],
            b'}' if depth == 1 => return &code[..=at],
            b')' | b']' | b'}' => depth -= 1,
            b';' | b',' | b'=' if depth == 0 && angles == 0 => return &code[..at],
            _ => {}
        }
        before = byte;
    }
    code
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// FNV-1a with 64 bits, by its reference (Fowler, Noll, Vo).
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
/// Words.
pub struct Point<T> {
    pub x: BTreeMap<u8, T>,
    hidden: u8,
}
impl<T> Point<T> {
    pub fn far(
        self,
    ) -> Result<T, Fault> {
        pub_call()
    }
    pub(crate) fn near(self) {}
}
pub enum Kind { A, B(u8) }
pub use a::{B, C};
pub const N: usize = 3;
#[cfg(test)]
mod tests { pub fn no() {} }
";

    #[test]
    fn items_have_their_signatures_and_enums_their_variants() {
        let expected = [
            "pub struct Point<T>",
            "pub x: BTreeMap<u8, T>",
            "pub fn far( self, ) -> Result<T, Fault>",
            "pub enum Kind { A, B(u8) }",
            "pub use a::{B, C}",
            "pub const N: usize",
        ];
        assert_eq!(items(TEXT), expected);
    }

    #[test]
    fn a_changed_signature_changes_its_line_and_a_changed_body_none() {
        let of = |text: &str| {
            let nic = SourceFile::new("rust/nic/a.rs", text);
            table(&[nic, SourceFile::new("rust/b.rs", "pub fn b() {}")], &[], "1.0.0")
        };
        let before = of(TEXT);
        assert_eq!(of(&TEXT.replace("pub_call()", "other()")), before);
        assert_eq!(of(&TEXT.replace("Words", "Other words")), before);
        for (old, new) in [("B(u8)", "B(u16)"), ("-> Result", "-> Option"), ("N: usize", "N: u8")] {
            let after = of(&TEXT.replace(old, new));
            let changed = before.lines().zip(after.lines()).filter(|(a, b)| a != b).count();
            assert_eq!(changed, 1, "{old}");
        }
        assert!(before.lines().last().is_some_and(|line| line.starts_with("nic      6  ")));
        // The reference's value of the empty text and of "a".
        assert_eq!([fingerprint(""), fingerprint("a")], [0xcbf29ce484222325, 0xaf63dc4c8601ec8c]);
    }

    #[test]
    fn headers_count_by_lines_without_comments() {
        let header = |text: &str| table(&[], &[SourceFile::new("cpp-bridge/a.h", text)], "1.0.0");
        assert_eq!(header("int f ();  // a\n\n"), header("int f ();\n"));
        assert_ne!(header("int f ();\n"), header("long f ();\n"));
    }
}
