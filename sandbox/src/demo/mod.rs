//! An invented history: what a shop's last ninety days could have looked like. Nothing of it was ever sent anywhere.

mod exchanges;
mod fill;
mod invent;
mod shop;
mod write;

pub(crate) use fill::fill;
