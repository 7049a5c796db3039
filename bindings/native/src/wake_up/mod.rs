//! Wake-ups: how a caller in another language hears that a future of the core has got further.
//!
//! The continuation of each poll is a function of this library, so waking a caller runs none of its language's code on
//! the core's threads: none of them waits for an interpreter's lock, is attached to a JVM, or meets an interpreter that
//! is being taken down.
//!
//! Nothing here knows of UniFFI or has a pointer. [`interleavings`] therefore runs the same files under a model
//! checker.

#[cfg(test)]
mod interleavings;
mod last_poll;
mod poll;
mod queue;
mod sync;

pub use self::{
    last_poll::LastPoll,
    poll::{PollState, Progress},
    queue::Queue,
};

/// Only the listener by a file descriptor implements it, and Windows has none.
#[cfg(unix)]
pub use self::queue::Signal;
