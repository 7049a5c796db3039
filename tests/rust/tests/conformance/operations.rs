//! Maps the names in the vectors to the SDK's methods.

use std::fmt::Debug;

use kassa::{
    BankLink, Callback, CallbackKey, CheckoutLabels, CheckoutTexts, Decimal, Dialect, Elqr, Gateway, Language,
    LocalDateTime, PaymentEntry, PaymentError, PaymentRef, Provider, QrCode, ReturnRedirect, StatusWatch, WatchReport,
    amount_text, new_order_number, normalized_phone, pay_text, phone_hint, som_to_tyiyn, tyiyn_to_som,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    canonical::Canonical,
    inputs::{self, optional},
    printed,
    vectors::text,
};

/// What a step brought: its result in the canonical form, and everything that can be printed of it.
pub struct Came {
    pub result: Value,
    pub printed: String,
}

pub fn came<T: Canonical + Debug>(result: Result<T, PaymentError>) -> Came {
    let shown = printed::forms(&result);
    Came { printed: shown, ..shaped(result.map(|answer| answer.canonical())) }
}

/// For answers that are plain JSON already.
pub fn shaped(result: Result<Value, PaymentError>) -> Came {
    match result {
        Ok(answer) => Came { printed: answer.to_string(), result: json!({"answer": answer}) },
        Err(error) => Came { printed: printed::error(&error), result: json!({"error": error.canonical()}) },
    }
}

pub fn answer(value: impl Into<Value>) -> Came {
    shaped(Ok(value.into()))
}

pub const GATEWAY_CALLS: [&str; 14] = [
    "create_card_payment",
    "payment_status",
    "create_mbank_payment",
    "confirm_mbank_payment",
    "check_megapay",
    "pay_by_megapay",
    "create_pay_form",
    "provider_status",
    "create_qr_image",
    "create_qr_data",
    "qr_status",
    "check",
    "verify_callback",
    "verify_return",
];

pub async fn call(gateway: &Gateway, name: &str, input: &Value) -> Came {
    let order_number = || text(&input["order_number"]);
    match name {
        "create_card_payment" => came(gateway.create_card_payment(inputs::card_payment(input)).await),
        "payment_status" => {
            came(gateway.payment_status(&text(&input["gateway_number"]), optional(&input["language"]).as_deref()).await)
        }
        "create_mbank_payment" => came(gateway.create_mbank_payment(inputs::mbank_payment(input)).await),
        "confirm_mbank_payment" => {
            let payment = inputs::payment_ref(&input["payment"]);
            came(gateway.confirm_mbank_payment(&payment, &text(&input["otp"])).await)
        }
        "check_megapay" => came(gateway.check_megapay(inputs::megapay_payment(input)).await),
        "pay_by_megapay" => {
            let payment = inputs::megapay_payment(&input["payment"]);
            came(gateway.pay_by_megapay(payment, &text(&input["pin"])).await)
        }
        "create_pay_form" => came(gateway.create_pay_form(inputs::pay_form(input)).await),
        "provider_status" => came(gateway.provider_status(&order_number(), inputs::provider(&input["provider"])).await),
        "create_qr_image" => came(gateway.create_qr_image(inputs::qr_payment(input)).await),
        "create_qr_data" => came(gateway.create_qr_data(inputs::qr_payment(input)).await),
        "qr_status" => came(gateway.qr_status(&text(&input["transaction_id"])).await),
        "check" => came(gateway.check(&inputs::payment_ref(&input["payment"])).await),
        "verify_callback" => verify_callback(gateway, input).await,
        "verify_return" => verify_return(gateway, input).await,
        other => panic!("no call is named {other:?}"),
    }
}

async fn verify_callback(gateway: &Gateway, input: &Value) -> Came {
    let callback = Callback::parse(&inputs::json_text(&input["callback"])).expect("a callback that can be read");
    came(gateway.verify_callback(&callback, &inputs::payment_ref(&input["payment"])).await)
}

async fn verify_return(gateway: &Gateway, input: &Value) -> Came {
    let redirect = ReturnRedirect::parse(&text(&input["url"])).expect("a return that can be read");
    came(gateway.verify_return(&redirect, &inputs::payment_ref(&input["payment"])).await)
}

pub async fn watch(watch: &StatusWatch, name: &str) -> Came {
    match name {
        "next" => came(watch.next().await),
        "outcome" => came(watch.outcome().await),
        "all" => all(watch).await,
        other => panic!("no step is named {other:?}"),
    }
}

/// Every report until the end, and the error that ended the watch, if one did.
async fn all(watch: &StatusWatch) -> Came {
    let mut reports: Vec<WatchReport> = Vec::new();
    let error = loop {
        match watch.next().await {
            Ok(Some(report)) => reports.push(report),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let printed = format!("{reports:?} {error:?}");
    let result = json!({"answer": {"reports": reports.canonical(), "error": error.canonical()}});
    Came { result, printed }
}

/// The functions that need no gateway; `None` where the name is none of theirs.
pub fn function(name: &str, input: &Value) -> Option<Came> {
    let (address, called) = (|| text(&input["url"]), || text(&input["called"]));
    let signed = || inputs::payment_ref(&input["payment"]);
    let amount = || input["amount_tyiyn"].as_i64().unwrap();
    Some(match name {
        "parse_callback" => came(Callback::parse(&inputs::json_text(&input["body"]))),
        "callback_status" => came(
            Callback::parse(&inputs::json_text(&input["callback"]))
                .and_then(|callback| inputs::dialect(&input["dialect"]).map(|dialect| callback.status_by(&dialect))),
        ),
        "parse_return_redirect" => came(ReturnRedirect::parse(&text(&input["url"]))),
        "parse_payment_ref" => came(text(&input["text"]).parse::<PaymentRef>()),
        "callback_url" => shaped(callback_key(input, |key| key.callback_url(&address(), &signed()).map(Value::from))),
        "return_url" => shaped(callback_key(input, |key| key.return_url(&address(), &signed()).map(Value::from))),
        "read_callback_url" => came(callback_key(input, |key| key.read_callback_url(&called()))),
        "read_return_url" => came(callback_key(input, |key| key.read_return_url(&called()))),
        "parse_payment_entry" => came(text(&input["text"]).parse::<PaymentEntry>()),
        "payment_entry_text" => answer(inputs::payment_entry(input).to_string()),
        "payment_ref_text" => answer(inputs::payment_ref(input).to_string()),
        "can_be_checked" => answer(inputs::payment_ref(input).can_be_checked()),
        "make_payment_ref" => came(Ok(inputs::made_payment_ref(input))),
        "payment_ref_of" => payment_ref_of(input),
        "advice" => advice(input),
        "parse_local_date_time" => came(Ok(LocalDateTime::parse(&text(&input["text"])))),
        "provider_from_name" => came(Ok(Provider::from_name(&text(&input["name"])))),
        "read_dialect" => whole_dialect(Dialect::from_json(&inputs::json_text(&input["json"]))),
        "named_dialect" => whole_dialect(Dialect::named(&text(&input["name"]))),
        "dialect_names" => answer(Dialect::names()),
        "explain_response" => explain_response(input),
        "dialect_advice" => came(inputs::dialect(&input["dialect"]).map(|dialect| dialect.advice())),
        "qr_data_advice" => came(Ok(inputs::qr_data(input).advice())),
        "som_to_tyiyn" => shaped(som_to_tyiyn(inputs::decimal(&input["som"])).map(Value::from)),
        "tyiyn_to_som" => came(Ok(tyiyn_to_som(input["tyiyn"].as_i64().unwrap()))),
        "new_order_number" => answer(new_order_number()),
        "normalized_phone" => answer(normalized_phone(&text(&input["text"]))),
        "encode_qr" => came(qr_code(input)),
        "parse_elqr" => came(elqr(input)),
        "write_elqr" => shaped(inputs::elqr(input).text().map(Value::from)),
        "check_elqr" => shaped(elqr(input).and_then(|code| code.check(amount())).map(|()| Value::Null)),
        "elqr_bank_links" => shaped(elqr(input).and_then(|code| code.bank_links()).map(bank_links)),
        "draw_qr_png" => shaped(qr_code(input).and_then(|code| png_size(&code, input))),
        "draw_qr_text" => shaped(qr_code(input).map(|code| code.text().lines().collect())),
        "draw_qr_svg" => shaped(qr_code(input).map(|code| code.svg().into())),
        "type_number" | "type_expiry" | "type_cvc" | "type_holder_name" => typed(name, input),
        "typed_card" => shaped(inputs::card_input(input).card().map(|card| card.masked_number().into())),
        "violation_text" => answer(inputs::violation(input).text_in(inputs::language(&input["language"]))),
        "advice_text" => answer(inputs::advice(input).text_in(inputs::language(&input["language"]))),
        "checkout_texts" => checkout_texts(input),
        "checkout_labels" => written(CheckoutLabels::of(inputs::language(&input["language"]))),
        "amount_text" => amount_in_words(input, amount_text),
        "pay_text" => amount_in_words(input, pay_text),
        "phone_hint" => answer(phone_hint(&text(&input["text"]), inputs::language(&input["language"]))),
        "language_from_tag" => answer(inputs::language(&input["tag"]).to_string()),
        "print" => printed::value(input),
        _ => return None,
    })
}

fn callback_key<T>(
    input: &Value,
    with: impl FnOnce(CallbackKey) -> Result<T, PaymentError>,
) -> Result<T, PaymentError> {
    inputs::callback_key(input).and_then(with)
}

fn checkout_texts(input: &Value) -> Came {
    let may_have_paid = input["may_have_paid"].as_bool().unwrap();
    let language = inputs::language(&input["language"]);
    written(CheckoutTexts::of(&inputs::checkout_state(&input["state"]), may_have_paid, language))
}

/// As the feature `serde` writes it, which reads it again.
fn written<T: Serialize + DeserializeOwned + Debug + PartialEq>(value: T) -> Came {
    let form = serde_json::to_value(&value).unwrap();
    assert_eq!(serde_json::from_value::<T>(form.clone()).unwrap(), value);
    answer(form)
}

fn amount_in_words(input: &Value, form: fn(Decimal, &str, Language) -> String) -> Came {
    let language = inputs::language(&input["language"]);
    answer(form(inputs::decimal(&input["amount"]), &text(&input["currency"]), language))
}

/// One field of a card form, after its text was typed.
fn typed(name: &str, input: &Value) -> Came {
    let field = name.trim_start_matches("type_");
    let form = inputs::card_input(&json!({field: input["text"], "as_of": input["as_of"]}));
    let (text, state) = match field {
        "number" => {
            let (text, state) = (form.number(), form.number_state().canonical());
            let (brand, lengths) = (form.brand().canonical(), form.number_lengths());
            return answer(json!({"text": text, "state": state, "brand": brand, "lengths": lengths}));
        }
        "expiry" => (form.expiry(), form.expiry_state()),
        "cvc" => (form.cvc(), form.cvc_state()),
        _ => (form.holder_name(), form.holder_name_state()),
    };
    answer(json!({"text": text, "state": state.canonical()}))
}

fn payment_ref_of(input: &Value) -> Came {
    let request = &input["request"];
    came(Ok(match request["do"].as_str() {
        Some("create_card_payment") => inputs::card_payment(&request["input"]).payment_ref(),
        Some("create_mbank_payment") => inputs::mbank_payment(&request["input"]).payment_ref(),
        Some("check_megapay") => inputs::megapay_payment(&request["input"]).payment_ref(),
        Some("create_pay_form") => inputs::pay_form(&request["input"]).payment_ref(),
        Some("create_qr_image" | "create_qr_data") => inputs::qr_payment(&request["input"]).payment_ref(),
        other => panic!("no reference for {other:?}"),
    }))
}

fn advice(input: &Value) -> Came {
    let request = &input["request"];
    came(Ok(match request["do"].as_str() {
        Some("create_card_payment") => inputs::card_payment(&request["input"]).advice(),
        Some("create_mbank_payment") => inputs::mbank_payment(&request["input"]).advice(),
        Some("check_megapay") => inputs::megapay_payment(&request["input"]).advice(),
        Some("create_pay_form") => inputs::pay_form(&request["input"]).advice(),
        other => panic!("no advice on {other:?}"),
    }))
}

fn whole_dialect(dialect: Result<Dialect, PaymentError>) -> Came {
    shaped(dialect.map(|dialect| serde_json::from_str(&dialect.to_json()).unwrap()))
}

fn explain_response(input: &Value) -> Came {
    let (endpoint, response) = (text(&input["endpoint"]), inputs::json_text(&input["response"]));
    came(inputs::dialect(&input["dialect"]).and_then(|dialect| dialect.explain(&endpoint, &response)))
}

fn elqr(input: &Value) -> Result<Elqr, PaymentError> {
    Elqr::parse(&text(&input["text"]))
}

fn bank_links(links: Vec<BankLink>) -> Value {
    links.iter().map(|link| json!({"bank": link.bank, "url": link.url})).collect()
}

fn qr_code(input: &Value) -> Result<QrCode, PaymentError> {
    QrCode::encode(&text(&input["text"]), inputs::level(&input["level"]))
}

/// The first chunk of a PNG says how wide and high it is.
fn png_size(code: &QrCode, input: &Value) -> Result<Value, PaymentError> {
    let png = code.png(input["px"].as_u64().unwrap().try_into().unwrap())?;
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "not a PNG");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    Ok(json!({"width": number(16), "height": number(20)}))
}
