//! The merchant as payers see it: name, colour and logo.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
    str::FromStr,
};

use crate::values::text_file::has_utf_16_mark;

/// The merchant as the hosted page shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merchant {
    /// The name; without one, the host that payers return to is shown.
    pub name: Option<String>,
    /// The logo.
    pub logo: Option<Logo>,
    /// The colour of buttons, and of links if it is readable on the page.
    pub colour: Option<Colour>,
    /// The shop's phone for payers, as shown.
    pub phone: Option<String>,
    /// The email address.
    pub email: Option<String>,
    /// The shop's site.
    pub url: Option<String>,
}

/// A contact of the shop.
#[derive(Clone)]
pub(super) struct Contact {
    pub(super) url: String,
    pub(super) text: String,
}

impl Merchant {
    /// The contacts of the shop: phone, email, site.
    pub(super) fn contacts(&self) -> Vec<Contact> {
        let digits =
            |phone: &str| phone.chars().filter(|sign| *sign == '+' || sign.is_ascii_digit()).collect::<String>();
        let phone =
            self.phone.as_ref().map(|phone| Contact { url: format!("tel:{}", digits(phone)), text: phone.clone() });
        let email = self.email.as_ref().map(|email| Contact { url: format!("mailto:{email}"), text: email.clone() });
        let without_scheme =
            |url: &str| url.split_once("://").map_or(url, |(_, rest)| rest).trim_end_matches('/').to_owned();
        let site = self.url.as_ref().map(|url| Contact { url: url.clone(), text: without_scheme(url) });
        [phone, email, site].into_iter().flatten().collect()
    }
}

/// A colour, as `#RRGGBB`.
///
/// ```
/// let colour: kassa_server::Colour = "#FFD400".parse().unwrap();
/// assert_eq!((colour.to_string(), colour.text().to_string()), ("#ffd400".to_owned(), "#000000".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour([u8; 3]);

impl Colour {
    const BLACK: Self = Self([0; 3]);
    const WHITE: Self = Self([255; 3]);

    /// Black or white, whichever is more readable on it. The contrast is at least 4.58 to 1 for any colour: more than
    /// the 4.5 to 1 of WCAG 2.2, 1.4.3.
    pub fn text(self) -> Self {
        if self.contrast(Self::WHITE) >= self.contrast(Self::BLACK) { Self::WHITE } else { Self::BLACK }
    }

    /// Whether text in this colour is readable on all of these (WCAG 2.2, 1.4.3).
    pub(super) fn is_readable_on(self, papers: &[Self]) -> bool {
        papers.iter().all(|paper| self.contrast(*paper) >= 4.5)
    }

    pub(super) const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self([red, green, blue])
    }

    /// The contrast ratio of WCAG: 1 to 21.
    fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// Relative luminance, as WCAG defines it.
    fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = self.0.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

impl FromStr for Colour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be a colour such as #1F4F8F".to_owned();
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6).ok_or_else(wrong)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let all = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
        let [_, red, green, blue] = all.to_be_bytes();
        Ok(Self([red, green, blue]))
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// The largest logo that loads at once on a slow line.
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

    /// Reads the picture in a file, up to the size limit.
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

/// Without the bytes, which people cannot read.
impl fmt::Debug for Logo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Logo({}, {} bytes)", self.media_type(), self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_color_has_contrast_on_any_brand_color() {
        for code in (0..=0x00ff_ffff_u32).step_by(97) {
            let [_, red, green, blue] = code.to_be_bytes();
            let colour = Colour([red, green, blue]);
            assert!(colour.contrast(colour.text()) >= 4.5, "{colour}");
        }
    }

    #[test]
    fn invalid_brand_color_is_rejected() {
        assert_eq!("#1F4f8f".parse::<Colour>().unwrap().to_string(), "#1f4f8f");
        for text in ["", "#", "1f4f8f", "#1f4f8", "#1f4f8g", "#+f4f8f", "#1f4f8f;", "red", "#é1f4"] {
            assert!(text.parse::<Colour>().is_err(), "{text}");
        }
    }

    #[test]
    fn logo_media_type_is_detected_by_signature() {
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
