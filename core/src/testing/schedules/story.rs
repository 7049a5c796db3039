//! What one merchant's program does with one order, and what it was told.

use std::{sync::Arc, time::Duration};

use super::{
    coverage::Coverage,
    line::Line,
    patience::Patience,
    world::{End, World},
};
use crate::{
    Callback, CallbackVerdict, CardPayment, Decimal, ExpectedPayment, Gateway, PaymentError, PaymentRef, PaymentStatus,
    PollPolicy, Provider, StatusReport, WatchOutcome, WatchReport, testing::requests,
};

/// What must never happen, in one sentence.
pub(super) type Broken = String;

/// What the program keeps on disk, to be read after a crash.
#[derive(Default)]
pub(super) struct Disk {
    pub(super) payments: Vec<PaymentRef>,
    /// Calls whose errors said that they moved no money.
    pub(super) clean_calls: Vec<(usize, PaymentError)>,
    pub(super) coverage: Coverage,
}

pub(super) struct Story {
    pub(super) world: Arc<World>,
    pub(super) line: Arc<Line>,
    pub(super) gateway: Gateway,
    pub(super) order: String,
    pub(super) disk: Arc<std::sync::Mutex<Disk>>,
}

/// What a call came to.
enum Told<T> {
    Answer(T),
    /// The error said that nothing happened, so the same order may be sent again where it said to try again.
    Nothing {
        again: bool,
    },
    /// It may exist, or nobody waited for the answer: from now on, only ask.
    Unknown,
}

impl Story {
    pub(super) async fn run(self) -> Result<(), Broken> {
        match self.world.random(|rng| rng.u8(..10)) {
            0..3 => self.card().await,
            3..7 => self.mbank().await,
            7 => self.three_times(|| self.pay_form()).await,
            8 => self.three_times(|| self.qr_image()).await,
            _ => self.three_times(|| self.qr_data()).await,
        }
    }

    async fn three_times<F: Future<Output = Result<(), Broken>>>(&self, story: impl Fn() -> F) -> Result<(), Broken> {
        for _ in 0..3 {
            story().await?;
        }
        Ok(())
    }

    async fn card(&self) -> Result<(), Broken> {
        let payment = self.card_payment();
        self.store(payment.payment_ref());
        for _ in 0..3 {
            let sending = self.gateway.create_card_payment(payment.clone());
            match self.pay("card_payment", sending).await? {
                Told::Answer(created) => {
                    self.store(created.payment);
                    break;
                }
                Told::Nothing { again: true } => {}
                Told::Nothing { again: false } | Told::Unknown => break,
            }
        }
        self.ask().await
    }

    async fn mbank(&self) -> Result<(), Broken> {
        let payment = requests::mbank_payment(&self.order);
        self.store(payment.payment_ref());
        let mut created = false;
        for _ in 0..3 {
            match self.pay("mbank_payment", self.gateway.create_mbank_payment(payment.clone())).await? {
                Told::Answer(_) => created = true,
                Told::Nothing { again: true } => continue,
                Told::Nothing { again: false } | Told::Unknown => {}
            }
            break;
        }
        // A payer types in the password that came, also where the merchant heard nothing.
        if created || self.chance(2) {
            for _ in 0..3 {
                let confirming = self.gateway.confirm_mbank_payment(&self.order, "123456", None);
                if !matches!(self.pay("mbank_confirm", confirming).await?, Told::Nothing { again: true }) {
                    break;
                }
            }
        }
        self.ask().await
    }

    async fn pay_form(&self) -> Result<(), Broken> {
        self.harmless("pay_form", self.gateway.create_pay_form(requests::pay_form())).await.map(drop)
    }

    async fn qr_image(&self) -> Result<(), Broken> {
        self.harmless("qr_image", self.gateway.create_qr_image(requests::qr_payment())).await.map(drop)
    }

    async fn qr_data(&self) -> Result<(), Broken> {
        let made = self.harmless("qr_data", self.gateway.create_qr_data(requests::qr_payment())).await?;
        if let Some(payment) = made.and_then(|data| data.payment) {
            self.store(payment);
        }
        self.ask().await
    }

    /// Asks in every way there is; what is answered must be true.
    async fn ask(&self) -> Result<(), Broken> {
        for payment in self.stored() {
            let key = payment.order_number.clone().or(payment.transaction_id.clone()).unwrap_or_default();
            self.watch_a_while(&payment, &key).await?;
            if let Some(number) = &payment.gateway_number {
                let asking = self.gateway.payment_status(number, None);
                let report = self.harmless("payment_status", asking).await?;
                self.is_true(&key, report.as_ref())?;
            }
            if let Some(provider) = payment.provider.clone() {
                let report = self.harmless("provider_status", self.gateway.provider_status(&key, provider)).await?;
                self.is_true(&key, report.as_ref())?;
                self.forged_callback(&payment, &key).await?;
            }
        }
        // Numbers that nobody has ever used are asked about, too.
        let strange = format!("{}-strange", self.order);
        for report in [
            self.harmless("payment_status", self.gateway.payment_status(&strange, None)).await?,
            self.harmless("provider_status", self.gateway.provider_status(&strange, Provider::Cards)).await?,
            self.harmless("qr_status", self.gateway.qr_status(&strange)).await?,
        ] {
            self.is_true(&strange, report.as_ref())?;
        }
        Ok(())
    }

    async fn watch_a_while(&self, payment: &PaymentRef, key: &str) -> Result<(), Broken> {
        let policy = PollPolicy { deadline: Duration::from_secs(90), ..PollPolicy::default() };
        let watch = self.gateway.watch(payment.clone(), policy).map_err(|error| format!("no watch: {error}"))?;
        self.line.begin_call();
        for _ in 0..self.world.random(|rng| rng.u8(..5)) {
            if self.chance(4) {
                watch.check_now();
            }
            let patience = self.patience();
            if let Some(Ok(Some(WatchReport::Status { report }))) = patience.wait_for(watch.next()).await {
                self.is_true(key, Some(&report))?;
            }
        }
        watch.cancel();
        match watch.outcome().await {
            Ok(WatchOutcome::Charged { report } | WatchOutcome::Rejected { report }) => {
                self.is_true(key, Some(&report))
            }
            Ok(WatchOutcome::Cancelled) | Err(_) => Ok(()),
        }
    }

    /// Somebody claims that the order was paid.
    async fn forged_callback(&self, payment: &PaymentRef, key: &str) -> Result<(), Broken> {
        let provider = payment.provider.as_ref().map_or("Cards", Provider::name);
        let body = format!(
            r#"{{"orderNumber":"{key}","amount":100,"currency":"KGS","status":"CHARGE",
                "dateCreated":"2026-01-31T12:00:00","provider":"{provider}"}}"#
        );
        let callback = Callback::parse(&body).map_err(|error| format!("the callback is not read: {error}"))?;
        let expected = ExpectedPayment { payment: payment.clone(), amount: Decimal::from(100), currency: "KGS".into() };
        let verifying = self.gateway.verify_callback(&callback, Some(expected));
        let verdict = self.harmless("provider_status", verifying).await?;
        match verdict {
            Some(verdict @ CallbackVerdict::Confirmed { .. }) if verdict.is_charged() => self.was(key, End::Charged),
            _ => Ok(()),
        }
    }

    /// A call that moves money: what it says must be true of what it did.
    async fn pay<T>(
        &self,
        endpoint: &'static str,
        call: impl Future<Output = Result<T, PaymentError>>,
    ) -> Result<Told<T>, Broken> {
        let id = self.line.begin_call();
        let patience = self.patience();
        let told = patience.wait_for(call).await;
        self.cover(endpoint, id, told.is_none());
        let record = self.world.call(id);
        if record.sent > 1 {
            return Err(format!("{endpoint} of {} was sent twice", self.order));
        }
        match told {
            None => Ok(Told::Unknown),
            Some(Ok(_)) if record.effects == 0 => {
                Err(format!("{endpoint} of {} succeeded, and nothing was done", self.order))
            }
            Some(Ok(answer)) => Ok(Told::Answer(answer)),
            Some(Err(error)) if error.payment_may_exist() => Ok(Told::Unknown),
            Some(Err(error)) => {
                let again = error.is_retryable();
                self.disk().clean_calls.push((id, error));
                Ok(Told::Nothing { again })
            }
        }
    }

    /// A call that moves no money never says that it may have.
    async fn harmless<T>(
        &self,
        endpoint: &'static str,
        call: impl Future<Output = Result<T, PaymentError>>,
    ) -> Result<Option<T>, Broken> {
        let id = self.line.begin_call();
        let patience = self.patience();
        let told = patience.wait_for(call).await;
        self.cover(endpoint, id, told.is_none());
        match told {
            Some(Err(error)) if error.payment_may_exist() => Err(format!("{endpoint} moves no money: {error}")),
            Some(Err(_)) | None => Ok(None),
            Some(Ok(answer)) => Ok(Some(answer)),
        }
    }

    /// A final status is that of the gateway's books.
    fn is_true(&self, key: &str, report: Option<&StatusReport>) -> Result<(), Broken> {
        match report.map(|report| &report.status) {
            Some(PaymentStatus::Charged) => self.was(key, End::Charged),
            Some(PaymentStatus::Rejected) => self.was(key, End::Rejected),
            Some(PaymentStatus::Other(_)) | None => Ok(()),
        }
    }

    fn was(&self, key: &str, end: End) -> Result<(), Broken> {
        let books = self.world.payment(key).and_then(|payment| payment.end);
        if books == Some(end) { Ok(()) } else { Err(format!("{key} was said to be {end:?}, and is {books:?}")) }
    }

    fn cover(&self, endpoint: &'static str, id: usize, gave_up: bool) {
        for fault in self.world.call(id).faults {
            self.disk().coverage.count((endpoint, fault, gave_up));
        }
    }

    fn patience(&self) -> Patience {
        let (short, long) = (Duration::from_millis(1_500), Duration::from_secs(12));
        self.world.random(|rng| Patience::draw(rng, short, long))
    }

    fn chance(&self, one_in: u8) -> bool {
        self.world.random(|rng| rng.u8(..one_in) == 0)
    }

    fn store(&self, payment: PaymentRef) {
        self.disk().payments.push(payment);
    }

    /// What was stored of this order, through its text, as after a crash.
    fn stored(&self) -> Vec<PaymentRef> {
        let mine = |payment: &&PaymentRef| match &payment.order_number {
            Some(number) => *number == self.order,
            None => true,
        };
        self.disk().payments.iter().filter(mine).cloned().collect()
    }

    fn disk(&self) -> std::sync::MutexGuard<'_, Disk> {
        self.disk.lock().expect("nothing panics in here")
    }

    fn card_payment(&self) -> CardPayment {
        let pan = if self.chance(2) { "4111111111111111" } else { "4000000000002016" };
        requests::card_payment(&self.order, pan)
    }
}
