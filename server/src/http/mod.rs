//! HTTP: what shops, apps and the gateway call. One table says what there is, answers requests and describes itself.

mod access;
mod app;
mod bodies;
mod document;
mod examples;
mod fields;
mod gateway;
mod health;
mod json;
mod problem;
mod query;
mod request;
mod response;
mod route;
mod router;
mod settings;
mod shop;
mod state;
mod table;
mod views;
mod webhooks;

pub use router::{metrics_router, router};
pub use settings::HttpSettings;
pub(crate) use settings::path_prefix;
