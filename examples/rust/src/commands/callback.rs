//! Receives callbacks, or checks one from a file.

use std::{
    fs,
    io::{self, Read},
    path::Path,
    pin::pin,
};

use kassa::{Callback, CallbackVerdict, ExpectedPayment, PaymentKind, PaymentRef};
use serde_json::{Value, json};
use tokio::{
    signal::ctrl_c,
    time::{Instant, timeout_at},
};

use super::{Ended, worst};
use crate::{
    args::CallbackArgs,
    failure::{AS_EXPECTED, Failure, NOT_AS_EXPECTED, NOT_KNOWN},
    follow::check,
    json_output,
    receiver::Arrival,
    report::SeenCallback,
    setup::Checkout,
};

/// Listens, or reads.
pub(super) async fn run(shop: &Checkout, args: &CallbackArgs) -> Result<Ended, Failure> {
    let payment = match &args.transaction_id {
        Some(id) => PaymentRef::qr(id),
        None => PaymentRef { order_number: args.order_number.clone(), ..PaymentRef::unnumbered(PaymentKind::PayForm) },
    };
    let currency = args.currency.clone();
    let expected = args.amount.map(|amount| ExpectedPayment { payment, amount, currency });
    match &args.file {
        Some(file) => one(shop, file, expected.as_ref()).await,
        None => listen(shop, args.count, expected.as_ref()).await,
    }
}

async fn one(shop: &Checkout, file: &Path, expected: Option<&ExpectedPayment>) -> Result<Ended, Failure> {
    let callback = Callback::parse(&read(file)?)?;
    let (seen, verdict) = check(&shop.gateway, &shop.narrator, &callback, expected).await;
    let body = json!({"callbacks": [json_output::callback(&seen)], "dedup_key": callback.dedup_key()});
    Ok(Ended { exit_code: exit_code_of(verdict.ok().as_ref()), body })
}

/// Only what the gateway itself confirms is as expected; a callback that it knows nothing of is not.
fn exit_code_of(verdict: Option<&CallbackVerdict>) -> u8 {
    match verdict {
        Some(CallbackVerdict::Confirmed { .. }) => AS_EXPECTED,
        Some(CallbackVerdict::Contradicted { .. }) => NOT_AS_EXPECTED,
        Some(CallbackVerdict::Pending { .. } | CallbackVerdict::Unverifiable) | None => NOT_KNOWN,
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

async fn listen(shop: &Checkout, count: Option<usize>, expected: Option<&ExpectedPayment>) -> Result<Ended, Failure> {
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
            Ok(Some(Arrival::Callback { callback, duplicate: false })) => {
                let (callback, verdict) = check(&shop.gateway, &shop.narrator, &callback, expected).await;
                seen.push(callback);
                exit_codes.push(exit_code_of(verdict.ok().as_ref()));
            }
            Ok(Some(Arrival::Callback { callback, duplicate: true })) => {
                shop.narrator.step("callback", &format!("order {}: the same once more", callback.order_number));
            }
            Ok(Some(Arrival::Return(redirect))) => {
                shop.narrator.step("return", &format!("the payer of order {} is back", redirect.order_number));
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
