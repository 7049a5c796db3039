//! Calls that take time, for other languages: each goes in as one message ([`AsyncCall`]) and comes back as one
//! ([`Completion`]), both in the serialization that UniFFI generates for their types. No future crosses the border. Who
//! waits for a call, and how, is decided in `bindings/native`.
//!
//! Why: `docs/adr/0002-runtime-and-boundary.md`.

use std::{panic::AssertUnwindSafe, pin::Pin, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use uniffi::{Lift, Lower};

use crate::{
    Callback, CardPayment, Checkout, CheckoutStates, Gateway, MbankPayment, PayForm, PaymentError, PaymentRef,
    Provider, QrPayment, Recovery, ReturnRedirect, StatusWatch, UniFfiTag, transport::runtime,
};

/// A call with its arguments. The value that it is answered with is the return type of the method that it is named after.
#[derive(uniffi::Enum)]
#[expect(missing_docs, reason = "each field is the argument of that name")]
pub enum AsyncCall {
    /// See [`Gateway::create_card_payment`].
    CreateCardPayment { gateway: Arc<Gateway>, payment: CardPayment },
    /// See [`Gateway::payment_status`].
    PaymentStatus { gateway: Arc<Gateway>, gateway_number: String, language: Option<String> },
    /// See [`Gateway::create_mbank_payment`].
    CreateMbankPayment { gateway: Arc<Gateway>, payment: MbankPayment },
    /// See [`Gateway::confirm_mbank_payment`].
    ConfirmMbankPayment { gateway: Arc<Gateway>, payment: PaymentRef, otp: String },
    /// See [`Gateway::create_pay_form`].
    CreatePayForm { gateway: Arc<Gateway>, form: PayForm },
    /// See [`Gateway::provider_status`].
    ProviderStatus { gateway: Arc<Gateway>, order_number: String, provider: Provider },
    /// See [`Gateway::create_qr_image`].
    CreateQrImage { gateway: Arc<Gateway>, payment: QrPayment },
    /// See [`Gateway::create_qr_data`].
    CreateQrData { gateway: Arc<Gateway>, payment: QrPayment },
    /// See [`Gateway::qr_status`].
    QrStatus { gateway: Arc<Gateway>, transaction_id: String },
    /// See [`Gateway::check`].
    Check { gateway: Arc<Gateway>, payment: PaymentRef },
    /// See [`Gateway::verify_callback`].
    VerifyCallback { gateway: Arc<Gateway>, callback: Callback, payment: PaymentRef },
    /// See [`Gateway::verify_return`].
    VerifyReturn { gateway: Arc<Gateway>, redirect: ReturnRedirect, payment: PaymentRef },
    /// See [`Gateway::finish`].
    Finish { gateway: Arc<Gateway>, id: String },
    /// See [`Gateway::close`].
    Close { gateway: Arc<Gateway> },
    /// See [`Gateway::close_within`].
    CloseWithin { gateway: Arc<Gateway>, timeout: Duration },
    /// See [`StatusWatch::next`].
    WatchNext { watch: Arc<StatusWatch> },
    /// See [`StatusWatch::outcome`].
    WatchOutcome { watch: Arc<StatusWatch> },
    /// See [`Recovery::next`].
    RecoveryNext { recovery: Arc<Recovery> },
    /// See [`Checkout::token_wanted`].
    CheckoutTokenWanted { checkout: Arc<Checkout> },
    /// See [`CheckoutStates::next`].
    CheckoutStatesNext { states: Arc<CheckoutStates> },
}

/// A call that is under way.
pub type Running = Pin<Box<dyn Future<Output = Completion> + Send>>;

/// The end of a call.
pub struct Completion {
    /// How it ended.
    pub code: CompletionCode,
    /// The answer; the error; or, for a defect, a text.
    pub value: Vec<u8>,
}

/// How a call ended. The numbers are those of UniFFI's call status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CompletionCode {
    /// With an answer.
    Answer = 0,
    /// With a [`PaymentError`].
    Error = 1,
    /// With a defect in the SDK, which says nothing about the money.
    Defect = 2,
}

impl AsyncCall {
    /// Reads a call; where that is not possible, the call ends with the reason.
    pub fn read(mut message: &[u8]) -> Result<Self, Completion> {
        match <Self as Lift<UniFfiTag>>::try_read(&mut message) {
            Ok(call) if message.is_empty() => Ok(call),
            Ok(_) => Err(Completion::defect("a call goes on where it should end")),
            // A value that only another language can make, such as an amount that is no number.
            Err(reason) => Err(match reason.downcast::<PaymentError>() {
                Ok(error) => Completion::error(error),
                Err(reason) => Completion::defect(&reason.to_string()),
            }),
        }
    }

    /// True for a query. Giving one up loses nothing, so the thread that waits for it may drive the network.
    pub fn is_query(&self) -> bool {
        use AsyncCall::{Check, PaymentStatus, ProviderStatus, QrStatus, VerifyCallback, VerifyReturn};
        matches!(
            self,
            PaymentStatus { .. }
                | ProviderStatus { .. }
                | QrStatus { .. }
                | Check { .. }
                | VerifyCallback { .. }
                | VerifyReturn { .. }
        )
    }

    /// Begins the call. A gateway is closed from here on, also where the wait for its payments is given up.
    pub fn begin(self) -> Running {
        let closes = matches!(self, Self::Close { .. } | Self::CloseWithin { .. });
        let mut call: Running = Box::pin(AssertUnwindSafe(self.run()).catch_unwind().map(|ended| {
            ended.unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<&str>().copied();
                let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
                Completion::defect(text.unwrap_or("it panicked"))
            })
        }));
        if closes && let Some(completion) = call.as_mut().now_or_never() {
            return Box::pin(std::future::ready(completion));
        }
        call
    }

    async fn run(self) -> Completion {
        match self {
            Self::CreateCardPayment { gateway, payment } => result(gateway.create_card_payment(payment).await),
            Self::PaymentStatus { gateway, gateway_number, language } => {
                result(gateway.payment_status(&gateway_number, language.as_deref()).await)
            }
            Self::CreateMbankPayment { gateway, payment } => result(gateway.create_mbank_payment(payment).await),
            Self::ConfirmMbankPayment { gateway, payment, otp } => {
                result(gateway.confirm_mbank_payment(&payment, &otp).await)
            }
            Self::CreatePayForm { gateway, form } => result(gateway.create_pay_form(form).await),
            Self::ProviderStatus { gateway, order_number, provider } => {
                result(gateway.provider_status(&order_number, provider).await)
            }
            Self::CreateQrImage { gateway, payment } => result(gateway.create_qr_image(payment).await),
            Self::CreateQrData { gateway, payment } => result(gateway.create_qr_data(payment).await),
            Self::QrStatus { gateway, transaction_id } => result(gateway.qr_status(&transaction_id).await),
            Self::Check { gateway, payment } => result(gateway.check(&payment).await),
            Self::VerifyCallback { gateway, callback, payment } => {
                result(gateway.verify_callback(&callback, &payment).await)
            }
            Self::VerifyReturn { gateway, redirect, payment } => {
                result(gateway.verify_return(&redirect, &payment).await)
            }
            Self::Finish { gateway, id } => match gateway.finish(&id).await {
                Ok(()) => Completion { code: CompletionCode::Answer, value: Vec::new() },
                Err(error) => Completion::error(error),
            },
            Self::Close { gateway } => {
                gateway.close().await;
                Completion { code: CompletionCode::Answer, value: Vec::new() }
            }
            Self::CloseWithin { gateway, timeout } => Completion::answer(gateway.close_within(timeout).await),
            Self::WatchNext { watch } => result(watch.next().await),
            Self::WatchOutcome { watch } => result(watch.outcome().await),
            Self::RecoveryNext { recovery } => result(recovery.next().await),
            Self::CheckoutTokenWanted { checkout } => Completion::answer(checkout.token_wanted().await),
            Self::CheckoutStatesNext { states } => Completion::answer(states.next().await),
        }
    }
}

fn result<T: Lower<UniFfiTag>>(result: Result<T, PaymentError>) -> Completion {
    result.map_or_else(Completion::error, Completion::answer)
}

impl Completion {
    fn answer<T: Lower<UniFfiTag>>(answer: T) -> Self {
        Self { code: CompletionCode::Answer, value: written(answer) }
    }

    fn error(error: PaymentError) -> Self {
        Self { code: CompletionCode::Error, value: written(error) }
    }

    fn defect(text: &str) -> Self {
        Self { code: CompletionCode::Defect, value: text.as_bytes().to_vec() }
    }
}

fn written<T: Lower<UniFfiTag>>(value: T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    T::write(value, &mut bytes);
    bytes
}

/// A call on Kassa's own threads.
pub struct Spawned(tokio::task::AbortHandle);

impl Spawned {
    /// Runs it there. Where there can be no threads, the call ends with the reason.
    pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Result<Self, Completion> {
        let runtime = runtime::handle().map_err(Completion::error)?;
        Ok(Self(runtime.spawn(work).abort_handle()))
    }

    /// Lets the runtime forget it.
    pub fn abort(&self) {
        self.0.abort();
    }
}
