//! A QR code as a PNG of 400x400 pixels: whole pixels a module, centred on white.

use std::io::Cursor;

use image::{GrayImage, ImageFormat, Luma};
use qrcode::{Color, EcLevel, QrCode};

const PIXELS: u32 = 400;
/// The white border a reader needs, in modules.
const QUIET_ZONE: u32 = 4;
const BLACK: Luma<u8> = Luma([0]);
const WHITE: Luma<u8> = Luma([255]);

/// The PNG's bytes.
pub(crate) fn draw(text: &str) -> Result<Vec<u8>, String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M)
        .map_err(|error| format!("the text does not fit into a QR code: {error}"))?;
    let modules = u32::try_from(code.width()).map_err(|error| error.to_string())?;
    // At least 2: the largest code there is has 177 modules.
    let scale = PIXELS / (modules + 2 * QUIET_ZONE);
    let margin = (PIXELS - modules * scale) / 2;
    let colors = code.to_colors();
    let image = GrayImage::from_fn(PIXELS, PIXELS, |x, y| {
        let (Some(x), Some(y)) = (x.checked_sub(margin), y.checked_sub(margin)) else {
            return WHITE;
        };
        let (column, row) = (x / scale, y / scale);
        if column >= modules || row >= modules {
            return WHITE;
        }
        match colors.get((row * modules + column) as usize) {
            Some(Color::Dark) => BLACK,
            _ => WHITE,
        }
    });
    let mut png = Cursor::new(Vec::new());
    image.write_to(&mut png, ImageFormat::Png).map_err(|error| error.to_string())?;
    Ok(png.into_inner())
}
