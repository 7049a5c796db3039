//! The links that open a QR code on the phone that shows it: where the code itself leads, and the apps of banks.

use kassa::{BankLink, Elqr};
use url::Url;

use super::{screen::is_web, texts::Texts};

/// What opens a code on the phone that shows it.
#[derive(Default)]
pub(super) struct CodeLinks {
    /// Of the first button: where the code itself leads, unless one of the banks is there; else any bank.
    pub(super) first: Option<String>,
    /// Any bank, then one bank each; empty for a text that is not ELQR.
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

/// There are none for a damaged code, nor for one with elements that a link would leave out.
fn bank_links(text: &str) -> Option<Vec<BankLink>> {
    Elqr::parse(text).ok()?.bank_links().ok()
}

fn host(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}
