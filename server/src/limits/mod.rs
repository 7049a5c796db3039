//! Limits of callers: how often one may call. They live in memory, bounded, and each process counts for itself.
//!
//! Written here: the crates for it (governor) bring a tree that is larger than this file, and its keyed limits grow
//! without a bound.

mod rate;
mod recent;

pub use rate::RateLimit;
pub(crate) use recent::Recent;
