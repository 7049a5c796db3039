//! The domain: payments and their state machine, amounts, languages, the endpoints' names, the simulation clock, the
//! test data.

pub(crate) mod amount;
pub(crate) mod clock;
pub(crate) mod codes;
mod endpoint_name;
mod language;
mod payment;
mod status;
pub(crate) mod test_data;
mod variants;

pub use endpoint_name::EndpointName;
pub use language::Language;
pub use payment::{Payment, PaymentKind, Provider};
pub use status::{PaymentStatus, RejectReason};

pub(crate) use status::Event;
pub(crate) use variants::all;
