//! A fault as it comes from outside: JSON, or the command line's `NAME,key=value,...`.

use std::str::FromStr;

use serde_json::Value;

use crate::{
    domain::EndpointName,
    faults::{Fault, FaultError, FaultName},
    rules::{FieldError, Members},
};

/// The keys whose values are numbers.
const NUMBERS: [&str; 5] = ["probability", "times", "seed", "delay_ms", "retry_after_s"];

impl Fault {
    /// Of a JSON object's members.
    pub(crate) fn from_members(mut members: Members) -> Result<Self, FaultError> {
        let name = members.word("name", FaultName::ALL, FaultName::as_str);
        if name.is_none() && members.is_sound("name") {
            members.refuse("name", "is required");
        }
        // A stand-in, which nobody sees: a fault without a name is refused.
        let mut fault = Self::new(name.unwrap_or(FaultName::Delay));
        if let Some(endpoint) = members.word("endpoint", &EndpointName::ALL, EndpointName::as_str) {
            fault = fault.endpoint(endpoint);
        }
        if let Some(number) = members.text("order_number") {
            fault = fault.order(number);
        }
        if let Some(probability) = members.number("probability") {
            fault = fault.probability(probability);
        }
        if let Some(times) = members.whole("times") {
            fault = fault.times(times);
        }
        if let Some(seed) = members.whole("seed") {
            fault = fault.seed(seed);
        }
        if let Some(delay) = members.whole("delay_ms") {
            fault = fault.after(std::time::Duration::from_millis(delay));
        }
        if let Some(seconds) = members.whole("retry_after_s") {
            match u32::try_from(seconds) {
                Ok(seconds) => fault = fault.retry_after_seconds(seconds),
                Err(_) => members.refuse("retry_after_s", "must be at most 4294967295"),
            }
        }
        if let Some(status) = members.text("status") {
            fault = fault.status(status);
        }
        if let Some(code) = members.text("code") {
            fault = fault.code(code);
        }
        members.finish().map_err(|errors| FaultError { errors })?;
        fault.check()?;
        Ok(fault)
    }
}

impl FromStr for Fault {
    type Err = FaultError;

    /// Reads `NAME,key=value,...`, the keys being those of the admin interface.
    fn from_str(text: &str) -> Result<Self, FaultError> {
        let mut parts = text.split(',');
        let name = parts.next().unwrap_or_default();
        let mut pairs = vec![("name".to_owned(), Value::from(name))];
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                let error = FieldError::new(part, "must be written as key=value");
                return Err(FaultError { errors: vec![error] });
            };
            pairs.push((key.trim().to_owned(), value_of(key.trim(), value)));
        }
        Self::from_members(Members::new(pairs))
    }
}

fn value_of(key: &str, text: &str) -> Value {
    let number = serde_json::from_str(text).ok().filter(|value: &Value| NUMBERS.contains(&key) && value.is_number());
    number.unwrap_or_else(|| Value::from(text))
}
