//! Follows unfinished payments to their ends, all at once: one that stays open must not keep the others waiting.

use futures_util::future::{join, join_all};
use kassa::{JournalEntry, JournalState, PaymentError, Recovered, RecoveryPolicy};

use crate::{
    failure::Failure,
    flows::Flow,
    report::{Outcome, Report},
    setup::Checkout,
};

/// Recovers what has a number of its own. Pay-forms and QR pictures have none, or one that was only claimed, and the payer may
/// try again under another: they are followed by their callbacks, too.
pub(super) async fn run(shop: &Checkout, entries: &[JournalEntry]) -> Result<Vec<Report>, Failure> {
    let flows = entries.iter().map(|entry| begin(shop, entry, entries.len() > 1));
    let flows = flows.collect::<Result<Vec<_>, Failure>>()?;
    let (own, others): (Vec<_>, Vec<_>) = flows.into_iter().partition(|begun| begun.flow.has_own_number());
    let followed = join_all(others.into_iter().map(|begun| begun.flow.follow()));
    let (recovered, followed) = join(recover(shop, own), followed).await;
    Ok(recovered?.into_iter().chain(followed).collect())
}

/// A payment that was found in the journal.
struct Begun<'a> {
    id: String,
    was: JournalState,
    flow: Flow<'a>,
}

fn begin<'a>(shop: &'a Checkout, entry: &JournalEntry, several: bool) -> Result<Begun<'a>, Failure> {
    let mut flow = Flow::resume(shop, entry, "resumed")?;
    flow.name_in_story(several);
    let state = match entry.state {
        JournalState::Unknown => "may have been sent",
        JournalState::Charged => "charged, not delivered",
        JournalState::Mismatch => "for a person to look at",
        _ => "pending",
    };
    flow.narrator.step("listed", &format!("{}: {state}", flow.report.payment));
    Ok(Begun { id: entry.id.clone(), was: entry.state, flow })
}

async fn recover(shop: &Checkout, mut asked: Vec<Begun<'_>>) -> Result<Vec<Report>, Failure> {
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let policy = RecoveryPolicy::default().with_interval(shop.policy.interval).with_deadline(shop.policy.deadline);
    let recovery = shop.gateway.recover(policy)?;
    let _waiting = shop.narrator.waiting("for their ends, asking again and again");
    let mut reports = Vec::new();
    let mut failure = PaymentError::deadline_expired(None);
    while !asked.is_empty() {
        match recovery.next().await {
            Ok(Some(Recovered::Payment { entry })) => {
                if let Some(place) = asked.iter().position(|begun| begun.id == entry.id) {
                    reports.push(end(asked.remove(place).flow, *entry).await);
                }
            }
            // Listed and told before.
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => {
                failure = error;
                break;
            }
        }
    }
    if !asked.is_empty() {
        shop.narrator.warn("watch", &failure.describe());
    }
    for Begun { mut flow, was, .. } in asked {
        flow.report.watch_error = Some(failure.clone());
        flow.report.outcome = match was {
            JournalState::Pending => Outcome::Pending,
            JournalState::Mismatch => Outcome::PersonNeeded,
            _ => Outcome::Unknown,
        };
        reports.push(flow.finish().await);
    }
    Ok(reports)
}

async fn end(mut flow: Flow<'_>, entry: JournalEntry) -> Report {
    flow.report.outcome = match entry.state {
        JournalState::Charged => Outcome::Charged,
        JournalState::Rejected => Outcome::Rejected,
        _ => Outcome::PersonNeeded,
    };
    flow.learned(entry.payment);
    flow.finish().await
}
