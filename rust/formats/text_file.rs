//! Reading text files that people and other programs wrote.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read};
use std::path::Path;

/// Byte order mark that some editors write at the start of a UTF-8 file.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Maximum length of a description (a scenario or a study) in bytes: 16 MiB, some 200,000 failures.
/// Parsed values take many times the memory of their text. \[inferred\]
pub const MAX_DESCRIPTION_BYTES: u64 = 16 << 20;

/// Maximum length of any other text in bytes: 1 GiB, some 20 million flows. \[inferred\]
const MAX_TEXT_BYTES: u64 = 1 << 30;

/// Maximum length of a results file in bytes: 4 GiB. \[inferred\]
const MAX_RESULTS_BYTES: u64 = 4 << 30;

/// Magic bytes of binary files, with the error for each.
const BINARY: &[(&[u8], &str)] = &[
    (&[0x7f, 0x10, 0, 0, 0, 0, 0, 0], "it is a binary GOAL schedule; expected its text form"),
    (&[0x1f, 0x8b], "it is compressed with gzip; decompress it"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "it is compressed with zstd; decompress it"),
    (b"PK\x03\x04", "it is a zip archive; extract it"),
    (b"PAR1", "it is a Parquet table; expected a text file"),
    (b"SQLite format 3\0", "it is an SQLite database; expected a text file"),
];

/// Reads a text file and strips its byte order mark.
///
/// # Errors
/// Fails if the file cannot be read, exceeds 1 GiB (a device may be endless) or is not UTF-8. The
/// error names the position of the first invalid byte.
pub fn read_text(path: &Path) -> Result<String, Error> {
    text_of(File::open(path)?, MAX_TEXT_BYTES)
}

/// Reads a scenario or a study of at most 16 MiB.
///
/// # Errors
/// As [`read_text`].
pub fn read_description(path: &Path) -> Result<String, Error> {
    text_of(File::open(path)?, MAX_DESCRIPTION_BYTES)
}

/// Reads a results file of at most 4 GiB, some 40 million flows.
///
/// # Errors
/// As [`read_text`]. In addition, fails for anything but a regular file: opening a FIFO could
/// block, and a device may be endless.
pub fn read_results(path: &Path) -> Result<String, Error> {
    // Checked before reading; the file may still grow, so `text_of` checks again.
    if regular_file(path)?.len() > MAX_RESULTS_BYTES {
        return Err(too_long(MAX_RESULTS_BYTES));
    }
    text_of(File::open(path)?, MAX_RESULTS_BYTES)
}

/// Returns the metadata of a regular file; follows symbolic links.
///
/// # Errors
/// Fails if nothing is at `path`, or something other than a regular file: reading a pipe could
/// block, and a device may be endless.
pub fn regular_file(path: &Path) -> Result<Metadata, Error> {
    let found = std::fs::metadata(path)?;
    match found.is_file() {
        true => Ok(found),
        false => Err(Error::new(ErrorKind::InvalidData, "it is not a regular file")),
    }
}

fn too_long(most: u64) -> Error {
    let reason = format!("it exceeds the limit of {} MiB for such files", most >> 20);
    Error::new(ErrorKind::InvalidData, reason)
}

/// Reads at most `most` bytes as text and strips the byte order mark.
///
/// # Errors
/// As [`read_text`].
pub fn text_of(from: impl Read, most: u64) -> Result<String, Error> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells a longer input from one of exactly the maximum length.
    if from.take(most + 1).read_to_end(&mut bytes)? as u64 > most {
        return Err(too_long(most));
    }
    if let Some((_, what)) = BINARY.iter().find(|(start, _)| bytes.starts_with(start)) {
        return Err(Error::new(ErrorKind::InvalidData, *what));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
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

    #[cfg(unix)]
    #[test]
    fn results_are_regular_files_of_at_most_4_gib() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let said = |path: &Path| read_results(path).unwrap_err().to_string();
        assert_eq!(said(Path::new("/dev/zero")), "it is not a regular file");
        nix::unistd::mkfifo(&path("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(
            said(&path("fifo")),
            "it is not a regular file",
            "nobody writes: it is not opened"
        );
        // A sparse file of 5 GiB takes no disk space.
        File::create(path("large")).unwrap().set_len(5 << 30).unwrap();
        assert_eq!(said(&path("large")), "it exceeds the limit of 4096 MiB for such files");
        std::fs::write(path("small"), "a\n").unwrap();
        assert_eq!(read_results(&path("small")).unwrap(), "a\n");
    }

    #[test]
    fn byte_order_marks_are_stripped_and_invalid_utf_8_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read_text(&path).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"\xef\xbb\xbf4 nodes"), Ok("4 nodes".to_owned()));
        assert_eq!(
            read(b"\x1f\x8b\x08"),
            Err("it is compressed with gzip; decompress it".to_owned())
        );
        assert_eq!(read(b"a\nb\xff"), Err("line 2 is not UTF-8: byte 0xff at 3".to_owned()));
    }

    #[test]
    fn endless_input_is_rejected_at_the_limit() {
        let error = text_of(std::io::repeat(b'#'), 2 << 20).unwrap_err().to_string();
        assert_eq!(error, "it exceeds the limit of 2 MiB for such files");
        let whole = text_of(std::io::repeat(b'#').take(2 << 20), 2 << 20).unwrap();
        assert_eq!(whole.len(), 2 << 20);
    }
}
