//! Compares the payer's page and the shop's orders with the truth.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{Case, Loss, Order, StepResult, Truth, short};
use crate::{
    backend::Opened,
    http,
    options::Late,
    pay_method::PATIENCE,
    shop::{Names, OrderState, until},
};

/// A process closes its connections a moment before it has ended.
const END_OF_PROCESS: Duration = Duration::from_millis(200);

impl Case {
    /// Opens a page as the payer's browser does, and compares it with the truth.
    pub(crate) async fn open_return(
        &mut self,
        order: &Order,
        query: &str,
        form: Option<&str>,
        is_paid: bool,
    ) -> StepResult {
        let return_url = order.opened.return_url.clone();
        if return_url.is_empty() {
            self.say("the shop names no return URL");
            return Ok(());
        }
        let joint = if return_url.contains('?') { '&' } else { '?' };
        let url = if query.is_empty() { return_url } else { format!("{return_url}{joint}{query}") };
        let client = &self.stage.client;
        let request = match form {
            Some(form) => {
                client.post(&url).header("content-type", "application/x-www-form-urlencoded").body(form.to_owned())
            }
            None => client.get(&url),
        };
        let page = match http::complete(request).await {
            Ok(page) => page,
            Err(error) => {
                self.say(format!("the payer opens {url}: no answer ({})", short(&error)));
                return Ok(());
            }
        };
        self.say(format!("the payer opens {url}: HTTP {}", page.status));
        let says_paid = self.stage.shop.says_paid(&page.text(), &names(order));
        if says_paid == Some(true) && !is_paid {
            self.lose(Loss::PayerMisled, "the return page says that the order is paid, and it is not");
        }
        Ok(())
    }

    // The verdict

    async fn look(&self, order: &Order) -> Result<OrderState, String> {
        self.stage.shop.look(&names(order)).await
    }

    /// Compares the shop with the truth now, and once more after all scenarios.
    pub(crate) async fn expect(&mut self, order: &Order, truth: Truth) -> StepResult {
        if let Some(seen) = self.settled(order, truth).await {
            self.judge(order, truth, &seen);
        }
        self.orders.push((order.clone(), truth));
        Ok(())
    }

    /// Waits until the order is as it must be; its last state.
    async fn settled(&mut self, order: &Order, truth: Truth) -> Option<OrderState> {
        let wait = self.stage.shop.wait();
        let must = self.must_deliver(truth);
        let seen = until(wait, || async {
            let seen = self.look(order).await.ok()?;
            // The log of a delivery can be written after its page.
            let is_done = seen.is_delivered && seen.deliveries != Some(0);
            (must != Some(true) || is_done).then_some(seen)
        })
        .await;
        if seen.is_some() {
            return seen;
        }
        match self.look(order).await {
            Ok(seen) => Some(seen),
            Err(error) => {
                if must == Some(true) {
                    self.lose(
                        Loss::PaidUndelivered,
                        format!("the state of order {} cannot be read: {error}", order.opened.reference),
                    );
                } else {
                    self.say(format!("the state of order {} cannot be read: {error}", order.opened.reference));
                }
                None
            }
        }
    }

    fn must_deliver(&self, truth: Truth) -> Option<bool> {
        match (truth, self.stage.shop.late()) {
            (Truth::Paid, _) | (Truth::PaidLate, Late::Deliver) => Some(true),
            (Truth::Unpaid, _) | (Truth::PaidLate, Late::Refund) => Some(false),
            (Truth::PaidLate, Late::Either) | (Truth::Open, _) => None,
        }
    }

    fn judge(&mut self, order: &Order, truth: Truth, seen: &OrderState) {
        let reference = &order.opened.reference;
        let count =
            seen.deliveries.filter(|count| *count > 1).map_or(String::new(), |count| format!(", {count} times"));
        self.say(format!(
            "order {reference} is {}{count}",
            if seen.is_delivered { "delivered" } else { "not delivered" }
        ));
        let was_delivered = seen.is_delivered || seen.deliveries.is_some_and(|count| count > 0);
        match self.must_deliver(truth) {
            Some(false) if was_delivered => self.lose(Loss::DeliveredUnpaid, format!("order {reference}")),
            Some(true) if !was_delivered => self.lose(Loss::PaidUndelivered, format!("order {reference}")),
            _ => {}
        }
        if let Some(count) = seen.deliveries.filter(|count| *count > 1) {
            self.lose(Loss::DeliveredTwice, format!("order {reference}, {count} times"));
        }
    }

    /// Compares all orders once more: deliveries in the background are visible by then.
    pub(crate) async fn audit(&mut self) {
        let known: Vec<Loss> = self.losses.iter().map(|(loss, _)| *loss).collect();
        let steps = self.log.len();
        for (order, truth) in std::mem::take(&mut self.orders) {
            if let Ok(seen) = self.look(&order).await {
                self.judge(&order, truth, &seen);
            }
        }
        // Losses of the first look are not repeated.
        let mut index = 0;
        self.losses.retain(|(loss, _)| {
            index += 1;
            index <= known.len() || !known.contains(loss)
        });
        if self.losses.len() == known.len() {
            self.log.truncate(steps);
        }
    }

    /// Reports a shop that went down, and starts it again.
    pub(crate) async fn check_shop(&mut self) -> StepResult {
        let stage = Arc::clone(&self.stage);
        if std::mem::take(&mut self.is_unanswered) {
            sleep(END_OF_PROCESS).await;
        }
        let mut revivals = stage.shop.revivals.lock().await;
        if stage.shop.is_up().await {
            return Ok(());
        }
        let last = self.stage.shop.last_lines();
        *revivals += 1;
        self.lose(Loss::ShopDown, format!("it ended; its last lines:\n{last}"));
        self.stage.shop.kill().await;
        self.stage.shop.start().await
    }

    /// `kill -9`, and a new start.
    pub(crate) async fn restart(&mut self) -> StepResult {
        self.say("the shop is killed, and started again");
        self.stage.shop.kill().await;
        self.stage.shop.start().await
    }

    /// Waits until the shop has queried an order.
    pub(crate) async fn has_queried(&self, order: &Order, limit: Duration) -> bool {
        let backend = &self.stage.backend;
        let names = [order.opened.reference.as_str(), order.opened.id.as_str(), "/v1/events"];
        until(limit.min(PATIENCE), || async { backend.was_queried(&names).then_some(()) }).await.is_some()
    }

    /// Checks the settings: an order can be created, its state can be read, and it is not delivered yet.
    pub(crate) async fn probe(&mut self) -> StepResult {
        let order = self.order().await.map_err(|problem| format!("order: {problem}"))?;
        let seen = self.look(&order).await.map_err(|problem| format!("state: {problem}"))?;
        if seen.is_delivered {
            return Err("delivered: a new order already counts as delivered; correct the text or pointer".to_owned());
        }
        Ok(())
    }
}

fn names(order: &Order) -> Names<'_> {
    let Opened { reference, return_url, amount, .. } = &order.opened;
    Names { reference, return_url, amount, number: 0 }
}
