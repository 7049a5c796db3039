//! The wallet page: a pay-form's payer who chose MBank or MegaPay enters the one-time password.

use crate::{
    domain::PaymentKind,
    pages::{otp_form, page::Page},
};

pub(crate) const PATH: &str = "/wallet";

pub(super) const PAGE: Page = Page {
    path: PATH,
    is_for: |record| record.payment.kind == PaymentKind::PayForm && record.payment.masked_phone.is_some(),
    show: otp_form::show,
    submit: otp_form::submit,
};
