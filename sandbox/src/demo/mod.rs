//! Seed data for demonstrations: what a shop's last ninety days could have looked like, deterministic for a seed.
//! Nothing of it was ever sent anywhere.

mod exchanges;
mod fill;
mod invent;
mod shop;
mod write;

pub(crate) use fill::fill;
