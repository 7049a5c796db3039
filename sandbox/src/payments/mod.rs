//! Operations on payments, for endpoints, pages and the admin interface. Each is one transaction.

pub(crate) mod decide;
pub(crate) mod payer;
pub(crate) mod pending;
pub(crate) mod qr_code;
pub(crate) mod transition;
