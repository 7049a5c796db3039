//! What works, and should not stay so.

use kassa_server::{EventKind, settings::ProgramSettings};

const CARDS: &str = "cards.enabled is on: this server and the merchant are under PCI DSS (SAQ D), whether anything of a card is \
    stored or not. Whoever is not ready for that takes it out, and lets the gateway's own page (pay_form) take cards";

const UNVERIFIABLE: &str = "no charge of a pay-form could be verified, because its number could be that of a QR payment: set \
    qr_numbers in gateway.dialect (\"none\" where get-status finds no QR payments). Until then checkouts offer pay_form only where \
    the shop names it in methods";

const UNIT: &str = "the unit of the amounts of QR payments is not known, so a charge that is reported in som cannot be verified: set \
    qr_amount_unit in gateway.dialect";

const UNPAID: &str = "events.kinds does not have checkout.paid: the shop is not told who paid. Add it, unless the shop reads GET \
    /v1/events";

/// What takes money that nobody hears of: about what, and what to do.
pub(crate) fn wrong(settings: &ProgramSettings) -> Vec<(&'static str, &'static str)> {
    let is_wrong = !settings.gateway.dialect().verifies_pay_forms();
    is_wrong.then_some(("pay_form", UNVERIFIABLE)).into_iter().collect()
}

/// Each with what to do.
pub(crate) fn of(settings: &ProgramSettings) -> Vec<String> {
    let mut warnings = settings.warnings.clone();
    if settings.server.takes_cards {
        warnings.push(CARDS.to_owned());
    }
    if !settings.gateway.dialect().knows_qr_amount_unit() {
        warnings.push(UNIT.to_owned());
    }
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
        warnings.push("metrics_listen is open to other machines: whoever reaches it reads the metrics".to_owned());
    }
    warnings
}
