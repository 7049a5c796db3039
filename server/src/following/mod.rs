//! Following: asks the gateway about what is due, and settles what it answers. Any number of workers do this side by side:
//! the lease of a question is its schedule, so that a dead worker's question is simply asked at its next time.

use futures_util::{StreamExt, future::join_all, stream::FuturesUnordered};
use kassa::{PaymentError, PaymentGateway, Verdict};

use crate::{
    metrics::Metrics,
    storage::{
        Storage,
        inputs::{Answered, ClaimQuestions, Report, Reported},
        outputs::{Ask, Question},
    },
    surroundings::Surroundings,
    values::{Millis, error::ServerError, ids::CheckoutId},
};

/// How many overdue payments and checkouts are swept at once.
const SWEPT: u32 = 100;
/// How many answers share a commit at most.
const SETTLED: usize = 64;

/// What one turn did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Followed {
    /// How many payments were asked about.
    pub asked: usize,
    /// The time until the next one is due, where one waits.
    pub next_in_ms: Option<Millis>,
}

/// One turn: what time does, then a batch of questions, settled as they are answered. Each checkout that changed is told.
pub(crate) async fn follow(
    storage: &dyn Storage,
    gateway: &dyn PaymentGateway,
    surroundings: &dyn Surroundings,
    metrics: &Metrics,
    claim: ClaimQuestions,
    changed: &(dyn Fn(&CheckoutId) + Send + Sync),
) -> Result<Followed, ServerError> {
    storage.sweep(SWEPT).await?.changed.iter().for_each(changed);
    let claimed = storage.claim_questions(claim).await?;
    let asked = claimed.questions.len();
    let asking: FuturesUnordered<_> =
        claimed.questions.into_iter().map(|question| ask(gateway, surroundings, question)).collect();
    let mut answers = asking.ready_chunks(SETTLED);
    while let Some(batch) = answers.next().await {
        let batch = batch.into_iter().collect::<Result<Vec<_>, _>>()?;
        batch.iter().flat_map(|answered| &answered.reports).for_each(|one| metrics.asked(word(&one.report)));
        storage.settle_questions(batch).await?.changed.iter().for_each(changed);
    }
    Ok(Followed { asked, next_in_ms: claimed.next_in_ms })
}

async fn ask(
    gateway: &dyn PaymentGateway,
    surroundings: &dyn Surroundings,
    question: Question,
) -> Result<Answered, ServerError> {
    let mut random = [0; 4];
    surroundings.fill(&mut random)?;
    let reports = join_all(question.ask.into_iter().map(|one| ask_one(gateway, one))).await;
    Ok(Answered {
        payment: question.payment,
        leased_until: question.leased_until,
        reports,
        random: u32::from_le_bytes(random),
    })
}

async fn ask_one(gateway: &dyn PaymentGateway, ask: Ask) -> Reported {
    let report = match gateway.check(&ask.reference).await {
        Ok(verdict) => said(verdict),
        Err(error) => not_said(&error),
    };
    Reported { claim: ask.claim, report }
}

/// The core's verdict, which alone says what the gateway reported.
fn said(verdict: Verdict) -> Report {
    match verdict {
        Verdict::Charged { payment, .. } => Report::Charged(payment),
        Verdict::Rejected { .. } => Report::Rejected,
        Verdict::Open { payment, .. } => Report::Open(payment),
        Verdict::Contradicted { fields, .. } => Report::Contradicted(fields),
        _ => Report::Nothing,
    }
}

/// None of these says anything of the payment.
fn not_said(error: &PaymentError) -> Report {
    match error {
        PaymentError::Unavailable { retry_after, http_status, .. } => {
            let is_overload = retry_after.is_some() || http_status.is_some_and(|status| status == 429 || status >= 500);
            Report::Trouble { is_overload, retry_after: *retry_after }
        }
        PaymentError::Unauthorized { .. } | PaymentError::Misconfigured { .. } => {
            tracing::warn!(target: "kassa_server", kind = error.kind(), "the gateway does not take our questions");
            Report::Trouble { is_overload: false, retry_after: None }
        }
        _ => Report::Nothing,
    }
}

/// As the metrics call it.
fn word(report: &Report) -> &'static str {
    match report {
        Report::Charged(_) => "charged",
        Report::Rejected => "rejected",
        Report::Open(_) => "open",
        Report::Contradicted(_) => "contradicted",
        Report::Nothing => "nothing",
        Report::Trouble { .. } => "trouble",
    }
}
