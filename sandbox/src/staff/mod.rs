//! Pages for the merchant's staff and developers: the start page, the dashboard, the control page, the built-in receiver of callbacks.

pub(crate) mod control;
pub(crate) mod dashboard;
pub(crate) mod layout;
pub(crate) mod receiver;
pub(crate) mod start;
