//! The line to the gateway: what goes over it is written down and compared with the database, it can fail, and the process
//! can die before and after.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
};

use kassa::{
    Callback, CardPayment, CardPaymentCreated, FakeFault, FakeGateway, GatewayFuture, MbankConfirmed, MbankPayment,
    MbankPaymentCreated, MegapayAccepted, MegapayChecked, MegapayPayment, NextStep, PayForm, PayFormCreated,
    PaymentError, PaymentGateway, PaymentRef, PaymentStatus, PollPolicy, Provider, QrData, QrImage, QrPayment,
    ReturnRedirect, StatusReport, StatusWatch, Verdict,
};
use rusqlite::Connection;

use super::{
    Turn,
    crash::Life,
    lock, one,
    world::{ACCOUNT, Log},
};

type Answer<'a, T> = GatewayFuture<'a, Result<T, PaymentError>>;

#[derive(Clone)]
pub struct Line {
    pub fake: FakeGateway,
    pub db: Arc<Mutex<Connection>>,
    pub log: Arc<Mutex<Log>>,
    pub life: Life,
    pub faults: Faults,
}

/// What goes wrong, by chance and on purpose.
#[derive(Clone, Default)]
pub struct Faults(pub Arc<Mutex<FaultPlan>>);

#[derive(Default)]
pub struct FaultPlan {
    pub random: fastrand::Rng,
    /// Of a hundred calls.
    pub percent: u32,
    /// Of a hundred cards.
    pub without_page: u32,
    /// The answers to questions about these order numbers, in turn.
    pub forced: HashMap<String, Vec<Verdict>>,
    /// The order numbers of which the next question is told that they were rejected, which the gateway takes back afterwards.
    pub taken_back: HashSet<String>,
    /// The response about a QR code tells no transaction.
    pub without_transaction: bool,
    /// Time that passes while a payment is written down: set by tests.
    pub next: Option<FakeFault>,
}

impl Faults {
    fn next(&self, may_refuse: bool) -> Option<FakeFault> {
        let mut plan = lock(&self.0);
        if let Some(fault) = plan.next.take() {
            return Some(fault);
        }
        let percent = plan.percent;
        if plan.random.u32(0..100) >= percent {
            return None;
        }
        // However long it asks to wait.
        let seconds = [plan.random.u64(1..40), 3_600, 1_000_000];
        let wait = std::time::Duration::from_secs(seconds[plan.random.usize(0..3)]);
        let faults = [
            FakeFault::NoConnection,
            FakeFault::RequestLost,
            FakeFault::ResponseLost,
            FakeFault::NoResponse,
            FakeFault::ServerError,
            FakeFault::TooManyRequests { retry_after: wait },
            FakeFault::Unauthorized,
            FakeFault::Refused { code: "51".into(), reason: "card 4000 0000 0000 2016 of 0700-000-001".into() },
        ];
        // Of a payment that it may have, this gateway never says that it refused the question.
        let most = if may_refuse { faults.len() } else { faults.len() - 1 };
        let index = plan.random.usize(0..most);
        Some(faults[index].clone())
    }

    /// Whether the next card takes part in 3DS. Of one that does not, the fake gateway shows a page to nobody.
    fn has_page(&self) -> bool {
        let mut plan = lock(&self.0);
        let percent = plan.without_page;
        plan.random.u32(0..100) >= percent
    }

    fn forced(&self, payment: &PaymentRef) -> Option<Verdict> {
        let number = payment.order_number.as_ref()?;
        let mut plan = lock(&self.0);
        if plan.taken_back.remove(number) {
            return Some(Verdict::rejected(payment.clone(), StatusReport::new(PaymentStatus::Rejected)));
        }
        let answers = plan.forced.get_mut(number)?;
        if answers.len() > 1 { Some(answers.remove(0)) } else { answers.first().cloned() }
    }
}

impl Line {
    /// One call: its turn, its fault, its crash.
    async fn call<T: Send>(
        &self,
        may_refuse: bool,
        before: impl FnOnce(&Self) + Send,
        call: impl Future<Output = Result<T, PaymentError>> + Send,
        after: impl FnOnce(&Self, &Result<T, PaymentError>) + Send,
    ) -> Result<T, PaymentError> {
        Turn::default().await;
        let dies = self.life.point().await;
        before(self);
        if let Some(fault) = self.faults.next(may_refuse) {
            self.fake.fail_next(fault);
        }
        let result = pollster::block_on(call);
        if dies {
            self.life.die().await;
        }
        after(self, &result);
        Turn::default().await;
        result
    }

    /// A code is sent. **No second one** unless the first one certainly did nothing.
    fn confirm<'a, T: Send + 'a>(
        &'a self,
        number: String,
        call: impl Future<Output = Result<T, PaymentError>> + Send + 'a,
    ) -> Answer<'a, T> {
        let id = number.clone();
        let note = move |line: &Self| {
            if !lock(&line.log).confirming.insert(number.clone()) {
                lock(&line.log).broken.push(format!("invariant 2: a second password was sent for {number}"));
            }
            line.note_sent(&number, "confirming", "otp");
        };
        Box::pin(self.call(true, note, call, move |line, result| {
            let did_nothing = result.as_ref().is_err_and(|error| !error.payment_may_exist());
            if did_nothing {
                lock(&line.log).confirming.remove(&id);
            }
        }))
    }

    /// Nothing is sent before the row that says so is on disk.
    fn note_sent(&self, id: &str, state: &str, what: &str) {
        let id = format!("pay_{id}");
        let found: Option<String> = one(&lock(&self.db), "SELECT state FROM payments WHERE id = ?1", [&id]);
        let mut log = lock(&self.log);
        // A calendar that jumped between the commit and the request takes the sender for dead, and a person may decide then;
        // the row is there all the same.
        let resolved = matches!(found.as_deref(), Some("rejected" | "charged"));
        let taken_for_dead = log.has_jumped && (resolved || matches!(found.as_deref(), Some("unknown" | "not_made")));
        // A report about the payment can come between a confirmation's commit and its request.
        let was_reported =
            what == "otp" && matches!(found.as_deref(), Some("charged" | "rejected" | "mismatch" | "unverifiable"));
        if found.as_deref() != Some(state) && !taken_for_dead && !was_reported {
            log.broken.push(format!("invariant 1: {what} of {id} was sent while it was {found:?}"));
        }
        log.sent.push((id, what.to_owned()));
    }
}

fn none<T: Send + 'static>() -> Answer<'static, T> {
    Box::pin(async { Err(PaymentError::refused(400)) })
}

impl PaymentGateway for Line {
    fn create_card_payment(&self, payment: CardPayment) -> Answer<'_, CardPaymentCreated> {
        let (gateway, number) = (self.fake.gateway(), payment.order_number.clone());
        let note = move |line: &Self| line.note_sent(&number, "sending", "card");
        let has_page = self.faults.has_page();
        let call = async move {
            let mut made = gateway.create_card_payment(payment).await?;
            if !has_page {
                made.next_step = NextStep::check_status(Some("Success".to_owned()));
            }
            Ok(made)
        };
        Box::pin(self.call(true, note, call, |_, _| {}))
    }
    fn payment_status<'a>(&'a self, _: &'a str, _: Option<&'a str>) -> Answer<'a, StatusReport> {
        none()
    }
    fn create_mbank_payment(&self, payment: MbankPayment) -> Answer<'_, MbankPaymentCreated> {
        let (gateway, number) = (self.fake.gateway(), payment.order_number.clone());
        let note = move |line: &Self| line.note_sent(&number, "sending", "mbank");
        Box::pin(self.call(true, note, async move { gateway.create_mbank_payment(payment).await }, |_, _| {}))
    }
    fn confirm_mbank_payment<'a>(&'a self, payment: &'a PaymentRef, otp: &'a str) -> Answer<'a, MbankConfirmed> {
        let (gateway, number) = (self.fake.gateway(), payment.order_number.clone().unwrap_or_default());
        self.confirm(number, async move { gateway.confirm_mbank_payment(payment, otp).await })
    }
    fn check_megapay(&self, payment: MegapayPayment) -> Answer<'_, MegapayChecked> {
        let (gateway, number) = (self.fake.gateway(), payment.order_number.clone());
        let note = move |line: &Self| line.note_sent(&number, "sending", "megapay");
        Box::pin(self.call(true, note, async move { gateway.check_megapay(payment).await }, |_, _| {}))
    }
    fn pay_by_megapay<'a>(&'a self, payment: MegapayPayment, pin: &'a str) -> Answer<'a, MegapayAccepted> {
        let (gateway, number) = (self.fake.gateway(), payment.order_number.clone());
        let is_whole = payment.account == ACCOUNT
            && payment.callback_url.as_ref().is_some_and(|url| url.ends_with(&number))
            && ["996700000001", "996700000002"].contains(&payment.phone.as_str());
        if !is_whole {
            lock(&self.log).broken.push(format!("the PIN of {number} came with other fields: {payment:?}"));
        }
        self.confirm(number, async move { gateway.pay_by_megapay(payment, pin).await })
    }
    fn create_pay_form(&self, form: PayForm) -> Answer<'_, PayFormCreated> {
        let (gateway, id) = (self.fake.gateway(), form.entry_id.clone().unwrap_or_default());
        let note = move |line: &Self| line.note_sent(&id, "sending", "pay_form");
        Box::pin(self.call(true, note, async move { gateway.create_pay_form(form).await }, |_, _| {}))
    }
    fn provider_status<'a>(&'a self, _: &'a str, _: Provider) -> Answer<'a, StatusReport> {
        none()
    }
    fn create_qr_image(&self, _: QrPayment) -> Answer<'_, QrImage> {
        none()
    }
    fn create_qr_data(&self, payment: QrPayment) -> Answer<'_, QrData> {
        let (gateway, id) = (self.fake.gateway(), payment.entry_id.clone().unwrap_or_default());
        let note = move |line: &Self| line.note_sent(&id, "sending", "qr");
        let is_without = lock(&self.faults.0).without_transaction;
        let call = async move {
            let mut made = gateway.create_qr_data(payment).await?;
            if is_without {
                (made.transaction_id, made.payment.transaction_id) = (None, None);
            }
            Ok(made)
        };
        Box::pin(self.call(true, note, call, |_, _| {}))
    }
    fn qr_status<'a>(&'a self, _: &'a str) -> Answer<'a, StatusReport> {
        none()
    }
    fn check<'a>(&'a self, payment: &'a PaymentRef) -> Answer<'a, Verdict> {
        let gateway = self.fake.gateway();
        let forced = self.faults.forced(payment);
        let note = |line: &Self| lock(&line.log).status_queries += 1;
        let call = async move {
            match forced {
                Some(verdict) => Ok(verdict),
                None => gateway.check(payment).await,
            }
        };
        Box::pin(self.call(false, note, call, |_, _| {}))
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
