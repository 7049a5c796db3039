//! Follows a payment to its end: asks for its status, takes its callbacks, sees its payer come back.

use kassa::{Callback, Gateway, PaymentError, PaymentRef, StatusReport, StatusWatch, Verdict, WatchReport};
use tokio::time::{Instant, timeout_at};

use crate::{
    flows::Flow,
    narrator::Narrator,
    receiver::Arrival,
    report::{Outcome, Report, SeenCallback},
};

/// How many callbacks wait for a gateway that cannot be asked.
const MOST_UNCHECKED: usize = 64;

impl Flow<'_> {
    /// Follows the payment to its end, and waits a little for its callback.
    pub(crate) async fn follow(mut self) -> Report {
        if let Err(error) = self.watch_to_the_end().await {
            self.narrator.warn("watch", &error.describe());
            if let PaymentError::DeadlineExpired { last: Some(last), .. } = &error {
                self.report.status = Some(*last.clone());
                self.report.outcome = Outcome::Pending;
            }
            self.report.watch_error = Some(error);
        }
        // The gateway has reported an open status before, or nobody has said that the payment is in doubt.
        if self.report.outcome == Outcome::Unknown && self.report.error.is_none() {
            self.report.outcome = Outcome::Pending;
        }
        self.await_callback().await;
        self.finish().await
    }

    async fn watch_to_the_end(&mut self) -> Result<(), PaymentError> {
        let policy = self.shop.policy;
        if !self.report.payment.can_be_checked() {
            let _waiting = self.narrator.waiting("for the callback, which names the order");
            self.await_number(Instant::now() + policy.deadline).await?;
        }
        if self.is_over() {
            return Ok(());
        }
        let polling = format!("for the final status: one query every {} s", policy.interval.as_secs_f64());
        let _waiting = self.narrator.waiting(&polling);
        let watch = self.gateway.watch(self.report.payment.clone(), policy)?;
        let mut told = String::new();
        loop {
            tokio::select! {
                biased;
                Some(arrival) = self.mailbox.next() => {
                    self.take(arrival).await;
                    if self.is_over() {
                        return Ok(());
                    }
                    watch.check_now();
                }
                report = watch.next() => match report? {
                    Some(report) => self.tell(report, &mut told),
                    None => return ended(&watch).await,
                },
            }
        }
    }

    /// True where the number to ask with was not only claimed.
    pub(crate) fn has_own_number(&self) -> bool {
        self.report.payment.can_be_checked() && !self.report.payment.is_claimed
    }

    fn is_over(&self) -> bool {
        matches!(self.report.outcome, Outcome::Charged | Outcome::Rejected)
    }

    /// A pay-form and a QR picture tell no number: the gateway's callback does.
    /// The gateway was told that its callback has arrived, and sends it no more: where it could not be asked, it is
    /// asked again.
    async fn await_number(&mut self, deadline: Instant) -> Result<(), PaymentError> {
        while !self.report.payment.can_be_checked() && !self.is_over() {
            let next_question = (Instant::now() + self.shop.policy.interval).min(deadline);
            match timeout_at(next_question, self.mailbox.next()).await {
                Ok(Some(arrival)) => self.take(arrival).await,
                Err(_) if next_question < deadline => {
                    for callback in std::mem::take(&mut self.unchecked) {
                        let is_this = |seen: &SeenCallback| seen.order_number == callback.order_number;
                        self.report.callbacks.retain(|seen| seen.verdict != "not_asked" || !is_this(seen));
                        self.weigh(callback).await;
                    }
                }
                Ok(None) | Err(_) => return Err(PaymentError::deadline_expired(None)),
            }
        }
        Ok(())
    }

    /// Waits for a callback that the gateway confirms, no longer than asked for.
    async fn await_callback(&mut self) {
        while let Some(arrival) = self.mailbox.already_there() {
            self.take(arrival).await;
        }
        if !self.is_over() || !self.awaits_callback || self.report.has_good_callback() {
            return;
        }
        let _waiting = self.narrator.waiting("for its callback");
        let deadline = Instant::now() + self.shop.callback_wait;
        while !self.report.has_good_callback() {
            match timeout_at(deadline, self.mailbox.next()).await {
                Ok(Some(arrival)) => self.take(arrival).await,
                Ok(None) | Err(_) => {
                    let waited = self.shop.callback_wait.as_secs_f64();
                    return self
                        .narrator
                        .warn("callback", &format!("none that the gateway confirms came within {waited} s"));
                }
            }
        }
    }

    async fn take(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Return(redirect) => {
                let code = redirect.status_code.unwrap_or_else(|| "none".to_owned());
                let order = redirect.order_number;
                self.narrator.step(
                    "return",
                    &format!("the payer returned, order {order}, statusCode {code}: not proof, so query the status"),
                );
            }
            Arrival::Callback { callback, duplicate: true, .. } => {
                self.narrator.step("callback", "a duplicate: nothing to do");
                self.report.callbacks.push(seen(&callback, "duplicate", Vec::new()));
            }
            Arrival::Callback { callback, duplicate: false, .. } => self.weigh(*callback).await,
        }
    }

    /// Asks the gateway about a callback, and keeps what it says.
    async fn weigh(&mut self, callback: Callback) {
        let (seen, verdict) = check(&self.gateway, &self.narrator, &callback, &self.report.payment).await;
        self.report.callbacks.push(seen);
        match verdict {
            Ok(verdict) => self.learn_from(&verdict),
            Err(error) if error.is_retryable() && self.unchecked.len() < MOST_UNCHECKED => {
                self.unchecked.push(callback)
            }
            Err(_) => {}
        }
    }

    /// A callback that the gateway stands by tells what became of a pay-form or a QR picture, or by which number to ask.
    /// Whoever paid once could claim that number for every cart of the same amount (replay): of that the journal takes care.
    fn learn_from(&mut self, verdict: &Verdict) {
        if self.has_own_number() {
            return;
        }
        if let Verdict::Charged { payment, .. } | Verdict::Pending { payment, .. } = verdict {
            self.learned(*payment.clone());
        }
        // What is not proved ends nothing: the next callback may be the proof. Until then it is for a person.
        let is_unproved = matches!(verdict, Verdict::Unverifiable { report: Some(_), .. });
        if is_unproved || matches!(verdict, Verdict::Charged { .. } | Verdict::Rejected { .. }) {
            self.heard(verdict);
        }
    }

    /// Tells a report of the watch, unless it says what the one before said.
    fn tell(&mut self, report: WatchReport, told: &mut String) {
        let text = match report {
            WatchReport::Status { verdict, .. } => {
                self.heard(&verdict);
                verdict_in_words(&verdict)
            }
            WatchReport::QueryFailed { error, .. } => {
                format!("the query failed, polling goes on ({}: {error})", error.kind())
            }
            other => format!("{other:?}"),
        };
        if *told != text {
            self.narrator.step("status", &text);
            *told = text;
        }
    }
}

/// The end of a watch: a final status has been told already.
async fn ended(watch: &StatusWatch) -> Result<(), PaymentError> {
    watch.outcome().await.map(|_| ())
}

/// A status in a few words.
pub(crate) fn in_words(report: &StatusReport) -> String {
    let code = report.code.as_ref().map(|code| format!("code {code}"));
    let details: Vec<String> = code.into_iter().chain(report.reason.clone()).collect();
    if details.is_empty() { report.status.to_string() } else { format!("{} ({})", report.status, details.join(", ")) }
}

/// The word that programs see.
pub(crate) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Charged { .. } => "charged",
        Verdict::Rejected { .. } => "rejected",
        Verdict::Pending { .. } => "pending",
        Verdict::Mismatch { .. } => "mismatch",
        _ => "unverifiable",
    }
}

/// A verdict in a few words.
pub(crate) fn verdict_in_words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Mismatch { fields, .. } => format!("NOT what was requested, it differs in {}", fields.join(", ")),
        Verdict::Unverifiable { why, .. } => format!("NOT proved: {why}"),
        other => other.report().map(in_words).unwrap_or_default(),
    }
}

/// Asks the gateway about a callback, and tells what it says; an error where it could not be asked.
pub(crate) async fn check(
    gateway: &Gateway,
    narrator: &Narrator,
    callback: &Callback,
    payment: &PaymentRef,
) -> (SeenCallback, Result<Verdict, PaymentError>) {
    let said = what_it_says(callback);
    let verdict = match gateway.verify_callback(callback, payment).await {
        Ok(verdict) => verdict,
        Err(error) => {
            narrator.warn("callback", &format!("{said}; the status query failed ({}: {error})", error.kind()));
            return (seen(callback, "not_asked", Vec::new()), Err(error));
        }
    };
    let fields = match &verdict {
        Verdict::Mismatch { fields, .. } => fields.clone(),
        _ => Vec::new(),
    };
    let word = word(&verdict);
    let text = format!("{said}; status query: {}", verdict_in_words(&verdict));
    match word {
        "mismatch" | "unverifiable" => narrator.warn("callback", &text),
        _ => narrator.step("callback", &text),
    }
    (seen(callback, word, fields), Ok(verdict))
}

/// The unit of a QR callback's amount is not shown by the interface, so none is named.
fn what_it_says(callback: &Callback) -> String {
    let unit = match (&callback.requisite, &callback.currency) {
        (None, Some(currency)) => format!(" {currency}"),
        _ => String::new(),
    };
    let mut said = format!("order {}", callback.order_number);
    if let Some(status) = &callback.status {
        said += &format!(" {status}");
    }
    if let Some(amount) = callback.amount {
        said += &format!(", amount {amount}{unit}");
    }
    if !callback.missing.is_empty() {
        said += &format!(", without {}", callback.missing.join(", "));
    }
    said
}

fn seen(callback: &Callback, verdict: &'static str, fields: Vec<String>) -> SeenCallback {
    SeenCallback {
        order_number: callback.order_number.clone(),
        status: callback.status.as_ref().map(ToString::to_string),
        amount: callback.amount,
        verdict,
        fields,
    }
}
