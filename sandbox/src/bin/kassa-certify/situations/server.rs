//! Situations of a shop that uses kassa-server. Where an event must deliver, the order is really paid, so that a shop that asks the server
//! finds the same; where it must not, it is really unpaid.

use std::{fs, path::Path, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Script as Any, Situation, signatures, way};
use crate::{
    backend::{Lie, Trouble, Way},
    case::{Case, Loss, Order, Played, Truth},
    event::{Event, Message, new_id, now_s},
    http::{self, BreakOff},
};

/// How copies of an event arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timing {
    AfterEachOther,
    AtOnce(usize),
    /// The second one after the other events of the checkout.
    AfterAll,
}

/// In which order events arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequence {
    Backwards,
    PaidFirst,
    AtOnce,
    /// Everything twice.
    TwiceOver,
}

/// Where the shop is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Killed {
    BeforePayment,
    BeforeEvent,
    DuringEvent,
    AfterEvent,
    BetweenCopies,
}

/// What happens to the second payment of one checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overpaid {
    InOrder,
    SurplusFirst,
    AtOnce,
    ThenRefunded,
    RefundFirst,
}

/// What happens around an end of a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Cancelled,
    Expired,
    /// The event of the end arrives after that of the payment.
    CancelledEventLast,
}

/// How a situation is played.
#[derive(Clone, Debug)]
pub(crate) enum Script {
    Paid(Way),
    Closed(Way),
    Declined { way: Way, then_paid: bool },
    Twice { way: Way, timing: Timing, new_id: bool },
    Late { way: Way, pause: Duration },
    Sequence { way: Way, sequence: Sequence },
    Forged(signatures::Forgery),
    Genuine { way: Way, genuine: signatures::Genuine },
    Kind { kind: &'static str, then_paid: Option<Way> },
    Members { way: Way, members: usize },
    Body(usize),
    SignedBody(usize),
    Other { member: &'static str, value: Value },
    Reference(usize),
    Ended { way: Way, ended: Ended },
    Overpaid { ways: [Way; 2], overpaid: Overpaid },
    Mismatch { way: Way, member: &'static str, value: Value },
    Crowd { count: usize, pays: usize },
    BrokenOff { way: Way, how: BreakOff },
    Killed { way: Way, killed: Killed },
    Returned(usize),
    Unreported(Way),
    Opening(Trouble),
    Restored { way: Way, real: bool },
    RestoredBackwards(Way),
}

/// Kinds of events that the server sends (docs/events.md), but for `checkout.paid`.
const KINDS: [&str; 19] = [
    "checkout.expired",
    "checkout.cancelled",
    "checkout.overpaid",
    "checkout.refund_noted",
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
const UNKNOWN_KINDS: [(&str, &str); 6] = [
    ("checkout.gifted", "gifted"),
    ("payment.paid", "payment-paid"),
    ("checkout.paid_partly", "paid-partly"),
    ("checkout.paid.v2", "paid-v2"),
    ("paid", "paid"),
    ("Checkout.Paid", "capitals"),
];
/// Members that a newer server can add to `checkout.paid`.
const MEMBERS: [(&str, &str); 8] = [
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
const BODIES: [(&str, &str); 12] = [
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
/// Bodies with a right signature that are no event.
const SIGNED_BODIES: [(&str, &str); 10] = [
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
/// References of other orders, made of that of this order.
const REFERENCES: [(&str, &str); 8] = [
    ("unknown", "order-of-nobody"),
    ("longer", "{reference}.2"),
    ("shorter", "{shorter}"),
    ("capitals", "{capitals}"),
    ("path", "../{reference}"),
    ("quote", "{reference}' OR '1'='1"),
    ("space", " {reference} "),
    ("empty", ""),
];
/// Queries with which a payer opens the return page without having paid, and whether it is a posted form.
const RETURNS: [(&str, &str, bool); 8] = [
    ("plain", "", false),
    ("code", "statusCode=200", false),
    ("order-and-code", "OrderNumber={reference}&statusCode=200", false),
    ("status", "status=paid&success=true&paid=1", false),
    ("charge", "OrderNumber={reference}&status=CHARGE&amount={amount}", false),
    ("event-in-query", "type=checkout.paid&reference={reference}", false),
    ("form", "OrderNumber={reference}&statusCode=200", true),
    ("posted-status", "status=CHARGE&type=checkout.paid", true),
];

struct List(Vec<Situation>);

impl List {
    fn add(&mut self, id: String, text: impl Into<String>, script: Script) {
        let is_alone = matches!(script, Script::Killed { .. } | Script::Restored { real: true, .. });
        self.0.push(Situation { id: id.replace('_', "-"), text: text.into(), script: Any::Server(script), is_alone });
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Situation> {
    let mut list = List(Vec::new());
    payers(&mut list);
    copies(&mut list);
    contents(&mut list);
    troubles(&mut list);
    list.0
}

/// What payers do.
fn payers(list: &mut List) {
    for way in Way::ALL {
        let name = way.name();
        list.add(
            format!("paid/{name}"),
            format!("a payer pays by {name}, and the events arrive in order"),
            Script::Paid(way),
        );
        list.add(
            format!("page-closed/{name}"),
            format!("a payer pays by {name} and never comes back"),
            Script::Closed(way),
        );
        for then_paid in [false, true] {
            let (then, text) =
                if then_paid { ("-then-paid", "and a second attempt pays") } else { ("", "and gives up") };
            list.add(
                format!("declined/{name}{then}"),
                format!("a payment by {name} is declined, {text}"),
                Script::Declined { way, then_paid },
            );
        }
        list.add(
            format!("no-event/{name}"),
            format!("a payment by {name} is charged, and no event ever arrives: does the shop ask?"),
            Script::Unreported(way),
        );
    }
    for (index, (name, query, _)) in RETURNS.iter().enumerate() {
        list.add(
            format!("forged-return/{name}"),
            format!("a payer opens the return page without paying, with \"{query}\""),
            Script::Returned(index),
        );
    }
    for (count, pays) in [(2, 1), (2, 2), (3, 1), (5, 3), (8, 8), (8, 1)] {
        list.add(
            format!("payers-at-once/{pays}-of-{count}"),
            format!("{count} orders at once, {pays} are paid, their events mixed"),
            Script::Crowd { count, pays },
        );
    }
    for (index, overpaid) in
        [Overpaid::InOrder, Overpaid::SurplusFirst, Overpaid::AtOnce, Overpaid::ThenRefunded, Overpaid::RefundFirst]
            .into_iter()
            .enumerate()
    {
        for ways in [[way(index), way(index + 1)], [way(index + 2), way(index + 3)]] {
            let (name, text) = match overpaid {
                Overpaid::InOrder => ("in-order", "events in order"),
                Overpaid::SurplusFirst => ("surplus-first", "checkout.overpaid arrives first"),
                Overpaid::AtOnce => ("at-once", "both events at the same time"),
                Overpaid::ThenRefunded => ("then-refunded", "then the refund is noted"),
                Overpaid::RefundFirst => ("refund-first", "the note of the refund arrives first"),
            };
            let first = ways[0].name();
            list.add(
                format!("overpaid/{name}-{first}"),
                format!("two payments of one order are charged ({first} first): {text}"),
                Script::Overpaid { ways, overpaid },
            );
        }
    }
    for (index, (ended, name, text)) in [
        (Ended::Cancelled, "cancelled", "the checkout was cancelled"),
        (Ended::Expired, "expired", "the checkout expired"),
        (Ended::CancelledEventLast, "cancelled-event-last", "the checkout was cancelled, whose event arrives last"),
    ]
    .into_iter()
    .enumerate()
    {
        for way in [way(index), way(index + 1)].into_iter().filter(|way| ended != Ended::Expired || *way != Way::Mbank)
        {
            list.add(
                format!("paid-late/{name}-{}", way.name()),
                format!("a payment by {} is charged after {text}", way.name()),
                Script::Ended { way, ended },
            );
        }
    }
}

/// Copies, pauses and orders of genuine events.
fn copies(list: &mut List) {
    let timings = [
        (Timing::AfterEachOther, "after-each-other", "one after the other"),
        (Timing::AtOnce(2), "two-at-once", "two at the same time"),
        (Timing::AtOnce(8), "eight-at-once", "eight at the same time"),
        (Timing::AfterAll, "after-all", "once more after all other events"),
    ];
    for (timing, name, text) in timings {
        for way in Way::ALL {
            list.add(
                format!("event-twice/{name}-{}", way.name()),
                format!("checkout.paid ({}) arrives again: {text}", way.name()),
                Script::Twice { way, timing, new_id: false },
            );
            list.add(
                format!("new-event-id/{name}-{}", way.name()),
                format!("the same payment ({}) under a new event identifier: {text}", way.name()),
                Script::Twice { way, timing, new_id: true },
            );
        }
    }
    let sequences = [
        (Sequence::Backwards, "backwards", "the last event first"),
        (Sequence::PaidFirst, "paid-first", "checkout.paid first"),
        (Sequence::AtOnce, "at-once", "all events at the same time"),
        (Sequence::TwiceOver, "twice-over", "the whole history twice"),
    ];
    for (sequence, name, text) in sequences {
        for way in Way::ALL {
            list.add(
                format!("out-of-order/{name}-{}", way.name()),
                format!("the events of a payment by {}: {text}", way.name()),
                Script::Sequence { way, sequence },
            );
        }
    }
    for (index, pause) in [1, 3, 6].into_iter().enumerate() {
        list.add(
            format!("event-late/{pause}s"),
            format!("checkout.paid arrives {pause} s late, and the payer looks meanwhile"),
            Script::Late { way: way(index), pause: Duration::from_secs(pause) },
        );
    }
    for way in Way::ALL {
        list.add(
            format!("restored/lower-version-{}", way.name()),
            "after a restore of the server the payment is reported again, with an older version",
            Script::Restored { way, real: false },
        );
        list.add(
            format!("restored/open-again-{}", way.name()),
            "after a restore the events of a delivered order come again from the first on",
            Script::RestoredBackwards(way),
        );
    }
    list.add(
        "restored/real-form".to_owned(),
        "the server's database is put back to a moment before the payment",
        Script::Restored { way: Way::PayForm, real: true },
    );
    list.add(
        "restored/real-mbank".to_owned(),
        "the server's database is put back to a moment before the payment (mbank)",
        Script::Restored { way: Way::Mbank, real: true },
    );
}

/// What events contain.
fn contents(list: &mut List) {
    for forgery in signatures::FORGERIES {
        list.add(format!("forged-event/{}", forgery.name()), forgery.text(), Script::Forged(forgery));
    }
    for (index, genuine) in signatures::GENUINE.into_iter().enumerate() {
        list.add(
            format!("genuine-event/{}", genuine.name()),
            genuine.text(),
            Script::Genuine { way: way(index), genuine },
        );
    }
    for kind in KINDS {
        list.add(
            format!("other-kind/{}", kind.replace('.', "-")),
            format!("{kind} about an unpaid order delivers nothing"),
            Script::Kind { kind, then_paid: None },
        );
    }
    for (index, (kind, name)) in UNKNOWN_KINDS.into_iter().enumerate() {
        list.add(
            format!("unknown-kind/{name}"),
            format!("the unknown kind {kind} about an unpaid order"),
            Script::Kind { kind, then_paid: None },
        );
        list.add(
            format!("unknown-kind/{name}-then-paid"),
            format!("the unknown kind {kind}, and then checkout.paid of the same order"),
            Script::Kind { kind, then_paid: Some(way(index)) },
        );
    }
    for (members, (name, _)) in MEMBERS.iter().enumerate() {
        list.add(
            format!("unknown-members/{name}"),
            format!("checkout.paid with members that the shop does not know ({name})"),
            Script::Members { way: way(members), members },
        );
    }
    for (index, (name, _)) in BODIES.iter().enumerate() {
        list.add(
            format!("forged-callback/{name}"),
            format!("somebody posts a body without a signature ({name})"),
            Script::Body(index),
        );
    }
    for (index, (name, _)) in SIGNED_BODIES.iter().enumerate() {
        list.add(
            format!("no-event-body/{name}"),
            format!("a signed body that is no event ({name}); then the order is paid"),
            Script::SignedBody(index),
        );
    }
    for (name, amount) in
        [("less", "1"), ("a-tyiyn-less", "{less}"), ("more", "{more}"), ("zero", "0"), ("negative", "-{amount}")]
    {
        list.add(
            format!("another-amount/{name}"),
            format!("a signed checkout.paid of another amount ({name})"),
            Script::Other { member: "amount", value: amount.into() },
        );
    }
    for currency in ["USD", "KZT", "RUB"] {
        list.add(
            format!("another-currency/{}", currency.to_lowercase()),
            format!("a signed checkout.paid in {currency}"),
            Script::Other { member: "currency", value: currency.into() },
        );
    }
    for (index, (name, _)) in REFERENCES.iter().enumerate() {
        list.add(
            format!("another-reference/{name}"),
            format!("a signed checkout.paid of another reference ({name})"),
            Script::Reference(index),
        );
    }
    for (member, value, name) in [
        ("amount", json!(1), "amount"),
        ("currency", json!("USD"), "currency"),
        ("orderNumber", json!("ANOTHER-1"), "order"),
    ] {
        for way in [Way::PayForm, Way::Mbank] {
            list.add(
                format!("mismatch/{name}-{}", way.name()),
                format!("the gateway reports a charge of another {name}: payment.mismatch"),
                Script::Mismatch { way, member, value: value.clone() },
            );
        }
    }
}

/// Connections, processes and answers that break.
fn troubles(list: &mut List) {
    let kinds = [
        (BreakOff::InBody, "in-body", "the connection breaks in the middle of the body"),
        (BreakOff::InHead, "in-head", "the connection breaks in the middle of the head"),
        (BreakOff::BeforeAnswer, "answer-lost", "the shop's answer is lost"),
        (BreakOff::Slowly, "slowly", "the event arrives in pieces"),
    ];
    for (kind, name, text) in kinds {
        for way in Way::ALL {
            list.add(
                format!("broken-off/{name}-{}", way.name()),
                format!("{text} ({}), and the event is sent again", way.name()),
                Script::BrokenOff { way, how: kind },
            );
        }
    }
    let kills = [
        (Killed::BeforePayment, "before-payment", "between the order and the payment"),
        (Killed::BeforeEvent, "before-event", "between the payment and its event"),
        (Killed::DuringEvent, "during-event", "while it takes the event, which is sent again"),
        (Killed::AfterEvent, "after-event", "after it took the event"),
        (Killed::BetweenCopies, "between-copies", "between two copies of the event"),
    ];
    for (killed, name, text) in kills {
        for way in [Way::PayForm, Way::Qr] {
            list.add(
                format!("shop-killed/{name}-{}", way.name()),
                format!("the shop is killed {text} ({}), and started again", way.name()),
                Script::Killed { way, killed },
            );
        }
    }
    for (trouble, name, text) in [
        (Trouble::Refused(503), "refused-503", "answers 503"),
        (Trouble::Refused(500), "refused-500", "answers 500"),
        (Trouble::Refused(401), "refused-401", "answers 401"),
        (Trouble::Refused(429), "refused-429", "answers 429"),
        (Trouble::AnswerLost, "answer-lost", "opens the checkout, and its answer is lost"),
        (Trouble::Garbage, "not-json", "answers something that is not JSON"),
        (Trouble::Late(Duration::from_secs(3)), "slow", "answers after 3 s"),
    ] {
        list.add(
            format!("opening/{name}"),
            format!("kassa-server {text} when the shop opens a checkout"),
            Script::Opening(trouble),
        );
    }
}

pub(crate) async fn play(case: &mut Case, script: &Script) -> Played {
    match script {
        Script::Paid(way) => paid(case, *way, true).await,
        Script::Closed(way) => paid(case, *way, false).await,
        Script::Declined { way, then_paid } => declined(case, *way, *then_paid).await,
        Script::Twice { way, timing, new_id } => twice(case, *way, *timing, *new_id).await,
        Script::Late { way, pause } => late(case, *way, *pause).await,
        Script::Sequence { way, sequence } => sequence_of(case, *way, *sequence).await,
        Script::Forged(forgery) => forged(case, *forgery).await,
        Script::Genuine { way, genuine } => genuine_event(case, *way, *genuine).await,
        Script::Kind { kind, then_paid } => other_kind(case, kind, *then_paid).await,
        Script::Members { way, members } => unknown_members(case, *way, *members).await,
        Script::Body(index) => unsigned(case, *index).await,
        Script::SignedBody(index) => signed_body(case, *index).await,
        Script::Other { member, value } => another(case, member, value).await,
        Script::Reference(index) => another_reference(case, *index).await,
        Script::Ended { way, ended } => after_the_end(case, *way, *ended).await,
        Script::Overpaid { ways, overpaid } => overpaid_order(case, *ways, *overpaid).await,
        Script::Mismatch { way, member, value } => mismatch(case, *way, member, value).await,
        Script::Crowd { count, pays } => crowd(case, *count, *pays).await,
        Script::BrokenOff { way, how } => broken_off(case, *way, *how).await,
        Script::Killed { way, killed } => shop_killed(case, *way, *killed).await,
        Script::Returned(index) => returned(case, *index).await,
        Script::Unreported(way) => unreported(case, *way).await,
        Script::Opening(trouble) => opening(case, *trouble).await,
        Script::Restored { way, real: false } => reported_again(case, *way).await,
        Script::Restored { way, real: true } => restored(case, *way).await,
        Script::RestoredBackwards(way) => history_again(case, *way).await,
    }
}

/// All events of an order so far; the last one is `checkout.paid`.
async fn history(case: &mut Case, order: &Order) -> Played<Vec<Event>> {
    case.paid_event(order).await?;
    Ok(case.stage.backend.reported(&order.opened.reference))
}

async fn paid(case: &mut Case, way: Way, comes_back: bool) -> Played {
    let order = case.order().await?;
    case.open_return(&order, "", None, false).await?;
    case.pay(&order, way).await?;
    let events = history(case, &order).await?;
    case.deliver_all(&events).await;
    case.expect(&order, Truth::Paid).await?;
    if comes_back {
        case.open_return(&order, "", None, true).await?;
    }
    Ok(())
}

async fn declined(case: &mut Case, way: Way, then_paid: bool) -> Played {
    let order = case.order().await?;
    let number = case.begin(&order, way).await?;
    case.stage.backend.decline(&number).await?;
    let rejected = case.event(&order, "payment.rejected").await?;
    case.say("the gateway declines the payment");
    let events = case.stage.backend.reported(&order.opened.reference);
    let upto = events.iter().position(|event| event.id == rejected.id).map_or(events.len(), |at| at + 1);
    case.deliver_all(&events[..upto]).await;
    case.open_return(&order, "statusCode=200", None, false).await?;
    if !then_paid {
        return case.expect(&order, Truth::Unpaid).await;
    }
    case.pay(&order, way).await?;
    let events = history(case, &order).await?;
    case.deliver_all(&events[upto..]).await;
    case.expect(&order, Truth::Paid).await
}

async fn twice(case: &mut Case, way: Way, timing: Timing, new_id: bool) -> Played {
    let order = case.order().await?;
    let event = case.pay(&order, way).await?;
    let copy = |event: &Event| if new_id { event.renamed() } else { event.clone() };
    match timing {
        Timing::AfterEachOther => {
            for _ in 0..3 {
                case.deliver(&copy(&event)).await;
            }
        }
        Timing::AtOnce(count) => {
            let messages = (0..count).map(|_| case.signed(&copy(&event))).collect();
            case.post_at_once("checkout.paid", messages).await;
            case.deliver(&event).await;
        }
        Timing::AfterAll => {
            let events = history(case, &order).await?;
            case.deliver_all(&events).await;
            case.deliver_all(&[copy(&event), copy(&events[0]), copy(&event)]).await;
        }
    }
    case.expect(&order, Truth::Paid).await
}

async fn late(case: &mut Case, way: Way, pause: Duration) -> Played {
    let order = case.order().await?;
    let event = case.pay(&order, way).await?;
    case.open_return(&order, "", None, true).await?;
    sleep(pause).await;
    case.open_return(&order, "statusCode=200", None, true).await?;
    case.deliver(&event).await;
    case.expect(&order, Truth::Paid).await
}

async fn sequence_of(case: &mut Case, way: Way, sequence: Sequence) -> Played {
    let order = case.order().await?;
    case.pay(&order, way).await?;
    let mut events = history(case, &order).await?;
    match sequence {
        Sequence::Backwards => events.reverse(),
        Sequence::PaidFirst => {
            let paid = events.pop();
            events.splice(0..0, paid);
        }
        Sequence::AtOnce => {
            let messages = events.iter().map(|event| case.signed(event)).collect();
            case.post_at_once("all events", messages).await;
        }
        Sequence::TwiceOver => events.extend(events.clone()),
    }
    case.deliver_all(&events).await;
    case.expect(&order, Truth::Paid).await
}

async fn forged(case: &mut Case, forgery: signatures::Forgery) -> Played {
    let order = case.order().await?;
    let event = case.invented(&order, "checkout.paid");
    let message = forgery.message(&event, &case.stage.backend.secret);
    let _any = case.post(forgery.text(), &message).await;
    case.check_shop().await?;
    case.expect(&order, Truth::Unpaid).await
}

async fn genuine_event(case: &mut Case, way: Way, genuine: signatures::Genuine) -> Played {
    let order = case.order().await?;
    let event = case.pay(&order, way).await?;
    let message = genuine.message(&event, &case.stage.backend.secret);
    // The same signature again and again: a shop that does not know its form never delivers.
    let mut is_taken = false;
    for _ in 0..3 {
        is_taken = is_taken || case.post(genuine.text(), &message).await.is_ok_and(|status| status < 300);
    }
    case.expect(&order, Truth::Paid).await
}

async fn other_kind(case: &mut Case, kind: &str, then_paid: Option<Way>) -> Played {
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

async fn unknown_members(case: &mut Case, way: Way, members: usize) -> Played {
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

fn merge(into: &mut Value, added: &Value) {
    for (name, value) in added.as_object().into_iter().flatten() {
        match (into[name].is_object(), value.is_object()) {
            (true, true) => merge(&mut into[name], value),
            _ => into[name] = value.clone(),
        }
    }
}

fn filled(text: &str, order: &Order) -> String {
    let reference = &order.opened.reference;
    let shorter: String = reference.chars().take(reference.chars().count().saturating_sub(1)).collect();
    let text = text.replace("{reference}", reference).replace("{amount}", &order.opened.amount);
    text.replace("{shorter}", &shorter).replace("{capitals}", &reference.to_uppercase())
}

async fn unsigned(case: &mut Case, index: usize) -> Played {
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

async fn signed_body(case: &mut Case, index: usize) -> Played {
    let order = case.order().await?;
    let (name, body) = SIGNED_BODIES[index];
    let event = Event { id: new_id(), body: filled(body, &order).into_bytes() };
    let message = case.signed(&event);
    let _any = case.post(&format!("a signed body that is no event ({name})"), &message).await;
    case.check_shop().await?;
    case.expect(&order, Truth::Unpaid).await?;
    case.orders.clear();
    let event = case.pay(&order, way(index)).await?;
    case.deliver(&event).await;
    case.expect(&order, Truth::Paid).await
}

async fn another(case: &mut Case, member: &str, value: &Value) -> Played {
    let order = case.order().await?;
    let amount: f64 = order.opened.amount.parse().unwrap_or(390.0);
    let text = value.as_str().unwrap_or_default().replace("{amount}", &order.opened.amount);
    let text =
        text.replace("{less}", &format!("{:.2}", amount - 0.01)).replace("{more}", &format!("{:.0}", amount + 1.0));
    let event = case.invented(&order, "checkout.paid").altered(|event| event["data"][member] = text.clone().into());
    case.say(format!("the order is of {} {}; the event says {text}", order.opened.amount, order.opened.currency));
    case.deliver(&event).await;
    case.expect(&order, Truth::Unpaid).await
}

async fn another_reference(case: &mut Case, index: usize) -> Played {
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

async fn after_the_end(case: &mut Case, way: Way, ended: Ended) -> Played {
    let lifetime = (ended == Ended::Expired).then_some(60);
    let order = case.order_with(Trouble::None, lifetime).await?;
    let number = case.begin(&order, way).await?;
    let end = if ended == Ended::Expired { "checkout.expired" } else { "checkout.cancelled" };
    if ended != Ended::Expired
        && let Some(server) = &case.stage.backend.server
    {
        let path = format!("/v1/checkouts/{}/cancel", order.opened.id);
        server.call(&case.stage.client, Method::POST, &path, &Value::Null).await?;
    }
    let end = expired(case, &order, end).await?;
    case.say(format!("{} is reported", end.kind()));
    case.charge(&number).await?;
    let paid = case.paid_event(&order).await?;
    let events = if ended == Ended::CancelledEventLast { [paid, end] } else { [end, paid] };
    case.deliver_all(&events).await;
    case.expect(&order, Truth::PaidLate).await
}

/// A checkout lives for a minute at least, which is longer than the usual patience.
async fn expired(case: &mut Case, order: &Order, kind: &str) -> Played<Event> {
    for _ in 0..2 {
        if let Ok(event) = case.event(order, kind).await {
            return Ok(event);
        }
    }
    case.event(order, kind).await
}

async fn overpaid_order(case: &mut Case, ways: [Way; 2], overpaid: Overpaid) -> Played {
    let order = case.order().await?;
    let numbers = [case.begin(&order, ways[0]).await?, case.begin(&order, ways[1]).await?];
    case.charge(&numbers[0]).await?;
    let paid = case.paid_event(&order).await?;
    case.charge(&numbers[1]).await?;
    let surplus = case.event(&order, "checkout.overpaid").await?;
    let refund = case.invented(&order, "checkout.refund_noted").altered(|event| {
        event["data"]["version"] = 99.into();
        event["data"]["by"] = "Aida".into();
        event["data"]["reason"] = "The second payment was given back at the gateway".into();
    });
    match overpaid {
        Overpaid::InOrder => case.deliver_all(&[paid, surplus]).await,
        Overpaid::SurplusFirst => case.deliver_all(&[surplus, paid]).await,
        Overpaid::AtOnce => {
            let messages = [&paid, &surplus].map(|event| case.signed(event)).to_vec();
            case.post_at_once("checkout.paid and checkout.overpaid", messages).await;
            case.deliver_all(&[paid, surplus]).await
        }
        Overpaid::ThenRefunded => case.deliver_all(&[paid, surplus, refund]).await,
        Overpaid::RefundFirst => case.deliver_all(&[refund, surplus, paid]).await,
    };
    case.expect(&order, Truth::Paid).await
}

async fn mismatch(case: &mut Case, way: Way, member: &'static str, value: &Value) -> Played {
    let order = case.order().await?;
    let number = case.begin(&order, way).await?;
    case.lie(&number, Some(&Lie::Member(member, value.clone())))?;
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

async fn crowd(case: &mut Case, count: usize, pays: usize) -> Played {
    let mut orders = Vec::new();
    for _ in 0..count {
        orders.push(case.order().await?);
    }
    let mut messages = Vec::new();
    for (index, order) in orders.iter().enumerate() {
        if index < pays {
            case.pay(order, way(index)).await?;
            let events = history(case, order).await?;
            messages.extend(events.iter().map(|event| case.signed(event)));
        } else {
            for kind in ["payment.created", "payment.accepted", "payment.rejected", "checkout.expired"] {
                messages.push(case.signed(&case.invented(order, kind)));
            }
        }
    }
    case.post_at_once("the events of all orders", messages).await;
    for (index, order) in orders.iter().enumerate() {
        if index < pays {
            let event = case.paid_event(order).await?;
            case.deliver(&event).await;
        }
        case.expect(order, if index < pays { Truth::Paid } else { Truth::Unpaid }).await?;
    }
    Ok(())
}

async fn broken_off(case: &mut Case, way: Way, how: BreakOff) -> Played {
    let order = case.order().await?;
    let event = case.pay(&order, way).await?;
    let message = case.signed(&event);
    let sent = http::break_off(&case.stage.shop.events_url(), &message.headers, &message.body, how).await;
    case.say(format!(
        "the connection of checkout.paid breaks off ({})",
        sent.map_or_else(|error| error.to_string(), |()| "as meant".to_owned())
    ));
    case.check_shop().await?;
    case.deliver(&event).await;
    case.deliver(&event).await;
    case.expect(&order, Truth::Paid).await
}

async fn restart(case: &mut Case) -> Played {
    case.say("the shop is killed, and started again");
    case.stage.shop.kill().await;
    case.stage.shop.start().await
}

async fn shop_killed(case: &mut Case, way: Way, killed: Killed) -> Played {
    let order = case.order().await?;
    if killed == Killed::BeforePayment {
        restart(case).await?;
    }
    let event = case.pay(&order, way).await?;
    match killed {
        Killed::BeforePayment => {}
        Killed::BeforeEvent => {
            case.stage.shop.kill().await;
            let message = case.signed(&event);
            let _down = case.post("checkout.paid, while the shop is down", &message).await;
            case.stage.shop.start().await?;
        }
        Killed::DuringEvent => {
            let message = case.signed(&event);
            let url = case.stage.shop.events_url();
            let _sent = http::break_off(&url, &message.headers, &message.body, BreakOff::BeforeAnswer).await;
            restart(case).await?;
        }
        Killed::AfterEvent | Killed::BetweenCopies => {
            case.deliver(&event).await;
            restart(case).await?;
        }
    }
    if killed != Killed::AfterEvent {
        case.deliver(&event).await;
    }
    case.expect(&order, Truth::Paid).await
}

async fn returned(case: &mut Case, index: usize) -> Played {
    let (_, query, is_form) = RETURNS[index];
    let order = case.order().await?;
    let query = filled(query, &order);
    let (query, form) = if is_form { ("", Some(query.as_str())) } else { (query.as_str(), None) };
    case.open_return(&order, query, form, false).await?;
    case.open_return(&order, "", None, false).await?;
    case.check_shop().await?;
    case.expect(&order, Truth::Unpaid).await
}

async fn unreported(case: &mut Case, way: Way) -> Played {
    let order = case.order().await?;
    case.pay(&order, way).await?;
    case.open_return(&order, "statusCode=200", None, true).await?;
    let Some(limit) = case.stage.shop.options.asks_within else {
        if !case.is_asked(&order, Duration::ZERO).await {
            case.remarks.push(
                "the shop does not ask the server. After three days of failed deliveries nobody would deliver this order: read GET /v1/events, \
                 and set asks_within to have it checked"
                    .to_owned(),
            );
        }
        return case.expect(&order, Truth::Open).await;
    };
    if !case.is_asked(&order, Duration::from_secs(limit)).await {
        case.lose(Loss::PaidUndelivered, format!("no event arrived, and the shop did not ask within {limit} s"));
    }
    case.expect(&order, Truth::Paid).await
}

async fn opening(case: &mut Case, trouble: Trouble) -> Played {
    let (answer, opened) = case.try_order(trouble, None).await?;
    case.say(format!("the shop answers HTTP {} to the order", answer.status));
    case.check_shop().await?;
    if let Some(opened) = opened {
        // It can be on its page only if the shop knows it.
        let order = Order { opened, answer: answer.text() };
        if case.stage.shop.says_paid(&order.answer, &crate::shop::Names::default()) == Some(true) {
            case.lose(Loss::PayerMisled, "the shop says that an order is paid that was only opened");
        }
        case.expect(&order, Truth::Unpaid).await?;
    }
    let next = case.order().await?;
    let event = case.pay(&next, Way::PayForm).await?;
    case.deliver(&event).await;
    case.expect(&next, Truth::Paid).await
}

async fn reported_again(case: &mut Case, way: Way) -> Played {
    let order = case.order().await?;
    case.pay(&order, way).await?;
    let events = history(case, &order).await?;
    case.deliver_all(&events).await;
    let again: Vec<Event> = events
        .iter()
        .map(|event| {
            event.altered(|event| {
                event["id"] = new_id().into();
                event["data"]["version"] = 1.into();
                event["data"]["number"] = 1.into();
                event["timestamp_ms"] = (now_s() * 1000).into();
            })
        })
        .collect();
    case.say("the server is restored and reports again, under new identifiers and with lower versions");
    case.deliver_all(&again).await;
    case.expect(&order, Truth::Paid).await
}

async fn history_again(case: &mut Case, way: Way) -> Played {
    let order = case.order().await?;
    case.pay(&order, way).await?;
    let events = history(case, &order).await?;
    case.deliver_all(&events).await;
    let expired = case.invented(&order, "checkout.expired");
    let mut again = events.clone();
    again.push(expired);
    again.extend(events.iter().map(Event::renamed));
    case.say("the server is restored: the same events again, an expiry, and the payment once more");
    case.deliver_all(&again).await;
    case.expect(&order, Truth::Paid).await
}

/// The database of the server, put back to a moment before the payment.
async fn restored(case: &mut Case, way: Way) -> Played {
    let stage = std::sync::Arc::clone(&case.stage);
    let Some(server) = &stage.backend.server else {
        return Err("there is no server".to_owned());
    };
    let order = case.order().await?;
    let number = case.begin(&order, way).await?;
    server.kill().await;
    let backup = server.folder.join("backup");
    copy_database(&server.folder, &backup)?;
    server.start().await?;
    case.charge(&number).await?;
    let first = case.paid_event(&order).await?;
    let events = history(case, &order).await?;
    case.deliver_all(&events).await;
    server.kill().await;
    copy_database(&backup, &server.folder)?;
    server.start().await?;
    case.say("the server's database is put back to a moment before the payment");
    let again = case
        .stage
        .backend
        .report(&order.opened.reference, |event| event.kind() == "checkout.paid" && event.id != first.id)
        .await?;
    case.deliver(&again).await;
    case.expect(&order, Truth::Paid).await
}

fn copy_database(from: &Path, to: &Path) -> Played {
    let failed = |error: std::io::Error| format!("the server's database cannot be copied: {error}");
    fs::create_dir_all(to).map_err(failed)?;
    for name in ["kassa.db", "kassa.db-wal", "kassa.db-shm"] {
        let _absent = fs::remove_file(to.join(name));
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).map_err(failed)?;
        }
    }
    Ok(())
}
