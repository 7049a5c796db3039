//! Receives callbacks, or checks one from a file.

use std::{
    fs,
    io::{self, Read},
    path::Path,
    pin::pin,
};

use kassa::{Callback, PaymentRef, Verdict};
use serde_json::{Value, json};
use tokio::{
    signal::ctrl_c,
    time::{Instant, timeout_at},
};

use super::{Ended, status::payment_of, worst};
use crate::{
    args::CallbackArgs,
    deliver::deliver,
    failure::{AS_EXPECTED, Failure, NOT_AS_EXPECTED, NOT_KNOWN},
    follow::check,
    json_output,
    receiver::Arrival,
    report::SeenCallback,
    setup::Checkout,
};

/// Listens, or reads.
pub(super) async fn run(shop: &Checkout, args: &CallbackArgs) -> Result<Ended, Failure> {
    let named = payment_of(&args.subject, &args.asked_for)?;
    match &args.file {
        Some(file) => one(shop, file, named).await,
        None => listen(shop, args.count, named).await,
    }
}

async fn one(shop: &Checkout, file: &Path, named: Option<PaymentRef>) -> Result<Ended, Failure> {
    let callback = Callback::parse(&read(file)?)?;
    let (seen, exit_code) = weigh(shop, "", &callback, named.as_ref()).await?;
    let body = json!({"callbacks": [json_output::callback(&seen)], "dedup_key": callback.dedup_key()});
    Ok(Ended { exit_code, body })
}

/// Checks a callback against the payment that was named, else the one that was recorded before it was sent, and
/// delivers what is charged. What a callback says of itself proves nothing.
async fn weigh(
    shop: &Checkout,
    reference: &str,
    callback: &Callback,
    named: Option<&PaymentRef>,
) -> Result<(SeenCallback, u8), Failure> {
    let payment = match named {
        Some(payment) => Some(payment.clone()),
        None => shop.payments.of_callback(reference, &callback.order_number)?.map(|entry| entry.payment),
    };
    let payment = payment.or_else(|| callback.payment_ref()).unwrap_or_else(|| PaymentRef::qr(None));
    let (seen, verdict) = check(&shop.gateway, &shop.narrator, callback, &payment).await;
    if let Ok(Verdict::Charged { payment, .. }) = &verdict {
        deliver(shop, &shop.narrator, payment).await;
    }
    Ok((seen, exit_code_of(verdict.ok().as_ref())))
}

/// Only what the gateway itself reports of this payment is as expected; a callback that it knows nothing of is not.
fn exit_code_of(verdict: Option<&Verdict>) -> u8 {
    match verdict {
        Some(Verdict::Charged { .. } | Verdict::Rejected { .. }) => AS_EXPECTED,
        Some(Verdict::Mismatch { .. }) => NOT_AS_EXPECTED,
        Some(_) | None => NOT_KNOWN,
    }
}

fn read(file: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if file == Path::new("-") {
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(file)
    };
    read.map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", file.display())))
}

async fn listen(shop: &Checkout, count: Option<usize>, named: Option<PaymentRef>) -> Result<Ended, Failure> {
    let mut mailbox = shop.receiver.expect_everything();
    shop.introduce();
    shop.narrator.title("Waiting for callbacks");
    let deadline = Instant::now() + shop.policy.deadline;
    let mut seen: Vec<SeenCallback> = Vec::new();
    let mut exit_codes = Vec::new();
    let _waiting = shop.narrator.waiting("for callbacks");
    let mut told_to_stop = pin!(ctrl_c());
    while count.is_none_or(|count| seen.len() < count) {
        let arrival = tokio::select! {
            biased;
            _ = &mut told_to_stop => break,
            arrival = timeout_at(deadline, mailbox.next()) => arrival,
        };
        match arrival {
            Ok(Some(Arrival::Callback { reference, callback, duplicate: false })) => {
                let (callback, exit_code) = weigh(shop, &reference, &callback, named.as_ref()).await?;
                seen.push(callback);
                exit_codes.push(exit_code);
            }
            Ok(Some(Arrival::Callback { callback, duplicate: true, .. })) => {
                shop.narrator.step("callback", &format!("order {}: a duplicate", callback.order_number));
            }
            Ok(Some(Arrival::Return(redirect))) => {
                shop.narrator.step("return", &format!("the payer of order {} returned", redirect.order_number));
            }
            Ok(None) | Err(_) => break,
        }
    }
    if count.is_some_and(|count| seen.len() < count) {
        exit_codes.push(NOT_AS_EXPECTED);
    }
    let callbacks: Vec<Value> = seen.iter().map(json_output::callback).collect();
    Ok(Ended { exit_code: worst(exit_codes), body: json!({ "callbacks": callbacks }) })
}
