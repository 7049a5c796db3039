//! The hosted page: each state, what its forms do, and what it refuses.

use std::time::Duration;

use kassa::{Elqr, FakeFault};
use serde_json::{Value, json};

use crate::{
    client::{Served, order},
    payer::{Payer, attribute, hidden, order_by, screen},
    visitor::{FORM, Visitor, form},
};

const PHONE: &str = "0700 000 001";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payer_pays_by_mobile_bank() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    let (seen, page) = payer.sees(&served).await;
    assert_eq!(seen, "choose");
    for part in ["390\u{a0}som", "Two tickets", "shop.example.kg", "Card or wallet", "QR code", "MBank"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // As a phone's contacts give it.
    let begun = payer.pays(&served, "mbank", "\u{202a}+996 700 000 001\u{202c}").await;
    assert_eq!((begun.status, begun.header("location")), (303, Some(payer.page.as_str())), "{begun:?}");
    assert_eq!(payer.sees(&served).await.0, "enter-code");

    let wrong = payer.confirms(&served, "000000").await;
    assert_eq!(wrong.status, 303, "{wrong:?}");
    let (seen, page) = payer.sees(&served).await;
    assert_eq!(seen, "enter-code");
    assert!(page.contains("The code was not accepted") && page.contains("Attempts left: 2"), "{page}");
    assert!(page.contains("aria-invalid=\"true\"") && !page.contains("000000"), "{page}");

    payer.confirms(&served, &format!("{} {}", &served.fake.otp()[..3], &served.fake.otp()[3..])).await;
    let paid = payer.waits_for(&served, "paid").await;
    assert!(paid.contains("href=\"https://shop.example.kg/paid\""), "{paid}");
    let payment = &payer.checkout(&served).await["payments"][0];
    let operation = payment["order_number"].as_str().unwrap();
    for (name, value) in [
        ("Order", "order-1"),
        ("Amount", "390\u{a0}som"),
        ("Paid by", "MBank"),
        ("Phone number", "••• 01"),
        ("Operation number", operation),
    ] {
        assert!(paid.contains(&format!("<dt>{name}</dt><dd>{value}</dd>")), "{name}: {paid}");
    }
    assert!(paid.contains("<dt>Confirmed</dt>") && paid.contains("(Bishkek time)</dd>"), "{paid}");
    assert_eq!(payer.checkout(&served).await["state"], "paid");
}

/// What the wallet pays in all stands before the field for the PIN.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payer_sees_the_total_and_pays_by_megapay() {
    let served = Served::with_megapay().await;
    let payer = Payer::of(&served, "order-1").await;
    let (_, page) = payer.sees(&served).await;
    for part in
        ["value=\"megapay\"", "By phone number and a PIN from an SMS", "name=\"wallet-phone\"", "name=\"phone\""]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let wrong = payer.pays(&served, "megapay", "12").await;
    assert_eq!(wrong.status, 422, "{wrong:?}");
    assert!(wrong.text.contains("aria-describedby=\"wallet-phone-problem wallet-phone-hint\""), "{wrong:?}");
    assert!(
        !wrong.text.contains("id=\"phone-problem\"") && wrong.text.contains("value=\"megapay\" checked"),
        "{wrong:?}"
    );

    let begun = payer.pays(&served, "megapay", PHONE).await;
    assert_eq!((begun.status, begun.header("location")), (303, Some(payer.page.as_str())), "{begun:?}");
    let (seen, page) = payer.sees(&served).await;
    assert_eq!(seen, "enter-code");
    let before = page.split("id=\"otp\"").next().unwrap();
    for part in ["Enter the PIN", "to the number that ends in 01.", "<dt>Amount</dt><dd>390\u{a0}som</dd>"] {
        assert!(before.contains(part), "{part}: {page}");
    }
    for part in ["<dt>MegaPay commission</dt><dd>7.80\u{a0}som</dd>", "<dt>Total</dt><dd>397.80\u{a0}som</dd>"] {
        assert!(before.contains(part), "{part}: {page}");
    }
    assert!(page.contains("<button>Pay 397.80\u{a0}som</button>") && page.contains("The PIN is valid until"), "{page}");
    assert!(page.contains("Use another number or another way to pay") && !page.contains("may add"), "{page}");
    for (language, button) in [("ru", "Оплатить 397,80\u{a0}сом"), ("ky", "397,80\u{a0}сом төлөө")] {
        let page = payer.get(&served, &format!("?lang={language}")).await;
        assert!(page.text.contains(&format!("<button>{button}</button>")), "{page:?}");
    }
    for (pin, message) in [("", "Enter the PIN from the SMS."), ("код", "This cannot be the PIN")] {
        let refused = payer.confirms(&served, pin).await;
        assert!(refused.status == 422 && refused.text.contains(message), "{refused:?}");
    }
    payer.confirms(&served, "000000").await;
    let (_, page) = payer.sees(&served).await;
    assert!(page.contains("The PIN was not accepted") && page.contains("Attempts left: 2"), "{page}");

    // A gateway that tells no commission.
    served
        .database()
        .execute("UPDATE payments SET commission = NULL, total = NULL, code_expires_at = NULL", [])
        .unwrap();
    let (_, page) = payer.sees(&served).await;
    assert!(
        page.contains("MegaPay may add a commission.") && page.contains("<button>Confirm the payment</button>"),
        "{page}"
    );
    assert!(!page.contains("valid until"), "{page}");
    payer.confirms(&served, &served.fake.otp()).await;
    payer.waits_for(&served, "paid").await;
}

/// A checkout that was opened while MegaPay was taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_offers_megapay_only_while_it_is_taken() {
    let before = Served::with_megapay().await;
    let payer = Payer::of(&before, "order-1").await;
    let served = before.again().await;
    let (_, page) = payer.sees(&served).await;
    assert!(page.contains("value=\"mbank\"") && !page.contains("value=\"megapay\""), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payer_pays_by_qr_code() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    assert_eq!(payer.pays(&served, "qr", "").await.status, 303);
    let (seen, page) = payer.sees(&served).await;
    assert_eq!(seen, "show-qr");
    assert!(page.contains("<svg class=\"qr\" role=\"img\" aria-label=\"QR code for this payment\""), "{page}");
    let text = payer.checkout(&served).await["payments"][0]["qr_text"].as_str().unwrap().to_owned();
    served.fake.charge(&text).unwrap();
    let checked = payer.post(&served, "/check", &[]).await;
    assert_eq!((checked.status, checked.header("location")), (303, Some(payer.page.as_str())), "{checked:?}");
    payer.waits_for(&served, "paid").await;
}

/// A link to a bank is written from what was read of the code: a damaged code, and one with an unknown element, get none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn elqr_links_to_bank_apps_other_codes_to_text() {
    const CODE: &str = "00020101021232430013qr.example.kg0102021104TX17120212130212\
        5204581253034175405390005910HONEY SHOP630463e7";
    const UNKNOWN: &str = "00020101021232480013qr.example.kg0102021104TX171202121302122001x\
        5204581253034175405390005910HONEY SHOP6304ffc2";
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    payer.pays(&served, "qr", "").await;
    let any = format!("https://pay.payqr.kg/#{}", CODE.replace(' ', "%20"));
    let damaged = CODE.replace("TX17", "TX18");
    let own = |link: &str, code: &str| (format!("{link}#{code}"), Some(format!("{link}#{code}")));
    for ((text, first), has_banks) in [
        ((CODE.to_owned(), Some(any.clone())), true),
        ((format!("https://app.mbank.kg/qr/#{CODE}"), Some(any.clone())), true),
        // A link of the gateway's own, such as the sandbox's.
        (own("https://sandbox.example.kg/qr/17", CODE), true),
        (own("https://qr.shop.example.kg/17", &damaged), false),
        (own("https://qr.shop.example.kg/17", UNKNOWN), false),
        (own("https://qr.shop.example.kg/17", "part"), false),
        ((damaged.clone(), None), false),
        (("no link".to_owned(), None), false),
    ] {
        let database = served.database();
        database.execute_batch("DELETE FROM due").unwrap();
        database.execute("UPDATE payments SET qr_text = ?1", [&text]).unwrap();
        let (seen, page) = payer.sees(&served).await;
        assert_eq!(seen, "show-qr", "{text}");
        let hrefs = |part: &str| -> Vec<String> {
            let links = part.split("href=\"").skip(1).map(|link| link.split('"').next().unwrap());
            links.filter(|link| link.contains('#')).map(str::to_owned).collect()
        };
        let on_phone = page.split("class=\"on-phone").nth(1).and_then(|part| part.split("<details").next());
        assert_eq!(on_phone.and_then(|part| hrefs(part).first().cloned()), first, "{text}: {page}");
        let banks: Vec<String> = match Elqr::parse(&text).map(|code| code.bank_links()) {
            Ok(Ok(links)) if has_banks => links.into_iter().map(|link| link.url).collect(),
            _ => Vec::new(),
        };
        // Elsewhere they are collapsed.
        let shown =
            page.split("<details id=\"bank-apps\">").nth(1).map(|part| part.split("</details>").next().unwrap());
        assert_eq!(shown.map(hrefs).unwrap_or_default(), banks, "{text}: {page}");
        assert_eq!(page.contains("https://app.mbank.kg/"), has_banks, "{text}: {page}");
        let leading = hrefs(&page).len();
        assert_eq!(page.matches("rel=\"noreferrer noopener\"").count(), leading, "{text}: {page}");
        if first.as_ref() == Some(&any) {
            assert_eq!(hrefs(on_phone.unwrap()), banks, "{text}: each once");
        }
    }
}

/// Somebody else's number was typed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changing_phone_invalidates_first_otp() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    payer.pays(&served, "mbank", "0700 000 099").await;
    let (seen, first) = payer.sees(&served).await;
    assert_eq!(seen, "enter-code");
    for part in ["to the number that ends in 99.", "Use another number or another way to pay", "stops working then"] {
        assert!(first.contains(part), "{part}: {first}");
    }
    assert!(!first.contains("000099"), "{first}");
    let fields = |page: &str, phone: &str| {
        let (key, instead) = (hidden(page, "key"), hidden(page, "instead"));
        form(&[("method", "mbank"), ("phone", phone), ("key", key), ("instead", instead)])
    };
    let path = format!("{}/pay", payer.page);
    let wrong = served.send("POST", &path, &[FORM], &fields(&first, "12")).await;
    assert_eq!((wrong.status, screen(&wrong.text).as_str()), (422, "enter-code"), "{wrong:?}");
    assert!(wrong.text.contains("<details id=\"others\" open>"), "{wrong:?}");
    assert!(wrong.text.contains("Enter your phone number"), "{wrong:?}");

    let (_, page) = payer.sees(&served).await;
    let changed = served.send("POST", &path, &[FORM], &fields(&page, PHONE)).await;
    assert_eq!((changed.status, changed.header("location")), (303, Some(payer.page.as_str())), "{changed:?}");
    let (seen, second) = payer.sees(&served).await;
    assert_eq!(seen, "enter-code");
    assert!(second.contains("to the number that ends in 01."), "{second}");

    // Another window has the first one still: neither its code nor its form does anything.
    let otp = served.fake.otp();
    let late = [("payment", hidden(&first, "payment")), ("otp", otp.as_str()), ("key", hidden(&first, "key"))];
    assert_eq!(payer.post(&served, "/confirm", &late).await.status, 303);
    assert_eq!(served.send("POST", &path, &[FORM], &fields(&first, "0700 000 003")).await.status, 303);
    let stands = payer.checkout(&served).await;
    let of = |at: usize, name: &str| stands["payments"][at][name].clone();
    assert_eq!((of(0, "state"), of(0, "is_replaced")), (json!("awaiting"), json!(true)), "{stands}");
    assert_eq!((of(1, "state"), of(1, "can_be_replaced")), (json!("awaiting"), json!(true)), "{stands}");
    assert_eq!((of(2, "id"), served.fake.payments().len()), (Value::Null, 2), "{stands}");

    payer.confirms(&served, &otp).await;
    payer.waits_for(&served, "paid").await;
    let paid = payer.checkout(&served).await;
    assert_eq!((&paid["paid_by"], &paid["is_overpaid"]), (&of(1, "id"), &json!(false)), "{paid}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn qr_page_offers_other_methods() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    payer.pays(&served, "qr", "").await;
    let (seen, page) = payer.sees(&served).await;
    assert_eq!(seen, "show-qr");
    for part in
        ["otherwise you pay twice", "value=\"mbank\"", "<details id=\"others\" hidden>", "http-equiv=\"refresh\""]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("value=\"qr\""), "{page}");
    // Without scripts the other ways are on a page that does not load again while the payer types.
    let choosing = payer.get(&served, "?others=1").await;
    assert!(page.contains(&format!("href=\"{}?others=1\"", payer.page)), "{page}");
    assert!(choosing.text.contains("<details id=\"others\" open>"), "{choosing:?}");
    assert!(!choosing.text.contains("http-equiv=\"refresh\""), "{choosing:?}");

    let (key, instead) = (hidden(&page, "key"), hidden(&page, "instead"));
    let other = [("method", "mbank"), ("phone", PHONE), ("key", key), ("instead", instead)];
    assert_eq!(payer.post(&served, "/pay", &other).await.status, 303);
    assert_eq!(payer.sees(&served).await.0, "enter-code");
    // It was scanned after all.
    let text = payer.checkout(&served).await["payments"][0]["qr_text"].as_str().unwrap().to_owned();
    served.fake.charge(&text).unwrap();
    payer.post(&served, "/check", &[]).await;
    payer.waits_for(&served, "paid").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payer_returns_from_gateway_page() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    let begun = payer.pays(&served, "pay_form", "").await;
    let go = format!("{}/go", payer.page);
    assert_eq!((begun.status, begun.header("location")), (303, Some(go.as_str())), "{begun:?}");
    let between = served.send("GET", &go, &[], "").await;
    let url = payer.checkout(&served).await["payments"][0]["page_url"].as_str().unwrap().to_owned();
    assert!(between.text.contains(&format!("content=\"0; url={url}\"")), "{between:?}");
    let (seen, page) = payer.sees(&served).await;
    assert_eq!(seen, "open-page");
    assert!(page.contains("otherwise you pay twice") && page.contains("value=\"mbank\""), "{page}");
    let again = payer.pays(&served, "pay_form", "").await;
    assert_eq!(again.header("location"), Some(go.as_str()));
    assert_eq!(served.fake.payments().len(), 1, "the page is opened again, and no second one");

    let back = served.fake.charge(&url).unwrap().return_url.unwrap();
    let own = format!("http://{}{}/back", served.address, payer.page);
    assert!(back.starts_with(&own), "{back}");
    let came = payer.get(&served, "/back?orderNumber=1").await;
    assert_eq!((came.status, came.header("location")), (303, Some(payer.page.as_str())), "{came:?}");
}

/// Who says that they have paid is not shown how to pay again, unless they ask for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payer_who_claims_to_have_paid_is_not_asked_to() {
    let served = Served::start().await;
    for (method, url_field) in [("pay_form", "page_url"), ("qr", "qr_text")] {
        let payer = Payer::of(&served, method).await;
        payer.pays(&served, method, "").await;
        assert!(!payer.sees(&served).await.1.contains("has not confirmed"));
        payer.post(&served, "/check", &[]).await;
        let (seen, page) = payer.sees(&served).await;
        assert_eq!(seen, "claimed");
        for part in ["The bank has not confirmed the payment yet", "do not pay again"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        // A pay-form whose number no callback has named cannot be queried.
        assert_eq!(page.contains("the bank had not confirmed it yet"), method == "qr", "{page}");
        let shown = page.split("<details").next().unwrap();
        assert!(!shown.contains("/go\"") && !shown.contains("class=\"qr\"") && !shown.contains("/pay\""), "{page}");
        let asked = page.split("<details id=\"others\" hidden>").nth(1).unwrap();
        let how = if method == "qr" { "class=\"qr\"" } else { "/go\"" };
        assert!(asked.contains(how) && asked.contains("otherwise you pay twice"), "{page}");
        // Another window and a reload show the same.
        assert_eq!(payer.sees(&served).await.0, "claimed");
        let url = payer.checkout(&served).await["payments"][0][url_field].as_str().unwrap().to_owned();
        served.fake.charge(&url).unwrap();
        // Of a pay-form only its callback tells the number by which the gateway is asked.
        if method == "qr" {
            payer.post(&served, "/check", &[]).await;
            payer.waits_for(&served, "paid").await;
        }
    }
}

/// What is waited for is not contradicted: a payment that was declined beside it is not told where the payer may have paid.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decline_beside_a_claimed_payment_is_not_shown() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    payer.pays(&served, "pay_form", "").await;
    let reason = "Insufficient funds".to_owned();
    served.fake.fail_next(FakeFault::Refused { code: "51".to_owned(), reason });
    payer.pays(&served, "mbank", PHONE).await;
    let (seen, page) = payer.sees(&served).await;
    assert_eq!(seen, "open-page");
    assert!(page.contains("No money was taken") && page.contains("not enough money on your card"), "{page}");
    assert!(!page.contains("Insufficient funds"), "the gateway's words are for the staff: {page}");
    payer.get(&served, "/back").await;
    let (seen, page) = payer.sees(&served).await;
    assert_eq!(seen, "claimed");
    assert!(!page.contains("No money was taken"), "{page}");
    // Another window that still shows the way to pay hears of it.
    let other = payer.get(&served, &format!("/state?after={}&screen=open-page", attribute(&page, "version"))).await;
    assert_eq!((other.status, screen(&other.text).as_str()), (200, "claimed"), "{other:?}");
}

/// A gateway may post a form, and put the address together carelessly.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn altered_return_redirects_to_payment_page() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    // Of one that has ended nothing is waited for.
    let sql = format!("UPDATE checkouts SET state = 'cancelled' WHERE id = '{}'", payer.id);
    served.database().execute_batch(&sql).unwrap();
    let gateway = ("origin", "https://gateway.example.kg");
    for end in [
        "/back",
        "/back?OrderNumber=1&statusCode=200",
        "/back?token=x?OrderNumber=1",
        "/back?token=x&amp;OrderNumber=1",
        "/back?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=%ff",
        "/back%23OrderNumber=1",
        "/back%3FOrderNumber=1",
        "/back&OrderNumber=1&statusCode=200",
        "/back;OrderNumber=1",
        "/back/?OrderNumber=1",
    ] {
        let path = format!("{}{end}", payer.page);
        for (method, headers) in [("GET", &[][..]), ("HEAD", &[]), ("POST", &[gateway, FORM])] {
            let body = if method == "POST" { "OrderNumber=1&statusCode=200" } else { "" };
            let led = served.send(method, &path, headers, body).await;
            assert_eq!(
                (led.status, led.header("location")),
                (303, Some(payer.page.as_str())),
                "{method} {end}: {led:?}"
            );
        }
    }
    let in_kyrgyz = format!("{}?lang=ky", payer.page);
    for end in ["/back?lang=ky?OrderNumber=1", "/back?lang=ky%23OrderNumber=1", "/back?a=1&amp;lang=ky"] {
        let led = payer.post(&served, end, &[("OrderNumber", "1")]).await;
        assert_eq!(led.header("location"), Some(in_kyrgyz.as_str()), "{end}: {led:?}");
    }
    for end in ["?fbclid=1", "?OrderNumber=1?statusCode=200", "%3FOrderNumber=1", "&OrderNumber=1"] {
        assert_eq!(payer.get(&served, end).await.status, 200, "{end}");
    }
    assert_eq!(served.send("OPTIONS", &format!("{}/back", payer.page), &[gateway], "").await.status, 405);
    let lost = served.send("POST", "/pay/0123456789abcdef0123456789abcdef/back", &[gateway, FORM], "a=1").await;
    assert_eq!(lost.status, 404, "{lost:?}");
}

/// What is posted to the return address is a hint, as a return by a link is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn posted_return_only_triggers_status_query() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    assert_eq!(payer.pays(&served, "qr", "").await.status, 303);
    let text = payer.checkout(&served).await["payments"][0]["qr_text"].as_str().unwrap().to_owned();
    served.fake.charge(&text).unwrap();
    let (form, large) = ("application/x-www-form-urlencoded", "x".repeat(700_000));
    for (origin, kind, body) in [
        ("https://gateway.example.kg", form, "OrderNumber=1&statusCode=200&method=pay_form&key=k"),
        ("null", form, "OrderNumber=1"),
        ("https://gateway.example.kg", "application/json", "{"),
        ("https://gateway.example.kg", "multipart/form-data; boundary=x", "--x"),
        ("https://gateway.example.kg", form, large.as_str()),
    ] {
        let headers = [("origin", origin), ("content-type", kind)];
        for end in ["/back", ""] {
            let led = served.send("POST", &format!("{}{end}", payer.page), &headers, body).await;
            assert_eq!((led.status, led.header("location")), (303, Some(payer.page.as_str())), "{kind} {end}: {led:?}");
        }
    }
    payer.waits_for(&served, "paid").await;
    assert_eq!(payer.checkout(&served).await["payments"].as_array().unwrap().len(), 1, "none was begun");
}

/// What an app begins comes back to the shop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app_pay_form_returns_payer_to_shop() {
    let served = Served::start().await;
    let (_, token) = served.opened("order-1").await;
    let begun = served.pay(&token, "try-1", &json!({ "method": "pay_form" })).await.json();
    let back = served.fake.charge(begun["page_url"].as_str().unwrap()).unwrap().return_url.unwrap();
    assert!(back.starts_with("https://shop.example.kg/paid"), "{back}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_url_is_stable_and_only_for_the_shop() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    assert_eq!(Payer::of(&served, "order-1").await.page, payer.page);
    assert_ne!(Payer::of(&served, "order-2").await.page, payer.page);
    let found = served.shop("GET", "/v1/checkouts?reference=order-1", &Value::Null).await.json();
    assert_eq!(found["page_url"], format!("http://{}{}", served.address, payer.page));
    assert_eq!(payer.checkout(&served).await["page_url"], found["page_url"]);
    assert!(payer.secret().len() == 32 && !payer.id.contains(payer.secret()));

    payer.pays(&served, "mbank", PHONE).await;
    let (_, token) = served.opened("order-1").await;
    let app = served.call(&token, "GET", "/v1/checkout", &Value::Null).await;
    let events = served.shop("GET", "/v1/events", &Value::Null).await;
    let person = Visitor::log_in(&served, "Aizada").await;
    let staff = person.page(&served, &format!("/staff/checkouts/{}", payer.id)).await;
    for text in [app.text, events.text, staff] {
        assert!(!text.contains(payer.secret()), "{text}");
    }
}

/// Nobody who follows a payer's address sees JSON, however it was cut off on the way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_off_page_url_leads_to_a_page() {
    let served = Served::start().await;
    for path in ["/pay", "/pay/", "/pay/abc", "/pay/?lang=ru", "/pay/assets", "/pay/assets/x"] {
        let answer = served.send("GET", path, &[], "").await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert!(answer.text.contains("There is no such page"), "{path}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disabled_pages_have_no_url_and_return_404() {
    let on = Served::start().await;
    let payer = Payer::of(&on, "order-1").await;
    let off = Served::with(|_, http| http.has_pay_page = false).await;
    let made = off.shop("POST", "/v1/checkouts", &order("order-1")).await;
    assert_eq!((made.status, &made.json()["page_url"]), (201, &Value::Null));
    assert_eq!(off.send("GET", &payer.page, &[], "").await.status, 404);
}

/// Two tabs, two clicks, the way back, an old form.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicate_submission_begins_no_payment() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    let (first, second) = (payer.sees(&served).await.1, payer.sees(&served).await.1);
    let fields = |page: &str, method: &'static str, phone: &'static str| {
        let key = hidden(page, "key").to_owned();
        form(&[("method", method), ("phone", phone), ("key", &key)])
    };
    assert_ne!(hidden(&first, "key"), hidden(&second, "key"));
    let path = format!("{}/pay", payer.page);
    let clicks = [fields(&first, "mbank", PHONE), fields(&first, "mbank", PHONE)];
    let other = [fields(&second, "qr", ""), fields(&first, "mbank", "0700 000 002")];
    let answers =
        futures_util::future::join_all(clicks.iter().map(|body| served.send("POST", &path, &[FORM], body))).await;
    for (answer, body) in answers.into_iter().zip(&other) {
        let later = served.send("POST", &path, &[FORM], body).await;
        for answer in [answer, later] {
            assert_eq!((answer.status, answer.header("location")), (303, Some(payer.page.as_str())), "{answer:?}");
        }
    }
    assert_eq!(served.fake.payments().len(), 1);

    // An old form with another phone after the first payment's end: its key was used, so it does nothing, and the page says so.
    served.fake.reject(served.fake.payments()[0].order_number.as_ref().unwrap()).unwrap();
    payer.post(&served, "/check", &[]).await;
    payer.waits_for(&served, "choose").await;
    let reused = served.send("POST", &path, &[FORM], &other[1]).await;
    assert_eq!(reused.status, 409, "{reused:?}");
    assert!(reused.text.contains("Nothing was done yet"), "{reused:?}");
    assert_eq!(served.fake.payments().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_reads_have_no_side_effects() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    let before = payer.checkout(&served).await;
    for end in ["", "/go", "/back", "/pay", "/confirm", "/check", "/state?after=-1", "?method=qr&key=1"] {
        for method in ["GET", "HEAD"] {
            let answer = served.send(method, &format!("{}{end}", payer.page), &[], "").await;
            assert!(matches!(answer.status, 200 | 303), "{method} {end}: {answer:?}");
        }
    }
    assert_eq!((payer.checkout(&served).await, served.fake.payments().len()), (before, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_page_input_is_reported_at_its_field() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    for phone in ["", "12", "\"><script>alert(1)</script>"] {
        let refused = payer.pays(&served, "mbank", phone).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        for part in ["Enter your phone number", "aria-describedby=\"phone-problem phone-hint\"", "autofocus"] {
            assert!(refused.text.contains(part), "{part}: {refused:?}");
        }
        assert!(!refused.text.contains("<script>alert"), "{refused:?}");
        assert!(refused.text.contains("value=\"mbank\" checked"), "{refused:?}");
    }
    let shown = payer.pays(&served, "mbank", "0700 12").await;
    assert!(shown.text.contains("value=\"0700 12\""), "{shown:?}");
    let card = payer.pays(&served, "mbank", "4000 0000 0000 2016").await;
    assert!(card.status == 422 && !card.text.contains("4000 0000"), "{card:?}");
    for method in ["card", "cash", ""] {
        assert_eq!(payer.pays(&served, method, "").await.status, 400, "{method}");
    }
    assert!(served.fake.payments().is_empty());

    payer.pays(&served, "mbank", PHONE).await;
    for (otp, message) in [
        ("", "Enter the code from the SMS."),
        ("1234567890123", "This cannot be the code"),
        ("код", "This cannot be the code"),
    ] {
        let refused = payer.confirms(&served, otp).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        assert!(refused.text.contains(message) && refused.text.contains("Attempts left: 3"), "{refused:?}");
        assert!(otp.is_empty() || !refused.text.contains(otp), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payment_page_escapes_foreign_text() {
    let served = Served::start().await;
    let mut wanted = order("<b>order</b>");
    wanted["description"] = json!("<script>alert(\"1\")</script>&amp;'");
    wanted["return_url"] = json!("https://shop.example.kg/\"onclick=x'<b>");
    let payer = Payer::wanting(&served, &wanted).await;
    let reason = "<img src=x onerror=alert(1)>".to_owned();
    served.fake.fail_next(FakeFault::Refused { code: "400".to_owned(), reason: reason.clone() });
    payer.pays(&served, "mbank", PHONE).await;
    let (seen, page) = payer.sees(&served).await;
    assert_eq!(seen, "choose");
    assert!(page.contains("did not go through. No money was taken."), "{page}");
    for hostile in ["<script>alert", &reason, "\"onclick", "<b>"] {
        assert!(!page.contains(hostile), "{hostile}: {page}");
    }
    assert!(page.contains("&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#38;amp;&#39;"), "{page}");
}

/// States that no payer can reach by hand here; nobody asks the gateway about them, which knows better.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_state_is_shown() {
    let served = Served::start().await;
    let cases = [
        ("state = 'sending'", "under-way", "Do not pay a second time"),
        ("state = 'confirming'", "waiting", "Do not pay a second time"),
        ("state = 'confirming', is_stuck = 1", "person-needed", "Do not pay again"),
        ("state = 'unknown', unknown_since = 1", "unknown", "Do not pay again"),
        ("state = 'mismatch'", "person-needed", "order-"),
        ("state = 'unverifiable', is_in_doubt = 1", "person-needed", "We are checking your payment. Do not pay again"),
        ("state = 'rejected'", "choose", "The payment was declined"),
        ("state = 'not_made', failure_kind = 'Unavailable'", "choose", "The bank could not be reached"),
        ("attempts_left = 0", "no-codes-left", "Too many wrong codes"),
    ];
    for (index, (sql, expected, part)) in cases.into_iter().enumerate() {
        let payer = Payer::of(&served, &format!("order-{index}")).await;
        payer.pays(&served, "mbank", PHONE).await;
        // One that is being sent would else be taken for dead.
        let sql = format!(
            "BEGIN IMMEDIATE; DELETE FROM due;
             UPDATE payments SET until = until + 1000000000, {sql} WHERE checkout_id = '{}'; COMMIT",
            payer.id
        );
        served.database().execute_batch(&sql).unwrap();
        let (seen, page) = payer.sees(&served).await;
        assert_eq!(seen, expected, "{sql}");
        assert!(page.contains(part), "{sql}: {page}");
        let offers = page.contains("name=\"method\"");
        assert_eq!(
            offers,
            expected == "choose",
            "{sql}: a second payment is offered where it may be, and nowhere else"
        );
    }
    for (state, expected, part) in [
        ("'expired'", "expired", "The time to pay is over"),
        ("'cancelled'", "cancelled", "The order was cancelled"),
        ("'paid', is_overpaid = 1", "paid", "Money was taken more than once"),
    ] {
        let payer = Payer::of(&served, expected).await;
        let sql = format!("UPDATE checkouts SET state = {state} WHERE id = '{}'", payer.id);
        served.database().execute_batch(&sql).unwrap();
        let (seen, page) = payer.sees(&served).await;
        assert_eq!(seen, expected);
        assert!(page.contains(part) && page.contains("Back to the shop") && !page.contains("data-watch"), "{page}");
        assert_eq!(payer.post(&served, "/pay", &[("method", "qr"), ("key", "k")]).await.status, 303, "{expected}");
    }
    assert_eq!(served.fake.payments().len(), cases_made(), "no payment was begun of what has ended");
}

/// The gateway's page can be paid after the time is over: its payer must not be told to order again, and hears of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_checkout_with_payment_shows_waiting() {
    let served = Served::start().await;
    for (method, state) in [("pay_form", "expired"), ("qr", "expired"), ("pay_form", "cancelled")] {
        let payer = Payer::of(&served, &format!("order-{method}-{state}")).await;
        payer.pays(&served, method, "").await;
        let sql = format!("UPDATE checkouts SET state = '{state}', version = version + 1 WHERE id = '{}'", payer.id);
        served.database().execute_batch(&sql).unwrap();
        let (seen, page) = payer.sees(&served).await;
        assert_eq!(seen, "late", "{method} {state}");
        assert!(page.contains("Do not pay again") && page.contains("data-watch"), "{page}");
        assert!(!page.contains("name=\"method\""), "nothing can be begun: {page}");
        let paid = format!("UPDATE checkouts SET state = 'paid', version = version + 1 WHERE id = '{}'", payer.id);
        served.database().execute_batch(&paid).unwrap();
        assert_eq!(payer.sees(&served).await.0, "paid");
    }
}

/// One each of those that are begun above.
fn cases_made() -> usize {
    9
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_payment_page_shows_under_way() {
    let served = Served::with(|_, http| http.answer_within = Duration::from_secs(1)).await;
    let payer = Payer::of(&served, "order-1").await;
    served.fake.fail_next(FakeFault::NoResponse);
    // The gateway in memory waits by its own clock.
    served.fake.stop_clock();
    let begun = payer.pays(&served, "mbank", PHONE).await;
    assert_eq!((begun.status, begun.header("location")), (303, Some(payer.page.as_str())), "{begun:?}");
    let (seen, page) = payer.sees(&served).await;
    assert_eq!(seen, "under-way");
    assert!(page.contains("<noscript><meta http-equiv=\"refresh\" content=\"3;"), "{page}");
    served.fake.start_clock();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_state_is_polled_in_payer_language() {
    let served = Served::with(|_, http| http.longest_wait = Duration::from_millis(1)).await;
    let mut wanted = order("order-1");
    wanted["amount"] = json!("1390.50");
    let payer = Payer::wanting(&served, &wanted).await;
    let (_, page) = payer.sees(&served).await;
    let none = payer.get(&served, &format!("/state?after={}", attribute(&page, "version"))).await;
    assert_eq!((none.status, none.text.as_str()), (204, ""));
    let some = payer.get(&served, "/state?after=-1").await;
    assert_eq!((some.status, screen(&some.text).as_str()), (200, "choose"));
    assert!(!some.text.contains("<html"), "{some:?}");

    let russian = served.send("GET", &payer.page, &[("accept-language", "ru-KG,en;q=0.5")], "").await;
    for part in ["<html lang=\"ru\">", "1\u{a0}390,50\u{a0}сом", "Как вы хотите оплатить?", "время Бишкека"]
    {
        assert!(russian.text.contains(part), "{part}: {russian:?}");
    }
    let kyrgyz = payer.get(&served, "?lang=ky").await;
    for part in ["<html lang=\"ky\">", "Кантип төлөйсүз?", "/state?lang=ky\"", "/pay?lang=ky\""] {
        assert!(kyrgyz.text.contains(part), "{part}: {kyrgyz:?}");
    }
    let path = format!("{}/pay?lang=ky", payer.page);
    let begun = served.send("POST", &path, &[FORM], &form(&[("method", "pay_form"), ("key", "k")])).await;
    assert_eq!(begun.header("location"), Some(format!("{}/go?lang=ky", payer.page).as_str()));
    let url = served.fake.payments()[0].page_url.clone().unwrap();
    let back = served.fake.charge(&url).unwrap().return_url.unwrap();
    assert!(back.contains("/back?lang=ky"), "{back}");
}

/// The page is no way round what a checkout allows; cards are never offered here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payment_page_offers_allowed_methods_only() {
    let served = Served::with(|server, _| server.takes_cards = true).await;
    let payer = Payer::wanting(&served, &order_by("order-1", &["card", "qr"])).await;
    let (_, page) = payer.sees(&served).await;
    assert!(page.contains("value=\"qr\"") && !page.contains("value=\"mbank\"") && !page.contains("card\""), "{page}");
    assert_eq!(payer.pays(&served, "mbank", PHONE).await.status, 400);
    assert_eq!(payer.pays(&served, "card", "").await.status, 400);
    let alone = Payer::wanting(&served, &order_by("order-2", &["card"])).await;
    assert!(alone.sees(&served).await.1.contains("cannot be paid on this page"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payment_page_rejects_other_origins() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    let body = form(&[("method", "qr"), ("key", "k")]);
    let path = format!("{}/pay", payer.page);
    for (origin, end) in [
        ("https://evil.example", "/pay"),
        ("null", "/pay"),
        ("https://evil.example", "/confirm"),
        ("https://evil.example", "/check"),
    ] {
        let path = format!("{}{end}", payer.page);
        let refused = served.send("POST", &path, &[FORM, ("origin", origin)], &body).await;
        assert_eq!(refused.status, 403, "{origin} {end}: {refused:?}");
    }
    let json = ("content-type", "application/json");
    assert_eq!(served.send("POST", &path, &[json], "{}").await.status, 415);
    assert_eq!(served.send("POST", &path, &[FORM], &"x".repeat(5000)).await.status, 413);
    assert_eq!(served.send("DELETE", &payer.page, &[], "").await.status, 405);
    assert!(served.fake.payments().is_empty());
    let own = format!("http://{}", served.address);
    assert_eq!(served.send("POST", &path, &[FORM, ("origin", &own)], &body).await.status, 303);

    for wrong in ["/pay/x", "/pay/0123456789abcdef0123456789abcdef", "/pay/%ff", "/pay/x/state", "/pay/assets/x.css"] {
        let refused = served.send("GET", wrong, &[], "").await;
        assert_eq!(refused.status, 404, "{wrong}: {refused:?}");
        assert!(refused.text.contains("There is no such page") && !refused.text.contains("Two tickets"), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payment_page_responses_have_security_headers() {
    let served = Served::start().await;
    let payer = Payer::of(&served, "order-1").await;
    let page = payer.get(&served, "").await;
    let asset = |name: &str| {
        let end = page.text.split("/pay/assets/").find(|part| part.split('"').next().unwrap().ends_with(name)).unwrap();
        format!("/pay/assets/{}", end.split('"').next().unwrap())
    };
    for path in [payer.page.clone(), format!("{}/go", payer.page), "/pay/x".to_owned(), asset(".css"), asset(".js")] {
        let answer = served.send("GET", &path, &[], "").await;
        let policy = answer.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "script-src 'self';", "form-action 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part) && !policy.contains("unsafe"), "{path}: {policy}");
        }
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
        assert_eq!(answer.header("x-robots-tag"), Some("noindex, nofollow"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        let keeps = if path.contains("assets") { "public, max-age=31536000, immutable" } else { "no-store" };
        assert_eq!(answer.header("cache-control"), Some(keeps), "{path}");
    }
    for inline in ["style=", "<style", " onclick", "javascript:"] {
        assert!(!page.text.contains(inline), "{inline}: {page:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_has_a_rate_and_guessing_gets_slower() {
    let served = Served::with(|_, http| http.per_token = 1).await;
    let (payer, other) = (Payer::of(&served, "order-1").await, Payer::of(&served, "order-2").await);
    let mut answer = payer.get(&served, "").await;
    // Ten seconds' worth may come at once, and then one a second.
    for _ in 0..1000 {
        if answer.status == 429 {
            break;
        }
        answer = payer.get(&served, "").await;
    }
    assert_eq!(answer.status, 429, "{answer:?}");
    assert!(answer.header("retry-after").is_some() && answer.text.contains("Too many requests"), "{answer:?}");
    assert_eq!(other.get(&served, "").await.status, 200);

    let mut refused = served.send("GET", "/pay/x", &[], "").await;
    for _ in 0..20 {
        refused = served.send("GET", "/pay/x", &[], "").await;
    }
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_eq!(other.get(&served, "").await.status, 200, "a right address is never locked out");
}
