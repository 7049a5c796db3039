//! Messages and pages in three languages.

use kassa_sandbox::Language;

use crate::common::{
    Body, CARD, PAY_FORM, STATUS, call, card_body, get_status, open, pay_form_body, post, send, start, start_with,
    submit,
};

const NOT_FOUND: [(&str, &str); 3] =
    [("en", "Payment not found"), ("ru", "Платёж не найден"), ("ky", "Төлөм табылган жок")];

#[test]
fn status_request_is_answered_in_its_language() {
    let sandbox = start();
    for (language, message) in NOT_FOUND {
        let body = Body::new(&[("orderNumber", "\"none\"")]).with_text("language", language);
        let answer = call(&sandbox, "GET", STATUS, &body.text());
        assert_eq!((answer.status, answer.message().as_str()), (404, message));
    }
}

#[test]
fn without_one_it_is_the_merchant_s() {
    let languages = [Language::English, Language::Russian, Language::Kyrgyz];
    for (language, (_, message)) in languages.into_iter().zip(NOT_FOUND) {
        let sandbox = start_with(|options| options.language = language);
        let body = Body::new(&[("orderNumber", "\"none\"")]);
        assert_eq!(call(&sandbox, "GET", STATUS, &body.text()).message(), message);
        let unspoken = body.with("language", "\"de\"");
        assert_eq!(call(&sandbox, "GET", STATUS, &unspoken.text()).message(), message);
        assert_eq!(get_status(&sandbox, "none", "Cards").message(), message);
    }
}

#[test]
fn violations_are_in_the_request_language() {
    let sandbox = start();
    for (language, text) in [
        ("en", "amount: must be at least 1"),
        ("ru", "amount: должно быть не меньше 1"),
        ("ky", "amount: 1 же андан көп болушу керек"),
    ] {
        let body = card_body("V-1").with("amount", "0").with_text("language", language);
        assert_eq!(post(&sandbox, CARD, &body).message(), text);
    }
}

#[test]
fn rejection_reason_is_in_reader_language() {
    let sandbox = start();
    let body = card_body("R-1").with("pan", "\"4000000000002032\"");
    post(&sandbox, CARD, &body);
    let number = sandbox.payment("R-1").expect("in the ledger").gateway_number;
    for (language, text) in [("en", "Insufficient funds"), ("ru", "Недостаточно средств"), ("ky", "Каражат жетишсиз")]
    {
        let body = Body::new(&[]).with_text("orderNumber", &number).with_text("language", language);
        let answer = call(&sandbox, "GET", STATUS, &body.text());
        assert_eq!((answer.code().as_str(), answer.message().as_str()), ("211", text));
    }
}

#[test]
fn card_page_uses_payment_language() {
    let sandbox = start();
    for (language, title, done) in [
        ("en", "Confirm the payment", "Not paid"),
        ("ru", "Подтвердите платёж", "Не оплачено"),
        ("ky", "Төлөмдү ырастаңыз", "Төлөнгөн жок"),
    ] {
        let body = card_body(language).with_text("language", language);
        let url = post(&sandbox, CARD, &body).data("ConfirmationUrl");
        let page = send("GET", &url, &[("accept-language", "de, en;q=0.5")], b"");
        assert!(page.body.contains(&format!("<html lang=\"{language}\">")));
        assert!(page.body.contains(&format!("<h1>{title}</h1>")));
        let result = submit(&url, &[("action", "cancel")]);
        assert!(result.body.contains(&format!("<h1>{done}</h1>")));
    }
}

#[test]
fn other_pages_use_browser_or_merchant_language() {
    let sandbox = start_with(|options| options.language = Language::Kyrgyz);
    let url = post(&sandbox, PAY_FORM, &pay_form_body()).data("payFormUrl");
    for (wish, language) in [("ru-RU,ru;q=0.9,en;q=0.8", "ru"), ("en", "en"), ("de", "ky")] {
        let page = send("GET", &url, &[("accept-language", wish)], b"");
        assert!(page.body.contains(&format!("<html lang=\"{language}\">")), "{wish}");
    }
    assert!(open(&url).body.contains("<html lang=\"ky\">"));
}

#[test]
fn language_switch_persists_on_next_page() {
    let sandbox = start();
    let url = post(&sandbox, PAY_FORM, &pay_form_body()).data("payFormUrl");
    let page = open(&format!("{url}&language=ky"));
    assert!(page.body.contains("<html lang=\"ky\">") && page.body.contains("99,50\u{a0}сом"));
    let token = url.split_once("token=").expect("a token").1;
    assert!(page.body.contains(&format!("href=\"?token={token}&#38;language=ru\"")));

    let chosen = submit(&format!("{url}&language=ky"), &[("provider", "MBank"), ("phone", "996555000101")]);
    let next = chosen.header("location").expect("a location");
    assert!(next.contains("/wallet?") && next.ends_with("&language=ky"));
    assert!(open(next).body.contains("<html lang=\"ky\">"));
}

#[test]
fn language_switch_overrides_payment_language() {
    let sandbox = start();
    let body = card_body("S-1").with_text("language", "ru");
    let url = post(&sandbox, CARD, &body).data("ConfirmationUrl");
    assert!(open(&url).body.contains("<html lang=\"ru\">"));
    assert!(open(&format!("{url}&language=en")).body.contains("<html lang=\"en\">"));
    assert!(open(&format!("{url}&language=de")).body.contains("<html lang=\"ru\">"));
    assert!(open(&format!("{}/3ds?token=none&language=ky", sandbox.url())).body.contains("<html lang=\"ky\">"));
}
