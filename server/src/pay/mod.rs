//! The hosted page under `/pay`: the payer picks a way to pay and sees how the payment stands, in three languages, on a phone
//! or a desktop, with scripts or without. Its address is all that a web shop needs.

mod assets;
mod code_links;
mod colour;
mod context;
mod drawing;
mod error_page;
mod form;
mod frame;
mod links;
mod locale;
mod logo;
mod merchant;
mod page_state;
mod paying;
mod phrases;
mod router;
mod screen;
mod show;
mod state;
mod texts;

pub use colour::Colour;
pub use logo::Logo;
pub use merchant::Merchant;
pub use router::pay_router;
