//! Takes a payment off the list: a person has dealt with it.

use kassa::PaymentRef;
use serde_json::json;

use super::Ended;
use crate::{args::FinishArgs, failure::Failure, setup::Checkout};

/// Finishes an entry of the journal. Its number stays taken.
pub(super) async fn run(shop: &Checkout, args: &FinishArgs) -> Result<Ended, Failure> {
    let id = id_of(shop, &args.entry)?;
    shop.gateway.finish(&id).await?;
    shop.narrator.step("finished", &format!("{id} is no longer unfinished"));
    Ok(Ended { exit_code: 0, body: json!({ "finished": id }) })
}

fn id_of(shop: &Checkout, named: &str) -> Result<String, Failure> {
    let Ok(payment) = named.parse::<PaymentRef>() else { return Ok(named.to_owned()) };
    let missing = || Failure::Usage("this payment has no entry in the journal of this gateway".to_owned());
    shop.payments.entry(&payment)?.map(|entry| entry.id).ok_or_else(missing)
}
