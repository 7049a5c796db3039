//! The description of the interface, as OpenAPI 3.1 under `/openapi.json`: made of the tables and rules that answer
//! requests, so that the two cannot differ.

mod admin;
mod document;
mod endpoints;
mod envelope;
mod field;
mod operation;
mod page;
mod serve;

pub(crate) use serve::routes;
