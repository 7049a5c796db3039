//! The pay-form, to its end with each provider.

use kassa_sandbox::{Payment, PaymentKind, Provider, RejectReason, Sandbox};

use crate::common::{Body, PAY_FORM, Response, STATUS, call, get_status, open, pay_form_body, post, start, submit};

const CARD_FIELDS: [(&str, &str); 6] = [
    ("provider", "Cards"),
    ("pan", "4111 1111 1111 1111"),
    ("expiryMonth", "12"),
    ("expiryYear", "2099"),
    ("cvc", "123"),
    ("name", "Aibek Asanov"),
];

fn make(sandbox: &Sandbox, body: &Body) -> String {
    let made = post(sandbox, PAY_FORM, body);
    assert_eq!((made.status, made.code().as_str()), (200, "110"));
    made.data("payFormUrl")
}

fn only_payment(sandbox: &Sandbox) -> Payment {
    let mut payments = sandbox.payments();
    assert_eq!(payments.len(), 1);
    payments.remove(0)
}

fn choose_card(url: &str, changes: &[(&str, &str)]) -> Response {
    let fields: Vec<_> = CARD_FIELDS
        .iter()
        .map(|(name, value)| {
            let changed = changes.iter().find(|(changed, _)| changed == name);
            changed.copied().unwrap_or((name, value))
        })
        .collect();
    submit(url, &fields)
}

fn location(response: &Response) -> String {
    assert_eq!(response.status, 303, "{}", response.body);
    response.header("location").expect("a location").to_owned()
}

#[test]
fn card_goes_through_the_3ds_page() {
    let sandbox = start();
    let url = make(&sandbox, &pay_form_body());
    let form = open(&url);
    assert_eq!(form.status, 200);
    for name in ["provider", "pan", "expiryMonth", "expiryYear", "cvc", "name", "phone"] {
        assert!(form.body.contains(&format!("name=\"{name}\"")), "{name}");
    }
    assert!(form.body.contains("KGS\u{a0}99.50") && form.body.contains("Flower shop"));

    let challenge = location(&choose_card(&url, &[]));
    let number = only_payment(&sandbox).gateway_number;
    assert_eq!(challenge, format!("{}/3ds?token={number}", sandbox.url()));
    let back = location(&submit(&challenge, &[("otp", "123456")]));
    let payment = only_payment(&sandbox);
    assert_eq!(back, format!("myapp://paid?from=form&OrderNumber={}&statusCode=200", payment.order_number));
    assert_eq!((payment.kind, payment.provider), (PaymentKind::PayForm, Some(Provider::Cards)));
    assert_eq!((payment.is_charged(), payment.times_charged), (true, 1));

    let status = get_status(&sandbox, &payment.order_number, "Cards");
    assert_eq!(status.data("status"), "CHARGE");
    assert!(status.body.contains("\"amount\":99.50,"));
    for number in [&payment.order_number, &payment.gateway_number] {
        let body = Body::new(&[]).with_text("orderNumber", number);
        assert_eq!(call(&sandbox, "GET", STATUS, &body.text()).data("status"), "CHARGE");
    }
}

#[test]
fn card_without_3ds_is_resolved_at_once() {
    let sandbox = start();
    let url = make(&sandbox, &pay_form_body());
    let back = location(&choose_card(&url, &[("pan", "4000000000002016")]));
    assert!(back.starts_with("myapp://paid?from=form&OrderNumber=PF-") && back.ends_with("&statusCode=200"));

    let declined = make(&sandbox, &pay_form_body());
    let page = choose_card(&declined, &[("pan", "4000-0000-0000-2024")]);
    assert!(page.status == 200 && page.body.contains("href=\"myapp://paid?from=form\""));
}

#[test]
fn wallets_go_through_the_password_page() {
    for (provider, phone, otp, expected) in [
        ("MBank", "996555000101", "101101", None),
        ("MegaPay", "+996 755 000 201", "201201", None),
        ("MBank", "0555000102", "102102", Some(RejectReason::Declined)),
        ("MegaPay", "996755000203", "203203", Some(RejectReason::InsufficientFunds)),
    ] {
        let sandbox = start();
        let url = make(&sandbox, &pay_form_body());
        let page = location(&submit(&url, &[("provider", provider), ("phone", phone)]));
        assert!(page.contains("/wallet?token=") && open(&page).body.contains("name=\"otp\""));
        let wrong = submit(&page, &[("otp", "1")]);
        assert!(wrong.status == 400 && wrong.body.contains("Attempts left: 2"));
        let done = submit(&page, &[("otp", otp)]);
        let payment = only_payment(&sandbox);
        assert_eq!(payment.provider.map(Provider::as_str), Some(provider));
        assert_eq!(payment.reject_reason, expected);
        assert_eq!(payment.is_charged(), expected.is_none());
        assert_eq!(done.status, if expected.is_none() { 303 } else { 200 });
        assert_eq!(get_status(&sandbox, &payment.order_number, provider).status, 200);
    }
}

#[test]
fn stuck_wallet_stays_pending() {
    let sandbox = start();
    let url = make(&sandbox, &pay_form_body());
    let page = location(&submit(&url, &[("provider", "MegaPay"), ("phone", "996755000204")]));
    assert!(submit(&page, &[("otp", "204204")]).body.contains("In progress"));
}

#[test]
fn megapay_takes_five_som_and_not_less() {
    let sandbox = start();
    let megapay = [("provider", "MegaPay"), ("phone", "996755000201")];
    let enough = make(&sandbox, &pay_form_body().with("amount", "5"));
    assert!(!open(&enough).body.contains("disabled"));
    location(&submit(&enough, &megapay));

    let too_little = make(&sandbox, &pay_form_body().with("amount", "4.99"));
    let form = open(&too_little);
    assert!(form.body.contains("value=\"MegaPay\" disabled") && form.body.contains("from 5 KGS"));
    assert_eq!(submit(&too_little, &megapay).status, 400);
    location(&submit(&too_little, &[("provider", "MBank"), ("phone", "996555000101")]));
}

#[test]
fn invalid_form_names_fields_without_card_data() {
    let sandbox = start();
    let url = make(&sandbox, &pay_form_body());
    for (field, value, message) in [
        ("pan", "4111 1111 1111 1112", "This is no test card"),
        ("pan", "411", "A card number has 13 to 20 digits"),
        ("expiryMonth", "13", "Enter the month"),
        ("expiryYear", "9", "Enter the year"),
        ("expiryYear", "2020", "The card has expired"),
        ("cvc", "98y65", "Enter the 3 digits"),
        ("name", " ", "Enter the name"),
        ("provider", "Visa", "Choose how to pay"),
    ] {
        let page = choose_card(&url, &[(field, value)]);
        assert_eq!(page.status, 400, "{field}");
        let (_, rest) = page.body.split_once("role=\"alert\"").expect("an alert");
        let alert = rest.split_once("</ul>").expect("a list").0;
        assert!(alert.contains(&format!("<a href=\"#{field}\">{message}")), "{alert}");
        for typed in ["value=\"4111", "4111 1111 1111 1112", "value=\"2099\"", "value=\"123\"", "98y65"] {
            assert!(!page.body.contains(typed), "{typed}");
        }
        assert_eq!(page.body.contains("value=\"Aibek Asanov\""), field != "name");
    }
    for (phone, message) in [
        ("", "Enter a phone number"),
        ("x", "Enter a phone number"),
        ("996555999999", "This is no test phone of MBank"),
        ("996755000201", "This is no test phone of MBank"),
    ] {
        let page = submit(&url, &[("provider", "MBank"), ("phone", phone)]);
        assert!(page.status == 400 && page.body.contains(&format!("<a href=\"#phone\">{message}")));
    }
    assert_eq!(only_payment(&sandbox).provider, None);
}

#[test]
fn choosing_again_does_not_reset_attempts() {
    let sandbox = start();
    let url = make(&sandbox, &pay_form_body());
    let challenge = location(&choose_card(&url, &[]));
    submit(&challenge, &[("otp", "0")]);
    let wallet = location(&submit(&url, &[("provider", "MBank"), ("phone", "996555000101")]));
    assert_eq!(open(&challenge).status, 404);
    let payment = only_payment(&sandbox);
    assert_eq!((payment.otp_attempts_left, payment.masked_card), (2, None));
    location(&submit(&wallet, &[("otp", "101101")]));
}

#[test]
fn finished_form_changes_nothing() {
    let sandbox = start();
    let url = make(&sandbox, &pay_form_body());
    choose_card(&url, &[("pan", "4000000000002016")]);
    for page in [open(&url), choose_card(&url, &[("pan", "4000000000002024")])] {
        assert!(page.status == 200 && page.body.contains("This payment is finished"));
    }
    assert_eq!(only_payment(&sandbox).times_charged, 1);
}

#[test]
fn payer_can_cancel_before_choosing() {
    let sandbox = start();
    let url = make(&sandbox, &pay_form_body());
    let done = submit(&url, &[("action", "cancel")]);
    assert!(done.status == 200 && done.body.contains("href=\"myapp://paid?from=form\""));
    assert_eq!(only_payment(&sandbox).reject_reason, Some(RejectReason::CancelledByPayer));
}

#[test]
fn form_accepts_the_usual_spellings() {
    let sandbox = start();
    let url = make(&sandbox, &pay_form_body());
    location(&choose_card(&url, &[("expiryMonth", "1"), ("expiryYear", "99")]));
}

#[test]
fn test_data_fill_the_form_without_a_script() {
    let sandbox = start();
    let url = make(&sandbox, &pay_form_body());
    let form = open(&url).body;
    assert!(form.contains("name=\"fill\" value=\"card-0\"") && form.contains("name=\"fill\" value=\"phone-4\""));
    let card = open(&format!("{url}&fill=card-0")).body;
    assert!(
        card.contains("value=\"4111 1111 1111 1111\"")
            && card.contains("value=\"Cards\" id=\"provider-Cards\" checked")
    );
    let wallet = open(&format!("{url}&fill=phone-4")).body;
    assert!(wallet.contains("value=\"+996 755 000 201\"") && wallet.contains("id=\"provider-MegaPay\" checked"));
    assert!(open(&format!("{url}&fill=card-99")).body.contains("name=\"pan\""));

    let challenge = location(&choose_card(&url, &[]));
    assert!(open(&format!("{challenge}&fill=otp")).body.contains("value=\"123456\""));
}

#[test]
fn amount_below_minimum_offers_no_megapay() {
    let sandbox = start();
    let url = make(&sandbox, &pay_form_body().with("amount", "4.99"));
    assert!(!open(&url).body.contains("996 755") && !open(&format!("{url}&fill=phone-4")).body.contains("+996 755"));
}
