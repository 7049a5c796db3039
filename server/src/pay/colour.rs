//! The merchant's colour, and the colour of text that can be read upon it.

use std::{fmt, str::FromStr};

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

    /// Black or white, whichever is read better upon it. The contrast is 4.58 to 1 at least, whatever the colour: more than
    /// the 4.5 to 1 of WCAG 2.2, 1.4.3.
    pub fn text(self) -> Self {
        if self.contrast(Self::WHITE) >= self.contrast(Self::BLACK) { Self::WHITE } else { Self::BLACK }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_upon_any_colour_can_be_read() {
        for code in (0..=0x00ff_ffff_u32).step_by(97) {
            let [_, red, green, blue] = code.to_be_bytes();
            let colour = Colour([red, green, blue]);
            assert!(colour.contrast(colour.text()) >= 4.5, "{colour}");
        }
    }

    #[test]
    fn only_colours_are_taken() {
        assert_eq!("#1F4f8f".parse::<Colour>().unwrap().to_string(), "#1f4f8f");
        for text in ["", "#", "1f4f8f", "#1f4f8", "#1f4f8g", "#+f4f8f", "#1f4f8f;", "red", "#é1f4"] {
            assert!(text.parse::<Colour>().is_err(), "{text}");
        }
    }
}
