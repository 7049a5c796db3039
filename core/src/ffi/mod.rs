//! Foreign function interface (UniFFI) for Kotlin, Swift and Python: replacements for what the generator cannot export
//! as it is in Rust, which is constructors, conversions and texts of values and of a payment screen, pages of the
//! journal, logging, observers of calls, and calls that take time. It adds no behaviour. All other methods are exported where they are defined.

pub(crate) mod call;
mod constructors;
mod journal;
mod logging;
mod methods;
mod telemetry;
mod texts;

use rust_decimal::Decimal;

use crate::{error::PaymentError, violation::Rule};

// A decimal is passed as the text of its digits, so that it stays exact.
uniffi::custom_type!(Decimal, String, {
    remote,
    lower: |decimal| decimal.to_string(),
    try_lift: |text| Decimal::from_str_exact(&text).map_err(|_| not_exact().into()),
});

fn not_exact() -> PaymentError {
    PaymentError::invalid("amount", Rule::Exact, None, "must be a decimal number of at most 28 digits")
}
