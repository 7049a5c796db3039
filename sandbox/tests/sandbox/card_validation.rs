//! Every rule of a card payment, at its limit and past it.

use crate::{
    common::{Body, CARD, card_body, post, start},
    validation::{NO_RETURN_URLS, NO_STRINGS, NO_WEB_URLS, check, complained_about},
};

fn card(index: usize) -> Body {
    card_body(&format!("N-{index}"))
}

#[test]
fn required_texts_of_a_card_payment() {
    for field in ["orderNumber", "description", "name"] {
        check(CARD, card, field, &["\"x\""], &NO_STRINGS);
        check(CARD, card, field, &[], &["\"\"", "\"  \""]);
    }
}

#[test]
fn amount_of_a_card_payment() {
    check(
        CARD,
        card,
        "amount",
        &["1", "1.00", "1e2", "79228162514264337593543950335"],
        &[
            "0.99",
            "0.9999999999999999999999999999",
            "0",
            "-1",
            "\"100\"",
            "null",
            "true",
            "79228162514264337593543950336",
            "1.00000000000000000000000000001",
            "1e400",
        ],
    );
}

#[test]
fn currency_of_a_card_payment() {
    check(CARD, card, "currency", &["\"KGS\"", "\"usd\""], &["\"KG\"", "\"KGSS\"", "\"K1S\"", "\"\"", "417", "null"]);
}

#[test]
fn pan_of_a_card_payment() {
    check(
        CARD,
        card,
        "pan",
        &["\"4222222222222\"", "\"62000000000000002019\""],
        &[
            "\"422222222222\"",
            "\"620000000000000020190\"",
            "\"\"",
            "\"4111 1111 1111 1111\"",
            "\"411111111111111x\"",
            "\"٤١١١١١١١١١١١١١١١\"",
            "4111111111111111",
            "null",
            // Well formed, and no test card.
            "\"4012888888881881\"",
        ],
    );
}

#[test]
fn unknown_card_error_names_the_table() {
    let sandbox = start();
    let answer = post(&sandbox, CARD, &card(0).with("pan", "\"4012888888881881\""));
    assert!(answer.message().contains("not a test card"));
    assert!(!answer.body.contains("4012888888881881"));
}

#[test]
fn expiry_of_a_card_payment() {
    check(
        CARD,
        card,
        "expiryMonth",
        &["\"01\"", "\"12\""],
        &["\"1\"", "\"012\"", "\"00\"", "\"13\"", "\"1x\"", "\"\"", "12", "null"],
    );
    check(CARD, card, "expiryYear", &["2099", "9999"], &["999", "10000", "99", "\"2099\"", "2099.0", "-2099", "null"]);
}

#[test]
fn expiry_in_the_past_is_rejected() {
    let sandbox = start();
    for year in ["1000", "2020"] {
        let answer = post(&sandbox, CARD, &card(0).with("expiryYear", year));
        assert_eq!(complained_about(&answer), ["expiryMonth", "expiryYear"]);
    }
}

#[test]
fn cvc_of_a_card_payment() {
    check(CARD, card, "cvc", &["\"000\"", "\"abc\""], &["\"12\"", "\"1234\"", "\"\"", "123", "null"]);
}

#[test]
fn language_of_a_card_payment() {
    check(
        CARD,
        card,
        "language",
        &["\"ky\"", "\"de\"", "\"RU\""],
        &["\"r\"", "\"rus\"", "\"\"", "\"r1\"", "1", "null"],
    );
}

#[test]
fn urls_of_a_card_payment() {
    check(CARD, card, "callbackUrl", &["\"http://127.0.0.1:1/?a=b\""], &NO_WEB_URLS);
    check(CARD, card, "returnUrl", &["\"https://a.example\"", "\"myapp://paid\"", "\"intent:x\""], &NO_RETURN_URLS);
}

#[test]
fn payer_of_a_card_payment() {
    check(
        CARD,
        card,
        "ip",
        &["\"203.0.113.7\"", "\"2001:db8::1\""],
        &["\"\"", "\"203.0.113\"", "\"203.0.113.256\"", "\"example.com\"", "1", "null"],
    );
    check(CARD, card, "email", &["\"a@b\""], &["\"\"", "\"a\"", "\"@b\"", "\"a@\"", "\"a b@c\"", "1", "null"]);
}
