//! The forms of the control page. The handlers of the admin interface validate and execute them. Also: a rejected form with its errors.

use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde_json::{Map, Value, json};

use crate::{
    admin::{AdminError, PathParameter, ledger, simulation},
    domain::amount,
    encoding::FormPairs,
    payments::decide::Decision,
    rules::{FieldError, Members},
    state::State,
};

/// Executes a posted form. Returns the name of the message for the page, or the errors by field; `None` if there is no such form.
pub(super) fn execute(state: &State, place: &str, form: &FormPairs) -> Option<Result<&'static str, Vec<FieldError>>> {
    let (result, done) = match place {
        "switches" => (simulation::change_switches(state, members(switches(form))), "switches"),
        "clock" => (simulation::change_clock(state, members(resolving(form))), "clock"),
        "clock/forward" => (simulation::forward_clock(state, members(json!({ "ms": step(form) }))), "forward"),
        "faults" => (simulation::add_fault(state, members(fault(form))), "fault"),
        "faults/remove" => (simulation::remove_fault(state, PathParameter(form.get("id").to_owned())), "removed"),
        "faults/clear" => (simulation::clear_faults(state, ()), "cleared"),
        "payment" => {
            let number = PathParameter(form.get("number").to_owned());
            let result = match decision(form)? {
                (Decision::Approve, body) => ledger::approve(state, (number, members(body))),
                (Decision::Decline, body) => ledger::decline(state, (number, members(body))),
            };
            (result, "payment")
        }
        "reset" => (ledger::reset(state, ()), "reset"),
        _ => return None,
    };
    let to_form_errors =
        |error: AdminError| error.errors.into_iter().map(|error| to_form_error(place, error)).collect();
    Some(result.map(|_| done).map_err(to_form_errors))
}

/// The members of a body.
fn members(body: Value) -> Members {
    match body {
        Value::Object(members) => Members::new(members),
        _ => Members::new([]),
    }
}

/// The decision on a payment, and its body.
fn decision(form: &FormPairs) -> Option<(Decision, Value)> {
    match (form.get("decision"), form.get("amount")) {
        ("approve", "") => Some((Decision::Approve, Value::Null)),
        ("approve", amount) => Some((Decision::Approve, json!({ "amount": times(amount, 1) }))),
        ("decline", _) => Some((Decision::Decline, Value::Null)),
        _ => None,
    }
}

/// An error of the admin interface, converted to the posted form: with the form's field name and unit.
fn to_form_error(place: &str, error: FieldError) -> FieldError {
    match (place, error.field.as_str()) {
        ("clock", "resolve_after_ms") => FieldError::new(
            "resolve_after_s",
            "must be seconds, to the millisecond and of at most 100 years, or nothing",
        ),
        ("clock/forward", "ms") => FieldError { field: "by".to_owned(), ..error },
        _ => error,
    }
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

/// An empty field disables.
fn resolving(form: &FormPairs) -> Value {
    let or_null = |text: &str, read: fn(&str) -> Value| if text.is_empty() { Value::Null } else { read(text) };
    json!({
        "resolve_after_queries": or_null(form.get("resolve_after_queries"), |text| times(text, 1)),
        "resolve_after_ms": or_null(form.get("resolve_after_s"), milliseconds),
    })
}

/// Seconds with decimals, as milliseconds. Other text is passed on, and the admin interface rejects it.
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

/// A whole number times a factor. Other text is passed on, and the admin interface rejects it.
fn times(text: &str, factor: u64) -> Value {
    text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number.saturating_mul(factor)))
}

/// Empty fields are omitted.
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

/// The values of the page's fields: the posted ones for the rejected form, the current ones for the others.
pub(super) struct SubmittedForm<'a> {
    /// The form's path under the page.
    pub(super) place: &'a str,
    pub(super) form: Option<&'a FormPairs>,
    pub(super) errors: &'a [FieldError],
}

impl SubmittedForm<'_> {
    /// No form was rejected.
    pub(super) const NOTHING: SubmittedForm<'static> = SubmittedForm { place: "", form: None, errors: &[] };

    fn of(&self, place: &str) -> Option<&FormPairs> {
        self.form.filter(|_| !self.errors.is_empty() && self.place == place)
    }

    /// The value of a form's field: the posted one, else the given one.
    pub(super) fn value<'b>(&'b self, place: &str, name: &str, otherwise: &'b str) -> &'b str {
        self.of(place).map_or(otherwise, |form| form.raw(name))
    }

    /// Whether this option of a field is selected.
    pub(super) fn is_chosen(&self, place: &str, name: &str, word: &str, otherwise: &str) -> bool {
        self.value(place, name, otherwise) == word
    }

    /// Whether a box is checked.
    pub(super) fn is_checked(&self, place: &str, name: &str, otherwise: bool) -> bool {
        self.of(place).map_or(otherwise, |form| form.get(name) == "on")
    }

    /// The error of a form's field.
    pub(super) fn problem(&self, place: &str, name: &str) -> Option<&str> {
        self.of(place)?;
        self.errors.iter().find(|error| error.field == name).map(|error| error.message.as_str())
    }

    /// Whether a form's field gets the focus: the first wrong one.
    pub(super) fn is_first(&self, place: &str, name: &str) -> bool {
        self.of(place).is_some() && self.errors.first().is_some_and(|error| error.field == name)
    }

    /// Whether one of the collapsed fields is wrong.
    pub(super) fn is_any_wrong(&self, place: &str, names: [&str; 4]) -> bool {
        names.into_iter().any(|name| self.problem(place, name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(form: &str) -> FormPairs {
        FormPairs::parse(form.as_bytes())
    }

    #[test]
    fn seconds_convert_to_whole_milliseconds_only() {
        for (text, ms) in [("0.5", json!(500)), ("90", json!(90_000)), ("0.0005", json!("0.0005")), ("-1", json!("-1"))]
        {
            let body = resolving(&posted(&format!("resolve_after_s={text}")));
            assert_eq!(body, json!({ "resolve_after_queries": null, "resolve_after_ms": ms }), "{text}");
        }
    }

    #[test]
    fn amount_is_sent_with_an_approval_only() {
        let decision = |form: &str| decision(&posted(form));
        assert_eq!(decision("decision=approve&amount=250"), Some((Decision::Approve, json!({ "amount": 250 }))));
        assert_eq!(decision("decision=approve"), Some((Decision::Approve, Value::Null)));
        assert_eq!(decision("decision=decline&amount=250"), Some((Decision::Decline, Value::Null)));
        assert_eq!(decision("number=A"), None);
    }
}
