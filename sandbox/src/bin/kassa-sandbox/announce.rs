//! The output of the program when it is ready: one line of JSON for the program that started it, or a welcome text for people.

use std::io::{self, Write};

use kassa_sandbox::{Recorder, Sandbox, TEST_CARDS, TEST_PHONES, ThreeDs};
use serde::Serialize;

/// Only the public default password is printed; any other is the user's secret.
const WELL_KNOWN_PASSWORD: &str = "sandbox-password";
/// Replaces a secret of the user.
const YOURS: &str = "(as configured)";

#[derive(Serialize)]
struct Announcement<'a> {
    url: &'a str,
    login: &'a str,
    password: &'a str,
    admin_token: &'a str,
}

/// Prints the line with all secrets: the program that reads it needs them.
pub(crate) fn json(sandbox: &Sandbox, out: &mut impl Write) -> io::Result<()> {
    let announcement = Announcement {
        url: sandbox.url(),
        login: sandbox.login(),
        password: sandbox.password(),
        admin_token: sandbox.admin_token(),
    };
    let line = serde_json::to_string(&announcement)?;
    writeln!(out, "{line}")?;
    out.flush()
}

/// Prints the URL, the credentials and the test payers.
pub(crate) fn welcome(sandbox: &Sandbox, own_token: bool, out: &mut impl Write) -> io::Result<()> {
    let password = match sandbox.password() {
        WELL_KNOWN_PASSWORD => WELL_KNOWN_PASSWORD,
        _ => YOURS,
    };
    let token = if own_token { YOURS } else { sandbox.admin_token() };
    writeln!(out, "Kassa sandbox: no real money moves here\n")?;
    writeln!(out, "  URL       {}", sandbox.url())?;
    writeln!(out, "  login     {}", sandbox.login())?;
    writeln!(out, "  password  {password}")?;
    writeln!(out, "  admin     {token}")?;
    writeln!(out, "  dashboard {}/dashboard\n", sandbox.url())?;
    writeln!(out, "  {:<21} {:<12} {:<19} OTP", "test card", "check", "outcome")?;
    for card in TEST_CARDS {
        let otp = match card.three_ds {
            ThreeDs::None => "-",
            _ => card.otp,
        };
        writeln!(out, "  {:<21} {:<12} {:<19} {otp}", card.pan, card.three_ds, card.outcome)?;
    }
    writeln!(out, "  any CVC of 3 characters, any expiry later than today\n")?;
    writeln!(out, "  {:<21} {:<12} {:<19} OTP", "test phone", "provider", "outcome")?;
    for phone in TEST_PHONES {
        writeln!(out, "  {:<21} {:<12} {:<19} {}", phone.phone, phone.provider.as_str(), phone.outcome, phone.otp)?;
    }
    writeln!(out, "\nStop it with Ctrl-C.")?;
    out.flush()
}

#[derive(Serialize)]
struct RecorderAddresses<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    callbacks_url: Option<&'a str>,
}

/// Prints the addresses of a recorder.
pub(crate) fn recorder(recorder: &Recorder, as_json: bool, out: &mut impl Write) -> io::Result<()> {
    let (url, callbacks) = (recorder.url(), recorder.callbacks_url());
    if as_json {
        let addresses = RecorderAddresses { url: &url, callbacks_url: callbacks.as_deref() };
        writeln!(out, "{}", serde_json::to_string(&addresses)?)?;
        return out.flush();
    }
    writeln!(out, "Recording. Use these addresses:\n")?;
    writeln!(out, "  {url}  in place of the gateway's base URL")?;
    if let Some(callbacks) = callbacks {
        writeln!(out, "  {callbacks}  in place of your host in callback URLs")?;
    }
    writeln!(out, "\nStop it with Ctrl-C.")?;
    out.flush()
}
