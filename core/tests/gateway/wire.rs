//! Wire format: the exact bytes of each request, written by hand from `docs/interface.md`.

use kassa::{
    Card, Credentials, Decimal, Dialect, Gateway, GatewayConfig, PaymentError, PaymentRef, Provider, QrPayment,
    StatusQueryForm,
};

use crate::support::{
    self, CVC, OTP, Op, PIN, Received, Server, card_payment, changed, mbank_payment, megapay_payment, pay_form,
    qr_payment,
};

/// Injection: values that break out of a path, a query, a header or a JSON string unless they are encoded. Each as it
/// is, as one value of a query, and as a JSON string.
const HOSTILE: &[(&str, &str, &str)] = &[
    ("..", "..", r#""..""#),
    ("../../admin", "..%2F..%2Fadmin", r#""../../admin""#),
    ("/etc/passwd?a=b", "%2Fetc%2Fpasswd%3Fa%3Db", r#""/etc/passwd?a=b""#),
    ("http://evil.example", "http%3A%2F%2Fevil.example", r#""http://evil.example""#),
    ("1&x=y", "1%26x%3Dy", r#""1&x=y""#),
    ("1;x=y", "1%3Bx%3Dy", r#""1;x=y""#),
    ("1#fragment", "1%23fragment", r##""1#fragment""##),
    ("%2e%2E%2f", "%252e%252E%252f", r#""%2e%2E%2f""#),
    ("%", "%25", r#""%""#),
    ("a b+c", "a%20b%2Bc", r#""a b+c""#),
    ("\"q\" 's' \\", "%22q%22%20%27s%27%20%5C", r#""\"q\" 's' \\""#),
    ("\",\"amount\":1,\"x\":\"", "%22%2C%22amount%22%3A1%2C%22x%22%3A%22", r#""\",\"amount\":1,\"x\":\"""#),
    ("<script>", "%3Cscript%3E", r#""<script>""#),
    ("a\r\nX-Evil: 1", "a%0D%0AX-Evil%3A%201", r#""a\r\nX-Evil: 1""#),
    ("a\tb", "a%09b", r#""a\tb""#),
    ("төлөм", "%D1%82%D3%A9%D0%BB%D3%A9%D0%BC", r#""төлөм""#),
    ("💳", "%F0%9F%92%B3", r#""💳""#),
    ("a\0b", "a%00b", r#""a\u0000b""#),
];

/// What one call puts on the wire. How the call ends does not matter here.
async fn sent<T>(call: impl AsyncFnOnce(Gateway) -> T) -> Received {
    sent_with(|_| {}, call).await
}

async fn sent_with<T>(configure: impl FnOnce(&mut GatewayConfig), call: impl AsyncFnOnce(Gateway) -> T) -> Received {
    let server = Server::responding(200, "{}");
    let mut config = server.config();
    configure(&mut config);
    call(Gateway::new(config).expect("the configuration works")).await;
    let received = server.received();
    <[Received; 1]>::try_from(received).map(|[only]| only).expect("exactly one request")
}

/// The table of endpoints (`docs/interface.md#endpoints`), with the identifiers that [`Op::run`] sends.
fn method_and_path(op: Op) -> (&'static str, &'static str) {
    match op {
        Op::CardPayment => ("POST", "/api/v1.1.0/payment"),
        Op::PaymentStatus => ("GET", "/api/v1.1.0/status"),
        Op::MbankPayment => ("POST", "/api/v1.1.0/mbank/pay"),
        Op::MbankConfirm => ("POST", "/api/v1.1.0/mbank/confirm"),
        Op::MegapayCheck => ("POST", "/api/v1.1.0/mega/check"),
        Op::MegapayPay => ("POST", "/api/v1.1.0/mega/pay"),
        Op::PayForm => ("POST", "/api/v1.1.0/pay-form"),
        Op::ProviderStatus => ("POST", "/api/v1.1.0/get-status"),
        Op::QrImage => ("POST", "/gen/qr/dynamic"),
        Op::QrData => ("POST", "/gen/qr/dynamic/data"),
        Op::QrStatus => ("GET", "/gen/qr/transaction/status?transaction_id=tx-1"),
    }
}

#[tokio::test]
async fn lines_and_bodies_are_those_of_the_interface() {
    let full_card = {
        let mut payment = card_payment();
        payment.return_url = Some("myshop://paid".into());
        payment.email = Some("aibek@example.kg".into());
        payment
    };
    let full_mbank = mbank_payment().with_callback_url("https://shop.example.kg/cb");
    let full_megapay = megapay_payment().with_callback_url("https://shop.example.kg/cb");
    let by_get = Dialect::from_json(r#"{"megapay": {"check_method": "GET"}}"#).unwrap();
    let full_qr =
        QrPayment::new(10010).with_requisite("996700000001, «Дүкөн»").with_callback_url("https://shop.example.kg/cb");
    let full_qr_body =
        r#"{"sum":10010,"requisite":"996700000001, «Дүкөн»","callback_url":"https://shop.example.kg/cb"}"#;
    let other_sum = changed(full_qr.clone(), |it| it.sum_tyiyn = Some(1));

    let cases = [
        (
            sent(async |gateway| gateway.create_card_payment(card_payment()).await).await,
            "POST /api/v1.1.0/payment HTTP/1.1",
            concat!(
                r#"{"orderNumber":"order-1","description":"Two tickets","amount":100.10,"currency":"KGS","#,
                r#""pan":"4111111111111111","expiryMonth":"08","expiryYear":2031,"cvc":"737","#,
                r#""language":"ky","name":"Aibek Usenov","callbackUrl":"https://shop.example.kg/cb","#,
                r#""ip":"203.0.113.7"}"#
            ),
        ),
        (
            sent(async |gateway| gateway.create_card_payment(full_card).await).await,
            "POST /api/v1.1.0/payment HTTP/1.1",
            concat!(
                r#"{"orderNumber":"order-1","description":"Two tickets","amount":100.10,"currency":"KGS","#,
                r#""pan":"4111111111111111","expiryMonth":"08","expiryYear":2031,"cvc":"737","#,
                r#""language":"ky","name":"Aibek Usenov","returnUrl":"myshop://paid","#,
                r#""callbackUrl":"https://shop.example.kg/cb","ip":"203.0.113.7","#,
                r#""email":"aibek@example.kg"}"#
            ),
        ),
        (
            sent(async |gateway| gateway.payment_status("gw-1", None).await).await,
            "GET /api/v1.1.0/status HTTP/1.1",
            r#"{"orderNumber":"gw-1"}"#,
        ),
        (
            sent(async |gateway| gateway.payment_status("gw-1", Some("ky")).await).await,
            "GET /api/v1.1.0/status HTTP/1.1",
            r#"{"orderNumber":"gw-1","language":"ky"}"#,
        ),
        (
            sent(async |gateway| gateway.create_mbank_payment(mbank_payment()).await).await,
            "POST /api/v1.1.0/mbank/pay HTTP/1.1",
            r#"{"orderNumber":"order-2","phone":"996700000001","amount":250,"comment":"Tea"}"#,
        ),
        (
            sent(async |gateway| gateway.create_mbank_payment(full_mbank).await).await,
            "POST /api/v1.1.0/mbank/pay HTTP/1.1",
            concat!(
                r#"{"orderNumber":"order-2","phone":"996700000001","amount":250,"comment":"Tea","#,
                r#""callbackUrl":"https://shop.example.kg/cb"}"#
            ),
        ),
        (
            sent(async |gateway| gateway.confirm_mbank_payment(&PaymentRef::mbank("order-2", 250), OTP).await).await,
            "POST /api/v1.1.0/mbank/confirm HTTP/1.1",
            r#"{"orderNumber":"order-2","otp":"918273"}"#,
        ),
        (
            sent(async |gateway| gateway.check_megapay(full_megapay.clone()).await).await,
            "POST /api/v1.1.0/mega/check HTTP/1.1",
            r#"{"orderNumber":"order-3","user":"996700000001","account":"17","amount":250.50}"#,
        ),
        (
            sent_with(
                |config| *config = config.clone().with_dialect(by_get),
                async |gateway| gateway.check_megapay(megapay_payment()).await,
            )
            .await,
            "GET /api/v1.1.0/mega/check?orderNumber=order-3&user=996700000001&account=17&amount=250.50 HTTP/1.1",
            "",
        ),
        (
            sent(async |gateway| gateway.pay_by_megapay(megapay_payment(), "604-137").await).await,
            "POST /api/v1.1.0/mega/pay HTTP/1.1",
            r#"{"orderNumber":"order-3","user":"996700000001","account":"17","amount":250.50,"pinCode":"604137"}"#,
        ),
        (
            sent(async |gateway| gateway.pay_by_megapay(full_megapay, PIN).await).await,
            "POST /api/v1.1.0/mega/pay HTTP/1.1",
            concat!(
                r#"{"orderNumber":"order-3","user":"996700000001","account":"17","amount":250.50,"pinCode":"604137","#,
                r#""callbackUrl":"https://shop.example.kg/cb"}"#
            ),
        ),
        (
            sent(async |gateway| gateway.create_pay_form(pay_form()).await).await,
            "POST /api/v1.1.0/pay-form HTTP/1.1",
            concat!(
                r#"{"amount":5,"serviceName":"Shop","callbackURL":"https://shop.example.kg/cb?ref=17","#,
                r#""returnURL":"https://shop.example.kg/back"}"#
            ),
        ),
        (
            sent(async |gateway| gateway.provider_status("order-1", Provider::Cards).await).await,
            "POST /api/v1.1.0/get-status HTTP/1.1",
            r#"{"orderNumber":"order-1","provider":"Cards"}"#,
        ),
        (
            sent(async |gateway| gateway.provider_status("order-1", Provider::MegaPay).await).await,
            "POST /api/v1.1.0/get-status HTTP/1.1",
            r#"{"orderNumber":"order-1","provider":"MegaPay"}"#,
        ),
        (
            sent(async |gateway| gateway.provider_status("order-1", Provider::MBank).await).await,
            "POST /api/v1.1.0/get-status HTTP/1.1",
            r#"{"orderNumber":"order-1","provider":"MBank"}"#,
        ),
        (
            sent(async |gateway| gateway.create_qr_image(qr_payment()).await).await,
            "POST /gen/qr/dynamic HTTP/1.1",
            r#"{"sum":10010}"#,
        ),
        (
            sent(async |gateway| gateway.create_qr_image(full_qr.clone()).await).await,
            "POST /gen/qr/dynamic HTTP/1.1",
            full_qr_body,
        ),
        (
            sent(async |gateway| gateway.create_qr_data(QrPayment::of_open_amount()).await).await,
            "POST /gen/qr/dynamic/data HTTP/1.1",
            "{}",
        ),
        (
            sent(async |gateway| gateway.create_qr_data(full_qr).await).await,
            "POST /gen/qr/dynamic/data HTTP/1.1",
            full_qr_body,
        ),
        (
            sent(async |gateway| gateway.create_qr_data(other_sum).await).await,
            "POST /gen/qr/dynamic/data HTTP/1.1",
            r#"{"sum":1,"requisite":"996700000001, «Дүкөн»","callback_url":"https://shop.example.kg/cb"}"#,
        ),
        (
            sent(async |gateway| gateway.qr_status("tx-1").await).await,
            "GET /gen/qr/transaction/status?transaction_id=tx-1 HTTP/1.1",
            "",
        ),
    ];
    for (request, line, body) in cases {
        assert_eq!((request.line.as_str(), request.body.as_str()), (line, body));
    }
}

#[tokio::test]
async fn headers_are_these_and_no_others() {
    for op in Op::all() {
        let request = sent(async |gateway| op.run(&gateway).await).await;
        let (method, path) = method_and_path(op);
        assert_eq!(request.line, format!("{method} {path} HTTP/1.1"), "{op:?}");

        let length = request.body.len().to_string();
        let has_body = op != Op::QrStatus;
        for (name, value) in [
            ("authorization", Some("Basic c2hvcDpzd29yZGZpc2gtNzc=")),
            ("user-agent", Some(concat!("kassa/", env!("CARGO_PKG_VERSION")))),
            ("content-type", has_body.then_some("application/json")),
            ("content-length", has_body.then_some(length.as_str())),
        ] {
            assert_eq!(request.header(name), value, "{op:?}: {name}");
        }
        let mut names: Vec<_> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let known = [
            "accept",
            "accept-encoding",
            "authorization",
            "cache-control",
            "content-length",
            "content-type",
            "host",
            "user-agent",
        ];
        let expected: Vec<_> = known.into_iter().filter(|name| has_body || !name.starts_with("content")).collect();
        assert_eq!(names, expected, "{op:?}: the headers' names");
    }
}

/// `Accept` must allow more than JSON, because the QR image is none: a gateway that obeys the header would refuse with
/// 406. Cache-Control: a status query has its order in the body, where caches do not look.
#[tokio::test]
async fn nothing_may_be_answered_from_a_cache() {
    for op in Op::all() {
        let server = Server::responding(200, &op.success_body());
        op.run(&server.gateway()).await.unwrap();
        assert_eq!(server.received()[0].header("cache-control"), Some("no-store"), "{op:?}");
    }
}

#[tokio::test]
async fn response_of_any_type_is_accepted() {
    for op in Op::all() {
        let request = sent(async |gateway| op.run(&gateway).await).await;
        let accept = request.header("accept").unwrap_or("*/*");
        assert!(accept.contains("*/*"), "{op:?}: {accept}");
    }
}

#[tokio::test]
async fn host_is_the_one_of_the_base_url() {
    let server = Server::responding(200, "{}");
    let port = server.address.port();
    for (base_url, host) in [
        (format!("http://127.0.0.1:{port}"), format!("127.0.0.1:{port}")),
        (format!("HTTP://LocalHost:{port}/pay"), format!("localhost:{port}")),
    ] {
        let gateway = Gateway::new(changed(server.config(), |it| it.base_url = base_url)).unwrap();
        let _ = gateway.qr_status("tx-1").await;
        assert_eq!(server.received().last().unwrap().header("host"), Some(host.as_str()));
    }
}

#[tokio::test]
async fn credentials_travel_in_utf8() {
    for (login, password, token) in
        [("дүкөн", "сыр-сөз", "0LTSr9C606nQvTrRgdGL0YAt0YHTqdC3"), ("shop", "a:b \"c\" ☕", "c2hvcDphOmIgImMiIOKYlQ==")]
    {
        for op in [Op::CardPayment, Op::QrStatus] {
            let credentials = Credentials::basic(login, password);
            let configure = |config: &mut GatewayConfig| *config = config.clone().with_credentials(credentials);
            let request = sent_with(configure, async |gateway| op.run(&gateway).await).await;
            assert_eq!(request.header("authorization"), Some(format!("Basic {token}").as_str()), "{login}, {op:?}");
        }
    }
}

#[tokio::test]
async fn user_agent_ends_in_the_suffix() {
    for op in [Op::CardPayment, Op::PaymentStatus] {
        let configure = |config: &mut GatewayConfig| config.user_agent_suffix = Some("my-shop/1.2 (kg)".into());
        let request = sent_with(configure, async |gateway| op.run(&gateway).await).await;
        let expected = concat!("kassa/", env!("CARGO_PKG_VERSION"), " my-shop/1.2 (kg)");
        assert_eq!(request.header("user-agent"), Some(expected), "{op:?}");
    }
    for suffix in ["a\r\nX-Evil: 1", "a\nb", "a\0b"] {
        let server = Server::responding(200, "{}");
        let config = server.config().with_user_agent_suffix(suffix);
        assert!(matches!(Gateway::new(config), Err(PaymentError::Misconfigured { .. })), "{suffix:?}");
    }
}

#[tokio::test]
async fn base_url_prefix_precedes_every_path() {
    for (suffix, prefix) in
        [("/", ""), ("/acquiring/v2", "/acquiring/v2"), ("/acquiring/v2/", "/acquiring/v2"), ("/a%20b;c", "/a%20b;c")]
    {
        for op in Op::all() {
            let configure = |config: &mut GatewayConfig| config.base_url.push_str(suffix);
            let request = sent_with(configure, async |gateway| op.run(&gateway).await).await;
            let (method, path) = method_and_path(op);
            assert_eq!(request.line, format!("{method} {prefix}{path} HTTP/1.1"), "{op:?} under {suffix}");
        }
    }
}

#[tokio::test]
async fn status_query_can_travel_as_a_query_string() {
    for (language, line) in [
        (None, "GET /api/v1.1.0/status?orderNumber=gw-1 HTTP/1.1"),
        (Some("ky"), "GET /api/v1.1.0/status?orderNumber=gw-1&language=ky HTTP/1.1"),
        (Some("&="), "GET /api/v1.1.0/status?orderNumber=gw-1&language=%26%3D HTTP/1.1"),
    ] {
        let configure = |config: &mut GatewayConfig| config.status_query = StatusQueryForm::QueryString;
        let request = sent_with(configure, async |gateway| gateway.payment_status("gw-1", language).await).await;
        assert_eq!((request.line.as_str(), request.body.as_str()), (line, ""));
        assert_eq!(request.header("content-type"), None, "{line}");
        assert_eq!(request.header("content-length"), None, "{line}");
    }
}

#[tokio::test]
async fn hostile_values_stay_one_value_of_a_query() {
    for &(value, encoded, _) in HOSTILE {
        let request = sent(async |gateway| gateway.qr_status(value).await).await;
        let line = format!("GET /gen/qr/transaction/status?transaction_id={encoded} HTTP/1.1");
        assert_eq!((request.line.as_str(), request.header("x-evil")), (line.as_str(), None), "{value:?}");
        assert_eq!(request.body, "", "{value:?}");

        let configure = |config: &mut GatewayConfig| config.status_query = StatusQueryForm::QueryString;
        let request = sent_with(configure, async |gateway| gateway.payment_status(value, Some("en")).await).await;
        assert_eq!(
            request.line,
            format!("GET /api/v1.1.0/status?orderNumber={encoded}&language=en HTTP/1.1"),
            "{value:?}"
        );
    }
}

#[tokio::test]
async fn hostile_values_stay_one_json_string() {
    for &(value, _, json) in HOSTILE {
        let card = {
            let payment = card_payment().with_card(Card::new(support::PAN, "08", 2031, CVC, value)).with_email(value);
            changed(payment, |it| it.order_number = value.into())
        };
        let mbank = changed(mbank_payment(), |it| {
            it.order_number = value.into();
            it.comment = value.into();
        });
        let qr = qr_payment().with_requisite(value);
        let cases = [
            (
                Op::CardPayment,
                sent(async |gateway| gateway.create_card_payment(card).await).await,
                format!(r#"{{"orderNumber":{json},"description":"Two tickets","amount":100.10,"currency":"KGS","#)
                    + r#""pan":"4111111111111111","expiryMonth":"08","expiryYear":2031,"cvc":"737","language":"ky","#
                    + &format!(r#""name":{json},"callbackUrl":"https://shop.example.kg/cb","ip":"203.0.113.7","#)
                    + &format!(r#""email":{json}}}"#),
            ),
            (
                Op::MbankPayment,
                sent(async |gateway| gateway.create_mbank_payment(mbank).await).await,
                format!(r#"{{"orderNumber":{json},"phone":"996700000001","amount":250,"comment":{json}}}"#),
            ),
            (
                Op::MbankConfirm,
                sent(async |gateway| gateway.confirm_mbank_payment(&PaymentRef::mbank(value, 250), OTP).await).await,
                format!(r#"{{"orderNumber":{json},"otp":"918273"}}"#),
            ),
            (
                Op::PaymentStatus,
                sent(async |gateway| gateway.payment_status(value, None).await).await,
                format!(r#"{{"orderNumber":{json}}}"#),
            ),
            (
                Op::ProviderStatus,
                sent(async |gateway| gateway.provider_status(value, Provider::Cards).await).await,
                format!(r#"{{"orderNumber":{json},"provider":"Cards"}}"#),
            ),
            (
                Op::QrImage,
                sent(async |gateway| gateway.create_qr_image(qr).await).await,
                format!(r#"{{"sum":10010,"requisite":{json}}}"#),
            ),
        ];
        for (op, request, body) in cases {
            let (method, path) = method_and_path(op);
            assert_eq!(request.line, format!("{method} {path} HTTP/1.1"), "{op:?} with {value:?}");
            assert_eq!(request.body, body, "{op:?} with {value:?}");
            assert_eq!(request.header("x-evil"), None, "{op:?} with {value:?}");
        }
    }
}

#[tokio::test]
async fn card_number_is_sent_as_digits() {
    for typed in ["4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", " 4111\u{a0}1111\t1111--1111\r\n"] {
        let payment = card_payment().with_card(Card::new(typed, "01", 2030, "000", "A B"));
        let request = sent(async |gateway| gateway.create_card_payment(payment).await).await;
        let fields = r#""pan":"4111111111111111","expiryMonth":"01","expiryYear":2030,"cvc":"000""#;
        assert!(request.body.contains(fields), "{typed:?}: {}", request.body);
    }
}

#[tokio::test]
async fn decimal_amounts_are_sent_digit_for_digit() {
    for text in [
        "1",
        "1.0",
        "1.00",
        "1.0000000000000000000000000000",
        "5.000",
        "100.10",
        "100.1",
        "1000000",
        "9007199254740993",
        "12345678901234567890123456.78",
        "79228162514264337593543950335",
        "792281625142643375935439503.35",
    ] {
        let amount: Decimal = text.parse().unwrap();
        let mut card = card_payment();
        card.amount = amount;
        let request = sent(async |gateway| gateway.create_card_payment(card).await).await;
        assert!(request.body.contains(&format!(r#""amount":{text},"currency""#)), "card: {}", request.body);

        let mut form = pay_form();
        form.amount = amount;
        let request = sent(async |gateway| gateway.create_pay_form(form).await).await;
        assert!(request.body.starts_with(&format!(r#"{{"amount":{text},"serviceName""#)), "form: {}", request.body);
    }
}

#[tokio::test]
async fn whole_amounts_are_sent_as_integers() {
    for amount in [1, 250, 9_007_199_254_740_993, i64::MAX] {
        let mbank = changed(mbank_payment(), |it| it.amount_som = amount);
        let request = sent(async |gateway| gateway.create_mbank_payment(mbank).await).await;
        assert!(request.body.contains(&format!(r#""amount":{amount},"comment""#)), "mbank: {}", request.body);

        let qr = QrPayment::new(amount);
        let request = sent(async |gateway| gateway.create_qr_image(qr).await).await;
        assert_eq!(request.body, format!(r#"{{"sum":{amount}}}"#), "QR");
    }
}

#[tokio::test]
async fn confirmation_sends_identifier_of_dialect() {
    for (field, identifier, body) in [
        ("paymentId", Some(r#""id-7""#), r#"{"orderNumber":"order-2","otp":"918273","paymentId":"id-7"}"#),
        ("paymentId", None, r#"{"orderNumber":"order-2","otp":"918273"}"#),
        ("paymentId", Some("7100"), r#"{"orderNumber":"order-2","otp":"918273","paymentId":7100}"#),
        ("orderNumber", Some(r#""id-7""#), r#"{"orderNumber":"id-7","otp":"918273"}"#),
        ("orderNumber", None, r#"{"orderNumber":"order-2","otp":"918273"}"#),
        ("id", Some(r#""7\",\"otp\":\"1""#), r#"{"orderNumber":"order-2","otp":"918273","id":"7\",\"otp\":\"1"}"#),
    ] {
        let dialect = format!(r#"{{"mbank_identifier":{{"pointers":["/data/id"],"confirm_field":"{field}"}}}}"#);
        let dialect = Dialect::from_json(&dialect).unwrap();
        let configure = |config: &mut GatewayConfig| *config = config.clone().with_dialect(dialect);
        let payment =
            changed(PaymentRef::mbank("order-2", 250), |it| it.confirm_identifier = identifier.map(Into::into));
        let call = async |gateway: Gateway| gateway.confirm_mbank_payment(&payment, OTP).await;
        assert_eq!(sent_with(configure, call).await.body, body);
    }
}
