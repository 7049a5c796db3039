//! The core over real sockets: what it sends, what it makes of responses, and what it says of the money. One program, so that
//! it is linked once and the tests that wait do so side by side.

mod against_the_sandbox;
mod alone;
mod callbacks;
mod callers;
mod checkouts;
mod connect_proxy;
mod contract;
mod crowd;
mod false_callbacks;
mod journal;
#[cfg(target_os = "linux")]
mod journal_disks;
mod journal_killed;
mod outcomes;
mod passwords;
mod rules;
mod schedules;
mod sending;
mod subscribers;
#[path = "../support/mod.rs"]
mod support;
mod tls;
mod wire;
