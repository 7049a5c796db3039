//! The table of the nine endpoints: for those who answer and for those who describe.

use crate::endpoints::{
    Endpoint, card_payment, get_status, mbank_confirm, mbank_pay, pay_form, qr_data, qr_image, qr_status, status,
};

/// All of them.
pub(crate) static ENDPOINTS: [Endpoint; 9] = [
    card_payment::ENDPOINT,
    status::ENDPOINT,
    mbank_pay::ENDPOINT,
    mbank_confirm::ENDPOINT,
    pay_form::ENDPOINT,
    get_status::ENDPOINT,
    qr_image::ENDPOINT,
    qr_data::ENDPOINT,
    qr_status::ENDPOINT,
];
