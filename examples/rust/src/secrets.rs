//! What must not stand on a command line: from the environment, or as one line of JSON on standard input.

use std::io;

use serde::Deserialize;

use crate::{args::Cli, failure::Failure};

/// What the line may hold. It has no `Debug`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Line {
    password: Option<String>,
    pan: Option<String>,
    expiry_month: Option<String>,
    expiry_year: Option<String>,
    cvc: Option<String>,
    otp: Option<String>,
}

/// Where `--secrets-stdin` is given, reads the line and puts its values in the place of those of flags and environment.
pub(crate) fn take_from_stdin(cli: &mut Cli) -> Result<(), Failure> {
    if !cli.connection.secrets_stdin {
        return Ok(());
    }
    let line = read_line()?;
    if let Some(password) = line.password {
        cli.connection.password = Some(password);
    }
    if let Some(card) = cli.command.card_mut() {
        let places = [
            (&mut card.pan, line.pan),
            (&mut card.expiry_month, line.expiry_month),
            (&mut card.expiry_year, line.expiry_year),
            (&mut card.cvc, line.cvc),
        ];
        for (place, value) in places {
            if let Some(value) = value {
                *place = value;
            }
        }
    }
    if let (Some(place), Some(otp)) = (cli.command.otp_mut(), line.otp) {
        *place = Some(otp);
    }
    Ok(())
}

fn read_line() -> Result<Line, Failure> {
    let mut text = String::new();
    io::stdin()
        .read_line(&mut text)
        .map_err(|error| Failure::Usage(format!("standard input cannot be read: {error}")))?;
    // What is wrong is not said in serde's words: they could quote a secret.
    serde_json::from_str(&text).map_err(|error| {
        Failure::Usage(format!(
            "--secrets-stdin expects one line of JSON such as {{\"password\": \"...\", \"pan\": \"...\"}} with any of \
             the texts password, pan, expiry_month, expiry_year, cvc, otp (column {} is not understood)",
            error.column()
        ))
    })
}
