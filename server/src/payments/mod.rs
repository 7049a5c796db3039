//! Payments: tries to pay a checkout, how their states follow from what happens, what the gateway was asked, and a payer's card on its way.

mod decoded;
pub mod exchange;
pub mod machine;
pub mod payer_card;
pub mod payment;
pub(crate) mod response;
