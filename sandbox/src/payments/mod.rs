//! What can be done to payments, by the endpoints and by the pages alike. Each is one transaction.

pub(crate) mod decide;
pub(crate) mod payer;
pub(crate) mod pending;
pub(crate) mod qr_code;
pub(crate) mod transition;
