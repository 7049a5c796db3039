//! The page's forms, as requests of the admin interface: that alone checks them.

use axum::http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde_json::{Map, Value, json};

use crate::{domain::amount, encoding::FormPairs, rules::FieldError};

/// What a form asks for.
pub(super) struct Wish {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Value,
    /// What the page says once it is done.
    pub(super) done: &'static str,
}

impl Wish {
    fn new(method: Method, path: &str, body: Value, done: &'static str) -> Option<Self> {
        Some(Self { method, path: format!("/admin/{path}"), body, done })
    }
}

/// The wish of the form that was posted there; `None` where there is no such form.
pub(super) fn read(place: &str, form: &FormPairs) -> Option<Wish> {
    match place {
        "switches" => Wish::new(Method::PATCH, "switches", switches(form), "switches"),
        "clock" => Wish::new(Method::PATCH, "clock", resolving(form), "clock"),
        "clock/forward" => Wish::new(Method::POST, "clock/forward", json!({ "ms": step(form) }), "forward"),
        "faults" => Wish::new(Method::POST, "faults", fault(form), "fault"),
        "faults/remove" => {
            Wish::new(Method::DELETE, &format!("faults/{}", segment(form.get("id"))), Value::Null, "removed")
        }
        "faults/clear" => Wish::new(Method::DELETE, "faults", Value::Null, "cleared"),
        "payment" => {
            let decision = ["approve", "decline"].into_iter().find(|one| *one == form.get("decision"))?;
            let path = format!("payments/{}/{decision}", segment(form.get("number")));
            let tyiyn = Some(form.get("amount")).filter(|text| decision == "approve" && !text.is_empty());
            Wish::new(
                Method::POST,
                &path,
                tyiyn.map_or(Value::Null, |text| json!({ "amount": times(text, 1) })),
                "payment",
            )
        }
        "reset" => Wish::new(Method::POST, "reset", Value::Null, "reset"),
        _ => None,
    }
}

/// An error of the admin interface in the words of the form that was posted there: by its field's name, and in its
/// unit.
pub(super) fn in_its_words(place: &str, error: FieldError) -> FieldError {
    match (place, error.field.as_str()) {
        ("clock", "resolve_after_ms") => FieldError::new(
            "resolve_after_s",
            "must be seconds, to the millisecond and of at most 100 years, or nothing",
        ),
        ("clock/forward", "ms") => FieldError { field: "by".to_owned(), ..error },
        _ => error,
    }
}

fn segment(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn switches(form: &FormPairs) -> Value {
    let mut body = Map::new();
    for name in ["reused_order_number", "status_numbers", "language", "acts_as", "mbank_quid"] {
        body.insert(name.to_owned(), json!(form.get(name)));
    }
    for name in ["three_ds_1_page", "redirect_declines"] {
        body.insert(name.to_owned(), json!(form.get(name) == "on"));
    }
    body.into()
}

/// A field that is empty switches off.
fn resolving(form: &FormPairs) -> Value {
    let or_null = |text: &str, read: fn(&str) -> Value| if text.is_empty() { Value::Null } else { read(text) };
    json!({
        "resolve_after_queries": or_null(form.get("resolve_after_queries"), |text| times(text, 1)),
        "resolve_after_ms": or_null(form.get("resolve_after_s"), milliseconds),
    })
}

/// Seconds, also parts of one; what is none stays as it is, and is refused for that.
fn milliseconds(text: &str) -> Value {
    let exact = amount::exact(text).and_then(|seconds| seconds.checked_mul(Decimal::ONE_THOUSAND));
    let whole = exact.filter(|ms| ms.fract().is_zero()).and_then(|ms| ms.to_u64());
    whole.map_or_else(|| json!(text), |ms| json!(ms))
}

fn step(form: &FormPairs) -> Value {
    let factor = match form.get("unit") {
        "minutes" => 60_000,
        "hours" => 3_600_000,
        "days" => 86_400_000,
        _ => 1000,
    };
    times(form.get("by"), factor)
}

/// A whole number times a factor; what is none stays as it is, and is refused for that.
fn times(text: &str, factor: u64) -> Value {
    text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number.saturating_mul(factor)))
}

/// What was left empty was not set.
fn fault(form: &FormPairs) -> Value {
    let mut body = Map::new();
    for name in ["name", "endpoint", "order_number", "status", "code"] {
        if !form.get(name).is_empty() {
            body.insert(name.to_owned(), json!(form.get(name)));
        }
    }
    for name in ["probability", "times", "seed", "delay_ms", "retry_after_s"] {
        let text = form.get(name);
        if !text.is_empty() {
            let number = serde_json::from_str(text).ok().filter(Value::is_number);
            body.insert(name.to_owned(), number.unwrap_or_else(|| json!(text)));
        }
    }
    body.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(place: &str, form: &str) -> Option<(String, Value)> {
        read(place, &FormPairs::parse(form.as_bytes())).map(|wish| (wish.path, wish.body))
    }

    #[test]
    fn seconds_have_parts_that_survive_being_shown_and_sent_again() {
        for (text, ms) in [("0.5", json!(500)), ("90", json!(90_000)), ("0.0005", json!("0.0005")), ("-1", json!("-1"))]
        {
            let (_, body) = asked("clock", &format!("resolve_after_s={text}")).expect("a form");
            assert_eq!(body, json!({ "resolve_after_queries": null, "resolve_after_ms": ms }), "{text}");
        }
    }

    #[test]
    fn a_payment_is_decided_only_as_the_form_says() {
        assert_eq!(
            asked("payment", "number=A%2F1&decision=approve&amount=250"),
            Some(("/admin/payments/A%2F1/approve".to_owned(), json!({ "amount": 250 })))
        );
        assert_eq!(
            asked("payment", "number=A&decision=decline&amount=250"),
            Some(("/admin/payments/A/decline".to_owned(), Value::Null))
        );
        assert_eq!(asked("payment", "number=A"), None);
    }
}
