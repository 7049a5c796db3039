use strum::IntoEnumIterator;

use crate::{
    checkout::{message::MessageTopic, screen_texts::*},
    config::dialect::decline_reason::DeclineReason,
};

/// All texts of a language, by their names.
fn entries(language: Language) -> Vec<(&'static str, &'static str)> {
    let labels = labels(language).entries().into_iter();
    labels.chain(states(language).entries()).collect()
}

/// Names, and words that are written alike in Russian and Kyrgyz.
fn is_alike(name: &str, languages: (Language, Language)) -> bool {
    let (russian, kyrgyz) = (Language::Russian, Language::Kyrgyz);
    matches!(name, "mbank" | "megapay" | "card_cvc") || matches!(name, "qr" | "card") && languages == (russian, kyrgyz)
}

#[test]
fn screen_texts_are_complete_in_every_language() {
    for language in Language::iter() {
        for (name, text) in entries(language) {
            // What stands around a number may end with it.
            let is_part =
                name.ends_with("_end") || entries(language).iter().any(|(other, _)| *other == format!("{name}_end"));
            assert!(is_part || !text.is_empty(), "{language} {name}");
            assert!(!text.contains(['{', '}', '%']), "{language} {name}: {text}");
            let is_trimmed = is_part || name == "attempts_left" || name.starts_with("total") || text.trim() == text;
            assert!(is_trimmed, "{language} {name}: {text:?}");
            let is_cyrillic = text.chars().any(|c| ('а'..='я').contains(&c));
            let has_letters = text.chars().any(char::is_alphabetic);
            let is_name = matches!(name, "mbank" | "megapay" | "card_cvc");
            assert!(
                is_name || !has_letters || is_cyrillic == (language != Language::English),
                "{language} {name}: {text}"
            );
        }
    }
}

#[test]
fn no_language_has_a_text_of_another_one() {
    for (one, other) in [
        (Language::English, Language::Russian),
        (Language::English, Language::Kyrgyz),
        (Language::Russian, Language::Kyrgyz),
    ] {
        for ((name, text), (_, translated)) in entries(one).into_iter().zip(entries(other)) {
            let is_mark = !text.chars().any(char::is_alphabetic);
            assert!(is_mark || is_alike(name, (one, other)) == (text == translated), "{name}: {one} {other} {text}");
        }
    }
}

#[test]
fn payer_reads_the_reason_in_their_language() {
    let raw = "Карта заблокирована".to_owned();
    for topic in MessageTopic::iter() {
        let message = CheckoutMessage::new(topic).with_reason(Some(raw.clone()));
        let shown = |message: &CheckoutMessage, language| {
            CheckoutTexts::of(&CheckoutState::Opening { message: Some(message.clone()) }, false, language)
        };
        for language in Language::iter() {
            let texts = shown(&message, language);
            assert_eq!(texts.reason, None, "{topic}");
            assert!(!format!("{texts:?}").contains(&raw), "{topic}: {texts:?}");
        }
        let declined = message.declined_for(Some(DeclineReason::LimitExceeded));
        assert_eq!(
            shown(&declined, Language::Russian).reason.as_deref(),
            Some("Сумма превышает лимит вашей карты или счёта.")
        );
    }
}

#[test]
fn ended_checkout_warns_not_to_pay_again() {
    let cancelled = || CheckoutMessage::new(MessageTopic::Cancelled);
    let choosing =
        |methods: Vec<PaymentMethod>, can_keep_method| CheckoutState::Ready { methods, message: None, can_keep_method };
    for (state, part) in [
        (CheckoutState::Expired, "Do not pay again"),
        (CheckoutState::NotPaid { reason: cancelled() }, "Do not pay again"),
        (choosing(vec![PaymentMethod::Mbank], false), "do not pay again"),
        (choosing(Vec::new(), false), "do not pay again"),
        (choosing(vec![PaymentMethod::Mbank], true), "only if you have not paid yet"),
        (choosing(Vec::new(), true), "only if you have not paid yet"),
    ] {
        let texts = CheckoutTexts::of(&state, true, Language::English);
        assert!(texts.explanation.as_deref().is_some_and(|text| text.contains(part)), "{state:?}: {texts:?}");
    }
}

#[test]
fn amounts_have_separators_and_whole_decimals() {
    for (amount, english, russian) in [
        ("0", "0", "0"),
        ("390.5", "390.50", "390,50"),
        ("390.00", "390", "390"),
        ("999", "999", "999"),
        ("1000", "1,000", "1 000"),
        ("12345.6", "12,345.60", "12 345,60"),
        ("123456", "123,456", "123 456"),
        ("1234567.089", "1,234,567.089", "1 234 567,089"),
        ("0.05", "0.05", "0,05"),
        ("-390", "-390", "-390"),
        ("-1390.5", "-1,390.50", "-1 390,50"),
        ("-0.00", "0", "0"),
        (
            "79228162514264337593543950335",
            "79,228,162,514,264,337,593,543,950,335",
            "79 228 162 514 264 337 593 543 950 335",
        ),
    ] {
        let number: Decimal = amount.parse().unwrap();
        let shown = |language| amount_text(number, "KGS", language).replace(NO_BREAK, " ");
        assert_eq!(shown(Language::English), format!("{english} som"), "{amount}");
        assert_eq!(shown(Language::Russian), format!("{russian} сом"), "{amount}");
        assert_eq!(shown(Language::Kyrgyz), format!("{russian} сом"), "{amount}");
    }
    assert_eq!(amount_text(Decimal::from(7), "USD", Language::Russian), "7\u{a0}USD");
}

#[test]
fn amount_is_not_broken_over_two_lines() {
    assert!(!amount_text(Decimal::from(1_390), "KGS", Language::Russian).contains(' '));
}

#[test]
fn payer_reads_total_before_the_code() {
    let enter = |method, commission: Option<&str>, total: Option<&str>| CheckoutState::EnterOtp {
        method,
        attempts_left: 3,
        message: None,
        phone_last2: Some("08".to_owned()),
        commission: commission.map(|text| text.parse().unwrap()),
        total: total.map(|text| text.parse().unwrap()),
        code_expires_at: None,
        can_change_method: false,
    };
    let texts = |state: &CheckoutState| CheckoutTexts::of(state, false, Language::English);
    let (megapay, largest) = (PaymentMethod::Megapay, Decimal::MAX.to_string());
    let known = texts(&enter(megapay, Some("7.8"), Some("397.80")));
    assert_eq!(
        known.cost.map(|cost| cost.replace(NO_BREAK, " ")).as_deref(),
        Some("You pay 397.80 som (amount 390 som, commission 7.80 som).")
    );
    let sent = "MegaPay has sent a code by SMS to the number that ends in 08. Attempts left: 3";
    assert_eq!(known.explanation.as_deref(), Some(sent));
    let unknown = Some("MegaPay may charge a commission. The amount is not known.");
    assert_eq!(texts(&enter(megapay, None, None)).cost.as_deref(), unknown);
    assert_eq!(
        texts(&enter(megapay, Some("-1"), Some(&largest))).cost.as_deref(),
        unknown,
        "no number that is too large"
    );
    assert_eq!(texts(&enter(PaymentMethod::Mbank, None, None)).cost, None);
}
