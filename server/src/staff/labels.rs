//! Labels of states, events and methods, with one line that explains each; and moments, days and money as texts.

use kassa::Decimal;
use time::{Date, OffsetDateTime, format_description::FormatItem, macros::format_description};

use crate::{
    events::EventKind,
    payments::exchange::ExchangeKind,
    storage::staff::Need,
    values::{CheckoutState, ClaimState, Method, Millis, PaymentState},
};

/// A word in a coloured field, with what it means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chip {
    pub(super) word: &'static str,
    /// good, bad, wait or calm: of the stylesheet.
    pub(super) tone: &'static str,
    pub(super) meaning: &'static str,
}

const fn chip(word: &'static str, tone: &'static str, meaning: &'static str) -> Chip {
    Chip { word, tone, meaning }
}

pub(super) fn checkout_state(state: CheckoutState) -> Chip {
    match state {
        CheckoutState::Open => chip("open", "calm", "It can be paid."),
        CheckoutState::Paid => chip("paid", "good", "The money was taken. Nothing takes that back."),
        CheckoutState::Expired => {
            chip("expired", "calm", "Its time passed. Money that comes late still makes it paid.")
        }
        CheckoutState::Cancelled => {
            chip("cancelled", "calm", "It was cancelled. Money that comes late still makes it paid.")
        }
    }
}

pub(super) fn payment_state(state: PaymentState) -> Chip {
    match state {
        PaymentState::Prepared => chip("prepared", "calm", "Written down, and certainly not sent to the gateway yet."),
        PaymentState::Sending => chip("sending", "wait", "It is being sent to the gateway."),
        PaymentState::NotMade => chip("not made", "calm", "Certainly no money was taken."),
        PaymentState::Unknown => chip(
            "unknown",
            "bad",
            "It was sent, and nobody knows what became of it. The gateway is asked again and again.",
        ),
        PaymentState::Awaiting => chip("awaiting", "wait", "The gateway has it; the payer has to act."),
        PaymentState::Confirming => {
            chip("confirming", "wait", "The payer's one-time password was sent, or may have been.")
        }
        PaymentState::Charged => chip("charged", "good", "The money was taken. Nothing takes that back."),
        PaymentState::Rejected => chip("rejected", "calm", "It ended, and no money was taken."),
        PaymentState::Mismatch => {
            chip("mismatch", "bad", "The gateway reports another order, amount or currency than was asked for.")
        }
        PaymentState::Unverifiable => {
            chip("unverifiable", "bad", "The gateway reports a charge, and nothing proves that it is this payment's.")
        }
    }
}

pub(super) fn need(need: Need) -> Chip {
    match need {
        Need::Unknown => chip(
            "unknown",
            "bad",
            "Nobody has known for two minutes whether the money was taken. Look at the gateway, then decide.",
        ),
        Need::Mismatch => {
            chip("mismatch", "bad", "The gateway reports something else than was asked for. Look there, then decide.")
        }
        Need::Unverifiable => chip(
            "unverifiable",
            "bad",
            "The gateway reports a charge that this server cannot verify. Look whether the gateway has it for this order, then \
             decide. If the gateway.dialect setting is incomplete, correct it: kassa-server check says how.",
        ),
        Need::Stuck => {
            let sentence = "Open for three days without an end, or a QR code of which the gateway cannot be asked. Ask the payer \
                or the gateway, then decide.";
            chip("stuck", "wait", sentence)
        }
        Need::Overpaid => {
            chip("overpaid", "bad", "Paid more than once. Give one payment back at the gateway, then note it here.")
        }
        Need::Undelivered => {
            chip("not delivered", "wait", "The shop took no events for three days. Repair it, then deliver them again.")
        }
        Need::Refused => chip(
            "refused",
            "wait",
            "The shop refused events again and again, and got what came after them. Repair it, or choose the kinds that it takes by \
             the events.kinds setting, then deliver them again.",
        ),
    }
}

pub(super) fn claim_state(state: ClaimState) -> Chip {
    match state {
        ClaimState::Asked => chip("asked", "wait", "The gateway has not answered about this number yet."),
        ClaimState::Unknown => chip("not known", "calm", "The gateway's answers say nothing about this number."),
        ClaimState::Pending => chip("pending", "wait", "The gateway reports that it is pending."),
        ClaimState::Rejected => chip("rejected", "calm", "The gateway reports that it ended without a charge."),
        ClaimState::Charged => chip("charged", "good", "The gateway reports the charge that was asked for."),
        ClaimState::Unverifiable => {
            chip("unverifiable", "bad", "The gateway reports a charge that cannot be verified.")
        }
        ClaimState::Mismatch => {
            chip("mismatch", "bad", "The gateway reports a charge of something else than was asked for.")
        }
        ClaimState::OtherPayment => chip(
            "another payment's",
            "bad",
            "The gateway reports a charge under a number that has paid for another payment.",
        ),
    }
}

pub(super) fn method(method: Method) -> &'static str {
    match method {
        Method::PayForm => "Payment page",
        Method::Qr => "QR code",
        Method::Mbank => "Mobile bank",
        Method::Megapay => "MegaPay",
        Method::Card => "Card",
    }
}

pub(super) fn exchange_kind(kind: ExchangeKind) -> &'static str {
    match kind {
        ExchangeKind::Create => "To make the payment",
        ExchangeKind::Confirm => "To take the one-time password",
        ExchangeKind::Status => "What became of it",
        ExchangeKind::Callback => "Nothing: it called back",
    }
}

/// The label of an exchange's outcome, if it is one of the core's errors; every other outcome is in words already.
pub(super) fn outcome(outcome: &str) -> &str {
    match outcome {
        "Unavailable" => "not available, nothing happened",
        "Refused" => "refused, nothing happened",
        "Unauthorized" => "our credentials were not accepted, nothing happened",
        "Misconfigured" => "wrong settings, nothing happened",
        "OutcomeUnknown" => "it may have happened",
        "Unexpected" => "not understood, nothing happened",
        "Invalid" => "not sent, as something in it broke a rule",
        "whole" => "a callback",
        "incomplete" => "a callback without some fields",
        "unreadable" => "a callback that could not be read",
        other => other,
    }
}

pub(super) fn event(kind: EventKind) -> &'static str {
    match kind {
        EventKind::CheckoutPaid => "The checkout is paid",
        EventKind::CheckoutExpired => "The checkout's time passed",
        EventKind::CheckoutCancelled => "The checkout was cancelled",
        EventKind::CheckoutOverpaid => "Another payment was charged as well: money has to be given back",
        EventKind::CheckoutRefundNoted => "A person noted that money was given back",
        EventKind::PaymentCreated => "A payment was begun",
        EventKind::PaymentSending => "The payment is sent to the gateway",
        EventKind::PaymentAccepted => "The gateway has the payment; the payer has to act",
        EventKind::PaymentNotMade => "The payment was not made; certainly no money was taken",
        EventKind::PaymentUnknown => "Nobody knows what became of the payment; the gateway is asked",
        EventKind::PaymentConfirming => "The payer's one-time password was sent",
        EventKind::PaymentReplaced => "The payer went another way",
        EventKind::PaymentNotConfirmed => "The one-time password was not taken",
        EventKind::PaymentCharged => "The gateway reported that the money was taken",
        EventKind::PaymentRejected => "The gateway reported that no money was taken",
        EventKind::PaymentMismatch => "The gateway reported something else than was asked for",
        EventKind::PaymentUnverifiable => "The gateway reported a charge that cannot be verified",
        EventKind::PaymentReviewed => "A person decided about one more charge of a charged payment",
        EventKind::PaymentResolved => "A person decided what became of the payment",
        EventKind::PaymentStuck => "A person has to look at the payment",
    }
}

/// Bishkek is six hours ahead of UTC, all year.
const BISHKEK: Millis = 6 * 3600 * 1000;
const DAY: &[FormatItem<'_>] = format_description!("[year]-[month]-[day]");
const MOMENT: &[FormatItem<'_>] = format_description!("[year]-[month]-[day] [hour]:[minute]:[second]Z");

fn of(at: Millis) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(at.div_euclid(1000)).ok()
}

/// A moment in UTC: `2026-11-23 10:30:05Z`.
pub(super) fn moment(at: Millis) -> String {
    of(at).and_then(|at| at.format(MOMENT).ok()).unwrap_or_else(|| at.to_string())
}

/// The day in Bishkek that a moment is of: `2026-11-23`.
pub(super) fn day(at: Millis) -> String {
    of(at.saturating_add(BISHKEK)).and_then(|at| at.format(DAY).ok()).unwrap_or_else(|| at.to_string())
}

/// A day that somebody wrote.
pub(super) fn date(day: &str) -> Option<Date> {
    Date::parse(day, DAY).ok()
}

/// The first moment of a day in Bishkek.
pub(super) fn first_moment(day: &str) -> Option<Millis> {
    date(day)?.midnight().assume_utc().unix_timestamp().checked_mul(1000)?.checked_sub(BISHKEK)
}

/// An amount, digit for digit, with its currency.
pub(super) fn money(amount: Decimal, currency: &str) -> String {
    format!("{amount} {currency}")
}

/// One or many.
pub(super) fn count(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_in_bishkek() {
        let midnight = first_moment("2026-11-23").unwrap();
        assert_eq!(moment(midnight), "2026-11-22 18:00:00Z");
        assert_eq!([day(midnight - 1), day(midnight)], ["2026-11-22", "2026-11-23"]);
        assert_eq!(moment(-1), "1969-12-31 23:59:59Z");
        for text in ["", "2026-11-31", "2026-1-1", "23.11.2026", "2026-11-23T00:00:00Z"] {
            assert_eq!(first_moment(text), None, "{text}");
        }
    }
}
