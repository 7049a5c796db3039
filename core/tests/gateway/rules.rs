//! Input validation: the rules of the request tables in `docs/interface.md`. Each passes at its limit and fails past
//! it, and nothing invalid is sent.

use std::{collections::HashSet, thread};

use kassa::{
    AdviceTopic, Card, CardPayment, Dialect, Gateway, GatewayConfig, MbankPayment, MegapayPayment, PayForm,
    PaymentError, PaymentRef, Provider, QrPayment, Rule, Violation, new_order_number,
};

use crate::support::{CVC, PAN, Server, card_payment, changed, mbank_payment, megapay_payment, pay_form, qr_payment};

const REQUIRED: Broken = (Rule::Required, None);
const MINIMUM: Broken = (Rule::Minimum, Some("1"));
const HTTP_URL: Broken = (Rule::HttpUrl, None);
const RETURN_URI: Broken = (Rule::ReturnUri, None);
const IP_ADDRESS: Broken = (Rule::IpAddress, None);
const MONTH: Broken = (Rule::Month, Some("01 to 12"));
const PAN_LENGTH: Broken = (Rule::Length, Some("13 to 20"));
const DIGITS: Broken = (Rule::Digits, None);
const PHONE: Broken = (Rule::Format, Some("9 to 15"));
const FORM: Broken = (Rule::Format, None);

/// More decimals than the currency has.
const fn decimals(limit: &'static str) -> Broken {
    (Rule::Exact, Some(limit))
}

const fn length(limit: &'static str) -> Broken {
    (Rule::Length, Some(limit))
}

/// A rule and its limit.
type Broken = (Rule, Option<&'static str>);

/// What one field of a request takes, and what it does not.
struct Field<R> {
    /// As the interface spells it.
    name: &'static str,
    set: fn(&mut R, &str),
    passes: Vec<&'static str>,
    fails: Vec<(&'static str, Broken)>,
}

fn field<R, const P: usize, const F: usize>(
    name: &'static str,
    set: fn(&mut R, &str),
    passes: [&'static str; P],
    fails: [(&'static str, Broken); F],
) -> Field<R> {
    Field { name, set, passes: passes.into(), fails: fails.into() }
}

/// A server for what is valid and one that nothing may reach.
struct Bench {
    reached: Server,
    unreached: Server,
    configure: fn(&mut GatewayConfig),
}

impl Bench {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(configure: fn(&mut GatewayConfig)) -> Self {
        Self { reached: Server::responding(200, "{}"), unreached: Server::responding(200, "{}"), configure }
    }

    fn gateway(&self, server: &Server) -> Gateway {
        let mut config = server.config();
        (self.configure)(&mut config);
        Gateway::new(config).unwrap()
    }

    /// Every value of every field, each in a request that is valid otherwise.
    async fn run<R>(
        self,
        valid: impl Fn() -> R,
        call: impl AsyncFn(Gateway, R) -> Option<PaymentError>,
        fields: &[Field<R>],
    ) {
        let changed = |field: &Field<R>, value: &str| {
            let mut request = valid();
            (field.set)(&mut request, value);
            request
        };
        for field in fields {
            for value in &field.passes {
                let before = self.reached.received().len();
                let error = call(self.gateway(&self.reached), changed(field, value)).await;
                let case = format!("{} {value:?}: {error:?}", field.name);
                assert!(!matches!(error, Some(PaymentError::Invalid { .. })), "must pass: {case}");
                assert_eq!(self.reached.received().len(), before + 1, "must be sent: {case}");
            }
            for (value, broken) in &field.fails {
                let error = call(self.gateway(&self.unreached), changed(field, value)).await;
                let case = format!("{} {value:?}", field.name);
                assert_eq!(summary(&violations(error.as_ref(), &case)), [(field.name, *broken)], "{case}");
                assert_not_shown(error.as_ref(), value, &case);
            }
        }
        self.nothing_was_sent(async |gateway| drop(call(gateway, valid()).await)).await;
    }

    /// The server takes connections in order, so whatever came before this call would be ahead of it.
    async fn nothing_was_sent(self, valid_call: impl AsyncFnOnce(Gateway)) {
        assert_eq!((self.unreached.connections(), self.unreached.received().len()), (0, 0));
        valid_call(self.gateway(&self.unreached)).await;
        let received = self.unreached.received();
        assert_eq!(received.len(), 1, "only what is valid is sent");
        assert_eq!(received[0].connection, 0, "no connection was made for what is invalid");
    }
}

/// The violations of an error, each of which must name its field.
fn violations(error: Option<&PaymentError>, case: &str) -> Vec<Violation> {
    let Some(PaymentError::Invalid { violations, .. }) = error else { panic!("{case}: not Invalid but {error:?}") };
    for violation in violations {
        assert!(violation.text.starts_with(&format!("{} ", violation.field)), "{case}: {violation:?}");
        assert_eq!(violation.to_string(), violation.text, "{case}");
        assert!(error.unwrap().to_string().contains(&violation.text), "{case}: the error says what is wrong");
    }
    violations.clone()
}

fn summary(violations: &[Violation]) -> Vec<(&str, (Rule, Option<&str>))> {
    violations.iter().map(|known| (known.field.as_str(), (known.rule, known.limit.as_deref()))).collect()
}

/// No value is printed, except for a single character, which may well stand in the sentence by chance.
fn assert_not_shown(error: Option<&PaymentError>, value: &str, case: &str) {
    let shown = format!("{0} {0:?}", error.unwrap());
    for form in [value, value.trim(), &value.replace([' ', '-'], "")] {
        assert!(form.chars().count() < 2 || form.trim().is_empty() || !shown.contains(form), "{case}: {shown}");
    }
}

/// Replaces one part of the card.
fn set_card(payment: &mut CardPayment, change: impl FnOnce(&mut CardParts)) {
    let mut parts =
        CardParts { pan: PAN.into(), month: "08".into(), year: 2031, cvc: CVC.into(), name: "Aibek Usenov".into() };
    change(&mut parts);
    let card = Card::new(parts.pan, parts.month, parts.year, parts.cvc, parts.name);
    *payment = payment.clone().with_card(card);
}

struct CardParts {
    pan: String,
    month: String,
    year: i32,
    cvc: String,
    name: String,
}

async fn pay_by_card(gateway: Gateway, payment: CardPayment) -> Option<PaymentError> {
    gateway.create_card_payment(payment).await.err()
}

async fn pay_by_mbank(gateway: Gateway, payment: MbankPayment) -> Option<PaymentError> {
    gateway.create_mbank_payment(payment).await.err()
}

async fn make_pay_form(gateway: Gateway, form: PayForm) -> Option<PaymentError> {
    gateway.create_pay_form(form).await.err()
}

async fn make_qr_image(gateway: Gateway, payment: QrPayment) -> Option<PaymentError> {
    gateway.create_qr_image(payment).await.err()
}

async fn make_qr_data(gateway: Gateway, payment: QrPayment) -> Option<PaymentError> {
    gateway.create_qr_data(payment).await.err()
}

/// The order number, and whatever second argument the call has.
type Pair = (String, Option<String>);

fn first(pair: &mut Pair, value: &str) {
    pair.0 = value.into();
}

fn second(pair: &mut Pair, value: &str) {
    pair.1 = Some(value.into());
}

/// A text that must be given; what is in it is free.
fn text<R>(name: &'static str, set: fn(&mut R, &str)) -> Field<R> {
    field(name, set, ["1", "ж", "Эки билет, ☕ \"1\"\n"], [("", REQUIRED), (" \t\u{a0}\n", REQUIRED)])
}

fn callback_url<R>(name: &'static str, set: fn(&mut R, &str)) -> Field<R> {
    field(
        name,
        set,
        [
            "https://shop.example.kg/cb?ref=17&x=%20#there",
            "http://shop.example.kg",
            "HTTPS://SHOP.EXAMPLE.KG/",
            "http://127.0.0.1:8400/cb",
            "https://[2001:db8::1]/cb",
            "https://дүкөн.kg/төлөм",
        ],
        [
            ("", REQUIRED),
            ("  ", REQUIRED),
            ("shop.example.kg/cb", HTTP_URL),
            ("/callbacks", HTTP_URL),
            ("//shop.example.kg/cb", HTTP_URL),
            ("ftp://shop.example.kg/cb", HTTP_URL),
            ("myshop://callbacks", HTTP_URL),
            ("mailto:aibek@example.kg", HTTP_URL),
            ("javascript:alert(1)", HTTP_URL),
            ("https://", HTTP_URL),
            ("https://?ref=17", HTTP_URL),
            ("https://shop.example.kg:99999/", HTTP_URL),
            ("https://shop example.kg/cb", HTTP_URL),
            ("https://shop.example.kg/c b", HTTP_URL),
            (" https://shop.example.kg/cb", HTTP_URL),
            ("https://shop.example.kg/cb\n", HTTP_URL),
            ("ht\ntps://shop.example.kg/cb", HTTP_URL),
            // A browser's URL parser repairs these; the gateway's need not.
            ("https:shop.example.kg/cb", HTTP_URL),
            ("https:shop.example.kg/?to=https://shop.example.kg", HTTP_URL),
            ("https:/shop.example.kg/cb", HTTP_URL),
            ("https:///shop.example.kg/cb", HTTP_URL),
            ("https:\\\\shop.example.kg\\cb", HTTP_URL),
            ("https://shop.example.kg\\@evil.example/cb", HTTP_URL),
        ],
    )
}

fn return_url<R>(name: &'static str, set: fn(&mut R, &str)) -> Field<R> {
    field(
        name,
        set,
        [
            "https://shop.example.kg/back?cart=17#paid",
            "http://shop.example.kg",
            "myshop://paid",
            "myshop://paid?cart=17",
            "kg.example.shop:/paid",
            "myshop:paid",
            "intent://paid#Intent;scheme=myshop;package=kg.example.shop;end",
            "ms-shop://paid",
            "javascript-shop://paid",
        ],
        [
            ("", REQUIRED),
            (" ", REQUIRED),
            ("paid", RETURN_URI),
            ("/paid", RETURN_URI),
            ("//shop.example.kg/paid", RETURN_URI),
            ("1shop://paid", RETURN_URI),
            ("https://", RETURN_URI),
            ("https:/shop.example.kg/paid", RETURN_URI),
            ("myshop://pa id", RETURN_URI),
            (" myshop://paid", RETURN_URI),
            ("javascript:alert(1)", RETURN_URI),
            ("JavaScript:alert(1)", RETURN_URI),
            ("java\nscript:alert(1)", RETURN_URI),
            ("\u{1}javascript:alert(1)", RETURN_URI),
            ("javascript://shop.example.kg/%0aalert(1)", RETURN_URI),
            ("data:text/html,paid", RETURN_URI),
            ("DATA:,paid", RETURN_URI),
            ("file:///etc/passwd", RETURN_URI),
            ("File:/etc/passwd", RETURN_URI),
            ("vbscript:msgbox(1)", RETURN_URI),
            ("VBScript:msgbox(1)", RETURN_URI),
            ("vb\tscript:msgbox(1)", RETURN_URI),
            ("blob:https://shop.example.kg/1", RETURN_URI),
            ("about:blank", RETURN_URI),
            ("filesystem:https://shop.example.kg/temporary/1", RETURN_URI),
            ("view-source:https://shop.example.kg/paid", RETURN_URI),
            ("content://media/external/file/1", RETURN_URI),
            ("jar:file:///app.jar!/paid", RETURN_URI),
            ("mhtml:https://shop.example.kg/paid", RETURN_URI),
            ("ms-appdata:///local/paid.html", RETURN_URI),
            ("ms-appx:///paid.html", RETURN_URI),
            ("ms-appx-web:///paid.html", RETURN_URI),
            ("ms-its:help.chm::/paid.htm", RETURN_URI),
            ("ms-msdt:/id", RETURN_URI),
            ("Search-MS:query=paid", RETURN_URI),
        ],
    )
}

/// Characters are counted, not bytes: two Cyrillic letters are four bytes, and one is two.
fn language<R>(set: fn(&mut R, &str)) -> Field<R> {
    let two = length("2");
    let fails = [("", REQUIRED), ("  ", REQUIRED), ("k", two), ("kyr", two), ("к", two), ("кыр", two), ("😀", two)];
    field("language", set, ["ky", "EN", "кы"], fails)
}

fn decimal_amount<R>(set: fn(&mut R, &str)) -> Field<R> {
    field(
        "amount",
        set,
        // Zeros at the end are no decimals.
        ["1", "1.00", "1.01", "100.100", "1.0000000000000000000000000000", "79228162514264337593543950335"],
        [
            ("1.001", decimals("2")),
            // 100.1 as a float.
            ("100.10000000000000142", decimals("2")),
            ("1.0000000000000000000000000001", decimals("2")),
            ("0.99", MINIMUM),
            ("0", MINIMUM),
            ("-0.00", MINIMUM),
            ("-100.10", MINIMUM),
        ],
    )
}

fn decimal(value: &str) -> kassa::Decimal {
    value.parse().unwrap()
}

#[tokio::test]
async fn card_payment_rules() {
    let fields: [Field<CardPayment>; 14] = [
        text("orderNumber", |payment, value| payment.order_number = value.into()),
        text("description", |payment, value| payment.description = value.into()),
        decimal_amount(|payment, value| payment.amount = decimal(value)),
        field(
            "currency",
            |payment, value| payment.currency = value.into(),
            ["KGS", "usd"],
            [
                ("", REQUIRED),
                ("KG", length("3")),
                ("KGSS", length("3")),
                ("сC", length("3")),
                ("417", (Rule::Letters, None)),
                ("K S", (Rule::Letters, None)),
                ("сом", (Rule::Letters, None)),
            ],
        ),
        field(
            "pan",
            |payment, value| set_card(payment, |card| card.pan = value.into()),
            [
                "4111111111111",
                "41111111111111111111",
                "4111-1111 1111-1",
                "4111 1111 1111 1111 1111",
                // The check digit is wrong, but `check_luhn` is off.
                "4111111111111112",
            ],
            [
                ("", REQUIRED),
                (" - ", REQUIRED),
                ("411111111111", PAN_LENGTH),
                ("4111 1111-1111", PAN_LENGTH),
                ("411111111111111111111", PAN_LENGTH),
                ("4111-1111-1111-1111-11111", PAN_LENGTH),
                ("4111x11111111111", DIGITS),
                ("4111.1111.1111.1111", DIGITS),
                ("+41111111111111", DIGITS),
                // Twenty characters in forty bytes, and digits of another script.
                ("жжжжжжжжжжжжжжжжжжжж", DIGITS),
                ("٤١١١١١١١١١١١١١١١", DIGITS),
            ],
        ),
        field(
            "expiryMonth",
            |payment, value| set_card(payment, |card| card.month = value.into()),
            ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"],
            [
                ("", REQUIRED),
                ("00", MONTH),
                ("13", MONTH),
                ("99", MONTH),
                ("+8", MONTH),
                (" 8", MONTH),
                ("0x", MONTH),
                ("٠٨", MONTH),
                ("8", length("2")),
                ("008", length("2")),
                ("ж", length("2")),
            ],
        ),
        field(
            "expiryYear",
            |payment, value| set_card(payment, |card| card.year = value.parse().unwrap()),
            ["1000", "2031", "9999"],
            [
                ("999", length("4")),
                ("10000", length("4")),
                ("31", length("4")),
                ("0", length("4")),
                ("-2031", length("4")),
                ("2147483647", length("4")),
            ],
        ),
        field(
            "cvc",
            |payment, value| set_card(payment, |card| card.cvc = value.into()),
            ["000", "999", "жжж"],
            [("", REQUIRED), ("   ", REQUIRED), ("91", length("3")), ("9182", length("3")), ("жж", length("3"))],
        ),
        language(|payment, value| payment.language = value.into()),
        text("name", |payment, value| set_card(payment, |card| card.name = value.into())),
        return_url("returnUrl", |payment, value| payment.return_url = Some(value.into())),
        callback_url("callbackUrl", |payment, value| payment.callback_url = value.into()),
        field(
            "ip",
            |payment, value| payment.ip = value.into(),
            ["0.0.0.0", "255.255.255.255", "::1", "2001:DB8::7", "::ffff:203.0.113.7"],
            [
                ("", REQUIRED),
                ("256.0.0.1", IP_ADDRESS),
                ("203.0.113", IP_ADDRESS),
                ("203.0.113.7:443", IP_ADDRESS),
                ("203.0.113.7 ", IP_ADDRESS),
                ("203.0.113.07", IP_ADDRESS),
                ("2001:db8:::7", IP_ADDRESS),
                ("[::1]", IP_ADDRESS),
                ("fe80::1%eth0", IP_ADDRESS),
                ("payer.example.kg", IP_ADDRESS),
            ],
        ),
        field("email", |payment, value| payment.email = Some(value.into()), ["aibek@example.kg", "any text"], []),
    ];
    Bench::new().run(card_payment, pay_by_card, &fields).await;
}

/// The decimals that an amount may have are those of its currency.
#[tokio::test]
async fn each_currency_has_its_own_decimals() {
    let set: fn(&mut CardPayment, &str) = |payment, value| payment.amount = decimal(value);
    for (currency, amount) in [
        ("JPY", field("amount", set, ["1", "100.0"], [("1.5", decimals("0"))])),
        ("kwd", field("amount", set, ["1.005", "1.0050"], [("1.0005", decimals("3"))])),
        ("CLF", field("amount", set, ["1.0005", "1.00050"], [("1.00005", decimals("4"))])),
        ("ZZZ", field("amount", set, ["1.01", "1.010"], [("1.001", decimals("2"))])),
    ] {
        let valid = || {
            changed(card_payment(), |it| {
                it.amount = decimal("1");
                it.currency = currency.into();
            })
        };
        Bench::new().run(valid, pay_by_card, &[amount]).await;
    }
}

#[tokio::test]
async fn mbank_payment_rules() {
    let fields: [Field<MbankPayment>; 5] = [
        text("orderNumber", |payment, value| payment.order_number = value.into()),
        field(
            "phone",
            |payment, value| payment.phone = value.into(),
            ["996700000001", "+996 (700) 00-00-01", "0700 000 001\n", "٧٠٠٠٠٠٠٠١", "123456789012345"],
            [
                ("", REQUIRED),
                (" \t\u{a0}\n", REQUIRED),
                ("abc", PHONE),
                ("ж", PHONE),
                ("+ ()-", PHONE),
                ("70000001", PHONE),
                ("9967000000010000", PHONE),
                ("99670000000x", PHONE),
                ("996+700000001", PHONE),
                ("0700\n000001", PHONE),
                ("7000000012", PHONE),
            ],
        ),
        field(
            "amount",
            |payment, value| payment.amount_som = value.parse().unwrap(),
            ["1", "9223372036854775807"],
            [("0", MINIMUM), ("-1", MINIMUM), ("-9223372036854775808", MINIMUM)],
        ),
        text("comment", |payment, value| payment.comment = value.into()),
        callback_url("callbackUrl", |payment, value| payment.callback_url = Some(value.into())),
    ];
    Bench::new().run(mbank_payment, pay_by_mbank, &fields).await;
}

#[tokio::test]
async fn megapay_rules() {
    let fields = || -> [Field<MegapayPayment>; 5] {
        [
            text("orderNumber", |payment, value| payment.order_number = value.into()),
            field(
                "user",
                |payment, value| payment.phone = value.into(),
                ["996700000001", "0700 000 001"],
                [("", REQUIRED), ("abc", PHONE), ("70000001", PHONE)],
            ),
            text("account", |payment, value| payment.account = value.into()),
            field(
                "amount",
                |payment, value| payment.amount = decimal(value),
                ["5", "5.00", "79228162514264337593543950.33"],
                [("4.99", (Rule::Minimum, Some("5"))), ("-5", (Rule::Minimum, Some("5"))), ("5.001", decimals("2"))],
            ),
            callback_url("callbackUrl", |payment, value| payment.callback_url = Some(value.into())),
        ]
    };
    let check = async |gateway: Gateway, payment| gateway.check_megapay(payment).await.err();
    Bench::new().run(megapay_payment, check, &fields()).await;
    let pay = async |gateway: Gateway, payment| gateway.pay_by_megapay(payment, "604137").await.err();
    Bench::new().run(megapay_payment, pay, &fields()).await;

    let pin = field(
        "pinCode",
        |pin: &mut String, value| *pin = value.into(),
        ["1", "60 41-37"],
        [("", REQUIRED), ("ж", FORM)],
    );
    let by_pin = async |gateway: Gateway, pin: String| gateway.pay_by_megapay(megapay_payment(), &pin).await.err();
    Bench::new().run(|| "1548".to_owned(), by_pin, &[pin]).await;
}

/// Nothing is sent to a gateway that may not have it.
#[tokio::test]
async fn megapay_is_refused_without_its_dialect() {
    let server = Server::responding(200, "{}");
    let gateway = Gateway::new(server.config().with_dialect(Dialect::default())).unwrap();
    let check = gateway.check_megapay(megapay_payment()).await.unwrap_err();
    let pay = gateway.pay_by_megapay(megapay_payment(), "1548").await.unwrap_err();
    for error in [check, pay] {
        assert_eq!(error.kind(), "Misconfigured");
        assert!(error.to_string().contains("the dialect has no MegaPay requests"), "{error}");
        assert!(!error.to_string().contains("1548"));
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn mbank_confirm_rules() {
    let confirm = async |gateway: Gateway, (order, otp): Pair| {
        gateway.confirm_mbank_payment(&PaymentRef::mbank(order, 250), &otp.unwrap_or_default()).await.err()
    };
    let fields = [
        text("orderNumber", first),
        field(
            "otp",
            second,
            ["1", "918 273", "918-273", "A1b2"],
            [("", REQUIRED), (" \t\u{a0}\n", REQUIRED), ("\u{200b}-", REQUIRED), ("ж", FORM), ("word", FORM)],
        ),
    ];
    Bench::new().run(|| ("order-2".into(), Some("918273".into())), confirm, &fields).await;
}

/// An identifier for which the dialect names no field is refused: dropped silently, it would be believed to be sent.
#[tokio::test]
async fn identifier_without_dialect_field_is_rejected() {
    let confirm = async |gateway: Gateway, (order, identifier): Pair| {
        let payment = changed(PaymentRef::mbank(order, 250), |it| it.confirm_identifier = identifier);
        gateway.confirm_mbank_payment(&payment, "918273").await.err()
    };
    let valid = || ("order-2".to_owned(), None);
    let refused = field("confirmIdentifier", second, [], [(r#""id-7""#, (Rule::OneOf, None))]);
    Bench::new().run(valid, confirm, &[refused]).await;

    let named = Bench::with(|config| {
        let dialect = r#"{"mbank_identifier": {"pointers": ["/id"], "confirm_field": "paymentId"}}"#;
        *config = config.clone().with_dialect(Dialect::from_json(dialect).unwrap());
    });
    named
        .run(
            valid,
            confirm,
            &[field("confirmIdentifier", second, [r#""id-7""#, "17"], [("id-7", (Rule::Format, None))])],
        )
        .await;
}

#[tokio::test]
async fn pay_form_rules() {
    let fields: [Field<PayForm>; 4] = [
        decimal_amount(|form, value| form.amount = decimal(value)),
        text("serviceName", |form, value| form.service_name = value.into()),
        callback_url("callbackURL", |form, value| form.callback_url = value.into()),
        return_url("returnURL", |form, value| form.return_url = value.into()),
    ];
    Bench::new().run(pay_form, make_pay_form, &fields).await;
}

/// The picture needs a sum; the data does not, but a sum that is there keeps the same rule.
#[tokio::test]
async fn qr_rules() {
    /// An empty text stands for no sum at all.
    fn set_sum(payment: &mut QrPayment, value: &str) {
        payment.sum_tyiyn = value.parse().ok();
    }
    let too_small = [("0", MINIMUM), ("-1", MINIMUM), ("-9223372036854775808", MINIMUM)];
    let others = || {
        [
            field("requisite", |payment: &mut QrPayment, value| payment.requisite = Some(value.into()), ["ж"], []),
            callback_url("callback_url", |payment, value| payment.callback_url = Some(value.into())),
        ]
    };
    let image =
        [field("sum", set_sum, ["1", "9223372036854775807"], too_small), field("sum", set_sum, [], [("", REQUIRED)])];
    Bench::new().run(qr_payment, make_qr_image, &image).await;
    Bench::new().run(qr_payment, make_qr_image, &others()).await;
    let data = [field("sum", set_sum, ["1", "9223372036854775807", ""], too_small)];
    Bench::new().run(qr_payment, make_qr_data, &data).await;
    Bench::new().run(qr_payment, make_qr_data, &others()).await;
}

#[tokio::test]
async fn query_rules() {
    let payment_status = async |gateway: Gateway, (order, language): Pair| {
        gateway.payment_status(&order, language.as_deref()).await.err()
    };
    let fields = [text("orderNumber", first), language(second)];
    Bench::new().run(|| ("gw-1".into(), None), payment_status, &fields).await;

    let provider_status = async |gateway: Gateway, (order, provider): Pair| {
        let provider = match provider.as_deref() {
            Some("Cards") => Provider::Cards,
            Some("MegaPay") => Provider::MegaPay,
            Some("MBank") | None => Provider::MBank,
            Some(other) => Provider::Other(other.into()),
        };
        gateway.provider_status(&order, provider).await.err()
    };
    let unknown = (Rule::OneOf, Some("Cards, MegaPay, MBank"));
    let fails = [("ELSOM", unknown), ("mbank", unknown), ("", unknown)];
    let fields = [text("orderNumber", first), field("provider", second, ["Cards", "MegaPay", "MBank"], fails)];
    Bench::new().run(|| ("order-1".into(), None), provider_status, &fields).await;

    let qr_status = async |gateway: Gateway, (id, _): Pair| gateway.qr_status(&id).await.err();
    Bench::new().run(|| ("tx-1".into(), None), qr_status, &[text("transaction_id", first)]).await;
}

/// Everything is wrong at once, and everything is reported at once, in the order of the table.
#[tokio::test]
async fn all_violations_come_in_one_error() {
    let bench = Bench::new();
    let gateway = bench.gateway(&bench.unreached);
    let bad_url = "hostile-value";
    let card = Card::new("hostile-value-55556666777788889", "hostile-value", 77777, "hostile-value", "");
    let card = CardPayment::new(" ", decimal("0.5"), "hostile-value", card, bad_url)
        .with_language("hostile-value")
        .with_return_url(bad_url)
        .with_ip("hostile-value");
    let card_violations = [
        ("orderNumber", REQUIRED),
        ("description", REQUIRED),
        ("amount", MINIMUM),
        ("currency", length("3")),
        ("pan", PAN_LENGTH),
        ("pan", DIGITS),
        ("expiryMonth", length("2")),
        ("expiryYear", length("4")),
        ("cvc", length("3")),
        ("language", length("2")),
        ("name", REQUIRED),
        ("returnUrl", RETURN_URI),
        ("callbackUrl", HTTP_URL),
        ("ip", IP_ADDRESS),
    ];
    let mbank = MbankPayment::new("", 0, "", "").with_callback_url(bad_url);
    let form = PayForm::new(decimal("0"), "", bad_url).with_return_url(bad_url);
    let qr = QrPayment::new(0).with_callback_url(bad_url);
    let provider = Provider::Other("hostile-value".into());
    let unconfirmable = changed(PaymentRef::mbank("", 0), |it| it.confirm_identifier = Some("hostile-value".into()));
    let cases = [
        ("card payment", pay_by_card(gateway.clone(), card).await, &card_violations[..]),
        (
            "mbank payment",
            pay_by_mbank(gateway.clone(), mbank).await,
            &[
                ("orderNumber", REQUIRED),
                ("phone", REQUIRED),
                ("amount", MINIMUM),
                ("comment", REQUIRED),
                ("callbackUrl", HTTP_URL),
            ],
        ),
        (
            "mbank confirm",
            gateway.confirm_mbank_payment(&unconfirmable, " ").await.err(),
            &[("orderNumber", REQUIRED), ("otp", REQUIRED), ("confirmIdentifier", (Rule::OneOf, None))],
        ),
        (
            "pay-form",
            make_pay_form(gateway.clone(), form).await,
            &[("amount", MINIMUM), ("serviceName", REQUIRED), ("callbackURL", HTTP_URL), ("returnURL", RETURN_URI)],
        ),
        (
            "QR image",
            make_qr_image(gateway.clone(), changed(qr.clone(), |it| it.sum_tyiyn = None)).await,
            &[("sum", REQUIRED), ("callback_url", HTTP_URL)],
        ),
        ("QR data", make_qr_data(gateway.clone(), qr).await, &[("sum", MINIMUM), ("callback_url", HTTP_URL)]),
        (
            "payment status",
            gateway.payment_status("", Some("hostile-value")).await.err(),
            &[("orderNumber", REQUIRED), ("language", length("2"))],
        ),
        (
            "provider status",
            gateway.provider_status("\t", provider).await.err(),
            &[("orderNumber", REQUIRED), ("provider", (Rule::OneOf, Some("Cards, MegaPay, MBank")))],
        ),
    ];
    for (what, error, expected) in cases {
        assert_eq!(summary(&violations(error.as_ref(), what)), expected, "{what}");
        for value in ["hostile", "55556666777788889", "77777"] {
            assert_not_shown(error.as_ref(), value, what);
        }
    }
    bench.nothing_was_sent(async |gateway| drop(gateway.qr_status("tx-1").await)).await;
}

#[tokio::test]
async fn check_digit_is_validated_when_enabled() {
    let bench = Bench::with(|config| config.check_luhn = true);
    let numbers = field(
        "pan",
        |payment, value| set_card(payment, |card| card.pan = value.into()),
        ["4111111111111111", "5555 5555 5555 4444", "378282246310005", "4222222222222"],
        [
            ("4111111111111112", (Rule::Luhn, None)),
            ("1411111111111111", (Rule::Luhn, None)),
            // Of one field, only the first violation is reported: a malformed number has no check digit.
            ("411111111112", PAN_LENGTH),
            ("4111x11111111112", DIGITS),
        ],
    );
    bench.run(card_payment, pay_by_card, &[numbers]).await;
}

#[test]
fn advice_names_its_field_and_topic() {
    let card = |change: fn(&mut CardPayment)| {
        let mut payment = card_payment();
        change(&mut payment);
        payment.advice()
    };
    let mbank = |order: &str| changed(mbank_payment(), |it| it.order_number = order.into()).advice();
    let phone = |phone: &str| changed(mbank_payment(), |it| it.phone = phone.into()).advice();
    let form = |amount: &str| changed(pay_form(), |it| it.amount = decimal(amount)).advice();
    let form_to = |url: &str| changed(pay_form(), |it| it.return_url = url.into()).advice();
    let characters = ("orderNumber", AdviceTopic::OrderNumberCharacters);
    let mistyped = ("pan", AdviceTopic::CardNumberMistyped);
    let expired = ("expiryYear", AdviceTopic::CardExpired);
    let mega_pay = ("amount", AdviceTopic::MegaPayMinimum);
    let written = ("phone", AdviceTopic::PhoneFormat);
    let behind_a_hash = |field| (field, AdviceTopic::ReturnUrlFragment);

    let cases = [
        ("a good card", card_payment().advice(), &[][..]),
        ("a recommended number", card(|payment| payment.order_number = "azAZ09-_".into()), &[]),
        ("a space", card(|payment| payment.order_number = "order 1".into()), &[characters]),
        (
            "a wrong check digit",
            card(|payment| set_card(payment, |card| card.pan = PAN.replace('4', "5"))),
            &[mistyped],
        ),
        ("an old year", card(|payment| set_card(payment, |card| card.year = 2020)), &[expired]),
        ("a late year", card(|payment| set_card(payment, |card| card.year = 9999)), &[]),
        (
            "everything",
            card(|payment| {
                payment.order_number = "№ 1".into();
                set_card(payment, |card| {
                    card.pan = "4111 1111 1111 1112".into();
                    card.year = 2020;
                });
            }),
            &[characters, mistyped, expired],
        ),
        ("mbank, a good number", mbank("order-1_A"), &[]),
        ("mbank, the recommended phone", phone("996555000101"), &[]),
        ("mbank, a plus", phone("+996555000101"), &[]),
        ("mbank, hyphens", phone("996-555-000-101"), &[]),
        ("mbank, as it is dialled", phone("0555000101"), &[]),
        ("mbank, another country", phone("77010000001"), &[written]),
        ("mbank, a digit too many", phone("9965550001010"), &[written]),
        ("mbank, Cyrillic", mbank("заказ-1"), &[characters]),
        ("mbank, emoji", mbank("order-💳"), &[characters]),
        ("mbank, a control character", mbank("order\0"), &[characters]),
        ("mbank, punctuation", mbank("order.1"), &[characters]),
        ("mbank, a digit of another script", mbank("٤"), &[characters]),
        ("pay-form, 5", form("5"), &[]),
        ("pay-form, 5.00", form("5.00"), &[]),
        ("pay-form, under 5", form("4.99"), &[mega_pay]),
        ("pay-form, the minimum", form("1"), &[mega_pay]),
        ("pay-form, back to a page", form_to("https://shop.example.kg/paid?cart=%23"), &[]),
        ("pay-form, back to a fragment", form_to("https://shop.example.kg/#/paid"), &[behind_a_hash("returnURL")]),
        (
            "card, back to a fragment",
            card(|payment| payment.return_url = Some("https://shop.example.kg/paid#".into())),
            &[behind_a_hash("returnUrl")],
        ),
    ];
    for (what, advice, expected) in cases {
        let found: Vec<_> = advice.iter().map(|known| (known.field.as_str(), known.topic)).collect();
        assert_eq!(found, expected, "{what}");
        for known in advice {
            assert!(known.text.contains(&known.field), "{what}: {known:?}");
            assert_eq!(known.to_string(), known.text, "{what}");
            assert!(!known.text.contains("111"), "{what} shows the card: {known:?}");
        }
    }

    // Advice is available before validation.
    for (pan, month) in [("", ""), ("жжж", "ж"), ("4111x", "99")] {
        let _ = card_payment().with_card(Card::new(pan, month, -1, "", "")).advice();
    }
}

#[tokio::test]
async fn advice_blocks_nothing() {
    let server = Server::responding(200, "{}");
    let mistyped = Card::new("4111 1111 1111 1112", "01", 2020, CVC, "A B");
    let card = changed(card_payment().with_card(mistyped), |it| it.order_number = "№ 1".into());
    assert_eq!(card.advice().len(), 3);
    let _ = pay_by_card(server.gateway(), card).await;
    let form = changed(pay_form(), |it| it.amount = decimal("1"));
    assert_eq!(form.advice().len(), 1);
    let _ = make_pay_form(server.gateway(), form).await;
    assert_eq!(server.received().len(), 2);
}

#[test]
fn new_order_numbers_are_unique_and_recommended() {
    const THREADS: usize = 8;
    const EACH: usize = 2_000;
    let workers: Vec<_> =
        (0..THREADS).map(|_| thread::spawn(|| (0..EACH).map(|_| new_order_number()).collect::<Vec<_>>())).collect();
    let numbers: Vec<String> = workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
    for number in &numbers {
        let recommended = number.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        assert!(recommended && !number.is_empty(), "{number}");
    }
    let advice = changed(mbank_payment(), |it| it.order_number = numbers[0].clone()).advice();
    assert_eq!(advice, [], "its own advice has nothing against it");
    assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), THREADS * EACH);
}
