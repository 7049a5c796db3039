//! Fault injection: what goes wrong on purpose, set while the sandbox runs.

#[macro_use]
mod table;

mod constructors;
mod fault;
mod input;
mod name;
mod set;
mod settings;

pub use fault::{Fault, FaultError};
pub use name::FaultName;
pub use set::{ActiveFault, Faults};

pub(crate) use name::Moment;
pub(crate) use set::FaultSet;
pub(crate) use settings::{settings, settings_shown};
