//! Four payments, from request to final status.

use clap::Parser;
use serde_json::{Value, json};

use super::{Ended, worst};
use crate::{
    args::{AllArgs, Cli, Command},
    failure::{Failure, NOT_AS_EXPECTED},
    flows::{card, mbank, pay_form, qr},
    json_output,
    report::{Outcome, Report},
    setup::Checkout,
    table,
};

/// Runs them one after the other, so that each can be read. What cannot even begin ends the run, and hides nothing of
/// what was paid before.
pub(super) async fn run(shop: &Checkout, args: &AllArgs) -> Result<Ended, Failure> {
    refuse_robots_abroad(shop)?;
    shop.introduce();
    let mut reports = Vec::new();
    let mut failure = None;
    for (place, (title, words)) in FLOWS.into_iter().enumerate() {
        shop.narrator.title(&format!("{}/{}  {title}", place + 1, FLOWS.len()));
        match flow(shop, args, words).await {
            Ok(report) => reports.push(report),
            Err(error) if reports.is_empty() => return Err(error),
            Err(error) => {
                shop.narrator.warn("error", &format!("{}: {}", error.kind(), error.describe()));
                failure = Some(error);
                break;
            }
        }
    }
    let failed = failure.as_ref().map(|_| NOT_AS_EXPECTED);
    let exit_code = worst(reports.iter().map(exit_code_of).chain(failed));
    shop.narrator.print(&format!("\n{}", table::of(&reports)));
    shop.narrator.print(match exit_code {
        0 => "\nAll four payments ended as expected: charged, each with a callback that was checked.",
        _ => "\nNot every payment ended as expected.",
    });
    let flows: Vec<Value> = reports.iter().map(json_output::report).collect();
    let body = match &failure {
        Some(failure) => json!({"flows": flows, "error": json_output::failure(failure)}),
        None => json!({ "flows": flows }),
    };
    Ok(Ended { exit_code, body })
}

/// The titles, and the command that each stands for.
const FLOWS: [(&str, &str); 4] = [
    ("Card with 3DS", "card"),
    ("MBank with a one-time password", "mbank"),
    ("Pay-form: the payer picks how to pay", "pay-form"),
    ("Dynamic QR code", "qr"),
];

/// On a real gateway only a person can be the payer.
fn refuse_robots_abroad(shop: &Checkout) -> Result<(), Failure> {
    if !shop.payer.is_robot() && !shop.interactive {
        return Err(Failure::Usage(
            "`all` on a gateway that is not on this machine needs a person to be the payer: add --interactive, and \
             give your own test card and phone"
                .to_owned(),
        ));
    }
    if !shop.callbacks_arrive {
        return shop.required_callback_url("").map(drop);
    }
    Ok(())
}

/// A flow with the defaults of its own command, and what `all` was given.
async fn flow(shop: &Checkout, args: &AllArgs, command: &str) -> Result<Report, Failure> {
    let defaults = Cli::try_parse_from(["checkout", command]).map_err(|error| Failure::Usage(error.to_string()))?;
    match defaults.command {
        Command::Card(mut flow) => {
            flow.card.clone_from(&args.card);
            flow.otp = None;
            card::run(shop, &flow).await
        }
        Command::Mbank(mut flow) => {
            flow.phone.clone_from(&args.phone);
            flow.otp = None;
            mbank::run(shop, &flow).await
        }
        Command::PayForm(mut flow) => {
            flow.otp = None;
            pay_form::run(shop, &flow).await
        }
        Command::Qr(flow) => qr::run(shop, &flow).await,
        _ => Err(Failure::Usage(format!("{command} is not a payment"))),
    }
}

/// Charged is not enough here: the callback must have arrived and been checked.
fn exit_code_of(report: &Report) -> u8 {
    match report.exit_code() {
        0 if report.outcome != Outcome::Charged || !report.has_good_callback() => NOT_AS_EXPECTED,
        code => code,
    }
}
