//! The real program with a real gateway's side and a real disk: killed, paused, stopped, put beside itself, out of room.
//! What a simulation cannot show: that the binary, the file and the sockets keep what the library promises.

#![cfg(unix)]

mod api;
mod books;
#[cfg(target_os = "linux")]
mod disks;
mod disruptions;
mod fleet;
mod gateway_side;
mod keeper;
mod ledger;
mod line;
mod partition;
mod paying;
mod play;
mod program;
mod recording;
mod restoring;
mod scene;
mod schedules;
mod secrets;
mod shop;
mod stopping;
mod story;
