//! Status queries about a payment, by each of its numbers and in each form, and the verdict on it.

use kassa::{
    Gateway, PaymentError, PaymentRef, PaymentStatus, Provider, StatusQueryForm, StatusReport, Verdict,
    new_order_number,
};
use tokio::time::{Instant, sleep};

use super::{Probe, or_none, responses::Sent};
use crate::probe::{
    finding::ProbeFinding,
    proposal::{Known, Leaf, Proposal},
};

/// Whether the money of a payment can have moved when its status is queried.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Stage {
    /// Nobody has confirmed or paid it yet.
    Unpaid,
    /// It was confirmed, or needs no confirmation.
    MayBePaid,
}

/// A form of status query.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Question<'a> {
    /// The merchant's order number, with its provider.
    OrderNumber(&'a Provider),
    /// The gateway's number.
    GatewayNumber,
    /// The transaction of a QR payment.
    Transaction,
}

impl Question<'_> {
    fn endpoint(self) -> &'static str {
        match self {
            Self::OrderNumber(_) => "provider_status",
            Self::GatewayNumber => "payment_status",
            Self::Transaction => "qr_status",
        }
    }
}

impl Probe<'_> {
    /// Queries by each number that may be the gateway's own of a payment: only one that the gateway answers about is adopted.
    pub(super) async fn with_number(
        &mut self,
        endpoint: &'static str,
        payment: PaymentRef,
        numbers: &[Leaf],
        known: &Known,
    ) -> PaymentRef {
        if payment.gateway_number.is_some() || self.answers_about_anything {
            return payment;
        }
        for leaf in numbers {
            let before = self.proposal.clone();
            let answer = self.query_by_number(&leaf.text, known).await;
            let request = format!("the status of what stands at {}", leaf.pointer);
            let mut finding = self.try_number("which number is the gateway's?", "payment_status", request, &answer);
            // A report of another payment would not make it this one's.
            let may_be_one = answer.as_ref().is_ok_and(|report| {
                let names_another = report
                    .order_number
                    .as_ref()
                    .is_some_and(|number| *number != leaf.text && Some(number) != known.order_number.as_ref());
                let has_another = report.amount.is_some_and(|amount| !known.amounts.contains(&amount));
                !names_another && !has_another
            });
            let is_one = may_be_one && self.proves_a_number(Question::GatewayNumber).await;
            if is_one {
                let place = &leaf.pointer;
                finding
                    .problems
                    .push(format!("the gateway's number stands at {place}, which the given dialect does not read"));
                self.proposal.put(endpoint, "gateway_number", place);
                self.renew();
            } else {
                finding.notes.append(&mut finding.problems);
                self.forget(before);
            }
            self.keep(finding);
            if is_one {
                return payment.with_gateway_number(&leaf.text);
            }
        }
        payment
    }

    /// Tries a number that may not exist: problems of its response do not count.
    pub(super) fn try_number(
        &mut self,
        step: &str,
        endpoint: &'static str,
        request: String,
        answer: &Result<StatusReport, PaymentError>,
    ) -> ProbeFinding {
        let mut finding = self.look(Sent::of_status(step, endpoint, request, answer), &Known::default());
        if answer.is_err() {
            finding.notes.append(&mut finding.problems);
        }
        finding
    }

    /// Queries by each number of the payment, and by the gateway's in both forms of the query.
    pub(super) async fn statuses(&mut self, step: &str, payment: &PaymentRef, known: &Known, stage: Stage) -> bool {
        let mut is_found = false;
        self.is_charged_early = false;
        if let (Some(order), Some(provider)) = (&payment.order_number, &payment.provider) {
            let answer = self.query_by_order(order, provider, known).await;
            let request = format!("by the merchant's order number {order}");
            is_found |= self.status((step, stage), "provider_status", request, &answer, payment, known);
        }
        let mut forms = Vec::new();
        if let Some(number) = &payment.gateway_number {
            // How its responses are read is learned before the forms are compared.
            let first = self.gateway.payment_status(number, None).await;
            self.may_ask_again("payment_status", &first, known);
            for form in [self.config.status_query, other_form(self.config.status_query)] {
                let config = self.config.clone().with_status_query(form).with_dialect(self.proposal.dialect().clone());
                let Ok(gateway) = Gateway::new(config) else { continue };
                let answer = gateway.payment_status(number, None).await;
                let request = format!("by the gateway's number {number}, as {}", form_name(form));
                forms.push((form, self.status((step, stage), "payment_status", request, &answer, payment, known)));
            }
        }
        match forms[..] {
            [(form, false), (other, true)] => {
                let problem = format!(
                    "by the gateway's number it answers only as {}, and not as {}: set gateway.status_query",
                    form_name(other),
                    form_name(form)
                );
                self.problem(step, "payment_status", &problem);
            }
            [(_, false), (_, false)] if is_found => {
                self.problem(step, "payment_status", "it does not answer by the gateway's number, in neither form");
            }
            _ => {}
        }
        is_found |= forms.iter().any(|(_, is_found)| *is_found);
        if !is_found {
            self.problem(step, "payment_status", "there is no number by which the gateway knows the payment");
        }
        is_found
    }

    /// Sends one query; true if it was answered.
    fn status(
        &mut self,
        (step, stage): (&str, Stage),
        endpoint: &'static str,
        request: String,
        answer: &Result<StatusReport, PaymentError>,
        payment: &PaymentRef,
        known: &Known,
    ) -> bool {
        let mut finding = self.look(Sent::of_status(step, endpoint, request, answer), known);
        if let Ok(report) = answer {
            let own = [&payment.order_number, &payment.gateway_number];
            if let Some(number) = &report.order_number
                && !own.contains(&&report.order_number)
                && !self.proposal.takes_any_number(endpoint)
            {
                finding.problems.push(format!(
                    "it names the number {number}, which is none of the payment's own: where the gateway has such numbers, set \
                     numbers to any for this endpoint"
                ));
            }
            if report.amount.is_some_and(|amount| payment.amount.is_some_and(|own| own != amount)) {
                finding.problems.push("it names another amount than was requested".to_owned());
            }
            if report.amount.is_none() {
                finding.notes.push("it names no amount, so none is compared".to_owned());
            }
            if stage == Stage::Unpaid && report.status == PaymentStatus::Charged {
                self.is_charged_early |= self.distrust(endpoint, &mut finding);
            }
        }
        self.keep(finding);
        answer.is_ok()
    }

    /// Queries until the payment has ended, or for as long as the plan says.
    pub(super) async fn follow(&mut self, step: &str, at: usize, payment: &PaymentRef, must_end: bool) {
        let end = Instant::now().checked_add(self.plan.patience);
        let verdict = loop {
            let verdict = self.gateway.check(payment).await;
            let may_change = matches!(verdict, Ok(Verdict::Pending { .. }) | Err(PaymentError::Unavailable { .. }));
            let has_time =
                Instant::now().checked_add(self.plan.pause).is_some_and(|next| end.is_none_or(|end| next <= end));
            if !must_end || !may_change || !has_time {
                break verdict;
            }
            sleep(self.plan.pause).await;
        };
        let mut finding = ProbeFinding {
            step: step.to_owned(),
            endpoint: "check".to_owned(),
            request: format!("the verdict on {payment}"),
            raw: verdict.as_ref().ok().and_then(Verdict::report).map(|report| report.raw.clone()),
            ..ProbeFinding::default()
        };
        match &verdict {
            Ok(Verdict::Charged { compared, .. }) => {
                finding.answer = format!("charged; compared: {}", or_none(Some(&compared.join(", "))));
            }
            Ok(Verdict::Rejected { .. }) => finding.answer = "rejected".to_owned(),
            Ok(Verdict::Pending { report, .. }) => {
                finding.answer = format!("pending: {}", report.status);
                if must_end {
                    finding.problems.push(format!(
                        "it has not ended: {} is in none of the lists of words. Look into the gateway's dashboard: if the payment \
                         is paid there, run again with --charged-word, if it is rejected, with --rejected-word",
                        report.status
                    ));
                } else {
                    finding.notes.push("nobody confirmed it, so it stays pending".to_owned());
                }
            }
            Ok(Verdict::Mismatch { fields, .. }) => {
                finding.answer = format!("mismatch in {}", fields.join(", "));
                finding
                    .problems
                    .push(format!("the gateway's report does not match the request: {}", fields.join(", ")));
            }
            Ok(Verdict::Unverifiable { why, .. }) => {
                finding.answer = format!("unverifiable: {why}");
                finding.problems.push(format!("nothing is proved: {why}"));
            }
            Ok(_) => finding.answer = "a verdict that this version does not know".to_owned(),
            Err(problem) => {
                finding.answer = problem.to_string();
                finding.problems.push("the gateway does not report the outcome of the payment".to_owned());
            }
        }
        if let Ok(verdict) = &verdict {
            self.note(at, verdict);
        }
        self.keep(finding);
    }

    fn note(&mut self, at: usize, verdict: &Verdict) {
        // If the gateway answers about any number, a pending payment proves nothing.
        let is_known =
            verdict.is_charged() || (matches!(verdict, Verdict::Pending { .. }) && !self.answers_about_anything);
        if let Some(made) = self.made.get_mut(at) {
            made.note(verdict);
            made.is_known |= is_known;
        }
    }

    /// Queries once, after a confirmation that was refused.
    pub(super) async fn has_ended(&mut self, at: usize, payment: &PaymentRef) -> bool {
        let verdict = self.gateway.check(payment).await;
        if let Ok(verdict) = &verdict {
            self.note(at, verdict);
        }
        matches!(verdict, Ok(Verdict::Charged { .. } | Verdict::Rejected { .. }))
    }

    /// Queries a number that a person has named, in every way. It creates nothing.
    pub(super) async fn status_query(&mut self, number: &str) {
        let step = "the given number";
        let known = Known { order_number: Some(number.to_owned()), ..Known::default() };
        let mut is_found = false;
        for provider in [Provider::Cards, Provider::MBank, Provider::MegaPay] {
            let before = self.proposal.clone();
            let answer = self.query_by_order(number, &provider, &known).await;
            let request = format!("the order number {number} of {provider}");
            is_found |= self.keep_if_known(step, Question::OrderNumber(&provider), request, &answer, before).await;
        }
        let before = self.proposal.clone();
        let answer = self.query_by_number(number, &known).await;
        let request = format!("the gateway's number {number}");
        is_found |= self.keep_if_known(step, Question::GatewayNumber, request, &answer, before).await;
        let before = self.proposal.clone();
        let answer = self.query_by_transaction(number, &known).await;
        let request = format!("the transaction {number}");
        is_found |= self.keep_if_known(step, Question::Transaction, request, &answer, before).await;
        if !is_found {
            self.problem(step, "payment_status", "no form of the status query finds this number");
        }
    }

    /// Whether an answer to this query proves that its number exists: with the current dialect, a nonexistent number gets none.
    pub(super) async fn proves_a_number(&mut self, question: Question<'_>) -> bool {
        let number = new_order_number();
        let answer = match question {
            Question::OrderNumber(provider) => self.gateway.provider_status(&number, provider.clone()).await,
            Question::GatewayNumber => self.gateway.payment_status(&number, None).await,
            Question::Transaction => self.gateway.qr_status(&number).await,
        };
        self.answers_about_anything |= answer.is_ok() && question != Question::Transaction;
        answer.is_err()
    }

    /// True if the gateway knows the number. Only then does the dialect learn from its answer.
    async fn keep_if_known(
        &mut self,
        step: &str,
        question: Question<'_>,
        request: String,
        answer: &Result<StatusReport, PaymentError>,
        before: Proposal,
    ) -> bool {
        let is_known = answer.is_ok() && self.proves_a_number(question).await;
        let mut finding = self.try_number(step, question.endpoint(), request, answer);
        if !is_known {
            finding.notes.append(&mut finding.problems);
            self.forget(before);
        }
        self.keep(finding);
        is_known
    }

    async fn query_by_order(
        &mut self,
        order: &str,
        provider: &Provider,
        known: &Known,
    ) -> Result<StatusReport, PaymentError> {
        let answer = self.gateway.provider_status(order, provider.clone()).await;
        if !self.may_ask_again("provider_status", &answer, known) {
            return answer;
        }
        self.gateway.provider_status(order, provider.clone()).await
    }

    async fn query_by_number(&mut self, number: &str, known: &Known) -> Result<StatusReport, PaymentError> {
        let answer = self.gateway.payment_status(number, None).await;
        if !self.may_ask_again("payment_status", &answer, known) {
            return answer;
        }
        self.gateway.payment_status(number, None).await
    }

    pub(super) async fn query_by_transaction(
        &mut self,
        number: &str,
        known: &Known,
    ) -> Result<StatusReport, PaymentError> {
        let answer = self.gateway.qr_status(number).await;
        if !self.may_ask_again("qr_status", &answer, known) {
            return answer;
        }
        self.gateway.qr_status(number).await
    }

    /// A query whose response was not understood is repeated once if the dialect learned to read it.
    fn may_ask_again(
        &mut self,
        endpoint: &'static str,
        answer: &Result<StatusReport, PaymentError>,
        known: &Known,
    ) -> bool {
        match answer {
            Err(PaymentError::Unexpected { http_status: 200..=299, body, .. }) => self.learn(endpoint, body, known),
            _ => false,
        }
    }
}

fn other_form(form: StatusQueryForm) -> StatusQueryForm {
    if form == StatusQueryForm::JsonBody { StatusQueryForm::QueryString } else { StatusQueryForm::JsonBody }
}

fn form_name(form: StatusQueryForm) -> &'static str {
    if form == StatusQueryForm::JsonBody { "json_body" } else { "query_string" }
}
