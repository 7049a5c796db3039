//! Scenarios for a shop that calls the gateway itself. Callbacks are not signed, so the shop may deliver only if the gateway's status
//! is charged: a forged callback or return proves nothing.

mod table;

use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use crate::{
    backend::{FalseStatus, OpeningFault},
    case::{Case, Loss, Order, StepResult, Truth},
    event::{Event, Message},
    http::{self, BreakOff},
};
pub(crate) use table::all;
use table::{BODIES, FORGED, RETURNS};

/// How copies of a callback arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copies {
    One,
    AfterEachOther,
    AtOnce(usize),
}

/// When the shop is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Killed {
    BeforePayment,
    BeforeCallback,
    DuringCallback,
    AfterCallback,
    BetweenCopies,
}

/// The steps of a scenario.
#[derive(Clone, Debug)]
pub(crate) enum Script {
    Paid {
        copies: Copies,
        comes_back: bool,
    },
    Declined,
    Late(Duration),
    /// A callback with an older status after the one of the charge.
    Stale(&'static str),
    Forged(usize),
    Body(usize),
    AnotherOrder {
        both_paid: bool,
    },
    Returned(usize),
    /// The status has another value of a member.
    Mismatch {
        member: &'static str,
        value: Value,
    },
    /// The status fails while the callback arrives.
    StatusDown(FalseStatus),
    Unreported {
        comes_back: bool,
    },
    Crowd {
        count: usize,
        pays: usize,
    },
    BrokenOff(BreakOff),
    Killed(Killed),
    Opening(OpeningFault),
}

pub(crate) async fn play(case: &mut Case, script: &Script) -> StepResult {
    match script {
        Script::Paid { copies, comes_back } => paid(case, *copies, *comes_back).await,
        Script::Declined => declined(case).await,
        Script::Late(pause) => late(case, *pause).await,
        Script::Stale(status) => stale(case, status).await,
        Script::Forged(index) => forged(case, *index).await,
        Script::Body(index) => body(case, *index).await,
        Script::AnotherOrder { both_paid } => another_order(case, *both_paid).await,
        Script::Returned(index) => returned(case, *index).await,
        Script::Mismatch { member, value } => mismatch(case, member, value).await,
        Script::StatusDown(lie) => status_down(case, lie).await,
        Script::Unreported { comes_back } => unreported(case, *comes_back).await,
        Script::Crowd { count, pays } => crowd(case, *count, *pays).await,
        Script::BrokenOff(how) => broken_off(case, *how).await,
        Script::Killed(killed) => shop_killed(case, *killed).await,
        Script::Opening(fault) => opening(case, *fault).await,
    }
}

/// The payer pays; the callback of the charge. The shop has not received it yet.
async fn pay(case: &mut Case, order: &Order) -> StepResult<Event> {
    case.charge(&order.opened.id).await?;
    callback(case, order, "CHARGE").await
}

async fn callback(case: &Case, order: &Order, status: &str) -> StepResult<Event> {
    if order.opened.callback_url.is_empty() {
        return Err("the shop names no callback URL".to_owned());
    }
    let key = case.stage.backend.callback_key(&order.opened.id);
    case.stage.backend.report(&key, |callback| callback.value()["status"] == status).await
}

fn message(body: &[u8]) -> Message {
    let kind = if body.starts_with(b"orderNumber=") { "application/x-www-form-urlencoded" } else { "application/json" };
    Message { headers: vec![("content-type".to_owned(), kind.to_owned())], body: body.to_vec() }
}

/// Posts a callback to the shop's callback URL.
async fn post(case: &mut Case, order: &Order, what: &str, body: &[u8]) -> bool {
    let answer = case.post_to(&order.opened.callback_url, what, &message(body)).await;
    answer.is_ok_and(|status| (200..300).contains(&status))
}

/// The gateway sends a callback until the shop answers 2xx.
async fn deliver(case: &mut Case, order: &Order, callback: &Event) -> bool {
    for attempt in 0..4 {
        if post(case, order, "the callback", &callback.body).await {
            return true;
        }
        sleep(Duration::from_millis(200 * (attempt + 1))).await;
    }
    false
}

fn filled(case: &Case, text: &str, order: &Order) -> String {
    let number =
        case.payment(&order.opened.id).map_or_else(|_| order.opened.id.clone(), |payment| payment.order_number);
    let text = text.replace("{number}", &number).replace("{reference}", &order.opened.reference);
    text.replace("{amount}", &order.opened.amount)
}

async fn paid(case: &mut Case, copies: Copies, comes_back: bool) -> StepResult {
    let order = case.order().await?;
    case.open_return(&order, "", None, false).await?;
    let callback = pay(case, &order).await?;
    let body = message(&callback.body);
    if comes_back {
        let query = filled(case, "OrderNumber={number}&statusCode=200", &order);
        case.open_return(&order, &query, None, true).await?;
    }
    match copies {
        Copies::One => {}
        Copies::AfterEachOther => {
            for _ in 0..2 {
                deliver(case, &order, &callback).await;
            }
        }
        Copies::AtOnce(count) => case.post_all_to(&order.opened.callback_url, "the callback", vec![body; count]).await,
    }
    deliver(case, &order, &callback).await;
    case.expect(&order, Truth::Paid).await
}

async fn declined(case: &mut Case) -> StepResult {
    let order = case.order().await?;
    case.stage.backend.decline(&order.opened.id).await?;
    case.say("the gateway declines the payment");
    let callback = callback(case, &order, "Reject").await?;
    deliver(case, &order, &callback).await;
    case.open_return(&order, "statusCode=200", None, false).await?;
    case.expect(&order, Truth::Unpaid).await
}

async fn late(case: &mut Case, pause: Duration) -> StepResult {
    let order = case.order().await?;
    let callback = pay(case, &order).await?;
    sleep(pause).await;
    case.open_return(&order, "statusCode=200", None, true).await?;
    deliver(case, &order, &callback).await;
    case.expect(&order, Truth::Paid).await
}

async fn stale(case: &mut Case, status: &str) -> StepResult {
    let order = case.order().await?;
    let callback = pay(case, &order).await?;
    deliver(case, &order, &callback).await;
    let mut older = callback.value();
    older["status"] = status.into();
    post(case, &order, &format!("a callback with {status}"), older.to_string().as_bytes()).await;
    deliver(case, &order, &callback).await;
    case.expect(&order, Truth::Paid).await
}

async fn forged(case: &mut Case, index: usize) -> StepResult {
    let (name, text) = FORGED[index];
    let order = case.order().await?;
    let body = filled(case, text, &order);
    post(case, &order, &format!("a forged callback ({name})"), body.as_bytes()).await;
    case.open_return(&order, "statusCode=200", None, false).await?;
    case.check_shop().await?;
    case.expect(&order, Truth::Unpaid).await
}

async fn body(case: &mut Case, index: usize) -> StepResult {
    let (name, text) = BODIES[index];
    let order = case.order().await?;
    let body = match name {
        "deep" => "[".repeat(50_000).into_bytes(),
        "large" => format!("{{\"status\":\"CHARGE\",\"x\":\"{}\"}}", "x".repeat(1_000_000)).into_bytes(),
        "not-utf8" => [b"{\"status\":\"CHARGE\",\"x\":\"".as_slice(), &[0xff, 0xfe, 0x00], b"\"}"].concat(),
        _ => text.as_bytes().to_vec(),
    };
    post(case, &order, &format!("a body that is not a callback ({name})"), &body).await;
    case.check_shop().await?;
    case.expect(&order, Truth::Unpaid).await
}

async fn another_order(case: &mut Case, both_paid: bool) -> StepResult {
    let (first, second) = (case.order().await?, case.order().await?);
    let callback = pay(case, &first).await?;
    post(case, &second, "the callback of the first order, at the address of the second one", &callback.body).await;
    if both_paid {
        let own = pay(case, &second).await?;
        post(case, &first, "the callback of the second order, at the address of the first one", &own.body).await;
        deliver(case, &second, &own).await;
    }
    deliver(case, &first, &callback).await;
    case.expect(&first, Truth::Paid).await?;
    case.expect(&second, if both_paid { Truth::Paid } else { Truth::Unpaid }).await
}

async fn returned(case: &mut Case, index: usize) -> StepResult {
    let (_, query, is_form) = RETURNS[index];
    let order = case.order().await?;
    let query = filled(case, query, &order);
    let (query, form) = if is_form { ("", Some(query.as_str())) } else { (query.as_str(), None) };
    case.open_return(&order, query, form, false).await?;
    case.open_return(&order, "", None, false).await?;
    case.expect(&order, Truth::Unpaid).await
}

async fn mismatch(case: &mut Case, member: &'static str, value: &Value) -> StepResult {
    let order = case.order().await?;
    case.lie(&order.opened.id, Some(&FalseStatus::Member(member, value.clone())))?;
    let callback = pay(case, &order).await?;
    case.say(format!("the gateway's status has {member} {value}"));
    let mut altered = callback.value();
    altered[member] = value.clone();
    post(case, &order, "the same in the callback", altered.to_string().as_bytes()).await;
    post(case, &order, "the callback", &callback.body).await;
    case.open_return(&order, "statusCode=200", None, false).await?;
    case.expect(&order, Truth::Unpaid).await
}

async fn status_down(case: &mut Case, lie: &FalseStatus) -> StepResult {
    let order = case.order().await?;
    let callback = pay(case, &order).await?;
    case.lie(&order.opened.id, Some(lie))?;
    let mut is_taken = post(case, &order, "the callback, while the status fails", &callback.body).await;
    case.open_return(&order, "statusCode=200", None, true).await?;
    case.lie(&order.opened.id, None)?;
    case.say("the status works again");
    if !is_taken {
        is_taken = deliver(case, &order, &callback).await;
    }
    case.say(if is_taken {
        "the gateway does not send the callback again"
    } else {
        "the shop does not accept the callback"
    });
    case.expect(&order, Truth::Paid).await
}

async fn unreported(case: &mut Case, comes_back: bool) -> StepResult {
    let order = case.order().await?;
    pay(case, &order).await?;
    if comes_back {
        let query = filled(case, "OrderNumber={number}&statusCode=200", &order);
        case.open_return(&order, &query, None, true).await?;
    }
    match case.stage.shop.options.polls_within {
        None => {
            if !case.has_queried(&order, Duration::ZERO).await {
                let remark = "the shop does not poll the gateway: without a callback, a paid order is never delivered. Poll open payments, and set polls_within to check it";
                case.remarks.push(remark.to_owned());
            }
            case.expect(&order, Truth::Open).await
        }
        Some(limit) => {
            if !case.has_queried(&order, Duration::from_secs(limit)).await {
                case.lose(
                    Loss::PaidUndelivered,
                    format!("no callback arrived, and the shop did not query the status within {limit} s"),
                );
            }
            case.expect(&order, Truth::Paid).await
        }
    }
}

async fn crowd(case: &mut Case, count: usize, pays: usize) -> StepResult {
    let mut orders = Vec::new();
    for _ in 0..count {
        orders.push(case.order().await?);
    }
    for (index, order) in orders.iter().enumerate() {
        if index < pays {
            let callback = pay(case, order).await?;
            case.post_all_to(&order.opened.callback_url, "the callback", vec![message(&callback.body); 2]).await;
            deliver(case, order, &callback).await;
        }
    }
    for (index, order) in orders.iter().enumerate() {
        case.expect(order, if index < pays { Truth::Paid } else { Truth::Unpaid }).await?;
    }
    Ok(())
}

async fn broken_off(case: &mut Case, how: BreakOff) -> StepResult {
    let order = case.order().await?;
    let callback = pay(case, &order).await?;
    let sent = message(&callback.body);
    let ended = http::break_off(&order.opened.callback_url, &sent.headers, &sent.body, how).await;
    case.say(format!(
        "the connection of the callback breaks off ({})",
        ended.map_or_else(|error| error.to_string(), |()| "as meant".to_owned())
    ));
    case.check_shop().await?;
    deliver(case, &order, &callback).await;
    case.expect(&order, Truth::Paid).await
}

async fn shop_killed(case: &mut Case, killed: Killed) -> StepResult {
    let order = case.order().await?;
    if killed == Killed::BeforePayment {
        case.restart().await?;
    }
    let callback = pay(case, &order).await?;
    match killed {
        Killed::BeforePayment => {}
        Killed::BeforeCallback => {
            case.stage.shop.kill().await;
            post(case, &order, "the callback, while the shop is down", &callback.body).await;
            case.stage.shop.start().await?;
        }
        Killed::DuringCallback => {
            let sent = message(&callback.body);
            let _sent =
                http::break_off(&order.opened.callback_url, &sent.headers, &sent.body, BreakOff::BeforeAnswer).await;
            case.restart().await?;
        }
        Killed::AfterCallback | Killed::BetweenCopies => {
            deliver(case, &order, &callback).await;
            case.restart().await?;
        }
    }
    if killed != Killed::AfterCallback {
        deliver(case, &order, &callback).await;
    }
    case.expect(&order, Truth::Paid).await
}

async fn opening(case: &mut Case, fault: OpeningFault) -> StepResult {
    let (answer, opened) = case.try_order(fault, None).await?;
    case.say(format!("the shop answers HTTP {} to the order", answer.status));
    case.check_shop().await?;
    if let Some(opened) = opened {
        let order = Order { opened, answer: answer.text() };
        case.expect(&order, Truth::Unpaid).await?;
    }
    let next = case.order().await?;
    let callback = pay(case, &next).await?;
    deliver(case, &next, &callback).await;
    case.expect(&next, Truth::Paid).await
}
