//! The hosted page under `/pay`: the payer picks a way to pay and sees how the payment stands, in three languages, on a phone
//! or a desktop, with scripts or without. Its address is all that a web shop needs.

mod accept;
mod assets;
mod code_links;
mod colour;
mod drawing;
mod form;
mod frame;
mod links;
mod logo;
mod merchant;
mod paying;
mod phrases;
mod refusal;
mod router;
mod screen;
mod show;
mod state;
mod table;
mod texts;
mod till;
mod visit;

pub use colour::Colour;
pub use logo::Logo;
pub use merchant::Merchant;
pub use router::pay_router;
