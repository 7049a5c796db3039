//! The nine endpoints of the gateway, one file each, and the pipeline that their requests go through.

pub(crate) mod card_payment;
mod endpoint;
pub(crate) mod exchange;
mod fields;
pub(crate) mod finipay;
mod get_status;
pub(crate) mod mbank_confirm;
pub(crate) mod mbank_pay;
mod other_dialect;
pub(crate) mod outgoing;
pub(crate) mod pay_form;
pub(crate) mod qr_data;
mod qr_image;
mod qr_png;
mod qr_status;
pub(crate) mod refusal;
mod response;
mod status;
pub(crate) mod status_response;
mod table;

pub(crate) use endpoint::{Answers, Description, Endpoint, FinipayAnswer, Input, Refused};
pub(crate) use fields::{AskedFor, Fields};
pub(crate) use refusal::Refusal;
pub(crate) use response::Response;
pub(crate) use table::ENDPOINTS;
