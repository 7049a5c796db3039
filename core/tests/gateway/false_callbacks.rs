//! Forged and replayed callbacks (webhooks), and those that come too early or contradict each other: the verdict on
//! each, with the real sandbox wherever it can send them.

use std::sync::{Mutex, mpsc};

use futures_util::future::join;
use kassa::{Callback, Card, CardPayment, Credentials, Gateway, GatewayConfig, PaymentRef, PaymentStatus, Verdict};
use kassa_sandbox::{Fault, Sandbox, SandboxOptions};
use kassa_test_patience::wait_for_async;

use crate::support::{self, Server, changed, response};

const CHARGED_AT_ONCE: &str = "4000000000002016";
const DECLINED_AT_ONCE: &str = "4000000000002024";
const WITH_3DS: &str = "4111111111111111";
const PRICE: &str = "100.10";

struct Shop {
    sandbox: Sandbox,
    gateway: Gateway,
}

impl Shop {
    fn open() -> Self {
        let sandbox = Sandbox::start(SandboxOptions { callback_pauses: Vec::new(), ..Default::default() }).unwrap();
        let credentials = Credentials::basic(sandbox.login(), sandbox.password());
        let gateway = Gateway::new(GatewayConfig::new(sandbox.url(), credentials)).unwrap();
        Self { sandbox, gateway }
    }

    async fn pay(&self, order: &str, pan: &str) {
        self.gateway.create_card_payment(card_payment(order, pan)).await.unwrap();
    }

    /// What a merchant does with a callback that came to the address of an order.
    async fn judge(&self, callback: &Callback, order: &str) -> Verdict {
        self.gateway.verify_callback(callback, &stored(order)).await.unwrap()
    }

    /// This many callbacks, out of those that the sandbox tried to send although no server listens.
    async fn sent(&self, count: usize) -> Vec<Callback> {
        let attempts = wait_for_async(&format!("{count} callbacks are sent"), async || {
            Some(self.sandbox.callbacks()).filter(|attempts| attempts.len() >= count)
        })
        .await;
        attempts.iter().map(|attempt| Callback::parse(&attempt.body).unwrap()).collect()
    }
}

fn card_payment(order: &str, pan: &str) -> CardPayment {
    changed(support::card_payment().with_card(Card::new(pan, "12", 2099, support::CVC, "Aibek Usenov")), |it| {
        it.order_number = order.into();
        it.amount = PRICE.parse().unwrap();
        it.callback_url = "http://127.0.0.1:1/callback".into();
    })
}

fn stored(order: &str) -> PaymentRef {
    PaymentRef::card(order, PRICE.parse().unwrap(), "KGS")
}

fn callback(order: &str, amount: &str, status: &str) -> Callback {
    let text = format!(
        r#"{{"orderNumber":"{order}","amount":{amount},"currency":"KGS","status":"{status}",
            "dateCreated":"2026-11-20T09:05:07","provider":"Cards"}}"#
    );
    Callback::parse(&text).unwrap()
}

fn mismatch(verdict: &Verdict) -> Vec<&str> {
    match verdict {
        Verdict::Mismatch { fields, .. } => fields.iter().map(String::as_str).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn forged_amount_is_a_mismatch() {
    let shop = Shop::open();
    shop.sandbox.faults().add(Fault::callback_forged().times(1)).unwrap();
    shop.pay("order-1", WITH_3DS).await;
    let forged = &shop.sent(1).await[0];
    assert_eq!((forged.amount, &forged.status), (Some("101.10".parse().unwrap()), &Some(PaymentStatus::Charged)));
    assert_eq!(mismatch(&shop.judge(forged, "order-1").await), ["amount"], "while the payment is open");
    shop.sandbox.approve("order-1").unwrap();
    assert_eq!(mismatch(&shop.judge(forged, "order-1").await), ["amount"], "and after it was paid");
    // A true callback about a payment of less than the goods cost.
    let cheap = callback("order-1", "1", "CHARGE");
    assert_eq!(mismatch(&shop.judge(&cheap, "order-1").await), ["amount"]);
}

#[tokio::test]
async fn forged_status_is_a_mismatch_or_still_open() {
    let shop = Shop::open();
    shop.pay("open", WITH_3DS).await;
    let verdict = shop.judge(&callback("open", PRICE, "CHARGE"), "open").await;
    assert!(matches!(verdict, Verdict::Pending { .. }), "keep watching: {verdict:?}");
    shop.pay("declined", DECLINED_AT_ONCE).await;
    assert_eq!(mismatch(&shop.judge(&callback("declined", PRICE, "CHARGE"), "declined").await), ["status"]);
    shop.pay("paid", CHARGED_AT_ONCE).await;
    let verdict = shop.judge(&callback("paid", PRICE, "Reject"), "paid").await;
    assert_eq!(mismatch(&verdict), ["status"], "a paid order is not given up, either");
}

#[tokio::test]
async fn callback_of_foreign_order_is_mismatch() {
    let shop = Shop::open();
    shop.pay("mine", WITH_3DS).await;
    shop.pay("foreign", CHARGED_AT_ONCE).await;
    let about_the_foreign_one = &shop.sent(1).await[0];
    assert_eq!(about_the_foreign_one.order_number, "foreign");
    assert_eq!(mismatch(&shop.judge(about_the_foreign_one, "mine").await), ["orderNumber"]);
    // An order that nobody ever made proves nothing.
    let error = shop.gateway.verify_callback(&callback("nobody-s", PRICE, "CHARGE"), &stored("nobody-s")).await;
    assert_eq!(error.unwrap_err().kind(), "Refused");
}

#[tokio::test]
async fn replayed_callback_is_recognized_and_valid() {
    let shop = Shop::open();
    shop.sandbox.faults().add(Fault::callback_duplicated()).unwrap();
    shop.pay("order-1", CHARGED_AT_ONCE).await;
    let copies = shop.sent(2).await;
    assert!(copies[0].dedup_key().is_some());
    assert_eq!(copies[0].dedup_key(), copies[1].dedup_key(), "what was taken once is known by its key");
    for copy in &copies {
        assert!(shop.judge(copy, "order-1").await.is_charged(), "the second is as true as the first");
    }
    assert_eq!(shop.sandbox.payment("order-1").unwrap().times_charged, 1);
    // Replay to the address of another order: it is about a foreign payment.
    assert_eq!(mismatch(&shop.judge(&copies[1], "order-2").await), ["orderNumber"]);
}

#[tokio::test]
async fn callback_before_create_returns_is_verified() {
    let (release, released) = mpsc::channel::<()>();
    let (arrived, arrival) = tokio::sync::oneshot::channel::<()>();
    let (released, arrived) = (Mutex::new(released), Mutex::new(Some(arrived)));
    let server = Server::start(move |request| {
        if request.line.contains("/get-status") {
            let data = format!(r#"{{"orderNumber":"order-1","amount":{PRICE},"status":"CHARGE","currency":"KGS"}}"#);
            return response(200, &format!(r#"{{"code":"200","message":"PAYMENT_SUCCESS","data":{data}}}"#));
        }
        arrived.lock().unwrap().take().unwrap().send(()).unwrap();
        released.lock().unwrap().recv().unwrap();
        response(200, &support::Op::CardPayment.success_body())
    });
    let gateway = server.gateway();
    let creating = gateway.create_card_payment(card_payment("order-1", CHARGED_AT_ONCE));
    let being_called_back = async {
        arrival.await.unwrap();
        let early = callback("order-1", PRICE, "CHARGE");
        let verdict = gateway.verify_callback(&early, &stored("order-1")).await.unwrap();
        release.send(()).unwrap();
        verdict
    };
    let (created, verdict) = join(creating, being_called_back).await;
    assert!(verdict.is_charged(), "what was stored before sending is enough: {verdict:?}");
    assert!(created.is_ok());
}

#[tokio::test]
async fn gateway_decides_between_conflicting_callbacks() {
    for (pan, is_charged) in [(CHARGED_AT_ONCE, true), (DECLINED_AT_ONCE, false)] {
        let shop = Shop::open();
        shop.pay("order-1", pan).await;
        let (paid, declined) = (callback("order-1", PRICE, "CHARGE"), callback("order-1", PRICE, "Reject"));
        assert_ne!(paid.dedup_key(), declined.dedup_key(), "neither hides the other");
        let (right, wrong) = if is_charged { (&paid, &declined) } else { (&declined, &paid) };
        // In either order, and again.
        for callback in [right, wrong, right, wrong] {
            let verdict = shop.judge(callback, "order-1").await;
            if callback.status == right.status {
                assert_eq!(verdict.is_charged(), is_charged, "{verdict:?}");
                assert_eq!(matches!(verdict, Verdict::Rejected { .. }), !is_charged, "{verdict:?}");
            } else {
                assert_eq!(mismatch(&verdict), ["status"]);
            }
        }
    }
}
