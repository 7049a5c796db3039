//! A QR code on the page: its picture, and the links that open it on the phone that shows it.

use std::fmt::Write;

use kassa::{BankLink, Elqr, QrCode, QrLevel};
use url::Url;

use super::{screen::is_web, texts::Texts};

/// The quiet zone that the standard requires, in cells.
const QUIET: usize = 4;
/// The largest size, which fits a phone of 360 pixels with margins.
const WIDEST: usize = 276;

/// A drawn code.
pub(super) struct Drawing {
    /// The side in cells, with the quiet zone.
    pub(super) cells: usize,
    /// The side in pixels.
    pub(super) pixels: usize,
    /// The path of the dark cells.
    pub(super) path: String,
}

/// Draws a text as a code; `None` if it is too long.
pub(super) fn draw(text: &str) -> Option<Drawing> {
    let modules = QrCode::encode(text, QrLevel::Medium).ok()?.modules();
    let cells = modules.len() + 2 * QUIET;
    let mut path = String::new();
    for (y, row) in modules.iter().enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|one, next| one == next) {
            if run[0] {
                // Writing to a string cannot fail.
                let _ = write!(path, "M{} {}h{}v1h-{}z", x + QUIET, y + QUIET, run.len(), run.len());
            }
            x += run.len();
        }
    }
    Some(Drawing { cells, pixels: cells * (WIDEST / cells).max(2), path })
}

/// Links that open a code on the phone that shows it.
#[derive(Default)]
pub(super) struct CodeLinks {
    /// The link of the first button: the code's own address, unless it is on a bank's host; else the link for any bank.
    pub(super) first: Option<String>,
    /// Buttons for any bank, then for each bank; empty for a text that is not ELQR.
    pub(super) banks: Vec<BankButton>,
}

/// A button that opens the code in the app of a bank.
pub(super) struct BankButton {
    pub(super) name: String,
    pub(super) url: String,
}

impl CodeLinks {
    pub(super) fn of(text: &str, t: &Texts) -> Self {
        let links = bank_links(text).unwrap_or_default();
        let is_of_a_bank =
            host(text).is_some_and(|own| links.iter().any(|link| host(&link.url).as_ref() == Some(&own)));
        let own = Some(text).filter(|text| is_web(text) && !is_of_a_bank).map(str::to_owned);
        let first = own.or_else(|| links.first().map(|link| link.url.clone()));
        let names = |(index, link): (usize, BankLink)| {
            let name = if index == 0 { t.any_bank.to_owned() } else { link.bank };
            BankButton { name, url: link.url }
        };
        Self { first, banks: links.into_iter().enumerate().map(names).collect() }
    }

    /// The banks that the first button does not open.
    pub(super) fn others(&self) -> impl Iterator<Item = &BankButton> {
        self.banks.iter().filter(move |bank| self.first.as_ref() != Some(&bank.url))
    }
}

/// The banks' links. `None` for a damaged code, or for one with elements that a link would lose.
fn bank_links(text: &str) -> Option<Vec<BankLink>> {
    Elqr::parse(text).ok()?.bank_links().ok()
}

fn host(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qr_modules_are_whole_pixels() {
        let drawing = draw("https://pay.example.kg/q/17").unwrap();
        assert_eq!(drawing.pixels % drawing.cells, 0);
        assert!(drawing.pixels <= WIDEST && drawing.path.starts_with("M4 4h7"), "{}", drawing.path);
        assert!(draw(&"x".repeat(5000)).is_none());
    }
}
