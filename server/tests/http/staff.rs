//! The staff's pages, as a person meets them.

use std::collections::BTreeSet;

use kassa::FakeFault;
use kassa_server::Permission;
use kassa_test_patience::wait_until_async;
use serde_json::{Value, json};

use crate::{
    client::{Served, order},
    visitor::{FORM, Visitor, checkouts, form, version_of},
};

const PHONE: &str = "996700000001";
const REASON: &str = "The gateway's own list shows it";

/// A checkout with a payment of which nobody knows, and that payment.
async fn unknown(served: &Served, reference: &str) -> (String, String) {
    let (id, token) = served.opened(reference).await;
    served.fake.fail_next(FakeFault::RequestLost);
    let begun = served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": PHONE })).await;
    assert_eq!(begun.json()["state"], "unknown", "{begun:?}");
    (id, begun.json()["id"].as_str().unwrap().to_owned())
}

/// An address for callbacks, of the same form as those of payments, that no payment has.
fn nowhere(of: u8) -> String {
    format!("/callbacks/{}/{}", "0f".repeat(16), format!("{of:02x}").repeat(16))
}

async fn paying(served: &Served, reference: &str, body: &Value) -> (String, Value) {
    let (id, token) = served.opened(reference).await;
    let begun = served.pay(&token, "try-1", body).await;
    assert_eq!(begun.status, 201, "{begun:?}");
    (id, begun.json())
}

fn mbank() -> Value {
    json!({ "method": "mbank", "phone": PHONE })
}

/// Half of its number, with blanks or without: four digits are now and then in a random token of the page.
fn shows_the_card(page: &str) -> bool {
    page.replace(' ', "").contains("41111111")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_member_resolves_payment_with_reason() {
    let served = Served::start().await;
    let (id, payment) = unknown(&served, "order-1").await;
    let person = Visitor::log_in(&served, "Aizada <b>").await;
    let found = person.page(&served, "/staff?q=order-1").await;
    assert_eq!(checkouts(&found), [id.as_str()]);
    let path = format!("/staff/checkouts/{id}");
    let page = person.page(&served, &path).await;
    assert!(page.contains(">unknown<") && page.contains("payment.unknown"), "{page}");

    let resolve = format!("{path}/payments/{payment}/resolve");
    for fields in [
        [("outcome", "charged"), ("reason", " ")],
        [("outcome", "perhaps"), ("reason", REASON)],
        [("outcome", "charged"), ("reason", "4111 1111 1111 1111")],
    ] {
        let refused = person.post(&served, &resolve, &fields).await;
        assert_eq!(refused.status, 400, "{fields:?}: {refused:?}");
        assert!(refused.text.contains("role=\"alert\"") && !shows_the_card(&refused.text), "{refused:?}");
    }
    let version = version_of(&page);
    let right = [("version", version.as_str()), ("outcome", "charged"), ("reason", REASON)];
    let elsewhere = format!("/staff/checkouts/co_{}/payments/{payment}/resolve", "0".repeat(32));
    assert_eq!(person.post(&served, &elsewhere, &right).await.status, 404);
    let stale = person.post(&served, &resolve, &[("version", "0"), right[1], right[2]]).await;
    assert!(stale.status == 409 && stale.text.contains("the checkout changed after you opened this page"), "{stale:?}");
    assert!(person.page(&served, &path).await.contains("Decide the outcome"), "nothing was decided so far");

    let done = person.post(&served, &resolve, &right).await;
    assert_eq!((done.status, done.header("location")), (303, Some(format!("{path}?done=resolved").as_str())));
    let again = person.post(&served, &resolve, &right).await;
    assert!(again.status == 409 && again.text.contains("your entry was not saved"), "{again:?}");
    let page = person.page(&served, &path).await;
    for part in [
        "Why: The gateway&#39;s own list shows it",
        "By: Aizada &#60;b&#62;",
        "Through: the person&#39;s own key key_",
        "Before: unknown",
        "payment.resolved",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains(">charged<") && !page.contains("Decide the outcome"), "{page}");
    let events = served.shop("GET", "/v1/events", &Value::Null).await.json();
    let sent: Vec<_> = events["events"].as_array().unwrap().iter().map(|at| &at["event"]).collect();
    let resolved = sent.iter().find(|event| event["type"] == "payment.resolved").unwrap();
    assert_eq!((&resolved["data"]["by"], &resolved["data"]["reason"]), (&json!("Aizada <b>"), &json!(REASON)));
    assert_eq!(resolved["data"]["via"], json!({ "role": "staff", "key": person.key.id().as_str() }));
}

/// The values of an attribute in a page.
fn values(page: &str, attribute: &str) -> Vec<String> {
    let rests = page.split(attribute).skip(1);
    rests.map(|rest| rest.split('"').next().unwrap().replace("&#38;", "&")).collect()
}

/// Where a page's forms post to.
fn posts(page: &str) -> Vec<String> {
    values(page, "method=\"post\" action=\"")
}

/// What a page leads to, or loads.
fn links(page: &str) -> Vec<String> {
    let attributes = ["href=\"", "src=\"", "method=\"get\" action=\""];
    let all = attributes.into_iter().flat_map(|attribute| values(page, attribute));
    all.filter(|address| !address.starts_with('#')).collect()
}

/// What the proxy hands on that serves the server under `/kassa`.
fn stripped(address: &str) -> String {
    let within = address.strip_prefix("/kassa").filter(|rest| rest.starts_with("/staff"));
    within.unwrap_or_else(|| panic!("{address} is not under the public address")).to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_pages_stay_under_public_path() {
    let served = Served::with(|_, http| http.public_url = "https://shop.example.kg/kassa/".into()).await;
    let (id, payment) = unknown(&served, "order-1").await;
    // Nobody asks the gateway, and the page of the checkout has every form.
    let sql = "BEGIN IMMEDIATE; DELETE FROM due; UPDATE checkouts SET is_overpaid = 1, refunds_due = 1;
         UPDATE streams SET is_given_up = 1, due_at = NULL; COMMIT";
    served.database().execute_batch(sql).unwrap();
    assert_eq!(served.send("POST", &nowhere(1), &[], "{}").await.status, 404);

    let key = served.server.new_staff_key("Aizada", Permission::Decide).await.unwrap();
    let stranger = served.send("GET", "/staff", &[], "").await;
    assert_eq!(stranger.status, 401, "{stranger:?}");
    let to = posts(&stranger.text);
    assert_eq!(to, ["/kassa/staff/login"]);
    let headers = [FORM, ("origin", "https://shop.example.kg")];
    let made = served.send("POST", &stripped(&to[0]), &headers, &form(&[("key", &key.expose())])).await;
    assert_eq!((made.status, made.header("location")), (303, Some("/kassa/staff")), "{made:?}");
    let (cookie, rules) = made.header("set-cookie").unwrap().split_once("; ").unwrap();
    assert!(cookie.starts_with("__Secure-kassa_staff="), "{cookie}");
    assert_eq!(rules, "Path=/kassa/staff; HttpOnly; SameSite=Strict; Secure");
    let person = Visitor { key, cookie: cookie.to_owned(), csrf: String::new() };
    let csrf = values(&person.page(&served, "/staff").await, "name=\"csrf\" value=\"").remove(0);
    let person = Visitor { csrf, ..person };

    let mut to_visit = vec!["/kassa/staff".to_owned(), "/kassa/staff/nowhere".to_owned()];
    let (mut visited, mut forms) = (BTreeSet::new(), BTreeSet::new());
    while let Some(address) = to_visit.pop() {
        // Each page once, whatever it is asked for.
        let page = address.split('?').next().unwrap().to_owned();
        if visited.insert(page) {
            let answer = person.get(&served, &stripped(&address)).await;
            let status = if address.ends_with("/nowhere") { 404 } else { 200 };
            assert_eq!(answer.status, status, "{address}: {answer:?}");
            to_visit.extend(links(&answer.text));
            forms.extend(posts(&answer.text));
        }
    }
    let path = format!("/kassa/staff/checkouts/{id}");
    let pages = ["day", "report", "reconciliation", "reconciliation.csv", "checkouts.csv", "unknown-callbacks"];
    let pages: Vec<String> = pages.iter().map(|page| format!("/kassa/staff/{page}")).chain([path.clone()]).collect();
    assert!(pages.iter().all(|page| visited.contains(page)), "{visited:?}");
    let resolve = format!("/payments/{payment}/resolve");
    let decisions =
        ["/check-status", "/cancel", "/refund", "/replay", resolve.as_str()].map(|end| format!("{path}{end}"));
    let others = ["logout", "reconciliation", "unknown-callbacks/remove"].map(|page| format!("/kassa/staff/{page}"));
    assert_eq!(forms, decisions.into_iter().chain(others).collect::<BTreeSet<_>>());

    let version = version_of(&person.page(&served, &stripped(&path)).await);
    let statement = "order_number,amount\norder-2,1.00\n";
    let decided = [("version", &*version), ("outcome", "charged"), ("reason", REASON)];
    let fields = [decided.as_slice(), &[("statement", statement), ("until", "0")]].concat();
    for action in forms.iter().filter(|action| !action.ends_with("/logout")) {
        let answer = person.post(&served, &stripped(action), &fields).await;
        if let Some(location) = answer.header("location") {
            person.page(&served, &stripped(location)).await;
        } else {
            // One decision makes the page of the next one an old one.
            assert!(matches!(answer.status, 200 | 400 | 409), "{action}: {answer:?}");
        }
        for address in links(&answer.text).iter().chain(&posts(&answer.text)) {
            stripped(address);
        }
    }
    let out = person.post(&served, "/staff/logout", &[]).await;
    assert_eq!((out.status, out.header("location")), (303, Some("/kassa/staff/login")));
    let taken_away = "__Secure-kassa_staff=; Path=/kassa/staff; HttpOnly; SameSite=Strict; Secure; Max-Age=0";
    assert_eq!(out.header("set-cookie"), Some(taken_away));
    assert_eq!(person.get(&served, "/staff").await.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_staff_key_changes_nothing() {
    let served = Served::start().await;
    let (id, payment) = unknown(&served, "order-1").await;
    let sql =
        "UPDATE checkouts SET is_overpaid = 1, refunds_due = 1; UPDATE streams SET is_given_up = 1, due_at = NULL";
    served.database().execute_batch(sql).unwrap();
    let viewer = Visitor::with_permission(&served, "Bakyt", Permission::View).await;
    let path = format!("/staff/checkouts/{id}");
    let page = viewer.page(&served, &path).await;
    assert!(page.contains(">unknown<") && page.contains("payment.unknown"), "{page}");
    let decider = Visitor::log_in(&served, "Aizada").await;
    assert_eq!(decider.page(&served, &path).await.matches("<form").count(), 6, "one to log out, and each decision's");
    assert_eq!(page.matches("<form").count(), 1, "one to log out: {page}");
    let resolve = format!("{path}/payments/{payment}/resolve");
    let refused = viewer.post(&served, &resolve, &[("outcome", "charged"), ("reason", REASON)]).await;
    assert!(refused.status == 403 && refused.text.contains("read-only"), "{refused:?}");
    assert_eq!(served.shop("GET", &format!("/v1/checkouts/{id}"), &Value::Null).await.json()["state"], "open");
}

/// Each question to the gateway, and each answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_history_shows_exchanges_without_secrets() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    let refusal = FakeFault::Refused { code: "51".into(), reason: format!("4000 0000 0000 2016 of {PHONE}") };
    served.fake.fail_next(refusal);
    served.pay(&token, "try-1", &mbank()).await;
    let begun = served.pay(&token, "try-2", &mbank()).await.json();
    let path = format!("/v1/checkout/payments/{}/confirm", begun["id"].as_str().unwrap());
    let wrong = json!({ "otp": if served.fake.otp() == "000000" { "000001" } else { "000000" } });
    served.call_with(&token, "POST", &path, &[("idempotency-key", "otp-1")], &wrong).await;
    let right = json!({ "otp": served.fake.otp() });
    served.call_with(&token, "POST", &path, &[("idempotency-key", "otp-2")], &right).await;
    wait_until_async("it is paid", async || {
        let is_paid = served.call(&token, "GET", "/v1/checkout", &Value::Null).await.json()["state"] == "paid";
        if !is_paid {
            served.call(&token, "POST", "/v1/checkout/check", &Value::Null).await;
        }
        is_paid
    })
    .await;
    let person = Visitor::with_permission(&served, "Bakyt", Permission::View).await;
    let page = person.page(&served, &format!("/staff/checkouts/{id}")).await;
    let tables: Vec<_> = page.split("<table class=\"exchanges\">").skip(1).collect();
    assert_eq!(tables.len(), 2, "one of each payment: {page}");
    for part in ["Create payment", "refused, nothing happened", "code 51", "**** **** **** ****"] {
        assert!(tables[0].contains(part), "{part}: {page}");
    }
    let place = |part: &str| tables[1].find(part).unwrap_or_else(|| panic!("no {part}: {page}"));
    assert!(
        place("accepted") < place("Confirm with one-time password") && place("refused, nothing") < place(">charged")
    );
    for file in served.files() {
        for secret in ["4000 0000 0000 2016", PHONE, &served.fake.otp()] {
            assert!(!file.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn form_of_other_site_or_session_is_rejected() {
    let served = Served::start().await;
    let (id, payment) = unknown(&served, "order-1").await;
    let (person, other) = (Visitor::log_in(&served, "Aizada").await, Visitor::log_in(&served, "Bakyt").await);
    let path = format!("/staff/checkouts/{id}/payments/{payment}/resolve");
    let cookie = ("cookie", person.cookie.as_str());
    let version = version_of(&person.page(&served, &format!("/staff/checkouts/{id}")).await);
    let fields =
        |csrf: &str| form(&[("version", &version), ("outcome", "charged"), ("reason", REASON), ("csrf", csrf)]);
    let own = format!("http://{}", served.address);
    for (csrf, origin) in [
        ("", None),
        (other.csrf.as_str(), None),
        (&person.csrf, Some("https://evil.example")),
        (&person.csrf, Some("null")),
    ] {
        let mut headers = vec![cookie, FORM];
        headers.extend(origin.map(|origin| ("origin", origin)));
        let refused = served.send("POST", &path, &headers, &fields(csrf)).await;
        assert_eq!(refused.status, 403, "{csrf} {origin:?}: {refused:?}");
    }
    let login = form(&[("key", &person.key.expose())]);
    let from_elsewhere = served.send("POST", "/staff/login", &[FORM, ("origin", "https://evil.example")], &login).await;
    assert_eq!(from_elsewhere.status, 403, "{from_elsewhere:?}");
    assert_eq!(served.shop("GET", &format!("/v1/checkouts/{id}"), &Value::Null).await.json()["state"], "open");
    let right = served.send("POST", &path, &[cookie, FORM, ("origin", &own)], &fields(&person.csrf)).await;
    assert_eq!(right.status, 303, "{right:?}");
}

/// One of each kind, and two that need nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_list_shows_checkouts_needing_staff() {
    let served = Served::start().await;
    let mut ids = Vec::new();
    for reference in
        ["healthy", "unknown", "mismatch", "stuck", "overpaid", "undelivered", "in doubt", "just unknown", "refused"]
    {
        ids.push(paying(&served, reference, &mbank()).await.0);
    }
    // Nobody asks the gateway about them, which knows better.
    let sql = format!(
        "BEGIN IMMEDIATE; DELETE FROM due;
         UPDATE payments SET state = 'unknown', unknown_since = 1 WHERE checkout_id = '{}';
         UPDATE payments SET state = 'mismatch' WHERE checkout_id = '{}';
         UPDATE payments SET is_stuck = 1 WHERE checkout_id = '{}';
         UPDATE checkouts SET is_overpaid = 1, refunds_due = 1 WHERE id = '{}';
         UPDATE streams SET is_given_up = 1, due_at = NULL WHERE checkout_id = '{}';
         UPDATE payments SET state = 'unverifiable', is_in_doubt = 1 WHERE checkout_id = '{}';
         UPDATE payments SET state = 'unknown', unknown_since = begun_at WHERE checkout_id = '{}';
         INSERT INTO refused_events SELECT MIN(seq), checkout_id, 1, 'it answered 400' FROM events
            WHERE checkout_id = '{}' GROUP BY checkout_id;
         UPDATE streams SET first_refused = 1 WHERE checkout_id IN (SELECT checkout_id FROM refused_events); COMMIT",
        ids[1], ids[2], ids[3], ids[4], ids[5], ids[6], ids[7], ids[8]
    );
    served.database().execute_batch(&sql).unwrap();
    let person = Visitor::log_in(&served, "Aizada").await;
    let expected: BTreeSet<_> = ids[1..7].iter().chain([&ids[8]]).cloned().collect();
    let list = person.page(&served, "/staff?needs=person").await;
    assert_eq!(checkouts(&list).into_iter().collect::<BTreeSet<_>>(), expected);
    let start = person.page(&served, "/staff").await;
    let (top, rest) = start.split_once("Newest checkouts").unwrap();
    assert_eq!(checkouts(top).into_iter().collect::<BTreeSet<_>>(), expected);
    assert_eq!(checkouts(rest).len(), ids.len());
    for word in ["unknown", "mismatch", "unverifiable", "stuck", "overpaid", "undelivered", "refused"] {
        assert!(start.contains(&format!("data-need=\"{word}\">1</span>")), "{word}: {start}");
    }

    let page = person.page(&served, &format!("/staff/checkouts/{}", ids[8])).await;
    assert!(
        page.contains("refused by the shop: it answered 400") && page.contains("Deliver the events again"),
        "{page}"
    );
    let (path, refund) = (format!("/staff/checkouts/{}", ids[4]), format!("/staff/checkouts/{}/refund", ids[4]));
    let page = person.page(&served, &path).await;
    let version = version_of(&page);
    let version = version.as_str();
    let note = |version, reason| [("version", version), ("reason", reason)];
    assert_eq!(person.post(&served, &refund, &note(version, "")).await.status, 400);
    let stale = person.post(&served, &refund, &note("0", "Given back at the gateway")).await;
    assert!(stale.status == 409 && stale.text.contains("Not saved"), "{stale:?}");
    assert_eq!(person.post(&served, &refund, &note(version, "Given back at the gateway")).await.status, 303);
    let page = person.page(&served, &path).await;
    assert!(page.contains("checkout.refund_recorded") && page.contains("By: Aizada"), "{page}");
    let again = person.post(&served, &refund, &note(version, "Given back at the gateway")).await;
    assert_eq!(again.status, 409, "noted once");
    let other = format!("/staff/checkouts/{}/replay", ids[5]);
    assert_eq!(person.post(&served, &other, &[]).await.status, 303);
    let left = checkouts(&person.page(&served, "/staff?needs=person").await);
    let rest = [&ids[1], &ids[2], &ids[3], &ids[6], &ids[8]];
    assert_eq!(left.into_iter().collect::<BTreeSet<_>>(), rest.into_iter().cloned().collect());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checkout_is_found_by_each_of_its_numbers() {
    let served = Served::start().await;
    let (id, payment) = paying(&served, "order-1", &mbank()).await;
    let (by_qr, qr) = paying(&served, "order-2", &json!({ "method": "qr" })).await;
    let shown = served.shop("GET", &format!("/v1/checkouts/{by_qr}"), &Value::Null).await.json();
    let transaction = shown["payments"][0]["transaction_id"].as_str().unwrap().to_owned();
    let of = payment["id"].as_str().unwrap();
    served.database().execute("UPDATE payments SET gateway_number = 'G-77' WHERE id = ?1", [of]).unwrap();
    let person = Visitor::log_in(&served, "Aizada").await;
    let order_number = of.strip_prefix("pay_").unwrap();
    for (text, expected) in [
        ("order-1", &id),
        (id.as_str(), &id),
        (of, &id),
        (order_number, &id),
        ("G-77", &id),
        (transaction.as_str(), &by_qr),
        (qr["id"].as_str().unwrap(), &by_qr),
    ] {
        let page = person.page(&served, &format!("/staff?{}", form(&[("q", text)]))).await;
        assert_eq!(checkouts(&page), [expected.as_str()], "{text}");
    }
    // A part of one finds it too, and so do the last digits of the phone.
    let (part, of_transaction) = (&order_number[4..12], &transaction[2..transaction.len() - 1]);
    for (text, expected) in [
        ("order", vec![&by_qr, &id]),
        ("RDER-", vec![&by_qr, &id]),
        ("G-7", vec![&id]),
        (part, vec![&id]),
        (of_transaction, vec![&by_qr]),
        ("01", vec![&id]),
    ] {
        let page = person.page(&served, &format!("/staff?{}", form(&[("q", text)]))).await;
        assert_eq!(checkouts(&page).iter().collect::<Vec<_>>(), expected, "{text}");
    }
    // Who has a whole number sees that one alone, and can see all that have it in theirs.
    let longer = paying(&served, "order-12", &mbank()).await.0;
    let page = person.page(&served, "/staff?q=order-1").await;
    assert_eq!(checkouts(&page), [id.as_str()]);
    let all = values(&page, "href=\"/staff?q=order-1&#38;part=1");
    assert_eq!(all.len(), 1, "{page}");
    assert_eq!(checkouts(&person.page(&served, "/staff?q=order-1&part=1").await), [longer.as_str(), id.as_str()]);
    for nothing in ["order-1%", "' OR 1=1 --", "orderx", "99", "or\u{0}der"] {
        let page = person.page(&served, &format!("/staff?{}", form(&[("q", nothing)]))).await;
        assert!(checkouts(&page).is_empty() && page.contains("Nothing found."), "{nothing}");
    }
    for unusable in ["q=o", "from=2026-11-24&to=2026-11-23", "to=today"] {
        let refused = person.get(&served, &format!("/staff?{unusable}")).await;
        assert!(refused.status == 400 && refused.text.contains("role=\"alert\""), "{unusable}: {refused:?}");
    }
    let card = person.get(&served, "/staff?q=4111111111111111").await;
    assert!(card.status == 200 && !shows_the_card(&card.text), "{card:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checkout_pagination_has_no_gaps() {
    let served = Served::start().await;
    let mut opened = BTreeSet::new();
    for number in 0..120 {
        let made = served.shop("POST", "/v1/checkouts", &order(&format!("order-{number}"))).await;
        opened.insert(made.json()["id"].as_str().unwrap().to_owned());
    }
    // Many in one moment: the moment alone is no place.
    served.database().execute("UPDATE checkouts SET opened_at = opened_at / 60000 * 60000", []).unwrap();
    let person = Visitor::log_in(&served, "Aizada").await;
    for state in ["", "open"] {
        let (mut path, mut seen, mut pages) = (format!("/staff?state={state}"), Vec::new(), 0);
        loop {
            let page = person.page(&served, &path).await;
            let list = page.split("id=\"all\"").nth(1).unwrap();
            seen.extend(checkouts(list));
            pages += 1;
            served.shop("POST", "/v1/checkouts", &order(&format!("new-{state}-{pages}"))).await;
            let Some(next) = list.split("rel=\"next\" href=\"").nth(1) else { break };
            path = next.split('"').next().unwrap().replace("&#38;", "&");
        }
        let unique: BTreeSet<_> = seen.iter().cloned().collect();
        assert_eq!(unique.len(), seen.len(), "none twice");
        assert!(opened.is_subset(&unique) && pages >= 3, "{pages} pages");
        opened = unique;
    }
}

/// The checkouts of a page of the list, and where its links lead: to newer ones, and to older ones.
fn list_of(page: &str) -> (Vec<String>, Option<String>, Option<String>) {
    let list = page.split("id=\"all\"").nth(1).unwrap();
    let link = |rel: &str| values(list, &format!("rel=\"{rel}\" href=\"")).into_iter().next();
    (checkouts(list), link("prev"), link("next"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_leads_back_the_way_it_came() {
    let served = Served::start().await;
    for number in 0..120 {
        served.shop("POST", "/v1/checkouts", &order(&format!("order-{number}"))).await;
    }
    served.database().execute("UPDATE checkouts SET opened_at = opened_at / 60000 * 60000", []).unwrap();
    let person = Visitor::log_in(&served, "Aizada").await;
    for filter in ["", "?state=open", "?q=order-", "?method=qr"] {
        let (first, newer, older) = list_of(&person.page(&served, &format!("/staff{filter}")).await);
        if filter == "?method=qr" {
            assert_eq!((first.len(), newer, older), (0, None, None), "nobody has begun to pay");
            continue;
        }
        assert!(newer.is_none() && first.len() == 50, "{filter}");
        let (second, _, older) = list_of(&person.page(&served, &older.unwrap()).await);
        let (third, newer, older) = list_of(&person.page(&served, &older.unwrap()).await);
        assert_eq!((second.len(), third.len(), older), (50, 20, None), "{filter}");
        let (again, newer, _) = list_of(&person.page(&served, &newer.unwrap()).await);
        assert_eq!(again, second, "{filter}");
        let (again, newer, _) = list_of(&person.page(&served, &newer.unwrap()).await);
        assert_eq!((again, newer), (first, None), "{filter}");
    }
    let (newest, _, _) = list_of(&person.page(&served, "/staff").await);
    let page = person.page(&served, &format!("/staff?after=0.{}", newest[0])).await;
    assert_eq!(list_of(&page), (vec![], None, None));
    assert!(page.contains("Nothing found.") && page.contains("To the newest"), "{page}");
}

/// The day of a payment and of its checkout is Bishkek's; the clock is, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_is_filtered_added_up_and_exported() {
    let served = Served::start().await;
    for (reference, body) in [("night", mbank()), ("evening", mbank()), ("=cmd()", json!({ "method": "qr" }))] {
        paying(&served, reference, &body).await;
    }
    // 01:30 on 23 November in Bishkek, which is the evening before in UTC; and 23:30 on that evening in Bishkek.
    let night = 1_795_375_800_000_i64;
    let sql = format!(
        "BEGIN IMMEDIATE; DELETE FROM due; UPDATE checkouts SET opened_at = {night};
         UPDATE checkouts SET opened_at = {night} - 7200000 WHERE reference = 'evening';
         UPDATE checkouts SET state = 'paid', amount = '1234.50' WHERE reference = 'night';
         UPDATE payments SET state = 'charged' WHERE method = 'mbank'; COMMIT"
    );
    served.database().execute_batch(&sql).unwrap();
    let person = Visitor::log_in(&served, "Aizada").await;
    let of_day = person.page(&served, "/staff?from=2026-11-23&to=2026-11-23").await;
    assert!(of_day.contains("night") && !of_day.contains(">evening<"), "{of_day}");
    for part in ["23 Nov 2026, 01:30:00", "Bishkek time", "checkouts: 2, charged payments: 1", "1,234.50\u{a0}som"] {
        assert!(of_day.contains(part), "{part}: {of_day}");
    }
    let before = person.page(&served, "/staff?to=2026-11-22").await;
    assert!(before.contains("22 Nov 2026, 23:30:00") && !before.contains(">night<"), "{before}");
    let by_method = person.page(&served, "/staff?method=mbank&from=2026-11-01").await;
    assert_eq!(list_of(&by_method).0.len(), 2);
    assert!(by_method.contains("1,624.50\u{a0}som"), "{by_method}");

    let file = person.get(&served, "/staff/checkouts.csv?from=2026-11-23").await;
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(file.text.starts_with("\u{feff}\"Opened (Bishkek)\",\"Reference\""), "{file:?}");
    assert_eq!(file.text.lines().count(), 3, "{file:?}");
    for part in ["\"2026-11-23 01:30:00\",\"night\"", "\"1234.50\"", ",\"'=cmd()\","] {
        assert!(file.text.contains(part), "{part}: {file:?}");
    }
    let file = person.get(&served, "/staff/checkouts.csv?from=2026-11-23&lang=ru").await;
    for part in ["\u{feff}\"Открыт (Бишкек)\";\"Номер заказа\"", "\"1234,50\"", "\"оплачен\""]
    {
        assert!(file.text.contains(part), "{part}: {file:?}");
    }
}

/// The database was restored from a backup: payments that began after it are the gateway's alone, which calls back about them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callbacks_of_forgotten_payments_are_shown() {
    let served = Served::start().await;
    let person = Visitor::log_in(&served, "Aizada").await;
    assert!(person.page(&served, "/staff").await.contains("Nothing needs a person now."));
    assert!(person.page(&served, "/staff/unknown-callbacks").await.contains("There are none."));

    let json = [("content-type", "application/json")];
    let charged = r#"{"orderNumber":"GW-17","amount":390.50,"currency":"KGS","status":"CHARGE"}"#;
    for body in ["{", r#"{"orderNumber":"4111 1111 1111 1111","amount":5,"status":"<i>"}"#] {
        assert_eq!(served.send("POST", &nowhere(1), &json, body).await.status, 404);
    }
    for _ in 0..2 {
        assert_eq!(served.send("POST", &nowhere(2), &json, charged).await.status, 404);
    }
    // One of another form is no address of ours.
    assert_eq!(served.send("POST", "/callbacks/wp-login/php", &json, charged).await.status, 404);
    let start = person.page(&served, "/staff").await;
    assert!(start.contains("payments that are not in this database: 2."), "{start}");
    assert!(!start.contains("Nothing needs a person now."), "{start}");
    let page = person.page(&served, "/staff/unknown-callbacks").await;
    for part in ["GW-17", "390.50", ">charged<", "restored from a backup", "Do not deliver because of it"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!shows_the_card(&page) && !page.contains("<i>"), "{page}");
    let payments = [2, 1].map(|of: u8| format!("pay_{}", format!("{of:02x}").repeat(16)));
    assert_eq!(BTreeSet::from_iter(values(&page, "data-payment=\"")), BTreeSet::from(payments));

    let viewer = Visitor::with_permission(&served, "Bakyt", Permission::View).await;
    assert!(!viewer.page(&served, "/staff/unknown-callbacks").await.contains("unknown-callbacks/remove"));
    let until = values(&page, "name=\"until\" value=\"").remove(0);
    let refused = viewer.post(&served, "/staff/unknown-callbacks/remove", &[("until", &until)]).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert_eq!(person.post(&served, "/staff/unknown-callbacks/remove", &[]).await.status, 400);
    let done = person.post(&served, "/staff/unknown-callbacks/remove", &[("until", &until)]).await;
    assert_eq!((done.status, done.header("location")), (303, Some("/staff/unknown-callbacks")), "{done:?}");
    assert!(person.page(&served, "/staff/unknown-callbacks").await.contains("There are none."));
    assert!(person.page(&served, "/staff").await.contains("Nothing needs a person now."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_pages_speak_the_picked_language() {
    let served = Served::start().await;
    let (id, _) = unknown(&served, "order-1").await;
    let person = Visitor::log_in(&served, "Aizada").await;
    let path = format!("/staff/checkouts/{id}");
    for (language, wanted) in [("ru", "Что запрошено"), ("ky", "Эмне суралган"), ("en", "Request")]
    {
        let answer = person.get(&served, &format!("{path}?lang={language}")).await;
        let (page, cookie) = (&answer.text, answer.header("set-cookie").unwrap());
        assert!(page.contains(wanted) && page.contains(&format!("<html lang=\"{language}\">")), "{page}");
        assert!(cookie.starts_with(&format!("kassa_language={language}; Path=/; HttpOnly;")), "{cookie}");
        let cookie = cookie.split(';').next().unwrap();
        let again = Visitor { cookie: format!("{}; {cookie}", person.cookie), ..person.clone() };
        let remembered = again.page(&served, &path).await;
        assert!(remembered.contains(wanted), "{remembered}");
        let links = values(&remembered, &format!("href=\"{path}?"));
        assert_eq!(links.len(), 2, "the two other languages: {links:?}");
    }
    let preferred = [("cookie", person.cookie.as_str()), ("accept-language", "ky;q=0.9, de")];
    assert!(served.send("GET", &path, &preferred, "").await.text.contains("Эмне суралган"));
    let stranger = served.send("GET", "/staff?lang=ru", &[], "").await;
    assert!(stranger.status == 401 && stranger.text.contains("Ключ сотрудника"), "{stranger:?}");
}

/// A person sees what to do first, what was expected beside what was reported, and who may decide.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doubtful_report_is_shown_beside_the_order() {
    let served = Served::start().await;
    let (id, payment) = paying(&served, "order-1", &mbank()).await;
    let payment = payment["id"].as_str().unwrap().to_owned();
    let sql = format!(
        "BEGIN IMMEDIATE; DELETE FROM due; UPDATE payments SET state = 'mismatch', is_in_doubt = 1;
         INSERT INTO exchanges (payment_id, number, kind, outcome, first_at, last_at, times) VALUES
            ('{payment}', 90, 'status', 'pending', 1795375800000, 1795375800000, 3),
            ('{payment}', 91, 'status', 'mismatch: amount (reported: amount 391.5; currency KGS)', 1795375900000, 1795375900000, 1),
            ('{payment}', 92, 'status', 'mismatch: amount (reported: amount 391.5; currency KGS)', 1795376000000, 1795376000000, 4);
         INSERT INTO exchanges (payment_id, number, kind, claim, outcome, first_at, last_at, times) VALUES
            ('{payment}', 93, 'status', 'C-1', 'mismatch: currency (reported: amount 7; currency USD)', 1795376100000, 1795376100000, 1);
         COMMIT"
    );
    served.database().execute_batch(&sql).unwrap();
    let decider = Visitor::log_in(&served, "Aizada").await;
    let viewer = Visitor::with_permission(&served, "Bakyt", Permission::View).await;
    let path = format!("/staff/checkouts/{id}");
    let (page, looked_at) = (decider.page(&served, &path).await, viewer.page(&served, &path).await);
    for part in ["Expected and reported", "390.00\u{a0}som", "391.50\u{a0}som", "Compare the expected values", "Aizada"]
    {
        assert!(page.contains(part) && looked_at.contains(part), "{part}: {page}");
    }
    let comparison = page.split("class=\"stacked comparison\"").nth(1).unwrap().split("</table>").next().unwrap();
    assert_eq!(comparison.matches("class=\"wrong\"").count(), 1, "{comparison}");
    assert!(!comparison.contains("USD"), "a claimed number's report is not the payment's: {comparison}");
    assert!(page.contains("×5, until 23 Nov 2026, 01:33:20") && page.contains("×3, until"), "{page}");
    assert!(!page.contains("(reported:") && !page.contains("no button here"), "{page}");
    assert!(looked_at.contains("no button here") && !looked_at.contains("name=\"outcome\""), "{looked_at}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_page_escapes_text_and_hides_secrets() {
    let served = Served::start().await;
    let evil = "\"><script>alert(1)</script>";
    let mut wanted = order(evil);
    wanted["description"] = json!(evil);
    wanted["metadata"] = json!({ "note": evil });
    let made = served.shop("POST", "/v1/checkouts", &wanted).await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let token = served.shop("POST", &format!("/v1/checkouts/{id}/tokens"), &Value::Null).await;
    let token = token.json()["token"].as_str().unwrap().to_owned();
    served.fake.fail_next(FakeFault::Refused { code: evil.into(), reason: evil.into() });
    served.pay(&token, "try-1", &mbank()).await;
    served.pay(&token, "try-2", &json!({ "method": "pay_form" })).await;
    let person = Visitor::log_in(&served, evil).await;
    let secret: String = served
        .database()
        .query_row("SELECT callback_secret FROM checkouts WHERE id = ?1", [&id], |row| row.get(0))
        .unwrap();
    let secrets =
        [secret.as_str(), &token, &served.key, &person.key.expose(), PHONE, person.cookie.split('=').nth(1).unwrap()];
    for path in [
        "/staff".to_owned(),
        format!("/staff?{}", form(&[("q", evil)])),
        format!("/staff/checkouts/{id}"),
        "/staff/reconciliation".to_owned(),
        "/staff/nowhere".to_owned(),
    ] {
        let answer = person.get(&served, &path).await;
        let page = &answer.text;
        for inline in ["<script", "style=", "<style", "javascript:"] {
            assert!(!page.contains(inline), "{path} {inline}: {page}");
        }
        assert!(secrets.iter().all(|secret| !page.contains(secret)), "{path}: {page}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
        let policy = answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "style-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
    }
    let page = person.page(&served, "/staff").await;
    let sheet = page.split("rel=\"stylesheet\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let sheet = served.send("GET", sheet, &[], "").await;
    assert_eq!((sheet.status, sheet.header("content-type")), (200, Some("text/css; charset=utf-8")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_session_survives_restart_until_logout() {
    let first = Served::start().await;
    let (id, payment) = unknown(&first, "order-1").await;
    let (person, other) = (Visitor::log_in(&first, "Aizada").await, Visitor::log_in(&first, "Bakyt").await);
    let served = first.again().await;
    let done = person.decide(&served, &id, &payment, "not_charged", REASON).await;
    assert_eq!(done.status, 303, "{done:?}");
    assert!(person.page(&served, &format!("/staff/checkouts/{id}")).await.contains("By: Aizada"));

    let status = async |visitor: &Visitor| visitor.get(&served, "/staff").await.status;
    let again = Visitor { cookie: person.cookie.clone(), ..other.clone() };
    assert_eq!(person.post(&served, "/staff/logout", &[]).await.status, 303);
    assert_eq!((status(&again).await, status(&other).await), (401, 200));
    served.revoke(other.key.id()).await;
    assert_eq!(status(&other).await, 401, "its key is revoked");
    let third = Visitor::log_in(&served, "Cholpon").await;
    served.database().execute("UPDATE staff_sessions SET expires_at = used_at", []).unwrap();
    assert_eq!(status(&third).await, 401, "its time passed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_session_is_extended_up_to_its_limit() {
    let served = Served::start().await;
    let person = Visitor::log_in(&served, "Aizada").await;
    let set = |made_ago: i64, used_ago: i64| {
        let sql = "UPDATE staff_sessions SET made_at = expires_at - 3600000 - ?1, used_at = expires_at - 3600000 - ?2";
        served.database().execute(sql, [made_ago, used_ago]).unwrap();
    };
    let lasts = || -> i64 {
        let sql = "SELECT expires_at - made_at FROM staff_sessions";
        served.database().query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let hour = 3_600_000;
    set(2 * hour, hour / 2);
    assert_eq!(person.get(&served, "/staff").await.status, 200);
    assert!(lasts() >= 3 * hour && lasts() < 4 * hour, "{}", lasts());
    set(11 * hour + hour / 2, hour / 2);
    assert_eq!(person.get(&served, "/staff").await.status, 200);
    assert_eq!(lasts(), 12 * hour);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessing_staff_keys_is_slowed_down() {
    let served = Served::start().await;
    let mut statuses = BTreeSet::new();
    for _ in 0..10 {
        let answer = served.send("POST", "/staff/login", &[FORM], &form(&[("key", "sk_guess")])).await;
        assert_eq!(answer.header("set-cookie"), None);
        assert_eq!(answer.header("retry-after").is_some(), answer.status == 429);
        statuses.insert(answer.status);
    }
    assert_eq!(statuses, BTreeSet::from([401, 429]));
    Visitor::log_in(&served, "Aizada").await;
}

/// As with a full disk: what can be read is shown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_can_read_while_database_is_not_writable() {
    let served = Served::start().await;
    let person = Visitor::log_in(&served, "Aizada").await;
    let full = "UPDATE staff_sessions SET used_at = used_at - 120000;
        CREATE TRIGGER full BEFORE UPDATE ON staff_sessions BEGIN SELECT RAISE(ABORT, 'full'); END";
    served.database().execute_batch(full).unwrap();
    assert_eq!(person.get(&served, "/staff").await.status, 200);
}
