//! Polling: queries the gateway for due payments, and records the results. Any number of workers do this concurrently: the
//! lease of a poll is its schedule, so a dead worker's poll simply becomes due again.

use std::sync::Arc;

use futures_util::{StreamExt, future::join_all, stream::FuturesUnordered};
use kassa::{PaymentError, PaymentGateway, PaymentStatus::Charged, Verdict};
use tokio::{runtime::Handle, task::JoinSet};
use tracing::Instrument;

use crate::{
    metrics::Metrics,
    pace::queues::Slots,
    payments::exchange::Exchange,
    runtime::{Boxed, Runtime},
    storage::{
        Storage,
        inputs::{ClaimPolls, PollResult, Report, StatusReport, Sweep},
        outputs::{DuePoll, StatusQuery},
    },
    telemetry,
    values::{CheckoutId, Millis, PaymentId, error::ServerError},
};

/// The most of each kind in one sweep.
const SWEPT: u32 = 100;
/// The most results that share a commit.
const RECORDED: usize = 64;

/// The result of one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PollSummary {
    /// The number of polled payments.
    pub queried: usize,
    /// The time until the next poll is due, if one waits.
    pub next_in_ms: Option<Millis>,
}

/// Listeners for changed checkouts.
pub(crate) type Notify<'a> = &'a (dyn Fn(&CheckoutId) + Send + Sync);

/// Sweeps. True if there may be more to sweep.
pub(crate) async fn sweep(storage: &dyn Storage, keep_for_ms: Millis, notify: Notify<'_>) -> Result<bool, ServerError> {
    let swept = storage.sweep(Sweep { most: SWEPT, keep_for_ms }).await?;
    swept.changed.iter().for_each(notify);
    Ok(swept.is_more)
}

/// Queries in flight.
pub(crate) struct PollBatch {
    pub(crate) queries: Vec<Boxed<'static, PollResult>>,
    /// The free slots.
    pub(crate) places: Slots,
    /// The time until the next poll may start, if one waits.
    pub(crate) next_in_ms: Option<Millis>,
}

/// Claims due polls, each as a future of its result, and returns when the next one is due.
pub(crate) async fn claim(
    storage: &dyn Storage,
    gateway: &Arc<dyn PaymentGateway>,
    runtime: &dyn Runtime,
    claim: ClaimPolls,
) -> Result<PollBatch, ServerError> {
    let mut places = claim.places;
    let claimed = storage.claim_polls(claim).await?;
    let mut queries: Vec<Boxed<'static, PollResult>> = Vec::new();
    for question in claimed.questions {
        let mut random = [0; 4];
        runtime.fill(&mut random)?;
        places.take(question.method);
        queries.push(Box::pin(in_task(poll(gateway.clone(), question, u32::from_le_bytes(random)))));
    }
    Ok(PollBatch { queries, places, next_in_ms: claimed.next_in_ms })
}

/// Records results.
pub(crate) async fn record(
    storage: &dyn Storage,
    metrics: &Metrics,
    answers: Vec<PollResult>,
    notify: Notify<'_>,
) -> Result<(), ServerError> {
    answers.iter().flat_map(|answered| &answered.reports).for_each(|one| metrics.queried(word(&one.report)));
    storage.record_poll_results(answers).await?.changed.iter().for_each(notify);
    Ok(())
}

/// One turn: a sweep, then a batch of queries, recorded as they are answered.
pub(crate) async fn poll_once(
    storage: &dyn Storage,
    gateway: &Arc<dyn PaymentGateway>,
    runtime: &dyn Runtime,
    metrics: &Metrics,
    wanted: ClaimPolls,
    keep_for_ms: Millis,
    notify: Notify<'_>,
) -> Result<PollSummary, ServerError> {
    sweep(storage, keep_for_ms, notify).await?;
    let PollBatch { queries, next_in_ms, .. } = claim(storage, gateway, runtime, wanted).await?;
    let queried = queries.len();
    let mut answers = queries.into_iter().collect::<FuturesUnordered<_>>().ready_chunks(RECORDED);
    while let Some(batch) = answers.next().await {
        record(storage, metrics, batch, notify).await?;
    }
    Ok(PollSummary { queried, next_in_ms })
}

/// Runs queries in a task, so that they continue while results are recorded: a slow database must not make them miss their
/// deadlines. Without a runtime, as in simulations, nothing takes time.
async fn in_task(queries: impl Future<Output = PollResult> + Send + 'static) -> PollResult {
    if Handle::try_current().is_err() {
        return queries.await;
    }
    let mut task = JoinSet::new();
    task.spawn(queries.in_current_span());
    match task.join_next().await {
        Some(Ok(answered)) => answered,
        Some(Err(ended)) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
        // The runtime is being shut down.
        _ => std::future::pending().await,
    }
}

async fn poll(gateway: Arc<dyn PaymentGateway>, question: DuePoll, random: u32) -> PollResult {
    let reports =
        join_all(question.queries.into_iter().map(|query| query_status(&*gateway, &question.payment, query))).await;
    let DuePoll { payment, checkout, method, leased_until, .. } = question;
    PollResult { payment, checkout, method, leased_until, reports, random }
}

async fn query_status(gateway: &dyn PaymentGateway, payment: &PaymentId, query: StatusQuery) -> StatusReport {
    let span = telemetry::to_gateway("query_status", payment);
    let result = gateway.check(&query.reference).instrument(span.clone()).await;
    let exchange = Exchange::about(query.claim.as_deref(), &result);
    let report = match result {
        Ok(verdict) => said(verdict),
        Err(error) => not_said(&error),
    };
    telemetry::came_of(&span, word(&report), matches!(report, Report::Failed { .. }));
    StatusReport { claim: query.claim, report, exchange }
}

/// The report by the core's verdict.
fn said(verdict: Verdict) -> Report {
    match verdict {
        Verdict::Charged { payment, .. } => Report::Charged(payment),
        Verdict::Rejected { .. } => Report::Rejected,
        Verdict::Pending { payment, .. } => Report::Pending(payment),
        Verdict::Mismatch { fields, report, .. } => {
            Report::Mismatch { fields, is_charge: report.is_some_and(|report| report.status == Charged) }
        }
        Verdict::Unverifiable { why, report: Some(report), .. } if report.status == Charged => {
            Report::Unverifiable { why }
        }
        _ => Report::Nothing,
    }
}

/// The report of an error, which says nothing about the payment.
fn not_said(error: &PaymentError) -> Report {
    match error {
        // The rate also falls for a gateway that cannot be reached or does not answer in time: it recovers slowly.
        PaymentError::Unavailable { retry_after, .. } => {
            Report::Failed { is_overload: true, retry_after: *retry_after }
        }
        PaymentError::Unauthorized { .. } | PaymentError::Misconfigured { .. } => {
            tracing::warn!(
                target: "kassa_server", kind = error.kind(),
                "status queries fail because of the settings: kassa-server check shows which"
            );
            Report::Failed { is_overload: false, retry_after: None }
        }
        _ => Report::Nothing,
    }
}

/// The label for the metrics.
fn word(report: &Report) -> &'static str {
    match report {
        Report::Charged(_) => "charged",
        Report::Rejected => "rejected",
        Report::Pending(_) => "pending",
        Report::Mismatch { .. } => "mismatch",
        Report::Unverifiable { .. } => "unverifiable",
        Report::Nothing => "nothing",
        Report::Failed { .. } => "failed",
    }
}
