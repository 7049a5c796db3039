//! The settings of the connection to the gateway. **The core checks them**: each is tried in an otherwise valid configuration, so
//! that all problems are found at once, and no rule of the core is duplicated here.

use std::{io::ErrorKind, path::Path};

use kassa::{Credentials, Dialect, Gateway, GatewayConfig, PaymentError, Proxy, StatusQueryForm};

use super::{
    plain_http::{self, PlainHttp},
    table::{
        GATEWAY_CA, GATEWAY_CONNECT_TIMEOUT, GATEWAY_DIALECT, GATEWAY_LOGIN, GATEWAY_PASSWORD, GATEWAY_PASSWORD_FILE,
        GATEWAY_PAYMENT_DEADLINE, GATEWAY_PROXY, GATEWAY_QUERY_DEADLINE, GATEWAY_STATUS_QUERY, GATEWAY_URL, Setting,
    },
    values::{self, Parsed, Values},
};
use crate::values::{Hidden, text_file};

/// A valid address, to check other settings with.
const RIGHT_URL: &str = "https://gateway.invalid";

pub(super) fn read(values: &mut Values, plain: &mut PlainHttp) -> Parsed<GatewayConfig> {
    let url = url(values, plain);
    let login = values.read(&GATEWAY_LOGIN, |login| {
        judged(right().with_credentials(Credentials::basic(login, "x"))).map(|()| login.to_owned())
    });
    let password = password(values);
    let dialect = dialect(values);
    let form = values.read(&GATEWAY_STATUS_QUERY, |word| match word {
        "json_body" => Ok(StatusQueryForm::JsonBody),
        "query_string" => Ok(StatusQueryForm::QueryString),
        _ => Err("must be json_body or query_string".to_owned()),
    });
    let roots = values.file(&GATEWAY_CA);
    let roots =
        roots.and_then(|pem| match pem.iter().try_for_each(|pem| judged(right().with_extra_root_certificates(pem))) {
            Ok(()) => Ok(pem),
            Err(rule) => Err(values.wrong(&GATEWAY_CA, rule)),
        });
    let proxy = proxy(values, url.as_deref().ok(), plain);
    let connect_timeout = values.read(&GATEWAY_CONNECT_TIMEOUT, values::within("100ms", "1m"));
    let payment_deadline = values.read(&GATEWAY_PAYMENT_DEADLINE, values::within("1s", "10m"));
    let query_deadline = values.read(&GATEWAY_QUERY_DEADLINE, values::within("1s", "5m"));

    let url = url?;
    let mut config = GatewayConfig::new(&url, Credentials::basic(login?, password?.expose()))
        .with_plain_http_hosts(plain.hosts_for(&url))
        .with_status_query(form?)
        .with_proxy(proxy?)
        .with_connect_timeout(connect_timeout?)
        .with_payment_deadline(payment_deadline?)
        .with_query_deadline(query_deadline?)
        .with_user_agent_suffix(concat!("kassa-server/", env!("CARGO_PKG_VERSION")));
    if let Some(dialect) = dialect? {
        config = config.with_dialect(dialect);
    }
    if let Some(pem) = roots? {
        config = config.with_extra_root_certificates(pem);
    }
    Ok(config)
}

fn url(values: &mut Values, plain: &mut PlainHttp) -> Parsed<String> {
    let url = values.read(&GATEWAY_URL, |url| {
        let config = GatewayConfig::new(url, credentials()).with_plain_http_hosts(plain.hosts_for(url));
        judged(config).map(|()| url.to_owned()).map_err(|rule| plain_http::or_named_host(&rule))
    })?;
    plain.warn(values, GATEWAY_URL.name, &url, "the merchant's password and all payments travel");
    Ok(url)
}

fn password(values: &mut Values) -> Parsed<Hidden> {
    let password = values.secret(&GATEWAY_PASSWORD, &GATEWAY_PASSWORD_FILE, |text| {
        if text.is_empty() {
            return Err("must not be empty".to_owned());
        }
        judged(right().with_credentials(Credentials::basic("x", text))).map(|()| Hidden::new(text))
    });
    match password? {
        Some(password) => Ok(password),
        None => Err(values.missing(&GATEWAY_PASSWORD, &or_file(&GATEWAY_PASSWORD_FILE))),
    }
}

/// The other ways to give a secret.
pub(super) fn or_file(in_file: &Setting) -> String {
    format!(", or {} must name a file that contains it", in_file.name)
}

/// The name of a known dialect, or a file: `./finipay` is a file.
fn dialect(values: &mut Values) -> Parsed<Option<Dialect>> {
    values.optional(&GATEWAY_DIALECT, read_dialect)
}

/// Reads a dialect by the name of a known one, or from a file.
///
/// # Errors
/// A sentence without its subject, such as "names a file that is not a dialect: …".
pub fn read_dialect(value: &str) -> Result<Dialect, String> {
    let names = Dialect::names();
    if names.iter().any(|name| name == value) {
        return Dialect::named(value).map_err(|problem| detail(&problem));
    }
    let text = text_file::read_text(Path::new(value)).map_err(|problem| {
        let known = match problem.kind() {
            ErrorKind::NotFound => format!("; the known dialects are {}", names.join(", ")),
            _ => String::new(),
        };
        format!("names a file that cannot be read: {problem}{known}")
    })?;
    Dialect::from_json(&text).map_err(|problem| format!("names a file that is not a dialect: {}", detail(&problem)))
}

fn proxy(values: &mut Values, url: Option<&str>, plain: &PlainHttp) -> Parsed<Proxy> {
    values.read(&GATEWAY_PROXY, |word| {
        let proxy = match word {
            "direct" => Proxy::direct(),
            "environment" => Proxy::environment(),
            address => Proxy::url(address),
        };
        let url = url.unwrap_or(RIGHT_URL);
        let config = GatewayConfig::new(url, credentials()).with_plain_http_hosts(plain.hosts_for(url));
        judged(config.with_proxy(proxy.clone()))?;
        Ok(proxy)
    })
}

fn right() -> GatewayConfig {
    GatewayConfig::new(RIGHT_URL, credentials())
}

fn credentials() -> Credentials {
    Credentials::basic("x", "x")
}

/// The core's check, as a rule of the setting.
fn judged(config: GatewayConfig) -> Result<(), String> {
    let Err(problem) = Gateway::new(config) else { return Ok(()) };
    let detail = detail(&problem);
    let own = ["base_url ", "proxy "].iter().find_map(|name| detail.strip_prefix(name));
    let rule = own.map_or_else(|| format!("cannot be used: {detail}"), str::to_owned);
    Err(rule.replace("base_url", GATEWAY_URL.name).replace("extra_root_certificates: ", ""))
}

fn detail(problem: &PaymentError) -> String {
    match problem {
        PaymentError::Misconfigured { detail, .. } => detail.clone(),
        other => other.to_string(),
    }
}
