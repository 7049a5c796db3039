//! Follows a payment to its end, or everything that an earlier run left unfinished.

use kassa::{JournalEntry, Unfinished};
use serde_json::{Value, json};

use super::{
    Ended, resume,
    status::{nothing_named, payment_of},
    worst,
};
use crate::{
    args::WatchArgs,
    failure::{AS_EXPECTED, Failure, NOT_KNOWN},
    flows::Flow,
    json_output,
    report::{Outcome, Report},
    setup::Checkout,
    table,
};

/// Watches.
pub(super) async fn run(shop: &Checkout, args: &WatchArgs) -> Result<Ended, Failure> {
    if args.resume {
        return resume_all(shop).await;
    }
    let payment = payment_of(&args.subject, &args.asked_for)?.ok_or_else(nothing_named)?;
    shop.introduce();
    shop.narrator.title(&format!("Watching {payment}"));
    let payment = shop.payments.with_known_number(&payment)?;
    let flow = match shop.payments.entry(&payment)? {
        Some(mut entry) => {
            entry.payment = payment;
            Flow::resume(shop, &entry, "watch")?
        }
        None => Flow::bare(shop, payment, "watch")?,
    };
    let report = flow.follow().await;
    Ok(Ended { exit_code: report.exit_code(), body: json_output::report(&report) })
}

async fn resume_all(shop: &Checkout) -> Result<Ended, Failure> {
    shop.introduce();
    shop.narrator.title("Payments that an earlier run left unfinished");
    let elsewhere = tell_what_is_elsewhere(shop)?;
    let (entries, unreadable) = unfinished(shop)?;
    if entries.is_empty() && unreadable == 0 {
        shop.narrator.step("nothing", "to recover with this gateway");
    }
    let reports = resume::run(shop, &entries).await?;
    if reports.len() > 1 {
        shop.narrator.print(&format!("\n{}", table::of(&reports)));
    }
    let for_a_person = if unreadable == 0 { AS_EXPECTED } else { NOT_KNOWN };
    let exit_code = worst(reports.iter().map(exit_code_of).chain([for_a_person]));
    let payments: Vec<Value> = reports.iter().map(json_output::report).collect();
    let body = json!({"payments": payments, "unreadable": unreadable, "left_alone": elsewhere});
    Ok(Ended { exit_code, body })
}

/// What is to be followed, and how many entries nobody can read.
fn unfinished(shop: &Checkout) -> Result<(Vec<JournalEntry>, usize), Failure> {
    let (mut entries, mut unreadable) = (Vec::new(), 0);
    for item in shop.payments.unfinished()? {
        match item {
            Unfinished::Payment { entry } => entries.push(*entry),
            Unfinished::Unreadable { id, why } => {
                shop.narrator.warn("journal", &format!("a person has to look at the entry {id}: it {why}"));
                unreadable += 1;
            }
            other => shop.narrator.warn("journal", &format!("not known to this program: {other:?}")),
        }
    }
    Ok((entries, unreadable))
}

/// A resumed payment has done what is expected when it has come to its end, whichever.
fn exit_code_of(report: &Report) -> u8 {
    if report.outcome == Outcome::Rejected { AS_EXPECTED } else { report.exit_code() }
}

/// Payments of another gateway cannot be queried here.
fn tell_what_is_elsewhere(shop: &Checkout) -> Result<usize, Failure> {
    let elsewhere = shop.payments.elsewhere()?;
    for (folder, count) in &elsewhere {
        shop.narrator.step("elsewhere", &format!("{count} in {}: left alone", folder.display()));
    }
    Ok(elsewhere.iter().map(|(_, count)| count).sum())
}
