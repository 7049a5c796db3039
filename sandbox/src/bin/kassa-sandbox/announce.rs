//! What the binary prints for the program that started it: one line of JSON, once it listens.

use std::io::{self, Write};

use kassa_sandbox::Sandbox;
use serde::Serialize;

#[derive(Serialize)]
struct Announcement<'a> {
    url: &'a str,
    login: &'a str,
    password: &'a str,
    admin_token: &'a str,
}

/// Prints it, secrets and all: the reader is the program that needs them.
pub(crate) fn print(sandbox: &Sandbox, out: &mut impl Write) -> io::Result<()> {
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
