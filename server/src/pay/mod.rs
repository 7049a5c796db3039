//! The hosted page under `/pay`: the payer picks a payment method and sees the state of the payment, in three languages, on a
//! phone or a desktop, with or without scripts. A web shop needs nothing but its address.

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
