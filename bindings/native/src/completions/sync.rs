//! Synchronisation primitives of the standard library. The model checker puts its own in their place.

pub use std::sync::{Condvar, Mutex, MutexGuard};
