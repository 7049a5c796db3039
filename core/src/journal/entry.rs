//! What the journal tells about a payment.

use std::time::SystemTime;

use crate::payment_ref::PaymentRef;

/// A payment in a [`Journal`](crate::Journal).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalEntry {
    /// The entry's own name, by which it is finished.
    pub id: String,
    /// What to ask about the payment with.
    pub payment: PaymentRef,
    /// When it was written down: before anything was sent.
    #[cfg_attr(feature = "serde", serde(rename = "begun_ms", with = "crate::serialized::moment"))]
    pub begun: SystemTime,
    /// What is known of it.
    pub state: JournalState,
    /// Whether [`finish`](crate::Journal::finish) was called for it: its goods are delivered, or a person has
    /// dealt with it. One that was rejected is listed no more without it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub is_finished: bool,
    /// What the gateway said when it ended, in its own words, after the number that it reported where that is none of the
    /// payment's; of a mismatch the fields that differ from what was
    /// asked for, such as `amount, currency`. At most 256 characters.
    pub reason: Option<String>,
    /// The gateway's code in the response to its creation, where there was one.
    pub code: Option<String>,
    /// The page that the payer opens: the 3DS confirmation, or the pay-form.
    pub page_url: Option<String>,
    /// The text of the QR code.
    pub qr_text: Option<String>,
    /// The user's own note, such as the order in the shop.
    pub note: Option<String>,
}

/// What a journal knows of a payment.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalState {
    /// It was sent, or was just about to be, and no answer that can be trusted is known. **It may have happened**: ask.
    Unknown,
    /// The gateway accepted it. Ask for its end.
    Pending,
    /// The gateway said that the money was taken. Deliver the goods, then finish the entry.
    Charged,
    /// The gateway's report was about something else than was asked for. Let a person look, then finish the entry.
    Mismatch,
    /// It ended without the money being taken.
    Rejected,
}

impl JournalState {
    /// Whether a report said so, after which another one is asked for by nobody.
    pub(super) fn is_an_end(self) -> bool {
        matches!(self, Self::Charged | Self::Mismatch | Self::Rejected)
    }
}

/// An unfinished entry of a journal.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfinished {
    /// A payment that is pending, unknown or mismatched, or charged and not yet finished.
    Payment {
        /// Its entry.
        entry: Box<JournalEntry>,
    },
    /// A file that cannot be read: torn, damaged, of a newer version, or foreign. It is kept, and blocks the order number
    /// whose entry it is.
    Unreadable {
        /// The file's name.
        id: String,
        /// What is wrong with it.
        why: String,
    },
}
