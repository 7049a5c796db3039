//! The client of kassa-server: on bad days, with events of every form, and against a real server.

mod against_the_server;
mod calls;
mod events;
mod peer;
