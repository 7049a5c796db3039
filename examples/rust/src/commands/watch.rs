//! Follows a payment to its end, or every one that an earlier run left open.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{
    Ended,
    status::{nothing_named, payment_of},
    worst,
};
use crate::{
    args::WatchArgs,
    failure::{AS_EXPECTED, Failure},
    flows::Flow,
    json_output,
    report::{Outcome, Report},
    setup::{Checkout, SANDBOX_IN_MEMORY},
    store::{Entry, State},
    table,
};

/// Watches.
pub(super) async fn run(shop: &Checkout, args: &WatchArgs) -> Result<Ended, Failure> {
    if args.resume {
        return resume(shop).await;
    }
    let payment = payment_of(&args.subject, &args.asked_for)?.ok_or_else(nothing_named)?;
    shop.introduce();
    shop.narrator.title(&format!("Watching {payment}"));
    let stored = shop.store.entries()?.into_iter().rev().find(|entry| {
        entry.payment == payment.to_string() && entry.gateway == shop.gateway_name && entry.state == State::Open
    });
    let flow = match &stored {
        Some(entry) => Flow::resume(shop, entry, "watch")?,
        None => Flow::bare(shop, payment, "watch"),
    };
    let report = flow.follow().await;
    Ok(Ended { exit_code: report.exit_code(), body: json_output::report(&report) })
}

/// All at once: one that stays open must not keep the others waiting.
async fn resume(shop: &Checkout) -> Result<Ended, Failure> {
    shop.introduce();
    shop.narrator.title("Payments that an earlier run left open");
    let (here, elsewhere): (Vec<Entry>, Vec<Entry>) = shop
        .store
        .entries()?
        .into_iter()
        .filter(|entry| entry.state == State::Open)
        .partition(|entry| entry.gateway == shop.gateway_name && entry.gateway != SANDBOX_IN_MEMORY);
    for entry in &elsewhere {
        leave(shop, entry)?;
    }
    if here.is_empty() {
        shop.narrator.step("nothing", "is open with this gateway");
    }
    let several = here.len() > 1;
    let flows = here.iter().map(|entry| {
        let mut flow = Flow::resume(shop, entry, "resumed")?;
        flow.name_in_story(several);
        flow.narrator.step("open", &flow.report.payment.to_string());
        Ok(flow.follow())
    });
    let reports = join_all(flows.collect::<Result<Vec<_>, Failure>>()?).await;
    if several {
        shop.narrator.print(&format!("\n{}", table::of(&reports)));
    }
    let exit_code = worst(reports.iter().map(exit_code_of));
    let payments: Vec<Value> = reports.iter().map(json_output::report).collect();
    Ok(Ended { exit_code, body: json!({"payments": payments, "left_alone": elsewhere.len()}) })
}

/// A resumed payment has done what is expected when it has come to its end, whichever.
fn exit_code_of(report: &Report) -> u8 {
    if report.outcome == Outcome::Rejected { AS_EXPECTED } else { report.exit_code() }
}

/// A payment of another gateway cannot be asked about here; one of a sandbox in memory nowhere.
fn leave(shop: &Checkout, entry: &Entry) -> Result<(), Failure> {
    if entry.gateway != SANDBOX_IN_MEMORY {
        shop.narrator.step("elsewhere", &format!("{} is open with {}: left alone", entry.payment, entry.gateway));
        return Ok(());
    }
    shop.narrator.step("gone", &format!("{} was in a sandbox that kept it in memory and has ended", entry.payment));
    shop.store.update(&entry.reference, |entry| entry.state = State::Gone)
}
