//! Deliveries of events: repeated, late, out of order, over a broken connection, to a shop that is killed, after a restore of the server.

use std::{fs, path::Path, sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{Killed, Sequence, Timing, history};
use crate::{
    backend::OpeningFault,
    case::{Case, Loss, Order, StepResult, Truth},
    event::{Event, new_id, now_s},
    http::{self, BreakOff},
    pay_method::PayMethod,
    shop::Names,
};

pub(super) async fn twice(case: &mut Case, way: PayMethod, timing: Timing, new_id: bool) -> StepResult {
    let order = case.order().await?;
    let event = case.pay(&order, way).await?;
    let copy = |event: &Event| if new_id { event.renamed() } else { event.clone() };
    match timing {
        Timing::AfterEachOther => {
            for _ in 0..3 {
                case.deliver(&copy(&event)).await;
            }
        }
        Timing::AtOnce(count) => {
            let messages = (0..count).map(|_| case.signed(&copy(&event))).collect();
            case.post_at_once("checkout.paid", messages).await;
            case.deliver(&event).await;
        }
        Timing::AfterAll => {
            let events = history(case, &order).await?;
            case.deliver_all(&events).await;
            case.deliver_all(&[copy(&event), copy(&events[0]), copy(&event)]).await;
        }
    }
    case.expect(&order, Truth::Paid).await
}

pub(super) async fn late(case: &mut Case, way: PayMethod, pause: Duration) -> StepResult {
    let order = case.order().await?;
    let event = case.pay(&order, way).await?;
    case.open_return(&order, "", None, true).await?;
    sleep(pause).await;
    case.open_return(&order, "statusCode=200", None, true).await?;
    case.deliver(&event).await;
    case.expect(&order, Truth::Paid).await
}

pub(super) async fn sequence_of(case: &mut Case, way: PayMethod, sequence: Sequence) -> StepResult {
    let order = case.order().await?;
    case.pay(&order, way).await?;
    let mut events = history(case, &order).await?;
    match sequence {
        Sequence::Backwards => events.reverse(),
        Sequence::PaidFirst => {
            let paid = events.pop();
            events.splice(0..0, paid);
        }
        Sequence::AtOnce => {
            let messages = events.iter().map(|event| case.signed(event)).collect();
            case.post_at_once("all events", messages).await;
        }
        Sequence::TwiceOver => events.extend(events.clone()),
    }
    case.deliver_all(&events).await;
    case.expect(&order, Truth::Paid).await
}

pub(super) async fn broken_off(case: &mut Case, way: PayMethod, how: BreakOff) -> StepResult {
    let order = case.order().await?;
    let event = case.pay(&order, way).await?;
    let message = case.signed(&event);
    let sent = http::break_off(&case.stage.shop.events_url(), &message.headers, &message.body, how).await;
    case.say(format!(
        "the connection of checkout.paid breaks off ({})",
        sent.map_or_else(|error| error.to_string(), |()| "as meant".to_owned())
    ));
    case.check_shop().await?;
    case.deliver(&event).await;
    case.deliver(&event).await;
    case.expect(&order, Truth::Paid).await
}

pub(super) async fn shop_killed(case: &mut Case, way: PayMethod, killed: Killed) -> StepResult {
    let order = case.order().await?;
    if killed == Killed::BeforePayment {
        case.restart().await?;
    }
    let event = case.pay(&order, way).await?;
    match killed {
        Killed::BeforePayment => {}
        Killed::BeforeEvent => {
            case.stage.shop.kill().await;
            let message = case.signed(&event);
            let _down = case.post("checkout.paid, while the shop is down", &message).await;
            case.stage.shop.start().await?;
        }
        Killed::DuringEvent => {
            let message = case.signed(&event);
            let url = case.stage.shop.events_url();
            let _sent = http::break_off(&url, &message.headers, &message.body, BreakOff::BeforeAnswer).await;
            case.restart().await?;
        }
        Killed::AfterEvent | Killed::BetweenCopies => {
            case.deliver(&event).await;
            case.restart().await?;
        }
    }
    if killed != Killed::AfterEvent {
        case.deliver(&event).await;
    }
    case.expect(&order, Truth::Paid).await
}

pub(super) async fn opening(case: &mut Case, fault: OpeningFault) -> StepResult {
    let (answer, opened) = case.try_order(fault, None).await?;
    case.say(format!("the shop answers HTTP {} to the order", answer.status));
    case.check_shop().await?;
    if let Some(opened) = opened {
        // The answer shows the order only if the shop knows it.
        let order = Order { opened, answer: answer.text() };
        if case.stage.shop.says_paid(&order.answer, &Names::default()) == Some(true) {
            case.lose(Loss::PayerMisled, "the shop says that an order is paid that was only opened");
        }
        case.expect(&order, Truth::Unpaid).await?;
    }
    let next = case.order().await?;
    let event = case.pay(&next, PayMethod::PayForm).await?;
    case.deliver(&event).await;
    case.expect(&next, Truth::Paid).await
}

pub(super) async fn reported_again(case: &mut Case, way: PayMethod) -> StepResult {
    let order = case.order().await?;
    case.pay(&order, way).await?;
    let events = history(case, &order).await?;
    case.deliver_all(&events).await;
    let again: Vec<Event> = events
        .iter()
        .map(|event| {
            event.altered(|event| {
                event["id"] = new_id().into();
                event["data"]["version"] = 1.into();
                event["data"]["number"] = 1.into();
                event["timestamp_ms"] = (now_s() * 1000).into();
            })
        })
        .collect();
    case.say("the server is restored and sends its events again, with new identifiers and lower versions");
    case.deliver_all(&again).await;
    case.expect(&order, Truth::Paid).await
}

pub(super) async fn history_again(case: &mut Case, way: PayMethod) -> StepResult {
    let order = case.order().await?;
    case.pay(&order, way).await?;
    let events = history(case, &order).await?;
    case.deliver_all(&events).await;
    let expired = case.invented(&order, "checkout.expired");
    let mut again = events.clone();
    again.push(expired);
    again.extend(events.iter().map(Event::renamed));
    case.say("the server is restored: the same events again, an expiry, and the payment once more");
    case.deliver_all(&again).await;
    case.expect(&order, Truth::Paid).await
}

/// The server's database is restored to a moment before the payment.
pub(super) async fn restored(case: &mut Case, way: PayMethod) -> StepResult {
    let stage = Arc::clone(&case.stage);
    let Some(server) = &stage.backend.server else {
        return Err("there is no server".to_owned());
    };
    let order = case.order().await?;
    let number = case.begin(&order, way).await?;
    server.kill().await;
    let backup = server.folder.join("backup");
    copy_database(&server.folder, &backup)?;
    server.start().await?;
    case.charge(&number).await?;
    let first = case.paid_event(&order).await?;
    let events = history(case, &order).await?;
    case.deliver_all(&events).await;
    server.kill().await;
    copy_database(&backup, &server.folder)?;
    server.start().await?;
    case.say("the server's database is restored to a moment before the payment");
    let again = case
        .stage
        .backend
        .report(&order.opened.reference, |event| event.kind() == "checkout.paid" && event.id != first.id)
        .await?;
    case.deliver(&again).await;
    case.expect(&order, Truth::Paid).await
}

pub(super) fn copy_database(from: &Path, to: &Path) -> StepResult {
    let failed = |error: std::io::Error| format!("the server's database cannot be copied: {error}");
    fs::create_dir_all(to).map_err(failed)?;
    for name in ["kassa.db", "kassa.db-wal", "kassa.db-shm"] {
        let _absent = fs::remove_file(to.join(name));
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).map_err(failed)?;
        }
    }
    Ok(())
}
