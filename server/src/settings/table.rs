//! The table of settings: the single definition of each setting's name, default and description.

macro_rules! table {
    ($($id:ident = $setting:expr;)*) => {
        $(pub(super) static $id: Setting = $setting;)*

        /// All settings, in the order in which they are shown.
        pub static SETTINGS: [&Setting; [$(stringify!($id)),*].len()] = [$(&$id),*];
    };
}

table! {
    LISTEN = Setting::new(
        "listen", "KASSA_SERVER_LISTEN", "listen", "ADDRESS:PORT",
        "The address that serves shops, apps and the gateway",
    ).or("127.0.0.1:8080");
    METRICS_LISTEN = Setting::new(
        "metrics_listen", "KASSA_SERVER_METRICS_LISTEN", "metrics-listen", "ADDRESS:PORT",
        "The address that serves metrics, separate from the API",
    ).or_nothing("no metrics");
    PUBLIC_URL = Setting::new(
        "public_url", "KASSA_SERVER_PUBLIC_URL", "public-url", "URL",
        "The public URL of the server, to which the gateway sends callbacks",
    );
    DATABASE = Setting::new(
        "database", "KASSA_SERVER_DATABASE", "database", "FILE|URL",
        "The SQLite file, created if missing, or, for any number of servers, `postgres://user@host/database`",
    ).or("kassa-server.db").shown_as_place();
    DATABASE_PASSWORD = Setting::secret(
        "database_password", "KASSA_SERVER_DATABASE_PASSWORD", "TEXT",
        "The PostgreSQL password, if `database` does not contain it",
    ).or_nothing("none");
    DATABASE_PASSWORD_FILE = Setting::new(
        "database_password_file", "KASSA_SERVER_DATABASE_PASSWORD_FILE", "database-password-file", "FILE",
        "A file that contains only the password, instead of `database_password`",
    ).or_nothing("`database_password`");
    DATABASE_CA = Setting::new(
        "database_ca", "KASSA_SERVER_DATABASE_CA", "database-ca", "FILE",
        "Certificates (PEM) to trust for PostgreSQL instead of Mozilla's roots",
    ).or_nothing("Mozilla's roots");
    DATABASE_CONNECTIONS = Setting::new(
        "database_connections", "KASSA_SERVER_DATABASE_CONNECTIONS", "database-connections", "1 to 500",
        "The maximum number of PostgreSQL connections per server",
    ).or("16");

    GATEWAY_URL = Setting::new(
        "gateway.url", "KASSA_SERVER_GATEWAY_URL", "gateway-url", "URL",
        "The base URL of the gateway",
    );
    GATEWAY_LOGIN = Setting::new(
        "gateway.login", "KASSA_SERVER_GATEWAY_LOGIN", "gateway-login", "TEXT",
        "The merchant's login at the gateway",
    );
    GATEWAY_PASSWORD = Setting::secret(
        "gateway.password", "KASSA_SERVER_GATEWAY_PASSWORD", "TEXT",
        "The merchant's password at the gateway",
    );
    GATEWAY_PASSWORD_FILE = Setting::new(
        "gateway.password_file", "KASSA_SERVER_GATEWAY_PASSWORD_FILE", "gateway-password-file", "FILE",
        "A file that contains only the password, instead of `gateway.password`",
    ).or_nothing("`gateway.password`");
    GATEWAY_DIALECT = Setting::new(
        "gateway.dialect", "KASSA_SERVER_GATEWAY_DIALECT", "gateway-dialect", "NAME|FILE",
        "The dialect that maps the gateway's field names and codes: a known name (`finipay`), or a JSON file",
    ).or_nothing("the field names and codes of the interface");
    GATEWAY_STATUS_QUERY = Setting::new(
        "gateway.status_query", "KASSA_SERVER_GATEWAY_STATUS_QUERY", "gateway-status-query", "json_body|query_string",
        "How status queries send their fields: as a JSON body or in the query string",
    ).or("json_body");
    GATEWAY_CA = Setting::new(
        "gateway.ca", "KASSA_SERVER_GATEWAY_CA", "gateway-ca", "FILE",
        "Certificates (PEM) to trust in addition to Mozilla's roots",
    ).or_nothing("Mozilla's roots only");
    GATEWAY_PROXY = Setting::secret(
        "gateway.proxy", "KASSA_SERVER_GATEWAY_PROXY", "URL|environment|direct",
        "The proxy for connections to the gateway; its URL may contain a password",
    ).or("direct");
    GATEWAY_CONNECT_TIMEOUT = Setting::new(
        "gateway.connect_timeout", "KASSA_SERVER_GATEWAY_CONNECT_TIMEOUT", "gateway-connect-timeout", "TIME",
        "The time limit for connecting to the gateway",
    ).or("10s");
    GATEWAY_PAYMENT_DEADLINE = Setting::new(
        "gateway.payment_deadline", "KASSA_SERVER_GATEWAY_PAYMENT_DEADLINE", "gateway-payment-deadline", "TIME",
        "The time limit for sending a payment; a payment that exceeds it is polled",
    ).or("60s");
    GATEWAY_QUERY_DEADLINE = Setting::new(
        "gateway.query_deadline", "KASSA_SERVER_GATEWAY_QUERY_DEADLINE", "gateway-query-deadline", "TIME",
        "The time limit for a status query",
    ).or("30s");

    EVENTS_URL = Setting::new(
        "events.url", "KASSA_SERVER_EVENTS_URL", "events-url", "URL",
        "The shop's webhook URL, to which events are delivered",
    ).or_nothing("no delivery; the shop reads events itself").shown_as_origin();
    EVENTS_KINDS = Setting::new(
        "events.kinds", "KASSA_SERVER_EVENTS_KINDS", "events-kinds", "KIND,...",
        "The kinds of events to deliver, such as `checkout.paid`; `GET /v1/events` always lists all kinds",
    ).or_nothing("all");
    EVENTS_SECRET = Setting::secret(
        "events.secret", "KASSA_SERVER_EVENTS_SECRET", "whsec_...",
        "The secret that signs events; `kassa-server secret` generates one",
    ).or_nothing("required with `events.url`");
    EVENTS_SECRET_FILE = Setting::new(
        "events.secret_file", "KASSA_SERVER_EVENTS_SECRET_FILE", "events-secret-file", "FILE",
        "A file that contains only the secret, instead of `events.secret`",
    ).or_nothing("`events.secret`");
    EVENTS_OLD_SECRET = Setting::secret(
        "events.old_secret", "KASSA_SERVER_EVENTS_OLD_SECRET", "whsec_...",
        "The previous signing secret; while it is set, events carry both signatures",
    ).or_nothing("one signature");
    EVENTS_OLD_SECRET_FILE = Setting::new(
        "events.old_secret_file", "KASSA_SERVER_EVENTS_OLD_SECRET_FILE", "events-old-secret-file", "FILE",
        "A file that contains only the previous secret, instead of `events.old_secret`",
    ).or_nothing("`events.old_secret`");

    POLL_RATE = Setting::new(
        "poll_rate", "KASSA_SERVER_POLL_RATE", "poll-rate", "1 to 1000000",
        "The maximum number of status queries per second, across all servers on the database",
    ).or("50");
    POLL_WORKERS = Setting::new(
        "poll_workers", "KASSA_SERVER_POLL_WORKERS", "poll-workers", "1 to 10000",
        "The number of workers that query the gateway for payment statuses",
    ).or("4");
    MAX_CONCURRENT_SENDS = Setting::new(
        "max_concurrent_sends", "KASSA_SERVER_MAX_CONCURRENT_SENDS", "max-concurrent-sends", "1 to 10000",
        "The maximum number of payments sent concurrently; further payments wait",
    ).or("64");
    PAYMENT_WAIT = Setting::new(
        "payment_wait", "KASSA_SERVER_PAYMENT_WAIT", "payment-wait", "TIME",
        "The maximum time that a payment waits to be sent; after that it is `not_made`",
    ).or("30s");
    OTP_ATTEMPTS = Setting::new(
        "otp_attempts", "KASSA_SERVER_OTP_ATTEMPTS", "otp-attempts", "1 to 100",
        "The maximum number of one-time password attempts per payment",
    ).or("3");
    CARD_ATTEMPTS = Setting::new(
        "card_attempts", "KASSA_SERVER_CARD_ATTEMPTS", "card-attempts", "1 to 100",
        "The maximum number of card attempts per checkout, if cards are enabled",
    ).or("5");
    TOKEN_LIFETIME = Setting::new(
        "token_lifetime", "KASSA_SERVER_TOKEN_LIFETIME", "token-lifetime", "TIME",
        "The lifetime of a client token",
    ).or("15m");
    CARDS_ENABLED = Setting::new(
        "cards.enabled", "KASSA_SERVER_CARDS_ENABLED", "cards-enabled", "true|false",
        "Whether card payments are accepted, which makes the server and the merchant subject to PCI DSS",
    ).or("false");

    MEGAPAY_ACCOUNT = Setting::new(
        "megapay.account", "KASSA_SERVER_MEGAPAY_ACCOUNT", "megapay-account", "TEXT",
        "The requisite to which the money of MegaPay payments goes, as agreed with the gateway; the dialect must have the key `megapay`",
    ).or_nothing("no MegaPay payments are accepted");

    KEEP_FOR = Setting::new(
        "keep_for", "KASSA_SERVER_KEEP_FOR", "keep-for", "TIME",
        "The retention time of idempotency keys, tokens and callbacks after the end of a checkout; payments and events are kept forever",
    ).or("90d");

    TLS_CERTIFICATE = Setting::new(
        "tls.certificate", "KASSA_SERVER_TLS_CERTIFICATE", "tls-certificate", "FILE",
        "The server's certificate chain (PEM); requires `tls.key`",
    ).or_nothing("plain HTTP");
    TLS_KEY = Setting::new(
        "tls.key", "KASSA_SERVER_TLS_KEY", "tls-key", "FILE",
        "The private key of the certificate (PEM); requires `tls.certificate`",
    ).or_nothing("plain HTTP");
    PROXIES = Setting::new(
        "proxies", "KASSA_SERVER_PROXIES", "proxies", "ADDRESS[/BITS],...",
        "Reverse proxies in front of the server whose `X-Forwarded-For` header is trusted",
    ).or_nothing("no proxy is trusted");
    PLAIN_HTTP_HOSTS = Setting::new(
        "plain_http_hosts", "KASSA_SERVER_PLAIN_HTTP_HOSTS", "plain-http-hosts", "HOST,...",
        "Hosts in a private network that `gateway.url`, `events.url` and `tracing.url` may call over plain HTTP, with a warning for each",
    ).or_nothing("plain HTTP only to this machine");
    LIMITS_PER_ADDRESS = Setting::new(
        "limits.per_address", "KASSA_SERVER_LIMITS_PER_ADDRESS", "limits-per-address", "1 to 1000000",
        "The maximum number of requests per second from one address, from apps or without a key; thousands of phones may share an address",
    ).or("200");
    LIMITS_PER_TOKEN = Setting::new(
        "limits.per_token", "KASSA_SERVER_LIMITS_PER_TOKEN", "limits-per-token", "1 to 1000000",
        "The maximum number of requests per second for one checkout with its client tokens, and the same number for its hosted page",
    ).or("10");
    LIMITS_PER_KEY = Setting::new(
        "limits.per_key", "KASSA_SERVER_LIMITS_PER_KEY", "limits-per-key", "1 to 1000000",
        "The maximum number of requests per second with one API key",
    ).or("2000");
    MAX_CONNECTIONS = Setting::new(
        "max_connections", "KASSA_SERVER_MAX_CONNECTIONS", "max-connections", "1 to 1000000",
        "The maximum number of open connections",
    ).or("12000");

    PAGE_ENABLED = Setting::new(
        "page.enabled", "KASSA_SERVER_PAGE_ENABLED", "page-enabled", "true|false",
        "Whether each checkout has a hosted payment page under `/pay`",
    ).or("true");
    MERCHANT_NAME = Setting::new(
        "merchant.name", "KASSA_SERVER_MERCHANT_NAME", "merchant-name", "TEXT",
        "The merchant's name on the hosted page, at most 60 characters",
    ).or_nothing("the host of `return_url`");
    MERCHANT_LOGO = Setting::new(
        "merchant.logo", "KASSA_SERVER_MERCHANT_LOGO", "merchant-logo", "FILE",
        "The merchant's logo on the hosted page: PNG, JPEG or SVG, at most 256 KiB, read at startup",
    ).or_nothing("no logo");
    MERCHANT_COLOUR = Setting::new(
        "merchant.colour", "KASSA_SERVER_MERCHANT_COLOUR", "merchant-colour", "#RRGGBB",
        "The colour of the hosted page's buttons; also of its links, where the colour is readable",
    ).or_nothing("blue");
    MERCHANT_PHONE = Setting::new(
        "merchant.phone", "KASSA_SERVER_MERCHANT_PHONE", "merchant-phone", "PHONE",
        "The phone under which payers reach the shop, on the hosted page",
    ).or_nothing("no phone");
    MERCHANT_EMAIL = Setting::new(
        "merchant.email", "KASSA_SERVER_MERCHANT_EMAIL", "merchant-email", "EMAIL",
        "The mail address under which payers reach the shop, on the hosted page",
    ).or_nothing("no mail address");
    MERCHANT_URL = Setting::new(
        "merchant.url", "KASSA_SERVER_MERCHANT_URL", "merchant-url", "URL",
        "The shop's site, on the hosted page",
    ).or_nothing("no site");

    STAFF_ENABLED = Setting::new(
        "staff.enabled", "KASSA_SERVER_STAFF_ENABLED", "staff-enabled", "true|false",
        "Whether the merchant's staff pages are served under `/staff`",
    ).or("true");

    LOG = Setting::new(
        "log", "KASSA_SERVER_LOG", "log", "FILTER",
        "The log level (error, warn, info or debug), or a filter such as `info,kassa_server=debug`",
    ).or("info");
    LOG_FORMAT = Setting::new(
        "log_format", "KASSA_SERVER_LOG_FORMAT", "log-format", "text|json",
        "The format of the log, which is written to standard error",
    ).or("text");

    TRACING_URL = Setting::new(
        "tracing.url", "KASSA_SERVER_TRACING_URL", "tracing-url", "URL",
        "The URL of the OpenTelemetry collector that receives traces (OTLP over HTTP); requires a build with the feature `opentelemetry`",
    ).or_nothing("no traces").shown_as_origin();
    TRACING_HEADERS = Setting::secret(
        "tracing.headers", "KASSA_SERVER_TRACING_HEADERS", "NAME=VALUE,...",
        "Headers that the collector requires, usually with a key",
    ).or_nothing("none");
    TRACING_SAMPLE_RATIO = Setting::new(
        "tracing.sample_ratio", "KASSA_SERVER_TRACING_SAMPLE_RATIO", "tracing-sample-ratio", "0 to 1",
        "The fraction of traces started by the server that are sent; for incoming traces, the caller's sampling decision applies",
    ).or("1");
}

/// A setting by its name.
pub(super) fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.into_iter().find(|setting| setting.name == name)
}

// One row of the table.

/// A setting of the program: one row of the table that the file, the variables, the flags, `--help`, `check` and the
/// operators' page come from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// The name. In the file, the part before the dot is the table: `gateway.url` is `url` in `[gateway]`.
    pub name: &'static str,
    /// The environment variable.
    pub variable: &'static str,
    /// The flag, without its hyphens. A secret has none: every user of a machine can read the flags of all programs.
    pub flag: Option<&'static str>,
    /// The form of the value, with its unit.
    pub value: &'static str,
    /// The default.
    pub if_unset: IfUnset,
    /// The description.
    pub meaning: &'static str,
    /// The printable part of it.
    pub shown: Visibility,
}

/// The default of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfUnset {
    /// This default value.
    Value(&'static str),
    /// No value; the consequence, in words.
    Nothing(&'static str),
    /// The server does not start.
    Needed,
}

/// The printable part of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// All of it.
    Whole,
    /// Only the scheme, host and port of an address: its path may contain a secret.
    Origin,
    /// Only the file, or the host and name, of a database: its address may contain a password.
    Place,
    /// Nothing: it is a secret.
    Hidden,
}

impl Setting {
    pub(super) const fn new(
        name: &'static str,
        variable: &'static str,
        flag: &'static str,
        value: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { name, variable, flag: Some(flag), value, if_unset: IfUnset::Needed, meaning, shown: Visibility::Whole }
    }

    pub(super) const fn secret(
        name: &'static str,
        variable: &'static str,
        value: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { name, variable, flag: None, value, if_unset: IfUnset::Needed, meaning, shown: Visibility::Hidden }
    }

    pub(super) const fn or(self, default: &'static str) -> Self {
        Self { if_unset: IfUnset::Value(default), ..self }
    }

    pub(super) const fn or_nothing(self, meaning: &'static str) -> Self {
        Self { if_unset: IfUnset::Nothing(meaning), ..self }
    }

    pub(super) const fn shown_as_origin(self) -> Self {
        Self { shown: Visibility::Origin, ..self }
    }

    pub(super) const fn shown_as_place(self) -> Self {
        Self { shown: Visibility::Place, ..self }
    }

    /// Whether its value is a secret.
    pub fn is_secret(&self) -> bool {
        self.shown == Visibility::Hidden
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn setting_names_match_and_secrets_have_no_flag() {
        let mut names = BTreeSet::new();
        for setting in SETTINGS {
            assert!(names.insert(setting.name), "{} is there twice", setting.name);
            let plain = setting.name.replace('.', "_");
            assert_eq!(setting.variable, format!("KASSA_SERVER_{}", plain.to_uppercase()));
            let flag = (!setting.is_secret()).then(|| plain.replace('_', "-"));
            assert_eq!(setting.flag, flag.as_deref());
        }
        for secret in ["gateway.password", "gateway.proxy", "events.secret", "events.old_secret"] {
            assert!(find(secret).is_some_and(Setting::is_secret), "{secret}");
        }
    }
}
