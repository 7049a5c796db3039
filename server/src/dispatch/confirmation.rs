//! Confirmation of a payment by the payer's code: it moves money too, so it is recorded first, and sent once.

use kassa::{MegapayPayment, PaymentError, PaymentRef};
use tracing::Instrument;
use zeroize::Zeroizing;

use super::{Dispatcher, SendTarget};
use crate::{
    callbacks,
    payments::{
        Failure, Payment,
        exchange::{Exchange, ExchangeKind, GatewayAnswer},
        response::Secrets,
    },
    storage::{
        inputs::{BeginConfirmation, CheckoutLookup, ConfirmResult, ConfirmationOutcome},
        outputs::RecordedPayment,
    },
    telemetry,
    values::{Method, error::ServerError},
};

/// The request that takes a code, ready to be sent once.
struct CodeRequest {
    /// The request of a MegaPay wallet repeats the fields of its check; that of the mobile bank only names its payment.
    wallet: Option<MegapayPayment>,
    /// The secrets that no response to it may repeat.
    secrets: Secrets,
}

impl Dispatcher {
    /// Records a confirmation and sends it, unless the same request already did.
    pub(crate) async fn confirm(
        &self,
        begin: BeginConfirmation,
        otp: Zeroizing<String>,
    ) -> Result<Payment, ServerError> {
        let target = SendTarget {
            checkout: begin.checkout.clone(),
            payment: begin.payment.clone(),
            sender: begin.sender.clone(),
        };
        let started = self.runtime.monotonic();
        let RecordedPayment { payment, is_changed } = match self.storage.begin_confirmation(begin).await {
            Ok(begun) => begun,
            Err(problem) if problem.wrote_nothing() => return Err(problem.into()),
            Err(problem) => {
                let _ = self.record_confirmed(&target, not_sent("Interrupted"), None).await;
                return Err(problem.into());
            }
        };
        if !is_changed {
            return Ok(payment);
        }
        let request = self.code_request(&payment, &otp).await;
        let is_in_time = self.runtime.monotonic().saturating_sub(started) <= self.max_send_delay;
        let (result, exchange) = match request {
            Ok(request) if is_in_time => self.send_code(&payment, request, &otp).await,
            Ok(_) => (not_sent("Interrupted"), None),
            Err(result) => (result, None),
        };
        drop(otp);
        self.record_confirmed(&target, result, exchange).await
    }

    /// The request, or why none can be made.
    async fn code_request(&self, payment: &Payment, otp: &str) -> Result<CodeRequest, ConfirmResult> {
        let secrets = Secrets::of_otp(otp);
        if payment.method != Method::Megapay {
            return Ok(CodeRequest { wallet: None, secrets });
        }
        let reference = &payment.reference;
        let (Some(account), Some(phone), Some(order_number), Some(amount)) =
            (&self.megapay_account, &payment.payer_phone, &reference.order_number, reference.amount)
        else {
            // MegaPay is off now, or the stored payment is incomplete.
            return Err(not_sent("Misconfigured"));
        };
        let found = self.storage.checkout(CheckoutLookup::Id(payment.checkout.clone())).await;
        let Ok(Some(view)) = found else { return Err(not_sent("Interrupted")) };
        let checkout = view.checkout;
        let callback_url = callbacks::url(&self.callback_base, &checkout.callback_secret, &payment.id);
        let wallet = MegapayPayment::new(order_number, amount, phone.expose(), account).with_callback_url(callback_url);
        let secrets = Secrets::of_addresses([&checkout.callback_secret, &checkout.page_secret]);
        Ok(CodeRequest { wallet: Some(wallet), secrets: secrets.with_otp(otp).with_phone(phone.expose()) })
    }

    async fn send_code(&self, payment: &Payment, request: CodeRequest, otp: &str) -> (ConfirmResult, Option<Exchange>) {
        let span = telemetry::to_gateway("confirm", &payment.id);
        let secrets = &request.secrets;
        let (result, exchange) = match request.wallet {
            Some(wallet) => {
                let answer = self.gateway.pay_by_megapay(wallet, otp).instrument(span.clone()).await;
                outcome(answer, payment, secrets, |accepted| accepted.payment)
            }
            None => {
                let confirming = self.gateway.confirm_mbank_payment(&payment.reference, otp);
                outcome(confirming.instrument(span.clone()).await, payment, secrets, |confirmed| confirmed.payment)
            }
        };
        let word = confirmation_word(&result);
        telemetry::came_of(&span, word, matches!(result, ConfirmResult::Sent { reference: None }));
        self.metrics.confirmed(word);
        (result, Some(exchange))
    }

    async fn record_confirmed(
        &self,
        target: &SendTarget,
        result: ConfirmResult,
        exchange: Option<Exchange>,
    ) -> Result<Payment, ServerError> {
        let record = |SendTarget { checkout, payment, sender }| {
            let (result, exchange) = (result.clone(), exchange.clone());
            self.storage.record_confirmation(ConfirmationOutcome { checkout, payment, sender, result, exchange })
        };
        self.record_with_retries(target, record).await
    }
}

/// The result of a request, and the exchange to store.
fn outcome<T: GatewayAnswer>(
    answer: Result<T, PaymentError>,
    payment: &Payment,
    secrets: &Secrets,
    reference: impl FnOnce(T) -> PaymentRef,
) -> (ConfirmResult, Exchange) {
    let exchange = Exchange::of(ExchangeKind::Confirm, &answer, secrets);
    let result = match answer {
        Ok(answer) => {
            let confirmed = reference(answer);
            let is_same = confirmed.order_number == payment.reference.order_number
                && confirmed.amount == payment.reference.amount;
            ConfirmResult::Sent { reference: Some(confirmed).filter(|_| is_same) }
        }
        Err(PaymentError::OutcomeUnknown { .. }) => ConfirmResult::Sent { reference: None },
        Err(error @ PaymentError::Refused { .. }) => ConfirmResult::Refused { failure: Failure::of(&error, secrets) },
        Err(error) => ConfirmResult::NothingHappened { failure: Failure::of(&error, secrets) },
    };
    (result, exchange)
}

/// The failure of a confirmation that the server did not send, by its kind.
fn not_sent(kind: &str) -> ConfirmResult {
    ConfirmResult::NothingHappened { failure: Failure::of_kind(kind) }
}

/// The label for the metrics.
fn confirmation_word(result: &ConfirmResult) -> &'static str {
    match result {
        ConfirmResult::Sent { reference: Some(_) } => "accepted",
        ConfirmResult::Sent { reference: None } => "unknown",
        ConfirmResult::Refused { .. } => "refused",
        ConfirmResult::NothingHappened { .. } => "nothing_happened",
    }
}
