//! How often: questions by the age of a payment, their rate over the whole fleet and by method, and the pauses between deliveries. Pure
//! functions of time.

pub mod clock;
pub mod limit;
pub mod pauses;
pub mod queues;
pub mod schedule;
#[cfg(test)]
mod simulation;
