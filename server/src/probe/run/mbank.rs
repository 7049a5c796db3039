//! The mobile bank: create, confirm with the identifier in each possible place, poll.

use kassa::{MbankPayment, PaymentRef, new_order_number};

use super::{
    DESCRIPTION, Probe, or_none,
    responses::{Came, Sent},
    status::Stage,
};
use crate::probe::{
    ledger::MoneyState,
    proposal::{Known, Leaf, Proposal},
};

/// The result of the confirmations. At most one of them may have moved money.
enum Confirmed {
    /// None was accepted, or none was permitted.
    No,
    /// It was refused, and the payment has still ended.
    Ended,
    /// This one was accepted, or its outcome is unknown: the status decides.
    MayBe { place: Box<IdentifierPlacement>, is_first: bool, raw: String, is_unknown: bool },
}

/// A place of the mobile bank's identifier in a confirmation.
struct IdentifierPlacement {
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
        if !self.may(&question).await {
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
        let step = "mobile bank, before the confirmation";
        let is_found = self.statuses(step, &payment, &known, Stage::Unpaid).await;
        if self.is_charged_early {
            self.leave_pending(at, "the gateway says before the confirmation that it is charged");
            return self.skip("mobile bank: confirm, as the gateway says that the payment is charged already");
        }
        if !is_found && !is_accepted {
            return self.skip("mobile bank: confirm, as nothing is known of the payment");
        }
        let confirmed = self.confirm(at, &payment, &numbers, &known).await;
        self.follow("mobile bank: outcome", at, &payment, !matches!(confirmed, Confirmed::No)).await;
        self.accept_code("mbank_payment", &raw, at);
        self.accept_confirmation(at, confirmed);
        self.statuses("mobile bank, afterwards", &payment, &known, Stage::MayBePaid).await;
    }

    /// Adopts the form of the confirmation, if it was accepted or is known to have moved the money.
    fn accept_confirmation(&mut self, at: usize, confirmed: Confirmed) {
        let Confirmed::MayBe { place, is_first, raw, is_unknown } = confirmed else { return };
        match self.made.get(at).map(|made| &made.state) {
            Some(MoneyState::Charged) => self.accept_code("mbank_confirm", &raw, at),
            Some(MoneyState::Rejected) if is_unknown => return,
            _ if is_unknown => {
                let problem = "the outcome of the confirmation is unknown, and no status query shows it: it is not sent again. Look into \
                    the gateway's dashboard";
                return self.problem("mobile bank: confirm", "mbank_confirm", problem);
            }
            _ => {}
        }
        if !is_first {
            let problem = format!("it takes the confirmation {}, and the given dialect sends another one", place.words);
            self.problem("mobile bank: confirm", "mbank_confirm", &problem);
        }
        self.proposal.adopt_identifier(&place.proposal);
        self.renew();
    }

    /// Confirms the payment with the identifier in each of its places, one after the other, until one is not certainly refused. A
    /// confirmation whose outcome is unknown may have moved the money, so none follows it.
    async fn confirm(&mut self, at: usize, payment: &PaymentRef, numbers: &[Leaf], known: &Known) -> Confirmed {
        for (index, place) in self.places(payment, numbers).into_iter().enumerate() {
            let question = format!("Confirm that payment by the test password, {}?", place.words);
            if !self.may(&question).await {
                self.skip("mobile bank: confirm");
                return Confirmed::No;
            }
            let Ok(gateway) = self.gateway_with(&place.proposal) else { continue };
            self.leave_pending(at, "a confirmation was sent");
            let answer = gateway.confirm_mbank_payment(&place.payment, &self.plan.otp).await;
            let sent = Sent::of("mobile bank: confirm", "mbank_confirm", place.words.clone(), &answer, |done| {
                (format!("accepted, code {}", or_none(done.code.as_deref())), done.raw.as_str())
            });
            let raw = sent.raw.clone().unwrap_or_default();
            let is_refused = sent.came == Came::No;
            let finding = self.look(sent, known);
            self.keep(finding);
            if !is_refused {
                return Confirmed::MayBe {
                    place: Box::new(place),
                    is_first: index == 0,
                    raw,
                    is_unknown: answer.is_err(),
                };
            }
            // A payment that has ended takes no other confirmation.
            if self.has_ended(at, payment).await {
                return Confirmed::Ended;
            }
        }
        self.problem("mobile bank: confirm", "mbank_confirm", "it accepts the identifier in none of its places");
        Confirmed::No
    }

    /// The places to try: the dialect's first; then a field with the identifier's own name, the field
    /// of the order number, and none.
    fn places(&self, payment: &PaymentRef, numbers: &[Leaf]) -> Vec<IdentifierPlacement> {
        let proposed = self.proposal.confirm_field();
        // The number of the query is the surest candidate.
        let asked_by = numbers.iter().find(|leaf| payment.gateway_number.as_ref() == Some(&leaf.text));
        let leaf = asked_by.or(numbers.first());
        let (identifier, pointer) = match &payment.confirm_identifier {
            Some(identifier) => (Some(identifier.clone()), None),
            None => (leaf.map(|leaf| leaf.json.clone()), leaf.map(|leaf| leaf.pointer.as_str())),
        };
        let mut fields = vec![proposed.clone().flatten().filter(|_| payment.confirm_identifier.is_some())];
        let named = leaf.map(|leaf| leaf.key.clone());
        let others = named.into_iter().chain(["orderNumber".to_owned()]).map(Some).filter(|_| identifier.is_some());
        for field in others.chain([None]) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        let place = |(index, field): (usize, Option<String>)| {
            let mut proposal = self.proposal.clone();
            if index > 0 && (field.is_some() || proposed.is_some()) {
                proposal.set_identifier(pointer, field.as_deref());
            }
            let mut payment = payment.clone();
            payment.confirm_identifier = identifier.clone().filter(|_| field.is_some());
            let words = match field.as_deref() {
                Some("orderNumber") => "with its identifier in the place of the order number".to_owned(),
                Some(field) => format!("with its identifier in the field {field}"),
                None => "without its identifier".to_owned(),
            };
            IdentifierPlacement { words, payment, proposal }
        };
        fields.into_iter().enumerate().map(place).collect()
    }
}
