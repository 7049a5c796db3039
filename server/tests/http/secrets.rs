//! What must not come out (invariant 9): the gateway repeats what it was sent, in every form, and all that is told and kept is
//! searched for it.

use kassa::FakeFault;
use kassa_server::Permission;
use serde_json::{Value, json};

use crate::{client::Served, payer::Payer, visitor::Visitor};

const PHONE: &str = "996555000101";
const OTP: &str = "918273";

/// The phone as gateways write it.
const PHONES: [&str; 9] = [
    "996555000101",
    "+996 (555) 000-101",
    "0555-000-101",
    "no such number: 555000101",
    "phone%253D%252B996555000101",
    r"\u002b996\u200b555\u0020000\u0020101",
    "996.555.000.101",
    "[996,555,000,101]",
    "x996555000101x",
];
/// The addresses that only the gateway and the payer know, whole and cut.
const ADDRESSES: [&str; 6] = [
    "http://a.kg/callbacks/CALLBACKS/1",
    r"{\u0022callbackUrl\u0022:\u0022http:\/\/a.kg\/hooks\/CALLBACKS\/1\u0022}",
    "callbackUrl=http%3A%2F%2Fa.kg%2Fcallbacks%2FCALLBACKS%2F1",
    "callbacks/CUT",
    "no callback could be made to CALLBACKS",
    "returnUrl=https%3A%2F%2Fa.kg%2Fpay%2FPAGE%2Fback",
];
const OTPS: [&str; 4] = ["WRONG 918273", "otp%3D918273", "code 91 82 73", "CODE918273!"];

/// A checkout, its payer, and what nobody is told.
struct Case {
    payer: Payer,
    token: String,
    callbacks: String,
    page: String,
}

impl Case {
    async fn new(served: &Served, reference: &str) -> Self {
        let payer = Payer::of(served, reference).await;
        let made = served.shop("POST", &format!("/v1/checkouts/{}/tokens", payer.id), &Value::Null).await;
        let token = made.json()["token"].as_str().unwrap().to_owned();
        let sql = "SELECT callback_secret, page_secret FROM checkouts WHERE id = ?1";
        let (callbacks, page) =
            served.database().query_row(sql, [&payer.id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        Self { payer, token, callbacks, page }
    }

    fn filled(&self, text: &str) -> String {
        text.replace("CALLBACKS", &self.callbacks).replace("CUT", &self.callbacks[..24]).replace("PAGE", &self.page)
    }

    async fn pays(&self, served: &Served, method: &str) -> Value {
        let begun = served.pay(&self.token, "try-1", &json!({ "method": method, "phone": PHONE })).await;
        assert!(matches!(begun.status, 201 | 202), "{begun:?}");
        // On a busy machine the response comes before the gateway's.
        let mut payment = begun.json();
        while matches!(payment["state"].as_str(), Some("prepared" | "sending")) {
            tokio::task::yield_now().await;
            payment = self.payer.checkout(served).await["payments"][0].take();
        }
        payment
    }

    /// The gateway's words about the last try, as the shop sees them.
    async fn failure_reason(&self, served: &Served) -> String {
        let checkout = self.payer.checkout(served).await;
        let last = checkout["payments"].as_array().unwrap().last().unwrap();
        last["failure"]["reason"].as_str().unwrap_or_else(|| panic!("{last}")).to_owned()
    }

    /// Nobody is told, and no table holds, what was planted. (The shop is told where its payer's page is.)
    async fn assert_clean(&self, served: &Served, about: &str) {
        let path = format!("/v1/checkouts/{}", self.payer.id);
        let shop = served.shop("GET", &path, &Value::Null).await.json();
        let person = Visitor::with_permission(served, "Bakyt", Permission::View).await;
        let mut texts = stored_texts(served);
        texts.push(("the shop's answer", shop["payments"].to_string()));
        texts.push(("the app's answer", served.call(&self.token, "GET", "/v1/checkout", &Value::Null).await.text));
        texts.push(("the events", served.shop("GET", "/v1/events", &Value::Null).await.text));
        texts.push(("the staff's page", person.page(served, &format!("/staff/checkouts/{}", self.payer.id)).await));
        texts.push(("the payer's page", self.payer.sees(served).await.1.replace(&self.page, "")));
        for (place, text) in texts {
            let digits: String = text.chars().filter(char::is_ascii_digit).collect();
            assert!(!digits.contains("555000101"), "{about}: the phone is in {place}: {text}");
            assert!(!holds(&text, OTP), "{about}: the password is in {place}: {text}");
            for secret in [&self.callbacks, &self.page] {
                assert!(!text.contains(&secret[..16]), "{about}: an address is in {place}: {text}");
            }
        }
        for file in served.files() {
            let has = |text: &str| file.windows(text.len()).any(|part| part == text.as_bytes());
            assert!(!PHONES.into_iter().any(has), "{about}: the phone is in a file");
        }
    }
}

/// All texts of what is written about payments.
fn stored_texts(served: &Served) -> Vec<(&'static str, String)> {
    let database = served.database();
    let mut texts = Vec::new();
    for table in ["payments", "exchanges", "events", "claims", "idempotency"] {
        let mut statement = database.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            texts.extend((0..columns).filter_map(|index| Some((table, row.get::<_, String>(index).ok()?))));
        }
    }
    texts
}

/// As a number of its own: six digits can be in any identifier.
fn holds(text: &str, number: &str) -> bool {
    let is_part = |c: char| c.is_ascii_hexdigit();
    text.match_indices(number)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + number.len()..].starts_with(is_part))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_secrets_echoed_by_gateway_are_masked() {
    let served = Served::with_megapay().await;
    for method in ["mbank", "megapay"] {
        for (index, echo) in PHONES.into_iter().chain(ADDRESSES).enumerate() {
            let case = Case::new(&served, &format!("{method}-{index}")).await;
            let echo = case.filled(echo);
            served.fake.fail_next(FakeFault::Refused { code: echo.clone(), reason: format!("Refused: {echo}") });
            case.pays(&served, method).await;
            let reason = case.failure_reason(&served).await;
            assert!(reason.starts_with("Refused: ") && reason.contains("***"), "{echo}: {reason}");
            if method == "megapay" {
                served.checkpoint();
            }
            case.assert_clean(&served, &echo).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn otp_echoed_by_gateway_is_masked() {
    let served = Served::with_megapay().await;
    let both = ["mbank", "megapay"].into_iter().flat_map(|method| OTPS.into_iter().map(move |echo| (method, echo)));
    for (index, (method, echo)) in both.enumerate() {
        let case = Case::new(&served, &format!("order-{index}")).await;
        let payment = case.pays(&served, method).await["id"].as_str().unwrap().to_owned();
        served.fake.fail_next(FakeFault::Refused { code: "400".into(), reason: echo.into() });
        let path = format!("/v1/checkout/payments/{payment}/confirm");
        let key = [("idempotency-key", "otp-1")];
        let confirmed = served.call_with(&case.token, "POST", &path, &key, &json!({ "otp": OTP })).await;
        assert_eq!(confirmed.status, 200, "{confirmed:?}");
        let reason = case.failure_reason(&served).await;
        assert!(reason.contains("***"), "{echo}: {confirmed:?}");
        let digits: String = reason.chars().filter(char::is_ascii_digit).collect();
        assert!(!digits.contains(OTP), "{echo}: {confirmed:?}");
        if method == "megapay" {
            // Until then the phone is needed.
            let cancel = format!("/v1/checkouts/{}/cancel", case.payer.id);
            assert_eq!(served.shop("POST", &cancel, &Value::Null).await.status, 200);
            served.checkpoint();
        }
        case.assert_clean(&served, echo).await;
    }
}

/// What the gateway says by itself: nobody knows the payer's phone any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_echoed_in_callback_are_masked() {
    let served = Served::start().await;
    let case = Case::new(&served, "order-1").await;
    let payment = case.pays(&served, "mbank").await["id"].as_str().unwrap().to_owned();
    let number = payment.strip_prefix("pay_").unwrap();
    let path = format!("/callbacks/{}/{number}", case.callbacks);
    for (index, echo) in ADDRESSES.into_iter().chain(["msisdn: 555000101", "+996 555 000 101"]).enumerate() {
        let body = json!({ "n": index, "request": case.filled(echo) }).to_string();
        let called = served.send("POST", &path, &[("content-type", "application/json")], &body).await;
        assert_eq!(called.status, 200, "{called:?}");
        case.assert_clean(&served, echo).await;
    }
    let masked =
        stored_texts(&served).into_iter().filter(|(table, text)| *table == "exchanges" && text.contains("***")).count();
    assert_eq!(masked, ADDRESSES.len() + 2, "each of them is there, masked");
}
