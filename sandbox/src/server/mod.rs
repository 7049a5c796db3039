//! A running sandbox: started, served, looked into, stopped.

mod clock_control;
mod routes;
mod run;
mod sandbox;

pub use clock_control::{ClockControl, ClockError};
pub use sandbox::Sandbox;
