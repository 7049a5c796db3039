//! The admin interface: the ledger, the faults, the switches, for programs that hold the admin token. Fault injection
//! touches nothing here.

mod answer;
mod call;
mod clock;
mod exchange;
mod faults;
mod payments;
mod records;
mod route;
mod switches;
mod table;
mod test_data;

pub(crate) use answer::errors_schema;
pub(crate) use exchange::{ask, routes};
pub(crate) use route::{ORDER_NUMBER, Refused, Route};
pub(crate) use table::ROUTES;
