//! Forgery, replay and damage of signed addresses.

use proptest::prelude::*;

use super::*;
use crate::payment_ref::report::Provider;

const SECRET: &str = "the-secret-of-the-shop-of-the-tests";
const SHOP: &str = "https://shop.example/callbacks";

fn card(order_number: &str) -> PaymentRef {
    PaymentRef::card(order_number, "100.10".parse().unwrap(), "KGS")
}

fn own() -> CallbackKey {
    CallbackKey::new(SECRET).unwrap()
}

fn foreign() -> CallbackKey {
    CallbackKey::new("another-shop-with-its-own-secret-too").unwrap()
}

fn rule(result: Result<PaymentRef, PaymentError>) -> Rule {
    match result.unwrap_err() {
        PaymentError::Invalid { violations } => {
            assert_eq!((violations.len(), violations[0].field.as_str()), (1, "kassa"));
            violations[0].rule
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn forged_reference_is_refused() {
    let payment = card("order-1");
    let other = card("order-2").to_string();
    let url = own().callback_url(SHOP, &payment).unwrap();
    let (_, value) = url.split_once("kassa=").unwrap();
    let mut bytes = URL_SAFE_NO_PAD.decode(value).unwrap();
    bytes.truncate(1 + TAG_LENGTH);
    bytes.extend_from_slice(other.as_bytes());
    let forged = format!("/callbacks?kassa={}", URL_SAFE_NO_PAD.encode(bytes));
    assert_eq!(rule(own().read_callback_url(&forged)), Rule::Signature);
}

#[test]
fn every_bit_of_the_parameter_counts() {
    let url = own().callback_url(SHOP, &card("order-1")).unwrap();
    let start = url.find("kassa=").unwrap() + "kassa=".len();
    for at in start..url.len() {
        for bit in 0..7 {
            let mut bytes = url.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let changed = String::from_utf8(bytes).unwrap();
            // A fragment is not sent, and what stands before it is shorter.
            assert!(own().read_callback_url(&changed).is_err(), "{changed}");
        }
        assert!(own().read_callback_url(&url[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn return_url_is_no_callback_url() {
    let payment = card("order-1");
    let returned = own().return_url(SHOP, &payment).unwrap();
    let callback = own().callback_url(SHOP, &payment).unwrap();
    assert_eq!(rule(own().read_callback_url(&returned)), Rule::Signature);
    assert_eq!(rule(own().read_return_url(&callback)), Rule::Signature);
    assert_eq!(own().read_return_url(&returned), Ok(payment));
}

#[test]
fn another_shops_key_is_refused() {
    let url = foreign().callback_url(SHOP, &card("order-1")).unwrap();
    assert_eq!(rule(own().read_callback_url(&url)), Rule::Signature);
}

#[test]
fn previous_secret_reads_and_does_not_sign() {
    let payment = card("order-1");
    let before = foreign().callback_url(SHOP, &payment).unwrap();
    let key = own().with_previous("the-secret-before-the-previous-one!!").unwrap();
    let key = key.with_previous("another-shop-with-its-own-secret-too").unwrap();
    assert_eq!(key.read_callback_url(&before), Ok(payment.clone()));
    let after = key.callback_url(SHOP, &payment).unwrap();
    assert_eq!(own().read_callback_url(&after), Ok(payment));
    assert!(foreign().read_callback_url(&after).is_err());
    assert!(own().with_previous("short").is_err());
}

#[test]
fn what_the_shop_and_the_gateway_add_survives() {
    let payment = card("order-1");
    for (url, before, after) in [
        ("https://shop.example", "https://shop.example?kassa=", ""),
        ("https://shop.example/r?", "https://shop.example/r?kassa=", ""),
        ("https://shop.example/r?cart=17&n=%D1%8F", "https://shop.example/r?cart=17&n=%D1%8F&kassa=", ""),
        ("https://shop.example/r?a=1&", "https://shop.example/r?a=1&kassa=", ""),
        ("https://shop.example/r?a=1#paid?x", "https://shop.example/r?a=1&kassa=", "#paid?x"),
        ("myshop://paid", "myshop://paid?kassa=", ""),
        ("myshop:paid?a", "myshop:paid?a&kassa=", ""),
    ] {
        let signed = own().return_url(url, &payment).unwrap();
        assert!(signed.starts_with(before) && signed.ends_with(after), "{signed}");
        assert_eq!(own().read_return_url(&signed), Ok(payment.clone()), "{signed}");
        let (address, fragment) = without_fragment(&signed);
        for added in [
            "&OrderNumber=order-2&statusCode=200",
            "?OrderNumber=order-2&statusCode=200",
            "&amp;OrderNumber=order-2&amp;statusCode=200",
            "#OrderNumber=order-2&statusCode=200",
        ] {
            let returned = format!("{address}{added}{fragment}");
            assert_eq!(own().read_return_url(&returned), Ok(payment.clone()), "{returned}");
        }
        let escaped = signed.replace('&', "&amp;");
        assert_eq!(own().read_return_url(&escaped), Ok(payment.clone()), "{escaped}");
    }
}

#[test]
fn missing_or_duplicate_parameter_is_rejected() {
    let url = own().callback_url("https://s.kg/c", &card("order-1")).unwrap();
    let (_, query) = url.split_once('?').unwrap();
    for missing in ["", "/c", "/c?", "/c?a=1", "/c?Kassa=1", "/c#?kassa=1", query] {
        assert_eq!(rule(own().read_callback_url(missing)), Rule::Required, "{missing}");
    }
    for more in ["kassa=", "kassa", "%6bassa=x", query] {
        assert_eq!(rule(own().read_callback_url(&format!("{url}&{more}"))), Rule::Format, "{more}");
        assert_eq!(rule(own().read_callback_url(&format!("/c?{more}&{query}"))), Rule::Format, "{more}");
    }
}

#[test]
fn addresses_that_cannot_be_signed_are_named() {
    let payment = card("order-1");
    for url in ["", "shop.example", "/callbacks", "myshop://paid", "https://s.kg/a b", "https://s.kg/?kassa=1"] {
        assert!(own().callback_url(url, &payment).unwrap_err().to_string().contains("callbackUrl"), "{url}");
    }
    for url in ["", "/r", "javascript:alert(1)", "myshop://paid?%6Bassa"] {
        assert!(own().return_url(url, &payment).unwrap_err().to_string().contains("returnUrl"), "{url}");
    }
    // Its text would be read as MBank's own.
    let other = PaymentRef::pay_form(5.into()).with_claimed_number("1", Some(Provider::Other("mbank".into())));
    assert!(own().callback_url(SHOP, &other).unwrap_err().to_string().contains("payment"));
}

#[test]
fn short_secret_is_refused_and_none_is_printed() {
    for secret in ["", "hunter2", &"x".repeat(31)] {
        let error = CallbackKey::new(secret).unwrap_err();
        assert!(error.to_string().contains("secret must be at least 32 bytes"), "{error}");
        assert!(secret.is_empty() || !format!("{error:?}").contains(secret));
    }
    let key = own().with_previous("the-secret-before-this-secret-of-mine").unwrap();
    assert_eq!(format!("{key:?}"), "CallbackKey(***)");
}

proptest! {
    #[test]
    fn what_is_read_is_what_was_signed(order in any::<String>(), gateway in any::<Option<String>>()) {
        let mut payment = card(&order);
        payment.gateway_number = gateway;
        let called = own().callback_url("https://s.kg/c?a=1#b", &payment).unwrap();
        prop_assert_eq!(own().read_callback_url(&called).unwrap(), payment.clone());
        let returned = own().return_url("myshop://paid", &payment).unwrap();
        let returned = format!("{returned}&OrderNumber=1&statusCode=200");
        prop_assert_eq!(own().read_return_url(&returned).unwrap(), payment);
    }

    #[test]
    fn no_text_passes_or_makes_it_panic(text in any::<String>(), bytes in any::<Vec<u8>>()) {
        prop_assert!(own().read_callback_url(&text).is_err());
        let (unsigned, form) = (format!("/r?kassa={text}"), URL_SAFE_NO_PAD.encode([&[VERSION][..], &bytes].concat()));
        prop_assert!(own().read_return_url(&unsigned).is_err());
        let unsigned = format!("/r?kassa={form}");
        prop_assert!(own().read_return_url(&unsigned).is_err());
        let _ = own().callback_url(&text, &card("1"));
        let _ = own().return_url(&text, &card("1"));
    }
}
