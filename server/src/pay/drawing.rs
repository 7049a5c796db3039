//! A QR code as SVG in whole pixels: cells of fractional pixels leave hairlines, which scanners stumble over.

use std::fmt::Write;

use kassa::{QrCode, QrLevel};

/// The quiet zone that the standard asks for, in cells.
const QUIET: usize = 4;
/// It fits into a phone of 360 pixels, beside the margins.
const WIDEST: usize = 276;

/// A code as it is drawn.
pub(super) struct Drawing {
    /// The side in cells, with the quiet zone.
    pub(super) cells: usize,
    /// The side in pixels.
    pub(super) pixels: usize,
    /// The path of the dark cells.
    pub(super) path: String,
}

/// The code of a text; nothing where it is too long for one.
pub(super) fn draw(text: &str) -> Option<Drawing> {
    let modules = QrCode::encode(text, QrLevel::Medium).ok()?.modules();
    let cells = modules.len() + 2 * QUIET;
    let mut path = String::new();
    for (y, row) in modules.iter().enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|one, next| one == next) {
            if run[0] {
                // Writing into a text cannot fail.
                let _ = write!(path, "M{} {}h{}v1h-{}z", x + QUIET, y + QUIET, run.len(), run.len());
            }
            x += run.len();
        }
    }
    Some(Drawing { cells, pixels: cells * (WIDEST / cells).max(2), path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_whole_pixels_and_a_text_too_long_is_none() {
        let drawing = draw("https://pay.example.kg/q/17").unwrap();
        assert_eq!(drawing.pixels % drawing.cells, 0);
        assert!(drawing.pixels <= WIDEST && drawing.path.starts_with("M4 4h7"), "{}", drawing.path);
        assert!(draw(&"x".repeat(5000)).is_none());
    }
}
