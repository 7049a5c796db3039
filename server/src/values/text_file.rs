//! Text files as editors write them: Notepad puts a byte order mark before the text, and PowerShell writes UTF-16.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
};

const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes of a text file, without a byte order mark. Those of certificates: comments in them need not be UTF-8.
///
/// # Errors
/// The file cannot be read, or is in UTF-16.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = fs::read(path)?;
    if begins_like_utf_16(&bytes) {
        return Err(unusable(path, "is in UTF-16"));
    }
    if bytes.starts_with(UTF_8_MARK) {
        bytes.drain(..UTF_8_MARK.len());
    }
    Ok(bytes)
}

/// The text of a file in UTF-8, without a byte order mark.
///
/// # Errors
/// The file cannot be read, or is not in UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| unusable(path, "is not in UTF-8"))
}

/// Whether bytes begin with the byte order mark of UTF-16.
pub fn has_utf_16_mark(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// Whether bytes begin like UTF-16, with a mark or with an ASCII character in two bytes.
fn begins_like_utf_16(bytes: &[u8]) -> bool {
    has_utf_16_mark(bytes) || matches!(bytes, [0, 1..=255, ..] | [1..=255, 0, ..])
}

fn unusable(path: &Path, why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("{} {why}: save it as UTF-8", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_file_skips_bom_and_rejects_non_utf8() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let read_text = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            read_text(&path).map_err(|problem| problem.to_string())
        };
        for (bytes, text) in [
            (&b""[..], ""),
            (b"a\r\n", "a\r\n"),
            (b"\xef\xbb\xbfa\n", "a\n"),
            (b"\xef\xbb\xbf", ""),
            (b"a\xef\xbb\xbf", "a\u{feff}"),
            (b"\0\0", "\0\0"),
        ] {
            assert_eq!(read_text(bytes).as_deref(), Ok(text), "{bytes:?}");
        }
        for (bytes, why) in [
            (&b"\xff\xfea\0"[..], "is in UTF-16"),
            (b"\xfe\xff\0a", "is in UTF-16"),
            (b"\xff\xfe\0\0a\0\0\0", "is in UTF-16"),
            (b"a\0b\0", "is in UTF-16"),
            (b"\0a\0b", "is in UTF-16"),
            (b"\xcf\xf0\xe8", "is not in UTF-8"),
        ] {
            let expected = format!("{} {why}: save it as UTF-8", path.display());
            assert_eq!(read_text(bytes), Err(expected), "{bytes:?}");
        }
        fs::write(&path, b"\xef\xbb\xbf# \xcf\n").unwrap();
        assert_eq!(read(&path).unwrap(), b"# \xcf\n", "comments of certificates are in any encoding");
    }
}
