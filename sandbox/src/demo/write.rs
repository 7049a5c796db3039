//! Stores demo payments like real ones: with their status changes, requests, responses and callbacks.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use rusqlite::named_params;
use serde_json::Value;

use crate::{
    callbacks::notice,
    demo::generate::{ASKED_AFTER, CallbackOutcome, DemoPayment},
    domain::{EndpointName, Language, Payment, PaymentKind, PaymentStatus, Provider, RejectReason},
    endpoints::{
        Rejection, Response, card_payment, mbank, megapay, outgoing::OutgoingResponse, pay_form, qr,
        status::status_response,
    },
    pages,
    payments::qr_code::QrCode,
    redact::transcript,
    settings::Dialect,
    store::{
        StoreError, WriteTransaction,
        exchanges::{self, NewExchange},
        payments::{self, OTP_ATTEMPTS, Record},
    },
};

/// The pauses between attempts, in milliseconds.
const PAUSES: [i64; 5] = [1000, 2000, 5000, 15_000, 60_000];
/// The number of attempts before the callback is given up.
const REJECTED_ATTEMPTS: u32 = 5;

pub(super) fn write_payment(transaction: &WriteTransaction<'_>, demo_payment: &DemoPayment) -> Result<(), StoreError> {
    let id = insert_payment(transaction, demo_payment)?;
    let mut change =
        transaction.prepare_cached("INSERT INTO state_changes (payment_id, status, at) VALUES (?1, ?2, ?3)")?;
    change.execute((id, PaymentStatus::Created.as_str(), demo_payment.created_at))?;
    for (status, at) in &demo_payment.changes {
        change.execute((id, status.as_str(), at))?;
    }
    let record = payments::by_id(transaction, id)?;
    write_exchanges(transaction, &record, demo_payment)?;
    write_callbacks(transaction, &record, demo_payment)
}

fn insert_payment(transaction: &WriteTransaction<'_>, demo_payment: &DemoPayment) -> Result<i64, StoreError> {
    let last = demo_payment.changes.last();
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
            ":kind": demo_payment.kind.as_str(),
            ":order_number": demo_payment.order_number,
            ":gateway_number": demo_payment.gateway_number,
            ":provider": demo_payment.provider.map(Provider::as_str),
            ":amount": demo_payment.amount.map(|amount| amount.to_string()),
            ":currency": demo_payment.currency,
            ":description": demo_payment.description,
            ":holder_name": demo_payment.holder_name,
            ":requisite": match demo_payment.kind {
                PaymentKind::Qr => Some(demo_payment.description),
                PaymentKind::Megapay => Some(ACCOUNT),
                _ => None,
            },
            ":masked_card": demo_payment.masked_card,
            ":masked_phone": demo_payment.masked_phone,
            ":language": demo_payment.language.map(Language::code),
            ":return_url": matches!(demo_payment.kind, PaymentKind::Card | PaymentKind::PayForm).then_some(RETURN_URL),
            ":callback_url": (demo_payment.callback != CallbackOutcome::None).then_some(CALLBACK_URL),
            ":confirmation_page": demo_payment.confirmation_page,
            ":status": status.as_str(),
            ":reason": demo_payment.reason.map(RejectReason::code),
            ":attempts": match demo_payment.reason {
                Some(RejectReason::OtpAttemptsExhausted) => 0,
                _ => OTP_ATTEMPTS,
            },
            ":created_at": demo_payment.created_at,
            ":finished_at": finished,
            ":pending_since": last.filter(|(status, _)| *status == PaymentStatus::Pending).map(|(_, at)| *at),
        })?;
    Ok(transaction.last_insert_rowid())
}

/// Adds a callback with its attempts for each status change. None is left in the queue.
fn write_callbacks(
    transaction: &WriteTransaction<'_>,
    record: &Record,
    demo_payment: &DemoPayment,
) -> Result<(), StoreError> {
    let failures = match demo_payment.callback {
        CallbackOutcome::None => return Ok(()),
        CallbackOutcome::Taken => 0,
        CallbackOutcome::TakenAfter(failures) => failures,
        CallbackOutcome::Rejected => REJECTED_ATTEMPTS,
    };
    let attempts = failures + u32::from(demo_payment.callback != CallbackOutcome::Rejected);
    let mut insert = transaction
        .prepare_cached("INSERT INTO callbacks (payment_id, target, body, attempts) VALUES (?1, ?2, ?3, ?4)")?;
    let mut attempt = transaction.prepare_cached(
        "INSERT INTO callback_attempts (callback_id, attempt, at, http_status, took_ms, response_head, response_body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (status, at) in &demo_payment.changes {
        let body = notice::body(record, demo_payment.amount, *status, demo_payment.provider);
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
                12 + scatter(callback + i64::from(number)) % 80,
                head,
                text,
            ))?;
            at += pause;
        }
    }
    Ok(())
}

/// The public URL of the invented payments: a reserved name.
const GATEWAY: &str = "https://gateway.example";
/// The language of answers to requests without one.
const LANGUAGE: Language = Language::English;

/// Adds all exchanges of a payment.
fn write_exchanges(
    transaction: &WriteTransaction<'_>,
    record: &Record,
    demo_payment: &DemoPayment,
) -> Result<(), StoreError> {
    let writer = ExchangeWriter { transaction, record };
    writer.registration(demo_payment)?;
    if matches!(record.payment.kind, PaymentKind::Mbank | PaymentKind::Megapay) {
        writer.confirmation(demo_payment)?;
    }
    let last = demo_payment.changes.last().map_or(record.created_at, |(_, at)| *at);
    for query in 1..=demo_payment.status_queries {
        writer.status_query(last + ASKED_AFTER * i64::from(query))?;
    }
    Ok(())
}

/// The requests of the shop about a payment, with their responses.
struct ExchangeWriter<'a> {
    transaction: &'a WriteTransaction<'a>,
    record: &'a Record,
}

impl ExchangeWriter<'_> {
    /// The request that creates the payment.
    fn registration(&self, demo_payment: &DemoPayment) -> Result<(), StoreError> {
        let record = self.record;
        let payment = &record.payment;
        let body = registration_body(record, demo_payment);
        let page = |path| format!("{GATEWAY}{path}?token={}", payment.gateway_number);
        let (endpoint, response) = match payment.kind {
            PaymentKind::Card => {
                (EndpointName::Payment, card_payment::response(record, &page(pages::otp::THREE_DS_PATH)))
            }
            PaymentKind::Mbank => {
                let new = Payment { status: PaymentStatus::Created, reject_reason: None, ..payment.clone() };
                (EndpointName::MbankPay, mbank::created_response(&new))
            }
            PaymentKind::Megapay => (EndpointName::MegaCheck, megapay::checked_response(payment)),
            PaymentKind::PayForm => (EndpointName::PayForm, pay_form::response(&page(pages::pay_form::PATH))),
            PaymentKind::Qr => (
                EndpointName::QrDynamicData,
                qr::data_response(payment, &QrCode::of(record).linked(&page(pages::qr::PATH))),
            ),
        };
        self.exchange(record.created_at, endpoint, &body, response)
    }

    /// The payer's one-time password or PIN: the right one at once, or three wrong ones.
    fn confirmation(&self, demo_payment: &DemoPayment) -> Result<(), StoreError> {
        let payment = &self.record.payment;
        let Some((_, at)) = demo_payment.changes.last() else {
            return Ok(());
        };
        let is_mbank = payment.kind == PaymentKind::Mbank;
        let (endpoint, body) = if is_mbank {
            (EndpointName::MbankConfirm, object(&[order_number(payment), ("otp", text("000000"))]))
        } else {
            let callback_url = self.record.callback_url.as_ref().map(|_| ("callbackUrl", text(CALLBACK_URL)));
            let more = [("pinCode", text("000000"))].into_iter().chain(callback_url);
            (EndpointName::MegaPay, object(&megapay_fields(self.record).into_iter().chain(more).collect::<Vec<_>>()))
        };
        match payment.reject_reason {
            Some(RejectReason::CancelledByPayer) => Ok(()),
            Some(RejectReason::OtpAttemptsExhausted) => {
                let took = at - self.record.created_at;
                (1..=OTP_ATTEMPTS).try_for_each(|attempt| {
                    let at = self.record.created_at + took * i64::from(attempt) / i64::from(OTP_ATTEMPTS);
                    let attempts_left = OTP_ATTEMPTS - attempt;
                    let status = if attempts_left == 0 { payment.status } else { PaymentStatus::Created };
                    let order_number = payment.order_number.clone();
                    let rejection = Rejection::WrongOtp { order_number, status, attempts_left };
                    self.exchange(at, endpoint, &body, rejection.response(LANGUAGE))
                })
            }
            _ if is_mbank => self.exchange(*at, endpoint, &body, mbank::confirmed_response(payment, LANGUAGE)),
            _ => self.exchange(*at, endpoint, &body, megapay::paid_response(payment, LANGUAGE)),
        }
    }

    /// The shop's status query, after everything else.
    fn status_query(&self, at: i64) -> Result<(), StoreError> {
        let payment = &self.record.payment;
        let response = status_response(&payment.order_number, payment, LANGUAGE);
        match (payment.kind, payment.provider) {
            (PaymentKind::Qr, _) => self.exchange(at, EndpointName::QrTransactionStatus, "", response),
            (_, Some(provider)) => {
                let fields = [("orderNumber", text(&payment.order_number)), ("provider", text(provider.as_str()))];
                self.exchange(at, EndpointName::GetStatus, &object(&fields), response)
            }
            // Without a provider, `get-status` cannot find it.
            (_, None) => Ok(()),
        }
    }

    /// Records a request at a time, and its response.
    fn exchange(&self, at: i64, endpoint: EndpointName, body: &str, response: Response) -> Result<(), StoreError> {
        let Record { id, payment, .. } = self.record;
        let (method, query) = match endpoint {
            EndpointName::QrTransactionStatus => (Method::GET, format!("?transaction_id={}", payment.order_number)),
            _ => (Method::POST, String::new()),
        };
        let uri: Uri = format!("{}{query}", endpoint.path()).parse().unwrap_or_default();
        let seen = transcript::Request::head(&method, &uri, &headers(body)).with_body(body.as_bytes());
        let outgoing = OutgoingResponse::whole(response, Dialect::Interface);
        let (response_head, response_body) = outgoing.as_written();
        let response_body = response_body.map(|body| seen.response(&body));
        let is_numbered = !matches!(endpoint, EndpointName::PayForm | EndpointName::QrDynamicData);
        let took = 300 + scatter(at) % 1300;
        let exchange = NewExchange {
            endpoint,
            order_number: is_numbered.then(|| payment.order_number.clone()),
            http_status: outgoing.visible_status(),
            fault: None,
            payment_id: (!is_numbered).then_some(*id),
            took: Duration::from_micros(took.unsigned_abs()),
            request_head: seen.head,
            request_body: seen.body,
            response_head,
            response_body,
        };
        exchanges::record(self.transaction, at + took / 1000, &exchange)
    }
}

fn headers(body: &str) -> HeaderMap {
    let mut headers = HeaderMap::from_iter([(header::USER_AGENT, HeaderValue::from_static("shop.example"))]);
    if !body.is_empty() {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
    headers
}

/// The body of the shop's request. Card data that is never stored is invented.
fn registration_body(record: &Record, demo_payment: &DemoPayment) -> String {
    let payment = &record.payment;
    let amount = payment.amount.map(|amount| amount.to_string());
    let callback_url = record.callback_url.as_ref().map(|_| text(CALLBACK_URL));
    let fields = match payment.kind {
        PaymentKind::Card => vec![
            ("orderNumber", Some(text(&payment.order_number))),
            ("description", Some(text(&record.description))),
            ("amount", amount),
            ("currency", Some(text(&payment.currency))),
            ("pan", payment.masked_card.as_deref().map(text)),
            ("expiryMonth", Some(text("12"))),
            ("expiryYear", Some("2099".to_owned())),
            ("cvc", Some(text("000"))),
            ("language", demo_payment.language.map(|language| text(language.code()))),
            ("name", record.holder_name.as_deref().map(text)),
            ("returnUrl", Some(text(RETURN_URL))),
            ("callbackUrl", callback_url),
            ("ip", Some(text(&format!("203.0.113.{}", 1 + scatter(record.id) % 250)))),
        ],
        PaymentKind::Megapay => return object(&megapay_fields(record)),
        PaymentKind::Mbank => vec![
            ("orderNumber", Some(text(&payment.order_number))),
            ("phone", payment.masked_phone.as_deref().map(text)),
            ("amount", amount),
            ("comment", Some(text(&record.description))),
            ("callbackUrl", callback_url),
        ],
        PaymentKind::PayForm => vec![
            ("amount", amount),
            ("serviceName", Some(text(&record.description))),
            ("callbackURL", callback_url),
            ("returnURL", Some(text(RETURN_URL))),
        ],
        PaymentKind::Qr => {
            vec![("sum", amount), ("requisite", record.requisite.as_deref().map(text)), ("callback_url", callback_url)]
        }
    };
    let given: Vec<_> = fields.into_iter().filter_map(|(name, json)| Some((name, json?))).collect();
    object(&given)
}

fn order_number(payment: &Payment) -> (&'static str, String) {
    ("orderNumber", text(&payment.order_number))
}

/// The fields that both requests of a MegaPay payment share.
fn megapay_fields(record: &Record) -> Vec<(&'static str, String)> {
    let payment = &record.payment;
    vec![
        order_number(payment),
        ("user", text(payment.masked_phone.as_deref().unwrap_or_default())),
        ("account", text(record.requisite.as_deref().unwrap_or_default())),
        ("amount", payment.amount.unwrap_or_default().to_string()),
    ]
}

/// A JSON object of members whose values are JSON.
fn object(members: &[(&str, String)]) -> String {
    let members: Vec<_> = members.iter().map(|(name, json)| format!("{}: {json}", text(name))).collect();
    format!("{{{}}}", members.join(", "))
}

/// A string as JSON.
fn text(text: &str) -> String {
    Value::from(text).to_string()
}

/// The account that wallets pay to.
const ACCOUNT: &str = "7";
/// The callback URL of the invented shop: a reserved name.
const CALLBACK_URL: &str = "https://shop.example/kassa/callback";
/// The return URL of its requests.
const RETURN_URL: &str = "https://shop.example/kassa/thanks";
/// A pseudorandom number that is unrelated to its neighbours.
fn scatter(number: i64) -> i64 {
    (number.wrapping_mul(2_654_435_761) >> 16).rem_euclid(65_521)
}
