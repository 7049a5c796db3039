//! A short program for each kind of payment, without the options and reports of the program `checkout`: what a Rust
//! shop needs.

use std::{env, process::ExitCode};

use kassa::PaymentError;

mod card;
mod check;
mod mbank;
mod megapay;
mod pay_form;
mod qr;
mod resume;
mod shop;

const USAGE: &str =
    "usage: flows card SOM | mbank PHONE SOM | megapay PHONE SOM ACCOUNT | pay-form SOM | qr SOM | resume
       flows check REFERENCE | callback ADDRESS < BODY | returned ADDRESS";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The program with these arguments, if any.
fn run(words: &[&str]) -> Option<Result<(), PaymentError>> {
    Some(match words {
        ["card", som] => card::take(som.parse().ok()?),
        ["mbank", phone, som] => mbank::take(phone, som.parse().ok()?),
        ["megapay", phone, som, account] => megapay::take(phone, som.parse().ok()?, account),
        ["pay-form", som] => pay_form::make(som.parse().ok()?),
        ["callback", address] => pay_form::called_back(address),
        ["returned", address] => pay_form::came_back(address),
        ["qr", som] => qr::show(som.parse().ok()?),
        ["resume"] => resume::resume(),
        ["check", stored] => check::check(stored),
        _ => return None,
    })
}
