//! Limits of callers: how often one may call, and what becomes of one who guesses keys. They live in memory, bounded, and each
//! process counts for itself.
//!
//! Written here: the crates for it (governor) bring a tree that is larger than these files, and its keyed limits grow
//! without a bound.

mod lockout;
mod network;
mod rate;

pub use lockout::Lockout;
pub use network::Network;
pub use rate::RateLimit;
