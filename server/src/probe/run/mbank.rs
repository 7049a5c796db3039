//! The mobile bank: create, confirm with the identifier in each of its places, follow.

use kassa::{MbankPayment, PaymentRef, new_order_number};

use super::{DESCRIPTION, Probe, Sent, or_none};
use crate::probe::{
    ledger::{Made, MadeState},
    proposal::{Known, Leaf, Proposal},
};

/// A place of the mobile bank's identifier in a confirmation.
struct Place {
    words: String,
    payment: PaymentRef,
    proposal: Proposal,
}

impl Probe<'_> {
    pub(super) async fn mbank(&mut self) {
        let order = new_order_number();
        let amount = self.plan.amount_som;
        let question =
            format!("Create a mobile-bank payment of {amount} som for the test phone (order number {order})?");
        if !self.talk.may(&question).await {
            return self.skip("mobile bank");
        }
        let payment =
            MbankPayment::new(&order, amount, &self.plan.phone, DESCRIPTION).with_callback_url(&self.plan.callback_url);
        let known = self.known(&order);
        let at = self.begin("mobile bank", payment.payment_ref());
        let answer = self.gateway.create_mbank_payment(payment).await;
        let request = format!("{amount} som, order number {order}");
        let sent = Sent::of("mobile bank: create", "mbank_payment", request, &answer, |made| {
            (format!("accepted, code {}", or_none(made.code.as_deref())), made.raw.as_str())
        });
        let raw = sent.raw.clone().unwrap_or_default();
        let is_accepted = answer.is_ok();
        let finding = self.look(sent, &known);
        let Some(payment) = self.keep_made(at, finding, answer.map(|created| created.payment), false) else { return };
        let numbers = self.numbers_in("mbank_payment", &raw, &order);
        let payment = self.with_number("mbank_payment", payment, &numbers, &known).await;
        self.update(at, &payment);
        let is_found = self.statuses("mobile bank, before the confirmation", &payment, &known).await;
        if !is_found && !is_accepted {
            return self.skip("mobile bank: confirm, as nothing is known of the payment");
        }
        let confirmed = self.confirm(at, &payment, &numbers, &known).await;
        self.follow("mobile bank: outcome", at, &payment, confirmed.is_some()).await;
        self.accept_code("mbank_payment", &raw, at);
        let is_charged = matches!(self.made.get(at), Some(Made { state: MadeState::Charged, .. }));
        if let Some(raw) = confirmed.filter(|_| is_charged) {
            self.accept_code("mbank_confirm", &raw, at);
        }
        self.statuses("mobile bank, afterwards", &payment, &known).await;
    }

    /// Confirms the payment with the identifier in each of its places, one after the other, until one is accepted. The reply
    /// where the payment must come to an end.
    async fn confirm(&mut self, at: usize, payment: &PaymentRef, numbers: &[Leaf], known: &Known) -> Option<String> {
        for (index, place) in self.places(payment, numbers).into_iter().enumerate() {
            let question = format!("Confirm that payment by the test password, {}?", place.words);
            if !self.talk.may(&question).await {
                self.skip("mobile bank: confirm");
                return None;
            }
            let Ok(gateway) = self.gateway_with(&place.proposal) else { continue };
            self.open(at, "a confirmation was sent");
            let answer = gateway.confirm_mbank_payment(&place.payment, &self.plan.otp).await;
            let sent = Sent::of("mobile bank: confirm", "mbank_confirm", place.words.clone(), &answer, |done| {
                (format!("accepted, code {}", or_none(done.code.as_deref())), done.raw.as_str())
            });
            let raw = sent.raw.clone().unwrap_or_default();
            let mut finding = self.look(sent, known);
            // An unknown outcome is no refusal: what the gateway reports of the payment decides.
            let is_charged = answer.is_err() && self.is_charged(at, payment).await;
            let is_accepted = answer.is_ok() || is_charged;
            if is_accepted && index > 0 {
                let problem =
                    format!("it takes the confirmation {}, and the given dialect sends another one", place.words);
                finding.problems.push(problem);
            }
            self.keep(finding);
            if is_accepted {
                self.proposal.adopt_identifier(&place.proposal);
                self.renew();
                return Some(raw);
            }
            if matches!(self.made.get(at), Some(Made { state: MadeState::Rejected, .. })) {
                return Some(String::new());
            }
        }
        self.problem("mobile bank: confirm", "mbank_confirm", "it accepts the identifier in none of its places");
        None
    }

    /// As the dialect says first; then in a field of the identifier's own name, in the place of the order number, and nowhere.
    fn places(&self, payment: &PaymentRef, numbers: &[Leaf]) -> Vec<Place> {
        let told = self.proposal.confirm_field();
        // The number that was asked by is the surest candidate.
        let asked_by = numbers.iter().find(|leaf| payment.gateway_number.as_ref() == Some(&leaf.text));
        let leaf = asked_by.or(numbers.first());
        let (identifier, pointer) = match &payment.confirm_identifier {
            Some(identifier) => (Some(identifier.clone()), None),
            None => (leaf.map(|leaf| leaf.json.clone()), leaf.map(|leaf| leaf.pointer.as_str())),
        };
        let mut fields = vec![told.clone().flatten().filter(|_| payment.confirm_identifier.is_some())];
        let named = leaf.map(|leaf| leaf.key.clone());
        let others = named.into_iter().chain(["orderNumber".to_owned()]).map(Some).filter(|_| identifier.is_some());
        for field in others.chain([None]) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        let place = |(index, field): (usize, Option<String>)| {
            let mut proposal = self.proposal.clone();
            if index > 0 && (field.is_some() || told.is_some()) {
                proposal.set_identifier(pointer, field.as_deref());
            }
            let mut payment = payment.clone();
            payment.confirm_identifier = identifier.clone().filter(|_| field.is_some());
            let words = match field.as_deref() {
                Some("orderNumber") => "with its identifier in the place of the order number".to_owned(),
                Some(field) => format!("with its identifier in the field {field}"),
                None => "without its identifier".to_owned(),
            };
            Place { words, payment, proposal }
        };
        fields.into_iter().enumerate().map(place).collect()
    }
}
