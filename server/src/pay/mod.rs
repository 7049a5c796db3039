//! The hosted page under `/pay`: the payer picks a way to pay and sees how the payment stands, in three languages, on a phone
//! or a desktop, with scripts or without. Its address is all that a web shop needs.

mod context;
mod frame;
mod merchant;
mod page_state;
mod paying;
mod qr;
mod receipt;
mod router;
mod screen;
mod show;
mod texts;
mod ways;

pub use merchant::{Colour, Logo, Merchant};
pub use router::pay_router;
