//! Invented payments, written as real ones are: with their changes, requests and callbacks.

use rusqlite::{Transaction, named_params};

use crate::{
    demo::invent::{CallbackStory, Invented},
    endpoint_name::EndpointName,
    payment::{PaymentKind, Provider},
    state::{PaymentStatus, RejectReason},
    store::{StoreError, notices, payments},
};

/// Where the invented shop took its callbacks: a name that leads nowhere.
const SHOP: &str = "https://shop.example/kassa/callback";
/// The pauses between the attempts, in milliseconds.
const PAUSES: [i64; 5] = [1000, 2000, 5000, 15_000, 60_000];
/// The attempts after which it was given up.
const REFUSED_ATTEMPTS: u32 = 5;

pub(super) fn payment(transaction: &Transaction<'_>, invented: &Invented) -> Result<(), StoreError> {
    let id = row(transaction, invented)?;
    let mut change =
        transaction.prepare_cached("INSERT INTO state_changes (payment_id, status, at) VALUES (?1, ?2, ?3)")?;
    change.execute((id, PaymentStatus::Created.as_str(), invented.created_at))?;
    for (status, at) in &invented.changes {
        change.execute((id, status.as_str(), at))?;
    }
    exchanges(transaction, id, invented)?;
    callbacks(transaction, id, invented)
}

fn row(transaction: &Transaction<'_>, invented: &Invented) -> Result<i64, StoreError> {
    let last = invented.changes.last();
    let status = last.map_or(PaymentStatus::Created, |(status, _)| *status);
    let finished = last.filter(|(status, _)| status.is_final()).map(|(_, at)| *at);
    transaction
        .prepare_cached(
            "INSERT INTO payments (kind, order_number, gateway_number, provider, amount, currency, description,
                holder_name, masked_card, masked_phone, callback_url, confirmation_page, status, reject_reason,
                otp_attempts_left, created_at, finished_at)
             VALUES (:kind, :order_number, :gateway_number, :provider, :amount, :currency, :description,
                :holder_name, :masked_card, :masked_phone, :callback_url, :confirmation_page, :status, :reason,
                :attempts, :created_at, :finished_at)",
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
            ":masked_card": invented.masked_card,
            ":masked_phone": invented.masked_phone,
            ":callback_url": (invented.callback != CallbackStory::None).then_some(SHOP),
            ":confirmation_page": invented.confirmation_page,
            ":status": status.as_str(),
            ":reason": invented.reason.map(RejectReason::code),
            ":attempts": match invented.reason {
                Some(RejectReason::OtpAttemptsExhausted) => 0,
                _ => payments::OTP_ATTEMPTS,
            },
            ":created_at": invented.created_at,
            ":finished_at": finished,
        })?;
    Ok(transaction.last_insert_rowid())
}

/// A number that has nothing to do with the next one's.
fn scattered(number: i64) -> i64 {
    (number.wrapping_mul(2_654_435_761) >> 16).rem_euclid(65_521)
}

/// The request that made it, and the questions about it.
fn exchanges(transaction: &Transaction<'_>, id: i64, invented: &Invented) -> Result<(), StoreError> {
    let (endpoint, is_numbered) = match invented.kind {
        PaymentKind::Card => (EndpointName::Payment, true),
        PaymentKind::Mbank => (EndpointName::MbankPay, true),
        PaymentKind::PayForm => (EndpointName::PayForm, false),
        PaymentKind::Qr => (EndpointName::QrDynamicData, false),
    };
    let mut insert = transaction.prepare_cached(
        "INSERT INTO exchanges (at, endpoint, order_number, http_status, payment_id, took_us, request_head, request_body)
         VALUES (?1, ?2, ?3, 200, ?4, ?5, ?6, ?7)",
    )?;
    let number = &invented.order_number;
    insert.execute((
        invented.created_at + 1,
        endpoint.path(),
        is_numbered.then_some(number),
        (!is_numbered).then_some(id),
        900 + scattered(id) % 700,
        format!("POST {}\ncontent-type: application/json", endpoint.path()),
        request(invented),
    ))?;
    let last = invented.changes.last().map_or(invented.created_at, |(_, at)| *at);
    if let Some(provider) = invented.provider {
        for query in 0..invented.status_queries {
            let body = format!("{{\n  \"orderNumber\": \"{number}\",\n  \"provider\": \"{provider}\"\n}}");
            insert.execute((
                last + 10_000 * i64::from(query + 1),
                EndpointName::GetStatus.path(),
                Some(number),
                None::<i64>,
                300 + scattered(id) % 300,
                "POST /api/v1.1.0/get-status\ncontent-type: application/json",
                body,
            ))?;
        }
    }
    Ok(())
}

fn request(invented: &Invented) -> String {
    let number = &invented.order_number;
    let amount = invented.amount.map(|amount| amount.to_string()).unwrap_or_default();
    match invented.kind {
        PaymentKind::Card => format!(
            "{{\n  \"orderNumber\": \"{number}\",\n  \"amount\": {amount},\n  \"currency\": \"{}\",\n  \
             \"pan\": \"{}\",\n  \"cvc\": \"***\"\n}}",
            invented.currency,
            invented.masked_card.as_deref().unwrap_or_default(),
        ),
        PaymentKind::Mbank => format!(
            "{{\n  \"orderNumber\": \"{number}\",\n  \"phone\": \"{}\",\n  \"amount\": {amount}\n}}",
            invented.masked_phone.as_deref().unwrap_or_default(),
        ),
        PaymentKind::PayForm => {
            format!("{{\n  \"amount\": {amount},\n  \"serviceName\": \"{}\"\n}}", invented.description)
        }
        PaymentKind::Qr if amount.is_empty() => "{}".to_owned(),
        PaymentKind::Qr => format!("{{\n  \"sum\": {amount}\n}}"),
    }
}

/// A callback for each change, and how the shop took it. None of them waits to be sent.
fn callbacks(transaction: &Transaction<'_>, id: i64, invented: &Invented) -> Result<(), StoreError> {
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
        "INSERT INTO callback_attempts (callback_id, attempt, at, http_status, took_ms, reply_head, reply_body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let record = payments::by_id(transaction, id)?;
    for (status, at) in &invented.changes {
        let body = notices::body(&record, invented.amount, *status, invented.provider);
        insert.execute((id, SHOP, body, attempts))?;
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
