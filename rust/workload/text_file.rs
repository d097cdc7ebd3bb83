//! Text files that people and other programs wrote.

use std::io::{Error, ErrorKind};
use std::path::Path;

/// What some editors put in front of a text to say that it is UTF-8.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The text of a file, without a byte order mark.
///
/// # Errors
/// Those of reading, and of a file that is not UTF-8, with the place of the first such byte.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    let text = String::from_utf8(std::fs::read(path)?).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = 1 + bytes[..valid].iter().filter(|&&byte| byte == b'\n').count();
        let reason = format!("line {line} is not UTF-8: byte 0x{:02x} at {valid}", bytes[valid]);
        Error::new(ErrorKind::InvalidData, reason)
    })?;
    let marked = text.strip_prefix(BYTE_ORDER_MARK).map(str::to_owned);
    Ok(marked.unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_left_out_and_what_is_not_utf_8_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read_text(&path).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"\xef\xbb\xbf4 nodes"), Ok("4 nodes".to_owned()));
        assert_eq!(read(b"a\nb\xff"), Err("line 2 is not UTF-8: byte 0xff at 3".to_owned()));
    }
}
