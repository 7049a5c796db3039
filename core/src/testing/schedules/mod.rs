//! Random schedules (deterministic simulation with fault injection): merchants who pay, query, lose patience and are
//! killed, against a gateway at which everything goes wrong, on a virtual clock. Whatever happens, nobody is charged
//! twice, and every reported outcome is true.
//!
//! A schedule is made from its seed alone. `KASSA_SEED=17 cargo test -p kassa --lib schedules` plays one again;
//! `KASSA_SCHEDULES=1000000` plays as many, and `KASSA_FIRST_SEED=1000000` begins with another seed than 0. The same
//! merchants play over real sockets against the sandbox in `core/tests/gateway/schedules`; what both need is public under
//! the feature `_internals`.

pub mod harness;
pub mod merchant;

#[cfg(test)]
mod journaled;
#[cfg(test)]
mod play;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod transport;
#[cfg(test)]
mod world;
