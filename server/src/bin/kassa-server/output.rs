//! The output of commands. `println!` and `eprintln!` panic if the output is closed or a disk is full.

use std::{
    fmt,
    io::{self, Write},
};

use kassa::Advice;
use kassa_server::{
    EventKind,
    settings::{ProgramSettings, SettingProblem},
};

/// Writes a line to the standard output, and flushes it. A command whose output cannot be written has failed.
pub(crate) fn line(text: impl fmt::Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Writes a line for a person to the standard error, if it can be written.
pub(crate) fn note(text: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The failure of a command whose output could not be written.
pub(crate) fn unwritten(problem: io::Error) -> Failure {
    Failure::new(format_args!("the output could not be written: {problem}"))
}

// Why a command failed, in words for a terminal.

/// The failure that ends a command. It is printed as it is.
#[derive(Debug)]
pub(crate) struct Failure(String);

/// The result of a command.
pub(crate) type CommandResult<T> = Result<T, Failure>;

impl Failure {
    /// One sentence.
    pub(crate) fn new(sentence: impl fmt::Display) -> Self {
        Self(format!("kassa-server: {sentence}"))
    }

    /// Everything that is wrong with the settings, a line each.
    pub(crate) fn settings(problems: &[SettingProblem]) -> Self {
        let lines = problems.iter().map(|problem| format!("\n  {problem}"));
        Self(format!("kassa-server: the settings cannot be used:{}", lines.collect::<String>()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// Warnings: settings that work, and should be changed.

const CARDS: &str = "cards.enabled is on: this server and the merchant are under PCI DSS (SAQ D), whether anything of a card is \
    stored or not. If you are not ready for that, remove it, and let the gateway's own page (pay_form) accept cards";

/// The key of the dialect without which no charge of a pay-form can be verified.
const NUMBERS: &str = "dialect.qr_numbers";

const OFFERED_BY_NAME: &str = "Until then checkouts offer pay_form only where the shop names it in methods";

const UNPAID: &str = "events.kinds does not have checkout.paid: the shop gets no event when a checkout is paid. Add it, unless the shop reads GET \
    /v1/events";

/// The settings by which money would be taken unnoticed: the subject, and what to do.
pub(crate) fn wrong(settings: &ProgramSettings) -> Vec<(&'static str, String)> {
    let advice = settings.gateway.dialect().advice().into_iter().filter(|advice| advice.field == NUMBERS);
    advice.map(|advice| ("pay_form", format!("{}. {OFFERED_BY_NAME}", on_setting(&advice)))).collect()
}

/// The advice, with the dialect's key as a part of the setting `gateway.dialect`.
fn on_setting(advice: &Advice) -> String {
    format!("gateway.{}", advice.text)
}

/// The warnings, each with what to do.
pub(crate) fn of(settings: &ProgramSettings) -> Vec<String> {
    let mut warnings = settings.warnings.clone();
    if settings.server.takes_cards {
        warnings.push(CARDS.to_owned());
    }
    let advice = settings.gateway.dialect().advice();
    warnings.extend(advice.iter().filter(|advice| advice.field != NUMBERS).map(on_setting));
    let kinds = settings.server.event_kinds.as_ref();
    if kinds.is_some_and(|kinds| !kinds.contains(&EventKind::CheckoutPaid)) {
        warnings.push(UNPAID.to_owned());
    }
    let listener = &settings.listener;
    let is_open = !listener.address.ip().to_canonical().is_loopback();
    if is_open && listener.tls.is_none() && settings.http.proxies == kassa_server::Proxies::default() {
        warnings.push(format!(
            "{} is open to other machines unencrypted: set tls.certificate and tls.key, or name the proxy that \
                 encrypts in proxies",
            listener.address
        ));
    }
    if settings.metrics_listen.is_some_and(|metrics| !metrics.ip().to_canonical().is_loopback()) {
        warnings
            .push("metrics_listen is open to other machines: anyone who reaches it can read the metrics".to_owned());
    }
    warnings
}
