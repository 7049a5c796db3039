//! The HTTP interface over real sockets, with the core's gateway in memory behind it.

mod access;
mod callbacks;
mod cards;
mod client;
mod description;
mod limits;
mod megapay;
mod page;
mod payer;
mod payments;
mod reads;
mod reconciliation;
mod rules;
mod secrets;
mod staff;
mod start;
mod visitor;
