//! The settings of the program: a file, environment variables, flags. One table defines them, and everything that names a setting
//! comes from it. The library's settings are [`ServerSettings`](crate::ServerSettings).

mod database;
mod database_place;
mod gateway;
mod merchant;
mod plain_http;
mod problem;
mod program;
mod sources;
mod suggestions;
mod table;
mod toml_error;
mod values;

pub use database_place::DatabasePlace;
pub use gateway::read_dialect;
pub use problem::{SettingProblem, Source};
pub use program::GatewaySettings;
pub use program::LogSettings;
pub use program::ProgramSettings;
pub use sources::Sources;
pub use table::IfUnset;
pub use table::SETTINGS;
pub use table::Setting;
pub use table::Visibility;
