//! What works, and should not stay so.

use kassa_server::settings::ProgramSettings;

const CARDS: &str = "cards.enabled is on: this server and the merchant are under PCI DSS (SAQ D), whether anything of a card is \
    stored or not. Whoever is not ready for that takes it out, and lets the gateway's own page (pay_form) take cards";

/// Each with what to do.
pub(crate) fn of(settings: &ProgramSettings) -> Vec<String> {
    let mut warnings = settings.warnings.clone();
    if settings.server.takes_cards {
        warnings.push(CARDS.to_owned());
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
        warnings.push("metrics_listen is open to other machines: whoever reaches it reads the metrics".to_owned());
    }
    warnings
}
