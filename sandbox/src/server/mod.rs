//! A running sandbox: started, served, looked into, stopped.

mod clock_control;
mod log_writer;
mod routes;
mod run;
mod sandbox;
mod text_indexer;

pub use clock_control::{ClockControl, ClockError};
pub use sandbox::Sandbox;
