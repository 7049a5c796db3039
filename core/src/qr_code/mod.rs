//! QR codes, drawn as PNG, SVG or text: for the payload of an EMV QR, or any other text.

mod mask;

use png::{BitDepth, ColorType, Compression, Encoder, Filter};
use qrcode::{
    EcLevel, Version,
    bits::Bits,
    canvas::Canvas,
    ec::construct_codewords,
    optimize::{Optimizer, Parser, Segment, total_encoded_len},
    render::{Pixel, Renderer, svg, unicode::Dense1x2},
    types::{Color, Mode, QrError},
};

use crate::{error::PaymentError, violation::Rule};

/// The quiet zone: the light border that the standard requires, in modules.
const QUIET_ZONE: usize = 4;

/// The default side of a picture in pixels: the same as the gateway's own picture.
pub const QR_PNG_SIDE: u32 = 400;

/// Limit on a picture's size: a larger one is of no use, and costs memory.
const LARGEST_SIDE: u32 = 10_000;

/// Error correction level: how much of a code may be unreadable. A higher level needs more modules.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
// Exhaustive: ISO/IEC 18004 has these four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QrLevel {
    /// 7 %.
    Low,
    /// 15 %.
    #[default]
    Medium,
    /// 25 %.
    Quartile,
    /// 30 %.
    High,
}

/// A QR code: the smallest one that holds its text.
///
/// ```
/// use kassa::{QrCode, QrLevel};
///
/// let code = QrCode::encode("https://pay.example.kg/q/17", QrLevel::Medium).unwrap();
/// assert_eq!(code.modules().len(), 29);
/// let png = code.png(kassa::QR_PNG_SIDE).unwrap();
/// assert!(png.starts_with(b"\x89PNG"));
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct QrCode {
    /// Row by row.
    modules: Vec<Color>,
    width: usize,
}

impl std::fmt::Debug for QrCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "QrCode({0}x{0} modules)", self.width)
    }
}

impl QrCode {
    /// Encodes a text.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if the text is empty or too long for a code of this level.
    pub fn encode(text: &str, level: QrLevel) -> Result<Self, PaymentError> {
        if text.is_empty() {
            return Err(PaymentError::invalid("text", Rule::Required, None, "must be given"));
        }
        let level = match level {
            QrLevel::Low => EcLevel::L,
            QrLevel::Medium => EcLevel::M,
            QrLevel::Quartile => EcLevel::Q,
            QrLevel::High => EcLevel::H,
        };
        smallest_code(text.as_bytes(), level).map_err(|problem| match problem {
            QrError::DataTooLong => {
                PaymentError::invalid("text", Rule::Length, None, "is too long for a QR code of this level")
            }
            other => PaymentError::invalid("text", Rule::Format, None, &format!("cannot be encoded: {other}")),
        })
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl QrCode {
    /// The code as rows of modules, true for dark, without the light border around it.
    pub fn modules(&self) -> Vec<Vec<bool>> {
        self.modules.chunks(self.width).map(|row| row.iter().map(|color| *color == Color::Dark).collect()).collect()
    }

    /// A black and white PNG of `px` by `px` pixels. Every module is the same whole number of pixels wide, and the code
    /// is centered in a white border of at least four modules, so that scanners read it.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if `px` is too small for the code, or larger than 10,000.
    pub fn png(&self, px: u32) -> Result<Vec<u8>, PaymentError> {
        let side = self.width + 2 * QUIET_ZONE;
        let pixels = px as usize;
        if px > LARGEST_SIDE || pixels < side {
            let limit = format!("{side} to {LARGEST_SIDE}");
            return Err(PaymentError::invalid(
                "px",
                Rule::Length,
                Some(&limit),
                &format!("must be {limit} pixels for this code"),
            ));
        }
        write_png(px, &self.bitmap(pixels, pixels / side))
            .map_err(|problem| PaymentError::invalid("px", Rule::Format, None, &format!("cannot be drawn: {problem}")))
    }

    /// An SVG picture.
    pub fn svg(&self) -> String {
        self.renderer::<svg::Color<'_>>().build()
    }

    /// The code in half-block characters for a terminal with light text on a dark background, border included.
    pub fn text(&self) -> String {
        self.renderer::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build()
    }
}

impl QrCode {
    fn renderer<P: Pixel>(&self) -> Renderer<'_, P> {
        Renderer::new(&self.modules, self.width, QUIET_ZONE as u32)
    }

    /// One bit a pixel, a set bit is white, each row filled up to whole bytes.
    fn bitmap(&self, pixels: usize, scale: usize) -> Vec<u8> {
        let row_bytes = pixels.div_ceil(8);
        let margin = (pixels - self.width * scale) / 2;
        let mut bitmap = vec![0xff; row_bytes * pixels];
        let drawn = &mut bitmap[margin * row_bytes..(margin + self.width * scale) * row_bytes];
        for (modules, rows) in self.modules.chunks(self.width).zip(drawn.chunks_mut(scale * row_bytes)) {
            let (first, copies) = rows.split_at_mut(row_bytes);
            let mut at = margin;
            for run in modules.chunk_by(|one, next| one == next) {
                let end = at + run.len() * scale;
                if run[0] == Color::Dark {
                    blacken(first, at, end);
                }
                at = end;
            }
            copies.chunks_mut(row_bytes).for_each(|copy| copy.copy_from_slice(first));
        }
        bitmap
    }
}

/// Draws over the pixels from `start` to `end`: one bit each, set where white.
fn blacken(row: &mut [u8], start: usize, end: usize) {
    let (first, last) = (start / 8, end / 8);
    let (before, after) = (!(0xff >> (start % 8)), 0xff >> (end % 8));
    if first == last {
        row[first] &= before | after;
        return;
    }
    row[first] &= before;
    row[first + 1..last].fill(0);
    if let Some(byte) = row.get_mut(last) {
        *byte &= after;
    }
}

/// The versions in which a segment has the same length.
const VERSION_CLASSES: [[i16; 2]; 3] = [[1, 9], [10, 26], [27, 40]];

fn smallest_code(text: &[u8], level: EcLevel) -> Result<QrCode, QrError> {
    let segments: Vec<Segment> = Parser::new(text).map(without_kanji).collect();
    for [first, last] in VERSION_CLASSES {
        let largest = Version::Normal(last);
        let segments: Vec<Segment> = Optimizer::new(segments.iter().copied(), largest).collect();
        let needed = total_encoded_len(&segments, largest);
        let fits = |version: &i16| Bits::new(Version::Normal(*version)).max_len(level).is_ok_and(|room| room >= needed);
        if let Some(version) = (first..=last).find(fits) {
            let mut bits = Bits::new(Version::Normal(version));
            bits.push_segments(text, segments.into_iter())?;
            bits.push_terminator(level)?;
            return drawn(bits, level);
        }
    }
    Err(QrError::DataTooLong)
}

fn drawn(bits: Bits, level: EcLevel) -> Result<QrCode, QrError> {
    let version = bits.version();
    let (data, error_correction) = construct_codewords(&bits.into_bytes(), version, level)?;
    let mut canvas = Canvas::new(version, level);
    canvas.draw_all_functional_patterns();
    canvas.draw_data(&data, &error_correction);
    let width = usize::try_from(version.width()).map_err(|_| QrError::InvalidVersion)?;
    Ok(QrCode { modules: mask::masked(canvas, width), width })
}

/// Bytes instead of Kanji mode. Some UTF-8, such as № or a row of capital Cyrillic letters, has bytes that are also
/// valid Shift JIS; a scanner would then show other letters (<https://github.com/zxing/zxing/issues/708> is such a
/// code).
fn without_kanji(segment: Segment) -> Segment {
    let mode = if segment.mode == Mode::Kanji { Mode::Byte } else { segment.mode };
    Segment { mode, ..segment }
}

fn write_png(px: u32, bitmap: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, px, px);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::One);
    encoder.set_compression(Compression::Fast);
    // Most rows are the row above.
    encoder.set_filter(Filter::Up);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bitmap)?;
    writer.finish()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(png: &[u8]) -> (u32, String) {
        let picture = image::load_from_memory(png).unwrap().to_luma8();
        let side = picture.width();
        let mut prepared = rqrr::PreparedImage::prepare(picture);
        let (_, text) = prepared.detect_grids()[0].decode().unwrap();
        (side, text)
    }

    #[test]
    fn png_of_any_size_scans_correctly() {
        for length in [10, 30, 125, 500, 1200] {
            let text: String = "https://pay.example.kg/q?id=Ө7".chars().cycle().take(length).collect();
            let code = QrCode::encode(&text, QrLevel::Medium).unwrap();
            for px in [400, 401, 900] {
                assert_eq!(read(&code.png(px).unwrap()), (px, text.clone()), "{length} characters at {px} pixels");
            }
        }
    }

    /// 14 bytes are what the smallest code holds in byte mode; Kanji mode would hold more, and be misread.
    #[test]
    fn cyrillic_text_is_encoded_in_byte_mode() {
        for text in ["№№№№№", "АБВГДЕЖЗ"] {
            assert_eq!(QrCode::encode(text, QrLevel::Medium).unwrap().modules().len(), 25, "{text}");
        }
    }

    #[test]
    fn png_has_one_bit_per_pixel_and_quiet_zone() {
        let code = QrCode::encode("tea", QrLevel::Medium).unwrap();
        let png = code.png(QR_PNG_SIDE).unwrap();
        let reader = png::Decoder::new(std::io::Cursor::new(&png)).read_info().unwrap();
        assert_eq!(reader.info().bit_depth, BitDepth::One);
        let picture = image::load_from_memory(&png).unwrap().to_luma8();
        let scale = 400 / (code.modules().len() as u32 + 8);
        let border = 4 * scale;
        let is_border = |at: u32| at < border || at >= 400 - border;
        assert!(picture.enumerate_pixels().all(|(x, y, pixel)| pixel.0[0] == 255 || !(is_border(x) || is_border(y))));
    }

    #[test]
    fn what_cannot_be_drawn_is_a_clear_error() {
        let field = |result: Result<(), PaymentError>| match result {
            Err(PaymentError::Invalid { violations }) => (violations[0].field.clone(), violations[0].rule),
            other => panic!("{other:?}"),
        };
        let encode = |text: &str, level| QrCode::encode(text, level).map(|_| ());
        assert_eq!(field(encode("", QrLevel::Medium)), ("text".into(), Rule::Required));
        assert!(encode(&"a".repeat(2331), QrLevel::Medium).is_ok());
        assert_eq!(field(encode(&"a".repeat(2332), QrLevel::Medium)), ("text".into(), Rule::Length));
        let code = QrCode::encode("tea", QrLevel::High).unwrap();
        let smallest = code.modules().len() as u32 + 8;
        assert!(code.png(smallest).is_ok());
        assert_eq!(field(code.png(smallest - 1).map(|_| ())), ("px".into(), Rule::Length));
        assert_eq!(field(code.png(10_001).map(|_| ())), ("px".into(), Rule::Length));
    }

    #[test]
    fn every_form_shows_the_same_modules() {
        let code = QrCode::encode("https://pay.example.kg", QrLevel::Low).unwrap();
        let modules = code.modules();
        let rows: Vec<Vec<char>> = code.text().lines().map(|line| line.chars().collect()).collect();
        for (y, row) in modules.iter().enumerate() {
            for (x, dark) in row.iter().enumerate() {
                let (line, half) = ((y + 4) / 2, (y + 4) % 2);
                let lit = match rows[line][x + 4] {
                    ' ' => [false, false],
                    '▀' => [true, false],
                    '▄' => [false, true],
                    _ => [true, true],
                };
                assert_eq!(lit[half], !dark, "module {x},{y}");
            }
        }
        assert!(code.svg().contains("<svg"));
    }
}
