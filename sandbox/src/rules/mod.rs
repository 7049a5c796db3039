//! Validation: the rules of the interface's fields, the problems they report, and their JSON Schema.

mod members;
mod rule;
mod shape;

pub use members::FieldError;

pub(crate) use members::Members;
pub(crate) use rule::{
    Problem, Rule, Violation, currency, cvc, cvc_of, decimal, email, expiry_month, expiry_year, integer, integer_up_to,
    ip_address, language, month_of, pan_of, phone_of, provider, return_url, test_card, test_phone, text, web_url,
    written_decimal, year_of,
};
pub(crate) use shape::{Shape, Spanning, non_blank};
