//! Test doubles and simulations: a stub of the gateway in memory, and the random schedules that run against it.

#[cfg(feature = "_internals")]
pub(crate) mod fixed_response;
mod memory;
pub mod schedules;
#[cfg(test)]
pub(crate) mod scripted;
