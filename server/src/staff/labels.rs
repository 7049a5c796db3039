//! Labels of states, events and methods in the reader's language, with one line that explains each; and times, days and amounts
//! as text, in Bishkek's time zone.

use kassa::{Decimal, Language};
use time::{Date, OffsetDateTime, format_description::FormatItem, macros::format_description};

use super::texts::Texts;
use crate::{
    events::EventKind,
    locale::full_money,
    payments::exchange::ExchangeKind,
    storage::staff::Need,
    values::{CheckoutState, ClaimState, Method, Millis, PaymentState},
};

/// A label in a coloured field, with its explanation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chip {
    pub(super) word: &'static str,
    /// The class in the stylesheet: good, bad, wait or calm.
    pub(super) tone: &'static str,
    pub(super) meaning: &'static str,
}

const fn chip(word: &'static str, tone: &'static str, meaning: &'static str) -> Chip {
    Chip { word, tone, meaning }
}

pub(super) fn checkout_state(state: CheckoutState, t: &Texts) -> Chip {
    match state {
        CheckoutState::Open => chip(t.co_open, "calm", t.co_open_more),
        CheckoutState::Paid => chip(t.co_paid, "good", t.co_paid_more),
        CheckoutState::Expired => chip(t.co_expired, "calm", t.co_expired_more),
        CheckoutState::Cancelled => chip(t.co_cancelled, "calm", t.co_cancelled_more),
    }
}

pub(super) fn payment_state(state: PaymentState, t: &Texts) -> Chip {
    match state {
        PaymentState::Prepared => chip(t.prepared, "calm", t.prepared_more),
        PaymentState::Sending => chip(t.sending, "wait", t.sending_more),
        PaymentState::NotMade => chip(t.not_made, "calm", t.not_made_more),
        PaymentState::Unknown => chip(t.unknown, "bad", t.unknown_more),
        PaymentState::Awaiting => chip(t.awaiting, "wait", t.awaiting_more),
        PaymentState::Confirming => chip(t.confirming, "wait", t.confirming_more),
        PaymentState::Charged => chip(t.charged, "good", t.charged_more),
        PaymentState::Rejected => chip(t.rejected, "calm", t.rejected_more),
        PaymentState::Mismatch => chip(t.mismatch, "bad", t.mismatch_more),
        PaymentState::Unverifiable => chip(t.unverifiable, "bad", t.unverifiable_more),
    }
}

/// Why a checkout needs a person.
pub(super) fn need(need: Need, t: &Texts) -> Chip {
    match need {
        Need::Unknown => chip(t.unknown, "bad", t.need_unknown),
        Need::Mismatch => chip(t.mismatch, "bad", t.need_mismatch),
        Need::Unverifiable => chip(t.unverifiable, "bad", t.need_unverifiable),
        Need::Stuck => chip(t.stuck, "wait", t.need_stuck),
        Need::Overpaid => chip(t.overpaid, "bad", t.need_overpaid),
        Need::Undelivered => chip(t.undelivered, "wait", t.need_undelivered),
        Need::Refused => chip(t.refused, "wait", t.need_refused),
    }
}

/// The first step of the person.
pub(super) fn first_step(need: Need, t: &Texts) -> &'static str {
    match need {
        Need::Unknown => t.do_unknown,
        Need::Mismatch => t.do_mismatch,
        Need::Unverifiable => t.do_unverifiable,
        Need::Stuck => t.do_stuck,
        Need::Overpaid => t.do_overpaid,
        Need::Undelivered => t.do_undelivered,
        Need::Refused => t.do_refused,
    }
}

pub(super) fn claim_state(state: ClaimState, t: &Texts) -> Chip {
    match state {
        ClaimState::Querying => chip(t.claim_querying, "wait", t.claim_querying_more),
        ClaimState::Unknown => chip(t.claim_unknown, "calm", t.claim_unknown_more),
        ClaimState::Pending => chip(t.claim_pending, "wait", t.claim_pending_more),
        ClaimState::Rejected => chip(t.claim_rejected, "calm", t.claim_rejected_more),
        ClaimState::Charged => chip(t.claim_charged, "good", t.claim_charged_more),
        ClaimState::Unverifiable => chip(t.claim_unverifiable, "bad", t.claim_unverifiable_more),
        ClaimState::Mismatch => chip(t.claim_mismatch, "bad", t.claim_mismatch_more),
        ClaimState::OtherPayment => chip(t.claim_other, "bad", t.claim_other_more),
    }
}

pub(super) fn method(method: Method, t: &Texts) -> &'static str {
    match method {
        Method::PayForm => t.pay_form,
        Method::Qr => t.qr,
        Method::Mbank => t.mbank,
        Method::Megapay => t.megapay,
        Method::Card => t.card,
    }
}

pub(super) fn exchange_kind(kind: ExchangeKind, t: &Texts) -> &'static str {
    match kind {
        ExchangeKind::Create => t.request_create,
        ExchangeKind::Confirm => t.request_confirm,
        ExchangeKind::Status => t.request_status,
        ExchangeKind::Callback => t.request_callback,
    }
}

/// The label of an exchange's outcome: a verdict, an error of the core, or the readability of a callback. After a colon come the
/// fields that differ, or are missing, in the core's English: other languages show only the fields, translated.
pub(super) fn outcome(outcome: &str, t: &Texts) -> String {
    let (word, rest) = outcome.split_once(": ").map_or((outcome, None), |(word, rest)| (word, Some(rest)));
    let label = match word {
        "Unavailable" => t.out_unavailable,
        "Refused" => t.out_refused,
        "Unauthorized" => t.out_unauthorized,
        "Misconfigured" => t.out_misconfigured,
        "OutcomeUnknown" => t.out_unknown,
        "Unexpected" => t.out_unexpected,
        "Invalid" => t.out_invalid,
        "whole" => t.out_whole,
        "incomplete" => t.out_incomplete,
        "unreadable" => t.out_unreadable,
        "accepted" => t.out_accepted,
        "charged" => t.charged,
        "rejected" => t.rejected,
        "pending" => t.out_pending,
        "not understood" => t.out_not_understood,
        "mismatch" => t.out_mismatch,
        "unverifiable" => t.unverifiable,
        _ => return outcome.to_owned(),
    };
    let rest = match rest {
        Some(rest) if t.language != Language::English => fields(rest, t),
        rest => rest.map(str::to_owned),
    };
    rest.map_or_else(|| label.to_owned(), |rest| format!("{label}: {rest}"))
}

/// Names of fields, translated; `None` if the text is something else.
fn fields(names: &str, t: &Texts) -> Option<String> {
    let word = |name| match name {
        "amount" => Some(t.amount.to_lowercase()),
        "currency" => Some(t.currency.to_lowercase()),
        "orderNumber" => Some(t.order_number.to_lowercase()),
        _ => None,
    };
    let words: Vec<String> = names.split(", ").map(word).collect::<Option<_>>()?;
    Some(words.join(", "))
}

pub(super) fn event(kind: EventKind, t: &Texts) -> &'static str {
    match kind {
        EventKind::CheckoutPaid => t.ev_paid,
        EventKind::CheckoutExpired => t.ev_expired,
        EventKind::CheckoutCancelled => t.ev_cancelled,
        EventKind::CheckoutOverpaid => t.ev_overpaid,
        EventKind::CheckoutRefundRecorded => t.ev_refund_recorded,
        EventKind::PaymentCreated => t.ev_created,
        EventKind::PaymentSending => t.ev_sending,
        EventKind::PaymentAccepted => t.ev_accepted,
        EventKind::PaymentNotMade => t.ev_not_made,
        EventKind::PaymentUnknown => t.ev_unknown,
        EventKind::PaymentConfirming => t.ev_confirming,
        EventKind::PaymentReplaced => t.ev_replaced,
        EventKind::PaymentNotConfirmed => t.ev_not_confirmed,
        EventKind::PaymentCharged => t.ev_charged,
        EventKind::PaymentRejected => t.ev_rejected,
        EventKind::PaymentMismatch => t.ev_mismatch,
        EventKind::PaymentUnverifiable => t.ev_unverifiable,
        EventKind::PaymentReviewed => t.ev_reviewed,
        EventKind::PaymentResolved => t.ev_resolved,
        EventKind::PaymentStuck => t.ev_stuck,
    }
}

/// Bishkek is six hours ahead of UTC, all year.
const BISHKEK: Millis = 6 * 3600 * 1000;
/// The format of a day in addresses, forms and files.
const DAY: &[FormatItem<'_>] = format_description!("[year]-[month]-[day]");
const FILE_MOMENT: &[FormatItem<'_>] = format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");
const ENGLISH_DAY: &[FormatItem<'_>] = format_description!("[day padding:none] [month repr:short] [year]");
const ENGLISH: &[FormatItem<'_>] =
    format_description!("[day padding:none] [month repr:short] [year], [hour]:[minute]:[second]");
const OTHER_DAY: &[FormatItem<'_>] = format_description!("[day].[month].[year]");
const OTHERS: &[FormatItem<'_>] = format_description!("[day].[month].[year] [hour]:[minute]:[second]");

/// Formats a time in Bishkek's time zone.
fn formatted(at: Millis, format: &[FormatItem<'_>]) -> String {
    let moment = OffsetDateTime::from_unix_timestamp(at.saturating_add(BISHKEK).div_euclid(1000)).ok();
    moment.and_then(|moment| moment.format(format).ok()).unwrap_or_else(|| at.to_string())
}

/// A time, for people: `23.11.2026 16:30:05`.
pub(super) fn moment(at: Millis, t: &Texts) -> String {
    formatted(at, if t.language == Language::English { ENGLISH } else { OTHERS })
}

/// A time, for a spreadsheet: `2026-11-23 16:30:05`.
pub(super) fn file_moment(at: Millis) -> String {
    formatted(at, FILE_MOMENT)
}

/// The day of a time: `2026-11-23`.
pub(super) fn day(at: Millis) -> String {
    formatted(at, DAY)
}

/// The day of a time, for people: `23.11.2026`.
pub(super) fn shown_day(at: Millis, t: &Texts) -> String {
    formatted(at, if t.language == Language::English { ENGLISH_DAY } else { OTHER_DAY })
}

/// Parses a day.
pub(super) fn date(day: &str) -> Option<Date> {
    Date::parse(day, DAY).ok()
}

/// The first moment of a day.
pub(super) fn first_moment(day: &str) -> Option<Millis> {
    date(day)?.midnight().assume_utc().unix_timestamp().checked_mul(1000)?.checked_sub(BISHKEK)
}

/// An amount with its currency, grouped, with two decimals.
pub(super) fn money(amount: Decimal, currency: &str, t: &Texts) -> String {
    full_money(amount, currency, t.language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::staff::texts::texts;

    #[test]
    fn day_begins_at_midnight_in_bishkek() {
        let midnight = first_moment("2026-11-23").unwrap();
        let [english, russian] = [Language::English, Language::Russian].map(texts);
        assert_eq!(moment(midnight, english), "23 Nov 2026, 00:00:00");
        assert_eq!(moment(midnight, russian), "23.11.2026 00:00:00");
        assert_eq!(file_moment(midnight + 90 * 60 * 1000), "2026-11-23 01:30:00");
        assert_eq!([day(midnight - 1), day(midnight)], ["2026-11-22", "2026-11-23"]);
        assert_eq!([shown_day(midnight - 1, english), shown_day(midnight, russian)], ["22 Nov 2026", "23.11.2026"]);
        assert_eq!(file_moment(-1), "1970-01-01 05:59:59");
        for text in ["", "2026-11-31", "2026-1-1", "23.11.2026", "2026-11-23T00:00:00Z"] {
            assert_eq!(first_moment(text), None, "{text}");
        }
    }

    #[test]
    fn outcome_keeps_what_stands_behind_it_in_the_readers_words() {
        let [english, t] = [Language::English, Language::Russian].map(texts);
        assert_eq!(outcome("mismatch: amount, orderNumber", t), "не совпадает: сумма, номер операции");
        assert_eq!(outcome("mismatch: amount, orderNumber", english), "mismatch: amount, orderNumber");
        assert_eq!(outcome("unverifiable: no amount", t), "нельзя проверить");
        assert_eq!(outcome("unverifiable: no amount", english), "unverifiable: no amount");
        assert_eq!(outcome("charged", t), "оплачен");
        assert_eq!(outcome("something new", t), "something new");
    }
}
