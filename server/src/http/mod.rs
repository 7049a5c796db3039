//! HTTP: what shops, apps and the gateway call. One table says what there is, answers requests and describes itself.

mod access;
mod answer;
mod app;
mod call;
mod card;
mod document;
mod examples;
mod fields;
mod gateway;
mod health;
mod json;
mod problem;
mod query;
mod route;
mod router;
mod settings;
mod shared;
mod shop;
mod table;
mod views;
mod webhooks;

pub use router::{metrics_router, router};
pub use settings::HttpSettings;
pub(crate) use settings::path_prefix;
