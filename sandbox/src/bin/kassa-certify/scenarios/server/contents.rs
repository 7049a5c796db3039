//! Contents of events: forged signatures, unknown kinds and members, other amounts and references, and bodies that are not events.

use serde_json::{Value, json};

use super::filled;
use crate::{
    backend::FalseStatus,
    case::{Case, StepResult, Truth},
    event::{Event, Message, new_id},
    pay_method::PayMethod,
    scenarios::{signatures, way},
};

/// Kinds of events that the server sends (docs/events.md), except `checkout.paid`.
pub(super) const KINDS: [&str; 19] = [
    "checkout.expired",
    "checkout.cancelled",
    "checkout.overpaid",
    "checkout.refund_recorded",
    "payment.created",
    "payment.sending",
    "payment.accepted",
    "payment.not_made",
    "payment.unknown",
    "payment.confirming",
    "payment.not_confirmed",
    "payment.replaced",
    "payment.charged",
    "payment.rejected",
    "payment.mismatch",
    "payment.unverifiable",
    "payment.reviewed",
    "payment.resolved",
    "payment.stuck",
];

/// Kinds that no server sends today. A newer one can.
pub(super) const UNKNOWN_KINDS: [(&str, &str); 6] = [
    ("checkout.gifted", "gifted"),
    ("payment.paid", "payment-paid"),
    ("checkout.paid_partly", "paid-partly"),
    ("checkout.paid.v2", "paid-v2"),
    ("paid", "paid"),
    ("Checkout.Paid", "capitals"),
];

/// Members that a newer server can add to `checkout.paid`.
pub(super) const MEMBERS: [(&str, &str); 8] = [
    ("top", r#"{"trace":"4bf92f35"}"#),
    ("nested", r#"{"actor":{"name":"Aida","roles":["staff"]}}"#),
    ("null", r#"{"note":null}"#),
    ("text", r#"{"note":"Төлөндү — «оплачено» 💳 \" \\ "}"#),
    ("number", r#"{"ratio":1e-7,"count":12345678901234567890}"#),
    ("in-data", r#"{"data":{"tip":"5","channel":null}}"#),
    ("list", r#"{"data":{"labels":["a",{"b":[]}]}}"#),
    ("large", ""),
];

/// Bodies that anyone can post to the events' URL, without a signature.
pub(super) const BODIES: [(&str, &str); 12] = [
    (
        "callback",
        r#"{"orderNumber":"{reference}","amount":{amount},"currency":"KGS","status":"CHARGE","dateCreated":"2026-01-01T00:00:00","provider":"Cards"}"#,
    ),
    ("callback-form", "orderNumber={reference}&amount={amount}&status=CHARGE&provider=Cards"),
    (
        "event",
        r#"{"id":"evt_1","type":"checkout.paid","data":{"reference":"{reference}","amount":"{amount}","currency":"KGS"}}"#,
    ),
    ("empty", ""),
    ("not-json", "checkout.paid {reference}"),
    ("list", r#"[{"type":"checkout.paid"}]"#),
    ("null", "null"),
    ("number", "7"),
    ("deep", ""),
    ("large", ""),
    ("not-utf8", ""),
    ("duplicate", r#"{"type":"payment.created","type":"checkout.paid","data":{"reference":"{reference}"}}"#),
];

/// Bodies with a valid signature that are not events.
pub(super) const SIGNED_BODIES: [(&str, &str); 10] = [
    ("empty-object", "{}"),
    ("list", "[]"),
    ("null", "null"),
    ("text", "\"checkout.paid\""),
    ("empty", ""),
    ("no-data", r#"{"id":"evt_1","type":"checkout.paid"}"#),
    ("data-null", r#"{"id":"evt_1","type":"checkout.paid","data":null}"#),
    ("reference-number", r#"{"id":"evt_1","type":"checkout.paid","data":{"reference":17}}"#),
    ("reference-list", r#"{"id":"evt_1","type":"checkout.paid","data":{"reference":["{reference}"]}}"#),
    ("type-list", r#"{"id":"evt_1","type":["checkout.paid"],"data":{"reference":"{reference}"}}"#),
];

/// References of other orders, derived from this order's reference.
pub(super) const REFERENCES: [(&str, &str); 8] = [
    ("unknown", "order-of-nobody"),
    ("longer", "{reference}.2"),
    ("shorter", "{shorter}"),
    ("capitals", "{capitals}"),
    ("path", "../{reference}"),
    ("quote", "{reference}' OR '1'='1"),
    ("space", " {reference} "),
    ("empty", ""),
];

pub(super) async fn forged(case: &mut Case, forgery: signatures::Forgery) -> StepResult {
    let order = case.order().await?;
    let event = case.invented(&order, "checkout.paid");
    let message = forgery.message(&event, &case.stage.backend.secret);
    let _any = case.post(forgery.text(), &message).await;
    case.check_shop().await?;
    case.expect(&order, Truth::Unpaid).await
}

pub(super) async fn genuine_event(case: &mut Case, way: PayMethod, genuine: signatures::Genuine) -> StepResult {
    let order = case.order().await?;
    let event = case.pay(&order, way).await?;
    let message = genuine.message(&event, &case.stage.backend.secret);
    // The same signature each time: a shop that does not accept its form never delivers.
    let mut is_taken = false;
    for _ in 0..3 {
        is_taken = is_taken || case.post(genuine.text(), &message).await.is_ok_and(|status| status < 300);
    }
    case.expect(&order, Truth::Paid).await
}

pub(super) async fn other_kind(case: &mut Case, kind: &str, then_paid: Option<PayMethod>) -> StepResult {
    let order = case.order().await?;
    let event = case.invented(&order, kind);
    let is_through = case.deliver(&event).await;
    let Some(way) = then_paid else {
        case.check_shop().await?;
        return case.expect(&order, Truth::Unpaid).await;
    };
    let paid = case.pay(&order, way).await?;
    if is_through {
        case.deliver(&paid).await;
    }
    case.expect(&order, Truth::Paid).await
}

pub(super) async fn unknown_members(case: &mut Case, way: PayMethod, members: usize) -> StepResult {
    let order = case.order().await?;
    let event = case.pay(&order, way).await?;
    let (_, added) = MEMBERS[members];
    let added = if added.is_empty() {
        json!({ "note": "x".repeat(100_000) })
    } else {
        serde_json::from_str(added).unwrap_or_default()
    };
    let event = event.altered(|event| merge(event, &added));
    case.deliver(&event).await;
    case.expect(&order, Truth::Paid).await
}

pub(super) fn merge(into: &mut Value, added: &Value) {
    for (name, value) in added.as_object().into_iter().flatten() {
        match (into[name].is_object(), value.is_object()) {
            (true, true) => merge(&mut into[name], value),
            _ => into[name] = value.clone(),
        }
    }
}

pub(super) async fn unsigned(case: &mut Case, index: usize) -> StepResult {
    let order = case.order().await?;
    let (name, body) = BODIES[index];
    let body = match name {
        "deep" => "[".repeat(50_000).into_bytes(),
        "large" => format!("{{\"type\":\"checkout.paid\",\"x\":\"{}\"}}", "x".repeat(1_000_000)).into_bytes(),
        "not-utf8" => [b"{\"type\":\"checkout.paid\",\"x\":\"".as_slice(), &[0xff, 0xfe, 0x00], b"\"}"].concat(),
        _ => filled(body, &order).into_bytes(),
    };
    let kind = if name == "callback-form" { "application/x-www-form-urlencoded" } else { "application/json" };
    let message = Message { headers: vec![("content-type".to_owned(), kind.to_owned())], body };
    let _any = case.post(&format!("a body without a signature ({name})"), &message).await;
    case.check_shop().await?;
    case.expect(&order, Truth::Unpaid).await
}

pub(super) async fn signed_body(case: &mut Case, index: usize) -> StepResult {
    let order = case.order().await?;
    let (name, body) = SIGNED_BODIES[index];
    let event = Event { id: new_id(), body: filled(body, &order).into_bytes() };
    let message = case.signed(&event);
    let _any = case.post(&format!("a signed body that is not an event ({name})"), &message).await;
    case.check_shop().await?;
    case.expect(&order, Truth::Unpaid).await?;
    case.orders.clear();
    let event = case.pay(&order, way(index)).await?;
    case.deliver(&event).await;
    case.expect(&order, Truth::Paid).await
}

pub(super) async fn another(case: &mut Case, member: &str, value: &Value) -> StepResult {
    let order = case.order().await?;
    let amount: f64 = order.opened.amount.parse().unwrap_or(390.0);
    let text = value.as_str().unwrap_or_default().replace("{amount}", &order.opened.amount);
    let text =
        text.replace("{less}", &format!("{:.2}", amount - 0.01)).replace("{more}", &format!("{:.0}", amount + 1.0));
    let event = case.invented(&order, "checkout.paid").altered(|event| event["data"][member] = text.clone().into());
    case.say(format!("the order is for {} {}; the event has {text}", order.opened.amount, order.opened.currency));
    case.deliver(&event).await;
    case.expect(&order, Truth::Unpaid).await
}

pub(super) async fn another_reference(case: &mut Case, index: usize) -> StepResult {
    let order = case.order().await?;
    let reference = filled(REFERENCES[index].1, &order);
    if reference == order.opened.reference {
        case.say("the reference has no capital letters to change");
    } else {
        let event = case
            .invented(&order, "checkout.paid")
            .altered(|event| event["data"]["reference"] = reference.clone().into());
        let message = case.signed(&event);
        let _any = case.post(&format!("checkout.paid of \"{reference}\""), &message).await;
    }
    case.check_shop().await?;
    case.expect(&order, Truth::Unpaid).await
}

pub(super) async fn mismatch(case: &mut Case, way: PayMethod, member: &'static str, value: &Value) -> StepResult {
    let order = case.order().await?;
    let number = case.begin(&order, way).await?;
    case.lie(&number, Some(&FalseStatus::Member(member, value.clone())))?;
    case.charge(&number).await?;
    let reported = |event: &Event| {
        ["payment.mismatch", "payment.unverifiable", "payment.unknown"].contains(&event.kind().as_str())
    };
    let event = case.stage.backend.report(&order.opened.reference, reported).await?;
    case.say(format!("the gateway reports {member} {value}: {}", event.kind()));
    let events = case.stage.backend.reported(&order.opened.reference);
    case.deliver_all(&events).await;
    case.open_return(&order, "statusCode=200", None, false).await?;
    case.expect(&order, Truth::Unpaid).await
}
