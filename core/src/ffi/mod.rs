//! What only Rust can say, said again for Kotlin, Swift and Python: constructors, conversions and texts of values, logging, and how
//! to give up on a call. It adds no behaviour. All other methods cross as they are, where they are.

mod cancellable;
mod constructors;
mod logging;
mod methods;
mod references;
mod texts;

use rust_decimal::Decimal;

use crate::values::{error::PaymentError, violation::Rule};

// A decimal crosses as its digits, so that it is as exact there as here.
uniffi::custom_type!(Decimal, String, {
    remote,
    lower: |decimal| decimal.to_string(),
    try_lift: |text| Decimal::from_str_exact(&text).map_err(|_| not_exact().into()),
});

fn not_exact() -> PaymentError {
    PaymentError::invalid("amount", Rule::Exact, None, "must be a decimal number of at most 28 digits")
}
