//! QR codes: image, data, page, status.

use base64::{Engine, engine::general_purpose::STANDARD};
use kassa_sandbox::{PaymentKind, RejectReason, Sandbox};
use rust_decimal::Decimal;

use crate::common::{
    QR_DATA, QR_IMAGE, QR_STATUS, Response, call, get_status, open, post, qr_body, start, start_tunnelled, submit,
};

fn status(sandbox: &Sandbox, id: &str) -> Response {
    call(sandbox, "GET", &format!("{QR_STATUS}?transaction_id={id}"), "")
}

/// The text that a scanner reads from the base64 of a PNG.
fn scan(base64: &str) -> String {
    let png = STANDARD.decode(base64).expect("base64");
    let image = image::load_from_memory_with_format(&png, image::ImageFormat::Png).expect("a PNG");
    let image = image.to_luma8();
    assert_eq!(image.dimensions(), (400, 400));
    let mut prepared = rqrr::PreparedImage::prepare_from_greyscale(400, 400, |x, y| {
        image.get_pixel(u32::try_from(x).expect("small"), u32::try_from(y).expect("small")).0[0]
    });
    let codes = prepared.detect_grids();
    assert_eq!(codes.len(), 1, "one code in the picture");
    codes[0].decode().expect("a readable code").1
}

#[test]
fn image_is_scanned_and_paid() {
    let sandbox = start();
    let answer = post(&sandbox, QR_IMAGE, &qr_body());
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    let url = scan(&answer.body);
    let payment = sandbox.payments().remove(0);
    assert_eq!(payment.kind, PaymentKind::Qr);
    assert_eq!(payment.amount, Some(Decimal::from(12550)));
    let (page, code) = url.split_once('#').expect("a code behind the link");
    assert_eq!(page, format!("{}/qr?token={}", sandbox.url(), payment.gateway_number));
    assert!(code.starts_with("0002010102123295"), "dynamic: {code}");
    let id = payment.transaction_id.as_deref().expect("a transaction id");
    for part in ["0018qr.sandbox.example", "1012996700123456", format!("1135{id}12021213021252").as_str(), "540512550"]
    {
        assert!(code.contains(part), "{part} in {code}");
    }
    assert!(code.get(code.len() - 8..).is_some_and(|end| end.starts_with("6304")), "{code}");

    let page = open(&url);
    assert!(page.status == 200 && page.body.contains("KGS\u{a0}125.50"));
    for shown in [id, "qr.sandbox.example", "996700123456"] {
        assert!(page.body.contains(shown), "{shown} is what the payer sees");
    }
    let done = submit(&url, &[("action", "approve")]);
    assert!(done.status == 200 && done.body.contains("<h1>Paid</h1>"));
    assert_eq!(status(&sandbox, id).data("status"), "CHARGE");
}

#[test]
fn qr_page_warns_of_fake_code_in_each_language() {
    let sandbox = start();
    let url = post(&sandbox, QR_DATA, &qr_body()).data("qr_data");
    let page = url.split_once('#').expect("a code behind the link").0;
    for (language, text) in [
        ("en", "The app of a real bank refuses it."),
        ("ru", "Приложение настоящего банка его не примет."),
        ("ky", "Чыныгы банктын тиркемеси аны кабыл албайт."),
    ] {
        assert!(open(&format!("{page}&language={language}")).body.contains(text), "{language}");
    }
}

#[test]
fn long_public_url_still_scans() {
    let public_url = format!("https://tunnel.example/{}", "a".repeat(400));
    let sandbox = start_tunnelled(&public_url);
    let text = scan(&post(&sandbox, QR_IMAGE, &qr_body()).body);
    assert!(text.starts_with(&public_url));
}

#[test]
fn code_without_merchant_name_shows_payee() {
    let sandbox = start();
    let nameless = qr_body().without("requisite");
    let page = |body| open(&post(&sandbox, QR_DATA, &body).data("qr_data")).body;
    assert!(page(nameless.clone().without("callback_url")).contains("Test merchant"));
    assert!(page(nameless.with("callback_url", "\"https://shop.example/paid\"")).contains("shop.example"));
}

/// What stands behind the link of a code, decoded, and without its checksum.
fn code_of(made: &Response) -> String {
    let text = made.data("qr_data");
    let (_, code) = text.split_once('#').expect("a code behind the link");
    let code = percent_encoding::percent_decode_str(code).decode_utf8().expect("UTF-8");
    let (code, checksum) = code.split_at(code.len() - 8);
    assert!(checksum.starts_with("6304"), "{checksum}");
    code.to_owned()
}

#[test]
fn code_names_payee_and_whether_amount_is_open() {
    let sandbox = start();
    let code = |requisite: &str| code_of(&post(&sandbox, QR_DATA, &qr_body().with_text("requisite", requisite)));
    assert!(code("Дүкөн «Ак-Сай»").ends_with("5204599953034175405125505914Дүкөн «Ак-Сай»"));
    let long = "Flower shop of the eastern bus station 🌷";
    let cut = code(long);
    assert!(cut.contains("3438Flower shop of the eastern bus station52"), "{cut}");
    assert!(cut.ends_with("5925Flower shop of the easter"), "{cut}");
    let page = open(&post(&sandbox, QR_DATA, &qr_body().with_text("requisite", long)).data("qr_data")).body;
    assert!(page.contains("Flower shop of the easter<") && page.contains("the eastern bus station<"), "{page}");

    let open_amount = code_of(&post(&sandbox, QR_DATA, &qr_body().without("sum")));
    assert!(open_amount.starts_with("000201010211") && open_amount.contains("12021113021252"), "{open_amount}");
    assert!(open_amount.ends_with("53034175909127.0.0.1"), "no amount, and the site as the name: {open_amount}");
}

#[test]
fn sum_too_large_for_a_code_is_rejected() {
    let sandbox = start();
    for path in [QR_DATA, QR_IMAGE] {
        assert_eq!(post(&sandbox, path, &qr_body().with("sum", "9999999999999")).status, 200);
        let refused = post(&sandbox, path, &qr_body().with("sum", "10000000000000"));
        assert_eq!((refused.status, refused.code().as_str()), (400, "400"));
        assert!(refused.message().contains("sum: must be at most 9999999999999"), "{}", refused.message());
    }
}

#[test]
fn data_has_a_payload_an_id_and_the_sum() {
    let sandbox = start();
    let answer = post(&sandbox, QR_DATA, &qr_body());
    let payment = sandbox.payments().remove(0);
    let id = payment.transaction_id.expect("a transaction id");
    let expected = format!(
        "{{\"code\":\"110\",\"message\":\"CREATED\",\"data\":{{\"transaction_id\":\"{id}\",\
         \"qr_data\":\"{}\",\"sum\":12550}}}}",
        answer.data("qr_data")
    );
    assert!(answer.data("qr_data").starts_with(&format!("{}/qr?token={}#", sandbox.url(), payment.gateway_number)));
    assert_eq!((answer.status, answer.body), (200, expected));
    let open_status = status(&sandbox, &id);
    assert_eq!(
        open_status.body,
        format!(
            "{{\"code\":\"110\",\"message\":\"CREATED\",\"data\":{{\"orderNumber\":\"{id}\",\
             \"transaction_id\":\"{id}\",\"amount\":12550,\"status\":\"CREATED\",\"currency\":\"KGS\"}}}}"
        )
    );
    assert_eq!(get_status(&sandbox, &id, "MBank").data("status"), "CREATED");
}

#[test]
fn payer_can_decline() {
    let sandbox = start();
    let made = post(&sandbox, QR_DATA, &qr_body());
    let done = submit(&made.data("qr_data"), &[("action", "decline")]);
    assert!(done.status == 200 && done.body.contains("<h1>Not paid</h1>"));
    let id = made.data("transaction_id");
    let later = status(&sandbox, &id);
    assert_eq!((later.code().as_str(), later.data("status").as_str()), ("212", "Reject"));
    let again = submit(&made.data("qr_data"), &[("action", "approve")]);
    assert!(again.body.contains("This payment is finished"));
    let payment = sandbox.payment(&id).expect("in the ledger");
    assert_eq!((payment.reject_reason, payment.times_charged), (Some(RejectReason::CancelledByPayer), 0));
}

#[test]
fn form_that_decides_nothing_changes_nothing() {
    let sandbox = start();
    let url = post(&sandbox, QR_DATA, &qr_body()).data("qr_data");
    for form in [&[][..], &[("action", "")], &[("action", "steal")]] {
        assert_eq!(submit(&url, form).status, 400);
    }
    assert!(!sandbox.payments()[0].status.is_final());
}

#[test]
fn without_a_sum_the_payer_names_it() {
    let sandbox = start();
    let made = post(&sandbox, QR_DATA, &qr_body().without("sum"));
    let (url, id) = (made.data("qr_data"), made.data("transaction_id"));
    assert!(made.json()["data"].get("sum").is_none());
    assert!(status(&sandbox, &id).json()["data"].get("amount").is_none());
    assert!(open(&url).body.contains("name=\"amount\""));
    for amount in ["", "0", "-5", "1.234", "x"] {
        let page = submit(&url, &[("action", "approve"), ("amount", amount)]);
        assert_eq!(page.status, 400, "{amount}");
    }
    assert_eq!(sandbox.payment(&id).map(|p| p.times_charged), Some(0));
    submit(&url, &[("action", "approve"), ("amount", "30.05")]);
    let charged = status(&sandbox, &id);
    assert_eq!(charged.data("status"), "CHARGE");
    assert!(charged.body.contains("\"amount\":3005,"), "{}", charged.body);
}

#[test]
fn payer_cannot_change_amount_of_code() {
    let sandbox = start();
    let made = post(&sandbox, QR_DATA, &qr_body());
    submit(&made.data("qr_data"), &[("action", "approve"), ("amount", "0.01")]);
    let payment = sandbox.payment(&made.data("transaction_id")).expect("in the ledger");
    assert_eq!(payment.amount, Some(Decimal::from(12550)));
}

#[test]
fn unknown_and_hostile_ids_find_nothing() {
    let sandbox = start();
    for id in ["QR-1", "..%2f..", "%27%20OR%201%3D1", "a%26b"] {
        let answer = status(&sandbox, id);
        assert_eq!((answer.status, answer.code().as_str()), (404, "404"));
    }
}
