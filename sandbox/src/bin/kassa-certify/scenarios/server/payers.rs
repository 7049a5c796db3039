//! Payers who pay, are declined, pay twice or late, or come back without paying.

use std::time::Duration;

use axum::http::Method;
use serde_json::Value;

use super::{Ended, Overpaid, filled, history};
use crate::{
    backend::OpeningFault,
    case::{Case, Loss, Order, StepResult, Truth},
    event::Event,
    pay_method::PayMethod,
    scenarios::way,
};

/// Queries with which a payer opens the return page without having paid, and whether it is a posted form.
pub(super) const RETURNS: [(&str, &str, bool); 8] = [
    ("plain", "", false),
    ("code", "statusCode=200", false),
    ("order-and-code", "OrderNumber={reference}&statusCode=200", false),
    ("status", "status=paid&success=true&paid=1", false),
    ("charge", "OrderNumber={reference}&status=CHARGE&amount={amount}", false),
    ("event-in-query", "type=checkout.paid&reference={reference}", false),
    ("form", "OrderNumber={reference}&statusCode=200", true),
    ("posted-status", "status=CHARGE&type=checkout.paid", true),
];

pub(super) async fn paid(case: &mut Case, way: PayMethod, comes_back: bool) -> StepResult {
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

pub(super) async fn declined(case: &mut Case, way: PayMethod, then_paid: bool) -> StepResult {
    let order = case.order().await?;
    let number = case.begin(&order, way).await?;
    case.stage.backend.decline(&number).await?;
    case.say("the gateway declines the payment");
    if way != PayMethod::PayForm {
        // A pay-form can still be paid after a decline, so the server does not call it rejected.
        case.event(&order, "payment.rejected").await?;
    }
    let events = case.stage.backend.reported(&order.opened.reference);
    let upto = events.len();
    case.deliver_all(&events[..upto]).await;
    case.open_return(&order, "statusCode=200", None, false).await?;
    if !then_paid {
        return case.expect(&order, Truth::Unpaid).await;
    }
    case.pay(&order, if way == PayMethod::PayForm { PayMethod::Qr } else { way }).await?;
    let events = history(case, &order).await?;
    case.deliver_all(&events[upto..]).await;
    case.expect(&order, Truth::Paid).await
}

pub(super) async fn after_the_end(case: &mut Case, way: PayMethod, ended: Ended) -> StepResult {
    let lifetime = (ended == Ended::Expired).then_some(60);
    let order = case.order_with(OpeningFault::None, lifetime).await?;
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

/// Waits for the event of a checkout's end. A checkout lives for at least a minute, which is longer than one wait.
pub(super) async fn expired(case: &mut Case, order: &Order, kind: &str) -> StepResult<Event> {
    for _ in 0..2 {
        if let Ok(event) = case.event(order, kind).await {
            return Ok(event);
        }
    }
    case.event(order, kind).await
}

pub(super) async fn overpaid_order(
    case: &mut Case,
    other: PayMethod,
    is_form_first: bool,
    overpaid: Overpaid,
) -> StepResult {
    let order = case.order().await?;
    let mut numbers = [case.begin(&order, PayMethod::PayForm).await?, case.begin(&order, other).await?];
    if !is_form_first {
        numbers.reverse();
    }
    case.charge(&numbers[0]).await?;
    let paid = case.paid_event(&order).await?;
    case.charge(&numbers[1]).await?;
    let surplus = case.event(&order, "checkout.overpaid").await?;
    let refund = case.invented(&order, "checkout.refund_recorded").altered(|event| {
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

pub(super) async fn crowd(case: &mut Case, count: usize, pays: usize) -> StepResult {
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

pub(super) async fn returned(case: &mut Case, index: usize) -> StepResult {
    let (_, query, is_form) = RETURNS[index];
    let order = case.order().await?;
    let query = filled(query, &order);
    let (query, form) = if is_form { ("", Some(query.as_str())) } else { (query.as_str(), None) };
    case.open_return(&order, query, form, false).await?;
    case.open_return(&order, "", None, false).await?;
    case.check_shop().await?;
    case.expect(&order, Truth::Unpaid).await
}

pub(super) async fn unreported(case: &mut Case, way: PayMethod) -> StepResult {
    let order = case.order().await?;
    case.pay(&order, way).await?;
    case.open_return(&order, "statusCode=200", None, true).await?;
    let Some(limit) = case.stage.shop.options.polls_within else {
        if !case.has_queried(&order, Duration::ZERO).await {
            case.remarks.push(
                "the shop does not poll the server. After three days of failed deliveries this order is never delivered: read GET /v1/events, \
                 and set polls_within to check it"
                    .to_owned(),
            );
        }
        return case.expect(&order, Truth::Open).await;
    };
    if !case.has_queried(&order, Duration::from_secs(limit)).await {
        case.lose(
            Loss::PaidUndelivered,
            format!("no event arrived, and the shop did not query the status within {limit} s"),
        );
    }
    case.expect(&order, Truth::Paid).await
}
