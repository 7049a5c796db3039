//! The nine endpoints, one file each.

mod card_payment;
mod get_status;
mod mbank_confirm;
mod mbank_pay;
mod pay_form;
mod qr_data;
mod qr_image;
mod qr_status;
mod status;
mod status_reply;

use axum::http::Method;

use crate::{fields::Fields, gateway::Gateway, refusal::Refusal, reply::Reply};

/// Where an endpoint's fields are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// In a JSON body.
    Body,
    /// In a JSON body or, where a proxy dropped that, in the query string.
    BodyOrQuery,
    /// In the query string.
    Query,
}

/// One of the nine endpoints.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    /// The method's name, for the `Allow` header.
    pub(crate) allowed: &'static str,
    pub(crate) path: &'static str,
    pub(crate) input: Input,
    /// The field that names the payment, for the log of requests.
    pub(crate) subject: Option<&'static str>,
    pub(crate) answer: fn(&Gateway, Fields) -> Result<Reply, Refusal>,
}

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
