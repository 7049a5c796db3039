//! The program: its settings, its commands, how it starts and stops.

mod check;
mod help;
mod keys;
mod paying;
mod serving;
mod settings;
mod support;
