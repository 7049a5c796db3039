//! The merchant's logo: a small picture, of a kind that is known by its first bytes.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::values::text_file::has_utf_16_mark;

/// What a payer on a slow line still loads at once.
const LARGEST: usize = 256 * 1024;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";

/// A picture for the hosted page: PNG, JPEG or SVG, of at most 256 KiB.
#[derive(Clone, PartialEq, Eq)]
pub struct Logo {
    kind: Kind,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Png,
    Jpeg,
    Svg,
}

impl Logo {
    /// The picture in these bytes.
    ///
    /// # Errors
    /// The rule that they break.
    pub fn new(bytes: Vec<u8>) -> Result<Self, String> {
        if bytes.len() > LARGEST {
            return Err("must be a picture of at most 256 KiB".to_owned());
        }
        if has_utf_16_mark(&bytes) {
            return Err("is in UTF-16: save it as UTF-8".to_owned());
        }
        let kind = kind(&bytes).ok_or_else(|| "must be a PNG, JPEG or SVG picture".to_owned())?;
        Ok(Self { kind, bytes })
    }

    /// The picture in a file, of which no more is read than may be.
    ///
    /// # Errors
    /// Why the file cannot be read; within, the rule that its content breaks.
    pub(crate) fn read(path: &Path) -> io::Result<Result<Self, String>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
        Ok(Self::new(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn media_type(&self) -> &'static str {
        match self.kind {
            Kind::Png => "image/png",
            Kind::Jpeg => "image/jpeg",
            Kind::Svg => "image/svg+xml",
        }
    }

    pub(super) fn extension(&self) -> &'static str {
        match self.kind {
            Kind::Png => "png",
            Kind::Jpeg => "jpg",
            Kind::Svg => "svg",
        }
    }
}

fn kind(bytes: &[u8]) -> Option<Kind> {
    if bytes.starts_with(PNG) {
        return Some(Kind::Png);
    }
    if bytes.starts_with(JPEG) {
        return Some(Kind::Jpeg);
    }
    let text = std::str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}').trim_start();
    let is_svg =
        text.starts_with("<svg") || (text.starts_with("<?xml") || text.starts_with("<!")) && text.contains("<svg");
    is_svg.then_some(Kind::Svg)
}

/// Its bytes say nothing to people.
impl fmt::Debug for Logo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Logo({}, {} bytes)", self.media_type(), self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_first_bytes() {
        let kind = |bytes: &[u8]| Logo::new(bytes.to_vec()).map(|logo| logo.media_type());
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n..."), Ok("image/png"));
        assert_eq!(kind(b"\xff\xd8\xff\xe0..."), Ok("image/jpeg"));
        assert_eq!(kind(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), Ok("image/svg+xml"));
        assert_eq!(kind(b"\xef\xbb\xbf<?xml version='1.0'?>\n<svg/>"), Ok("image/svg+xml"));
        for other in [&b""[..], b"GIF89a", b"<html><svg/></html>", b"<?xml version='1.0'?><a/>", b"\xff\xfe"] {
            assert!(kind(other).is_err(), "{other:?}");
        }
        assert_eq!(kind(b"\xff\xfe<\0s\0v\0g\0"), Err("is in UTF-16: save it as UTF-8".to_owned()));
        assert!(kind(&[PNG, &vec![0; LARGEST]].concat()).unwrap_err().contains("256 KiB"));
    }
}
