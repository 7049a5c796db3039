//! The server as its users meet it: against the core's gateway in memory, with everything that can die, dying.
//!
//! `KASSA_SEED=17 cargo test -p kassa-server --test server schedules` plays one random schedule again;
//! `KASSA_SCHEDULES=1000000` plays as many, and `KASSA_FIRST_SEED=1000000` begins with another seed than 0.

mod callbacks;
mod crashes;
mod invariants;
mod net;
mod postgres;
mod resolving;
mod restored;
mod running;
mod schedules;
mod storage;
mod support;
mod workers;
