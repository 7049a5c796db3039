//! The merchant's dashboard: what happened, for people who logged in with the issued credentials.

mod analysis;
pub(crate) mod charts;
mod deliveries;
mod export;
mod filter;
mod login;
mod message;
mod payment;
mod receiver;
mod routes;
mod schedules;
mod text;
mod transactions;
mod visit;

pub(crate) use routes::routes;
