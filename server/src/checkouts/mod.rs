//! Checkouts: what a shop wants paid, and how their states follow from what happens.

pub mod checkout;
pub mod machine;
pub mod new_checkout;
