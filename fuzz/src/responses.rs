//! Responses of the gateway, to each operation.

use std::{cell::LazyCell, fmt::Debug, sync::Arc};

use kassa::{
    _internals::{PASSWORD, gateway_responding},
    Card, CardPayment, Dialect, Gateway, MbankPayment, MegapayPayment, PayForm, PaymentError, PaymentRef, Provider,
    QrPayment,
};
use tokio::runtime::{Builder, Runtime};

const PAN: &str = "4111111111111111";
const CVC: &str = "737";
const OTP: &str = "918273";
const PIN: &str = "604137";
const OPERATIONS: u8 = 11;
const STATUSES: [u16; 16] = [200, 200, 200, 201, 204, 302, 400, 401, 403, 404, 408, 409, 422, 429, 500, 503];
/// The login and the password, as they are sent.
const TOKEN: &str = "c2hvcDpzd29yZGZpc2gtNTUzMg==";
/// As the sandbox and the default have it, with codes that mean no.
const DIALECT_WITH_REFUSALS: &str = r#"{"endpoints": {
    "card_payment": {"refusal_codes": ["05", "7"]}, "mbank_payment": {"refusal_codes": ["05", "7"]},
    "mbank_confirm": {"refusal_codes": ["05", "7"]}, "pay_form": {"refusal_codes": ["05", "7"]},
    "qr_data": {"refusal_codes": ["05", "7"]}, "qr_status": {"refusal_codes": ["05", "7"]},
    "megapay_check": {"refusal_codes": ["05", "7"]}, "megapay_pay": {"refusal_codes": ["05", "7"]}
}, "megapay": {"check_method": "GET"}}"#;
const DIALECT: &str = r#"{"megapay": {"check_method": "POST"}}"#;
const OTHER_DIALECT: &str = include_str!("../../examples/sandbox-other-dialect.json");

thread_local! {
    static RUNTIME: LazyCell<Runtime> =
        LazyCell::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));
    static DIALECTS: LazyCell<[Arc<Dialect>; 3]> = LazyCell::new(|| {
        [DIALECT, OTHER_DIALECT, DIALECT_WITH_REFUSALS].map(|text| Dialect::from_json(text).expect("a dialect").into())
    });
}

/// The first byte picks the operation and the dialect, the second the HTTP status.
pub fn any_response(bytes: &[u8]) {
    let [first, second, body @ ..] = bytes else { return };
    let dialect = DIALECTS.with(|dialects| dialects[usize::from(first / OPERATIONS % 3)].clone());
    response(first % OPERATIONS, STATUSES[usize::from(second % 16)], body, dialect);
}

/// A picture, as its bytes or in one of the ways to wrap it.
pub fn qr_image(bytes: &[u8]) {
    response(6, 200, bytes, DIALECTS.with(|dialects| dialects[0].clone()));
}

/// The data of a code.
pub fn qr_data(bytes: &[u8]) {
    response(7, 200, bytes, DIALECTS.with(|dialects| dialects[0].clone()));
}

/// Every operation once, with the same response.
pub fn to_every_operation(body: &[u8], dialect: &Arc<Dialect>) {
    (0..OPERATIONS).for_each(|operation| response(operation, 200, body, dialect.clone()));
}

fn response(operation: u8, http_status: u16, body: &[u8], dialect: Arc<Dialect>) {
    if operation >= 9 && !dialect.offers_megapay() {
        return;
    }
    let lists_refusals = lists(&dialect, "refusal_codes");
    let lists_undecided = lists(&dialect, "unknown_codes") || lists(&dialect, "duplicate_codes");
    let gateway = gateway_responding(http_status, body, dialect).expect("a gateway");
    let case = Case { http_status, body, lists_refusals, lists_undecided };
    RUNTIME.with(|runtime| runtime.block_on(call(&gateway, operation, &case)));
}

/// Whether the dialect has a code in a list of this name.
fn lists(dialect: &Dialect, name: &str) -> bool {
    let text: String = dialect.to_json().split_whitespace().collect();
    let list = format!(r#""{name}":["#);
    text.split(&list).skip(1).any(|codes| !codes.starts_with(']'))
}

/// What came back, and how it was read.
struct Case<'a> {
    http_status: u16,
    body: &'a [u8],
    lists_refusals: bool,
    /// Codes that leave the outcome open.
    lists_undecided: bool,
}

/// What was sent, as far as it matters to what may be said of it.
#[derive(Clone, Copy, PartialEq)]
enum Sent {
    Card,
    Otp,
    Pin,
    Money,
    Making,
    Question,
}

async fn call(gateway: &Gateway, operation: u8, case: &Case<'_>) {
    match operation {
        0 => case.judge(Sent::Card, gateway.create_card_payment(card_payment()).await, |it| &it.raw),
        1 => case.judge(Sent::Money, gateway.create_mbank_payment(mbank_payment()).await, |it| &it.raw),
        2 => {
            case.judge(Sent::Otp, gateway.confirm_mbank_payment(&PaymentRef::mbank("order-1", 100), OTP).await, |it| {
                &it.raw
            })
        }
        3 => case.judge(Sent::Question, gateway.payment_status("gateway-1", None).await, |it| &it.raw),
        4 => case.judge(Sent::Question, gateway.provider_status("order-1", Provider::MBank).await, |it| &it.raw),
        5 => case.judge(Sent::Making, gateway.create_pay_form(pay_form()).await, |it| &it.raw),
        6 => case.judge(Sent::Making, gateway.create_qr_image(QrPayment::new(1)).await, |it| &it.raw),
        7 => case.judge(Sent::Making, gateway.create_qr_data(QrPayment::of_open_amount()).await, |it| &it.raw),
        8 => case.judge(Sent::Question, gateway.qr_status("transaction-1").await, |it| &it.raw),
        9 => case.judge(Sent::Money, gateway.check_megapay(megapay_payment()).await, |it| &it.raw),
        _ => case.judge(Sent::Pin, gateway.pay_by_megapay(megapay_payment(), PIN).await, |it| &it.raw),
    }
}

impl Case<'_> {
    /// What holds of every answer, whatever the response was.
    fn judge<T: Debug>(&self, sent: Sent, answer: Result<T, PaymentError>, raw: fn(&T) -> &String) {
        let http_status = self.http_status;
        match &answer {
            Ok(answer) => {
                assert!((200..300).contains(&http_status), "HTTP {http_status} is no success");
                self.shows_no_secret(sent, raw(answer), &format!("{answer:?}"));
            }
            Err(error) => {
                self.tells_the_truth(sent, error);
                self.shows_no_secret(sent, body_of(error), &format!("{error} {error:?}"));
            }
        }
    }

    fn tells_the_truth(&self, sent: Sent, error: &PaymentError) {
        let http_status = self.http_status;
        let is_refused = matches!(error, PaymentError::Refused { .. });
        assert!(!is_refused || self.can_refuse(sent), "HTTP {http_status} is no verdict: {error}");
        let moves_money = !matches!(sent, Sent::Making | Sent::Question);
        match self.may_have_moved() {
            _ if !moves_money => assert!(!error.payment_may_exist(), "HTTP {http_status}: {error}"),
            Some(may) => assert_eq!(error.payment_may_exist(), may && !is_refused, "HTTP {http_status}: {error}"),
            None => {}
        }
    }

    /// Whether an error means that money may have moved; nothing where that rests on what the response says.
    fn may_have_moved(&self) -> Option<bool> {
        let can_be_the_gateways = self.is_object();
        match self.http_status {
            200..=399 | 408 | 409 | 500.. => Some(true),
            _ if can_be_the_gateways => None,
            401 | 404 | 405 | 407 | 413 | 414 | 415 | 421 | 426 | 429 | 431 => Some(false),
            400..=499 => Some(true),
            _ => None,
        }
    }

    fn is_object(&self) -> bool {
        serde_json::from_slice::<serde_json::Value>(self.body).is_ok_and(|value| value.is_object())
    }

    /// Where a response can be a verdict: in the gateway's envelope, or by a status that is said before anything is done.
    fn can_refuse(&self, sent: Sent) -> bool {
        match (self.http_status, sent) {
            (200..=299, Sent::Question) => self.lists_undecided,
            (200..=299, Sent::Making) => self.lists_refusals || self.lists_undecided,
            (200..=299, _) => self.lists_refusals,
            (401 | 429, _) => false,
            (408 | 409, Sent::Card | Sent::Otp | Sent::Pin | Sent::Money) => false,
            (403, Sent::Making) => true,
            (403, _) => false,
            (408 | 409 | 413 | 414 | 415 | 421 | 426 | 431, _) | (400..=499, Sent::Making) => true,
            (400..=499, _) => self.is_object(),
            _ => false,
        }
    }

    /// A secret is only known to be one where the call held it. One that could be an ordinary number is masked where it
    /// is a whole value, which only a JSON body tells.
    fn shows_no_secret(&self, sent: Sent, raw: &str, shown: &str) {
        assert!(!shown.contains(TOKEN), "the token comes out: {shown}");
        // An address for the payer may have the password in it by chance, such as a path with the shop's name.
        for text in [raw, &without_addresses(shown)] {
            assert!(!text.contains(PASSWORD), "the password comes out: {shown}");
        }
        assert!(sent != Sent::Card || !holds_card_number(shown), "the card number comes out: {shown}");
        let value = match sent {
            Sent::Card => CVC,
            Sent::Otp => OTP,
            Sent::Pin => PIN,
            _ => return,
        };
        let is_json = serde_json::from_slice::<serde_json::Value>(self.body).is_ok();
        assert!(!is_json || !raw.contains(&format!("\"{value}\"")), "{value} comes out: {raw}");
    }
}

fn body_of(error: &PaymentError) -> &str {
    match error {
        PaymentError::Refused { body, .. } | PaymentError::Unexpected { body, .. } => body,
        PaymentError::OutcomeUnknown { body: Some(body), .. } => body,
        _ => "",
    }
}

/// Without what follows the scheme of an address.
fn without_addresses(text: &str) -> String {
    let rests = text.split("://").skip(1).map(|rest| rest.find(['"', ' ']).map_or("", |end| &rest[end..]));
    text.split("://").take(1).chain(rests).collect()
}

/// With anything but letters and digits between its own. The digits of a mask are no part of it.
fn holds_card_number(text: &str) -> bool {
    let without_masks = text.replace("**** 1111", "x");
    let in_a_row: String = without_masks.chars().filter(|character| character.is_alphanumeric()).collect();
    in_a_row.contains(PAN)
}

fn card_payment() -> CardPayment {
    let card = Card::new(PAN, "12", 2099, CVC, "Aibek Usenov");
    CardPayment::new("order-1", 100.into(), "KGS", card, "https://shop.example/callback")
        .with_description("tea")
        .with_language("en")
        .with_ip("203.0.113.7")
}

fn mbank_payment() -> MbankPayment {
    MbankPayment::new("order-1", 100, "996555000101", "tea")
}

fn megapay_payment() -> MegapayPayment {
    MegapayPayment::new("order-1", 100.into(), "996555000101", "17")
}

fn pay_form() -> PayForm {
    PayForm::new(100.into(), "tea", "https://shop.example/callback").with_return_url("https://shop.example/done")
}
