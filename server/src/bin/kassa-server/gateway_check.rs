//! One harmless question to the gateway: the status of a payment that does not exist. Each answer says something about
//! the way there, the credentials and the dialect.

use kassa::{Gateway, PaymentError, PaymentStatus, Provider, StatusReport};
use kassa_server::{CheckoutId, RealSurroundings, Surroundings, settings::ProgramSettings};

use super::finding::{Finding, State};

/// How much of an answer is shown. The core has masked secrets in it.
const SHOWN: usize = 300;
const UNDERSTOOD: &str = "reached, credentials accepted, understood";

pub(crate) async fn ask(settings: &ProgramSettings) -> Finding {
    let gateway = match Gateway::new(settings.gateway.clone()) {
        Ok(gateway) => gateway,
        Err(problem) => return (State::Wrong, problem.to_string()),
    };
    let mut bytes = [0; 16];
    if let Err(problem) = RealSurroundings::on(tokio::runtime::Handle::current()).fill(&mut bytes) {
        return (State::Wrong, problem.to_string());
    }
    // A number of the form that the server's have, and that no payment has.
    let number = CheckoutId::from_random(bytes);
    match gateway.provider_status(number.bare(), Provider::Cards).await {
        Ok(report) => answered(&report),
        Err(problem) => failed(&problem),
    }
}

/// It told a status of a payment that there is not.
fn answered(report: &StatusReport) -> Finding {
    let odd = "reached, credentials accepted, understood; but of a payment that does not exist it says that it is";
    match &report.status {
        PaymentStatus::Charged => {
            (State::Wrong, format!("{odd} charged: charged_words in gateway.dialect cannot be right"))
        }
        PaymentStatus::Rejected => {
            let sentence = "rejected, so one that it does not know yet would count as that: see rejected_words in \
                gateway.dialect";
            (State::Warning, format!("{odd} {sentence}"))
        }
        other => (State::Ok, format!("{UNDERSTOOD}: it says \"{other}\" of a payment that does not exist")),
    }
}

fn failed(problem: &PaymentError) -> Finding {
    match problem {
        PaymentError::Refused { http_status, code: Some(code), .. } => {
            let sentence = "it does not know a payment that does not exist";
            (State::Ok, format!("{UNDERSTOOD}: {sentence} (HTTP {http_status}, code {code})"))
        }
        PaymentError::Refused { http_status, body, .. } => {
            let sentence = "and the dialect finds no code in that: name its place in gateway.dialect";
            (State::Warning, format!("reached; it says no with HTTP {http_status}, {sentence}.{}", said(Some(body))))
        }
        PaymentError::Unauthorized { http_status, .. } => {
            let sentence = "correct gateway.login and gateway.password";
            (State::Wrong, format!("reached; it does not accept the credentials (HTTP {http_status}): {sentence}"))
        }
        PaymentError::Misconfigured { http_status: Some(status), body, .. } => {
            let sentence = "not as the gateway says it: correct gateway.url, or say in gateway.dialect what its answers are \
                called";
            (State::Wrong, format!("reached; HTTP {status} came, {sentence}.{}", said(body.as_deref())))
        }
        PaymentError::Misconfigured { detail, .. } => {
            (State::Wrong, format!("not reached: {detail}: correct gateway.url, gateway.ca or gateway.proxy"))
        }
        PaymentError::Unavailable { http_status: Some(status), body, .. } => {
            let sentence = "try again later; if it stays, look at gateway.url and at what stands between";
            (State::Wrong, format!("reached; HTTP {status} came: {sentence}.{}", said(body.as_deref())))
        }
        PaymentError::Unavailable { detail, .. } => {
            (State::Wrong, format!("not reached: {detail}: correct gateway.url, or open the way there"))
        }
        PaymentError::Unexpected { detail, body, .. } => {
            let sentence = "say in gateway.dialect what its answers are called";
            (State::Wrong, format!("reached, but not understood: {detail}: {sentence}.{}", said(Some(body))))
        }
        other => (State::Wrong, other.to_string()),
    }
}

fn said(body: Option<&str>) -> String {
    match body {
        Some(body) if !body.trim().is_empty() => {
            format!(" It said: {}", body.chars().take(SHOWN).flat_map(char::escape_debug).collect::<String>())
        }
        _ => " It said nothing more.".to_owned(),
    }
}
