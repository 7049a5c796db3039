//! Everything that Rust can print of a value, and the search in it for what must not be there.

use std::{collections::BTreeSet, fmt::Debug};

use kassa::{Gateway, PaymentError};
use serde_json::Value;

use crate::{
    inputs,
    log::Log,
    operations::{Came, answer},
    vectors::Vector,
};

pub fn forms<T: Debug>(result: &Result<T, PaymentError>) -> String {
    match result {
        Ok(value) => debug(value),
        Err(error) => self::error(error),
    }
}

fn debug(value: &impl Debug) -> String {
    format!("{value:?}\n{value:#?}")
}

pub fn error(error: &PaymentError) -> String {
    assert_eq!(error.to_string(), error.describe(), "one text, however it is requested");
    format!("{error}\n{}", debug(error))
}

/// A value made of the input, in every printed form that it has.
pub fn value(input: &Value) -> Came {
    let of = &input["value"];
    let shown = match input["type"].as_str().unwrap() {
        "card" => {
            let card = inputs::card(of);
            format!("{card}\n{}\n{}", card.masked_number(), debug(&card))
        }
        "card_input" => {
            let form = inputs::card_input(of);
            format!("{form}\n{}", debug(&form))
        }
        "card_payment" => debug(&inputs::card_payment(of)),
        "mbank_payment" => debug(&inputs::mbank_payment(of)),
        "megapay_payment" => debug(&inputs::megapay_payment(of)),
        "pay_form" => debug(&inputs::pay_form(of)),
        "qr_payment" => debug(&inputs::qr_payment(of)),
        "callback_key" => debug(&inputs::callback_key(of).unwrap()),
        "credentials" => debug(&inputs::credentials(of)),
        "proxy" => debug(&inputs::proxy(&of["proxy"], "")),
        "gateway_config" => debug(&inputs::config(of, "").unwrap()),
        "gateway" => debug(&Gateway::new(inputs::config(of, "").unwrap()).unwrap()),
        "poll_policy" => debug(&inputs::policy(of)),
        "payment_ref" => debug(&inputs::payment_ref(of)),
        other => panic!("no type is named {other:?}"),
    };
    Came { printed: shown, ..answer(Value::Null) }
}

/// What a vector forbids or wants to see in what was printed.
pub fn problems(spec: &Value, printed: &str) -> Vec<String> {
    let texts = |key: &str| spec[key].as_array().cloned().unwrap_or_default();
    let holds = |text: &Value| printed.contains(text.as_str().unwrap());
    let leaked = texts("forbidden").into_iter().filter(&holds).map(|text| format!("{text} is printed: {printed}"));
    let missing =
        texts("shows").into_iter().filter(|text| !holds(text)).map(|text| format!("{text} is not in: {printed}"));
    leaked.chain(missing).collect()
}

/// Logs of all vectors run together, so what any of them forbids must not be there.
pub fn search_log(log: &Log, vectors: &[&Vector]) -> Vec<String> {
    let log = log.text();
    let forbidden: BTreeSet<&str> = vectors
        .iter()
        .filter_map(|vector| vector.spec["forbidden"].as_array())
        .flatten()
        .map(|text| text.as_str().unwrap())
        .collect();
    let line = |text: &str| log.lines().find(|line| stands_in(line, text)).map(str::to_owned);
    forbidden.into_iter().filter_map(|text| line(text).map(|line| format!("{text:?} is logged: {line}"))).collect()
}

/// True where a text stands in a line. A few digits have to be a word of their own: numbers that are made up have any
/// digits in them.
fn stands_in(line: &str, text: &str) -> bool {
    if text.len() > 7 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return line.contains(text);
    }
    let is_joined = |next: Option<char>| next.is_some_and(|next| next.is_ascii_alphanumeric());
    line.match_indices(text)
        .any(|(at, _)| !is_joined(line[..at].chars().next_back()) && !is_joined(line[at + text.len()..].chars().next()))
}
