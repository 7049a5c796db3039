//! The merchant's dashboard: what happened, for people who logged in with the issued credentials.

mod analysis;
mod deliveries;
mod export;
mod filter;
mod login;
mod message;
mod payment;
mod receiver;
mod routes;
mod schedules;
pub(crate) mod text;
mod transactions;
mod visit;

pub(crate) use routes::routes;
