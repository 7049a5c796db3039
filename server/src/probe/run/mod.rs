//! A run of the probe: its steps in order, their payments and findings, and the conclusion.

mod mbank;
mod pages;
mod qr;
mod responses;
mod status;

use std::collections::{BTreeMap, BTreeSet};

use kassa::{
    Dialect, Gateway, GatewayConfig, PaymentError, PaymentRef, PaymentStatus, Provider, StatusReport, new_order_number,
};
use responses::Sent;
use strum::IntoEnumIterator;

use super::{
    finding::ProbeFinding,
    ledger::{CreatedPayment, MoneyState},
    plan::{ProbePlan, ProbeStep},
    proposal::{Known, Proposal},
    report::{Conclusion, report},
    scrub::Scrubber,
    talk::ProbeTalk,
    text::visible,
};

/// The description of test payments, as payers and the gateway's dashboard see it.
const DESCRIPTION: &str = "Kassa probe";

/// Runs the flows of a plan against a test environment.
///
/// Responses are shown, and problems reported, by the given dialect. Changes learned from responses are used at once, so that one
/// run gets as far as possible. The dialect at the end contains them.
pub struct Probe<'t> {
    config: GatewayConfig,
    plan: ProbePlan,
    talk: &'t mut dyn ProbeTalk,
    scrubber: Scrubber,
    given: Dialect,
    proposal: Proposal,
    gateway: Gateway,
    findings: Vec<ProbeFinding>,
    made: Vec<CreatedPayment>,
    /// Changes learned since the last finding.
    learned: Vec<String>,
    /// Whether the gateway reports a status even for nonexistent numbers, so that a report proves no number.
    answers_about_anything: bool,
    /// The last status queries read an unpaid payment as charged, by a word of the given dialect.
    is_charged_early: bool,
    /// Words of the given dialect that were seen before money can have moved.
    distrusted: BTreeSet<String>,
    /// Steps that were begun and not completed, with the reason.
    skipped: Vec<String>,
    /// Payments whose page nobody opened.
    unopened: Vec<String>,
    /// Completed steps, without interrupted ones.
    played: Vec<ProbeStep>,
    /// Codes of refusals that are in no list of the given dialect, each with its endpoint.
    unlisted: BTreeSet<String>,
}

impl<'t> Probe<'t> {
    /// A probe of this gateway. Nothing is sent.
    ///
    /// # Errors
    /// As [`ProbePlan::check_words`] and [`Gateway::new`].
    pub fn new(config: GatewayConfig, plan: ProbePlan, talk: &'t mut dyn ProbeTalk) -> Result<Self, String> {
        let given = config.dialect().clone();
        plan.check_words(&given)?;
        let mut proposal = Proposal::new(&given);
        for (list, words) in [("charged_words", &plan.charged_words), ("rejected_words", &plan.rejected_words)] {
            for word in words {
                if !proposal.has_word(list, word) {
                    proposal.put_word(list, word);
                }
            }
        }
        let gateway = Gateway::new(config.clone().with_dialect(proposal.dialect().clone()))
            .map_err(|problem| problem.to_string())?;
        let scrubber = Scrubber::new(&plan);
        let (findings, made) = (Vec::new(), Vec::new());
        Ok(Self {
            config,
            plan,
            talk,
            scrubber,
            given,
            proposal,
            gateway,
            findings,
            made,
            learned: Vec::new(),
            answers_about_anything: false,
            is_charged_early: false,
            distrusted: BTreeSet::new(),
            skipped: Vec::new(),
            unopened: Vec::new(),
            played: Vec::new(),
            unlisted: BTreeSet::new(),
        })
    }

    /// Runs the steps in order, and asks before each one that creates or confirms something.
    ///
    /// # Errors
    /// A sentence that says why nothing could be tried: the gateway is not reachable, or refuses the credentials.
    pub async fn run(&mut self) -> Result<(), String> {
        self.reach().await?;
        if let Some(number) = self.plan.status_query.clone() {
            self.status_query(&number).await;
            return Ok(());
        }
        for step in ProbeStep::iter().filter(|step| self.plan.steps.contains(step)).collect::<Vec<_>>() {
            match step {
                ProbeStep::Mbank => self.mbank().await,
                ProbeStep::Card => self.cards().await,
                ProbeStep::PayForm => self.pay_form().await,
                ProbeStep::QrImage => self.qr_image().await,
                ProbeStep::Qr => self.qr().await,
            }
            self.played.push(step);
        }
        Ok(())
    }

    /// Reports what happened to the money of each payment, and the problems. Also after an interrupted run.
    pub fn conclude(&mut self) {
        let all = [String::new(), "== What happened to the money".to_owned()].into_iter().chain(self.money());
        for line in all.chain([String::new()]).chain(self.summary()).collect::<Vec<_>>() {
            self.say(&line);
        }
    }

    /// True if no finding has a problem, and no step was skipped.
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.problems.is_empty()) && self.skipped.is_empty()
    }

    /// The summary: everything that was not read, or that everything was.
    fn summary(&self) -> Vec<String> {
        let problems = self.findings.iter().map(|finding| finding.problems.len()).sum::<usize>();
        let mut unread = BTreeMap::<&str, BTreeSet<&str>>::new();
        for finding in self.findings.iter().filter(|finding| !finding.unread.is_empty()) {
            unread.entry(&finding.endpoint).or_default().extend(finding.unread.iter().map(String::as_str));
        }
        let is_left_out = |step: &ProbeStep| !self.played.contains(step);
        let left_out: Vec<&str> = ProbeStep::iter().filter(is_left_out).map(ProbeStep::name).collect();
        let mut lines = Vec::new();
        if problems > 0 {
            lines.push(format!("Problems: {problems}. Something is unread, unknown or contradictory."));
        }
        for (endpoint, places) in unread {
            let places: Vec<&str> = places.into_iter().collect();
            lines.push(format!("Not read in responses of {endpoint}: {}", places.join(" ")));
        }
        if !self.unlisted.is_empty() {
            let codes: Vec<&str> = self.unlisted.iter().map(String::as_str).collect();
            lines.push(format!("Codes of refusals in no list: {}", codes.join(", ")));
        }
        lines.extend(self.skipped.iter().map(|what| format!("Skipped: {what}")));
        if !left_out.is_empty() {
            lines.push(format!("Not run to the end: {}", left_out.join(", ")));
        }
        lines.extend(
            self.unopened.iter().map(|what| format!("Nobody opened the page of {what}, so its end was not seen.")),
        );
        if lines.is_empty() {
            lines.push("Everything was read: nothing is unread, unknown, contradictory or skipped.".to_owned());
        } else if problems == 0 {
            lines.insert(0, "No problems. What was not read or not run:".to_owned());
        }
        lines.iter().map(|line| self.scrubber.text(line)).collect()
    }

    /// The findings so far.
    pub fn findings(&self) -> &[ProbeFinding] {
        &self.findings
    }

    /// The dialect that fits, as the text of a file: the name of the nearest known one, and what differs.
    pub fn dialect_file(&self) -> String {
        self.proposed().file()
    }

    /// The report in Markdown: it contains no credentials, card numbers or phones.
    pub fn report(&self) -> String {
        let advice: Vec<String> = self.proposed().dialect().advice().iter().map(ToString::to_string).collect();
        let dialect = self.scrubber.text(&self.dialect_file());
        report(&self.findings, &Conclusion { summary: self.summary(), money: self.money(), advice, dialect })
    }

    fn money(&self) -> Vec<String> {
        let lines: Vec<String> = self.made.iter().map(|made| self.scrubber.text(&made.line())).collect();
        if lines.is_empty() { vec!["Nothing was created, so no money moved.".to_owned()] } else { lines }
    }

    /// Checks that the gateway is reachable and accepts the credentials, and learns how it answers about nonexistent payments.
    async fn reach(&mut self) -> Result<(), String> {
        let number = new_order_number();
        let by_order = self.gateway.provider_status(&number, Provider::Cards).await;
        match &by_order {
            Err(PaymentError::Unauthorized { .. }) => {
                return Err("the gateway does not accept the credentials: nothing was created".to_owned());
            }
            // A response of another form may still be the gateway's.
            Err(problem @ (PaymentError::Misconfigured { .. } | PaymentError::Unavailable { .. }))
                if !problem.body().is_some_and(is_json_object) =>
            {
                return Err(self
                    .scrubber
                    .text(&format!("the gateway cannot be queried, so nothing was created: {problem}")));
            }
            _ => {}
        }
        self.unknown_number("provider_status", "order number", by_order);
        let by_number = self.gateway.payment_status(&number, None).await;
        self.unknown_number("payment_status", "gateway number", by_number);
        Ok(())
    }

    fn unknown_number(&mut self, endpoint: &'static str, kind: &str, answer: Result<StatusReport, PaymentError>) {
        let request = format!("the status of a payment that does not exist, by its {kind}");
        let sent = Sent::of_status("a number that nobody has", endpoint, request, &answer).untaught();
        let mut finding = self.look(sent, &Known::default());
        // The answer about a nonexistent payment says nothing about other responses.
        finding.notes.append(&mut finding.problems);
        match &answer {
            Ok(report) => {
                self.answers_about_anything = true;
                let word = &report.status;
                match word {
                    PaymentStatus::Other(_) => {
                        finding.notes.push(format!("it reports {word} for a payment that does not exist"))
                    }
                    _ => {
                        finding.problems.push(format!("it reports {word} for a payment that does not exist"));
                        self.distrust(endpoint, &mut finding);
                    }
                }
            }
            Err(PaymentError::Refused { code: Some(code), .. }) => {
                finding.notes.push(format!("it refuses the query with code {code}"));
            }
            Err(problem) => finding.notes.push(format!("its refusal of such a query is not read: {problem}")),
        }
        self.keep(finding);
    }

    /// Records a payment before it is sent, so that an interrupted run reports it, too.
    fn begin(&mut self, what: &str, payment: PaymentRef) -> usize {
        let state = MoneyState::Pending("it was sent".to_owned());
        self.made.push(CreatedPayment { what: what.to_owned(), payment, state, is_known: false });
        self.made.len() - 1
    }

    /// Keeps the finding of a request that creates something; `None` if there is nothing to continue with.
    fn keep_made(
        &mut self,
        at: usize,
        mut finding: ProbeFinding,
        answer: Result<PaymentRef, PaymentError>,
        may_fail: bool,
    ) -> Option<PaymentRef> {
        let (payment, state) = match answer {
            Ok(payment) => (Some(payment), MoneyState::Pending("it was accepted".to_owned())),
            Err(PaymentError::OutcomeUnknown { payment, .. }) => {
                (Some(*payment), MoneyState::Pending("its outcome is unknown".to_owned()))
            }
            Err(problem @ PaymentError::Unexpected { .. }) => {
                finding.problems.push(format!("its response is not understood: {problem}"));
                (None, MoneyState::Pending("it may have been made; no money moves by it alone".to_owned()))
            }
            Err(problem) if may_fail => {
                finding.notes.push(format!("nothing was made, as may be with this card: {problem}"));
                (None, MoneyState::NotMade)
            }
            Err(problem) => {
                finding.problems.push(format!("nothing was made: {problem}"));
                (None, MoneyState::NotMade)
            }
        };
        if let Some(made) = self.made.get_mut(at) {
            made.state = state;
            if let Some(payment) = &payment {
                made.payment = payment.clone();
            }
        }
        self.keep(finding);
        payment
    }

    fn update(&mut self, at: usize, payment: &PaymentRef) {
        if let Some(made) = self.made.get_mut(at) {
            made.payment = payment.clone();
        }
    }

    fn leave_pending(&mut self, at: usize, why: &str) {
        if let Some(made) = self.made.get_mut(at) {
            made.state = MoneyState::Pending(why.to_owned());
        }
    }

    fn skip(&mut self, what: &str) {
        self.say(&format!("Skipped: {what}"));
        self.skipped.push(what.to_owned());
    }

    /// Shows a line, with control characters of the gateway escaped.
    fn say(&mut self, line: &str) {
        self.talk.say(&visible(line));
    }

    async fn may(&mut self, question: &str) -> bool {
        self.talk.may(&visible(&self.scrubber.text(question))).await
    }

    /// Waits until a person has visited a page, and records if nobody did.
    async fn visit(&mut self, of: &str, task: &str) -> bool {
        let was_opened = self.talk.wait_for(&visible(task)).await;
        if !was_opened {
            self.unopened.push(of.to_owned());
        }
        was_opened
    }

    fn problem(&mut self, step: &str, endpoint: &str, problem: &str) {
        self.keep(ProbeFinding {
            step: step.to_owned(),
            endpoint: endpoint.to_owned(),
            request: "as above".to_owned(),
            answer: "as above".to_owned(),
            problems: vec![problem.to_owned()],
            ..ProbeFinding::default()
        });
    }

    fn keep(&mut self, finding: ProbeFinding) {
        let finding = finding.map(|text| self.scrubber.text(text));
        for line in finding.lines() {
            self.say(&line);
        }
        self.findings.push(finding);
    }
}

fn or_none(text: Option<&str>) -> &str {
    text.filter(|text| !text.is_empty()).unwrap_or("none")
}

fn is_json_object(body: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(body).is_ok_and(|body| body.is_object())
}
