//! A gateway's methods as traits (dependency injection): for code that should also work with another gateway than
//! Kassa's, such as a test stub.

use std::{future::Future, pin::Pin, sync::Arc};

use crate::{
    error::PaymentError,
    gateway::{
        Gateway,
        blocking::{BlockingGateway, BlockingStatusWatch},
    },
    operations::{
        card_payment::{CardPayment, CardPaymentCreated},
        mbank_confirm::MbankConfirmed,
        mbank_payment::{MbankPayment, MbankPaymentCreated},
        megapay::{MegapayAccepted, MegapayChecked, MegapayPayment},
        pay_form::{PayForm, PayFormCreated},
        qr_data::QrData,
        qr_image::QrImage,
        qr_payment::QrPayment,
    },
    payment_ref::{
        PaymentRef,
        report::{Provider, StatusReport},
    },
    status::{
        callback::Callback,
        redirect::ReturnRedirect,
        verdict::Verdict,
        watch::{PollPolicy, StatusWatch},
    },
};

/// The future result of a [`PaymentGateway`] method: a boxed future, so that the trait can be a trait object.
pub type GatewayFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The operations of a [`Gateway`], as a trait: a shop that accepts `&dyn PaymentGateway`, `Arc<dyn PaymentGateway>` or
/// `impl PaymentGateway` can be tested with its own stub. Each method has the contract of the [`Gateway`] method of
/// that name. Above all, a method that moves money may return another error than [`PaymentError::OutcomeUnknown`] only if
/// it is certain that nothing happened.
///
/// Later versions may add methods, each with a default implementation that fails with
/// [`Misconfigured`](PaymentError::Misconfigured), so that stubs still compile.
///
/// ```
/// use std::sync::Arc;
/// use kassa::*;
///
/// /// Refuses everything.
/// struct Closed;
///
/// fn refused<T: Send + 'static>() -> GatewayFuture<'static, Result<T, PaymentError>> {
///     Box::pin(async { Err(PaymentError::refused(400).with_code("05").with_reason("closed")) })
/// }
///
/// impl PaymentGateway for Closed {
///     fn create_card_payment(&self, _: CardPayment) -> GatewayFuture<'_, Result<CardPaymentCreated, PaymentError>> {
///         refused()
///     }
///     fn payment_status<'a>(
///         &'a self, _: &'a str, _: Option<&'a str>,
///     ) -> GatewayFuture<'a, Result<StatusReport, PaymentError>> {
///         refused()
///     }
///     fn create_mbank_payment(&self, _: MbankPayment) -> GatewayFuture<'_, Result<MbankPaymentCreated, PaymentError>> {
///         refused()
///     }
///     fn confirm_mbank_payment<'a>(
///         &'a self, _: &'a PaymentRef, _: &'a str,
///     ) -> GatewayFuture<'a, Result<MbankConfirmed, PaymentError>> {
///         refused()
///     }
///     fn create_pay_form(&self, _: PayForm) -> GatewayFuture<'_, Result<PayFormCreated, PaymentError>> {
///         refused()
///     }
///     fn provider_status<'a>(
///         &'a self, _: &'a str, _: Provider,
///     ) -> GatewayFuture<'a, Result<StatusReport, PaymentError>> {
///         refused()
///     }
///     fn create_qr_image(&self, _: QrPayment) -> GatewayFuture<'_, Result<QrImage, PaymentError>> {
///         refused()
///     }
///     fn create_qr_data(&self, _: QrPayment) -> GatewayFuture<'_, Result<QrData, PaymentError>> {
///         refused()
///     }
///     fn qr_status<'a>(&'a self, _: &'a str) -> GatewayFuture<'a, Result<StatusReport, PaymentError>> {
///         refused()
///     }
///     fn check<'a>(&'a self, _: &'a PaymentRef) -> GatewayFuture<'a, Result<Verdict, PaymentError>> {
///         refused()
///     }
///     fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<StatusWatch, PaymentError> {
///         StatusWatch::polling(payment, policy, |_| refused())
///     }
///     fn verify_callback<'a>(
///         &'a self, _: &'a Callback, _: &'a PaymentRef,
///     ) -> GatewayFuture<'a, Result<Verdict, PaymentError>> {
///         refused()
///     }
///     fn verify_return<'a>(
///         &'a self, _: &'a ReturnRedirect, _: &'a PaymentRef,
///     ) -> GatewayFuture<'a, Result<Verdict, PaymentError>> {
///         refused()
///     }
///     fn close(&self) -> GatewayFuture<'_, ()> {
///         Box::pin(async {})
///     }
/// }
///
/// async fn sell(gateway: &dyn PaymentGateway) -> &'static str {
///     let payment = MbankPayment::new(new_order_number(), 250, "996700000001", "Two tickets");
///     match gateway.create_mbank_payment(payment).await {
///         Ok(_) => "ask for the one-time password",
///         Err(error) if error.payment_may_exist() => "watch it",
///         Err(_) => "tell the payer",
///     }
/// }
///
/// let gateway: Arc<dyn PaymentGateway> = Arc::new(Closed); // or Arc::new(Gateway::new(config)?)
/// assert_eq!(pollster::block_on(sell(&gateway)), "tell the payer");
/// ```
pub trait PaymentGateway: Send + Sync {
    /// See [`Gateway::create_card_payment`].
    fn create_card_payment(&self, payment: CardPayment) -> GatewayFuture<'_, Result<CardPaymentCreated, PaymentError>>;

    /// See [`Gateway::payment_status`].
    fn payment_status<'a>(
        &'a self,
        gateway_number: &'a str,
        language: Option<&'a str>,
    ) -> GatewayFuture<'a, Result<StatusReport, PaymentError>>;

    /// See [`Gateway::create_mbank_payment`].
    fn create_mbank_payment(
        &self,
        payment: MbankPayment,
    ) -> GatewayFuture<'_, Result<MbankPaymentCreated, PaymentError>>;

    /// See [`Gateway::confirm_mbank_payment`].
    fn confirm_mbank_payment<'a>(
        &'a self,
        payment: &'a PaymentRef,
        otp: &'a str,
    ) -> GatewayFuture<'a, Result<MbankConfirmed, PaymentError>>;

    /// See [`Gateway::check_megapay`]. The default implementation fails with [`Misconfigured`](PaymentError::Misconfigured).
    fn check_megapay(&self, _payment: MegapayPayment) -> GatewayFuture<'_, Result<MegapayChecked, PaymentError>> {
        Box::pin(async { Err(no_megapay()) })
    }

    /// See [`Gateway::pay_by_megapay`]. The default implementation fails with [`Misconfigured`](PaymentError::Misconfigured).
    fn pay_by_megapay<'a>(
        &'a self,
        _payment: MegapayPayment,
        _pin: &'a str,
    ) -> GatewayFuture<'a, Result<MegapayAccepted, PaymentError>> {
        Box::pin(async { Err(no_megapay()) })
    }

    /// See [`Gateway::create_pay_form`].
    fn create_pay_form(&self, form: PayForm) -> GatewayFuture<'_, Result<PayFormCreated, PaymentError>>;

    /// See [`Gateway::provider_status`].
    fn provider_status<'a>(
        &'a self,
        order_number: &'a str,
        provider: Provider,
    ) -> GatewayFuture<'a, Result<StatusReport, PaymentError>>;

    /// See [`Gateway::create_qr_image`].
    fn create_qr_image(&self, payment: QrPayment) -> GatewayFuture<'_, Result<QrImage, PaymentError>>;

    /// See [`Gateway::create_qr_data`].
    fn create_qr_data(&self, payment: QrPayment) -> GatewayFuture<'_, Result<QrData, PaymentError>>;

    /// See [`Gateway::qr_status`].
    fn qr_status<'a>(&'a self, transaction_id: &'a str) -> GatewayFuture<'a, Result<StatusReport, PaymentError>>;

    /// See [`Gateway::check`].
    fn check<'a>(&'a self, payment: &'a PaymentRef) -> GatewayFuture<'a, Result<Verdict, PaymentError>>;

    /// See [`Gateway::watch`]. A stub creates its watch with [`StatusWatch::polling`].
    ///
    /// # Errors
    /// See [`Gateway::watch`].
    fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<StatusWatch, PaymentError>;

    /// See [`Gateway::verify_callback`].
    fn verify_callback<'a>(
        &'a self,
        callback: &'a Callback,
        payment: &'a PaymentRef,
    ) -> GatewayFuture<'a, Result<Verdict, PaymentError>>;

    /// See [`Gateway::verify_return`].
    fn verify_return<'a>(
        &'a self,
        redirect: &'a ReturnRedirect,
        payment: &'a PaymentRef,
    ) -> GatewayFuture<'a, Result<Verdict, PaymentError>>;

    /// See [`Gateway::close`].
    fn close(&self) -> GatewayFuture<'_, ()>;
}

/// The operations of a [`BlockingGateway`], as a trait: the blocking (synchronous) [`PaymentGateway`].
pub trait BlockingPaymentGateway: Send + Sync {
    /// See [`Gateway::create_card_payment`].
    ///
    /// # Errors
    /// See [`Gateway::create_card_payment`].
    fn create_card_payment(&self, payment: CardPayment) -> Result<CardPaymentCreated, PaymentError>;

    /// See [`Gateway::payment_status`].
    ///
    /// # Errors
    /// See [`Gateway::payment_status`].
    fn payment_status(&self, gateway_number: &str, language: Option<&str>) -> Result<StatusReport, PaymentError>;

    /// See [`Gateway::create_mbank_payment`].
    ///
    /// # Errors
    /// See [`Gateway::create_mbank_payment`].
    fn create_mbank_payment(&self, payment: MbankPayment) -> Result<MbankPaymentCreated, PaymentError>;

    /// See [`Gateway::confirm_mbank_payment`].
    ///
    /// # Errors
    /// See [`Gateway::confirm_mbank_payment`].
    fn confirm_mbank_payment(&self, payment: &PaymentRef, otp: &str) -> Result<MbankConfirmed, PaymentError>;

    /// See [`Gateway::check_megapay`]. The default implementation fails with [`Misconfigured`](PaymentError::Misconfigured).
    ///
    /// # Errors
    /// See [`Gateway::check_megapay`].
    fn check_megapay(&self, _payment: MegapayPayment) -> Result<MegapayChecked, PaymentError> {
        Err(no_megapay())
    }

    /// See [`Gateway::pay_by_megapay`]. The default implementation fails with [`Misconfigured`](PaymentError::Misconfigured).
    ///
    /// # Errors
    /// See [`Gateway::pay_by_megapay`].
    fn pay_by_megapay(&self, _payment: MegapayPayment, _pin: &str) -> Result<MegapayAccepted, PaymentError> {
        Err(no_megapay())
    }

    /// See [`Gateway::create_pay_form`].
    ///
    /// # Errors
    /// See [`Gateway::create_pay_form`].
    fn create_pay_form(&self, form: PayForm) -> Result<PayFormCreated, PaymentError>;

    /// See [`Gateway::provider_status`].
    ///
    /// # Errors
    /// See [`Gateway::provider_status`].
    fn provider_status(&self, order_number: &str, provider: Provider) -> Result<StatusReport, PaymentError>;

    /// See [`Gateway::create_qr_image`].
    ///
    /// # Errors
    /// See [`Gateway::create_qr_image`].
    fn create_qr_image(&self, payment: QrPayment) -> Result<QrImage, PaymentError>;

    /// See [`Gateway::create_qr_data`].
    ///
    /// # Errors
    /// See [`Gateway::create_qr_data`].
    fn create_qr_data(&self, payment: QrPayment) -> Result<QrData, PaymentError>;

    /// See [`Gateway::qr_status`].
    ///
    /// # Errors
    /// See [`Gateway::qr_status`].
    fn qr_status(&self, transaction_id: &str) -> Result<StatusReport, PaymentError>;

    /// See [`Gateway::check`].
    ///
    /// # Errors
    /// See [`Gateway::check`].
    fn check(&self, payment: &PaymentRef) -> Result<Verdict, PaymentError>;

    /// See [`Gateway::watch`]. A stub creates its watch with [`StatusWatch::polling`], and converts it with `into()`.
    ///
    /// # Errors
    /// See [`Gateway::watch`].
    fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<BlockingStatusWatch, PaymentError>;

    /// See [`Gateway::verify_callback`].
    ///
    /// # Errors
    /// See [`Gateway::verify_callback`].
    fn verify_callback(&self, callback: &Callback, payment: &PaymentRef) -> Result<Verdict, PaymentError>;

    /// See [`Gateway::verify_return`].
    ///
    /// # Errors
    /// See [`Gateway::verify_return`].
    fn verify_return(&self, redirect: &ReturnRedirect, payment: &PaymentRef) -> Result<Verdict, PaymentError>;

    /// See [`Gateway::close`].
    fn close(&self);
}

/// The default of implementations that do not override the MegaPay methods.
fn no_megapay() -> PaymentError {
    PaymentError::misconfigured("this gateway does not implement check_megapay and pay_by_megapay")
}

/// Implements both traits for Kassa's own gateways, and for references to implementations. One lifetime serves all
/// methods, also those without references.
macro_rules! forward {
    ($($method:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        #[allow(clippy::needless_lifetimes)]
        impl PaymentGateway for Gateway {
            $(
                fn $method<'a>(&'a self, $($argument: $kind),*) -> GatewayFuture<'a, $answer> {
                    Box::pin(Gateway::$method(self, $($argument),*))
                }
            )*

            fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<StatusWatch, PaymentError> {
                Gateway::watch(self, payment, policy)
            }
        }

        #[allow(clippy::needless_lifetimes)]
        impl BlockingPaymentGateway for BlockingGateway {
            $(
                fn $method<'a>(&'a self, $($argument: $kind),*) -> $answer {
                    BlockingGateway::$method(self, $($argument),*)
                }
            )*

            fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<BlockingStatusWatch, PaymentError> {
                BlockingGateway::watch(self, payment, policy)
            }
        }

        forward!(@pointer [&T] $($method($($argument: $kind),*) -> $answer;)*);
        forward!(@pointer [Arc<T>] $($method($($argument: $kind),*) -> $answer;)*);
    };
    (@pointer [$pointer:ty] $($method:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        #[allow(clippy::needless_lifetimes)]
        impl<T: PaymentGateway + ?Sized> PaymentGateway for $pointer {
            $(
                fn $method<'a>(&'a self, $($argument: $kind),*) -> GatewayFuture<'a, $answer> {
                    (**self).$method($($argument),*)
                }
            )*

            fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<StatusWatch, PaymentError> {
                (**self).watch(payment, policy)
            }
        }

        #[allow(clippy::needless_lifetimes)]
        impl<T: BlockingPaymentGateway + ?Sized> BlockingPaymentGateway for $pointer {
            $(
                fn $method<'a>(&'a self, $($argument: $kind),*) -> $answer {
                    (**self).$method($($argument),*)
                }
            )*

            fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<BlockingStatusWatch, PaymentError> {
                (**self).watch(payment, policy)
            }
        }
    };
}

forward! {
    create_card_payment(payment: CardPayment) -> Result<CardPaymentCreated, PaymentError>;
    payment_status(gateway_number: &'a str, language: Option<&'a str>) -> Result<StatusReport, PaymentError>;
    create_mbank_payment(payment: MbankPayment) -> Result<MbankPaymentCreated, PaymentError>;
    confirm_mbank_payment(payment: &'a PaymentRef, otp: &'a str) -> Result<MbankConfirmed, PaymentError>;
    check_megapay(payment: MegapayPayment) -> Result<MegapayChecked, PaymentError>;
    pay_by_megapay(payment: MegapayPayment, pin: &'a str) -> Result<MegapayAccepted, PaymentError>;
    create_pay_form(form: PayForm) -> Result<PayFormCreated, PaymentError>;
    provider_status(order_number: &'a str, provider: Provider) -> Result<StatusReport, PaymentError>;
    create_qr_image(payment: QrPayment) -> Result<QrImage, PaymentError>;
    create_qr_data(payment: QrPayment) -> Result<QrData, PaymentError>;
    qr_status(transaction_id: &'a str) -> Result<StatusReport, PaymentError>;
    check(payment: &'a PaymentRef) -> Result<Verdict, PaymentError>;
    verify_callback(callback: &'a Callback, payment: &'a PaymentRef) -> Result<Verdict, PaymentError>;
    verify_return(redirect: &'a ReturnRedirect, payment: &'a PaymentRef) -> Result<Verdict, PaymentError>;
    close() -> ();
}
