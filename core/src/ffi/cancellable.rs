//! Cancellation from outside: for Swift, where a cancelled task goes on awaiting, and the future of the core is never
//! dropped (`docs/adr/0006-cancellation-in-swift.md`). It goes when the generator drops the future there, too:
//! <https://github.com/mozilla/uniffi-rs/issues/2771>.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use futures_util::future::{Either, select};
use tokio::sync::watch;

use crate::{
    Callback, CardPayment, CardPaymentCreated, Checkout, CheckoutState, CheckoutStates, Gateway, MbankConfirmed,
    MbankPayment, MbankPaymentCreated, PayForm, PayFormCreated, PaymentError, PaymentRef, Provider, QrData, QrImage,
    QrPayment, Recovered, Recovery, ReturnRedirect, StatusReport, StatusWatch, Verdict, WatchReport,
};

/// One call that can be given up. After `cancel` it answers nothing, at once, as if its future had been dropped: a
/// query ends, a payment is prevented where no connection was made yet, and goes on without a waiter where one was.
#[derive(uniffi::Object)]
pub struct CancellableCall {
    cancelled: watch::Sender<bool>,
}

#[uniffi::export]
impl CancellableCall {
    /// A call that has not been made yet.
    #[uniffi::constructor]
    fn new() -> Self {
        Self { cancelled: watch::Sender::new(false) }
    }

    /// Gives the call up. Where it was not made yet, it never will be.
    fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    /// See [`StatusWatch::next`]. Nothing after the last report, too.
    async fn next(&self, watch: Arc<StatusWatch>) -> Result<Option<WatchReport>, PaymentError> {
        Ok(self.unless_cancelled(watch.next()).await.transpose()?.flatten())
    }

    /// See [`StatusWatch::outcome`]. Nothing where the watch was cancelled, too.
    async fn outcome(&self, watch: Arc<StatusWatch>) -> Result<Option<Verdict>, PaymentError> {
        Ok(self.unless_cancelled(watch.outcome()).await.transpose()?.flatten())
    }

    /// See [`Recovery::next`]. Nothing after the last end, too.
    async fn next_recovered(&self, recovery: Arc<Recovery>) -> Result<Option<Recovered>, PaymentError> {
        Ok(self.unless_cancelled(recovery.next()).await.transpose()?.flatten())
    }

    /// See [`CheckoutStates::next`]. Nothing after the end, too.
    async fn next_state(&self, states: Arc<CheckoutStates>) -> Result<Option<CheckoutState>, PaymentError> {
        Ok(self.unless_cancelled(states.next()).await.flatten())
    }

    /// See [`Checkout::token_wanted`]. False where the wait was given up, too.
    async fn token_wanted(&self, checkout: Arc<Checkout>) -> bool {
        self.unless_cancelled(checkout.token_wanted()).await.unwrap_or_default()
    }

    /// See [`Gateway::close`]. It is closed also where the wait for its payments is given up, even before it was begun.
    async fn close(&self, gateway: Arc<Gateway>) {
        select(pin!(gateway.close()), pin!(self.given_up())).await;
    }

    /// See [`Gateway::close_within`]. False where the wait was given up, too.
    async fn close_within(&self, gateway: Arc<Gateway>, timeout: Duration) -> bool {
        match select(pin!(gateway.close_within(timeout)), pin!(self.given_up())).await {
            Either::Left((is_done, _)) => is_done,
            Either::Right(_) => false,
        }
    }
}

impl CancellableCall {
    async fn given_up(&self) {
        // Waiting fails only once the sender is dropped, and `self` holds it.
        let _ = self.cancelled.subscribe().wait_for(|is_cancelled| *is_cancelled).await;
    }

    async fn unless_cancelled<T: Send>(&self, call: impl Future<Output = T> + Send) -> Option<T> {
        let mut answer = None;
        self.until_cancelled(pin!(async { answer = Some(call.await) })).await;
        answer
    }

    /// Type erasure: compiled once for all calls. What is given up before it was begun is never begun, so the cancellation
    /// is looked at first.
    async fn until_cancelled(&self, call: Pin<&mut (dyn Future<Output = ()> + Send)>) {
        select(pin!(self.given_up()), call).await;
    }
}

/// Exports calls under the names that they have where they come from.
macro_rules! export_cancellable {
    ($($method:ident($($argument:ident: $kind:ty),*) -> $answer:ty = $call:expr;)*) => {
        #[uniffi::export]
        impl CancellableCall {
            $(
                /// The method of that name; nothing where the call was given up.
                async fn $method(&self, $($argument: $kind),*) -> Result<Option<$answer>, PaymentError> {
                    self.unless_cancelled($call).await.transpose()
                }
            )*
        }
    };
}

export_cancellable! {
    create_card_payment(gateway: Arc<Gateway>, payment: CardPayment) -> CardPaymentCreated =
        gateway.create_card_payment(payment);
    payment_status(gateway: Arc<Gateway>, gateway_number: String, language: Option<String>) -> StatusReport =
        gateway.payment_status(&gateway_number, language.as_deref());
    create_mbank_payment(gateway: Arc<Gateway>, payment: MbankPayment) -> MbankPaymentCreated =
        gateway.create_mbank_payment(payment);
    confirm_mbank_payment(gateway: Arc<Gateway>, payment: PaymentRef, otp: String) -> MbankConfirmed =
        gateway.confirm_mbank_payment(&payment, &otp);
    create_pay_form(gateway: Arc<Gateway>, form: PayForm) -> PayFormCreated = gateway.create_pay_form(form);
    provider_status(gateway: Arc<Gateway>, order_number: String, provider: Provider) -> StatusReport =
        gateway.provider_status(&order_number, provider);
    create_qr_image(gateway: Arc<Gateway>, payment: QrPayment) -> QrImage = gateway.create_qr_image(payment);
    create_qr_data(gateway: Arc<Gateway>, payment: QrPayment) -> QrData = gateway.create_qr_data(payment);
    qr_status(gateway: Arc<Gateway>, transaction_id: String) -> StatusReport = gateway.qr_status(&transaction_id);
    check(gateway: Arc<Gateway>, payment: PaymentRef) -> Verdict = gateway.check(&payment);
    verify_callback(gateway: Arc<Gateway>, callback: Callback, payment: PaymentRef) -> Verdict =
        gateway.verify_callback(&callback, &payment);
    verify_return(gateway: Arc<Gateway>, redirect: ReturnRedirect, payment: PaymentRef) -> Verdict =
        gateway.verify_return(&redirect, &payment);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scripted::{Act, Scripted};

    fn payment() -> MbankPayment {
        let (order_number, phone, comment) = ("order-1".into(), "996700000001".into(), "Tea".into());
        MbankPayment { order_number, phone, amount_som: 5, comment, callback_url: None }
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_given_up_before_it_was_made_sends_nothing() {
        let (gateway, memory) = Scripted::gateway(|_| Act::status("NEW"));
        let call = CancellableCall::new();
        call.cancel();
        assert_eq!(call.create_mbank_payment(Arc::new(gateway), payment()).await, Ok(None));
        assert!(memory.attempted_at().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_payment_given_up_on_its_way_goes_on_and_closing_waits_for_it() {
        let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(20, "NEW"));
        let (gateway, call) = (Arc::new(gateway), Arc::new(CancellableCall::new()));
        let started = tokio::time::Instant::now();
        let sent = tokio::spawn({
            let (gateway, call) = (gateway.clone(), call.clone());
            async move { call.create_mbank_payment(gateway, payment()).await }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        call.cancel();
        assert_eq!(sent.await.unwrap(), Ok(None));
        call.close(gateway.clone()).await;
        assert!(!call.close_within(gateway.clone(), Duration::from_secs(9)).await, "that wait is given up, too");
        assert_eq!(started.elapsed().as_secs(), 1);
        let refused = CancellableCall::new().create_mbank_payment(gateway.clone(), payment()).await;
        assert!(matches!(refused, Err(PaymentError::Misconfigured { .. })));
        CancellableCall::new().close(gateway).await;
        assert_eq!(started.elapsed().as_secs(), 20);
        assert_eq!(memory.seen().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_given_up_loses_no_report() {
        let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(5, "CHARGE"));
        let watch = Arc::new(gateway.watch(PaymentRef::mbank("order-1", 5), Default::default()).unwrap());
        let call = Arc::new(CancellableCall::new());
        let next = tokio::spawn({
            let (watch, call) = (watch.clone(), call.clone());
            async move { call.next(watch).await }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        call.cancel();
        assert_eq!(next.await.unwrap(), Ok(None));
        let outcome = CancellableCall::new().outcome(watch).await;
        assert!(matches!(outcome, Ok(Some(Verdict::Charged { .. }))));
        assert_eq!(memory.attempted_at(), [0]);
    }
}
