//! The addresses that open a code in the app of a bank.

use super::build::linked;

/// Opens the app of whichever bank the payer has.
pub(super) const ANY_BANK: &str = "https://pay.payqr.kg/";

/// Name and address. That of any bank comes first, then those that were seen in codes, then those that are known from a
/// public list alone (`docs/elqr.md`).
const BANKS: [(&str, &str); 14] = [
    ("ELQR", ANY_BANK),
    ("MBank", "https://app.mbank.kg/qr/"),
    ("O!Bank", "https://api.dengi.o.kg/"),
    ("Bakai", "https://bakai.app/"),
    ("Finik", "https://qr.finik.kg/"),
    ("MegaPay", "https://megapay.kg/get"),
    ("RSK24", "https://qr.rsk.kg/"),
    ("NambaOne", "https://nambaone.app/"),
    ("KICB", "https://bank.kicb.net/"),
    ("AB24", "https://qr.ab.kg/"),
    ("DemirBank", "https://retail.demirbank.kg/"),
    ("Balance", "https://balance.kg/"),
    ("Kompanion", "https://24.kompanion.kg/qr/"),
    ("Eldik", "https://app.eldik.kg/"),
];

/// A link that opens a code in the app of a bank.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BankLink {
    /// The bank or wallet by its name; `ELQR` for any of them.
    pub bank: String,
    /// The link.
    pub url: String,
}

pub(super) fn links(code: &str) -> Vec<BankLink> {
    BANKS.iter().map(|(bank, link)| BankLink { bank: (*bank).to_owned(), url: linked(link, code) }).collect()
}
