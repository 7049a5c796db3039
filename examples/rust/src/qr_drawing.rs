//! A QR code on the terminal.

use kassa::{PaymentError, QrCode, QrLevel};

use crate::narrator::Narrator;

/// Light letters on dark ground, whatever the terminal's own colours are: scanners want dark on light.
const WHITE_ON_BLACK: &str = "\x1b[97;40m";
const RESET: &str = "\x1b[0m";

/// Draws the code of a text.
pub(crate) fn draw(narrator: &Narrator, text: &str) -> Result<(), PaymentError> {
    let code = QrCode::encode(text, QrLevel::Medium)?.text();
    for line in code.lines() {
        narrator.print(&if narrator.has_colours() {
            format!("    {WHITE_ON_BLACK}{line}{RESET}")
        } else {
            format!("    {line}")
        });
    }
    Ok(())
}
