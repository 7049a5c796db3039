//! The 3DS page: a card's payer enters the one-time password. It is the `ConfirmationUrl`.

use crate::pages::{otp_form, page::Page};

pub(crate) const PATH: &str = "/3ds";

pub(super) const PAGE: Page = Page {
    path: PATH,
    is_for: |record| record.payment.masked_card.is_some(),
    show: otp_form::show,
    submit: otp_form::submit,
};
