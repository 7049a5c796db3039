//! Operations on payments: begin, confirm, take a callback, and resolve by a person.

use ring::digest::{SHA256, digest};

use super::{LONGEST_KEY, LONGEST_NAME, LONGEST_REASON, Server};
use crate::{
    callbacks::{self, Readability, ReceivedCallback},
    dispatch::{GatewayRequest, PaymentInput},
    payments::{PayerCard, Payment, exchange::Exchange},
    storage::{
        StorageError,
        inputs::{BeginConfirmation, BeginPayment, Hint, Key, Resolve},
        outputs::{Decision, HintOutcome},
    },
    tokens::DecidedBy,
    values::{
        CheckoutId, PaymentId, Resolution,
        error::{Checks, Rule, ServerError, Violation},
        hex, millis,
    },
};

impl Server {
    /// Begins a payment on the gateway's page, or returns the one whose page is open.
    ///
    /// # Errors
    /// [`ServerError::Invalid`], [`ServerError::NotOpen`], [`ServerError::UnderWay`], [`ServerError::KeyReused`],
    /// [`ServerError::NoAttemptsLeft`] of a checkout with fifty payments, [`ServerError::NotFound`],
    /// [`ServerError::Unavailable`]. A refusal by the gateway is not an error: it is the payment's state.
    pub async fn pay_by_form(&self, checkout: &CheckoutId, key: Option<&str>) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::PayForm { back: None }, None, key).await
    }

    /// Begins a payment by a QR code, or returns the one whose code is shown.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form).
    pub async fn pay_by_qr(&self, checkout: &CheckoutId, key: Option<&str>) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Qr, None, key).await
    }

    /// Begins a payment by mobile bank; its payer gets a one-time password for [`confirm`](Self::confirm). The notation of the
    /// phone does not matter for idempotency: only its number counts.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form).
    pub async fn pay_by_mbank(
        &self,
        checkout: &CheckoutId,
        phone: &str,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Mbank { phone }, None, key).await
    }

    /// Begins a payment by mobile bank that replaces another payment of the checkout, for example because its payer typed a
    /// wrong number, or has no app for its QR code. **From the commit that records this one, the other is never confirmed**,
    /// and it is polled until it is final as before. If it cannot be replaced, because its one-time password is in flight or
    /// was accepted, nothing is begun.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form); [`ServerError::UnderWay`] if the other one cannot be replaced,
    /// [`ServerError::NoAttemptsLeft`] also if five were replaced before.
    pub async fn pay_by_mbank_instead_of(
        &self,
        checkout: &CheckoutId,
        instead_of: &PaymentId,
        phone: &str,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Mbank { phone }, Some(instead_of), key).await
    }

    /// Begins a payment from a MegaPay wallet, if the settings name the merchant's requisite; its payer gets a PIN for
    /// [`confirm`](Self::confirm). The payment has the commission and the total. Show them before the payer enters the PIN. The
    /// notation of the phone does not matter for idempotency: only its number counts. It is stored as long as a PIN may be sent.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form).
    pub async fn pay_by_megapay(
        &self,
        checkout: &CheckoutId,
        phone: &str,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Megapay { phone }, None, key).await
    }

    /// Begins a payment from a MegaPay wallet that replaces another payment, as
    /// [`pay_by_mbank_instead_of`](Self::pay_by_mbank_instead_of) does.
    ///
    /// # Errors
    /// As [`pay_by_mbank_instead_of`](Self::pay_by_mbank_instead_of).
    pub async fn pay_by_megapay_instead_of(
        &self,
        checkout: &CheckoutId,
        instead_of: &PaymentId,
        phone: &str,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Megapay { phone }, Some(instead_of), key).await
    }

    /// Begins a payment by card, if the settings enable cards and the checkout names them. If the payment has a
    /// `page_url`, the payer confirms it there (3DS). **The card lives for this call**: if it cannot be sent now, the
    /// payment is not made, and the payer tries again. The same key with another card is the same attempt: nothing of a
    /// card is stored to distinguish the two.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form); [`ServerError::NoAttemptsLeft`] also if the limit of cards was reached.
    pub async fn pay_by_card(
        &self,
        checkout: &CheckoutId,
        card: &PayerCard,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Card(card), None, key).await
    }

    /// Begins a payment. With `instead_of`, it replaces that one.
    pub(crate) async fn pay(
        &self,
        checkout: &CheckoutId,
        way: PaymentInput<'_>,
        instead_of: Option<&PaymentId>,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        let phone;
        let way = match way {
            PaymentInput::Megapay { .. } if !self.shared.settings.taken_methods().megapay => {
                let sentence = "must not be megapay: this server takes no MegaPay payments";
                return Err(ServerError::invalid(Violation::new("method", Rule::OneOf, sentence)));
            }
            PaymentInput::Mbank { phone: typed } => {
                phone = checked_phone(typed)?;
                PaymentInput::Mbank { phone: &phone }
            }
            PaymentInput::Megapay { phone: typed } => {
                phone = checked_phone(typed)?;
                PaymentInput::Megapay { phone: &phone }
            }
            PaymentInput::Card(_) if !self.shared.settings.takes_cards => {
                let sentence = "must not be card: this server takes no cards";
                return Err(ServerError::invalid(Violation::new("method", Rule::OneOf, sentence)));
            }
            PaymentInput::Card(card) => {
                card.check()?;
                way
            }
            PaymentInput::PayForm { .. } | PaymentInput::Qr => way,
        };
        let content = match instead_of {
            Some(other) => format!("{} instead of {other}", way.content()),
            None => way.content(),
        };
        let (key, method) = (self.key(key, checkout, &content)?, way.method());
        let view = self.checkout(checkout).await?;
        let of = &view.checkout;
        if !of.methods.contains(&method) {
            let sentence = "must be one of the checkout's";
            return Err(ServerError::invalid(Violation::new("method", Rule::OneOf, sentence)));
        }
        let settings = &self.shared.settings;
        let id = PaymentId::from_random(self.random()?);
        let callback_url = callbacks::url(&settings.callback_base, &of.callback_secret, &id);
        let account = settings.megapay_account.as_deref().unwrap_or_default();
        let request = GatewayRequest::new(&way, of, &id, callback_url, account)?;
        let begin = BeginPayment {
            checkout: checkout.clone(),
            id,
            method,
            reference: request.reference(),
            key,
            sender: hex(&self.random::<16>()?),
            is_sent_at_once: false,
            send_for_ms: millis(settings.payment_deadline.saturating_add(settings.send_margin)),
            wait_for_ms: millis(settings.longest_wait),
            attempts: settings.otp_attempts,
            card_attempts: settings.card_attempts,
            card_last4: request.card_last4(),
            phone_last2: request.phone_last2(),
            payer_phone: request.phone_to_repeat(),
            instead_of: instead_of.cloned(),
        };
        let shared = self.shared.clone();
        self.spawn_detached(async move { shared.dispatcher.begin(begin, request).await }, checkout).await
    }

    /// Sends the payer's one-time password, once, without the spaces and hyphens with which messages group it. One without a
    /// digit is refused before sending, and uses no attempt. A wrong one leaves the payment awaiting, with one attempt less. If
    /// its outcome is unknown, the gateway's report ends the payment.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form), [`ServerError::NotAwaited`] and [`ServerError::NoAttemptsLeft`].
    pub async fn confirm(
        &self,
        checkout: &CheckoutId,
        payment: &PaymentId,
        otp: &str,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        let mut checks = Checks::default();
        let otp = checks.otp("otp", otp);
        checks.finish()?;
        // The fingerprint contains nothing of the password: six digits can be found by brute force.
        let key = self.key(key, checkout, &format!("confirm {payment}"))?;
        let sender = hex(&self.random::<16>()?);
        let begin = BeginConfirmation { checkout: checkout.clone(), payment: payment.clone(), key, sender };
        // Zeroization: our copy is wiped after sending, or when the task ends without it.
        let shared = self.shared.clone();
        self.spawn_detached(async move { shared.dispatcher.confirm(begin, otp).await }, checkout).await
    }

    /// An idempotency key with the fingerprint of its content.
    fn key(&self, key: Option<&str>, checkout: &CheckoutId, content: &str) -> Result<Option<Key>, ServerError> {
        let Some(text) = key else { return Ok(None) };
        let mut checks = Checks::default();
        checks.required_text("idempotency_key", text, LONGEST_KEY);
        checks.finish()?;
        let fingerprint = digest(&SHA256, format!("{checkout} {content}").as_bytes()).as_ref().to_vec();
        Ok(Some(Key { text: text.to_owned(), fingerprint }))
    }

    /// A person decides the outcome of a payment that has not ended and is not being sent: one that is unknown, awaiting,
    /// confirming, mismatched or unverifiable. The event `payment.resolved` has the previous state, the reason, the person and
    /// the key. A charged payment pays its checkout; after one without a charge, another can be begun. Polling continues for 30
    /// days: a charge that the gateway still reports counts, and has an event.
    ///
    /// # Errors
    /// [`ServerError::Invalid`] without a reason of at most 200 characters, or a name of at most 100 in `by`;
    /// [`ServerError::NotInDoubt`], [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn resolve(
        &self,
        payment: &PaymentId,
        resolution: Resolution,
        reason: &str,
        by: impl Into<DecidedBy>,
    ) -> Result<Payment, ServerError> {
        Ok(self.decide(payment, resolution, reason, by, None).await?.into_payment())
    }

    /// Like [`resolve`](Self::resolve), for callers that need to know whether anything was recorded. With `seen`, the version of
    /// the checkout that the person saw, nothing is recorded if the checkout has changed since.
    pub(crate) async fn decide(
        &self,
        payment: &PaymentId,
        resolution: Resolution,
        reason: &str,
        by: impl Into<DecidedBy>,
        seen: Option<i64>,
    ) -> Result<Decision, ServerError> {
        let by = by.into();
        let mut checks = Checks::default();
        checks.required_text("reason", reason, LONGEST_REASON);
        checks.required_text("by", &by.name, LONGEST_NAME);
        checks.finish()?;
        let (payment, reason) = (payment.clone(), reason.to_owned());
        let decision = self.shared.storage.resolve(Resolve { payment, resolution, reason, by, seen }).await?;
        if let Decision::Recorded(payment) = &decision {
            self.shared.changed(&payment.checkout);
        }
        Ok(decision)
    }

    /// Takes a callback of the gateway, by the end of its address. **It proves nothing**: the payment is polled at once. Its
    /// unreadable part is logged, and shown to the staff. True if it is new.
    ///
    /// # Errors
    /// [`ServerError::NotFound`] for an unknown address, [`ServerError::Unavailable`].
    pub async fn hint(&self, address: &str, body: &[u8]) -> Result<bool, ServerError> {
        self.called_back(ReceivedCallback { address, query: "", body, problem: None }).await
    }

    /// Takes a callback with its query and body.
    pub(crate) async fn called_back(&self, received: ReceivedCallback<'_>) -> Result<bool, ServerError> {
        let (hint, reading) = received.hint(&self.shared.settings.dialect)?;
        let unread = match &hint {
            Hint::Callback { payment, exchange: Some(exchange), is_whole: false, .. } => {
                Some((payment.clone(), exchange.clone()))
            }
            _ => None,
        };
        let outcome = match self.shared.storage.record_hint(hint).await {
            // Not counted here: the HTTP interface, which knows the caller, logs and counts it.
            Err(StorageError::Rejected(problem @ ServerError::NotFound { .. })) => {
                if let Some(callback) = received.unknown(&self.shared.settings.dialect) {
                    self.shared.storage.record_unknown_callback(callback).await?;
                }
                return Err(problem);
            }
            outcome => outcome?,
        };
        self.metrics().called_back(reading.into());
        if let Some((payment, exchange)) = unread {
            log_unread(&payment, reading, &exchange);
        }
        match outcome {
            HintOutcome::Due(due) => {
                self.shared.poll_due.notify_one();
                Ok(due > 0)
            }
            HintOutcome::SeenBefore => Ok(false),
            HintOutcome::TooManyClaims => {
                Err(ServerError::unavailable("callbacks claim more numbers for one payment than can be kept"))
            }
        }
    }

    /// Queries all open payments of a checkout at once: its payer returned, or someone looks at it.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn check_now(&self, checkout: &CheckoutId) -> Result<(), ServerError> {
        self.look(checkout, None).await
    }

    /// The payer claims to have paid, by returning from the gateway's page or by requesting the result: queries as
    /// [`check_now`](Self::check_now) does, and records the claim ([`Payment::claimed_at`]).
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub(crate) async fn claim_paid(
        &self,
        checkout: &CheckoutId,
        payment: Option<&PaymentId>,
    ) -> Result<(), ServerError> {
        self.look(checkout, payment).await
    }

    async fn look(&self, checkout: &CheckoutId, claimed: Option<&PaymentId>) -> Result<(), ServerError> {
        self.shared.storage.record_hint(Hint::Checkout { id: checkout.clone(), claimed: claimed.cloned() }).await?;
        self.shared.poll_due.notify_one();
        if claimed.is_some() {
            // The payer's other windows update, too.
            self.shared.watchers.notify(checkout);
            self.shared.peer_notifications.note(checkout);
        }
        Ok(())
    }
}

/// The number of a phone, in any notation.
fn checked_phone(typed: &str) -> Result<String, ServerError> {
    let mut checks = Checks::default();
    let phone = checks.phone("phone", typed);
    checks.finish()?;
    Ok(phone)
}

/// Logs the unreadable part of a callback, masked and truncated.
fn log_unread(payment: &PaymentId, reading: Readability, exchange: &Exchange) {
    let (words, body) = (exchange.words.as_deref(), exchange.response.as_deref());
    let sentence = "a callback could not be read in full; its payment is queried anyway";
    match reading {
        Readability::Unreadable => tracing::warn!(target: "kassa_server", %payment, words, body, "{sentence}"),
        _ => tracing::info!(target: "kassa_server", %payment, words, body, "{sentence}"),
    }
}
