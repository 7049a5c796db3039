//! What can be done to payments, by the endpoints and by the pages alike. Each is one transaction.

pub(crate) mod decide;
pub(crate) mod decide_qr;
pub(crate) mod notices;
pub(crate) mod register;
mod settle;
pub(crate) mod settle_pending;
pub(crate) mod submit_otp;
pub(crate) mod submit_pay_form;
mod transition;
