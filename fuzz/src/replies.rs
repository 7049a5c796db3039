//! Replies of the gateway, to each operation.

use std::{cell::LazyCell, fmt::Debug, sync::Arc};

use kassa::{
    Card, CardPayment, Dialect, Gateway, MbankPayment, PayForm, PaymentError, Provider, QrPayment,
    fuzzing::{PASSWORD, gateway_replying},
};
use tokio::runtime::{Builder, Runtime};

const PAN: &str = "4111111111111111";
const OTP: &str = "918273";
const STATUSES: [u16; 16] = [200, 200, 200, 201, 204, 302, 400, 401, 403, 404, 408, 409, 422, 429, 500, 503];
const OTHER_DIALECT: &str = include_str!("../../examples/sandbox-other-dialect.json");

thread_local! {
    static RUNTIME: LazyCell<Runtime> =
        LazyCell::new(|| Builder::new_current_thread().build().expect("a runtime"));
    static DIALECTS: LazyCell<[Arc<Dialect>; 2]> = LazyCell::new(|| {
        ["{}", OTHER_DIALECT].map(|text| Dialect::from_json(text).expect("a dialect").into())
    });
}

/// The first byte picks the operation and the dialect, the second the HTTP status.
pub fn any_reply(bytes: &[u8]) {
    let [first, second, body @ ..] = bytes else { return };
    let dialect = DIALECTS.with(|dialects| dialects[usize::from(first / 9 % 2)].clone());
    reply(first % 9, STATUSES[usize::from(second % 16)], body, dialect);
}

/// A picture, as its bytes or in one of the ways to wrap it.
pub fn qr_image(bytes: &[u8]) {
    reply(6, 200, bytes, DIALECTS.with(|dialects| dialects[0].clone()));
}

/// The data of a code.
pub fn qr_data(bytes: &[u8]) {
    reply(7, 200, bytes, DIALECTS.with(|dialects| dialects[0].clone()));
}

/// Every operation once, with the same reply.
pub fn to_every_operation(body: &[u8], dialect: &Arc<Dialect>) {
    (0..9).for_each(|operation| reply(operation, 200, body, dialect.clone()));
}

fn reply(operation: u8, http_status: u16, body: &[u8], dialect: Arc<Dialect>) {
    let gateway = gateway_replying(http_status, body, dialect).expect("a gateway");
    RUNTIME.with(|runtime| runtime.block_on(call(&gateway, operation, http_status)));
}

#[derive(Clone, Copy, PartialEq)]
enum Sent {
    Card,
    Money,
    Question,
}

async fn call(gateway: &Gateway, operation: u8, http_status: u16) {
    match operation {
        0 => judge(Sent::Card, http_status, gateway.create_card_payment(card_payment()).await),
        1 => judge(Sent::Money, http_status, gateway.create_mbank_payment(mbank_payment()).await),
        2 => judge(Sent::Money, http_status, gateway.confirm_mbank_payment("order-1", OTP, None).await),
        3 => judge(Sent::Question, http_status, gateway.payment_status("gateway-1", None).await),
        4 => judge(Sent::Question, http_status, gateway.provider_status("order-1", Provider::MBank).await),
        5 => judge(Sent::Question, http_status, gateway.create_pay_form(pay_form()).await),
        6 => {
            let payment = QrPayment { sum_tyiyn: Some(1), ..QrPayment::default() };
            judge(Sent::Question, http_status, gateway.create_qr_image(payment).await)
        }
        7 => judge(Sent::Question, http_status, gateway.create_qr_data(QrPayment::default()).await),
        _ => judge(Sent::Question, http_status, gateway.qr_status("transaction-1").await),
    }
}

/// What holds of every answer, whatever the reply was. A card number is only known to be one where the call held it.
fn judge<T: Debug>(sent: Sent, http_status: u16, answer: Result<T, PaymentError>) {
    let moves_money = sent != Sent::Question;
    let holds_card = sent == Sent::Card;
    let is_success = (200..300).contains(&http_status);
    let shown = match &answer {
        Ok(answer) => {
            assert!(is_success, "HTTP {http_status} is no success");
            format!("{answer:?}")
        }
        Err(error) => {
            assert!(moves_money || !error.payment_may_exist(), "it moves no money: {error}");
            let may_have_moved = moves_money && (is_success || http_status >= 500);
            let is_refused = matches!(error, PaymentError::Refused { .. });
            assert!(!may_have_moved || error.payment_may_exist() || is_refused, "HTTP {http_status}: {error}");
            format!("{error} {error:?}")
        }
    };
    assert!(!shown.contains(PASSWORD), "the password comes out");
    assert!(!(holds_card && shown.contains(PAN)), "the card number comes out");
}

fn card_payment() -> CardPayment {
    CardPayment {
        order_number: "order-1".into(),
        description: "tea".into(),
        amount: 100.into(),
        currency: "KGS".into(),
        card: Card::new(PAN, "12", 2099, "737", "Aibek Usenov").into(),
        language: "en".into(),
        return_url: None,
        callback_url: "https://shop.example/callback".into(),
        ip: "203.0.113.7".into(),
        email: None,
    }
}

fn mbank_payment() -> MbankPayment {
    MbankPayment {
        order_number: "order-1".into(),
        phone: "996555000101".into(),
        amount_som: 100,
        comment: "tea".into(),
        callback_url: None,
    }
}

fn pay_form() -> PayForm {
    PayForm {
        amount: 100.into(),
        service_name: "tea".into(),
        callback_url: "https://shop.example/callback".into(),
        return_url: "https://shop.example/done".into(),
    }
}
