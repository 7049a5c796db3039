//! The HTTP API for shops, apps and the gateway. One table defines the routes, answers requests and generates the description.

mod access;
mod app;
mod bodies;
mod document;
mod examples;
mod field;
mod fields;
mod json;
mod others;
mod payment_bodies;
mod problem;
mod request;
mod route;
mod router;
mod settings;
mod shop;
mod start;
mod table;
mod views;

pub use router::{metrics_router, router};
pub use settings::HttpSettings;
pub(crate) use settings::path_prefix;
