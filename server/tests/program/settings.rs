//! Settings: where they come from, which counts, what is wrong with them, and that no secret is printed.

use std::{collections::BTreeMap, ffi::OsString, time::Duration};

use kassa::Dialect;
use kassa_server::settings::{ProgramSettings, SETTINGS, Sources};

use crate::support::{PASSWORD, Place, by_notepad, ended, pem, permit, settings_for};

const GATEWAY: &str = "http://127.0.0.1:9";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn sources(place: &Place, variables: &[(&str, &str)], flags: &[(&'static str, &str)]) -> Sources {
    let pairs = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let mut sources = Sources::of_environment();
    sources.file = Some(place.path("kassa.toml"));
    sources.variables = pairs.collect();
    sources.flags = flags.iter().map(|(name, value)| (*name, OsString::from(value))).collect::<BTreeMap<_, _>>();
    sources
}

fn read(place: &Place, variables: &[(&str, &str)], flags: &[(&'static str, &str)]) -> Result<ProgramSettings, String> {
    let read = ProgramSettings::read(&sources(place, variables, flags));
    read.map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn place(more: &str) -> Place {
    let place = Place::new();
    place.write("kassa.toml", &format!("{more}\n{}", settings_for(GATEWAY)));
    place
}

#[test]
fn setting_precedence_is_flag_variable_file() {
    let (without, with) = (place(""), place("otp_attempts = 4"));
    let variable = [("KASSA_SERVER_OTP_ATTEMPTS", "5")];
    let flag = [("otp_attempts", "6")];
    let attempts = |read: Result<ProgramSettings, String>| read.unwrap().server.otp_attempts;
    assert_eq!(attempts(read(&without, &[], &[])), 3);
    assert_eq!(attempts(read(&with, &[], &[])), 4);
    assert_eq!(attempts(read(&with, &variable, &[])), 5);
    assert_eq!(attempts(read(&with, &variable, &flag)), 6);
    assert_eq!(attempts(read(&with, &[("KASSA_SERVER_OTP_ATTEMPTS", "")], &[])), 4, "an empty one is not set");
}

#[test]
fn each_setting_value_reaches_its_field() {
    let variables = [
        ("KASSA_SERVER_LISTEN", "[::1]:1234"),
        ("KASSA_SERVER_PUBLIC_URL", "https://pay.shop.example.kg/kassa/"),
        ("KASSA_SERVER_GATEWAY_PAYMENT_DEADLINE", "90s"),
        ("KASSA_SERVER_GATEWAY_QUERY_DEADLINE", "2m"),
        ("KASSA_SERVER_PAYMENT_WAIT", "1m30s"),
        ("KASSA_SERVER_TOKEN_LIFETIME", "2h"),
        ("KASSA_SERVER_EVENTS_URL", "https://shop.example.kg/events"),
        ("KASSA_SERVER_EVENTS_SECRET", SECRET),
        ("KASSA_SERVER_MAX_CONNECTIONS", "77"),
        ("KASSA_SERVER_LIMITS_PER_KEY", "78"),
        ("KASSA_SERVER_CARDS_ENABLED", "true"),
        ("KASSA_SERVER_CARD_ATTEMPTS", "7"),
        ("KASSA_SERVER_MEGAPAY_ACCOUNT", "17"),
        ("KASSA_SERVER_GATEWAY_DIALECT", "finipay"),
        ("KASSA_SERVER_PAGE_ENABLED", "false"),
        ("KASSA_SERVER_MERCHANT_NAME", "Бал дүкөнү"),
        ("KASSA_SERVER_MERCHANT_COLOUR", "#FFD400"),
    ];
    let settings = read(&place("proxies = ['10.0.0.0/8', '192.0.2.7']"), &variables, &[]).unwrap();
    assert_eq!(settings.listener.address, "[::1]:1234".parse().unwrap());
    assert_eq!(settings.server.callback_base, "https://pay.shop.example.kg/kassa/callbacks");
    assert_eq!(settings.http.proxies, "10.0.0.0/8,192.0.2.7".parse().unwrap());
    let server = &settings.server;
    assert_eq!((server.payment_deadline, settings.gateway.payment_deadline), (secs(90), secs(90)), "they must agree");
    assert!(server.poll_lease > settings.gateway.query_deadline, "a lease is longer than its question");
    assert_eq!((server.longest_wait, server.token_lifetime), (secs(90), secs(7200)));
    assert_eq!((server.signing_secrets.len(), settings.listener.max_connections), (1, 77));
    assert_eq!(settings.http.per_key, 78);
    assert_eq!((server.takes_cards, server.card_attempts), (true, 7));
    assert_eq!(server.megapay_account.as_deref(), Some("17"));
    assert!(!settings.http.has_pay_page);
    let colour = settings.merchant.colour.map(|colour| colour.to_string());
    assert_eq!((settings.merchant.name.as_deref(), colour.as_deref()), (Some("Бал дүкөнү"), Some("#ffd400")));
}

/// The interface of the gateway has no MegaPay requests.
#[test]
fn megapay_account_needs_a_dialect_with_megapay() {
    let place = place("");
    place.write("plain.json", r#"{"qr_numbers": "none"}"#);
    let plain = place.path("plain.json").display().to_string();
    let with = |account: &str, dialect: &str| {
        let variables = [("KASSA_SERVER_MEGAPAY_ACCOUNT", account), ("KASSA_SERVER_GATEWAY_DIALECT", dialect)];
        read(&place, &variables, &[]).map(|read| read.server.megapay_account)
    };
    assert_eq!(with("17", "finipay"), Ok(Some("17".to_owned())));
    assert_eq!(with("", "finipay"), Ok(None));
    let start = "megapay.account (KASSA_SERVER_MEGAPAY_ACCOUNT) ";
    for (account, dialect, rule) in [
        ("17", plain.as_str(), "needs a gateway with MegaPay requests: the dialect has no key megapay"),
        (" ", "finipay", "must be given"),
        (&"1".repeat(65), "finipay", "must have at most 64 characters"),
    ] {
        let problem = with(account, dialect).unwrap_err();
        assert!(problem.contains(&format!("{start}{rule}")), "{problem}");
    }
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[test]
fn setting_errors_name_place_and_not_value() {
    let place = Place::new();
    let text = [
        "listen = 'hunter2'",
        "listen_metrics = 1",
        "[gateway]",
        "url = 'http://hunter2.example'",
        r#"password = "x\u0000hunter2""#,
    ]
    .join("\n");
    place.write("kassa.toml", &text);
    let mut command = place.command(&["--config", "kassa.toml", "--log-format", "hunter2", "--gateway-login", "a:b"]);
    command.env("KASSA_SERVER_TOKEN_LIFETIME", "hunter2").env("KASSA_SERVER_EVENTS_SECRET", "whsec_hunter2");
    command.env("KASSA_SERVER_TLS_KEY", "hunter2.pem").env("KASSA_SERVER_PROXIES", "hunter2");
    let ended = ended(&mut command);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""));
    for start in [
        "listen (kassa.toml:1) must be an IP address",
        "listen_metrics (kassa.toml:2) is no setting; `kassa-server --help` lists all settings",
        "gateway.url (kassa.toml:4) must be https, or http to a loopback address, or to a host that plain_http_hosts names",
        "gateway.password (kassa.toml:5) cannot be used: the login or the password has a control",
        "gateway.login (--gateway-login) cannot be used: the login has a colon",
        "public_url (not set) must be set: in the settings file, or by KASSA_SERVER_PUBLIC_URL or --public-url",
        "token_lifetime (KASSA_SERVER_TOKEN_LIFETIME) must be a duration with its unit",
        "events.secret (KASSA_SERVER_EVENTS_SECRET) must be whsec_",
        "tls.certificate (not set) must be set beside tls.key",
        "proxies (KASSA_SERVER_PROXIES) must be",
        "log_format (--log-format) must be text or json",
    ] {
        assert!(ended.err.contains(&format!("\n  {start}")), "{start}\n{}", ended.err);
    }
    assert_eq!(ended.err.lines().count(), 12, "{}", ended.err);
    assert!(!ended.err.contains("hunter2"), "{}", ended.err);
}

/// What is missing elsewhere may stand in it.
#[test]
fn invalid_toml_error_names_position_and_reason() {
    let place = Place::new();
    place.write("kassa.toml", "public_url = 'https://pay.example.kg'\n[gateway]\nlogin = hunter2\n");
    let refused = ended(&mut place.command(&["--config", "kassa.toml"]));
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("\n  kassa.toml:3:9 is not TOML: ") && !refused.err.contains("hunter2"),
        "{}",
        refused.err
    );
    assert_eq!(refused.err.lines().count(), 2, "{}", refused.err);
    let refused = ended(&mut place.command(&["--config", "absent.toml", "--log-format", "hunter2"]));
    assert!(
        refused.err.contains("\n  absent.toml cannot be read: ") && refused.err.lines().count() == 3,
        "{}",
        refused.err
    );
}

/// A line each, in any order, and no further one that follows from them.
fn assert_problems(found: Result<ProgramSettings, String>, expected: &[&str]) {
    let found = found.map(|_| ()).unwrap_err();
    for problem in expected {
        assert!(found.lines().any(|line| line == *problem), "{problem}\n{found}");
    }
    assert_eq!(found.lines().count(), expected.len(), "{found}");
}

#[test]
fn misspelt_setting_is_reported_once_with_a_suggestion() {
    let place = Place::new();
    let with = |from: &str, to: &str| {
        place.write("kassa.toml", &settings_for(GATEWAY).replace(from, to));
        let found = read(&place, &[], &[]);
        found.map_err(|problems| problems.replace(&place.path("").display().to_string(), ""))
    };
    let public_url = "public_url = 'http://127.0.0.1:8080'\n";
    for (from, to, problem) in [
        ("public_url", "public_ulr", "public_ulr (kassa.toml:2) is no setting; did you mean `public_url`?"),
        (
            public_url,
            "public_url = 1979-05-27\n",
            "public_url (kassa.toml:2) must be a string in quotes, a number, true or false, or a list of strings",
        ),
        ("[gateway]", "[gatway]", "gatway (kassa.toml:5) is no table of settings; did you mean [gateway]?"),
        (
            "login =",
            "user = 'x'\nlogins =",
            "gateway.logins (kassa.toml:8) is no setting; did you mean `gateway.login`?",
        ),
        ("password =", "pasword =", "gateway.pasword (kassa.toml:8) is no setting; did you mean `gateway.password`?"),
        (
            "password =",
            "pasword_file =",
            "gateway.pasword_file (kassa.toml:8) is no setting; did you mean `gateway.password_file`?",
        ),
    ] {
        let unknown = "gateway.user (kassa.toml:7) is no setting; `kassa-server --help` lists all settings";
        let all = [problem, unknown];
        assert_problems(with(from, to), if to.starts_with("user") { &all } else { &all[..1] });
    }
    let below = format!("[gateway]\n{public_url}");
    place.write("kassa.toml", &settings_for(GATEWAY).replace(public_url, "").replace("[gateway]\n", &below));
    let found = read(&place, &[], &[]).unwrap_err();
    let problem = "is no setting; did you mean `public_url`, above the first [table] of the file?";
    assert!(found.lines().count() == 1 && found.contains(problem), "{found}");
    let settings = settings_for(GATEWAY);
    let (above, _) = settings.split_once("[gateway]").unwrap();
    place.write("kassa.toml", &format!("gateway = '{GATEWAY}'\n{above}"));
    let found = read(&place, &[], &[]).unwrap_err();
    assert!(found.lines().count() == 1 && found.contains("gateway ("), "{found}");
    assert!(found.contains("must be a table: [gateway] on a line of its own, and its settings below it"), "{found}");
}

#[test]
fn misspelt_variable_or_flag_has_a_suggestion() {
    let place = Place::new();
    place.write("kassa.toml", &settings_for(GATEWAY).replace("public_url", "# public_url"));
    let found = read(&place, &[("KASSA_SERVER_PUBLIC_ULR", "https://hunter2")], &[]);
    let problem =
        "the environment variable KASSA_SERVER_PUBLIC_ULR matches no setting; did you mean KASSA_SERVER_PUBLIC_URL?";
    assert_problems(found, &[problem]);
    let refused = ended(&mut place.command(&["check", "--public-ulr", "https://pay.example.kg"]));
    assert!(refused.code != Some(0) && refused.err.contains("'--public-url'"), "{refused:?}");
    for flag in [["--gateway-password=hunter2"].as_slice(), &["--gateway-password", "hunter2"]] {
        let refused = ended(place.command(&["check"]).args(flag));
        let advice = "gateway.password is a secret, and has no flag: ";
        assert!(
            refused.err.contains(advice) && refused.err.contains("Set KASSA_SERVER_GATEWAY_PASSWORD"),
            "{refused:?}"
        );
        assert!(!refused.err.contains("hunter2"), "{refused:?}");
    }
}

#[test]
fn plain_http_needs_a_named_host() {
    let place = Place::new();
    let urls = [
        ("KASSA_SERVER_GATEWAY_URL", "http://sandbox:8400"),
        ("KASSA_SERVER_EVENTS_URL", "http://Shop:3000/kassa-events"),
        ("KASSA_SERVER_EVENTS_SECRET", SECRET),
    ];
    let with = |hosts: &str| {
        place.write("kassa.toml", &format!("plain_http_hosts = {hosts}\n{}", settings_for(GATEWAY)));
        read(&place, &urls, &[])
    };
    let gateway = "gateway.url (KASSA_SERVER_GATEWAY_URL) must be https, or http to a loopback address, or to a host that \
        plain_http_hosts names";
    let events = "events.url (KASSA_SERVER_EVENTS_URL) must be an https address, or http on a loopback address, or to a host \
        that plain_http_hosts names";
    assert_problems(with("['other']"), &[gateway, events]);
    assert_problems(with("['sandbox']"), &[events]);
    assert_problems(with("'shop'"), &[gateway]);
    let settings = with("['Sandbox', 'shop', '10.0.0.7']").unwrap();
    assert_eq!(settings.gateway.base_url, "http://sandbox:8400");
    let warnings = [
        "gateway.url: the merchant's password and all payments travel unencrypted to sandbox, as plain_http_hosts permits: use \
            https where others share that network",
        "events.url: events travel unencrypted to shop, as plain_http_hosts permits: use https where others share that network",
        "plain_http_hosts has 10.0.0.7, which no setting calls by plain HTTP: remove it",
    ];
    assert_eq!(settings.warnings, warnings);
    // What the URLs would break follows from it.
    let found = with("['http://sandbox']").map(|_| ()).unwrap_err();
    assert!(found.starts_with("plain_http_hosts (") && found.lines().count() == 1, "{found}");
    assert!(found.contains(":1) must be a comma-separated list of host names or IP addresses"), "{found}");
}

#[cfg(feature = "opentelemetry")]
#[test]
fn traces_over_plain_http_are_warned_of() {
    let place = Place::new();
    for (url, hosts, warning) in [
        ("http://collector:4318/v1/traces", "other", "to collector: use https, or name it in plain_http_hosts"),
        ("http://collector:4318/v1/traces", "collector", "to collector, as plain_http_hosts permits: use https where"),
        ("http://127.0.0.1:4318/v1/traces", "", ""),
        ("https://collector.example.kg/v1/traces", "", ""),
    ] {
        let hosts = if hosts.is_empty() { String::new() } else { format!("plain_http_hosts = ['{hosts}']\n") };
        place.write("kassa.toml", &format!("{hosts}{}", settings_for(GATEWAY)));
        let settings = read(&place, &[("KASSA_SERVER_TRACING_URL", url)], &[]).unwrap();
        let found = settings.warnings.iter().find(|warning| warning.starts_with("tracing.url: ")).cloned();
        let found = found.unwrap_or_default();
        assert!(found.contains(warning) && found.is_empty() == warning.is_empty(), "{url}: {found}");
    }
}

#[test]
fn each_setting_is_read() {
    for setting in SETTINGS {
        // Nothing that is any setting's: no number, no time, no address, no file.
        let error = read(&place(""), &[(setting.variable, "\u{1}")], &[]).map(|_| ()).unwrap_err();
        assert!(error.contains(&format!("{} ({})", setting.name, setting.variable)), "{}: {error}", setting.name);
    }
}

#[test]
fn secret_file_setting_follows_precedence() {
    let without = settings_for(GATEWAY).replace(&format!("password = '{PASSWORD}'\n"), "");
    let place = Place::new();
    place.write("secret.txt", "hunter2\n");
    let token = |variables: &[(&str, &str)], text: &str| {
        place.write("kassa.toml", &format!("{text}\n[events]\nurl = 'https://shop.example.kg'\nsecret = '{SECRET}'\n"));
        read(&place, variables, &[])
    };
    let file = place.path("secret.txt");
    let file = file.to_str().unwrap();
    assert!(token(&[], &without).unwrap_err().contains("or gateway.password_file must name a file"));
    assert!(token(&[("KASSA_SERVER_GATEWAY_PASSWORD_FILE", file)], &without).is_ok());
    assert!(token(&[("KASSA_SERVER_GATEWAY_PASSWORD_FILE", file)], &settings_for(GATEWAY)).is_ok());
    let both = [("KASSA_SERVER_GATEWAY_PASSWORD_FILE", file), ("KASSA_SERVER_GATEWAY_PASSWORD", "x")];
    assert!(token(&both, &without).unwrap_err().contains("must not be set together with gateway.password"));
    place.write("secret.txt", "hun\u{7}ter2\n");
    let error = token(&[("KASSA_SERVER_GATEWAY_PASSWORD_FILE", file)], &without).unwrap_err();
    assert!(error.starts_with("gateway.password_file (KASSA_SERVER_GATEWAY_PASSWORD_FILE) names a file whose content"));
    assert!(!error.contains("ter2"), "{error}");
    let other = token(&[("KASSA_SERVER_EVENTS_OLD_SECRET_FILE", file)], &settings_for(GATEWAY)).unwrap_err();
    assert!(other.contains("whose content must be whsec_"), "{other}");
}

#[test]
fn secrets_are_never_printed() {
    let place = place("");
    let variables = [
        ("KASSA_SERVER_GATEWAY_PROXY", "http://me:hunter2@proxy.example"),
        ("KASSA_SERVER_GATEWAY_URL", "https://pay.example.kg"),
        ("KASSA_SERVER_EVENTS_URL", "https://shop.example.kg:8443/hunter2?hunter2"),
        ("KASSA_SERVER_EVENTS_SECRET", SECRET),
        ("KASSA_SERVER_LISTN", "x"),
        ("KASSA_SERVER_SERVICE_HOST", "10.0.0.1"),
    ];
    let settings = read(&place, &variables, &[]).unwrap();
    let printed = format!("{settings:?}");
    assert!(printed.contains("https://shop.example.kg:8443/..."), "{printed}");
    for secret in ["hunter2", PASSWORD, &SECRET["whsec_".len()..]] {
        assert!(!printed.contains(secret), "{secret}: {printed}");
    }
    let unknown = "the environment variable KASSA_SERVER_LISTN matches no setting and has no effect; did you mean KASSA_SERVER_LISTEN?";
    assert_eq!(settings.warnings, [unknown]);
    permit(&place.path("kassa.toml"), 0o644);
    let warnings = read(&place, &[], &[]).unwrap().warnings;
    assert!(
        warnings.iter().any(|text| text.contains("kassa.toml, which contains a secret: chmod o= ")),
        "{warnings:?}"
    );
}

#[test]
fn files_are_read_as_editors_write_them() {
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = pem("CERTIFICATE", pair.cert.der());
    let files = [
        ("gateway.dialect", "KASSA_SERVER_GATEWAY_DIALECT", r#"{"qr_amount_unit": "som"}"#.to_owned()),
        ("gateway.ca", "KASSA_SERVER_GATEWAY_CA", certificate.clone()),
        ("gateway.password_file", "KASSA_SERVER_GATEWAY_PASSWORD_FILE", PASSWORD.to_owned()),
        ("events.secret_file", "KASSA_SERVER_EVENTS_SECRET_FILE", SECRET.to_owned()),
        ("tls.certificate", "KASSA_SERVER_TLS_CERTIFICATE", certificate),
        ("tls.key", "KASSA_SERVER_TLS_KEY", pem("PRIVATE KEY", pair.signing_key.serialized_der())),
        ("merchant.logo", "KASSA_SERVER_MERCHANT_LOGO", "<svg xmlns='http://www.w3.org/2000/svg'/>".to_owned()),
    ];
    let place = Place::new();
    let path = |name: &str| place.path(name).to_str().unwrap().to_owned();
    let paths = files.each_ref().map(|(name, ..)| path(name));
    let variables: Vec<_> = files.iter().zip(&paths).map(|((_, variable, _), path)| (*variable, &**path)).collect();
    let [settings, in_utf_16] = by_notepad(&format!("otp_attempts = 4\n{}", settings_for(GATEWAY)));
    place.write_bytes("kassa.toml", &settings);
    for (name, _, text) in &files {
        let [content, _] = by_notepad(text);
        place.write_bytes(name, &content);
    }
    let settings = read(&place, &variables, &[]).unwrap();
    assert_eq!((settings.server.otp_attempts, settings.server.signing_secrets.len()), (4, 1));
    assert!(settings.gateway.dialect().knows_qr_amount_unit() && settings.merchant.logo.is_some());
    assert_eq!(settings.gateway.extra_root_certificates.len(), 1);

    for (name, _, text) in &files {
        let [_, content] = by_notepad(text);
        place.write_bytes(name, &content);
    }
    let error = read(&place, &variables, &[]).unwrap_err();
    for (name, path) in files.iter().map(|(name, ..)| *name).zip(&paths) {
        let is_told = |line: &str| line.starts_with(name) && line.contains("is in UTF-16: save it as UTF-8");
        // The certificate is read before its key.
        assert!(error.lines().any(is_told) || name == "tls.key", "{name}\n{error}");
        assert!(error.contains(path) || ["tls.key", "merchant.logo"].contains(&name), "{name}\n{error}");
    }
    place.write_bytes("kassa.toml", &in_utf_16);
    let error = read(&place, &[], &[]).unwrap_err();
    assert!(error.contains(&format!("{} is in UTF-16: save it as UTF-8", path("kassa.toml"))), "{error}");
}

/// A value that is exactly a known name is the name, whatever files there are.
#[test]
fn dialect_is_a_name_or_a_file() {
    let place = place("");
    place.write("finipay", r#"{"qr_numbers": "none"}"#);
    let dialect = |value: &str| {
        let settings = read(&place, &[("KASSA_SERVER_GATEWAY_DIALECT", value)], &[]);
        settings.map(|settings| settings.gateway.dialect().clone())
    };
    assert_eq!(dialect("finipay").unwrap(), Dialect::named("finipay").unwrap());
    assert_eq!(dialect("interface").unwrap(), Dialect::default());
    let file = place.path("finipay").to_str().unwrap().to_owned();
    assert!(dialect(&file).unwrap().verifies_pay_forms());
    for value in ["Finipay", "finipay ", "./no-such-file"] {
        let error = dialect(value).unwrap_err();
        let is_told =
            error.starts_with("gateway.dialect (KASSA_SERVER_GATEWAY_DIALECT) names a file that cannot be read: ");
        assert!(is_told && error.contains("the known dialects are interface, finipay"), "{value}: {error}");
    }
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let place = place("");
    place.write("text.pem", "nothing");
    place.write("dialect.json", r#"{"charged_word": []}"#);
    let text = place.path("text.pem");
    let text = text.to_str().unwrap();
    let dialect = place.path("dialect.json");
    let error = read(
        &place,
        &[
            ("KASSA_SERVER_GATEWAY_CA", text),
            ("KASSA_SERVER_GATEWAY_DIALECT", dialect.to_str().unwrap()),
            ("KASSA_SERVER_TLS_CERTIFICATE", text),
            ("KASSA_SERVER_TLS_KEY", text),
            ("KASSA_SERVER_EVENTS_URL", "http://shop.example.kg"),
            ("KASSA_SERVER_MERCHANT_LOGO", text),
            ("KASSA_SERVER_MERCHANT_COLOUR", "blue"),
        ],
        &[],
    );
    let error = error.unwrap_err();
    for start in [
        "gateway.ca (KASSA_SERVER_GATEWAY_CA) cannot be used: a text holds no certificate",
        "gateway.dialect (KASSA_SERVER_GATEWAY_DIALECT) names a file that is not a dialect: ",
        "tls.certificate (KASSA_SERVER_TLS_CERTIFICATE) names a file that cannot be used: ",
        "events.url (KASSA_SERVER_EVENTS_URL) must be an https address",
        "merchant.logo (KASSA_SERVER_MERCHANT_LOGO) names a file that must be a PNG, JPEG or SVG picture",
        "merchant.colour (KASSA_SERVER_MERCHANT_COLOUR) must be a colour such as #1F4F8F",
        "events.secret (not set) must be set, or events.secret_file must name a file that contains it, as events are signed: ",
    ] {
        assert!(error.lines().any(|line| line.starts_with(start)), "{start}\n{error}");
    }
    let missing = read(&Place::new(), &[], &[]).unwrap_err();
    assert!(missing.lines().next().is_some_and(|line| line.contains("kassa.toml cannot be read")), "{missing}");
}
