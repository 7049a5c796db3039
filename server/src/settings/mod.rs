//! The settings of the program: a file, environment variables, flags. One table says what there is, and everything that
//! names a setting comes from it. The library's own are [`ServerSettings`](crate::ServerSettings).

mod database;
mod database_place;
mod file;
mod gateway;
mod given;
mod parse;
mod problem;
mod program;
mod setting;
mod sources;
mod table;
mod time;
mod traces;
mod values;

pub use database_place::DatabasePlace;
pub use problem::{SettingProblem, Source};
pub use program::{GatewaySettings, LogSettings, ProgramSettings};
pub use setting::{IfUnset, Setting, Shown};
pub use sources::Sources;
pub use table::SETTINGS;
