//! What can be changed while the sandbox runs.

use crate::{
    domain::Language,
    settings::{Dialect, MbankQuid, ReusedOrderNumber, SandboxOptions, StatusNumbers},
};

/// The part of the options that may change at run time. They mean what they mean in [`SandboxOptions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// What a reused order number does.
    pub reused_order_number: ReusedOrderNumber,
    /// Which numbers the two status endpoints know.
    pub status_numbers: StatusNumbers,
    /// Whether 3DS 1.0 cards get a confirmation page, too.
    pub three_ds_1_page: bool,
    /// Whether a declined payer is redirected to the return URL, too.
    pub redirect_declines: bool,
    /// The language of messages where a request names none.
    pub language: Language,
    /// Which gateway's responses the sandbox gives.
    pub acts_as: Dialect,
    /// Acting as FINIPAY: where a confirmation carries the `quid` of an MBank payment.
    pub mbank_quid: MbankQuid,
}

impl From<&SandboxOptions> for Switches {
    fn from(options: &SandboxOptions) -> Self {
        Self {
            reused_order_number: options.reused_order_number,
            status_numbers: options.status_numbers,
            three_ds_1_page: options.three_ds_1_page,
            redirect_declines: options.redirect_declines,
            language: options.language,
            acts_as: options.acts_as,
            mbank_quid: options.mbank_quid,
        }
    }
}
