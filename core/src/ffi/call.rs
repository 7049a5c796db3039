//! Calls that take time, for other languages: each goes in as one message ([`AsyncCall`]), and its completion comes
//! back as one ([`Completion`]), both in the serialization that UniFFI generates for their types. No future crosses the
//! boundary. `bindings/native` decides how callers wait.
//!
//! Why: `docs/adr/0002-runtime-and-boundary.md`.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use futures_util::FutureExt as _;
use uniffi::{Lift, Lower};
use zeroize::Zeroizing;

use crate::{
    Callback, CardPayment, Checkout, CheckoutStates, Gateway, MbankPayment, MegapayPayment, PayForm, PaymentError,
    PaymentRef, Provider, QrPayment, Recovery, ReturnRedirect, StatusWatch, UniFfiTag,
    operations::{
        Operation,
        mbank_confirm::MbankConfirm,
        megapay::{MegapayCheck, MegapayPay},
    },
    pipeline::log::{Event, EventDetails, running_call},
    transport::runtime,
};

/// A call with its arguments. Its answer has the return type of the method that it is named after.
///
/// Objects come before all other values, also within records. A rejected value ends the reading, and only values before it are dropped: a
/// handle after it would hold its object, such as a card, forever. The generator of Python's tables checks the order.
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
    /// See [`Gateway::check_megapay`].
    CheckMegapay { gateway: Arc<Gateway>, payment: MegapayPayment },
    /// See [`Gateway::pay_by_megapay`].
    PayByMegapay { gateway: Arc<Gateway>, payment: MegapayPayment, pin: String },
}

/// A running call.
pub type Running = Pin<Box<dyn Future<Output = Completion> + Send>>;

/// The action if no caller receives a completion.
pub type Untaken = Box<dyn FnOnce() + Send>;

/// The end of a call.
pub struct Completion {
    /// How it ended.
    pub code: CompletionCode,
    /// The answer, the error, or, for a defect, a text.
    pub value: Vec<u8>,
    /// The action if no caller receives it: a result that comes only once, such as a report, is returned to its source.
    pub untaken: Option<Untaken>,
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
    /// Reads a call. If that is not possible, the call ends with the reason.
    pub fn read(mut message: &[u8]) -> Result<Self, Completion> {
        // UniFFI's reading may panic, for example on a time span that is too long, which would end the process at the boundary.
        let read = catch_unwind(AssertUnwindSafe(|| <Self as Lift<UniFfiTag>>::try_read(&mut message)));
        match read.map_err(|panic| Completion::panicked(&*panic))? {
            Ok(call) if message.is_empty() => Ok(call),
            Ok(_) => Err(Completion::defect("a call goes on where it should end")),
            // A value that only another language can create, such as an amount that is not a number.
            Err(reason) => Err(match reason.downcast::<PaymentError>() {
                Ok(error) => Completion::error(error),
                Err(reason) => Completion::defect(&reason.to_string()),
            }),
        }
    }

    /// True for a query. Abandoning one loses nothing, so the waiting thread may drive the network.
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

    /// Begins the call. From here on a gateway is closed, even if the wait for its payments is abandoned, and a checkout knows that its
    /// token will be renewed.
    pub fn begin(self) -> Running {
        let begins_at_once =
            matches!(self, Self::Close { .. } | Self::CloseWithin { .. } | Self::CheckoutTokenWanted { .. });
        let mut call: Running = Box::pin(
            AssertUnwindSafe(self.run())
                .catch_unwind()
                .map(|ended| ended.unwrap_or_else(|panic| Completion::panicked(&*panic))),
        );
        if begins_at_once && let Some(completion) = call.as_mut().now_or_never() {
            return Box::pin(std::future::ready(completion));
        }
        call
    }

    /// The larger futures are boxed. The future of a call is as large as its largest part, and is moved when the call begins.
    async fn run(self) -> Completion {
        match self {
            Self::CreateCardPayment { gateway, payment } => {
                let order = Some(payment.order_number.as_str().into());
                paid::<CardPayment, _>(order, Box::pin(gateway.create_card_payment(payment)).await)
            }
            Self::PaymentStatus { gateway, gateway_number, language } => {
                result(gateway.payment_status(&gateway_number, language.as_deref()).await)
            }
            Self::CreateMbankPayment { gateway, payment } => {
                let order = Some(payment.order_number.as_str().into());
                paid::<MbankPayment, _>(order, Box::pin(gateway.create_mbank_payment(payment)).await)
            }
            Self::ConfirmMbankPayment { gateway, payment, otp } => {
                let otp = Zeroizing::new(otp);
                let order = payment.order_number.as_deref().map(Arc::from);
                paid::<MbankConfirm, _>(order, Box::pin(gateway.confirm_mbank_payment(&payment, &otp)).await)
            }
            Self::CreatePayForm { gateway, form } => result(Box::pin(gateway.create_pay_form(form)).await),
            Self::ProviderStatus { gateway, order_number, provider } => {
                result(gateway.provider_status(&order_number, provider).await)
            }
            Self::CreateQrImage { gateway, payment } => result(Box::pin(gateway.create_qr_image(payment)).await),
            Self::CreateQrData { gateway, payment } => result(Box::pin(gateway.create_qr_data(payment)).await),
            Self::QrStatus { gateway, transaction_id } => result(gateway.qr_status(&transaction_id).await),
            Self::Check { gateway, payment } => result(Box::pin(gateway.check(&payment)).await),
            Self::VerifyCallback { gateway, callback, payment } => {
                result(Box::pin(gateway.verify_callback(&callback, &payment)).await)
            }
            Self::VerifyReturn { gateway, redirect, payment } => {
                result(Box::pin(gateway.verify_return(&redirect, &payment)).await)
            }
            Self::Finish { gateway, id } => match Box::pin(gateway.finish(&id)).await {
                Ok(()) => Completion::new(CompletionCode::Answer, Vec::new()),
                Err(error) => Completion::error(error),
            },
            Self::Close { gateway } => {
                Box::pin(gateway.close()).await;
                Completion::new(CompletionCode::Answer, Vec::new())
            }
            Self::CloseWithin { gateway, timeout } => Completion::answer(Box::pin(gateway.close_within(timeout)).await),
            Self::WatchNext { watch } => {
                let next = Box::pin(watch.next()).await;
                let report = next.clone().transpose();
                result(next).or_back(report.map(|report| move || watch.give_back(report)))
            }
            Self::WatchOutcome { watch } => result(Box::pin(watch.outcome()).await),
            Self::RecoveryNext { recovery } => {
                let next = Box::pin(recovery.next()).await;
                let untaken = next.clone().transpose();
                result(next).or_back(untaken.map(|untaken| move || recovery.give_back(untaken)))
            }
            Self::CheckoutTokenWanted { checkout } => Completion::answer(Box::pin(checkout.token_wanted()).await),
            Self::CheckMegapay { gateway, payment } => {
                let order = Some(payment.order_number.as_str().into());
                paid::<MegapayCheck, _>(order, Box::pin(gateway.check_megapay(payment)).await)
            }
            Self::PayByMegapay { gateway, payment, pin } => {
                let pin = Zeroizing::new(pin);
                let order = Some(payment.order_number.as_str().into());
                paid::<MegapayPay, _>(order, Box::pin(gateway.pay_by_megapay(payment, &pin)).await)
            }
            Self::CheckoutStatesNext { states } => {
                Completion::answer(Box::pin(states.next()).await).or_back(Some(move || states.give_back()))
            }
        }
    }
}

fn result<T: Lower<UniFfiTag>>(result: Result<T, PaymentError>) -> Completion {
    result.map_or_else(Completion::error, Completion::answer)
}

/// The completion of a call that moves money. If no caller receives it, that is logged, as if the caller had given up before the response.
fn paid<O: Operation, T: Lower<UniFfiTag>>(order: Option<Arc<str>>, result: Result<T, PaymentError>) -> Completion {
    use PaymentError::{OutcomeUnknown, Refused};
    let was_sent = matches!(result, Ok(_) | Err(OutcomeUnknown { .. } | Refused { .. }));
    let event = Event { call: running_call(), endpoint: O::ENDPOINT.name, order, details: EventDetails::NobodyWaits };
    self::result(result).or_back(was_sent.then_some(move || event.record()))
}

impl Completion {
    /// A completion without an action if no caller receives it.
    pub fn new(code: CompletionCode, value: Vec<u8>) -> Self {
        Self { code, value, untaken: None }
    }

    fn or_back(self, untaken: Option<impl FnOnce() + Send + 'static>) -> Self {
        Self { untaken: untaken.map(|untaken| Box::new(untaken) as _), ..self }
    }

    /// Runs the action of a completion that no caller receives.
    pub fn give_back(self) {
        if let Some(untaken) = self.untaken {
            untaken();
        }
    }

    fn answer<T: Lower<UniFfiTag>>(answer: T) -> Self {
        Self::new(CompletionCode::Answer, written(answer))
    }

    fn error(error: PaymentError) -> Self {
        Self::new(CompletionCode::Error, written(error))
    }

    fn defect(text: &str) -> Self {
        Self::new(CompletionCode::Defect, text.as_bytes().to_vec())
    }

    fn panicked(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::defect(text.unwrap_or("it panicked"))
    }
}

fn written<T: Lower<UniFfiTag>>(value: T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    T::write(value, &mut bytes);
    bytes
}

/// Runs a call on Kassa's own threads. If they cannot be started, the call ends with the reason.
pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Result<(), Completion> {
    let runtime = runtime::handle().map_err(Completion::error)?;
    runtime.spawn(work);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tokio::time::{Instant, timeout};

    use super::*;
    use crate::{
        Journal, Recovered, Verdict, WatchReport,
        journal::tests::memory_disk::MemoryDisk,
        testing::scripted::{Act, Scripted, card_payment, mbank_payment, pay_form},
    };

    const SECOND: Duration = Duration::from_secs(1);

    fn paying(gateway: &Arc<Gateway>) -> Running {
        let (gateway, payment) = (gateway.clone(), mbank_payment("order-1"));
        AsyncCall::CreateMbankPayment { gateway, payment }.begin()
    }

    fn closing(gateway: &Arc<Gateway>) -> Running {
        AsyncCall::Close { gateway: gateway.clone() }.begin()
    }

    fn read<T: Lift<UniFfiTag>>(value: &[u8]) -> T {
        let mut rest = value;
        let read = T::try_read(&mut rest).unwrap();
        assert!(rest.is_empty());
        read
    }

    fn answer<T: Lift<UniFfiTag>>(completion: &Completion) -> T {
        assert_eq!(completion.code, CompletionCode::Answer);
        read(&completion.value)
    }

    fn error(completion: &Completion) -> PaymentError {
        assert_eq!(completion.code, CompletionCode::Error);
        read(&completion.value)
    }

    fn defect(completion: &Completion) -> &str {
        assert_eq!(completion.code, CompletionCode::Defect);
        str::from_utf8(&completion.value).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn call_dropped_before_first_poll_sends_nothing() {
        let (gateway, memory) = Scripted::gateway(|_| Act::status("NEW"));
        drop(paying(&Arc::new(gateway)));
        assert!(memory.attempted_at().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn dropped_payment_continues_and_close_waits() {
        let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(20, "NEW"));
        let (gateway, started) = (Arc::new(gateway), Instant::now());
        assert!(timeout(SECOND, paying(&gateway)).await.is_err());
        let within = AsyncCall::CloseWithin { gateway: gateway.clone(), timeout: 9 * SECOND }.begin();
        assert!(!answer::<bool>(&within.await));
        assert_eq!(started.elapsed().as_secs(), 10);
        let closed = closing(&gateway).await;
        assert_eq!((closed.code, closed.value.len()), (CompletionCode::Answer, 0));
        assert_eq!(started.elapsed().as_secs(), 20);
        assert_eq!(memory.seen().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn dropped_close_still_closes_gateway() {
        let within =
            |gateway: &Arc<Gateway>| AsyncCall::CloseWithin { gateway: gateway.clone(), timeout: 9 * SECOND }.begin();
        for close in [closing, within] {
            let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(20, "NEW"));
            let gateway = Arc::new(gateway);
            assert!(timeout(SECOND, paying(&gateway)).await.is_err());
            drop(close(&gateway));
            assert!(matches!(error(&paying(&gateway).await), PaymentError::Misconfigured { .. }));
            assert_eq!(memory.seen().len(), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn watch_given_up_loses_no_report() {
        let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(5, "CHARGE"));
        let watch = Arc::new(gateway.watch(PaymentRef::mbank("order-1", 5), Default::default()).unwrap());
        let next = AsyncCall::WatchNext { watch: watch.clone() }.begin();
        assert!(timeout(SECOND, next).await.is_err());
        let outcome = AsyncCall::WatchOutcome { watch }.begin().await;
        assert!(matches!(answer(&outcome), Some(Verdict::Charged { .. })));
        assert_eq!(memory.attempted_at(), [0]);
    }

    #[tokio::test(start_paused = true)]
    async fn untaken_report_is_given_to_next_caller() {
        let (gateway, memory) = Scripted::gateway(|_| Act::status("CHARGE"));
        let watch = Arc::new(gateway.watch(PaymentRef::mbank("order-1", 5), Default::default()).unwrap());
        let next = || AsyncCall::WatchNext { watch: watch.clone() }.begin();
        next().await.give_back();
        let report = answer::<Option<WatchReport>>(&next().await);
        assert!(matches!(report, Some(WatchReport::Status { verdict: Verdict::Charged { .. } })));
        assert!(answer::<Option<WatchReport>>(&next().await).is_none());
        assert_eq!(memory.attempted_at(), [0]);
    }

    /// Else a recovery that failed would look like one that has nothing left.
    #[tokio::test(start_paused = true)]
    async fn untaken_error_is_given_to_next_caller() {
        let (gateway, _) = Scripted::gateway(|_| Act::error(401, None));
        let journal = Journal::on(Box::new(MemoryDisk::default()), Path::new("shop")).unwrap();
        journal.begin(&PaymentRef::mbank("order-1", 5), None).unwrap();
        let gateway = gateway.with_journal(journal);
        let recovery = Arc::new(gateway.recover(Default::default()).unwrap());
        let next = || AsyncCall::RecoveryNext { recovery: recovery.clone() }.begin();
        next().await.give_back();
        assert!(matches!(error(&next().await), PaymentError::Unauthorized { .. }));
        assert!(answer::<Option<Recovered>>(&next().await).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn panic_comes_back_as_a_defect() {
        let (gateway, _) = Scripted::gateway(|_| Act::slow_status(20, "NEW"));
        let gateway = Arc::new(gateway);
        assert!(timeout(SECOND, paying(&gateway)).await.is_err());
        // On a thread without a runtime of tokio, which the timers of this gateway's transport want.
        let call = AsyncCall::CloseWithin { gateway, timeout: 9 * SECOND };
        let closed = std::thread::spawn(|| call.begin().now_or_never().expect("it has panicked")).join().unwrap();
        assert!(defect(&closed).starts_with("there is no reactor running"));
    }

    #[tokio::test]
    async fn message_that_reads_wrongly_is_an_error() {
        let (gateway, memory) = Scripted::gateway(|_| Act::status("NEW"));
        let gateway = Arc::new(gateway);
        let new = || written(AsyncCall::CreatePayForm { gateway: gateway.clone(), form: pay_form() });
        let failed = |message: &[u8]| AsyncCall::read(message).err().expect("it is no call");

        let whole = new();
        assert!(AsyncCall::read(&whole).is_ok());
        let past_the_gateway = size_of::<i32>() + size_of::<u64>();
        for length in past_the_gateway..whole.len() {
            assert!(!defect(&failed(&new()[..length])).is_empty());
        }
        assert_eq!(defect(&failed(&[&new()[..], &[0]].concat())), "a call goes on where it should end");
        assert!(!defect(&failed(&i32::MAX.to_be_bytes())).is_empty());

        let mut no_number = new();
        let amount = no_number.windows(3).position(|digits| digits == b"100").unwrap();
        no_number[amount..][..3].copy_from_slice(b"NaN");
        let PaymentError::Invalid { violations, .. } = error(&failed(&no_number)) else { panic!("another error") };
        assert_eq!(violations[0].field, "amount");
        assert!(memory.attempted_at().is_empty());
        assert_eq!(Arc::strong_count(&gateway), 1, "a message that cannot be read still gives its objects back");
    }

    /// The card's memory is wiped when the last share of it is dropped.
    #[tokio::test]
    async fn amount_that_is_refused_drops_the_card() {
        let (gateway, _) = Scripted::gateway(|_| Act::status("NEW"));
        let gateway = Arc::new(gateway);
        let mut payment = card_payment("order-1", "4111111111111111");
        payment.amount = "271.82".parse().unwrap();
        let card = Arc::downgrade(&payment.card);
        let mut message = written(AsyncCall::CreateCardPayment { gateway: gateway.clone(), payment });
        let amount = message.windows(6).position(|digits| digits == b"271.82").unwrap();
        message[amount..][..6].copy_from_slice(b"27182e");
        let failed = AsyncCall::read(&message).err().expect("it is no call");
        let PaymentError::Invalid { violations, .. } = error(&failed) else { panic!("another error") };
        assert_eq!(violations[0].field, "amount");
        assert!(card.upgrade().is_none());
        assert_eq!(Arc::strong_count(&gateway), 1);
    }

    /// A panic at the border would end the process of the other language.
    #[tokio::test]
    async fn time_span_that_is_too_long_is_a_defect() {
        let (gateway, _) = Scripted::gateway(|_| Act::status("NEW"));
        let gateway = Arc::new(gateway);
        let mut message = written(AsyncCall::CloseWithin { gateway, timeout: Duration::ZERO });
        let timeout = message.len() - (size_of::<u64>() + size_of::<u32>());
        message[timeout..].fill(0xff);
        let failed = AsyncCall::read(&message).err().expect("it is no call");
        assert_eq!(defect(&failed), "overflow in Duration::new");
    }
}
