//! The end of a schedule: the gateway and the shop answer again, payers decide, time passes, and everything comes to its
//! end. Then the books are compared.

use std::{
    thread,
    time::{Duration, Instant},
};

use kassa_sandbox::Payment;
use serde_json::json;

use crate::{
    api::Caller,
    books, gateway_side,
    keeper::Keeper,
    ledger::Row,
    play::{Play, no},
    program::longest,
    secrets,
};

/// Longer than any lease and any pause that is left.
const LONG: Duration = Duration::from_secs(15 * 60);
/// After which time the calendar is moved on to what is due next.
const STEP: Duration = Duration::from_secs(1);

pub fn record(play: &mut Play) -> Result<(), String> {
    let scene = play.scene.clone();
    scene.story.tell("everything comes to its end");
    scene.sandbox.faults().clear();
    scene.shop.fails(0);
    for which in 0..play.servers.len() {
        if play.random.bool() {
            play.end(which)?;
        } else if let Some(server) = play.servers[which].take() {
            server.kill();
        }
    }
    if let Keeper::Fleet(fleet) = &scene.keeper {
        fleet.is_healed();
    }
    let rows = scene.ledger().rows();
    everybody_decides(play, &rows);
    play.time_passes(LONG);
    play.start(0)?;
    if play.random.bool() {
        play.start(1)?;
    }
    call_back_about_pages(play, &rows)?;

    let begun = Instant::now();
    let mut stepped = begun;
    loop {
        scene.read_events(0);
        let missing = books::missing(&scene);
        if missing.is_empty() {
            break;
        }
        if begun.elapsed() > longest() {
            return Err(missing.join("\n"));
        }
        if stepped.elapsed() > STEP {
            stepped = Instant::now();
            play.time_passes(2 * 60 * STEP);
        }
        thread::sleep(Duration::from_millis(30));
    }
    for which in 0..play.servers.len() {
        play.end(which)?;
    }
    no(books::broken(&scene))?;
    no(books::missing(&scene))?;
    no(secrets::found(&scene))
}

/// Nobody pays on a page or by a code that was shown to nobody.
fn everybody_decides(play: &mut Play, rows: &[Row]) {
    let sandbox = &play.scene.sandbox;
    let is_shown = |payment: &Payment| {
        rows.iter().any(|row| row.was_shown() && row.booked(std::slice::from_ref(payment)).is_some())
    };
    for payment in sandbox.payments().iter().filter(|payment| !payment.status.is_final()) {
        let approves = is_shown(payment) && play.random.bool();
        play.scene.story.tell(format!("the payer of {} pays: {approves}", payment.gateway_number));
        // A payer whose payment hangs leaves the decision to the provider.
        for _ in 0..2 {
            gateway_side::decide(sandbox, &payment.gateway_number, approves);
        }
    }
}

/// Callbacks are all that tells of a page. Where the gateway's own was lost, its staff sends it again.
fn call_back_about_pages(play: &Play, rows: &[Row]) -> Result<(), String> {
    let books = play.scene.sandbox.payments();
    for (index, row) in rows.iter().filter(|row| row.method == "pay_form").enumerate() {
        let Some(payment) = row.booked(&books) else { continue };
        let body = json!({
            "orderNumber": payment.order_number, "amount": 390, "currency": payment.currency,
            "status": payment.status.as_str(), "dateCreated": "2026-11-20T09:05:07", "provider": "Cards",
        });
        // As other gateways write it: without most fields, or inside an envelope.
        let body = match index % 3 {
            0 => body,
            1 => json!({ "OrderNumber": payment.order_number, "amount": null }),
            _ => json!({ "code": "200", "data": body }),
        };
        let path = format!("/callbacks/{}/{}", row.callback_secret, row.id.trim_start_matches("pay_"));
        let caller = Caller::new(play.scene.plans[0].address, "");
        let mut called = caller.post(&path, &body);
        // A busy disk makes it say "not now", and a gateway calls again.
        for _ in 0..5 {
            if !matches!(&called, Ok(answer) if answer.status == 503) {
                break;
            }
            called = caller.post(&path, &body);
        }
        let status = called.map(|answer| answer.status);
        play.scene.story.tell(format!("called back about {}: {status:?}", row.id));
        if !matches!(status, Ok(200)) {
            return Err(format!("a callback was answered with {status:?}"));
        }
    }
    Ok(())
}
