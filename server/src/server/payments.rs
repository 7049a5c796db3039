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
    /// Begins a payment on the gateway's page, or gives the one whose page is open.
    ///
    /// # Errors
    /// [`ServerError::Invalid`], [`ServerError::NotOpen`], [`ServerError::UnderWay`], [`ServerError::KeyReused`],
    /// [`ServerError::NoAttemptsLeft`] of a checkout with fifty payments, [`ServerError::NotFound`],
    /// [`ServerError::Unavailable`]. That the gateway refused is no error: the payment's state says it.
    pub async fn pay_by_form(&self, checkout: &CheckoutId, key: Option<&str>) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::PayForm { back: None }, None, key).await
    }

    /// Begins a payment by a QR code, or gives the one whose code is shown.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form).
    pub async fn pay_by_qr(&self, checkout: &CheckoutId, key: Option<&str>) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Qr, None, key).await
    }

    /// Begins a payment by mobile bank; its payer gets a one-time password for [`confirm`](Self::confirm). However the phone is
    /// written, it is one request: what counts is the number.
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

    /// The same instead of another payment of the checkout's, whose payer typed somebody else's number, or has no app for its QR
    /// code. **From the commit on that writes this one down, the other is not confirmed any more**, whoever requests it, and it is
    /// followed to its end as before. Where it cannot be left, as a one-time password of it is on its way or was taken, nothing is
    /// begun.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form); [`ServerError::UnderWay`] where the other one cannot be left,
    /// [`ServerError::NoAttemptsLeft`] also where five were left before.
    pub async fn pay_by_mbank_instead_of(
        &self,
        checkout: &CheckoutId,
        instead_of: &PaymentId,
        phone: &str,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Mbank { phone }, Some(instead_of), key).await
    }

    /// Begins a payment from a MegaPay wallet, where the settings name the merchant's requisite; its payer gets a PIN for
    /// [`confirm`](Self::confirm). The payment has the commission and the total. Show them before the payer enters the PIN. However the
    /// phone is written, it is one request: what counts is the number. It is stored as long as a PIN may be sent.
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

    /// The same instead of another payment of the checkout's, as [`pay_by_mbank_instead_of`](Self::pay_by_mbank_instead_of).
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

    /// Begins a payment by a card, where the settings turn cards on and the checkout names them. Where the payment has a
    /// `page_url`, the payer confirms it there (3DS). **The card lives for this call**: where it cannot be sent now, the payment
    /// is not made, and the payer tries again. The same key with another card is the same try: nothing of a card is kept to
    /// tell the two apart.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form); [`ServerError::NoAttemptsLeft`] also where as many cards were tried as the settings
    /// say.
    pub async fn pay_by_card(
        &self,
        checkout: &CheckoutId,
        card: &PayerCard,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Card(card), None, key).await
    }

    /// Begins a payment, also instead of one that its payer leaves.
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

    /// Sends the payer's one-time password, once, without the spaces and hyphens by which a message groups it. One without a digit
    /// is refused before it is sent, and uses up no try. A wrong one leaves the payment awaiting, with one attempt less; where it is
    /// not known what it did, the gateway's report ends the payment.
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
        // Nothing of the password goes into the fingerprint: six digits are found by trying.
        let key = self.key(key, checkout, &format!("confirm {payment}"))?;
        let sender = hex(&self.random::<16>()?);
        let begin = BeginConfirmation { checkout: checkout.clone(), payment: payment.clone(), key, sender };
        // Zeroization: our copy is wiped when it was sent, or the task ends without.
        let shared = self.shared.clone();
        self.spawn_detached(async move { shared.dispatcher.confirm(begin, otp).await }, checkout).await
    }

    /// An idempotency key with the fingerprint of what came with it.
    fn key(&self, key: Option<&str>, checkout: &CheckoutId, content: &str) -> Result<Option<Key>, ServerError> {
        let Some(text) = key else { return Ok(None) };
        let mut checks = Checks::default();
        checks.required_text("idempotency_key", text, LONGEST_KEY);
        checks.finish()?;
        let fingerprint = digest(&SHA256, format!("{checkout} {content}").as_bytes()).as_ref().to_vec();
        Ok(Some(Key { text: text.to_owned(), fingerprint }))
    }

    /// A person decides what became of a payment that has not ended and is not being sent: one that is unknown, awaiting,
    /// confirming, mismatched or unverifiable. The event `payment.resolved` tells the state before, the reason, who
    /// decided, and through which key. One that was charged pays its checkout; after one that was not, another can be begun.
    /// Polling continues for 30 days: a charge that the gateway reports after all counts, and has an event.
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

    /// The same for callers who need to know whether anything was recorded. With `seen`, the version of the checkout that the person
    /// saw, nothing is recorded if the checkout has changed since.
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

    /// Takes a callback of the gateway's, by the end of the address that it came to. **It proves nothing**: the payment is
    /// polled at once. Its unreadable part is logged, and shown to the staff. True if it is new.
    ///
    /// # Errors
    /// [`ServerError::NotFound`] for an address that nobody was given, [`ServerError::Unavailable`].
    pub async fn hint(&self, address: &str, body: &[u8]) -> Result<bool, ServerError> {
        self.called_back(ReceivedCallback { address, query: "", body, problem: None }).await
    }

    /// The same, with all that came.
    pub(crate) async fn called_back(&self, received: ReceivedCallback<'_>) -> Result<bool, ServerError> {
        let (hint, reading) = received.hint(&self.shared.settings.dialect)?;
        let unread = match &hint {
            Hint::Callback { payment, exchange: Some(exchange), is_whole: false, .. } => {
                Some((payment.clone(), exchange.clone()))
            }
            _ => None,
        };
        let outcome = match self.shared.storage.record_hint(hint).await {
            // It is not counted here: it is logged where its caller is known.
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

    /// Queries all open payments of a checkout at once: its payer came back, or somebody looks.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn check_now(&self, checkout: &CheckoutId) -> Result<(), ServerError> {
        self.look(checkout, None).await
    }

    /// The payer says that they have paid, by coming back from the gateway's page or by requesting the result: queries as
    /// [`check_now`](Self::check_now) does, and keeps that they said so ([`Payment::claimed_at`]).
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
            // The payer's other windows show it.
            self.shared.watchers.notify(checkout);
            self.shared.peer_notifications.note(checkout);
        }
        Ok(())
    }
}

/// The number of a phone, however it is written.
fn checked_phone(typed: &str) -> Result<String, ServerError> {
    let mut checks = Checks::default();
    let phone = checks.phone("phone", typed);
    checks.finish()?;
    Ok(phone)
}

/// Logs the unreadable part of a callback, masked and truncated.
fn log_unread(payment: &PaymentId, reading: Readability, exchange: &Exchange) {
    let (words, body) = (exchange.words.as_deref(), exchange.response.as_deref());
    let sentence = "a callback could not be read in full; its payment is queried all the same";
    match reading {
        Readability::Unreadable => tracing::warn!(target: "kassa_server", %payment, words, body, "{sentence}"),
        _ => tracing::info!(target: "kassa_server", %payment, words, body, "{sentence}"),
    }
}
