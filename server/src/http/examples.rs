//! Example bodies: a checkout in each of its states, and each kind of event. They are made of the same types as real bodies. The
//! OpenAPI description and docs/events.md show them.

use std::collections::BTreeMap;

use kassa::{Decimal, PaymentRef};
use serde_json::{Map, Value, json};
use strum::IntoEnumIterator;

use super::views::{self, ShopCheckout};
use crate::{
    checkouts::{Checkout, CheckoutView},
    events::{Body, Data, EventKind, PaymentData, ViaData},
    payments::Payment,
    tokens::KeyRole,
    values::{CheckoutId, CheckoutState, Hidden, Method, Millis, PaymentId, PaymentState, hex},
};

/// The amount of the checkout, in som.
const AMOUNT: i64 = 390;
const CURRENCY: &str = "KGS";
const REFERENCE: &str = "order-17";
/// Midnight of 2026-01-01 in Bishkek.
const OPENED_AT: Millis = 1_767_204_000_000;
const LIFETIME: Millis = 3_600_000;
const CHECKOUT: [u8; 16] = 0x7c1e_05b8_93f4_4d2a_a6d0_5e38_1b9f_c247_u128.to_be_bytes();
const PAYMENT: [u8; 16] = 0x2f8a_64d1_0b7e_4c95_8e13_d9a0_57f6_3c82_u128.to_be_bytes();
const EVENT: [u8; 16] = 0x9c41_d07b_e25f_4a36_b8e0_137a_d4c2_f65e_u128.to_be_bytes();
const KEY: [u8; 16] = 0x51d3_b90c_6ea8_4f17_92c4_08fb_e7a5_3d60_u128.to_be_bytes();
const PAGE_SECRET: &str = "9d2e41f07c5b4a86b1e3d0a95f27c684";

/// Events, one of each kind, as OpenAPI has examples: by name.
pub(super) fn events() -> Value {
    EventKind::iter()
        .map(|kind| (kind.name().to_owned(), event(kind, |body| json!({ "value": body }))))
        .collect::<Map<String, Value>>()
        .into()
}

/// A checkout that was opened now.
pub(super) fn opened_checkout() -> Value {
    only(&["open"])
}

/// A checkout in each of its states.
pub(super) fn any_checkout() -> Value {
    only(&CHECKOUTS.map(|shown| shown.name))
}

/// A checkout that was cancelled.
pub(super) fn cancelled_checkout() -> Value {
    only(&["cancelled"])
}

fn only(names: &[&str]) -> Value {
    let shown = CHECKOUTS.iter().filter(|shown| names.contains(&shown.name));
    shown
        .map(|shown| (shown.name.to_owned(), checkout(shown, |body| json!({ "value": body }))))
        .collect::<Map<String, Value>>()
        .into()
}

/// An example checkout.
struct ShownCheckout {
    name: &'static str,
    state: CheckoutState,
    version: i64,
    /// The state of its payment by mobile bank, if one was begun.
    payment: Option<PaymentState>,
}

const CHECKOUTS: [ShownCheckout; 5] = [
    ShownCheckout { name: "open", state: CheckoutState::Open, version: 0, payment: None },
    ShownCheckout {
        name: "open_with_payment",
        state: CheckoutState::Open,
        version: 2,
        payment: Some(PaymentState::Awaiting),
    },
    ShownCheckout { name: "paid", state: CheckoutState::Paid, version: 5, payment: Some(PaymentState::Charged) },
    ShownCheckout { name: "expired", state: CheckoutState::Expired, version: 1, payment: None },
    ShownCheckout { name: "cancelled", state: CheckoutState::Cancelled, version: 1, payment: None },
];

fn checkout<T>(shown: &ShownCheckout, write: impl FnOnce(&ShopCheckout<'_>) -> T) -> T {
    let (id, payment_id) = (CheckoutId::from_random(CHECKOUT), PaymentId::from_random(PAYMENT));
    let checkout = Checkout {
        id: id.clone(),
        reference: REFERENCE.to_owned(),
        amount: Decimal::from(AMOUNT),
        currency: CURRENCY.to_owned(),
        description: "Two tickets".to_owned(),
        methods: vec![Method::PayForm, Method::Qr, Method::Mbank],
        return_url: "https://shop.example.kg/paid".to_owned(),
        metadata: BTreeMap::from([("cart".to_owned(), "81".to_owned())]),
        state: shown.state,
        version: shown.version,
        opened_at: OPENED_AT,
        expires_at: OPENED_AT + LIFETIME,
        paid_by: Some(payment_id.clone()).filter(|_| shown.state == CheckoutState::Paid),
        is_overpaid: false,
        refunds_due: 0,
        callback_secret: Hidden::new(""),
        page_secret: Hidden::new(PAGE_SECRET),
    };
    let payment = shown.payment.map(|state| {
        let reference = PaymentRef::mbank(payment_id.bare(), AMOUNT);
        Payment {
            number: 1,
            state,
            phone_last2: Some("01".to_owned()),
            attempts_left: 3,
            begun_at: OPENED_AT + 20_000,
            ..Payment::new(payment_id.clone(), id, Method::Mbank, reference)
        }
    });
    let page_url = format!("https://pay.shop.example.kg/pay/{}", checkout.page_secret.expose());
    let view = CheckoutView::new(checkout, payment.into_iter().collect());
    write(&views::shop_checkout(&view, Some(page_url)))
}

/// The example data of an event.
struct ShownEvent {
    checkout: CheckoutState,
    version: i64,
    number: i64,
    payment: Option<(Method, PaymentState)>,
    after: Option<&'static str>,
    reason: Option<&'static str>,
    /// The key of the person who decided.
    by: Option<KeyRole>,
}

impl ShownEvent {
    /// An event about the checkout.
    fn of(checkout: CheckoutState, version: i64, number: i64) -> Self {
        Self { checkout, version, number, payment: None, after: None, reason: None, by: None }
    }

    /// An event about the only payment of an open checkout, so that all events so far were about it.
    fn of_payment(method: Method, state: PaymentState, number: i64) -> Self {
        Self { payment: Some((method, state)), ..Self::of(CheckoutState::Open, number, number) }
    }

    fn because(self, reason: &'static str) -> Self {
        Self { reason: Some(reason), ..self }
    }

    fn decided_by(self, role: KeyRole) -> Self {
        Self { by: Some(role), ..self }
    }
}

fn shown_event(kind: EventKind) -> ShownEvent {
    let by_mbank = |state, number| ShownEvent::of_payment(Method::Mbank, state, number);
    match kind {
        EventKind::CheckoutPaid => ShownEvent::of(CheckoutState::Paid, 5, 1),
        EventKind::CheckoutExpired => ShownEvent::of(CheckoutState::Expired, 1, 1),
        EventKind::CheckoutCancelled => ShownEvent::of(CheckoutState::Cancelled, 1, 1),
        EventKind::CheckoutOverpaid => ShownEvent::of(CheckoutState::Paid, 9, 2),
        EventKind::CheckoutRefundRecorded => {
            let refunded = ShownEvent::of(CheckoutState::Paid, 10, 3);
            refunded.because("The second payment was given back at the gateway").decided_by(KeyRole::Staff)
        }
        EventKind::PaymentCreated => by_mbank(PaymentState::Sending, 1),
        EventKind::PaymentSending => by_mbank(PaymentState::Sending, 2),
        EventKind::PaymentAccepted => by_mbank(PaymentState::Awaiting, 2),
        EventKind::PaymentNotMade => by_mbank(PaymentState::NotMade, 2).because("Refused"),
        EventKind::PaymentUnknown => by_mbank(PaymentState::Unknown, 2),
        EventKind::PaymentConfirming => by_mbank(PaymentState::Confirming, 3),
        EventKind::PaymentNotConfirmed => by_mbank(PaymentState::Awaiting, 4).because("Refused"),
        EventKind::PaymentReplaced => by_mbank(PaymentState::Awaiting, 3),
        EventKind::PaymentCharged => by_mbank(PaymentState::Charged, 4),
        EventKind::PaymentRejected => by_mbank(PaymentState::Rejected, 4),
        EventKind::PaymentMismatch => by_mbank(PaymentState::Mismatch, 3).because("amount"),
        EventKind::PaymentUnverifiable => {
            let unverifiable = ShownEvent::of_payment(Method::PayForm, PaymentState::Unverifiable, 3);
            unverifiable.because("the report has no amount")
        }
        EventKind::PaymentReviewed => {
            // A person decided about a further charge that was reported for a paid pay-form.
            let charged = ShownEvent::of_payment(Method::PayForm, PaymentState::Charged, 5);
            let charged = ShownEvent { checkout: CheckoutState::Paid, version: 6, ..charged };
            charged.because("The gateway's support found one charge alone").decided_by(KeyRole::Staff)
        }
        EventKind::PaymentResolved => {
            let resolved = ShownEvent { after: Some("unknown"), ..by_mbank(PaymentState::Rejected, 3) };
            resolved.because("The gateway's support found no such payment").decided_by(KeyRole::Shop)
        }
        EventKind::PaymentStuck => by_mbank(PaymentState::Unknown, 3),
    }
}

fn event<T>(kind: EventKind, write: impl FnOnce(&Body<'_>) -> T) -> T {
    let shown = shown_event(kind);
    let (checkout, payment) = (CheckoutId::from_random(CHECKOUT), PaymentId::from_random(PAYMENT));
    let (id, key) = (format!("evt_{}", hex(&EVENT)), format!("key_{}", hex(&KEY)));
    let data = Data {
        checkout: checkout.as_str(),
        reference: REFERENCE,
        amount: &AMOUNT.to_string(),
        currency: CURRENCY,
        checkout_state: shown.checkout.into(),
        version: shown.version,
        payment: shown.payment.map(|(method, state)| PaymentData {
            id: payment.as_str(),
            method: method.into(),
            state: state.into(),
            commission: None,
            total: None,
            code_expires_at_ms: None,
        }),
        number: shown.number,
        after: shown.after,
        reason: shown.reason,
        by: shown.by.map(|_| "Aida"),
        via: shown.by.map(|role| ViaData { role: role.into(), key: &key }),
    };
    write(&Body { id: &id, kind, timestamp_ms: OPENED_AT + 60_000, data })
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/events.md");

    /// As they are sent, in lines: of a `Value` the members would be sorted.
    fn bodies() -> Vec<(&'static str, String)> {
        let checkouts = CHECKOUTS.iter().map(|shown| {
            let name = shown.name;
            (name, checkout(shown, |body| serde_json::to_string_pretty(body).unwrap()))
        });
        let event = |kind: EventKind| (kind.name(), event(kind, |body| serde_json::to_string_pretty(body).unwrap()));
        checkouts.chain(EventKind::iter().map(event)).collect()
    }

    #[test]
    fn documentation_page_shows_every_example_body() {
        let mut page = fs::read_to_string(PAGE).unwrap();
        for (name, body) in bodies() {
            let mark = format!("<!-- body: {name} -->\n```json\n");
            let (before, rest) = page.split_once(&mark).unwrap_or_else(|| panic!("{PAGE} has no block `{name}`"));
            let (_, after) = rest.split_once("```\n").unwrap();
            page = format!("{before}{mark}{body}\n```\n{after}");
        }
        if env::var_os("KASSA_WRITE_INTERFACES").is_some() {
            fs::write(PAGE, &page).unwrap();
        }
        let is_current = fs::read_to_string(PAGE).unwrap() == page;
        assert!(is_current, "the bodies have changed: KASSA_WRITE_INTERFACES=1 writes {PAGE} anew");
    }
}
