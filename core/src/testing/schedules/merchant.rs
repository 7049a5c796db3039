//! A random walk through one order: what a merchant's program does, in memory and over sockets alike. A [`Scene`] says
//! what is there to buy, writes down what happens, and judges it.

use std::time::Duration;

use fastrand::Rng;

use crate::{
    Callback, CardPayment, Gateway, MbankPayment, MegapayPayment, PayForm, PayFormCreated, PaymentError, PaymentRef,
    PollPolicy, Provider, QrPayment, StatusReport, Verdict, WatchReport, testing::schedules::harness::Patience,
};

/// What must never happen, in one sentence.
pub type Broken = String;

/// What every payment costs, in som.
pub const PRICE: u32 = 100;

/// One call of a merchant's.
#[derive(Clone, Debug)]
pub struct Call {
    /// The endpoint's name, as in a dialect.
    pub endpoint: &'static str,
    /// The number that it is about; empty where there is none.
    pub key: String,
    /// Whether it can take money.
    pub moves_money: bool,
}

/// How a call ended.
pub enum End<'a> {
    /// The caller dropped it.
    GivenUp,
    /// In an answer.
    Answered,
    /// In an error that says that it may have happened.
    Unknown,
    /// In an error that says that nothing happened.
    Clean(&'a PaymentError),
}

/// How long callers wait before they give up, and how a watch queries.
pub struct Pace {
    /// One that gives up soon.
    pub short: Duration,
    /// One that gives up late.
    pub long: Duration,
    /// Of every watch.
    pub poll: PollPolicy,
}

/// Where a merchant's program runs. Every result that it gets must be true there.
pub trait Scene {
    /// What the scene knows a call by.
    type Id;

    /// A random draw.
    fn random<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T;

    /// How long things take.
    fn pace(&self) -> Pace;

    /// A request for this order.
    fn card_payment(&self, order: &str) -> CardPayment;

    /// A request for this order, with its payer's one-time password.
    fn mbank_payment(&self, order: &str) -> (MbankPayment, String);

    /// A request for this order, with its payer's PIN.
    fn megapay_payment(&self, order: &str) -> (MegapayPayment, String);

    /// A request for a pay-form.
    fn pay_form(&self) -> PayForm;

    /// A request for a QR code.
    fn qr_payment(&self) -> QrPayment;

    /// Stores the reference of a payment, to be read after a crash.
    fn store(&self, payment: &PaymentRef);

    /// A call begins.
    fn begin(&self, call: &Call) -> Self::Id;

    /// A call ends.
    fn end(&self, id: Self::Id, call: Call, end: End<'_>) -> Result<(), Broken>;

    /// The gateway's page for a payment was made.
    fn made_page(&self, page: &PayFormCreated);

    /// Whether the gateway gives payments the numbers of others: a report by its own numbers may then be about another payment.
    fn gateway_repeats_itself(&self) -> bool {
        false
    }

    /// A payment was reported as final: charged or not.
    fn reported_final(&self, key: &str, charged: bool) -> Result<(), Broken>;
}

/// A merchant's program with one order.
pub struct Merchant<S> {
    /// Where it runs.
    pub scene: S,
    /// What it calls.
    pub gateway: Gateway,
    /// Its order number.
    pub order: String,
}

/// What a call came to.
enum ParsedStatus<T> {
    Answer(T),
    /// The error said that nothing happened, so the same order may be sent again where it said to try again.
    Nothing {
        again: bool,
    },
    /// It may exist, or the caller did not wait for the answer: from now on, only query it.
    Unknown,
}

/// No payer of any scene has this one-time password or PIN.
const WRONG_OTP: &str = "000000";

impl<S: Scene> Merchant<S> {
    /// Plays the program to its end.
    ///
    /// # Errors
    /// What must never happen, and did.
    pub async fn run(self) -> Result<(), Broken> {
        match self.below(13) {
            0..3 => self.card().await?,
            3..6 => self.mbank().await?,
            6..9 => self.megapay().await?,
            9 => self.pay_forms().await?,
            10 => self.qr_images().await?,
            _ => self.qr_codes().await?,
        }
        // Numbers that were never used are queried, too.
        let strange = format!("{}-strange", self.order);
        self.query("payment_status", &strange, self.gateway.payment_status(&strange, None)).await?;
        self.query("provider_status", &strange, self.gateway.provider_status(&strange, Provider::Cards)).await?;
        self.query("qr_status", &strange, self.gateway.qr_status(&strange)).await
    }

    async fn card(&self) -> Result<(), Broken> {
        let payment = self.scene.card_payment(&self.order);
        let mut known = payment.payment_ref();
        self.scene.store(&known);
        for _ in 0..3 {
            let sending = self.gateway.create_card_payment(payment.clone());
            match self.call("card_payment", &self.order, true, sending).await? {
                ParsedStatus::Answer(created) => {
                    known = created.payment;
                    self.scene.store(&known);
                }
                ParsedStatus::Nothing { again: true } => continue,
                ParsedStatus::Nothing { again: false } | ParsedStatus::Unknown => {}
            }
            break;
        }
        self.follow(&known).await
    }

    async fn mbank(&self) -> Result<(), Broken> {
        let (payment, otp) = self.scene.mbank_payment(&self.order);
        let mut known = payment.payment_ref();
        self.scene.store(&known);
        for _ in 0..3 {
            let sending = self.gateway.create_mbank_payment(payment.clone());
            match self.call("mbank_payment", &self.order, true, sending).await? {
                ParsedStatus::Answer(created) => {
                    known = created.payment;
                    self.scene.store(&known);
                }
                ParsedStatus::Nothing { again: true } => continue,
                ParsedStatus::Nothing { again: false } | ParsedStatus::Unknown => {}
            }
            break;
        }
        // A payer types in the password that came, also where the merchant heard nothing; one in four types it wrong at
        // first.
        for attempt in 0..3 {
            let typed = if attempt == 0 && self.below(4) == 0 { WRONG_OTP } else { &otp };
            let confirming = self.gateway.confirm_mbank_payment(&known, typed);
            match self.call("mbank_confirm", &self.order, true, confirming).await? {
                ParsedStatus::Nothing { again } if again || typed == WRONG_OTP => {}
                _ => break,
            }
        }
        self.follow(&known).await
    }

    async fn megapay(&self) -> Result<(), Broken> {
        let (payment, pin) = self.scene.megapay_payment(&self.order);
        let known = payment.payment_ref();
        self.scene.store(&known);
        for _ in 0..3 {
            let sending = self.gateway.check_megapay(payment.clone());
            if let ParsedStatus::Nothing { again: true } =
                self.call("megapay_check", &self.order, true, sending).await?
            {
                continue;
            }
            break;
        }
        for attempt in 0..3 {
            let typed = if attempt == 0 && self.below(4) == 0 { WRONG_OTP } else { &pin };
            let paying = self.gateway.pay_by_megapay(payment.clone(), typed);
            match self.call("megapay_pay", &self.order, true, paying).await? {
                ParsedStatus::Nothing { again } if again || typed == WRONG_OTP => {}
                _ => break,
            }
        }
        self.follow(&known).await
    }

    async fn pay_forms(&self) -> Result<(), Broken> {
        for _ in 0..4 {
            let making = self.gateway.create_pay_form(self.scene.pay_form());
            if let ParsedStatus::Answer(page) = self.call("pay_form", "", false, making).await? {
                self.scene.made_page(&page);
            }
        }
        Ok(())
    }

    async fn qr_images(&self) -> Result<(), Broken> {
        for _ in 0..4 {
            let making = self.gateway.create_qr_image(self.scene.qr_payment());
            self.call("qr_image", "", false, making).await?;
        }
        Ok(())
    }

    async fn qr_codes(&self) -> Result<(), Broken> {
        for _ in 0..3 {
            let making = self.gateway.create_qr_data(self.scene.qr_payment());
            let made = self.call("qr_data", "", false, making).await?;
            if let ParsedStatus::Answer(data) = made
                && data.payment.can_be_checked()
            {
                self.scene.store(&data.payment);
                self.follow(&data.payment).await?;
            }
        }
        Ok(())
    }

    /// Queries in every way there is; what is answered must be true.
    async fn follow(&self, payment: &PaymentRef) -> Result<(), Broken> {
        let key = key_of(payment);
        self.watch_a_while(payment, &key).await?;
        if let Some(number) = payment.gateway_number.as_ref().filter(|_| !self.scene.gateway_repeats_itself()) {
            self.query("payment_status", &key, self.gateway.payment_status(number, None)).await?;
        }
        if let Some(id) = &payment.transaction_id {
            self.query("qr_status", &key, self.gateway.qr_status(id)).await?;
        }
        if let Some(provider) = payment.provider.clone() {
            self.query("provider_status", &key, self.gateway.provider_status(&key, provider)).await?;
            self.forged_callback(payment, &key).await?;
        }
        Ok(())
    }

    async fn watch_a_while(&self, payment: &PaymentRef, key: &str) -> Result<(), Broken> {
        let policy = self.scene.pace().poll;
        let watch = self.gateway.watch(payment.clone(), policy).map_err(|error| format!("no watch: {error}"))?;
        for _ in 0..self.below(5) {
            if self.below(4) == 0 {
                watch.check_now();
            }
            let patience = self.patience();
            if let Some(Ok(Some(WatchReport::Status { verdict }))) = patience.wait_for(watch.next()).await {
                self.heed(key, &verdict)?;
            }
        }
        watch.cancel();
        match watch.outcome().await {
            Ok(Some(verdict)) => self.heed(key, &verdict),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// A callback claims that the order was paid.
    async fn forged_callback(&self, payment: &PaymentRef, key: &str) -> Result<(), Broken> {
        let provider = payment.provider.as_ref().map_or("Cards", Provider::name);
        let body = format!(
            r#"{{"orderNumber":"{key}","amount":{PRICE},"currency":"KGS","status":"CHARGE",
                "dateCreated":"2026-01-31T12:00:00","provider":"{provider}"}}"#
        );
        let callback = Callback::parse(&body).map_err(|error| format!("the callback is not read: {error}"))?;
        let verifying = self.gateway.verify_callback(&callback, payment);
        match self.call("provider_status", key, false, verifying).await? {
            ParsedStatus::Answer(verdict) if verdict.is_charged() => self.scene.reported_final(key, true),
            _ => Ok(()),
        }
    }

    async fn query(
        &self,
        endpoint: &'static str,
        key: &str,
        query: impl Future<Output = Result<StatusReport, PaymentError>>,
    ) -> Result<(), Broken> {
        match self.call(endpoint, key, false, query).await? {
            ParsedStatus::Answer(report) => self.check_report(key, &report),
            ParsedStatus::Nothing { .. } | ParsedStatus::Unknown => Ok(()),
        }
    }

    /// What a verdict says must be true; and no gateway speaks of another payment that does not repeat itself.
    fn heed(&self, key: &str, verdict: &Verdict) -> Result<(), Broken> {
        match verdict {
            Verdict::Charged { .. } => self.scene.reported_final(key, true),
            Verdict::Rejected { .. } => self.scene.reported_final(key, false),
            Verdict::Pending { .. } => Ok(()),
            _ if self.scene.gateway_repeats_itself() => Ok(()),
            odd => Err(format!("{key}: {odd:?}")),
        }
    }

    fn check_report(&self, key: &str, report: &StatusReport) -> Result<(), Broken> {
        let charged = report.status == crate::PaymentStatus::Charged;
        if report.status.is_final() { self.scene.reported_final(key, charged) } else { Ok(()) }
    }

    /// A call, and what was said of it. One that moves no money never says that it may have.
    async fn call<T>(
        &self,
        endpoint: &'static str,
        key: &str,
        moves_money: bool,
        call: impl Future<Output = Result<T, PaymentError>>,
    ) -> Result<ParsedStatus<T>, Broken> {
        let about = Call { endpoint, key: key.to_owned(), moves_money };
        let id = self.scene.begin(&about);
        let ended = self.patience().wait_for(call).await;
        let end = match &ended {
            None => End::GivenUp,
            Some(Ok(_)) => End::Answered,
            Some(Err(error)) if !error.payment_may_exist() => End::Clean(error),
            Some(Err(error)) if !moves_money => return Err(format!("{endpoint} moves no money: {error}")),
            Some(Err(_)) => End::Unknown,
        };
        self.scene.end(id, about, end)?;
        Ok(match ended {
            Some(Ok(answer)) => ParsedStatus::Answer(answer),
            Some(Err(error)) if !error.payment_may_exist() => ParsedStatus::Nothing { again: error.is_retryable() },
            Some(Err(_)) | None => ParsedStatus::Unknown,
        })
    }

    fn patience(&self) -> Patience {
        let pace = self.scene.pace();
        self.scene.random(|rng| Patience::draw(rng, pace.short, pace.long))
    }

    fn below(&self, end: usize) -> usize {
        self.scene.random(|rng| rng.usize(..end))
    }
}

/// The number by which the gateway's books know a payment.
pub fn key_of(payment: &PaymentRef) -> String {
    payment.order_number.clone().or(payment.transaction_id.clone()).unwrap_or_default()
}
