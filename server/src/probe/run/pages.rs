//! Payments for which a payer opens a page: cards and the pay-form.

use kassa::{Card, CardPayment, CardPaymentCreated, NextStep, PayForm, new_order_number};
use time::OffsetDateTime;

use super::{DESCRIPTION, Probe, or_none, responses::Sent, status::Stage};
use crate::probe::{
    plan::{WITHOUT_3DS, card_label},
    proposal::{Known, field},
    text::shown,
};

impl Probe<'_> {
    pub(super) async fn cards(&mut self) {
        for number in self.plan.cards.clone() {
            self.card(&number).await;
        }
    }

    async fn card(&mut self, number: &str) {
        let order = new_order_number();
        let (amount, label) = (self.plan.amount_som, card_label(number));
        let card = Card::new(number, "12", OffsetDateTime::now_utc().year() + 2, "123", "Test Payer");
        let what = format!("card {} ({label})", card.masked_number());
        let question = format!("Create a payment of {amount} KGS by test {what} (order number {order})?");
        if !self.may(&question).await {
            return self.skip(&what);
        }
        let payment = CardPayment::new(&order, amount.into(), "KGS", card, &self.plan.callback_url)
            .with_description(DESCRIPTION)
            .with_language("en")
            .with_ip("127.0.0.1")
            .with_return_url(&self.plan.return_url);
        let known = self.known(&order);
        let at = self.begin(&what, payment.payment_ref());
        let answer = self.gateway.create_card_payment(payment).await;
        let step = format!("{what}: create");
        let request = format!("{amount} KGS, order number {order}");
        let sent = Sent::of(&step, "card_payment", request, &answer, |made| (next_step(made), made.raw.as_str()));
        let raw = sent.raw.clone().unwrap_or_default();
        let finding = self.look(sent, &known);
        let page = match &answer {
            Ok(CardPaymentCreated { next_step: NextStep::OpenConfirmation { url, .. }, .. }) => Some(url.clone()),
            Ok(_) => None,
            Err(_) => field(self.proposal.dialect(), "card_payment", &raw, "confirmation_url"),
        };
        let may_fail = label == WITHOUT_3DS;
        let Some(payment) = self.keep_made(at, finding, answer.map(|created| created.payment), may_fail) else {
            return;
        };
        let numbers = self.numbers_in("card_payment", &raw, &order);
        let payment = self.with_number("card_payment", payment, &numbers, &known).await;
        self.update(at, &payment);
        let must_end = match page {
            None => true,
            Some(page) => {
                self.statuses(&format!("{what}: status before its page"), &payment, &known, Stage::Unpaid).await;
                let task = format!("Open {page} in a browser, confirm the payment there, then press Enter.");
                self.visit(&what, &task).await
            }
        };
        if must_end {
            self.statuses(&format!("{what}: status"), &payment, &known, Stage::MayBePaid).await;
        }
        self.follow(&format!("{what}: outcome"), at, &payment, must_end).await;
        self.accept_code("card_payment", &raw, at);
    }

    pub(super) async fn pay_form(&mut self) {
        let amount = self.plan.amount_som;
        if !self.may(&format!("Create a pay-form of {amount} som?")).await {
            return self.skip("pay-form");
        }
        let form =
            PayForm::new(amount.into(), DESCRIPTION, &self.plan.callback_url).with_return_url(&self.plan.return_url);
        let known = Known { order_number: None, ..self.known("") };
        let at = self.begin("pay-form", form.payment_ref());
        let answer = self.gateway.create_pay_form(form).await;
        let sent = Sent::of("pay-form: create", "pay_form", format!("{amount} som"), &answer, |made| {
            (format!("a page: {}", made.pay_form_url), made.raw.as_str())
        });
        let raw = sent.raw.clone().unwrap_or_default();
        let finding = self.look(sent, &known);
        let page = answer.as_ref().ok().map(|made| made.pay_form_url.clone());
        let payment = self.keep_made(at, finding, answer.map(|created| created.payment), false);
        self.accept_made("pay_form", "pay_form_url", &raw, at);
        if payment.is_none() {
            return;
        }

        let page = page.unwrap_or_default();
        let task = format!("Open {page} in a browser, pay there or look at it, then press Enter.");
        let was_opened = self.visit("the pay-form", &task).await;
        let seen = if was_opened { "its page was opened" } else { "nobody opened its page" };
        let why = format!("{seen}; its number comes only in a callback, so look into the gateway's dashboard");
        self.leave_pending(at, &why);
    }
}

fn next_step(made: &CardPaymentCreated) -> String {
    let code = or_none(made.code.as_deref());
    match &made.next_step {
        NextStep::OpenConfirmation { url, .. } => format!("accepted, code {code}; a page to confirm: {}", shown(url)),
        NextStep::CheckStatus { status, .. } => {
            format!("accepted, code {code}; status word {}", or_none(status.as_deref()))
        }
        _ => format!("accepted, code {code}"),
    }
}
