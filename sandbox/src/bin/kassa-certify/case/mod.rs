//! One running scenario: its log, and the losses of the shop.

mod checking;
mod sending;

use std::sync::Arc;

use kassa_sandbox::Payment;
use reqwest::Client;
use serde::Serialize;
use tokio::sync::Mutex;

use crate::{
    backend::{Backend, FalseStatus, Opened, OpeningFault},
    event::{About, Event},
    http::Answer,
    pay_method::PayMethod,
    shop::Shop,
};

/// A kind of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Loss {
    DeliveredUnpaid,
    PaidUndelivered,
    DeliveredTwice,
    PayerMisled,
    ShopDown,
}

impl Loss {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::DeliveredUnpaid => "delivered without payment",
            Self::PaidUndelivered => "paid and not delivered",
            Self::DeliveredTwice => "delivered twice",
            Self::PayerMisled => "payer misled",
            Self::ShopDown => "the shop is down",
        }
    }
}

/// The true state of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Paid,
    Unpaid,
    /// Paid after the end of the checkout.
    PaidLate,
    /// Whether it is delivered is the merchant's decision, but never twice.
    Open,
}

/// An order of the shop.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) opened: Opened,
    /// The body of the shop's answer to the order.
    pub(crate) answer: String,
}

impl Order {
    pub(crate) fn about(&self) -> About<'_> {
        let Opened { id, reference, amount, currency, .. } = &self.opened;
        About { checkout: id, reference, amount, currency }
    }
}

/// The parts that all scenarios share.
pub(crate) struct Stage {
    pub(crate) shop: Shop,
    pub(crate) backend: Arc<Backend>,
    pub(crate) client: Client,
    /// Orders are created one at a time, so that the checkout or payment that the shop opens belongs to the order.
    pub(crate) ordering: Mutex<usize>,
}

/// A running scenario.
pub(crate) struct Case {
    pub(crate) stage: Arc<Stage>,
    pub(crate) log: Vec<String>,
    pub(crate) losses: Vec<(Loss, String)>,
    pub(crate) remarks: Vec<String>,
    /// Orders to compare once more after all scenarios.
    pub(crate) orders: Vec<(Order, Truth)>,
    /// Whether a message got no answer: the shop's process may be ending.
    is_unanswered: bool,
}

/// The result of a step. The error says why the scenario could not be run.
pub(crate) type StepResult<T = ()> = Result<T, String>;

impl Case {
    pub(crate) fn new(stage: &Arc<Stage>) -> Self {
        Self {
            stage: Arc::clone(stage),
            log: Vec::new(),
            losses: Vec::new(),
            remarks: Vec::new(),
            orders: Vec::new(),
            is_unanswered: false,
        }
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.log.push(text.into());
    }

    pub(crate) fn lose(&mut self, loss: Loss, detail: impl Into<String>) {
        let detail = detail.into();
        self.say(format!("LOSS: {}: {detail}", loss.text()));
        self.losses.push((loss, detail));
    }

    pub(crate) async fn order(&mut self) -> StepResult<Order> {
        self.order_with(OpeningFault::None, None).await
    }

    /// Creates an order, with a fault in the shop's request to open it or with another lifetime.
    pub(crate) async fn order_with(&mut self, fault: OpeningFault, lifetime_s: Option<u64>) -> StepResult<Order> {
        let (answer, opened) = self.try_order(fault, lifetime_s).await?;
        let status = answer.status;
        let opened = opened.ok_or_else(|| {
            format!("the shop answered HTTP {status} to an order and opened nothing: {}", short(&answer.text()))
        })?;
        if status >= 400 {
            return Err(format!("the shop answered HTTP {status} to an order: {}", short(&answer.text())));
        }
        self.say(format!("order {} of {} {}", opened.reference, opened.amount, opened.currency));
        Ok(Order { opened, answer: answer.text() })
    }

    /// Creates an order; the shop's answer, and the checkout or payment that it opened.
    pub(crate) async fn try_order(
        &mut self,
        fault: OpeningFault,
        lifetime_s: Option<u64>,
    ) -> StepResult<(Answer, Option<Opened>)> {
        let stage = Arc::clone(&self.stage);
        let mut number = stage.ordering.lock().await;
        *number += 1;
        let before = stage.backend.opened();
        stage.backend.plan(fault, lifetime_s);
        let amount = stage.shop.amount(*number);
        let answer = stage.shop.order(*number, &amount).await;
        stage.backend.plan(OpeningFault::None, None);
        let mut opened = stage.backend.opened_since(before).into_iter().last();
        let answer = answer.map_err(|error| format!("the shop does not answer to an order: {error}"))?;
        if let (Some(pointer), Some(opened)) = (&stage.shop.options.reference, &mut opened) {
            let found = answer.json().pointer(pointer).cloned().unwrap_or_default();
            opened.reference = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        }
        Ok((answer, opened))
    }

    /// Starts a payment; its number in the sandbox.
    pub(crate) async fn begin(&mut self, order: &Order, way: PayMethod) -> StepResult<String> {
        let Some(server) = &self.stage.backend.server else {
            return Ok(order.opened.id.clone());
        };
        let number = server.pay(&self.stage.client, &order.opened.id, way).await?;
        self.say(format!("the payer of {} starts a payment: {}", order.opened.reference, way.method()));
        Ok(number)
    }

    /// The payer pays: the gateway takes the money.
    pub(crate) async fn charge(&mut self, number: &str) -> StepResult {
        self.stage.backend.approve(number).await?;
        self.say("the gateway takes the money");
        Ok(())
    }

    /// Pays an order at the server, and waits for its event. The shop has not received it yet.
    pub(crate) async fn pay(&mut self, order: &Order, way: PayMethod) -> StepResult<Event> {
        let number = self.begin(order, way).await?;
        self.charge(&number).await?;
        self.paid_event(order).await
    }

    pub(crate) async fn paid_event(&mut self, order: &Order) -> StepResult<Event> {
        self.event(order, "checkout.paid").await
    }

    pub(crate) async fn event(&mut self, order: &Order, kind: &str) -> StepResult<Event> {
        self.stage.backend.report(&order.opened.reference, |event| event.kind() == kind).await
    }

    pub(crate) fn payment(&self, number: &str) -> StepResult<Payment> {
        let known = |payment: &Payment| {
            let numbers = [Some(&payment.order_number), Some(&payment.gateway_number), payment.transaction_id.as_ref()];
            numbers.into_iter().flatten().any(|known| known == number)
        };
        let found = self.stage.backend.sandbox.payments().into_iter().find(known);
        found.ok_or_else(|| format!("the sandbox has no payment {number}"))
    }

    /// Sets or removes a false status of a payment.
    pub(crate) fn lie(&mut self, number: &str, lie: Option<&FalseStatus>) -> StepResult {
        let payment = self.payment(number)?;
        let numbers =
            [Some(payment.order_number), Some(payment.gateway_number), payment.transaction_id, Some(number.to_owned())];
        for number in numbers.into_iter().flatten() {
            self.stage.backend.lie(&number, lie.cloned());
        }
        Ok(())
    }
}

/// The beginning of a text, for the log.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 200 { line } else { format!("{}…", line.chars().take(200).collect::<String>()) }
}
