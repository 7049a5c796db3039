//! Invented payments, written as real ones are: with their changes, requests and callbacks.

use rusqlite::named_params;

use crate::{
    callbacks::notice,
    demo::{
        exchanges,
        invent::{CallbackStory, Invented},
        shop::{CALLBACK_URL, RETURN_URL, scattered},
    },
    domain::{Language, PaymentKind, PaymentStatus, Provider, RejectReason},
    store::{
        StoreError, WriteTransaction,
        payments::{self, Record},
    },
};

/// The pauses between the attempts, in milliseconds.
const PAUSES: [i64; 5] = [1000, 2000, 5000, 15_000, 60_000];
/// The attempts after which it was given up.
const REFUSED_ATTEMPTS: u32 = 5;

pub(super) fn payment(transaction: &WriteTransaction<'_>, invented: &Invented) -> Result<(), StoreError> {
    let id = row(transaction, invented)?;
    let mut change =
        transaction.prepare_cached("INSERT INTO state_changes (payment_id, status, at) VALUES (?1, ?2, ?3)")?;
    change.execute((id, PaymentStatus::Created.as_str(), invented.created_at))?;
    for (status, at) in &invented.changes {
        change.execute((id, status.as_str(), at))?;
    }
    let record = payments::by_id(transaction, id)?;
    exchanges::all(transaction, &record, invented)?;
    callbacks(transaction, &record, invented)
}

fn row(transaction: &WriteTransaction<'_>, invented: &Invented) -> Result<i64, StoreError> {
    let last = invented.changes.last();
    let status = last.map_or(PaymentStatus::Created, |(status, _)| *status);
    let finished = last.filter(|(status, _)| status.is_final()).map(|(_, at)| *at);
    transaction
        .prepare_cached(
            "INSERT INTO payments (kind, order_number, gateway_number, provider, amount, currency, description,
                holder_name, requisite, masked_card, masked_phone, language, return_url, callback_url,
                confirmation_page, status, reject_reason,
                otp_attempts_left, created_at, finished_at, pending_since)
             VALUES (:kind, :order_number, :gateway_number, :provider, :amount, :currency, :description,
                :holder_name, :requisite, :masked_card, :masked_phone, :language, :return_url, :callback_url,
                :confirmation_page, :status, :reason,
                :attempts, :created_at, :finished_at, :pending_since)",
        )?
        .execute(named_params! {
            ":kind": invented.kind.as_str(),
            ":order_number": invented.order_number,
            ":gateway_number": invented.gateway_number,
            ":provider": invented.provider.map(Provider::as_str),
            ":amount": invented.amount.map(|amount| amount.to_string()),
            ":currency": invented.currency,
            ":description": invented.description,
            ":holder_name": invented.holder_name,
            ":requisite": (invented.kind == PaymentKind::Qr).then_some(invented.description),
            ":masked_card": invented.masked_card,
            ":masked_phone": invented.masked_phone,
            ":language": invented.language.map(Language::code),
            ":return_url": matches!(invented.kind, PaymentKind::Card | PaymentKind::PayForm).then_some(RETURN_URL),
            ":callback_url": (invented.callback != CallbackStory::None).then_some(CALLBACK_URL),
            ":confirmation_page": invented.confirmation_page,
            ":status": status.as_str(),
            ":reason": invented.reason.map(RejectReason::code),
            ":attempts": match invented.reason {
                Some(RejectReason::OtpAttemptsExhausted) => 0,
                _ => payments::OTP_ATTEMPTS,
            },
            ":created_at": invented.created_at,
            ":finished_at": finished,
            ":pending_since": last.filter(|(status, _)| *status == PaymentStatus::Pending).map(|(_, at)| *at),
        })?;
    Ok(transaction.last_insert_rowid())
}

/// A callback for each change, and how the shop took it. None of them waits to be sent.
fn callbacks(transaction: &WriteTransaction<'_>, record: &Record, invented: &Invented) -> Result<(), StoreError> {
    let failures = match invented.callback {
        CallbackStory::None => return Ok(()),
        CallbackStory::Taken => 0,
        CallbackStory::TakenAfter(failures) => failures,
        CallbackStory::Refused => REFUSED_ATTEMPTS,
    };
    let attempts = failures + u32::from(invented.callback != CallbackStory::Refused);
    let mut insert = transaction
        .prepare_cached("INSERT INTO callbacks (payment_id, target, body, attempts) VALUES (?1, ?2, ?3, ?4)")?;
    let mut attempt = transaction.prepare_cached(
        "INSERT INTO callback_attempts (callback_id, attempt, at, http_status, took_ms, response_head, response_body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (status, at) in &invented.changes {
        let body = notice::body(record, invented.amount, *status, invented.provider);
        insert.execute((record.id, CALLBACK_URL, body, attempts))?;
        let callback = transaction.last_insert_rowid();
        let mut at = *at;
        for (number, pause) in (1..=attempts).zip(PAUSES) {
            let (http_status, head, text) = if number <= failures {
                (503, "HTTP 503 Service Unavailable", "busy")
            } else {
                (200, "HTTP 200 OK", "ok")
            };
            attempt.execute((
                callback,
                number,
                at,
                http_status,
                12 + scattered(callback + i64::from(number)) % 80,
                head,
                text,
            ))?;
            at += pause;
        }
    }
    Ok(())
}
