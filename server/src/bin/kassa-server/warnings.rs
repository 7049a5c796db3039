//! What works, and should not stay so.

use kassa_server::settings::ProgramSettings;

/// Each with what to do.
pub(crate) fn of(settings: &ProgramSettings) -> Vec<String> {
    let mut warnings = settings.warnings.clone();
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
