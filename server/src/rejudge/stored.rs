//! The gateway's responses in a server's database. The database stores only their masked beginnings, so some of
//! them cannot be judged any more.

use kassa::{PaymentKind, PaymentRef, RecordedExchange};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    judging::{Exchange, Subject},
    recording::unjudgeable,
};
use crate::{payments::exchange::ExchangeKind, storage::staff::StoredReply, values::Millis};

/// The mark at the end of a truncated response.
const CUT: char = '…';

/// A stored exchange to judge, or why it cannot be judged.
pub(super) fn read(reply: StoredReply) -> Result<Exchange, String> {
    let stored = &reply.stored.exchange;
    let Some(response) = &stored.response else { return Err("no response was stored".to_owned()) };
    if response.ends_with(CUT) {
        return Err("only the beginning of the response was stored".to_owned());
    }
    let subject = if stored.kind == ExchangeKind::Callback {
        Subject::Callback(response.clone())
    } else {
        let mut payment = about(&reply.reference, stored.claim.as_deref());
        if stored.kind == ExchangeKind::Create {
            // The fields of the gateway's response were not known before the request: they are read again.
            (payment.gateway_number, payment.transaction_id, payment.confirm_identifier) = (None, None, None);
        }
        let endpoints = endpoints(stored.kind, &payment, stored.claim.is_some());
        // The HTTP status of an answer that was accepted is not stored.
        let http_status = stored.http_status.unwrap_or(200);
        let candidates = endpoints.iter().map(|endpoint| {
            RecordedExchange::about(payment.clone(), endpoint, http_status, response.as_bytes())
                .map_err(|problem| unjudgeable(&problem))
        });
        Subject::OfPayment(candidates.collect::<Result<_, _>>()?, Box::new(payment.clone()))
    };
    let at = moment(reply.stored.first_at);
    Ok(Exchange { payment_id: Some(reply.payment_id), exchange: reply.number, at, subject })
}

/// The payment that a query was about, perhaps by a number that a callback claimed.
fn about(payment: &PaymentRef, claim: Option<&str>) -> PaymentRef {
    let Some(claim) = claim else { return payment.clone() };
    if payment.kind != PaymentKind::Qr {
        return payment.clone().with_claimed_number(claim, None);
    }
    let mut claimed = payment.clone().with_transaction_id(claim);
    claimed.is_claimed = true;
    claimed
}

/// The endpoints whose response it can be. A payment with a number of the gateway is queried by it first.
fn endpoints(kind: ExchangeKind, payment: &PaymentRef, is_claimed: bool) -> &'static [&'static str] {
    match (kind, payment.kind) {
        (ExchangeKind::Create, PaymentKind::Card) => &["card_payment"],
        (ExchangeKind::Create, PaymentKind::Mbank) => &["mbank_payment"],
        (ExchangeKind::Create, PaymentKind::Megapay) => &["megapay_check"],
        (ExchangeKind::Create, PaymentKind::PayForm) => &["pay_form"],
        (ExchangeKind::Create, _) => &["qr_data"],
        (ExchangeKind::Confirm, PaymentKind::Megapay) => &["megapay_pay"],
        (ExchangeKind::Confirm, _) => &["mbank_confirm"],
        (_, PaymentKind::Qr) => &["qr_status"],
        _ if payment.gateway_number.is_some() && !is_claimed => &["payment_status", "provider_status"],
        _ => &["provider_status"],
    }
}

fn moment(at: Millis) -> String {
    let time = OffsetDateTime::from_unix_timestamp_nanos(i128::from(at) * 1_000_000).ok();
    time.and_then(|time| time.format(&Rfc3339).ok()).unwrap_or_else(|| at.to_string())
}
