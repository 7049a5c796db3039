//! What can be done to payments, by the endpoints and by the pages alike. Each is one transaction.

pub(crate) mod decide;
pub(crate) mod pending;
pub(crate) mod pending_timer;
pub(crate) mod qr_code;
pub(crate) mod register;
mod resolve;
pub(crate) mod submit_otp;
pub(crate) mod submit_pay_form;
pub(crate) mod submit_qr;
mod transition;
