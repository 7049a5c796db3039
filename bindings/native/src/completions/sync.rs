//! Synchronisation primitives of the standard library. The model checker replaces them with its own.

pub use std::sync::{Condvar, Mutex, MutexGuard};
