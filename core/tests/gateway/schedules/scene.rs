//! The scene over sockets: requests go to the sandbox, and every word is written into a journal, to be compared with
//! its books.

use std::{cell::RefCell, time::Duration};

use fastrand::Rng;
use futures_util::future::join_all;
use kassa::{
    _internals::schedules::merchant::{Broken, Call, End, Merchant, PRICE, Pace, Scene},
    Card, CardPayment, Credentials, Dialect, Gateway, GatewayConfig, MbankPayment, MegapayPayment, PayForm,
    PayFormCreated, PaymentRef, PollPolicy, QrPayment,
};
use kassa_sandbox::{EndpointName, Provider as Wallet, TEST_CARDS, TEST_PHONES};
use kassa_test_patience::patience;

use super::journal::{Event, Journal};
use crate::support::{self, changed};

/// No server listens there: every callback is read in the sandbox's books.
const CALLBACK_URL: &str = "http://127.0.0.1:1/callback";

/// The gateway as a merchant sees it.
pub fn open(url: &str, settings: impl FnOnce(&mut GatewayConfig)) -> Gateway {
    let dialect = Dialect::from_json(include_str!("../../../../examples/sandbox-dialect.json"));
    let mut config = GatewayConfig::new(url, Credentials::basic("kassa", "sandbox-password"))
        .with_dialect(dialect.expect("the sandbox's dialect"));
    settings(&mut config);
    Gateway::new(config).expect("a good configuration")
}

/// Plays the merchants of a seed to their end.
pub async fn play_merchants(seed: u64, url: &str, journal: &Journal) {
    let mut rng = Rng::with_seed(seed);
    let gateway = open(url, |config| {
        let deadline = Duration::from_millis(rng.u64(200..800));
        (config.payment_deadline, config.query_deadline) = (deadline, deadline);
        config.query_retries = rng.u32(..3);
    });
    let merchants = (0..rng.usize(2..6)).map(|number| {
        let scene = OverSockets { rng: RefCell::new(rng.fork()), journal: journal.clone() };
        Merchant { scene, gateway: gateway.clone(), order: format!("order-{number}") }.run()
    });
    for played in join_all(merchants.collect::<Vec<_>>()).await {
        if let Err(sentence) = played {
            journal.write(Event::Broken { sentence });
        }
    }
    // A close waits for payments whose callers are gone, at most until their deadline.
    if tokio::time::timeout(patience(), gateway.close()).await.is_err() {
        journal.write(Event::Broken { sentence: "a close never came to an end".into() });
    }
}

struct OverSockets {
    rng: RefCell<Rng>,
    journal: Journal,
}

impl OverSockets {
    fn below(&self, end: usize) -> usize {
        self.rng.borrow_mut().usize(..end)
    }
}

impl Scene for OverSockets {
    /// The journal tells calls apart by endpoint and key.
    type Id = ();

    fn random<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.rng.borrow_mut())
    }

    fn pace(&self) -> Pace {
        Pace {
            short: Duration::from_millis(20),
            long: Duration::from_millis(700),
            poll: PollPolicy::default()
                .with_interval(Duration::from_millis(20))
                .with_deadline(Duration::from_millis(600)),
        }
    }

    fn card_payment(&self, order: &str) -> CardPayment {
        let pan = TEST_CARDS[self.below(TEST_CARDS.len())].pan;
        changed(support::card_payment().with_card(Card::new(pan, "12", 2099, support::CVC, "Aibek Usenov")), |it| {
            it.order_number = order.to_owned();
            it.amount = PRICE.into();
            it.callback_url = CALLBACK_URL.into();
        })
    }

    fn mbank_payment(&self, order: &str) -> (MbankPayment, String) {
        let payers: Vec<_> = TEST_PHONES.iter().filter(|it| it.provider == kassa_sandbox::Provider::MBank).collect();
        let payer = payers[self.below(payers.len())];
        let payment = changed(support::mbank_payment().with_callback_url(CALLBACK_URL), |it| {
            it.order_number = order.to_owned();
            it.phone = payer.phone.into();
            it.amount_som = PRICE.into();
        });
        (payment, payer.otp.to_owned())
    }

    fn megapay_payment(&self, order: &str) -> (MegapayPayment, String) {
        let wallets: Vec<_> = TEST_PHONES.iter().filter(|phone| phone.provider == Wallet::MegaPay).collect();
        let phone = wallets[self.below(wallets.len())];
        (
            MegapayPayment::new(order, PRICE.into(), phone.phone, "7").with_callback_url(CALLBACK_URL),
            phone.otp.to_owned(),
        )
    }

    fn pay_form(&self) -> PayForm {
        changed(support::pay_form(), |it| {
            it.amount = PRICE.into();
            it.callback_url = CALLBACK_URL.into();
        })
    }

    fn qr_payment(&self) -> QrPayment {
        QrPayment::new(i64::from(PRICE) * 100).with_callback_url(CALLBACK_URL)
    }

    fn store(&self, payment: &PaymentRef) {
        self.journal.write(Event::Stored { payment: payment.clone() });
    }

    fn begin(&self, call: &Call) {
        self.journal.write(Event::Began { endpoint: the_sandboxes_name(call.endpoint), key: call.key.clone() });
    }

    fn end(&self, (): (), call: Call, end: End<'_>) -> Result<(), Broken> {
        let (endpoint, key) = (the_sandboxes_name(call.endpoint), call.key);
        match end {
            End::Answered => self.journal.write(Event::Answered { endpoint, key }),
            End::Clean(error) => self.journal.write(Event::Clean { endpoint, key, detail: error.to_string() }),
            End::GivenUp | End::Unknown => {}
        }
        Ok(())
    }

    fn made_page(&self, page: &PayFormCreated) {
        let token = page.pay_form_url.rsplit_once("token=").map_or_else(String::new, |(_, token)| token.into());
        self.journal.write(Event::Page { token });
    }

    fn reported_final(&self, key: &str, charged: bool) -> Result<(), Broken> {
        self.journal.write(Event::Said { key: key.to_owned(), charged });
        Ok(())
    }
}

/// The two sides name endpoints on their own.
fn the_sandboxes_name(endpoint: &str) -> EndpointName {
    match endpoint {
        "card_payment" => EndpointName::Payment,
        "payment_status" => EndpointName::Status,
        "mbank_payment" => EndpointName::MbankPay,
        "mbank_confirm" => EndpointName::MbankConfirm,
        "megapay_check" => EndpointName::MegaCheck,
        "megapay_pay" => EndpointName::MegaPay,
        "pay_form" => EndpointName::PayForm,
        "provider_status" => EndpointName::GetStatus,
        "qr_image" => EndpointName::QrDynamic,
        "qr_data" => EndpointName::QrDynamicData,
        "qr_status" => EndpointName::QrTransactionStatus,
        other => unreachable!("no such endpoint: {other}"),
    }
}
