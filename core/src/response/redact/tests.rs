use proptest::{collection::vec, prelude::*};

use super::*;

fn with_credentials(password: &str, token: &str) -> Redactor {
    Redactor::new(Arc::new(HiddenCredentials::new(Secret::new(password), Secret::new(token))))
}

fn redactor() -> Redactor {
    let mut redactor = with_credentials("swordfish-9", "c2hvcDpzd29yZGZpc2gtOQ==");
    redactor.hide_pan(Secret::new("4111111111111111"));
    redactor.hide_value(Secret::new("012"));
    redactor
}

#[test]
fn echoed_secrets_are_masked_and_rest_unchanged() {
    let body = r#"{ "pan":4111111111111111, "p":"4111 1111-11111111", "u":"\u0034111111111111111",
        "cvc":"012", "n":12, "amount":100.10, "sum":1012, "password":"swordfish-9", "h":"Basic c2hvcDpzd29yZGZpc2gtOQ==",
        "4111111111111111":"012x"}"#;
    let masked = r#"{ "pan":"**** 1111", "p":"**** 1111", "u":"**** 1111",
        "cvc":"***", "n":"***", "amount":100.10, "sum":1012, "password":"***", "h":"Basic ***",
        "**** 1111":"012x"}"#;
    assert_eq!(redactor().body(body), masked);
}

#[test]
fn quoted_request_is_looked_into() {
    let body = r#"{"you sent":"{\"cvc\":\"012\",\"deep\":\"[\\\"012\\\"]\",\"sum\":1012}"}"#;
    let masked = r#"{"you sent":"{\"cvc\":\"***\",\"deep\":\"[\\\"***\\\"]\",\"sum\":1012}"}"#;
    assert_eq!(redactor().body(body), masked);
}

#[test]
fn no_form_of_a_number_hides_it() {
    for (body, masked) in [
        ("[4.111111111111111E15]", r#"["**** 1111"]"#),
        ("[411111111111111.1e1, 1.2e1]", r#"["**** 1111", "***"]"#),
        ("\u{feff}{\"cvc\":12}", "\u{feff}{\"cvc\":\"***\"}"),
        (" 012\n", "***"),
        ("4111111111111111", "**** 1111"),
        ("41111111111111112", "**** 11112"),
    ] {
        assert_eq!(redactor().body(body), masked);
    }
}

#[test]
fn bodies_that_are_not_json_are_masked_too() {
    assert_eq!(redactor().body("<b>card 4111-1111-1111-1111</b> x"), "<b>card **** 1111</b> x");
    assert_eq!(redactor().body("user=shop&password=swordfish-9"), "user=shop&password=***");
    assert_eq!(redactor().body(r#"{"pan":"4111111111111111"#), r#"{"pan":"**** 1111"#);
}

/// A card with the CVC 737, a one-time password, and a password.
fn redactor_with(password: &str) -> Redactor {
    let mut redactor = with_credentials(password, "c2hvcDpodW50ZXIy");
    redactor.hide_pan(Secret::new("4111111111111111"));
    redactor.hide_value(Secret::new("737"));
    redactor.hide_value(Secret::new("918273"));
    redactor
}

#[test]
fn secret_is_masked_as_a_word_of_a_text() {
    for (body, masked) in [
        (r#"{"m":"Invalid OTP: 918273"}"#, r#"{"m":"Invalid OTP: ***"}"#),
        (r#"{"m":"cvc=737&otp=918273","n":"code is 737."}"#, r#"{"m":"cvc=***&otp=***","n":"code is ***."}"#),
        (
            r#"{"m":"12/31,737,A","n":["(737)","cvc_737","737 som"]}"#,
            r#"{"m":"12/31,***,A","n":["(***)","cvc_***","*** som"]}"#,
        ),
        (
            r#"{"m":"cvc%3D737%26otp%3d%39182%2573","n":"%3737 %D0%BA737"}"#,
            r#"{"m":"cvc%3D***%26otp%3d%39182%2573","n":"*** %D0%BA737"}"#,
        ),
        (r#"{"m":"otp%3d%39182%373 otp%253D918273"}"#, r#"{"m":"otp%3d*** otp%253D***"}"#),
        (
            r#"{"m":"otp\u003d91827\u0033","n":"x: {\\\"otp\\\":\\\"\\u0039\\u00318273\\\"}"}"#,
            r#"{"m":"otp=***","n":"x: {\\\"otp\\\":\\\"***\\\"}"}"#,
        ),
        ("<p>OTP&nbsp;918273, &#55;37</p>", "<p>OTP&nbsp;***, ***</p>"),
        ("Wrong password hunter2!", "Wrong password ***!"),
        (r#"{"cvc":"737","otp":"918273","#, r#"{"cvc":"***","otp":"***","#),
        (r#"{"cvc":737,"otp":"\u0039\u00318273"#, r#"{"cvc":***,"otp":"***"#),
    ] {
        assert_eq!(redactor_with("hunter2").body(body), masked);
    }
}

#[test]
fn digits_inside_words_and_other_numbers_stay() {
    for body in [
        r#"{"n":17370,"m":7.37,"o":100.737,"p":737.5,"q":-737,"r":[7,3,7]}"#,
        r#"{"m":"17370 7.37 100.737 737.50 a737 737b 10:00:00.737Z","hunter2":1,"hunter2_x":{"b":"xhunter2"}}"#,
        r#"{"amount":737,"totalAmount":737.00,"sum":[737]}"#,
    ] {
        assert_eq!(redactor_with("hunter2").body(body), body);
    }
}

/// A number has to be that of an amount by its own name.
#[test]
fn number_is_compared_by_its_value() {
    for (body, masked) in [
        (r#"{"cvc":737,"x":[737.0,73.7e1]}"#, r#"{"cvc":"***","x":["***","***"]}"#),
        (r#"{"amount":1,"cvc":737}"#, r#"{"amount":1,"cvc":"***"}"#),
        (r#"[{"amount":1},737]"#, r#"[{"amount":1},"***"]"#),
        (r#"{"amount":"737"}"#, r#"{"amount":"***"}"#),
    ] {
        assert_eq!(redactor_with("hunter2").body(body), masked);
    }
}

#[test]
fn card_number_with_any_separator_is_masked() {
    let separators = [
        " ",
        "  ",
        ".",
        "-",
        "/",
        "_",
        ", ",
        "|",
        "*",
        "\t",
        "\r\n",
        "\u{a0}",
        "\u{ad}",
        "\u{200b}",
        "\u{200d}",
        "\u{2009}",
        "\u{2011}",
        "\u{2060}",
        "\u{feff}",
        " - ",
        "%20",
        "%2D",
        "%2e",
        "%C2%A0",
        "%E2%80%8B",
        "%2520",
        "\\u00a0",
        "\\n",
        "&nbsp;",
        "&#8203;",
        "&#xA0;",
    ];
    let redactor = redactor_with("hunter2");
    let digits: Vec<_> = "4111111111111111".chars().map(String::from).collect();
    for separator in separators {
        for number in [["4111", "1111", "1111", "1111"].join(separator), digits.join(separator)] {
            assert_eq!(redactor.text(&format!("card {number}.")), "card **** 1111.", "{separator:?}");
            let body = serde_json::json!({ "m": format!("({number})") }).to_string();
            assert_eq!(redactor.body(&body), r#"{"m":"(**** 1111)"}"#, "{separator:?}");
        }
    }
    for code in ["%3", "\\u003", "\\\\u003", "&#x3"] {
        let end = if code.starts_with('&') { ";" } else { "" };
        let number: String = digits.iter().map(|digit| format!("{code}{digit}{end}")).collect();
        assert_eq!(redactor.text(&number), "**** 1111", "{code}");
    }
    assert_eq!(redactor.text("100%4111111111111111 \\u4111111111111111"), "100%**** 1111 \\u**** 1111");
}

#[test]
fn card_number_in_array_is_masked_as_valid_json() {
    for (body, masked) in [
        (r#"{"pan":["4111","1111","1111","1111"]}"#, r#"{"pan":["**** 1111"]}"#),
        ("[4111, 1111, 1111, 1111]", r#"["**** 1111"]"#),
        (r#"["4111",1111,"1111",1111]"#, r#"["**** 1111"]"#),
        (r#"[4111,"1111",1111,"1111"]"#, r#"["**** 1111"]"#),
    ] {
        assert_eq!(redactor_with("hunter2").body(body), masked);
    }
}

/// The response can still be read where the password is the name of a field.
#[test]
fn field_names_are_not_masked() {
    let body = r#"{"code":"code","transaction":{"id":1,"transaction_id":"transaction"}}"#;
    let masked = |password: &str| redactor_with(password).body(body);
    assert_eq!(masked("code"), r#"{"code":"***","transaction":{"id":1,"transaction_id":"transaction"}}"#);
    assert_eq!(masked("transaction"), r#"{"code":"code","transaction":{"id":1,"transaction_id":"***"}}"#);
    let names = r#"{"737":1,"swordfish-77":1,"user=a&password=swordfish-77":1,"{\"cvc\":737}":1}"#;
    let masked = r#"{"***":1,"***":1,"user=a&password=***":1,"{\"cvc\":\"***\"}":1}"#;
    assert_eq!(redactor_with("swordfish-77").body(names), masked);
}

#[test]
fn password_is_found_as_it_is_written() {
    let redactor = redactor_with("p@ss w\"rd&1");
    for text in ["p@ss w\"rd&1", "p%40ss%20w%22rd%261", "p%40ss+w%22rd%261", r#"p@ss w\"rd&1"#, "p@ss w&quot;rd&amp;1"]
    {
        assert_eq!(redactor.text(&format!("x{text}x")), "x***x", "{text}");
    }
}

#[test]
fn what_is_handed_on_unmasked_holds_no_secret() {
    let redactor = redactor_with("swordfish-77");
    for text in [
        "4111-1111-1111-1111",
        "737",
        " 918273",
        "swordfish-77",
        "a/swordfish-77x",
        "x%73wordfish-77",
        "c2hvcDpodW50ZXIy",
    ] {
        assert!(!redactor.is_clean(text), "{text}");
    }
    for text in ["737-1", "gw-737", "4111", "swordfish"] {
        assert!(redactor.is_clean(text), "{text}");
    }
    for password in ["gw", "gw-1", "token", "3ds", "transaction"] {
        assert!(redactor_with(password).is_clean("gw-1 token/3ds/transaction"), "{password}");
    }
}

/// Each of them would take hours if any place made the search begin anew.
#[test]
fn longest_responses_are_masked() {
    let redactor = redactor_with("hunter2");
    let parts = [
        "4",
        "4,",
        "41 ",
        "411111111111111 ",
        "%",
        "%25",
        "%34",
        "\\",
        "\\u0034",
        "&",
        "&#",
        "737",
        "737.",
        "[",
        "{\"a\":",
        "\"",
        "\"[\",",
    ];
    for part in parts {
        for body in
            [part.repeat(1_048_576 / part.len()), format!("[\"{}\"]", part.replace(['\\', '"'], "x").repeat(100_000))]
        {
            assert!(!redactor.body(&body).contains("4111111111111111"), "{part}");
        }
    }
    let nested = (0..16).fold("{\"cvc\":737}".to_owned(), |inside, _| format!("[{}]", quoted(&inside)));
    assert!(!redactor.body(&nested).contains("737"));
}

proptest! {
    #[test]
    fn no_text_around_a_card_number_saves_it(before in any::<String>(), after in any::<String>()) {
        let masked = redactor().body(&format!("{before}4111111111111111{after}"));
        prop_assert!(!masked.contains("4111111111111111"), "{}", masked);
    }

    #[test]
    fn json_stays_json(text in any::<String>(), number in any::<i32>()) {
        let pan = "4111 1111-1111.1111";
        let body = serde_json::json!({ &text: [text, number, 737, pan, "737"], pan: { "x": 4111111111111111_u64 } });
        let masked = redactor_with("hunter2").body(&body.to_string());
        prop_assert!(serde_json::from_str::<serde_json::Value>(&masked).is_ok(), "{}", masked);
        prop_assert!(!masked.contains("\"737\"") && !masked.contains(pan), "{}", masked);
        prop_assert!(!masked.contains("4111111111111111"), "{}", masked);
    }

    /// Looking at the whole of a response finds what looking at each part would.
    #[test]
    fn body_without_findings_has_nothing_to_mask(
        password in "[a-c0-2 .]{0,3}|[ab]{8,9}|[ab1]{8}",
        token in "[a-c=]{1,3}",
        text in r#"([\[\]{}:, \\%&]|"[a-c0-2 .=+\\%]{0,4}"|[0-2.e-]{1,3})*"#,
        members in vec(("[a-c0-2 .=]{0,9}", "[a-c0-2 .=+]{0,9}", 0_u8..30), 0..4),
    ) {
        let redactor = with_credentials(&password, &token);
        let json: serde_json::Value =
            members.into_iter().map(|(name, text, number)| (name, serde_json::json!([text, number]))).collect();
        for body in [text, json.to_string()] {
            if !redactor.finds_nothing_in(&body) {
                continue;
            }
            prop_assert_eq!(redactor.body(&body), body.clone());
            for (start, _) in body.char_indices() {
                let part = &body[start..];
                prop_assert_eq!(redactor.text(part), part);
                prop_assert_eq!(redactor.code(part), part);
                prop_assert!(redactor.is_clean(part) && redactor.holds_none(part, TextKind::Address));
            }
        }
    }

    #[test]
    fn body_without_secrets_is_not_touched(body in "[a-z{}\":, \\\\3-9]*") {
        prop_assert_eq!(redactor().body(&body), body);
    }
}
