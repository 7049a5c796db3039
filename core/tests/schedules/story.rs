//! What some merchants' programs do, each with one order, and write into their journal.

use std::{cell::RefCell, time::Duration};

use fastrand::Rng;
use futures_util::future::join_all;
use kassa::{
    Card, CardPayment, Credentials, Gateway, GatewayConfig, MbankPayment, PayForm, PaymentError, PaymentRef,
    PollPolicy, Provider, QrPayment, StatusReport, WatchOutcome, WatchReport,
};
use kassa_sandbox::{EndpointName, TEST_CARDS, TEST_PHONES};

use crate::{
    journal::{Event, Journal},
    patience::Patience,
    support,
};

/// What every payment costs, in som.
pub const PRICE: u32 = 100;

/// Nobody listens there: callbacks are read from the sandbox's records.
const CALLBACK_URL: &str = "http://127.0.0.1:1/callback";

/// The gateway as a merchant sees it.
pub fn open(url: &str, settings: impl FnOnce(&mut GatewayConfig)) -> Gateway {
    let mut config = GatewayConfig::new(url, Credentials::basic("kassa", "sandbox"));
    settings(&mut config);
    Gateway::new(config).expect("a good configuration")
}

/// Plays the merchants of a seed to their end.
pub async fn play_merchants(seed: u64, url: &str, journal: &Journal) {
    let mut rng = Rng::with_seed(seed);
    let gateway = open(url, |config| {
        config.deadline = Duration::from_millis(rng.u64(200..800));
        config.query_retries = rng.u32(..3);
    });
    let merchants = rng.usize(2..6);
    let stories = (0..merchants).map(|number| {
        let order = format!("order-{number}");
        let story = Story { gateway: gateway.clone(), order, rng: RefCell::new(rng.fork()), journal: journal.clone() };
        story.run()
    });
    join_all(stories.collect::<Vec<_>>()).await;
    // A close waits for detached payments, too, but never longer than their deadline.
    if tokio::time::timeout(Duration::from_secs(60), gateway.close()).await.is_err() {
        journal.write(Event::Broken { sentence: "a close never came to an end".into() });
    }
}

struct Story {
    gateway: Gateway,
    order: String,
    rng: RefCell<Rng>,
    journal: Journal,
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
    async fn run(self) {
        match self.below(10) {
            0..3 => self.card().await,
            3..6 => self.mbank().await,
            6..8 => self.pay_form().await,
            _ => self.qr().await,
        }
        // Ask about a number that was never used, too.
        let strange = format!("{}-strange", self.order);
        self.ask(EndpointName::Status, &strange, self.gateway.payment_status(&strange, None)).await;
        self.ask(EndpointName::GetStatus, &strange, self.gateway.provider_status(&strange, Provider::MBank)).await;
        self.ask(EndpointName::QrTransactionStatus, &strange, self.gateway.qr_status(&strange)).await;
    }

    async fn card(&self) {
        let pan = TEST_CARDS[self.below(TEST_CARDS.len())].pan;
        let payment = CardPayment {
            order_number: self.order.clone(),
            amount: PRICE.into(),
            card: Card::new(pan, "12", 2099, support::CVC, "Aibek Usenov").into(),
            callback_url: CALLBACK_URL.into(),
            ..support::card_payment()
        };
        self.store(payment.payment_ref());
        let mut known = payment.payment_ref();
        for _ in 0..3 {
            let call = self.gateway.create_card_payment(payment.clone());
            match self.call(EndpointName::Payment, &self.order, true, call).await {
                Told::Answer(created) => {
                    known = created.payment;
                    self.store(known.clone());
                }
                Told::Nothing { again: true } => continue,
                Told::Nothing { again: false } | Told::Unknown => {}
            }
            break;
        }
        self.follow(&known, Provider::Cards).await;
    }

    async fn mbank(&self) {
        let payers: Vec<_> = TEST_PHONES.iter().filter(|it| it.provider == kassa_sandbox::Provider::MBank).collect();
        let payer = payers[self.below(payers.len())];
        let payment = MbankPayment {
            order_number: self.order.clone(),
            phone: payer.phone.into(),
            amount_som: PRICE.into(),
            callback_url: Some(CALLBACK_URL.into()),
            ..support::mbank_payment()
        };
        self.store(payment.payment_ref());
        for _ in 0..3 {
            let call = self.gateway.create_mbank_payment(payment.clone());
            if !matches!(
                self.call(EndpointName::MbankPay, &self.order, true, call).await,
                Told::Nothing { again: true }
            ) {
                break;
            }
        }
        // A payer who got a password types it in, even where the merchant got no answer. One in four mistypes it at
        // first.
        for attempt in 0..3 {
            let otp = if attempt == 0 && self.below(4) == 0 { "000000" } else { payer.otp };
            let call = self.gateway.confirm_mbank_payment(&self.order, otp, None);
            match self.call(EndpointName::MbankConfirm, &self.order, true, call).await {
                Told::Nothing { again } if again || otp != payer.otp => {}
                _ => break,
            }
        }
        self.follow(&payment.payment_ref(), Provider::MBank).await;
    }

    async fn pay_form(&self) {
        for _ in 0..4 {
            let form = PayForm { amount: PRICE.into(), callback_url: CALLBACK_URL.into(), ..support::pay_form() };
            let call = self.gateway.create_pay_form(form);
            if let Told::Answer(made) = self.call(EndpointName::PayForm, "", false, call).await {
                let token = made.pay_form_url.rsplit_once("token=").map_or_else(String::new, |(_, token)| token.into());
                self.journal.write(Event::Page { token });
            }
        }
    }

    async fn qr(&self) {
        let ask = || QrPayment {
            sum_tyiyn: Some(i64::from(PRICE) * 100),
            requisite: None,
            callback_url: Some(CALLBACK_URL.into()),
        };
        for _ in 0..3 {
            let call = self.gateway.create_qr_image(ask());
            self.call(EndpointName::QrDynamic, "", false, call).await;
        }
        for _ in 0..3 {
            self.qr_data(ask()).await;
        }
    }

    async fn qr_data(&self, ask: QrPayment) {
        let call = self.gateway.create_qr_data(ask);
        if let Told::Answer(made) = self.call(EndpointName::QrDynamicData, "", false, call).await
            && let Some(payment) = made.payment
        {
            self.store(payment.clone());
            let transaction = payment.transaction_id.clone().unwrap_or_default();
            self.watch(&payment).await;
            self.ask(EndpointName::QrTransactionStatus, &transaction, self.gateway.qr_status(&transaction)).await;
        }
    }

    /// Asks in every way there is.
    async fn follow(&self, payment: &PaymentRef, provider: Provider) {
        self.watch(payment).await;
        if let Some(number) = &payment.gateway_number {
            self.ask(EndpointName::Status, &self.order, self.gateway.payment_status(number, None)).await;
        }
        self.ask(EndpointName::GetStatus, &self.order, self.gateway.provider_status(&self.order, provider)).await;
    }

    async fn watch(&self, payment: &PaymentRef) {
        let key = payment.order_number.clone().or(payment.transaction_id.clone()).unwrap_or_default();
        let policy = PollPolicy { interval: Duration::from_millis(20), deadline: Duration::from_millis(600) };
        let watch = self.gateway.watch(payment.clone(), policy).expect("there is something to ask with");
        for _ in 0..self.below(4) {
            let patience = self.patience();
            if let Some(Ok(Some(WatchReport::Status { report }))) = patience.wait_for(watch.next()).await {
                self.note(&key, &report);
            }
        }
        watch.cancel();
        if let Ok(WatchOutcome::Charged { report } | WatchOutcome::Rejected { report }) = watch.outcome().await {
            self.note(&key, &report);
        }
    }

    async fn ask(
        &self,
        endpoint: EndpointName,
        key: &str,
        question: impl Future<Output = Result<StatusReport, PaymentError>>,
    ) {
        if let Told::Answer(report) = self.call(endpoint, key, false, question).await {
            self.note(key, &report);
        }
    }

    /// A call, and what was said of it. One that moves no money never says that it may have.
    async fn call<T>(
        &self,
        endpoint: EndpointName,
        key: &str,
        moves_money: bool,
        call: impl Future<Output = Result<T, PaymentError>>,
    ) -> Told<T> {
        let key = key.to_owned();
        self.journal.write(Event::Began { endpoint, key: key.clone() });
        match self.patience().wait_for(call).await {
            None => Told::Unknown,
            Some(Ok(answer)) => {
                self.journal.write(Event::Answered { endpoint, key });
                Told::Answer(answer)
            }
            Some(Err(error)) if error.payment_may_exist() => {
                if !moves_money {
                    self.journal.write(Event::Broken { sentence: format!("{endpoint} moves no money: {error}") });
                }
                Told::Unknown
            }
            Some(Err(error)) => {
                self.journal.write(Event::Clean { endpoint, key, detail: error.to_string() });
                Told::Nothing { again: error.is_retryable() }
            }
        }
    }

    fn note(&self, key: &str, report: &StatusReport) {
        if report.status.is_final() {
            let charged = report.status == kassa::PaymentStatus::Charged;
            self.journal.write(Event::Said { key: key.to_owned(), charged });
        }
    }

    fn store(&self, payment: PaymentRef) {
        self.journal.write(Event::Stored { payment });
    }

    fn patience(&self) -> Patience {
        Patience::draw(&mut self.rng.borrow_mut(), Duration::from_millis(20), Duration::from_millis(700))
    }

    fn below(&self, end: usize) -> usize {
        self.rng.borrow_mut().usize(..end)
    }
}
