//! Scenarios for a shop that uses kassa-server. If an event must deliver, the order is really paid, so a shop that queries the server
//! sees the same; if it must not, the order is really unpaid.

mod arrival;
mod contents;
mod payers;
mod table;

pub(crate) use table::all;

use std::time::Duration;

use serde_json::Value;

use super::signatures;
use crate::{
    backend::OpeningFault,
    case::{Case, Order, StepResult},
    event::Event,
    http::BreakOff,
    pay_method::PayMethod,
};

/// How copies of an event arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timing {
    AfterEachOther,
    AtOnce(usize),
    /// The second one after the other events of the checkout.
    AfterAll,
}

/// The order in which events arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequence {
    Backwards,
    PaidFirst,
    AtOnce,
    /// Everything twice.
    TwiceOver,
}

/// When the shop is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Killed {
    BeforePayment,
    BeforeEvent,
    DuringEvent,
    AfterEvent,
    BetweenCopies,
}

/// The events of a second payment of one checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overpaid {
    InOrder,
    SurplusFirst,
    AtOnce,
    ThenRefunded,
    RefundFirst,
}

/// How a checkout ends before its payment is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Cancelled,
    Expired,
    /// The event of the end arrives after that of the payment.
    CancelledEventLast,
}

/// The steps of a scenario.
#[derive(Clone, Debug)]
pub(crate) enum Script {
    Paid(PayMethod),
    Closed(PayMethod),
    Declined { way: PayMethod, then_paid: bool },
    Twice { way: PayMethod, timing: Timing, new_id: bool },
    Late { way: PayMethod, pause: Duration },
    Sequence { way: PayMethod, sequence: Sequence },
    Forged(signatures::Forgery),
    Genuine { way: PayMethod, genuine: signatures::Genuine },
    Kind { kind: &'static str, then_paid: Option<PayMethod> },
    Members { way: PayMethod, members: usize },
    Body(usize),
    SignedBody(usize),
    Other { member: &'static str, value: Value },
    Reference(usize),
    Ended { way: PayMethod, ended: Ended },
    Overpaid { other: PayMethod, is_form_first: bool, overpaid: Overpaid },
    Mismatch { way: PayMethod, member: &'static str, value: Value },
    Crowd { count: usize, pays: usize },
    BrokenOff { way: PayMethod, how: BreakOff },
    Killed { way: PayMethod, killed: Killed },
    Returned(usize),
    Unreported(PayMethod),
    Opening(OpeningFault),
    Restored { way: PayMethod, real: bool },
    RestoredBackwards(PayMethod),
}

pub(crate) async fn play(case: &mut Case, script: &Script) -> StepResult {
    match script {
        Script::Paid(way) => payers::paid(case, *way, true).await,
        Script::Closed(way) => payers::paid(case, *way, false).await,
        Script::Declined { way, then_paid } => payers::declined(case, *way, *then_paid).await,
        Script::Twice { way, timing, new_id } => arrival::twice(case, *way, *timing, *new_id).await,
        Script::Late { way, pause } => arrival::late(case, *way, *pause).await,
        Script::Sequence { way, sequence } => arrival::sequence_of(case, *way, *sequence).await,
        Script::Forged(forgery) => contents::forged(case, *forgery).await,
        Script::Genuine { way, genuine } => contents::genuine_event(case, *way, *genuine).await,
        Script::Kind { kind, then_paid } => contents::other_kind(case, kind, *then_paid).await,
        Script::Members { way, members } => contents::unknown_members(case, *way, *members).await,
        Script::Body(index) => contents::unsigned(case, *index).await,
        Script::SignedBody(index) => contents::signed_body(case, *index).await,
        Script::Other { member, value } => contents::another(case, member, value).await,
        Script::Reference(index) => contents::another_reference(case, *index).await,
        Script::Ended { way, ended } => payers::after_the_end(case, *way, *ended).await,
        Script::Overpaid { other, is_form_first, overpaid } => {
            payers::overpaid_order(case, *other, *is_form_first, *overpaid).await
        }
        Script::Mismatch { way, member, value } => contents::mismatch(case, *way, member, value).await,
        Script::Crowd { count, pays } => payers::crowd(case, *count, *pays).await,
        Script::BrokenOff { way, how } => arrival::broken_off(case, *way, *how).await,
        Script::Killed { way, killed } => arrival::shop_killed(case, *way, *killed).await,
        Script::Returned(index) => payers::returned(case, *index).await,
        Script::Unreported(way) => payers::unreported(case, *way).await,
        Script::Opening(fault) => arrival::opening(case, *fault).await,
        Script::Restored { way, real: false } => arrival::reported_again(case, *way).await,
        Script::Restored { way, real: true } => arrival::restored(case, *way).await,
        Script::RestoredBackwards(way) => arrival::history_again(case, *way).await,
    }
}

/// All events of an order so far; the last one is `checkout.paid`.
async fn history(case: &mut Case, order: &Order) -> StepResult<Vec<Event>> {
    case.paid_event(order).await?;
    Ok(case.stage.backend.reported(&order.opened.reference))
}

fn filled(text: &str, order: &Order) -> String {
    let reference = &order.opened.reference;
    let shorter: String = reference.chars().take(reference.chars().count().saturating_sub(1)).collect();
    let text = text.replace("{reference}", reference).replace("{amount}", &order.opened.amount);
    text.replace("{shorter}", &shorter).replace("{capitals}", &reference.to_uppercase())
}
