//! Payments: tries to pay a checkout, and how their states follow from what happens.

pub mod machine;
pub mod payment;
