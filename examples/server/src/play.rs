//! A shop, four checkouts and their payers, and a server that is killed in the middle of each.

use std::time::Duration;

use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use kassa_sandbox::{EndpointName, Fault, PaymentKind};
use serde_json::{Value, json};

use crate::{
    Failure,
    stage::{Checkout, Stage},
};

/// Longer than it takes to kill a program, so that it dies while the gateway works.
const SLOWLY: Duration = Duration::from_secs(3);

pub(crate) async fn run() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let mut stage = Stage::open(folder.path()).await?;
    stage.say("shop", "opens four checkouts of 390 som");
    let never = stage.checkout("never-paid", 60).await?;
    let form = stage.checkout("pay-form", 3600).await?;
    let qr = stage.checkout("qr", 3600).await?;
    let mbank = stage.checkout("mbank", 3600).await?;

    look_and_leave(&mut stage, &never).await?;
    begin_on_the_page(&mut stage, &form).await?;
    pay_by_qr(&mut stage, &qr).await?;
    pay_by_mbank(&mut stage, &mbank).await?;
    pay_on_the_page(&mut stage, &form).await?;
    expire(&mut stage, &never).await?;
    show(&stage, &[("pay-form", &form), ("QR code", &qr), ("mobile bank", &mbank), ("never paid", &never)]).await
}

/// Somebody looks at a code, and goes away.
async fn look_and_leave(stage: &mut Stage, never: &Checkout) -> Result<(), Failure> {
    never.app.pay("try-1", &json!({ "method": "qr" })).await?.text("qr_text")?;
    stage.say("payer 4", "looks at a QR code, and goes away");
    stage.kill("while nobody pays").await?;
    stage.start_again().await
}

/// Killed while the gateway makes the page: the app has no answer, and asks again with the same key.
async fn begin_on_the_page(stage: &mut Stage, form: &Checkout) -> Result<(), Failure> {
    stage.sandbox.faults().add(Fault::delay().endpoint(EndpointName::PayForm).times(1).after(SLOWLY))?;
    stage.say("payer 1", "chooses the gateway's page");
    let app = form.app.clone();
    let asking = tokio::spawn(async move { app.pay("try-1", &by_form()).await.is_ok() });
    stage.until("the gateway has the request", |stage| stage.at_the_gateway(PaymentKind::PayForm).is_some()).await?;
    stage.kill("while the gateway makes the page").await?;
    if asking.await? {
        return Err("the app was answered by a dead server".into());
    }
    stage.start_again().await?;
    let again = form.app.pay("try-1", &by_form()).await?;
    let state = again.text("state")?;
    stage.say("app 1", &format!("asks again with the same key: HTTP {}, {state}", again.status));
    Ok(())
}

/// Killed while the payer scans, so that nobody takes the gateway's callback.
async fn pay_by_qr(stage: &mut Stage, qr: &Checkout) -> Result<(), Failure> {
    qr.app.pay("try-1", &json!({ "method": "qr" })).await?.text("qr_text")?;
    stage.say("payer 2", "is shown a QR code");
    stage.kill("while the payer scans").await?;
    let payment = stage.at_the_gateway(PaymentKind::Qr).ok_or("the gateway has no QR payment")?;
    stage.sandbox.approve(&payment.gateway_number)?;
    stage.say("payer 2", "pays; nobody takes the gateway's callback");
    stage.start_again().await?;
    paid(stage, qr, "QR code").await
}

/// Killed while the one-time password is on its way: whether it was taken, nobody knows, and it is not sent again.
async fn pay_by_mbank(stage: &mut Stage, mbank: &Checkout) -> Result<(), Failure> {
    let begun = mbank.app.pay("try-1", &json!({ "method": "mbank", "phone": "996555000101" })).await?;
    let payment = begun.text("id")?;
    stage.sandbox.faults().add(Fault::delay().endpoint(EndpointName::MbankConfirm).times(1).after(SLOWLY))?;
    stage.say("payer 3", "types the code from the SMS");
    let app = mbank.app.clone();
    let sent = tokio::spawn(async move { app.confirm(&payment, "otp-1", "101101").await.is_ok() });
    let is_charged =
        |stage: &Stage| stage.at_the_gateway(PaymentKind::Mbank).is_some_and(|payment| payment.is_charged());
    stage.until("the gateway has the code", is_charged).await?;
    stage.kill("while the gateway takes the money").await?;
    if sent.await? {
        return Err("the app was answered by a dead server".into());
    }
    stage.start_again().await?;
    paid(stage, mbank, "mobile bank").await
}

/// The page that nobody saw is given up, and the second one paid while the server is dead.
async fn pay_on_the_page(stage: &mut Stage, form: &Checkout) -> Result<(), Failure> {
    let is_given_up = |seen: &Value| seen["payments"][0]["state"] == "not_made";
    stage.seen(form, is_given_up).await?;
    stage.say("server", "gives up the page that nobody saw: not made");
    form.app.pay("try-2", &by_form()).await?.text("page_url")?;
    stage.say("payer 1", "tries again, and is shown a page");
    stage.kill("while the payer is on the page").await?;
    let payment = stage.at_the_gateway(PaymentKind::PayForm).ok_or("the gateway has no page")?;
    stage.sandbox.approve(&payment.gateway_number)?;
    stage.say("payer 1", "pays there");
    stage.start_again().await?;
    paid(stage, form, "pay-form").await
}

async fn expire(stage: &mut Stage, never: &Checkout) -> Result<(), Failure> {
    stage.say("shop", "waits for the minute of the last checkout to pass");
    stage.seen(never, |seen| seen["state"] != "open").await?;
    stage.say("server", "lets it expire");
    Ok(())
}

fn by_form() -> Value {
    json!({ "method": "pay_form" })
}

async fn paid(stage: &Stage, checkout: &Checkout, name: &str) -> Result<(), Failure> {
    stage.seen(checkout, |seen| seen["state"] == "paid").await?;
    stage.say("server", &format!("has asked the gateway: {name} is paid"));
    Ok(())
}

/// What happened to the money, by the gateway's books and by the events that the shop received.
async fn show(stage: &Stage, checkouts: &[(&str, &Checkout)]) -> Result<(), Failure> {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header([
        "Checkout",
        "The server says",
        "The shop was told, in this order",
    ]);
    for (name, checkout) in checkouts {
        let end = if *name == "never paid" { "checkout.expired" } else { "checkout.paid" };
        let what = format!("{end} of {name}");
        stage.until(&what, |stage| stage.received.has(&checkout.id, end)).await?;
        let seen = checkout.app.get("/v1/checkout").await?.body;
        let state = seen["state"].as_str().unwrap_or_default();
        table.add_row([*name, state, &stage.received.about(&checkout.id).join("\n")]);
    }
    let charged: u32 = stage.sandbox.payments().iter().map(|payment| payment.times_charged).sum();
    let paid = checkouts.iter().map(|(_, checkout)| stage.received.about(&checkout.id));
    let paid = paid.flatten().filter(|kind| kind == "checkout.paid").count();
    println!("\n{table}");
    println!(
        "\nThe server was killed {} times. The gateway charged {charged} payments, and the shop was told of {paid} paid \
         checkouts.",
        stage.kills()
    );
    if charged as usize == paid { Ok(()) } else { Err("the gateway's books and the shop's differ".into()) }
}
