//! Payments: tries to pay a checkout, how their states follow from what happens, and a payer's card on its way.

pub mod machine;
pub mod payer_card;
pub mod payment;
