//! One status check of a payment: queries the gateway, falls back to the next-best number if a query is refused or its response cannot be
//! understood, and makes the verdict.

use tokio::time::Instant;

use crate::{
    config::dialect::{QrAmountUnit, QrNumbers},
    error::PaymentError,
    journal::{Assigned, Journal, ReportedStatus},
    payment_ref::{
        PaymentKind, PaymentRef, StatusQuery,
        report::{PaymentStatus, StatusReport},
    },
    pipeline::{attempts::Limits, engine::Engine, journaling::run_blocking, outcome::CallError},
    response::reader::ParsedStatus,
    status::verdict::{Verdict, holds_under_any_number, judge, names_another_number},
    transport::after,
    violation::Rule,
};

/// Queries a payment, makes the verdict, and records it in the journal. All queries share one deadline.
pub(crate) async fn check(engine: &Engine, payment: &PaymentRef, limits: Limits) -> Result<Verdict, PaymentError> {
    let verdict = query_verdict(engine, payment, limits).await?;
    record_verdict(engine, payment, verdict).await
}

/// The verdict on the gateway's report, not recorded yet.
pub(crate) async fn query_verdict(
    engine: &Engine,
    payment: &PaymentRef,
    limits: Limits,
) -> Result<Verdict, PaymentError> {
    record_claim(engine, payment).await?;
    let check = StatusCheck { engine, limits, deadline: after(engine.transport().now(), limits.deadline) };
    let verdict = check.verdict_on(payment).await?;
    let could_be_a_qr_payment = payment.has_only_a_claimed_number() && payment.kind != PaymentKind::Qr;
    if verdict.is_charged() && could_be_a_qr_payment {
        check.rule_out_qr_payment(payment, verdict).await
    } else {
        Ok(verdict)
    }
}

/// Records the claimed number before the query: its answer may be lost, and the callback may not come again.
async fn record_claim(engine: &Engine, payment: &PaymentRef) -> Result<(), PaymentError> {
    let Some(journal) = engine.journal().filter(|_| payment.is_claimed).cloned() else { return Ok(()) };
    let payment = payment.clone();
    run_blocking(engine.transport(), move || journal.record_claim(&payment)).await.unwrap_or_else(|| Err(interrupted()))
}

fn interrupted() -> PaymentError {
    PaymentError::unavailable("the journal was interrupted inside the SDK")
}

/// Records the verdict in the journal before the caller gets it.
pub(crate) async fn record_verdict(
    engine: &Engine,
    payment: &PaymentRef,
    verdict: Verdict,
) -> Result<Verdict, PaymentError> {
    let Some(journal) = engine.journal().cloned() else { return Ok(verdict) };
    let payment = payment.clone();
    let recorded = run_blocking(engine.transport(), move || match payment.has_only_a_claimed_number() {
        true => record_claimed(&journal, &payment, verdict),
        false => Ok(record_own(&journal, &payment, verdict)),
    });
    recorded.await.unwrap_or_else(|| Err(interrupted()))
}

fn record_own(journal: &Journal, payment: &PaymentRef, verdict: Verdict) -> Verdict {
    let (payment, status) = match &verdict {
        Verdict::Charged { payment, .. } => (&**payment, ReportedStatus::Charged),
        Verdict::Rejected { .. } => (payment, ReportedStatus::Rejected),
        Verdict::Pending { payment, .. } => (&**payment, ReportedStatus::Pending),
        Verdict::Mismatch { .. } => (payment, ReportedStatus::Mismatch),
        Verdict::Unverifiable { .. } => return verdict,
    };
    journal.record_report(payment, status, reason_of(&verdict).as_deref());
    verdict
}

/// The gateway's reason for a final status, or the fields that differ.
pub(crate) fn reason_of(verdict: &Verdict) -> Option<String> {
    let reason = match verdict {
        Verdict::Charged { payment, report, .. } | Verdict::Rejected { payment, report } => {
            final_reason(payment, report)?
        }
        Verdict::Mismatch { fields, .. } => fields.join(", "),
        Verdict::Pending { .. } | Verdict::Unverifiable { .. } => return None,
    };
    Some(reason.chars().take(LONGEST_REASON).collect())
}

/// The gateway's reason. If the report has a number that is not the payment's, it comes first: staff need it to find the payment at the
/// gateway, and the reason may be cut.
fn final_reason(payment: &PaymentRef, report: &StatusReport) -> Option<String> {
    let number = report.order_number.as_deref().filter(|_| names_another_number(payment, report));
    match (number, report.reason.as_deref()) {
        (None, words) => words.map(str::to_owned),
        (Some(number), None) => Some(format!("reported under the number {number}")),
        (Some(number), Some(words)) => Some(format!("reported under the number {number}: {words}")),
    }
}

/// Anyone can claim a number, and a payer may try again after a rejection. So neither a rejection nor a mismatch decides the payment. A
/// charge does, unless it belongs to another entry.
fn record_claimed(journal: &Journal, payment: &PaymentRef, verdict: Verdict) -> Result<Verdict, PaymentError> {
    match &verdict {
        Verdict::Charged { payment: found, report, .. } => match journal.assign_number(found)? {
            Assigned::Own => journal.record_report(found, ReportedStatus::Charged, reason_of(&verdict).as_deref()),
            Assigned::Foreign => {
                let field = if payment.kind == PaymentKind::Qr { "transaction_id" } else { "orderNumber" };
                return Ok(Verdict::mismatch(PaymentRef::clone(found), [field], Some(report.clone())));
            }
            Assigned::NoEntry => {
                return Ok(Verdict::unverifiable(PaymentRef::clone(found), NO_ENTRY, Some(report.clone())));
            }
        },
        Verdict::Pending { payment, .. } => journal.record_report(payment, ReportedStatus::Pending, None),
        Verdict::Rejected { .. } | Verdict::Mismatch { .. } | Verdict::Unverifiable { .. } => {}
    }
    Ok(verdict)
}

/// The error for a payment without a number to query by.
pub(crate) fn nothing_to_ask_with() -> PaymentError {
    PaymentError::invalid(
        "payment",
        Rule::Required,
        None,
        "must hold a transaction id, a gateway number or an order number",
    )
}

struct StatusCheck<'a> {
    engine: &'a Engine,
    limits: Limits,
    deadline: Instant,
}

impl StatusCheck<'_> {
    /// Queries by the most reliable number, and by the next one if that query is refused or its response cannot be understood.
    ///
    /// On a pay-form the payer may try again at another provider, and both attempts may have the same number. So every provider is queried
    /// until one reports a charge; otherwise the answer with the highest precedence counts.
    async fn verdict_on(&self, payment: &PaymentRef) -> Result<Verdict, PaymentError> {
        let (mut best, mut failure): (Option<Verdict>, Option<PaymentError>) = (None, None);
        for query in StatusQuery::all_for(payment) {
            match self.query(&query).await {
                Ok(parsed) => {
                    let any_number = !parsed.compares_numbers;
                    let verdict = judge(payment, parsed, self.engine.dialect());
                    let is_by_gateway_number = matches!(query, StatusQuery::GatewayNumber(_));
                    if is_by_gateway_number && needs_confirmation(payment, &verdict, any_number) {
                        return self.confirm_by_own_number(payment, verdict, any_number).await;
                    }
                    if payment.kind != PaymentKind::PayForm || verdict.is_charged() {
                        return Ok(verdict);
                    }
                    if best.as_ref().is_none_or(|best| precedence(&verdict) > precedence(best)) {
                        best = Some(verdict);
                    }
                }
                Err(CallError { error, .. }) => {
                    let tries_next = may_try_next_query(&error);
                    // "Not known" by one number proves nothing if the query by the other one failed.
                    if failure.is_none() || !tries_next || error.is_retryable() {
                        failure = Some(error);
                    }
                    if !tries_next {
                        break;
                    }
                }
            }
        }
        match (best, failure) {
            // A provider whose query failed may have the charge. Then only a pending payment is reported, which is not final.
            (Some(best), failure)
                if matches!(best, Verdict::Pending { .. }) || failure.as_ref().is_none_or(may_try_next_query) =>
            {
                Ok(best)
            }
            (_, failure) => Err(failure.unwrap_or_else(nothing_to_ask_with)),
        }
    }

    async fn query(&self, query: &StatusQuery) -> Result<ParsedStatus, CallError> {
        let time_left = self.deadline.saturating_duration_since(self.engine.transport().now());
        self.engine.query_status(query, Limits { deadline: time_left, ..self.limits }).await
    }

    /// The gateway's number came from a response, and a faulty gateway may give two payments the same one. So a final status without the
    /// merchant's number counts only if the query by that number agrees. If the dialect lets reports have any number, a report whose amount
    /// and currency agree also counts if that query has no answer.
    async fn confirm_by_own_number(
        &self,
        payment: &PaymentRef,
        verdict: Verdict,
        any_number: bool,
    ) -> Result<Verdict, PaymentError> {
        let named = verdict.report().and_then(|report| report.order_number.as_ref());
        if payment.order_number.is_none() || named == payment.order_number.as_ref() {
            return Ok(verdict);
        }
        let reports_a_charge = verdict.report().is_some_and(|report| report.status == PaymentStatus::Charged);
        let holds = any_number && holds_under_any_number(payment, &verdict);
        let not_by_own_number = || Verdict::unverifiable(payment.clone(), NOT_BY_OWN_NUMBER, verdict.report().cloned());
        let by_own_number = PaymentRef { gateway_number: None, ..payment.clone() };
        for query in StatusQuery::all_for(&by_own_number) {
            let by_own = match self.query(&query).await {
                Ok(parsed) => judge(payment, parsed, self.engine.dialect()),
                // The gateway does not know the merchant's number.
                Err(CallError { is_definitive: true, .. }) => continue,
                Err(CallError { error, .. }) if holds && may_try_next_query(&error) => continue,
                Err(CallError { error, .. }) => return Err(error),
            };
            return Ok(match by_own {
                Verdict::Rejected { .. } if reports_a_charge => not_by_own_number(),
                by_own => by_own,
            });
        }
        Ok(if verdict.is_charged() && !holds { not_by_own_number() } else { verdict })
    }

    /// A gateway may find QR payments by such order numbers, too, and report them in tyiyn: 390 tyiyn must not count as the 390 som of a
    /// pay-form. The number comes from the payer's side, so only the gateway can rule that out. The dialect defines how.
    async fn rule_out_qr_payment(&self, payment: &PaymentRef, verdict: Verdict) -> Result<Verdict, PaymentError> {
        let dialect = self.engine.dialect();
        let unverifiable =
            |why: String, verdict: &Verdict| Verdict::unverifiable(payment.clone(), why, verdict.report().cloned());
        match (dialect.qr_amount_unit(), dialect.qr_numbers()) {
            (_, Some(QrNumbers::None)) => return Ok(verdict),
            // The amount was compared in som. The number may still belong to a QR payment for another order.
            (Some(QrAmountUnit::Som), None) | (_, Some(QrNumbers::TransactionId)) => {}
            (_, None) => return Ok(unverifiable(UNKNOWN_QR_NUMBERS.to_owned(), &verdict)),
        }
        let Some(number) = payment.order_number.clone() else {
            return Ok(unverifiable(UNKNOWN_QR_NUMBERS.to_owned(), &verdict));
        };
        match self.query(&StatusQuery::Transaction(number.clone())).await {
            Err(CallError { is_definitive: true, .. }) => Ok(verdict),
            Err(CallError { error, .. }) => Err(with_qr_not_ruled_out(error)),
            Ok(parsed) => Ok(match parsed.report.status {
                // A response about another transaction, such as one from a cache, rules out nothing.
                _ if parsed.report.order_number.is_some_and(|reported| reported != number) => {
                    unverifiable("qr_status answers about another number".to_owned(), &verdict)
                }
                PaymentStatus::Rejected => verdict,
                PaymentStatus::Charged => {
                    Verdict::mismatch(payment.clone(), ["orderNumber"], verdict.report().cloned())
                }
                PaymentStatus::Other(word) => unverifiable(
                    format!("qr_status reports {word:?} for this number, so it may be a QR payment's"),
                    &verdict,
                ),
            }),
        }
    }
}

/// Whether a verdict by the gateway's number must be confirmed by the merchant's number: a final status, also one that only lacks amount
/// and currency to match another number.
fn needs_confirmation(payment: &PaymentRef, verdict: &Verdict, any_number: bool) -> bool {
    match verdict {
        Verdict::Charged { .. } | Verdict::Rejected { .. } => true,
        Verdict::Unverifiable { report: Some(report), .. } => any_number && names_another_number(payment, report),
        Verdict::Pending { .. } | Verdict::Mismatch { .. } | Verdict::Unverifiable { .. } => false,
    }
}

/// The precedence of an answer: of several providers' answers about a pay-form, the highest counts.
fn precedence(verdict: &Verdict) -> u8 {
    let is_charge = verdict.report().is_some_and(|report| report.status == PaymentStatus::Charged);
    match verdict {
        Verdict::Charged { .. } => 4,
        _ if is_charge => 3,
        Verdict::Pending { .. } => 2,
        Verdict::Rejected { .. } => 1,
        Verdict::Mismatch { .. } | Verdict::Unverifiable { .. } => 0,
    }
}

/// In characters. It is written to the disk, and a response can be long.
pub(crate) const LONGEST_REASON: usize = 256;

const NO_ENTRY: &str = "the number is only claimed, and the reference has no journal entry, so it could pay for several orders: \
    use the reference of the answer, or set entry_id on the request";

const NOT_BY_OWN_NUMBER: &str = "the gateway reports a charge by its own number, names no number of the merchant's, and does not report \
    the charge by the merchant's number: it may be that of another payment";

const UNKNOWN_QR_NUMBERS: &str = "the payment's number is only claimed, and could be that of a QR payment, whose amount \
    may be in tyiyn: set qr_numbers or qr_amount_unit in the dialect";

/// Whether the next query may succeed: this one was refused or its response could not be understood. After wrong credentials, a rate limit
/// or an outage, the next one would fail, too.
fn may_try_next_query(error: &PaymentError) -> bool {
    error.http_status().is_some_and(|status| status < 500 && !matches!(status, 401 | 429))
}

fn with_qr_not_ruled_out(mut error: PaymentError) -> PaymentError {
    if let PaymentError::Unexpected { detail, .. }
    | PaymentError::Misconfigured { detail, .. }
    | PaymentError::Unauthorized { detail, .. }
    | PaymentError::Unavailable { detail, .. } = &mut error
    {
        detail.insert_str(0, "it could not be ruled out that the number is that of a QR payment: ");
    }
    error
}

#[cfg(test)]
mod tests;
