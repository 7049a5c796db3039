//! Operations: one file for each endpoint, and one for the three status queries, with the request, its rules, its
//! wire form and its answer.

pub(crate) mod card_payment;
mod dialect;
pub(crate) mod explain;
pub(crate) mod mbank_confirm;
pub(crate) mod mbank_payment;
pub(crate) mod operation;
pub(crate) mod pay_form;
pub(crate) mod qr_data;
pub(crate) mod qr_image;
pub(crate) mod qr_payment;
pub(crate) mod status_queries;

use crate::config::endpoint::Endpoint;

/// Every endpoint, in the order of `docs/interface.md#endpoints`.
pub(crate) static ENDPOINTS: [&Endpoint; 9] = [
    &card_payment::ENDPOINT,
    &status_queries::PAYMENT_STATUS,
    &mbank_payment::ENDPOINT,
    &mbank_confirm::ENDPOINT,
    &pay_form::ENDPOINT,
    &status_queries::PROVIDER_STATUS,
    &qr_image::ENDPOINT,
    &qr_data::ENDPOINT,
    &status_queries::QR_STATUS,
];
