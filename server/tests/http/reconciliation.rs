//! What was charged, held against the gateway's statement.

use serde_json::{Value, json};

use crate::{
    client::Served,
    visitor::{Visitor, checkouts, form},
};

/// A paid checkout, and its payment's order number.
async fn paid(served: &Served, reference: &str) -> (String, String) {
    let (id, token) = served.opened(reference).await;
    let begun = served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": "996700000001" })).await.json();
    let payment = begun["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/checkout/payments/{payment}/confirm");
    served.call_with(&token, "POST", &path, &[("idempotency-key", "otp")], &json!({ "otp": served.fake.otp() })).await;
    let mut seen = served.call(&token, "GET", "/v1/checkout", &Value::Null).await.json();
    while seen["state"] != "paid" {
        let path = format!("/v1/checkout?after={}&wait=25", seen["version"]);
        seen = served.call(&token, "GET", &path, &Value::Null).await.json();
    }
    (id, payment.strip_prefix("pay_").unwrap().to_owned())
}

fn count(page: &str, name: &str) -> u32 {
    let rest = page.split(&format!("data-count=\"{name}\">")).nth(1).unwrap_or_else(|| panic!("no {name}: {page}"));
    rest.split('<').next().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reconciliation_finds_each_kind_of_difference() {
    let served = Served::start().await;
    let (_, same) = paid(&served, "same").await;
    let (differs, other) = paid(&served, "differs").await;
    let (missing, _) = paid(&served, "=missing()").await;
    served.opened("never paid").await;
    let (person, period) =
        (Visitor::log_in(&served, "Aizada").await, [("from", "2020-01-01"), ("until", "2100-01-01")]);
    let statement = format!(
        "Order_Number;Number;Amount;Status\n{same};;390,00;CHARGE\n{other};;390.01;\nnobodys;;7.50;paid\n{same};;390;\n\
         4111111111111111;;1;\nrefused;;1;Reject\n"
    );
    let fields = [period[0], period[1], ("statement", statement.as_str())];
    let compared = person.post(&served, "/staff/reconciliation", &fields).await;
    assert_eq!(compared.status, 200, "{compared:?}");
    let page = &compared.text;
    let counts = ["matched", "differing", "repeated", "only-there", "only-here"].map(|name| count(page, name));
    assert_eq!(counts, [1, 1, 1, 2, 1], "{page}");
    assert!(
        page.contains("mean charged: 1 (Reject)") && page.contains("nobodys") && !page.contains("41111111"),
        "{page}"
    );
    assert!(checkouts(page).contains(&differs) && checkouts(page).contains(&missing));
    // The statement has 390 twice, 390.01, 7.50 and 1; here are three of 390.
    for part in ["1,178.51\u{a0}som", "data-difference>8.51\u{a0}som"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("1,170.00\u{a0}som"), "the sum: {page}");

    let file = person.get(&served, &format!("/staff/reconciliation.csv?{}", form(&period))).await;
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(file.header("content-disposition").unwrap().starts_with("attachment"));
    assert_eq!(file.text.lines().count(), 4, "{file:?}");
    assert!(file.text.contains(&same) && file.text.contains(",\"'=missing()\","), "{file:?}");

    let before = [("from", "2020-01-01"), ("until", "2020-01-02")];
    let page = person.page(&served, &format!("/staff/reconciliation?{}", form(&before))).await;
    assert!(page.contains("Nothing was charged"), "{page}");
    for (from, until) in [("2020-01-02", "2020-01-01"), ("yesterday", "2020-01-01")] {
        let fields = [("from", from), ("until", until)];
        let refused = person.get(&served, &format!("/staff/reconciliation?{}", form(&fields))).await;
        assert_eq!(refused.status, 400, "{refused:?}");
    }
    let half = [period[0], period[1], ("statement", "order_number,amount\nx,abc")];
    let refused = person.post(&served, "/staff/reconciliation", &half).await;
    assert!(refused.status == 400 && refused.text.contains("Line 2"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn day_view_shows_hours_beside_previous_day() {
    let served = Served::start().await;
    for reference in ["today", "also today", "yesterday"] {
        paid(&served, reference).await;
    }
    let (_, token) = served.opened("refused").await;
    served.fake.fail_next(kassa::FakeFault::Refused { code: "51".into(), reason: "no".into() });
    served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": "996700000001" })).await;
    // Half an hour past midnight in Bishkek, whenever this runs. In UTC it is the day before.
    let morning = 1_795_372_200_000_i64;
    let sql = format!(
        "UPDATE events SET at = {morning} WHERE kind IN ('payment.charged', 'payment.not_made');
         UPDATE events SET at = {morning} - 86400000 WHERE kind = 'payment.charged' AND checkout_id =
            (SELECT id FROM checkouts WHERE reference = 'yesterday')"
    );
    served.database().execute_batch(&sql).unwrap();
    let person = Visitor::log_in(&served, "Aizada").await;
    let page = person.page(&served, "/staff/day?day=2026-11-23").await;
    for part in [
        "data-end=\"charged\">2<",
        "data-end=\"not_made\">1<",
        "data-end=\"rejected\">0<",
        "780.00\u{a0}som",
        "The day before: 1 (390.00\u{a0}som)",
        "<title>Charged payments by hour and method</title>",
        "from=2026-11-23&#38;until=2026-11-24",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let hour = page.split("<th scope=\"row\">00:00</th>").nth(1).unwrap().split("</tr>").next().unwrap();
    assert!(hour.contains(">2<") && hour.contains(">1<") && hour.contains("780.00\u{a0}som"), "{hour}");
    let page = person.page(&served, "/staff/reconciliation?from=2026-11-23&until=2026-11-24").await;
    assert!(page.contains("780.00\u{a0}som") && page.contains("data-label=\"Day\">23 Nov 2026</td>"), "{page}");
    let refused = person.get(&served, "/staff/day?day=today").await;
    assert!(refused.status == 400 && refused.text.contains("2026-11-23"), "{refused:?}");
    assert_eq!(person.get(&served, "/staff/day").await.status, 200);
}

/// An export of a program for tables, with names, letters and units of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_mapping_is_applied_and_remembered() {
    let served = Served::start().await;
    let (_, number) = paid(&served, "order-1").await;
    let person = Visitor::log_in(&served, "Aizada").await;
    let export = format!(
        "Заказ;Оборот;Удержано;Когда;Итог\r\n{number};39000;585;23.11.2026 10:00;Оплачен\r\nelse;100;2;01.01.1999;Оплачен\r\n\
         no;1;;;Отказ\r\n"
    );
    let said = [("from", "2020-01-01"), ("until", "2100-01-01"), ("unit", "hundredths"), ("order_number", "Заказ")];
    let more = [("amount", "Оборот"), ("status", "Итог"), ("charged", "оплачен")];
    let all = [said.as_slice(), &more, &[("date", "Когда")]].concat();
    let refused = person.post_file(&served, "/staff/reconciliation", &said, &export).await;
    assert_eq!(refused.status, 400, "{refused:?}");
    let page = person.page(&served, "/staff/reconciliation").await;
    assert!(!page.contains("value=\"Заказ\""), "what no statement was read by is not stored: {page}");
    assert!(
        refused.text.contains("<option value=\"Оборот\">") && refused.text.contains("value=\"Заказ\""),
        "{refused:?}"
    );
    let compared = person.post_file(&served, "/staff/reconciliation", &all, &export).await;
    assert_eq!(compared.status, 200, "{compared:?}");
    let counts = ["matched", "differing", "only-there", "only-here"].map(|name| count(&compared.text, name));
    assert_eq!(counts, [1, 0, 0, 0], "{compared:?}");
    // What the bank keeps of the lines that count here, and what is left.
    for part in
        ["mean charged: 1 (Отказ)", "match no payment here: 1 (lines 3)", "data-fees>5.85\u{a0}som", "384.15\u{a0}som"]
    {
        assert!(compared.text.contains(part), "{part}: {compared:?}");
    }
    // It is the merchant's: the next person's browser has never seen a statement.
    let colleague = Visitor::log_in(&served, "Bakyt").await;
    let page = colleague.page(&served, "/staff/reconciliation").await;
    assert!(page.contains("value=\"Оборот\"") && page.contains("value=\"hundredths\" selected"), "{page}");
    // A fee that cannot be read refuses no statement: nobody said that this column has the fees.
    let unreadable = export.replace(";585;", ";1,5 %;");
    let compared = colleague.post_file(&served, "/staff/reconciliation", &all, &unreadable).await;
    assert!(
        compared.status == 200 && compared.text.contains("Some fees of the statement cannot be read"),
        "{compared:?}"
    );
    assert!(!compared.text.contains("data-fees"), "{compared:?}");
    let said = [all.as_slice(), &[("fee", "Удержано")]].concat();
    let refused = colleague.post_file(&served, "/staff/reconciliation", &said, &unreadable).await;
    assert!(refused.status == 400 && refused.text.contains("Line 2: the fee 1,5 % is not an amount."), "{refused:?}");
    let forged = Visitor { csrf: "0".repeat(64), ..person.clone() };
    assert_eq!(forged.post_file(&served, "/staff/reconciliation", &all, &export).await.status, 403);
}

/// With a title, names in Russian, texts as formulas, a refund and a total; pasted, and as the files that such programs write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bookkeeping_statement_is_reconciled_as_is() {
    const PATH: &str = "/staff/reconciliation";
    let served = Served::start().await;
    let (checkout, number) = paid(&served, "order-1").await;
    let person = Visitor::log_in(&served, "Aizada").await;
    let period = [("from", "2020-01-01"), ("until", "2100-01-01")];
    let table = format!(
        "sep=;\r\nВыписка ООО \"Лавка\r\n\r\nНомер заказа;Сумма;Валюта;Тип операции;Статус\r\n\
         =\"{number}\";=\"390,00\";KGS;Оплата;Оплачен\r\n{number};-90,50;KGS;Возврат;Оплачен\r\n\
         nobodys;1\u{a0}390,50;KGS;Оплата;Оплачен\r\n;;;;\r\nИтого;1\u{a0}690,00;;;\r\n"
    );
    let marked = format!("\u{feff}{table}");
    let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let windows = encoding_rs::WINDOWS_1251.encode(&table).0.into_owned();
    let pasted = [period[0], period[1], ("statement", table.as_str())];
    let mut answers = vec![("pasted", person.post(&served, PATH, &pasted).await)];
    for (name, file) in
        [("UTF-8", marked.as_bytes()), ("UTF-16", utf16.as_slice()), ("Windows-1251", windows.as_slice())]
    {
        answers.push((name, person.post_file(&served, PATH, &period, file).await));
    }
    for (name, compared) in answers {
        assert_eq!(compared.status, 200, "{name}: {compared:?}");
        let page = &compared.text;
        let kinds = ["matched", "differing", "repeated", "only-there", "only-here", "refunds"];
        assert_eq!(kinds.map(|kind| count(page, kind)), [1, 0, 0, 1, 0, 1], "{name}: {page}");
        for part in
            ["of 2 lines match", "Line 2: Выписка ООО", "Line 9: Итого; 1", "90.50\u{a0}som", "1,390.50\u{a0}som"]
        {
            assert!(page.contains(part), "{name}, {part}: {page}");
        }
        assert_eq!(checkouts(page), [checkout.as_str()], "the refund's");
    }
    for amount in ["1.390", "1,390"] {
        let text = format!("order_number;amount\n{number};{amount}\n");
        let refused = person.post(&served, PATH, &[period[0], period[1], ("statement", &text)]).await;
        assert_eq!(refused.status, 400, "{refused:?}");
        let sentence = format!("Line 2: the amount {amount} can mean thousands or decimals");
        assert!(refused.text.contains("This cannot be used") && refused.text.contains(&sentence), "{refused:?}");
    }
    let dollars = format!("order_number;amount\n{number};390 USD\n");
    let compared = person.post(&served, PATH, &[period[0], period[1], ("statement", &dollars)]).await;
    assert_eq!(["matched", "differing"].map(|kind| count(&compared.text, kind)), [0, 1], "{compared:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reconciliation_reports_overpaid_checkout() {
    let served = Served::start().await;
    let (id, _) = paid(&served, "order-1").await;
    let person = Visitor::log_in(&served, "Aizada").await;
    let page = person.page(&served, "/staff/reconciliation").await;
    assert!(!page.contains("Charged twice"), "{page}");
    served.database().execute("UPDATE checkouts SET is_overpaid = 1, refunds_due = 1", []).unwrap();
    let page = person.page(&served, "/staff/reconciliation").await;
    let section = page.split("Charged twice").last().unwrap();
    assert_eq!(checkouts(section), [id]);
}

/// The gateway never told the number of its own accord: it was claimed for the page, and a person decided.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resolved_pay_form_matches_claimed_number() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    let begun = served.pay(&token, "try-1", &json!({ "method": "pay_form" })).await.json();
    let payment = begun["id"].as_str().unwrap();
    let sql = format!(
        "BEGIN IMMEDIATE; DELETE FROM due; UPDATE payments SET is_stuck = 1 WHERE id = '{payment}';
         INSERT INTO claims (payment_id, number, state, at) VALUES ('{payment}', 'G-77', 'pending', 1); COMMIT"
    );
    served.database().execute_batch(&sql).unwrap();
    let person = Visitor::log_in(&served, "Aizada").await;
    let decided = person.decide(&served, &id, payment, "charged", "The gateway's own list shows it").await;
    assert_eq!(decided.status, 303, "{decided:?}");
    let period = [("from", "2020-01-01"), ("until", "2100-01-01")];
    let statement = ("statement", "number,amount\nG-77,390");
    let compared = person.post(&served, "/staff/reconciliation", &[period[0], period[1], statement]).await;
    let counts = ["matched", "only-there", "only-here"].map(|name| count(&compared.text, name));
    assert_eq!(counts, [1, 0, 0], "{compared:?}");
    let file = person.get(&served, &format!("/staff/reconciliation.csv?{}", form(&period))).await;
    assert!(file.text.trim_end().ends_with(",\"G-77\""), "{file:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn report_of_a_day_is_of_bishkeks_day() {
    let served = Served::start().await;
    for reference in ["night", "noon", "next night"] {
        paid(&served, reference).await;
    }
    // 01:30, 12:00, and 00:30 of the next day in Bishkek.
    let night = 1_795_375_800_000_i64;
    let sql = format!(
        "UPDATE events SET at = {night}; UPDATE checkouts SET opened_at = {night};
         UPDATE events SET at = {night} + 37800000 WHERE checkout_id = (SELECT id FROM checkouts WHERE reference = 'noon');
         UPDATE events SET at = {night} + 82800000
            WHERE checkout_id = (SELECT id FROM checkouts WHERE reference = 'next night');
         UPDATE checkouts SET is_overpaid = 1, refunds_due = 1 WHERE reference = 'noon'"
    );
    served.database().execute_batch(&sql).unwrap();
    let person = Visitor::log_in(&served, "Aizada").await;
    let page = person.page(&served, "/staff/report?day=2026-11-23").await;
    for part in
        ["Report of the day 23 Nov 2026", "data-report-total>780.00\u{a0}som", "23 Nov 2026, 12:00:00", "by Aizada"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let (charged, open) = page.split_once("id=\"open\"").unwrap();
    assert!(open.contains(">noon<") && !open.contains(">night<") && !charged.contains(">night<"), "{page}");
    let page = person.page(&served, "/staff/report?day=2026-11-24&lang=ru").await;
    assert!(page.contains("Отчёт за день 24.11.2026") && page.contains("390,00\u{a0}сом"), "{page}");
    assert!(person.page(&served, "/staff/report?day=2026-11-22").await.contains("Nothing was charged on this day."));
    assert_eq!(person.get(&served, "/staff/report?day=today").await.status, 400);
}
