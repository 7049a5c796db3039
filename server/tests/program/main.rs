//! The program: its settings, its commands, how it starts and stops, and what belongs to its package. By signals and permissions, which
//! Windows has not.

#![cfg(unix)]

mod check;
mod compose;
mod documented;
mod fleet;
mod help;
mod keys;
mod packaging;
mod paying;
mod probe;
mod proxies;
mod rejudge;
mod serving;
mod settings;
mod support;
mod traces;
