//! What the binary prints when it is ready: where it is, how to get in, and whom to pay as.

use std::io::{self, Write};

use kassa_sandbox::{Sandbox, TEST_CARDS, TEST_PHONES, ThreeDs};

/// The password printed in the clear is the one everybody knows; any other is the user's secret.
const WELL_KNOWN_PASSWORD: &str = "sandbox-password";
/// What stands for a secret of the user's.
const YOURS: &str = "(the one you gave)";

/// Prints it.
pub(crate) fn print(sandbox: &Sandbox, own_token: bool, out: &mut impl Write) -> io::Result<()> {
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
