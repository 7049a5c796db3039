//! Responses: shown with the values that the given dialect reads in them, and used for learning.

use kassa::{Gateway, PaymentError, StatusReport};

use super::Probe;
use crate::probe::{
    finding::ProbeFinding,
    proposal::{Known, Leaf, Proposal, field, leaves, reading, same_word},
};

/// The shortest text that may be a number of the gateway.
const SHORTEST_NUMBER: usize = 6;
/// The most numbers of a response that are queried.
const MOST_NUMBERS: usize = 6;

/// A request, and its result.
pub(super) struct Sent<'a> {
    step: &'a str,
    endpoint: &'static str,
    request: String,
    /// The result in words.
    answer: String,
    pub(super) raw: Option<String>,
    pub(super) came: Came,
    /// Whether the dialect may learn from the response: it has a successful HTTP status, and is about something that exists.
    teaches: bool,
}

impl<'a> Sent<'a> {
    pub(super) fn of<T>(
        step: &'a str,
        endpoint: &'static str,
        request: String,
        answer: &Result<T, PaymentError>,
        parts: impl FnOnce(&T) -> (String, &str),
    ) -> Self {
        match answer {
            Ok(answer) => {
                let (answer, raw) = parts(answer);
                let raw = Some(raw.to_owned());
                Self { step, endpoint, request, answer, raw, came: Came::Accepted, teaches: true }
            }
            Err(error) => Self {
                step,
                endpoint,
                request,
                answer: error.to_string(),
                raw: error.body().map(str::to_owned),
                came: Came::of(error),
                teaches: error.http_status().is_some_and(|status| (200..300).contains(&status)),
            },
        }
    }

    /// A request about something that does not exist, so that nothing in its response is learned.
    pub(super) fn untaught(self) -> Self {
        Self { teaches: false, ..self }
    }

    pub(super) fn of_status(
        step: &'a str,
        endpoint: &'static str,
        request: String,
        answer: &Result<StatusReport, PaymentError>,
    ) -> Self {
        Self::of(step, endpoint, request, answer, |report| {
            let amount = report.amount.map(|amount| format!(", amount {amount}")).unwrap_or_default();
            let number = report.order_number.as_ref().map(|number| format!(", number {number}")).unwrap_or_default();
            (format!("{}{amount}{number}", report.status), report.raw.as_str())
        })
    }
}

/// The kind of a response.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Came {
    /// It is an answer.
    Accepted,
    /// A certain refusal, or no response.
    No,
    /// It is not understood, or its outcome is unknown.
    NotUnderstood,
}

impl Came {
    fn of(error: &PaymentError) -> Self {
        match error {
            PaymentError::OutcomeUnknown { .. } | PaymentError::Unexpected { .. } => Self::NotUnderstood,
            _ => Self::No,
        }
    }
}

impl Probe<'_> {
    /// Shows a response with the values that the given dialect reads in it, and learns from it.
    pub(super) fn look(&mut self, sent: Sent<'_>, known: &Known) -> ProbeFinding {
        let mut finding = ProbeFinding {
            step: sent.step.to_owned(),
            endpoint: sent.endpoint.to_owned(),
            request: sent.request,
            answer: sent.answer,
            raw: sent.raw.clone(),
            ..ProbeFinding::default()
        };
        let Some(raw) = sent.raw.filter(|raw| !raw.trim().is_empty()) else {
            if sent.came == Came::NotUnderstood {
                finding.problems.push("no response came, or an empty one".to_owned());
            }
            return finding;
        };
        let Some(read) = reading(&self.given, sent.endpoint, &raw) else { return finding };
        let of = |name: &str| read.fields.iter().find(|field| field.name == name).map(|field| field.value.clone());
        let is_query = sent.endpoint.ends_with("_status");
        if let Some(problem) = read.problem.clone().filter(|_| sent.came == Came::NotUnderstood) {
            finding.problems.push(format!("it is not an answer in the given dialect: {problem}"));
        }
        if sent.came != Came::No {
            let missing = needed(sent.endpoint).iter().filter(|name| of(name).is_none());
            finding.problems.extend(missing.map(|name| format!("the dialect finds no {name}")));
        }
        if let Some(code) = of("code").filter(|_| read.code_means.is_none() && !is_query) {
            match sent.came {
                Came::No => {
                    self.unlisted.insert(format!("{code} of {}", sent.endpoint));
                    finding.notes.push(format!("code {code} is in no list: if it surely means refused, list it there"))
                }
                _ => finding.problems.push(format!("code {code} is in no list of the given dialect")),
            }
        }
        if sent.teaches {
            self.learn(sent.endpoint, &raw, known);
        }
        finding.problems.extend(self.learned.drain(..).map(|place| format!("unread: {place}")));
        let means = reading(self.proposal.dialect(), sent.endpoint, &raw).and_then(|read| read.status_means);
        if let Some(means) =
            means.filter(|means| is_query && means != "pending" && read.status_means.as_ref() != Some(means))
        {
            finding.problems.push(format!("the given dialect does not know that its status means {means}"));
        }
        finding.fields = read.fields.into_iter().map(|field| (field.name, field.pointer, field.value)).collect();
        finding.unread = read.unread;
        finding
    }

    /// Learns from a response. True if something was learned.
    pub(super) fn learn(&mut self, endpoint: &'static str, raw: &str, known: &Known) -> bool {
        let Some(read) = reading(self.proposal.dialect(), endpoint, raw) else { return false };
        let learned = self.proposal.learn(endpoint, raw, &read, known);
        let has_learned = !learned.is_empty();
        if has_learned {
            self.learned.extend(learned);
            self.renew();
        }
        has_learned
    }

    /// Lists the code of a response without a status as a success, if the response contains the requested data.
    pub(super) fn accept_made(&mut self, endpoint: &'static str, wanted: &str, raw: &str, at: usize) {
        if let Some(made) = self.made.get_mut(at) {
            made.is_known |= field(self.proposal.dialect(), endpoint, raw, wanted).is_some();
        }
        self.accept_code(endpoint, raw, at);
    }

    /// Lists the code of a response as a success, if the gateway knows the payment, which proves that the request succeeded.
    pub(super) fn accept_code(&mut self, endpoint: &'static str, raw: &str, at: usize) {
        if !self.made.get(at).is_some_and(|made| made.is_known) {
            return;
        }
        let is_listed = reading(self.proposal.dialect(), endpoint, raw).is_none_or(|read| read.code_means.is_some());
        let code = field(self.proposal.dialect(), endpoint, raw, "code");
        if let Some(code) = code.filter(|_| !is_listed)
            && self.proposal.put_success_code(endpoint, &code)
        {
            self.renew();
        }
    }

    /// Unread values of a response that look like a number of the gateway.
    pub(super) fn numbers_in(&self, endpoint: &str, raw: &str, order: &str) -> Vec<Leaf> {
        let read = reading(self.proposal.dialect(), endpoint, raw);
        let unread = read.map(|read| read.unread).unwrap_or_default();
        let is_number = |leaf: &Leaf| {
            let text = &leaf.text;
            let has_signs = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
            has_signs && has_digit && text.len() >= SHORTEST_NUMBER && text != order && unread.contains(&leaf.pointer)
        };
        leaves(raw).into_iter().filter(is_number).take(MOST_NUMBERS).collect()
    }

    /// Withdraws a status word that is seen before money can have moved: it does not mean charged. If a person named it, that is
    /// withdrawn; if the given dialect has it, that is a problem. It is proposed in no list. True in the second case.
    pub(super) fn distrust(&mut self, endpoint: &str, finding: &mut ProbeFinding) -> bool {
        let raw = finding.raw.clone().unwrap_or_default();
        let means = reading(self.proposal.dialect(), endpoint, &raw).and_then(|read| read.status_means);
        let word = field(self.proposal.dialect(), endpoint, &raw, "status");
        let Some(word) = word.filter(|_| means.as_deref() == Some("charged")) else { return false };
        let is_named = self.plan.charged_words.iter().any(|named| same_word(named, &word));
        let is_given = Proposal::new(&self.given).has_word_at(endpoint, "charged_words", &word);
        if is_named && !is_given && self.proposal.withdraw_word("charged_words", &word) {
            self.renew();
            finding.problems.push(format!(
                "it says {word:?} before the payment can be paid, so this word does not mean charged: it is not proposed"
            ));
            return false;
        }
        finding.problems.push(format!(
            "it says {word:?} before the payment can be paid, and the given dialect reads that as charged: ask the gateway what \
             the word means"
        ));
        self.distrusted.insert(word);
        true
    }

    /// The proposed dialect: everything learned, without the words of the given dialect that turned out not to mean charged. They apply
    /// until the end of the run, so that no payment is confirmed that the given dialect reads as charged.
    pub(super) fn proposed(&self) -> Proposal {
        let mut proposed = self.proposal.clone();
        for word in &self.distrusted {
            proposed.withdraw_word("charged_words", word);
        }
        proposed
    }

    /// Reverts changes learned from a response that turned out to be about nothing.
    pub(super) fn forget(&mut self, before: Proposal) {
        self.learned.clear();
        self.proposal = before;
        self.renew();
    }

    pub(super) fn known(&self, order: &str) -> Known {
        Known {
            order_number: Some(order.to_owned()),
            amounts: vec![self.plan.amount_som.into()],
            addresses: vec![self.plan.callback_url.clone(), self.plan.return_url.clone()],
        }
    }

    pub(super) fn gateway_with(&self, proposal: &Proposal) -> Result<Gateway, PaymentError> {
        Gateway::new(self.config.clone().with_dialect(proposal.dialect().clone()))
    }

    /// Applies what was learned from the next request on.
    pub(super) fn renew(&mut self) {
        if let Ok(gateway) = self.gateway_with(&self.proposal) {
            self.gateway = gateway;
        }
    }
}

/// The fields that a response of an endpoint must have.
fn needed(endpoint: &str) -> &'static [&'static str] {
    match endpoint {
        "card_payment" | "mbank_payment" | "mbank_confirm" => &["code"],
        "payment_status" | "provider_status" | "qr_status" => &["status"],
        "pay_form" => &["pay_form_url"],
        "qr_data" => &["qr_payload", "transaction_id"],
        _ => &[],
    }
}
