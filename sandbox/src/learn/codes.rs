//! The meaning of codes, inferred from the outcomes of payments. A code that
//! occurs only with refusals is listed as one only if a person confirms it.

use std::collections::BTreeMap;

use strum::VariantArray;

use super::{
    Learner,
    answers::Meaning,
    endpoint::{Endpoint, Field, FieldOf, Role},
    exchanges::{Observed, Value},
    report::{At, Finding, OpenPoint},
    values::is_amount_of,
};

/// A dialect's lists of codes.
pub(super) const SUCCESS: &str = "success_codes";
const REFUSAL: &str = "refusal_codes";
const UNKNOWN: &str = "unknown_codes";
const DUPLICATE: &str = "duplicate_codes";

/// The responses with one code.
#[derive(Default)]
struct Uses {
    all: Vec<At>,
    /// With HTTP 2xx.
    ok: Vec<At>,
    /// Responses of successful requests: the payment was charged later, or the page or QR code was returned.
    succeeded: Vec<At>,
    /// Responses with this code although the payment existed later, or was charged by this confirmation.
    existed: Vec<At>,
    /// Responses to a number that was used before.
    repeated: Vec<At>,
    /// Responses of confirmations that had to be repeated.
    sent_again: Vec<At>,
}

impl Learner<'_> {
    pub(super) fn learn_codes(&mut self) {
        for endpoint in Endpoint::VARIANTS.iter().copied().filter(|endpoint| endpoint.role() != Role::Queries) {
            if self.place(FieldOf(endpoint, Field::Code)).is_some() {
                self.learn_codes_of(endpoint);
            }
        }
    }

    fn learn_codes_of(&mut self, endpoint: Endpoint) {
        let mut codes: BTreeMap<String, Uses> = BTreeMap::new();
        for seen in self.exchanges.at(endpoint) {
            if let Some(code) = self.code(seen) {
                let succeeded = self.has_succeeded(seen);
                let existed = self.existed_after(seen);
                let uses = codes.entry(code.to_owned()).or_default();
                uses.add(seen, succeeded, existed, self.was_sent_again(seen));
            }
        }
        let mut lists: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for (code, uses) in &codes {
            let said = self.answers.code(endpoint, code);
            let is_ambiguous =
                !uses.succeeded.is_empty() && (uses.ok.len() < uses.all.len() || !uses.sent_again.is_empty());
            if is_ambiguous {
                let because = format!("code {code:?} was returned for accepted requests and for others");
                self.findings.ambiguous.push(OpenPoint::new(
                    format!("{endpoint}.{SUCCESS}"),
                    because,
                    uses.all.clone(),
                ));
                continue;
            }
            if let Some(list) = self.list_of(endpoint, code, uses, said) {
                lists.entry(list).or_default().push(code.clone());
            }
        }
        if lists.get(SUCCESS).is_some_and(|codes| codes == endpoint.shown_codes()) {
            lists.remove(SUCCESS);
        }
        for (list, codes) in lists {
            self.draft.codes.insert((endpoint, list), codes);
        }
    }

    fn list_of(&mut self, endpoint: Endpoint, code: &str, uses: &Uses, said: Option<Meaning>) -> Option<&'static str> {
        let (list, because, at) = if !uses.succeeded.is_empty() {
            (SUCCESS, "the payments were charged later, or the page or QR code was returned", &uses.succeeded)
        } else if uses.repeated.len() == uses.all.len() && endpoint.role() == Role::Creates {
            (DUPLICATE, "it was returned only when an order number was used again", &uses.repeated)
        } else if !uses.existed.is_empty() && uses.ok.is_empty() {
            (UNKNOWN, "it was returned with an error, and the payment existed later", &uses.existed)
        } else {
            return self.said_list(endpoint, code, uses, said);
        };
        let matches = match said {
            None => true,
            Some(Meaning::Success) => list == SUCCESS,
            Some(Meaning::Duplicate) => list == DUPLICATE,
            Some(Meaning::Unknown) => list == UNKNOWN,
            Some(_) => false,
        };
        if !matches {
            let subject = format!("--confirm {endpoint}:{code}");
            self.findings.contradicted.push(OpenPoint::new(subject, because, at.clone()));
        }
        self.findings.learned.push(Finding::new(
            format!("{endpoint}.{list}"),
            format!("{code:?}"),
            because,
            at.clone(),
        ));
        Some(list)
    }

    /// A person's answer about a code whose meaning nothing else shows.
    fn said_list(
        &mut self,
        endpoint: Endpoint,
        code: &str,
        uses: &Uses,
        said: Option<Meaning>,
    ) -> Option<&'static str> {
        let list = match said {
            Some(Meaning::Success) => SUCCESS,
            Some(Meaning::Refusal) if uses.existed.is_empty() && uses.repeated.is_empty() => REFUSAL,
            Some(Meaning::Refusal) => {
                let (because, at) = if uses.existed.is_empty() {
                    (
                        "it was returned for an order number that was used before, whose payment may exist",
                        &uses.repeated,
                    )
                } else {
                    ("the payment existed later, so this is not a refusal", &uses.existed)
                };
                let subject = format!("--confirm {endpoint}:{code}=refusal");
                self.findings.contradicted.push(OpenPoint::new(subject, because, at.clone()));
                return None;
            }
            Some(Meaning::Unknown) => UNKNOWN,
            Some(Meaning::Duplicate) => DUPLICATE,
            _ => {
                // Without an entry, the core treats it as unknown with HTTP 2xx, and by its HTTP status otherwise: both are safe.
                if !uses.ok.is_empty() {
                    let because = "no payment with it was charged; without an entry Kassa takes the result as unknown";
                    let subject = format!("code {code:?} of {endpoint}");
                    let point = OpenPoint::new(subject, because, uses.ok.clone());
                    let point =
                        point.with(format!("--confirm {endpoint}:{code}=refusal    if no money can move after it"));
                    self.findings
                        .hints
                        .push(point.with(format!("--confirm {endpoint}:{code}=success    if it was accepted")));
                }
                return None;
            }
        };
        let key = format!("{endpoint}.{list}");
        self.findings.learned.push(Finding::new(key, format!("{code:?}"), "you confirmed it", uses.all.clone()));
        Some(list)
    }

    fn has_succeeded(&self, seen: &Observed) -> bool {
        let has =
            |field: Field| self.place(FieldOf(seen.endpoint, field)).is_some_and(|place| seen.value(place).is_some());
        seen.is_ok()
            && match seen.endpoint {
                Endpoint::PayForm => has(Field::PayFormUrl),
                Endpoint::QrImage => has(Field::Image),
                Endpoint::QrData => has(Field::QrPayload) || has(Field::TransactionId),
                Endpoint::MegapayCheck => {
                    self.later(seen).any(|later| later.endpoint == Endpoint::MegapayPay && later.is_ok())
                }
                _ => !seen.is_repeat && !self.was_sent_again(seen) && self.was_charged_after(seen),
            }
    }

    /// Later exchanges of the same payment. If its number was used again, and
    /// that was accepted with another code, they belong to the second attempt.
    fn later<'s>(&'s self, seen: &'s Observed) -> impl Iterator<Item = &'s Observed> {
        let all = self.exchanges.payment(seen).exchanges.iter().map(|index| &self.exchanges.seen[*index]);
        let is_second_attempt = move |later: &&Observed| {
            let is_create = later.endpoint == seen.endpoint && seen.endpoint.role() == Role::Creates;
            is_create && later.is_ok() && self.code(later) != self.code(seen)
        };
        all.filter(|later| later.at > seen.at).take_while(move |later| !is_second_attempt(later))
    }

    /// Whether the payment existed after an exchange: a query returned its status word, one of its
    /// numbers or its amount. For a confirmation: whether the payment was charged without another one.
    fn existed_after(&self, seen: &Observed) -> bool {
        let payment = self.exchanges.payment(seen);
        let has_its_own = |value: &Value| payment.has_number(&value.text) || is_amount_of(payment, value);
        let is_report = |later: &Observed| {
            Endpoint::QUERIES.contains(&later.endpoint)
                && later.is_ok()
                && (self.word(later).is_some()
                    || later.response.iter().any(|value| value.is_readable() && has_its_own(value)))
        };
        match seen.endpoint.role() {
            Role::Creates => !seen.is_repeat && self.later(seen).any(is_report),
            Role::Confirms => {
                !self.later(seen).any(|later| later.endpoint == seen.endpoint)
                    && (self.was_charged_after(seen) || self.went_on_after(seen))
            }
            Role::Queries => false,
        }
    }

    /// Whether the payment's word changed after a confirmation, and not to
    /// one that means a failure: the confirmation may have had an effect.
    fn went_on_after(&self, seen: &Observed) -> bool {
        let all = self.exchanges.payment(seen).exchanges.iter().map(|index| &self.exchanges.seen[*index]);
        let before: Vec<_> = all.filter(|other| other.at < seen.at).filter_map(|other| self.word(other)).collect();
        let failed = |other: &Observed| {
            self.failures.get(&seen.payment).into_iter().flatten().any(|failure| failure.at == other.at)
        };
        let mut after = self.later(seen).filter(|other| !failed(other)).filter_map(|other| self.word(other));
        !before.is_empty() && after.any(|word| !before.contains(&word))
    }

    fn was_charged_after(&self, seen: &Observed) -> bool {
        self.later(seen).any(|later| self.word(later).is_some_and(|word| self.is_charged(later.endpoint, word)))
    }

    /// Whether another confirmation of the same payment followed and got another code, as after a wrong password.
    fn was_sent_again(&self, seen: &Observed) -> bool {
        let is_second =
            |later: &Observed| later.endpoint == seen.endpoint && later.is_ok() && self.code(later) != self.code(seen);
        seen.endpoint.role() == Role::Confirms && self.later(seen).any(is_second)
    }
}

impl Uses {
    fn add(&mut self, seen: &Observed, succeeded: bool, existed: bool, sent_again: bool) {
        self.all.push(seen.at);
        for (holds, list) in [
            (seen.is_ok(), &mut self.ok),
            (succeeded, &mut self.succeeded),
            (existed, &mut self.existed),
            (seen.is_repeat, &mut self.repeated),
            (sent_again, &mut self.sent_again),
        ] {
            if holds {
                list.push(seen.at);
            }
        }
    }
}
