//! One situation while it is played: what was sent and seen, and what the shop would have lost.

use std::{sync::Arc, time::Duration};

use kassa_sandbox::Payment;
use reqwest::Client;
use serde::Serialize;
use tokio::{sync::Mutex, time::sleep};

use crate::{
    backend::{Backend, Lie, Opened, Trouble},
    event::{About, Event, Message, invented},
    http::{self, Answer},
    options::Late,
    shop::{Names, Seen, Shop, until},
    way::{PATIENCE, Way},
};

/// How often an event is sent, if the shop does not take it. kassa-server does so for three days; here the pauses are short.
const ATTEMPTS: u32 = 5;
const RETRY_PAUSE: Duration = Duration::from_millis(150);
/// A process closes its connections a moment before it has ended.
const END_OF_PROCESS: Duration = Duration::from_millis(200);
/// Statuses by which a shop refuses one event, after which kassa-server skips it (docs/server.md#events).
const REFUSALS: [u16; 6] = [400, 406, 409, 415, 422, 501];

/// What a shop loses.
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
            Self::PayerMisled => "payer told wrongly",
            Self::ShopDown => "the shop is down",
        }
    }
}

/// What is true of an order.
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
    /// Where the payer comes back to, with placeholders filled in.
    pub(crate) answer: String,
}

impl Order {
    pub(crate) fn about(&self) -> About<'_> {
        let Opened { id, reference, amount, currency, .. } = &self.opened;
        About { checkout: id, reference, amount, currency }
    }
}

/// What all situations share.
pub(crate) struct Stage {
    pub(crate) shop: Shop,
    pub(crate) backend: Arc<Backend>,
    pub(crate) client: Client,
    /// Orders are made one at a time, so that what the shop opens belongs to the order.
    pub(crate) ordering: Mutex<usize>,
}

/// A situation while it is played.
pub(crate) struct Case {
    pub(crate) stage: Arc<Stage>,
    pub(crate) log: Vec<String>,
    pub(crate) losses: Vec<(Loss, String)>,
    pub(crate) remarks: Vec<String>,
    /// Orders to look at once more when everything has been played.
    pub(crate) orders: Vec<(Order, Truth)>,
    /// Whether a message got no answer: the shop's process may be ending.
    is_unanswered: bool,
}

/// Why a situation could not be played.
pub(crate) type Played<T = ()> = Result<T, String>;

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

    // Orders

    pub(crate) async fn order(&mut self) -> Played<Order> {
        self.order_with(Trouble::None, None).await
    }

    /// Makes an order, while the shop's request to open it meets trouble or gets another lifetime.
    pub(crate) async fn order_with(&mut self, trouble: Trouble, lifetime_s: Option<u64>) -> Played<Order> {
        let (answer, opened) = self.try_order(trouble, lifetime_s).await?;
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

    /// Makes an order; what the shop answered, and what it opened.
    pub(crate) async fn try_order(
        &mut self,
        trouble: Trouble,
        lifetime_s: Option<u64>,
    ) -> Played<(Answer, Option<Opened>)> {
        let stage = Arc::clone(&self.stage);
        let mut number = stage.ordering.lock().await;
        *number += 1;
        let before = stage.backend.opened();
        stage.backend.plan(trouble, lifetime_s);
        let amount = stage.shop.amount(*number);
        let answer = stage.shop.order(*number, &amount).await;
        stage.backend.plan(Trouble::None, None);
        let mut opened = stage.backend.opened_since(before).into_iter().last();
        let answer = answer.map_err(|error| format!("the shop does not answer to an order: {error}"))?;
        if let (Some(pointer), Some(opened)) = (&stage.shop.options.reference, &mut opened) {
            let found = answer.json().pointer(pointer).cloned().unwrap_or_default();
            opened.reference = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        }
        Ok((answer, opened))
    }

    /// Starts a payment; the number that the sandbox knows it by.
    pub(crate) async fn begin(&mut self, order: &Order, way: Way) -> Played<String> {
        let Some(server) = &self.stage.backend.server else {
            return Ok(order.opened.id.clone());
        };
        let number = server.pay(&self.stage.client, &order.opened.id, way).await?;
        self.say(format!("the payer of {} starts a payment: {}", order.opened.reference, way.method()));
        Ok(number)
    }

    /// The payer pays: the gateway takes the money.
    pub(crate) async fn charge(&mut self, number: &str) -> Played {
        self.stage.backend.approve(number).await?;
        self.say("the gateway takes the money");
        Ok(())
    }

    /// Pays an order at the server, and waits for its event, which the shop does not get yet.
    pub(crate) async fn pay(&mut self, order: &Order, way: Way) -> Played<Event> {
        let number = self.begin(order, way).await?;
        self.charge(&number).await?;
        self.paid_event(order).await
    }

    pub(crate) async fn paid_event(&mut self, order: &Order) -> Played<Event> {
        self.event(order, "checkout.paid").await
    }

    pub(crate) async fn event(&mut self, order: &Order, kind: &str) -> Played<Event> {
        self.stage.backend.report(&order.opened.reference, |event| event.kind() == kind).await
    }

    pub(crate) fn payment(&self, number: &str) -> Played<Payment> {
        let known = |payment: &Payment| {
            let numbers = [Some(&payment.order_number), Some(&payment.gateway_number), payment.transaction_id.as_ref()];
            numbers.into_iter().flatten().any(|known| known == number)
        };
        let found = self.stage.backend.sandbox.payments().into_iter().find(known);
        found.ok_or_else(|| format!("the sandbox has no payment {number}"))
    }

    /// The gateway reports something else about a payment from now on.
    pub(crate) fn lie(&mut self, number: &str, lie: Option<&Lie>) -> Played {
        let payment = self.payment(number)?;
        let numbers =
            [Some(payment.order_number), Some(payment.gateway_number), payment.transaction_id, Some(number.to_owned())];
        for number in numbers.into_iter().flatten() {
            self.stage.backend.lie(&number, lie.cloned());
        }
        Ok(())
    }

    // What is sent to the shop

    /// Posts a message once.
    pub(crate) async fn post(&mut self, what: &str, message: &Message) -> Result<u16, String> {
        let url = self.stage.shop.events_url();
        self.post_to(&url, what, message).await
    }

    pub(crate) async fn post_to(&mut self, url: &str, what: &str, message: &Message) -> Result<u16, String> {
        let answer = self.stage.shop.post(url, message).await;
        self.is_unanswered |= answer.is_err();
        self.say(match &answer {
            Ok(status) => format!("{what}: HTTP {status}"),
            Err(error) => format!("{what}: no answer ({})", short(error)),
        });
        answer
    }

    pub(crate) fn signed(&self, event: &Event) -> Message {
        Message::signed(event, &self.stage.backend.secret)
    }

    /// Delivers one event as kassa-server does, with shorter pauses. False if the checkout's next events would have to wait.
    pub(crate) async fn deliver(&mut self, event: &Event) -> bool {
        let kind = event.kind();
        let never_skipped = matches!(kind.as_str(), "checkout.paid" | "checkout.overpaid");
        for attempt in 1..=ATTEMPTS {
            let message = self.signed(event);
            match self.post(&kind, &message).await {
                Ok(status) if (200..300).contains(&status) => return true,
                Ok(status) if REFUSALS.contains(&status) && attempt == ATTEMPTS && !never_skipped => {
                    self.say(format!("{kind} is skipped, as the shop refuses it"));
                    return true;
                }
                _ => sleep(RETRY_PAUSE * attempt).await,
            }
        }
        self.say(format!("{kind} is not taken: the checkout's later events wait for it"));
        false
    }

    /// Delivers events in order, as far as the shop takes them.
    pub(crate) async fn deliver_all(&mut self, events: &[Event]) -> bool {
        for event in events {
            if !self.deliver(event).await {
                return false;
            }
        }
        true
    }

    /// Sends messages at the same time.
    pub(crate) async fn post_at_once(&mut self, what: &str, messages: Vec<Message>) {
        let url = self.stage.shop.events_url();
        self.post_all_to(&url, what, messages).await;
    }

    pub(crate) async fn post_all_to(&mut self, url: &str, what: &str, messages: Vec<Message>) {
        let count = messages.len();
        let sending = messages.into_iter().map(|message| {
            let (stage, url) = (Arc::clone(&self.stage), url.to_owned());
            tokio::spawn(async move { stage.shop.post(&url, &message).await })
        });
        let mut statuses = Vec::new();
        for sent in sending.collect::<Vec<_>>() {
            statuses.push(sent.await.ok().and_then(Result::ok).map_or("none".to_owned(), |status| status.to_string()));
        }
        self.say(format!("{what}, {count} times at once: HTTP {}", statuses.join(", ")));
    }

    /// An event that the server did not send.
    pub(crate) fn invented(&self, order: &Order, kind: &str) -> Event {
        invented(kind, &order.about())
    }

    // What the payer sees

    /// Opens a page as the payer's browser does, and compares it with the truth.
    pub(crate) async fn open_return(
        &mut self,
        order: &Order,
        query: &str,
        form: Option<&str>,
        is_paid: bool,
    ) -> Played {
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

    async fn look(&self, order: &Order) -> Result<Seen, String> {
        self.stage.shop.look(&names(order)).await
    }

    /// Compares the shop with the truth now, and once more when everything has been played.
    pub(crate) async fn expect(&mut self, order: &Order, truth: Truth) -> Played {
        if let Some(seen) = self.settled(order, truth).await {
            self.judge(order, truth, &seen);
        }
        self.orders.push((order.clone(), truth));
        Ok(())
    }

    /// Waits until the order is as it must be; what was seen last.
    async fn settled(&mut self, order: &Order, truth: Truth) -> Option<Seen> {
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

    fn judge(&mut self, order: &Order, truth: Truth, seen: &Seen) {
        let reference = &order.opened.reference;
        let count = seen.deliveries.map_or(String::new(), |count| format!(", {count} times"));
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

    /// The second look: what a shop does in the background shows by then.
    pub(crate) async fn audit(&mut self) {
        let known: Vec<Loss> = self.losses.iter().map(|(loss, _)| *loss).collect();
        let steps = self.log.len();
        for (order, truth) in std::mem::take(&mut self.orders) {
            if let Ok(seen) = self.look(&order).await {
                self.judge(&order, truth, &seen);
            }
        }
        // What was known at the first look is not said again.
        let mut index = 0;
        self.losses.retain(|(loss, _)| {
            index += 1;
            index <= known.len() || !known.contains(loss)
        });
        if self.losses.len() == known.len() {
            self.log.truncate(steps);
        }
    }

    /// A shop that went down is started again, where it can be.
    pub(crate) async fn check_shop(&mut self) -> Played {
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
    pub(crate) async fn restart(&mut self) -> Played {
        self.say("the shop is killed, and started again");
        self.stage.shop.kill().await;
        self.stage.shop.start().await
    }

    /// Waits until the shop has asked about an order.
    pub(crate) async fn has_queried(&self, order: &Order, limit: Duration) -> bool {
        let backend = &self.stage.backend;
        let names = [order.opened.reference.as_str(), order.opened.id.as_str(), "/v1/events"];
        until(limit.min(PATIENCE), || async { backend.was_queried(&names).then_some(()) }).await.is_some()
    }
}

fn names(order: &Order) -> Names<'_> {
    let Opened { reference, return_url, amount, .. } = &order.opened;
    Names { reference, return_url, amount, number: 0 }
}

/// The beginning of a text, for the log.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 200 { line } else { format!("{}…", line.chars().take(200).collect::<String>()) }
}

impl Case {
    /// An order can be made, its state can be read, and it is not delivered yet: otherwise the settings are wrong.
    pub(crate) async fn probe(&mut self) -> Played {
        let order = self.order().await.map_err(|problem| format!("order: {problem}"))?;
        let seen = self.look(&order).await.map_err(|problem| format!("state: {problem}"))?;
        if seen.is_delivered {
            return Err("delivered: a new order counts as delivered already; the text or pointer is wrong".to_owned());
        }
        Ok(())
    }
}
