//! Builds the SDK's values from the JSON of a vector.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kassa::{
    Advice, CallbackKey, Card, CardInput, CardPayment, CheckoutState, Credentials, Decimal, Dialect, Elqr, ElqrKind,
    Gateway, GatewayConfig, Language, MbankPayment, MegapayPayment, PayForm, PaymentEntry, PaymentError, PaymentKind,
    PaymentRef, PollPolicy, Provider, Proxy, QrData, QrLevel, QrPayment, RecoveryPolicy, StatusQueryForm, Violation,
};
use serde_json::Value;

use crate::vectors::text;

pub fn optional(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

pub fn decimal(value: &Value) -> Decimal {
    Decimal::from_str_exact(&text(value)).unwrap()
}

/// A text stands for its UTF-8, `{"$bytes": …}` for any bytes, and nothing for none.
pub fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => text.clone().into_bytes(),
        other => STANDARD.decode(text(&other["$bytes"])).unwrap(),
    }
}

/// A dialect or a callback may be written as a text, or as the JSON that it is.
pub fn json_text(value: &Value) -> String {
    optional(value).unwrap_or_else(|| value.to_string())
}

/// The default one where there is none, one by its name where a text of small letters stands there, else one by its JSON.
pub fn dialect(value: &Value) -> Result<Dialect, PaymentError> {
    let is_name = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase());
    match value.as_str().filter(is_name) {
        Some(name) => Dialect::named(name),
        None if value.is_null() => Ok(Dialect::default()),
        None => Dialect::from_json(&json_text(value)),
    }
}

fn milliseconds(value: &Value) -> Duration {
    Duration::from_millis(value.as_u64().expect("milliseconds"))
}

pub fn config(value: &Value, server_url: &str) -> Result<GatewayConfig, PaymentError> {
    let placed = |text: String| text.replace("{server}", server_url);
    let mut config = GatewayConfig::new(placed(text(&value["base_url"])), credentials(value));
    for (name, place) in [
        ("connect_timeout_ms", &mut config.connect_timeout),
        ("payment_deadline_ms", &mut config.payment_deadline),
        ("query_deadline_ms", &mut config.query_deadline),
    ] {
        *place = value.get(name).map_or(*place, milliseconds);
    }
    if let Some(retries) = value["query_retries"].as_u64() {
        config.query_retries = u32::try_from(retries).unwrap();
    }
    if let Some(form) = value["status_query"].as_str() {
        config.status_query = match form {
            "json_body" => StatusQueryForm::JsonBody,
            "query_string" => StatusQueryForm::QueryString,
            other => panic!("no status query form {other}"),
        };
    }
    config = config.with_dialect(dialect(&value["dialect"])?);
    if let Some(proxy) = value.get("proxy") {
        config = config.with_proxy(self::proxy(proxy, server_url));
    }
    for certificate in value["extra_root_certificates"].as_array().into_iter().flatten() {
        config.extra_root_certificates.push(text(certificate));
    }
    for host in value["plain_http_hosts"].as_array().into_iter().flatten() {
        config.plain_http_hosts.push(text(host));
    }
    config.user_agent_suffix = optional(&value["user_agent_suffix"]);
    config.check_luhn = value["check_luhn"] == true;
    Ok(config)
}

pub fn credentials(value: &Value) -> Credentials {
    Credentials::basic(text(&value["login"]), text(&value["password"]))
}

pub fn proxy(value: &Value, server_url: &str) -> Proxy {
    match value.as_str() {
        Some("direct") => Proxy::direct(),
        Some("environment") => Proxy::environment(),
        _ => Proxy::url(text(&value["url"]).replace("{server}", server_url)),
    }
}

/// A key by its secret, and by the previous ones.
pub fn callback_key(input: &Value) -> Result<CallbackKey, PaymentError> {
    let previous = input["previous"].as_array().into_iter().flatten();
    previous.map(text).try_fold(CallbackKey::new(&text(&input["secret"]))?, |key, secret| key.with_previous(&secret))
}

/// The gateway, with another deadline or a note where a step says so.
pub fn within(gateway: Gateway, input: &Value) -> Result<Gateway, PaymentError> {
    let gateway = match input.get("within_ms") {
        Some(time) => gateway.with_deadline(milliseconds(time))?,
        None => gateway,
    };
    optional(&input["note"]).map_or_else(|| Ok(gateway.clone()), |note| gateway.with_note(&note))
}

pub fn card(input: &Value) -> Card {
    let year = input["expiry_year"].as_i64().unwrap().try_into().unwrap();
    Card::new(text(&input["pan"]), text(&input["expiry_month"]), year, text(&input["cvc"]), text(&input["holder_name"]))
}

pub fn card_input(input: &Value) -> CardInput {
    let typed = |name: &str| optional(&input[name]).unwrap_or_default();
    let form = CardInput::new().with_number(typed("number")).with_expiry(typed("expiry"));
    let form = form.with_cvc(typed("cvc")).with_holder_name(typed("holder_name"));
    match input["as_of"].as_array() {
        Some(date) => form.as_of(whole(&date[0]), whole(&date[1])),
        None => form,
    }
}

fn whole<T: TryFrom<i64, Error: std::fmt::Debug>>(value: &Value) -> T {
    value.as_i64().unwrap().try_into().unwrap()
}

pub fn card_payment(input: &Value) -> CardPayment {
    let given = |name: &str| text(&input[name]);
    let (amount, callback_url) = (decimal(&input["amount"]), given("callback_url"));
    let mut payment = CardPayment::new(given("order_number"), amount, given("currency"), card(input), callback_url)
        .with_description(given("description"))
        .with_language(given("language"))
        .with_ip(given("ip"));
    payment.return_url = optional(&input["return_url"]);
    payment.email = optional(&input["email"]);
    payment
}

pub fn mbank_payment(input: &Value) -> MbankPayment {
    let given = |name: &str| text(&input[name]);
    let amount_som = input["amount_som"].as_i64().unwrap();
    let mut payment = MbankPayment::new(given("order_number"), amount_som, given("phone"), given("comment"));
    payment.callback_url = optional(&input["callback_url"]);
    payment
}

pub fn megapay_payment(input: &Value) -> MegapayPayment {
    let given = |name: &str| text(&input[name]);
    let amount = decimal(&input["amount"]);
    let mut payment = MegapayPayment::new(given("order_number"), amount, given("phone"), given("account"));
    payment.callback_url = optional(&input["callback_url"]);
    payment
}

pub fn pay_form(input: &Value) -> PayForm {
    let form = PayForm::new(decimal(&input["amount"]), text(&input["service_name"]), text(&input["callback_url"]));
    let form = form.with_return_url(text(&input["return_url"]));
    optional(&input["entry_id"]).into_iter().fold(form, PayForm::with_entry_id)
}

pub fn qr_payment(input: &Value) -> QrPayment {
    let mut payment = input["sum_tyiyn"].as_i64().map_or_else(QrPayment::of_open_amount, QrPayment::new);
    payment.requisite = optional(&input["requisite"]);
    payment.callback_url = optional(&input["callback_url"]);
    payment.entry_id = optional(&input["entry_id"]);
    payment
}

pub fn qr_data(input: &Value) -> QrData {
    let mut data = QrData::new(payment_ref(&input["payment"]));
    data.payload = optional(&input["payload"]);
    data.transaction_id = optional(&input["transaction_id"]);
    data.raw = optional(&input["raw"]).unwrap_or_default();
    data
}

pub fn provider(value: &Value) -> Provider {
    match value.as_str() {
        Some("cards") => Provider::Cards,
        Some("mega_pay") => Provider::MegaPay,
        Some("mbank") => Provider::MBank,
        _ => Provider::Other(text(&value["name"])),
    }
}

pub fn payment_ref(value: &Value) -> PaymentRef {
    let mut payment = PaymentRef::qr(None);
    payment.kind = match value["kind"].as_str() {
        Some("card") => PaymentKind::Card,
        Some("mbank") => PaymentKind::Mbank,
        Some("megapay") => PaymentKind::Megapay,
        Some("pay_form") => PaymentKind::PayForm,
        Some("qr") => PaymentKind::Qr,
        other => panic!("no kind {other:?}"),
    };
    payment.order_number = optional(&value["order_number"]);
    payment.gateway_number = optional(&value["gateway_number"]);
    payment.provider = value.get("provider").filter(|provider| !provider.is_null()).map(provider);
    payment.transaction_id = optional(&value["transaction_id"]);
    payment.confirm_identifier = optional(&value["confirm_identifier"]);
    payment.amount = value["amount"].get("$decimal").map(decimal);
    payment.currency = optional(&value["currency"]);
    payment.is_claimed = value["is_claimed"] == true;
    payment.entry_id = optional(&value["entry_id"]);
    payment.transaction_from_code = value["transaction_from_code"] == true;
    payment
}

pub fn payment_entry(value: &Value) -> PaymentEntry {
    let entry = PaymentEntry::new(payment_ref(&value["payment"]));
    let entry = optional(&value["page_url"]).into_iter().fold(entry, PaymentEntry::with_page_url);
    optional(&value["qr_text"]).into_iter().fold(entry, PaymentEntry::with_qr_text)
}

/// A code to be written. A `link` that is absent stays the one of any bank.
pub fn elqr(input: &Value) -> Elqr {
    let kind = if input["kind"] == "static" { ElqrKind::Static } else { ElqrKind::Dynamic };
    let mut code = Elqr::new(kind, text(&input["provider"]), text(&input["payee"]), text(&input["mcc"]));
    if let Some(link) = optional(&input["link"]) {
        code.link = link;
    }
    code.service_code = optional(&input["service_code"]);
    code.transaction = optional(&input["transaction"]);
    code.amount_editable = input["amount_editable"].as_bool();
    code.comment = optional(&input["comment"]);
    code.amount_tyiyn = input["amount_tyiyn"].as_i64();
    code
}

/// A reference as its constructors make it.
pub fn made_payment_ref(input: &Value) -> PaymentRef {
    let order_number = || text(&input["order_number"]);
    let made = match input["kind"].as_str() {
        Some("card") => PaymentRef::card(order_number(), decimal(&input["amount"]), text(&input["currency"])),
        Some("mbank") => PaymentRef::mbank(order_number(), input["amount_som"].as_i64().unwrap()),
        Some("megapay") => PaymentRef::megapay(order_number(), decimal(&input["amount"])),
        Some("pay_form") => PaymentRef::pay_form(decimal(&input["amount"])),
        Some("qr") => PaymentRef::qr(input["sum_tyiyn"].as_i64()),
        other => panic!("no kind {other:?}"),
    };
    let made = match optional(&input["gateway_number"]) {
        Some(number) => made.with_gateway_number(number),
        None => made,
    };
    let made = match optional(&input["transaction_id"]) {
        Some(id) => made.with_transaction_id(id),
        None => made,
    };
    let claimed = &input["claimed"];
    match optional(&claimed["order_number"]) {
        Some(number) => made.with_claimed_number(number, claimed.get("provider").map(provider)),
        None => made,
    }
}

pub fn policy(input: &Value) -> PollPolicy {
    let mut policy = PollPolicy::default();
    policy.interval = input.get("interval_ms").map_or(policy.interval, milliseconds);
    policy.deadline = input.get("deadline_ms").map_or(policy.deadline, milliseconds);
    policy
}

pub fn recovery_policy(input: &Value) -> RecoveryPolicy {
    let mut policy = RecoveryPolicy::default();
    policy.interval = input.get("interval_ms").map_or(policy.interval, milliseconds);
    policy.deadline = input.get("deadline_ms").map_or(policy.deadline, milliseconds);
    policy.at_once = input.get("at_once").map_or(policy.at_once, whole);
    policy.follow_new = input.get("follow_new").is_some_and(|value| value == true);
    policy
}

pub fn level(value: &Value) -> QrLevel {
    match value.as_str() {
        Some("low") => QrLevel::Low,
        Some("medium") => QrLevel::Medium,
        Some("quartile") => QrLevel::Quartile,
        Some("high") => QrLevel::High,
        other => panic!("no level {other:?}"),
    }
}

pub fn language(tag: &Value) -> Language {
    Language::from_tag(&text(tag))
}

pub fn checkout_state(value: &Value) -> CheckoutState {
    serde_json::from_value(value.clone()).unwrap()
}

pub fn violation(input: &Value) -> Violation {
    serde_json::from_value(input.clone()).unwrap()
}

pub fn advice(input: &Value) -> Advice {
    serde_json::from_value(input.clone()).unwrap()
}
