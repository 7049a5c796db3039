//! The payer's pages: plain HTML forms that post to their own URL, with a script that only adds comfort. Each shows and
//! each changes one payment, named by the unguessable `token` in the query.

mod field;
mod finish;
mod frame;
mod money;
mod offers;
mod otp_form;
mod page;
pub(crate) mod pay_form;
mod pay_form_input;
pub(crate) mod qr;
mod query;
mod summary;
mod table;
pub(crate) mod three_ds;
mod trouble;
mod view;
mod visit;
pub(crate) mod wallet;

pub(crate) use table::{PAGES, awaiting};
pub(crate) use visit::visit;
