//! Where traces go.

use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};

use super::{
    parse,
    table::{TRACING_HEADERS, TRACING_SAMPLE_RATIO, TRACING_URL},
    values::{Read, Values},
};
use crate::{spans::CollectorSettings, surroundings::is_loopback, values::hidden::Hidden};

/// The collector, where there is one.
pub(super) fn read(values: &mut Values) -> Read<Option<CollectorSettings>> {
    let url = values.optional(&TRACING_URL, address);
    let headers = values.optional(&TRACING_HEADERS, headers);
    let sample_ratio = values.read(&TRACING_SAMPLE_RATIO, parse::ratio);
    let (url, headers, sample_ratio) = (url?, headers?.unwrap_or_default(), sample_ratio?);
    let Some(url) = url else {
        if values.is_given(&TRACING_HEADERS) {
            values.warnings.push("tracing.headers are for a collector: without tracing.url they do nothing".to_owned());
        }
        return Ok(None);
    };
    let has_key = !headers.is_empty() || url.query().is_some();
    if has_key && url.scheme() != "https" && !is_loopback(&url) {
        return Err(values
            .wrong(&TRACING_URL, "must be https where it has a query, or tracing.headers go with it: they hold keys"));
    }
    Ok(Some(CollectorSettings { headers, sample_ratio, ..CollectorSettings::to(url) }))
}

/// What traces hold is no secret, and a collector beside the server has no certificate as a rule.
fn address(text: &str) -> Result<Url, String> {
    if cfg!(not(feature = "opentelemetry")) {
        return Err("needs a program that was built with traces: cargo build --features opentelemetry".to_owned());
    }
    let has_user = |url: &Url| !url.username().is_empty() || url.password().is_some();
    let is_fit = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host() && !has_user(url);
    Url::parse(text).ok().filter(is_fit).ok_or_else(|| {
        "must be an http or https address without user, such as http://127.0.0.1:4318/v1/traces".to_owned()
    })
}

fn headers(text: &str) -> Result<Vec<(String, Hidden)>, String> {
    let rule = || "must be headers such as authorization=Bearer abc, with a comma between two".to_owned();
    text.split(',').map(|header| one_header(header).ok_or_else(rule)).collect()
}

fn one_header(text: &str) -> Option<(String, Hidden)> {
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim().parse::<HeaderName>().ok()?, value.trim());
    value.parse::<HeaderValue>().ok()?;
    Some((name.as_str().to_owned(), Hidden::new(value)))
}
