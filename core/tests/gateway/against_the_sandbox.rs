//! End-to-end tests: whole payments against the sandbox, which shares no code with this crate
//! (`docs/adr/0007-nothing-shared-with-the-sandbox.md`).

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use kassa::{
    Callback, CardPayment, Credentials, Dialect, Gateway, GatewayConfig, NextStep, PaymentError, PaymentRef,
    PaymentStatus, PollPolicy, Provider, QrCode, QrLevel, ReturnRedirect, StatusQueryForm, Verdict,
};
use kassa_sandbox::{Sandbox, SandboxOptions};
use kassa_test_patience::{patience, wait_for_async};
use url::Url;

use crate::support::{self, changed};

const CARD_OTP: &str = "123456";

struct Shop {
    sandbox: Sandbox,
    gateway: Gateway,
}

impl Shop {
    fn open() -> Self {
        Self::open_with(|_| {})
    }

    fn open_with(settings: impl FnOnce(&mut GatewayConfig)) -> Self {
        Self::open_at(SandboxOptions::default(), settings)
    }

    fn open_at(options: SandboxOptions, settings: impl FnOnce(&mut GatewayConfig)) -> Self {
        let sandbox = Sandbox::start(options).unwrap();
        let credentials = Credentials::basic(sandbox.login(), sandbox.password());
        let mut config = GatewayConfig::new(sandbox.url(), credentials);
        settings(&mut config);
        Self { gateway: Gateway::new(config).unwrap(), sandbox }
    }

    async fn end(&self, payment: PaymentRef) -> String {
        let policy = PollPolicy::default().with_interval(Duration::from_millis(50)).with_deadline(patience());
        match self.gateway.watch(payment, policy).unwrap().outcome().await {
            Ok(Some(Verdict::Charged { .. })) => "charged".into(),
            Ok(Some(Verdict::Rejected { .. })) => "rejected".into(),
            other => panic!("{other:?}"),
        }
    }
}

/// Posts a form as a browser would, and gives where it is sent next, if anywhere.
fn post(page: &str, form: &[(&str, &str)]) -> (u16, Option<String>) {
    let page = Url::parse(page).unwrap();
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let mut stream = TcpStream::connect(page.socket_addrs(|| None).unwrap()[0]).unwrap();
    write!(
        stream,
        "POST {}?{} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        page.path(),
        page.query().unwrap_or_default(),
        body.len(),
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let status = response.split(' ').nth(1).unwrap().parse().unwrap();
    let location =
        response.lines().find_map(|line| line.to_lowercase().starts_with("location: ").then(|| line[10..].to_owned()));
    (status, location.map(|location| page.join(&location).unwrap().into()))
}

fn card(order: &str, pan: &str) -> CardPayment {
    changed(
        support::card_payment()
            .with_card(kassa::Card::new(pan, "12", 2099, "737", "Aibek Usenov"))
            .with_return_url("myshop://paid?cart=17"),
        |it| {
            it.order_number = order.into();
            it.callback_url = "http://127.0.0.1:1/cb".into();
        },
    )
}

fn confirmation(next_step: &NextStep) -> &str {
    match next_step {
        NextStep::OpenConfirmation { url, .. } => url,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn card_payment_with_3ds() {
    for (pan, end, charged) in [("4111111111111111", "charged", 1), ("4111111111000124", "rejected", 0)] {
        let shop = Shop::open();
        let payment = card("order-1", pan);
        let stored = payment.payment_ref().to_string();
        let created = shop.gateway.create_card_payment(payment).await.unwrap();
        assert_eq!(created.amount.unwrap().to_string(), "100.10");
        assert!(created.payment.gateway_number.is_some());
        let open = shop.gateway.provider_status("order-1", Provider::Cards).await.unwrap();
        assert!(!open.status.is_final());

        let (_, back) = post(confirmation(&created.next_step), &[("otp", CARD_OTP)]);
        assert_eq!(shop.end(created.payment.clone()).await, end, "by the gateway's number");
        assert_eq!(shop.end(stored.parse().unwrap()).await, end, "by what was stored before sending");
        assert_eq!(shop.sandbox.payment("order-1").unwrap().times_charged, charged);
        if end == "charged" {
            let back = back.expect("a redirect");
            assert!(back.starts_with("myshop://paid?cart=17&"), "{back}");
            let redirect = ReturnRedirect::parse(&back).unwrap();
            assert_eq!((redirect.order_number.as_str(), redirect.status_code.as_deref()), ("order-1", Some("200")));
        }
    }
}

#[tokio::test]
async fn card_without_3ds_is_decided_by_its_status() {
    for (pan, end) in [("4000000000002016", "charged"), ("4000000000002024", "rejected")] {
        let shop = Shop::open();
        let created = shop.gateway.create_card_payment(card("order-1", pan)).await.unwrap();
        assert!(matches!(created.next_step, NextStep::CheckStatus { status: Some(_), .. }));
        assert_eq!(shop.end(created.payment).await, end);
    }
}

#[tokio::test]
async fn unknown_outcome_is_found_out() {
    let shop = Shop::open();
    let error = shop.gateway.create_card_payment(card("order-1", "4000000000002057")).await.unwrap_err();
    let PaymentError::OutcomeUnknown { payment, .. } = error else { panic!("{error}") };
    assert_eq!(shop.end(*payment).await, "rejected");

    // Idempotency: an order number is used twice. The first payment under it exists, and is this merchant's own.
    let shop = Shop::open();
    shop.gateway.create_card_payment(card("order-1", "4000000000002016")).await.unwrap();
    let error = shop.gateway.create_card_payment(card("order-1", "4000000000002016")).await.unwrap_err();
    let PaymentError::OutcomeUnknown { payment, .. } = error else { panic!("{error}") };
    assert_eq!(shop.end(*payment).await, "charged");
    assert_eq!(shop.sandbox.payment("order-1").unwrap().times_charged, 1);
}

#[tokio::test]
async fn an_mbank_payment() {
    let dialect = r#"{"mbank_identifier": {"pointers": ["/data/paymentId"], "confirm_field": "paymentId"}}"#;
    let shop = Shop::open_with(|config| *config = config.clone().with_dialect(Dialect::from_json(dialect).unwrap()));
    let payment = changed(support::mbank_payment(), |it| it.phone = "996555000101".into());
    let created = shop.gateway.create_mbank_payment(payment).await.unwrap();
    let payment = &created.payment;
    assert!(payment.confirm_identifier.is_some());

    let wrong = shop.gateway.confirm_mbank_payment(payment, "000000").await.unwrap_err();
    assert!(matches!(wrong, PaymentError::Refused { http_status: 400, .. }), "{wrong}");
    assert!(!shop.gateway.provider_status("order-2", Provider::MBank).await.unwrap().status.is_final());

    shop.gateway.confirm_mbank_payment(payment, "101101").await.unwrap();
    assert_eq!(shop.end(payment.clone()).await, "charged");
    let again = shop.gateway.confirm_mbank_payment(payment, "101101").await.unwrap_err();
    assert!(again.payment_may_exist(), "a conflict tells nothing: {again}");
    assert_eq!(shop.sandbox.payment("order-2").unwrap().times_charged, 1);
}

#[tokio::test]
async fn pay_form_payment_is_known_by_its_callback() {
    let shop = Shop::open_with(|config| *config = config.clone().with_dialect(sandbox_dialect()));
    let form = changed(support::pay_form(), |it| it.callback_url = "http://127.0.0.1:1/cb?ref=17".into());
    let made = shop.gateway.create_pay_form(form).await.unwrap();
    let (_, wallet) = post(&made.pay_form_url, &[("provider", "MegaPay"), ("phone", "996755000201")]);
    let (_, back) = post(&wallet.unwrap(), &[("otp", "201201")]);
    let redirect = ReturnRedirect::parse(&back.unwrap()).unwrap();

    let callback = first_callback(&shop).await;
    assert_eq!((&callback.order_number, &callback.provider), (&redirect.order_number, &Some(Provider::MegaPay)));
    let verdict = shop.gateway.verify_callback(&callback, &made.payment).await.unwrap();
    let Verdict::Charged { payment, compared, .. } = verdict else { panic!("{verdict:?}") };
    assert_eq!(compared, ["orderNumber", "amount", "currency"]);
    assert_eq!(shop.end(*payment).await, "charged");
    let result = shop.gateway.verify_return(&redirect, &made.payment).await.unwrap();
    assert!(result.is_charged(), "the return names no provider, so each one is asked: {result:?}");
    // The same payment, claimed for a cart of another price, or by a merchant who remembers nothing.
    let dearer = shop.gateway.verify_return(&redirect, &PaymentRef::pay_form(500.into())).await.unwrap();
    assert!(matches!(dearer, Verdict::Mismatch { .. }), "{dearer:?}");
    let of_itself = shop.gateway.check(&callback.payment_ref().unwrap()).await.unwrap();
    assert!(matches!(of_itself, Verdict::Unverifiable { .. }), "{of_itself:?}");
}

fn sandbox_dialect() -> Dialect {
    Dialect::from_json(include_str!("../../../examples/sandbox-dialect.json")).unwrap()
}

/// The body of the first callback, delivered or not: nobody listens here.
async fn first_callback(shop: &Shop) -> Callback {
    let attempt = wait_for_async("a callback is sent", async || shop.sandbox.callbacks().into_iter().next()).await;
    Callback::parse(&attempt.body).unwrap()
}

#[tokio::test]
async fn a_qr_payment() {
    let shop = Shop::open();
    let request = support::qr_payment().with_callback_url("http://127.0.0.1:1/cb");
    let data = shop.gateway.create_qr_data(request.clone()).await.unwrap();
    let payload = data.payload.unwrap();
    let drawn = QrCode::encode(&payload, QrLevel::Medium).unwrap().png(400).unwrap();
    assert_eq!(scanned(&drawn), payload);
    assert!(!shop.gateway.qr_status(data.transaction_id.as_deref().unwrap()).await.unwrap().status.is_final());
    post(&payload, &[("action", "approve")]);
    assert_eq!(shop.end(data.payment.clone()).await, "charged");
    let callback = first_callback(&shop).await;
    assert_eq!(callback.amount, Some("10010".parse().unwrap()), "in tyiyn, as it was requested");
    assert!(shop.gateway.verify_callback(&callback, &data.payment).await.unwrap().is_charged());

    let image = shop.gateway.create_qr_image(request).await.unwrap();
    let (status, _) = post(&scanned(&image.png), &[("action", "decline")]);
    assert_eq!(status, 200, "the gateway's own picture leads to the payment's page");
}

fn scanned(png: &[u8]) -> String {
    let mut picture = rqrr::PreparedImage::prepare(image::load_from_memory(png).unwrap().to_luma8());
    picture.detect_grids()[0].decode().unwrap().1
}

#[tokio::test]
async fn status_queries_in_both_forms_and_languages() {
    for form in [StatusQueryForm::JsonBody, StatusQueryForm::QueryString] {
        let shop = Shop::open_with(|config| config.status_query = form);
        let created = shop.gateway.create_card_payment(card("order-1", "4111111111111111")).await.unwrap();
        let page = confirmation(&created.next_step);
        post(page, &[("action", "cancel")]);
        let number = created.payment.gateway_number.unwrap();
        let mut reasons = Vec::new();
        for language in [None, Some("en"), Some("ru"), Some("ky")] {
            let report = shop.gateway.payment_status(&number, language).await.unwrap();
            assert_eq!(report.status, PaymentStatus::Rejected, "{form:?}");
            reasons.push(report.reason.unwrap());
        }
        assert_eq!(reasons[0], reasons[1], "English is the sandbox's default");
        reasons.dedup();
        assert_eq!(reasons.len(), 3, "{reasons:?}");
        let unknown = shop.gateway.payment_status("order-1", None).await.unwrap_err();
        assert!(matches!(unknown, PaymentError::Refused { http_status: 404, .. }), "the merchant's number: {unknown}");
    }
}

#[tokio::test]
async fn wrong_credentials_and_refusal_return_kinds() {
    let shop = Shop::open_with(|config| {
        *config = config.clone().with_credentials(Credentials::basic("kassa", "wrong-password"))
    });
    let error = shop.gateway.create_card_payment(card("order-1", "4111111111111111")).await.unwrap_err();
    assert_eq!(error.kind(), "Unauthorized");
    let shop = Shop::open();
    let error = shop.gateway.create_card_payment(card("order-1", "4012888888881881")).await.unwrap_err();
    let PaymentError::Refused { http_status: 400, body, .. } = error else { panic!("{error}") };
    assert!(body.contains("pan"), "{body}");
    assert!(shop.sandbox.payments().is_empty());
}

/// Every operation, against a sandbox that answers in its other dialect.
#[tokio::test]
async fn dialect_file_teaches_the_other_dialect() {
    let dialect = Dialect::from_json(include_str!("../../../examples/sandbox-other-dialect.json")).unwrap();
    let options = SandboxOptions { acts_as: kassa_sandbox::Dialect::Other, ..SandboxOptions::default() };
    let shop = Shop::open_at(options, |config| *config = config.clone().with_dialect(dialect));

    let created = shop.gateway.create_card_payment(card("order-1", "4111111111111111")).await.unwrap();
    assert_eq!((created.amount.unwrap().to_string(), created.currency.as_deref()), ("100.10".to_owned(), Some("KGS")));
    assert!(created.payment.gateway_number.is_some());
    post(confirmation(&created.next_step), &[("otp", CARD_OTP)]);
    assert_eq!(shop.end(created.payment).await, "charged", "by the gateway's number");
    let declined = shop.gateway.create_card_payment(card("order-2", "4000000000002024")).await.unwrap();
    assert!(matches!(declined.next_step, NextStep::CheckStatus { status: Some(_), .. }));
    let report = shop.gateway.provider_status("order-2", Provider::Cards).await.unwrap();
    assert_eq!(report.status, PaymentStatus::Rejected);
    assert_eq!((report.code.as_deref(), report.reason.as_deref()), (Some("210"), Some("The payment was declined")));
    let unknown = shop.gateway.provider_status("order-9", Provider::Cards).await.unwrap_err();
    let PaymentError::Refused { http_status: 404, code, .. } = unknown else { panic!("{unknown}") };
    assert_eq!(code.as_deref(), Some("404"));

    let payment = changed(support::mbank_payment(), |it| {
        it.phone = "996555000101".into();
        it.order_number = "order-3".into();
    });
    let created = shop.gateway.create_mbank_payment(payment).await.unwrap();
    assert!(created.payment.gateway_number.is_some() && created.payment.confirm_identifier.is_some());
    shop.gateway.confirm_mbank_payment(&created.payment, "101101").await.unwrap();
    assert_eq!(shop.end(created.payment).await, "charged");

    let form = shop.gateway.create_pay_form(support::pay_form()).await.unwrap();
    assert!(form.pay_form_url.contains("/pay-form?token="));
    let image = shop.gateway.create_qr_image(support::qr_payment()).await.unwrap();
    let data = shop.gateway.create_qr_data(support::qr_payment()).await.unwrap();
    assert!(scanned(&image.png).contains("/qr?token="));
    post(&data.payload.unwrap(), &[("action", "approve")]);
    assert_eq!(shop.end(data.payment).await, "charged");
}

/// The sandbox answers in a dialect that the client does not know: what it could not read may have happened, and did.
#[tokio::test]
async fn unknown_dialect_is_an_unknown_outcome() {
    let shop = Shop::open();
    shop.sandbox.faults().add(kassa_sandbox::Fault::other_dialect().times(1)).unwrap();
    let error = shop.gateway.create_card_payment(card("order-1", "4000000000002016")).await.unwrap_err();
    let PaymentError::OutcomeUnknown { payment, .. } = error else { panic!("{error}") };
    assert_eq!(shop.end(*payment).await, "charged");
    assert_eq!(shop.sandbox.payment("order-1").unwrap().times_charged, 1);
}
