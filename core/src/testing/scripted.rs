//! A stub that follows a script, on a virtual clock: the result of the n-th request. Valid input for each operation.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use crate::{
    Card, CardPayment, Decimal, Gateway, MbankPayment, MegapayPayment, PayForm, PaymentError, PaymentRef, Provider,
    QrPayment,
    config::gateway_config::GatewayConfig,
    fake::responses::response,
    response::Response,
    testing::memory::{Memory, Stub, config},
    transport::{Boxed, Failure, Request, Stage, Transport},
};

/// The gateway's action for the n-th request, with its delay.
pub(crate) enum Act {
    /// No connection can be made.
    Refuse,
    /// The request arrives, and the answer is lost.
    Lose(Duration),
    /// It responds with a status, seconds to wait, and a body.
    Response(Duration, u16, Option<u64>, String),
    /// It takes this long to make a connection; then it responds with an empty object.
    ConnectSlowly(Duration),
    /// The lookup of its host name never ends.
    NeverLookedUp,
}

impl Act {
    pub(crate) fn status(word: &str) -> Self {
        Self::slow_status(0, word)
    }

    pub(crate) fn slow_status(seconds: u64, word: &str) -> Self {
        let body = format!(r#"{{"code":"200","data":{{"status":"{word}"}}}}"#);
        Self::Response(Duration::from_secs(seconds), 200, None, body)
    }

    pub(crate) fn error(status: u16, retry_after: Option<u64>) -> Self {
        Self::Response(Duration::ZERO, status, retry_after, r#"{"code":"1","message":"no"}"#.to_owned())
    }
}

type Script = Box<dyn Fn(usize, &str) -> Act + Send + Sync>;

pub(crate) struct Scripted {
    script: Script,
    started: Instant,
    attempts: Mutex<Vec<Duration>>,
    /// The requests that had a connection, by path.
    seen: Arc<Mutex<Vec<Cow<'static, str>>>>,
}

impl Scripted {
    /// A gateway over a script: a function from the number of the request, from 0, to what happens.
    pub(crate) fn gateway(script: impl Fn(usize) -> Act + Send + Sync + 'static) -> (Gateway, Arc<Self>) {
        Self::gateway_with(|_| {}, script)
    }

    pub(crate) fn gateway_with(
        settings: impl FnOnce(&mut GatewayConfig),
        script: impl Fn(usize) -> Act + Send + Sync + 'static,
    ) -> (Gateway, Arc<Self>) {
        Self::by_request(settings, move |number, _| script(number))
    }

    /// The transport alone, without a gateway over it.
    pub(crate) fn transport(script: impl Fn(usize) -> Act + Send + Sync + 'static) -> Arc<dyn Transport> {
        Arc::new(Memory { stub: Self::new(move |number, _| script(number)) })
    }

    /// A script that also depends on the content of the request: its body, or its query if it has none.
    pub(crate) fn by_request(
        settings: impl FnOnce(&mut GatewayConfig),
        script: impl Fn(usize, &str) -> Act + Send + Sync + 'static,
    ) -> (Gateway, Arc<Self>) {
        let stub = Self::new(script);
        let mut config = config("b");
        settings(&mut config);
        let transport = Memory { stub: stub.clone() };
        (Gateway::over(Arc::new(transport), config).expect("a good configuration"), stub)
    }

    fn new(script: impl Fn(usize, &str) -> Act + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            script: Box::new(script),
            started: Instant::now(),
            attempts: Mutex::default(),
            seen: Arc::default(),
        })
    }

    /// When each request was attempted, in seconds from the beginning, rounded down.
    pub(crate) fn attempted_at(&self) -> Vec<u64> {
        self.attempts.lock().unwrap().iter().map(Duration::as_secs).collect()
    }

    pub(crate) fn seen(&self) -> Vec<Cow<'static, str>> {
        self.seen.lock().unwrap().clone()
    }
}

impl Stub for Scripted {
    fn exchange(&self, request: Arc<Request>) -> Boxed<Result<Response, Failure>> {
        let number = {
            let mut attempts = self.attempts.lock().unwrap();
            attempts.push(Instant::now() - self.started);
            attempts.len() - 1
        };
        let body = request.body.as_ref().map(|body| String::from_utf8_lossy(body));
        let act = (self.script)(number, body.as_deref().or(request.query.as_deref()).unwrap_or_default());
        if matches!(act, Act::NeverLookedUp) {
            request.progress.set(Stage::LookingUp);
            return Box::pin(std::future::pending());
        }
        let seen = self.seen.clone();
        let connect = move || {
            assert!(request.establish(), "the caller gave up, so this future must be gone");
            seen.lock().unwrap().push(request.path.clone());
        };
        Box::pin(async move {
            if let Act::ConnectSlowly(after) = act {
                sleep(after).await;
            }
            if !matches!(act, Act::Refuse) {
                connect();
            }
            match act {
                Act::Refuse => Err(Failure::NotConnected { detail: "refused".into() }),
                Act::Lose(after) => {
                    sleep(after).await;
                    Err(Failure::Lost { detail: "reset".into() })
                }
                Act::Response(after, http_status, retry_after, body) => {
                    sleep(after).await;
                    let retry_after = retry_after.map(Duration::from_secs);
                    Ok(Response { retry_after, ..response(http_status, body.as_bytes()) })
                }
                Act::ConnectSlowly(_) | Act::NeverLookedUp => Ok(response(200, b"{}")),
            }
        })
    }
}

// Valid input for each operation.

pub(crate) fn card_payment(order_number: &str, pan: &str) -> CardPayment {
    CardPayment {
        order_number: order_number.into(),
        description: "tea".into(),
        amount: Decimal::from(100),
        currency: "KGS".into(),
        card: Arc::new(Card::new(pan, "12", 2099, "123", "Aibek Usenov")),
        language: "en".into(),
        return_url: None,
        callback_url: "https://shop.example/callback".into(),
        ip: "203.0.113.7".into(),
        email: None,
    }
}

pub(crate) fn mbank_payment(order_number: &str) -> MbankPayment {
    MbankPayment {
        order_number: order_number.into(),
        phone: "996555000101".into(),
        amount_som: 100,
        comment: "tea".into(),
        callback_url: None,
    }
}

pub(crate) fn megapay_payment(order_number: &str) -> MegapayPayment {
    MegapayPayment::new(order_number, Decimal::from(100), "996555000101", "1")
}

pub(crate) fn pay_form() -> PayForm {
    PayForm {
        amount: Decimal::from(100),
        service_name: "tea".into(),
        callback_url: "https://shop.example/callback".into(),
        return_url: "https://shop.example/done".into(),
        entry_id: None,
    }
}

pub(crate) fn qr_payment() -> QrPayment {
    QrPayment::new(10_000)
}

/// Calls the operation of an endpoint, by its name.
pub(crate) fn call(gateway: &Gateway, endpoint: &'static str) -> Boxed<Result<(), PaymentError>> {
    let gateway = gateway.clone();
    Box::pin(async move {
        match endpoint {
            "card_payment" => gateway.create_card_payment(card_payment("order-1", "4111111111111111")).await.map(drop),
            "mbank_payment" => gateway.create_mbank_payment(mbank_payment("order-1")).await.map(drop),
            "mbank_confirm" => {
                gateway.confirm_mbank_payment(&PaymentRef::mbank("order-1", 100), "123456").await.map(drop)
            }
            "megapay_check" => gateway.check_megapay(megapay_payment("order-1")).await.map(drop),
            "megapay_pay" => gateway.pay_by_megapay(megapay_payment("order-1"), "1234").await.map(drop),
            "pay_form" => gateway.create_pay_form(pay_form()).await.map(drop),
            "qr_image" => gateway.create_qr_image(qr_payment()).await.map(drop),
            "qr_data" => gateway.create_qr_data(qr_payment()).await.map(drop),
            "payment_status" => gateway.payment_status("gateway-1", None).await.map(drop),
            "provider_status" => gateway.provider_status("order-1", Provider::MBank).await.map(drop),
            "qr_status" => gateway.qr_status("transaction-1").await.map(drop),
            other => panic!("no request is known for {other}"),
        }
    })
}
