//! The table: each kind of scenario with its payment methods and variants.

use std::time::Duration;

use serde_json::json;
use strum::IntoEnumIterator;

use super::{
    Ended, Killed, Overpaid, Script, Sequence, Timing,
    contents::{BODIES, KINDS, MEMBERS, REFERENCES, SIGNED_BODIES, UNKNOWN_KINDS},
    payers::RETURNS,
};
use crate::{
    backend::OpeningFault,
    http::BreakOff,
    pay_method::PayMethod,
    scenarios::{Scenario, Script as Any, signatures, way},
};

struct List(Vec<Scenario>);

impl List {
    fn add(&mut self, id: String, text: impl Into<String>, script: Script) {
        let is_alone = matches!(script, Script::Killed { .. } | Script::Restored { real: true, .. });
        self.0.push(Scenario { id: id.replace('_', "-"), text: text.into(), script: Any::Server(script), is_alone });
    }
}

/// All scenarios of this kind of shop.
pub(crate) fn all() -> Vec<Scenario> {
    let mut list = List(Vec::new());
    payers(&mut list);
    copies(&mut list);
    contents(&mut list);
    faults(&mut list);
    list.0
}

/// Payers who pay, give up, or pay twice or late.
fn payers(list: &mut List) {
    for way in PayMethod::ALL {
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
            format!("a payment by {name} is charged, and no event ever arrives: does the shop query the status?"),
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
            format!("{count} orders at once, {pays} of them paid, their events mixed"),
            Script::Crowd { count, pays },
        );
    }
    for (index, overpaid) in
        [Overpaid::InOrder, Overpaid::SurplusFirst, Overpaid::AtOnce, Overpaid::ThenRefunded, Overpaid::RefundFirst]
            .into_iter()
            .enumerate()
    {
        // A pay-form is started first, because it does not block other methods.
        for is_form_first in [true, false] {
            let other = if index % 2 == 0 { PayMethod::Qr } else { PayMethod::Mbank };
            let first = if is_form_first { PayMethod::PayForm } else { other };
            let (name, text) = match overpaid {
                Overpaid::InOrder => ("in-order", "events in order"),
                Overpaid::SurplusFirst => ("surplus-first", "checkout.overpaid arrives first"),
                Overpaid::AtOnce => ("at-once", "both events at the same time"),
                Overpaid::ThenRefunded => ("then-refunded", "then the refund is recorded"),
                Overpaid::RefundFirst => ("refund-first", "the event of the refund arrives first"),
            };
            let first = first.name();
            list.add(
                format!("overpaid/{name}-{first}"),
                format!("two payments of one order are charged ({first} first): {text}"),
                Script::Overpaid { other, is_form_first, overpaid },
            );
        }
    }
    for (index, (ended, name, text)) in [
        (Ended::Cancelled, "cancelled", "the checkout was cancelled"),
        (Ended::Expired, "expired", "the checkout expired"),
        (
            Ended::CancelledEventLast,
            "cancelled-event-last",
            "the checkout was cancelled, and the event of that arrives last",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        for way in
            [way(index), way(index + 1)].into_iter().filter(|way| ended != Ended::Expired || *way != PayMethod::Mbank)
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
        for way in PayMethod::ALL {
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
        for way in PayMethod::ALL {
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
            format!("checkout.paid arrives {pause} s late, and the payer opens the return page first"),
            Script::Late { way: way(index), pause: Duration::from_secs(pause) },
        );
    }
    for way in PayMethod::ALL {
        list.add(
            format!("restored/lower-version-{}", way.name()),
            "after a restore of the server, the payment is reported again with an older version",
            Script::Restored { way, real: false },
        );
        list.add(
            format!("restored/open-again-{}", way.name()),
            "after a restore, all events of a delivered order are delivered again",
            Script::RestoredBackwards(way),
        );
    }
    list.add(
        "restored/real-qr".to_owned(),
        "the server's database is restored to a moment before the payment (qr)",
        Script::Restored { way: PayMethod::Qr, real: true },
    );
    list.add(
        "restored/real-mbank".to_owned(),
        "the server's database is restored to a moment before the payment (mbank)",
        Script::Restored { way: PayMethod::Mbank, real: true },
    );
}

/// Contents of events.
fn contents(list: &mut List) {
    for forgery in signatures::Forgery::iter() {
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
            format!("a signed body that is not an event ({name}); then the order is paid"),
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
        for way in [PayMethod::PayForm, PayMethod::Mbank] {
            list.add(
                format!("mismatch/{name}-{}", way.name()),
                format!("the gateway reports a charge of another {name}: payment.mismatch"),
                Script::Mismatch { way, member, value: value.clone() },
            );
        }
    }
}

/// Connections, processes and answers that break.
fn faults(list: &mut List) {
    let kinds = [
        (BreakOff::InBody, "in-body", "the connection breaks in the middle of the body"),
        (BreakOff::InHead, "in-head", "the connection breaks in the middle of the head"),
        (BreakOff::BeforeAnswer, "answer-lost", "the shop's answer is lost"),
        (BreakOff::Slowly, "slowly", "the event arrives in pieces"),
    ];
    for (kind, name, text) in kinds {
        for way in PayMethod::ALL {
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
        for way in [PayMethod::PayForm, PayMethod::Qr] {
            list.add(
                format!("shop-killed/{name}-{}", way.name()),
                format!("the shop is killed {text} ({}), and started again", way.name()),
                Script::Killed { way, killed },
            );
        }
    }
    for (fault, name, text) in [
        (OpeningFault::Refused(503), "refused-503", "answers 503"),
        (OpeningFault::Refused(500), "refused-500", "answers 500"),
        (OpeningFault::Refused(401), "refused-401", "answers 401"),
        (OpeningFault::Refused(429), "refused-429", "answers 429"),
        (OpeningFault::ResponseLost, "answer-lost", "opens the checkout, and its answer is lost"),
        (OpeningFault::Garbage, "not-json", "answers something that is not JSON"),
        (OpeningFault::Late(Duration::from_secs(3)), "slow", "answers after 3 s"),
    ] {
        list.add(
            format!("opening/{name}"),
            format!("kassa-server {text} when the shop opens a checkout"),
            Script::Opening(fault),
        );
    }
}
