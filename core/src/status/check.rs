//! Reconciliation of one payment: asks the gateway about it, by the next-best question (fallback) where one is refused
//! or not understood, and judges the report.

use tokio::time::Instant;

use crate::{
    config::dialect::{QrAmountUnit, QrNumbers},
    error::PaymentError,
    journal::{Journal, ReportedStatus, Taken},
    payment_ref::{
        PaymentKind, PaymentRef, Question,
        report::{PaymentStatus, StatusReport},
    },
    pipeline::{attempts::Limits, engine::Engine, journaling::run_blocking, outcome::CallError},
    response::reader::ParsedStatus,
    status::verdict::{Verdict, holds_under_any_number, judge, names_another_number},
    transport::after,
    violation::Rule,
};

/// Asks about a payment, judges what the gateway reports, and notes it in the journal. All queries share one deadline.
pub(crate) async fn check(engine: &Engine, payment: &PaymentRef, limits: Limits) -> Result<Verdict, PaymentError> {
    let verdict = asked(engine, payment, limits).await?;
    noted(engine, payment, verdict).await
}

/// The verdict on the gateway's report, of which nobody else has been told yet.
pub(crate) async fn asked(engine: &Engine, payment: &PaymentRef, limits: Limits) -> Result<Verdict, PaymentError> {
    note_claim(engine, payment).await?;
    let asking = Asking { engine, limits, deadline: after(engine.transport().now(), limits.deadline) };
    let verdict = asking.about(payment).await?;
    let could_be_a_qr_payment = payment.has_only_a_claimed_number() && payment.kind != PaymentKind::Qr;
    if verdict.is_charged() && could_be_a_qr_payment {
        asking.unless_it_is_a_qr_payment(payment, verdict).await
    } else {
        Ok(verdict)
    }
}

/// Before the question: its answer may be lost, and then whoever claimed may not come again.
async fn note_claim(engine: &Engine, payment: &PaymentRef) -> Result<(), PaymentError> {
    let Some(journal) = engine.journal().filter(|_| payment.is_claimed).cloned() else { return Ok(()) };
    let payment = payment.clone();
    run_blocking(engine.transport(), move || journal.note_claim(&payment)).await.unwrap_or_else(|| Err(interrupted()))
}

fn interrupted() -> PaymentError {
    PaymentError::unavailable("the journal was interrupted inside the SDK")
}

/// Notes what the journal must know before anybody is told it, however a payment was asked about.
pub(crate) async fn noted(engine: &Engine, payment: &PaymentRef, verdict: Verdict) -> Result<Verdict, PaymentError> {
    let Some(journal) = engine.journal().cloned() else { return Ok(verdict) };
    let payment = payment.clone();
    let noted = run_blocking(engine.transport(), move || match payment.has_only_a_claimed_number() {
        true => note_claimed(&journal, &payment, verdict),
        false => Ok(note_own(&journal, &payment, verdict)),
    });
    noted.await.unwrap_or_else(|| Err(interrupted()))
}

fn note_own(journal: &Journal, payment: &PaymentRef, verdict: Verdict) -> Verdict {
    let (payment, says) = match &verdict {
        Verdict::Charged { payment, .. } => (&**payment, ReportedStatus::Charged),
        Verdict::Rejected { .. } => (payment, ReportedStatus::Rejected),
        Verdict::Pending { payment, .. } => (&**payment, ReportedStatus::Pending),
        Verdict::Mismatch { .. } => (payment, ReportedStatus::Mismatch),
        Verdict::Unverifiable { .. } => return verdict,
    };
    journal.note_report(payment, says, reason_of(&verdict).as_deref());
    verdict
}

/// What the gateway said of an end, or which fields differ.
pub(crate) fn reason_of(verdict: &Verdict) -> Option<String> {
    let reason = match verdict {
        Verdict::Charged { payment, report, .. } | Verdict::Rejected { payment, report } => {
            said_of_end(payment, report)?
        }
        Verdict::Mismatch { fields, .. } => fields.join(", "),
        Verdict::Pending { .. } | Verdict::Unverifiable { .. } => return None,
    };
    Some(reason.chars().take(LONGEST_REASON).collect())
}

/// The gateway's words, after the number that it reported where that is none of the payment's: whoever looks for the payment at the
/// gateway needs it. The number stands first, because the words may be cut.
fn said_of_end(payment: &PaymentRef, report: &StatusReport) -> Option<String> {
    let number = report.order_number.as_deref().filter(|_| names_another_number(payment, report));
    match (number, report.reason.as_deref()) {
        (None, words) => words.map(str::to_owned),
        (Some(number), None) => Some(format!("reported under the number {number}")),
        (Some(number), Some(words)) => Some(format!("reported under the number {number}: {words}")),
    }
}

/// Anybody can claim a number, and a payer may try again after a rejection: so neither that nor a mismatch says
/// anything of the payment itself. A charge pays for it, unless it has paid for something else.
fn note_claimed(journal: &Journal, payment: &PaymentRef, verdict: Verdict) -> Result<Verdict, PaymentError> {
    match &verdict {
        Verdict::Charged { payment: found, report, .. } => match journal.take_number(found)? {
            Taken::Here => journal.note_report(found, ReportedStatus::Charged, reason_of(&verdict).as_deref()),
            Taken::Elsewhere => {
                let field = if payment.kind == PaymentKind::Qr { "transaction_id" } else { "orderNumber" };
                return Ok(Verdict::mismatch(PaymentRef::clone(found), [field], Some(report.clone())));
            }
            Taken::Nowhere => {
                return Ok(Verdict::unverifiable(PaymentRef::clone(found), NO_ENTRY, Some(report.clone())));
            }
        },
        Verdict::Pending { payment, .. } => journal.note_report(payment, ReportedStatus::Pending, None),
        Verdict::Rejected { .. } | Verdict::Mismatch { .. } | Verdict::Unverifiable { .. } => {}
    }
    Ok(verdict)
}

/// The error for a payment that has no number to ask with.
pub(crate) fn nothing_to_ask_with() -> PaymentError {
    PaymentError::invalid(
        "payment",
        Rule::Required,
        None,
        "must hold a transaction id, a gateway number or an order number",
    )
}

struct Asking<'a> {
    engine: &'a Engine,
    limits: Limits,
    deadline: Instant,
}

impl Asking<'_> {
    /// Asks by the surest number, and by the next one where that question is refused or its answer not understood.
    ///
    /// On a pay-form the payer may try again at another provider, and both tries may have one number. So every provider is
    /// asked until one reports the charge; else the answer of the highest precedence counts.
    async fn about(&self, payment: &PaymentRef) -> Result<Verdict, PaymentError> {
        let (mut best, mut failure): (Option<Verdict>, Option<PaymentError>) = (None, None);
        for question in Question::all_about(payment) {
            match self.ask(&question).await {
                Ok(told) => {
                    let any_number = !told.compares_numbers;
                    let verdict = judge(payment, told, self.engine.dialect());
                    let is_by_gateway_number = matches!(question, Question::GatewayNumber(_));
                    if is_by_gateway_number && is_to_be_confirmed(payment, &verdict, any_number) {
                        return self.unless_it_is_anothers(payment, verdict, any_number).await;
                    }
                    if payment.kind != PaymentKind::PayForm || verdict.is_charged() {
                        return Ok(verdict);
                    }
                    if best.as_ref().is_none_or(|best| precedence(&verdict) > precedence(best)) {
                        best = Some(verdict);
                    }
                }
                Err(CallError { error, .. }) => {
                    let is_worth_another = another_question_may_do(&error);
                    // "Not known" by one number proves nothing where the other could not be asked by.
                    if failure.is_none() || !is_worth_another || error.is_retryable() {
                        failure = Some(error);
                    }
                    if !is_worth_another {
                        break;
                    }
                }
            }
        }
        match (best, failure) {
            // A provider that could not be asked may have the charge. Only an open payment, which is no end, is reported then.
            (Some(best), failure)
                if matches!(best, Verdict::Pending { .. }) || failure.as_ref().is_none_or(another_question_may_do) =>
            {
                Ok(best)
            }
            (_, failure) => Err(failure.unwrap_or_else(nothing_to_ask_with)),
        }
    }

    async fn ask(&self, question: &Question) -> Result<ParsedStatus, CallError> {
        let time_left = self.deadline.saturating_duration_since(self.engine.transport().now());
        self.engine.ask(question, Limits { deadline: time_left, ..self.limits }).await
    }

    /// The gateway's own number was learned from a response, and a gateway that repeats itself tells two payments the same one. So an end
    /// that names no number of the merchant's own counts once the question by that number agrees. Where the dialect says that the
    /// gateway's reports name any number, one whose amount and currency agree also counts where that question has no answer.
    async fn unless_it_is_anothers(
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
        for question in Question::all_about(&by_own_number) {
            let by_own = match self.ask(&question).await {
                Ok(told) => judge(payment, told, self.engine.dialect()),
                // The gateway does not know it by the merchant's number.
                Err(CallError { is_definitive: true, .. }) => continue,
                Err(CallError { error, .. }) if holds && another_question_may_do(&error) => continue,
                Err(CallError { error, .. }) => return Err(error),
            };
            return Ok(match by_own {
                Verdict::Rejected { .. } if reports_a_charge => not_by_own_number(),
                by_own => by_own,
            });
        }
        Ok(if verdict.is_charged() && !holds { not_by_own_number() } else { verdict })
    }

    /// A gateway may know QR payments by such order numbers, too, and report them in tyiyn: 390 tyiyn must not pass as
    /// the 390 som of a pay-form. Its number comes from the payer's side, so only the gateway can rule that out; how, is
    /// in the dialect.
    async fn unless_it_is_a_qr_payment(&self, payment: &PaymentRef, verdict: Verdict) -> Result<Verdict, PaymentError> {
        let dialect = self.engine.dialect();
        let unverifiable =
            |why: String, verdict: &Verdict| Verdict::unverifiable(payment.clone(), why, verdict.report().cloned());
        match (dialect.qr_amount_unit(), dialect.qr_numbers()) {
            (_, Some(QrNumbers::None)) => return Ok(verdict),
            // The amount was compared in som. The number may still be that of a paid QR code, which paid for another order.
            (Some(QrAmountUnit::Som), None) | (_, Some(QrNumbers::TransactionId)) => {}
            (_, None) => return Ok(unverifiable(UNKNOWN_QR_NUMBERS.to_owned(), &verdict)),
        }
        let Some(number) = payment.order_number.clone() else {
            return Ok(unverifiable(UNKNOWN_QR_NUMBERS.to_owned(), &verdict));
        };
        match self.ask(&Question::Transaction(number.clone())).await {
            Err(CallError { is_definitive: true, .. }) => Ok(verdict),
            Err(CallError { error, .. }) => Err(could_not_be_ruled_out(error)),
            Ok(told) => Ok(match told.report.status {
                // A response about another transaction, of a cache or a mixed-up connection, rules out nothing.
                _ if told.report.order_number.is_some_and(|told| told != number) => {
                    unverifiable("qr_status answers about another number".to_owned(), &verdict)
                }
                PaymentStatus::Rejected => verdict,
                PaymentStatus::Charged => {
                    Verdict::mismatch(payment.clone(), ["orderNumber"], verdict.report().cloned())
                }
                PaymentStatus::Other(word) => unverifiable(
                    format!("qr_status says {word:?} of this number, so it may be a QR payment's"),
                    &verdict,
                ),
            }),
        }
    }
}

/// Whether a verdict by the gateway's number is to be confirmed by the merchant's own: that on an end, also on one that only lacks
/// what would tie another number to the payment.
fn is_to_be_confirmed(payment: &PaymentRef, verdict: &Verdict, any_number: bool) -> bool {
    match verdict {
        Verdict::Charged { .. } | Verdict::Rejected { .. } => true,
        Verdict::Unverifiable { report: Some(report), .. } => any_number && names_another_number(payment, report),
        Verdict::Pending { .. } | Verdict::Mismatch { .. } | Verdict::Unverifiable { .. } => false,
    }
}

/// Precedence: of several providers' answers about a pay-form, the one with the largest counts.
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

const NO_ENTRY: &str = "the number is only claimed, and the reference names no entry of the journal, so it could pay for one \
    order after the other: take the reference of the answer, or give the request an entry_id";

const NOT_BY_OWN_NUMBER: &str = "the gateway reports a charge by its own number, names no number of the merchant's, and does not report \
    the charge by the merchant's number: it may be that of another payment";

const UNKNOWN_QR_NUMBERS: &str = "the payment's number is only claimed, and could be that of a QR payment, whose amount \
    may be in tyiyn: set qr_numbers or qr_amount_unit in the dialect";

/// Where a question was refused or its answer not understood, by the gateway or by what stands before it. Wrong
/// credentials, a rate limit or a gateway that is down would answer the next question alike.
fn another_question_may_do(error: &PaymentError) -> bool {
    error.http_status().is_some_and(|status| status < 500 && !matches!(status, 401 | 429))
}

fn could_not_be_ruled_out(mut error: PaymentError) -> PaymentError {
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
