//! A gateway that takes its time, says of every payment that it is open, and notes how late it was asked.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use kassa::{
    Callback, CardPayment, CardPaymentCreated, GatewayFuture, MbankConfirmed, MbankPayment, MbankPaymentCreated,
    PayForm, PayFormCreated, PaymentError, PaymentGateway, PaymentRef, PaymentStatus, PollPolicy, Provider, QrData,
    QrImage, QrPayment, ReturnRedirect, StatusReport, StatusWatch, Verdict,
};
use tokio::{sync::Notify, time::sleep};

type Answer<'a, T> = GatewayFuture<'a, Result<T, PaymentError>>;

const ANSWERS_AFTER: Duration = Duration::from_millis(50);

/// Milliseconds since the beginning of 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a calendar");
    since.as_millis().try_into().expect("not so far in the future")
}

/// The moments when payments are due, by order number, and by how much the gateway was asked later.
#[derive(Default)]
pub struct Lateness {
    due: Mutex<HashMap<String, i64>>,
    late: Mutex<Vec<i64>>,
    /// Somebody asked.
    pub asked: Notify,
}

impl Lateness {
    pub fn of(due: HashMap<String, i64>) -> Arc<Self> {
        Arc::new(Self { due: Mutex::new(due), ..Self::default() })
    }

    fn note(&self, payment: &PaymentRef) {
        let number = payment.order_number.as_deref().unwrap_or_default();
        // The first question of each: the server alone knows when the next one is due.
        if let Some(due) = self.due.lock().expect("no panic").remove(number) {
            self.late.lock().expect("no panic").push(now() - due);
        }
        self.asked.notify_one();
    }

    /// In order, in milliseconds. Who was due and is still not asked about is late, too.
    pub fn sorted(&self) -> Vec<i64> {
        let now = now();
        let mut late = self.late.lock().expect("no panic").clone();
        late.extend(self.due.lock().expect("no panic").values().map(|due| now - due).filter(|late| *late > 0));
        late.sort_unstable();
        late
    }
}

pub struct StillOpen(pub Arc<Lateness>);

fn none<T: Send + 'static>() -> Answer<'static, T> {
    Box::pin(async { Err(PaymentError::refused(400)) })
}

impl PaymentGateway for StillOpen {
    fn check<'a>(&'a self, payment: &'a PaymentRef) -> Answer<'a, Verdict> {
        Box::pin(async move {
            self.0.note(payment);
            sleep(ANSWERS_AFTER).await;
            Ok(Verdict::pending(payment.clone(), StatusReport::new(PaymentStatus::Other("OPEN".into()))))
        })
    }
    fn create_card_payment(&self, _: CardPayment) -> Answer<'_, CardPaymentCreated> {
        none()
    }
    fn payment_status<'a>(&'a self, _: &'a str, _: Option<&'a str>) -> Answer<'a, StatusReport> {
        none()
    }
    fn create_mbank_payment(&self, _: MbankPayment) -> Answer<'_, MbankPaymentCreated> {
        none()
    }
    fn confirm_mbank_payment<'a>(&'a self, _: &'a PaymentRef, _: &'a str) -> Answer<'a, MbankConfirmed> {
        none()
    }
    fn create_pay_form(&self, _: PayForm) -> Answer<'_, PayFormCreated> {
        none()
    }
    fn provider_status<'a>(&'a self, _: &'a str, _: Provider) -> Answer<'a, StatusReport> {
        none()
    }
    fn create_qr_image(&self, _: QrPayment) -> Answer<'_, QrImage> {
        none()
    }
    fn create_qr_data(&self, _: QrPayment) -> Answer<'_, QrData> {
        none()
    }
    fn qr_status<'a>(&'a self, _: &'a str) -> Answer<'a, StatusReport> {
        none()
    }
    fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<StatusWatch, PaymentError> {
        StatusWatch::polling(payment, policy, |_| none())
    }
    fn verify_callback<'a>(&'a self, _: &'a Callback, _: &'a PaymentRef) -> Answer<'a, Verdict> {
        none()
    }
    fn verify_return<'a>(&'a self, _: &'a ReturnRedirect, _: &'a PaymentRef) -> Answer<'a, Verdict> {
        none()
    }
    fn close(&self) -> GatewayFuture<'_, ()> {
        Box::pin(async {})
    }
}
