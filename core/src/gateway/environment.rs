//! Configuration from environment variables (the twelve-factor app's third factor, <https://12factor.net/config>).

use std::{env, ffi::OsString, fs, io::ErrorKind};

use crate::{
    config::{
        dialect::Dialect,
        gateway_config::{Credentials, GatewayConfig},
        peer::{Proxy, is_proxy},
    },
    error::PaymentError,
    text::without_mark,
};

/// The variable of each setting.
const URL: &str = "KASSA_URL";
const LOGIN: &str = "KASSA_LOGIN";
const PASSWORD: &str = "KASSA_PASSWORD";
const DIALECT: &str = "KASSA_DIALECT";
const PROXY: &str = "KASSA_PROXY";
const ROOT_CERTIFICATES: &str = "KASSA_ROOT_CERTIFICATES";
const PLAIN_HTTP_HOSTS: &str = "KASSA_PLAIN_HTTP_HOSTS";

impl GatewayConfig {
    /// The configuration from environment variables. An empty variable counts as not set.
    ///
    /// | Variable | | |
    /// |---|---|---|
    /// | `KASSA_URL` | required | the gateway's base address |
    /// | `KASSA_LOGIN`, `KASSA_PASSWORD` | required | the merchant's login and password |
    /// | `KASSA_DIALECT` | | a known dialect, such as `finipay` ([`Dialect::names`]), or the path of a dialect's JSON file: `./finipay` is a file |
    /// | `KASSA_PROXY` | | the URL of a proxy, or `environment` for the proxies in `HTTPS_PROXY` and similar variables |
    /// | `KASSA_ROOT_CERTIFICATES` | | the path of a PEM file with certificates to trust in addition to Mozilla's roots |
    /// | `KASSA_PLAIN_HTTP_HOSTS` | | comma-separated hosts in your own network that may be called by plain http: see [`with_plain_http_hosts`](Self::with_plain_http_hosts) |
    ///
    /// Settings without a variable have their defaults, and can be set afterwards. A file may begin with a byte order mark; it must be in
    /// UTF-8.
    ///
    /// ```no_run
    /// use kassa::{Gateway, GatewayConfig};
    ///
    /// let gateway = Gateway::new(GatewayConfig::from_environment()?.with_query_retries(5))?;
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`], which names all missing and unusable variables at once. It quotes none of their
    /// values.
    pub fn from_environment() -> Result<Self, PaymentError> {
        Environment { variable: &|name| env::var_os(name), problems: Vec::new() }.config()
    }
}

/// Reads variables and collects their problems. Redaction: no problem quotes a value, because a value may be a password
/// in the wrong variable.
struct Environment<'a> {
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    problems: Vec<String>,
}

impl Environment<'_> {
    fn config(mut self) -> Result<GatewayConfig, PaymentError> {
        let (url, login, password) = (self.needed(URL), self.needed(LOGIN), self.needed(PASSWORD));
        let mut config = GatewayConfig::new(url, Credentials::basic(login, password));
        if let Some(dialect) = self.dialect() {
            config.dialect = dialect.into();
        }
        config.proxy = self.proxy().into();
        config.extra_root_certificates.extend(self.file(ROOT_CERTIFICATES));
        let hosts = self.given(PLAIN_HTTP_HOSTS).unwrap_or_default();
        config
            .plain_http_hosts
            .extend(hosts.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned));
        self.check(&config);
        if self.problems.is_empty() { Ok(config) } else { Err(PaymentError::misconfigured(self.problems.join("; "))) }
    }

    /// Checks settings that are present but may be unusable.
    fn check(&mut self, config: &GatewayConfig) {
        if !self.is_wrong(URL) {
            match config.checked_base_url() {
                Err(problem) => self.unusable(URL, problem),
                Ok(url) => {
                    if let Err(problem) = config.proxy.way_to(&url) {
                        self.unusable(PROXY, problem);
                    }
                }
            }
        }
        if !self.is_wrong(LOGIN)
            && !self.is_wrong(PASSWORD)
            && let Some(problem) = config.credentials.problem()
        {
            self.problems.push(format!("{LOGIN} and {PASSWORD} cannot be used: {problem}"));
        }
    }

    /// The dialect, by name or from a file.
    fn dialect(&mut self) -> Option<Dialect> {
        let value = (self.variable)(DIALECT)?;
        let read = match Dialect::names().into_iter().find(|name| value == name.as_str()) {
            Some(name) => Dialect::named(&name),
            None => Dialect::from_json(&self.file(DIALECT)?),
        };
        read.map_err(|problem| self.wrong(DIALECT, &format!("names a file that is not a dialect: {problem}"))).ok()
    }

    /// The proxy, by a word or a URL.
    fn proxy(&mut self) -> Proxy {
        match self.given(PROXY) {
            None => Proxy::direct(),
            Some(word) if word == "direct" => Proxy::direct(),
            Some(word) if word == "environment" => Proxy::environment(),
            Some(url) if is_proxy(&url) => Proxy::url(url),
            Some(_) => {
                self.wrong(
                    PROXY,
                    "must be the http or https URL of a proxy, or one of the words direct and environment",
                );
                Proxy::direct()
            }
        }
    }

    fn needed(&mut self, name: &'static str) -> String {
        let value = self.given(name);
        if value.is_none() && !self.is_wrong(name) {
            self.wrong(name, "must be set");
        }
        value.unwrap_or_default()
    }

    /// The value of a variable. An empty one counts as not set.
    fn given(&mut self, name: &str) -> Option<String> {
        let value = (self.variable)(name).filter(|value| !value.is_empty())?;
        let text = value.into_string();
        if text.is_err() {
            self.wrong(name, "must be UTF-8");
        }
        text.ok()
    }

    /// The text of the file that a variable names, however the name is encoded.
    fn file(&mut self, name: &str) -> Option<String> {
        let path = (self.variable)(name).filter(|value| !value.is_empty())?;
        let sentence = match fs::read(path) {
            Ok(bytes) if is_utf_16(&bytes) => "names a file that is in UTF-16: save it as UTF-8".to_owned(),
            Ok(bytes) => match std::str::from_utf8(&bytes) {
                Ok(text) => return Some(without_mark(text).to_owned()),
                Err(_) => "names a file that is not in UTF-8: save it as UTF-8".to_owned(),
            },
            Err(problem) if name == DIALECT && problem.kind() == ErrorKind::NotFound => {
                let names = Dialect::names().join(", ");
                format!("names a file that cannot be read: {problem}, and is not one of the known dialects: {names}")
            }
            Err(problem) => format!("names a file that cannot be read: {problem}"),
        };
        self.wrong(name, &sentence);
        None
    }

    fn wrong(&mut self, name: &str, sentence: &str) {
        self.problems.push(format!("{name} {sentence}"));
    }

    /// Reports a problem of a setting under the variable's name.
    fn unusable(&mut self, name: &str, problem: PaymentError) {
        if let PaymentError::Misconfigured { detail, .. } = problem {
            let sentence = detail.split_once(' ').map_or("", |(_, sentence)| sentence);
            self.wrong(name, &sentence.replace("base_url", URL).replace("plain_http_hosts", PLAIN_HTTP_HOSTS));
        }
    }

    fn is_wrong(&self, name: &str) -> bool {
        self.problems.iter().any(|problem| problem.starts_with(name))
    }
}

/// Whether bytes look like UTF-16: they begin with its byte order mark, or with an ASCII character in two bytes.
fn is_utf_16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=255, ..] | [1..=255, 0, ..])
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const RIGHT: [(&str, &str); 3] = [(URL, "https://pay.example.kg/v1"), (LOGIN, "shop"), (PASSWORD, "correct horse")];

    fn config(changes: &[(&str, &str)]) -> Result<GatewayConfig, PaymentError> {
        let variables: HashMap<_, _> = RIGHT.iter().chain(changes).copied().collect();
        let variable = |name: &str| variables.get(name).map(OsString::from);
        Environment { variable: &variable, problems: Vec::new() }.config()
    }

    fn problem(changes: &[(&str, &str)]) -> String {
        match config(changes).unwrap_err() {
            PaymentError::Misconfigured { detail, .. } => detail,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rest_stays_at_its_default() {
        let default = GatewayConfig::new("https://pay.example.kg/v1", Credentials::basic("shop", "correct horse"));
        let read = config(&[(DIALECT, ""), (PROXY, ""), (ROOT_CERTIFICATES, "")]).unwrap();
        assert_eq!(format!("{read:?}"), format!("{default:?}"));
        assert_eq!(read.credentials.basic_token().expose(), default.credentials.basic_token().expose());
    }

    #[test]
    fn hosts_for_plain_http_are_read() {
        let url = (URL, "http://sandbox:8480/pay");
        for hosts in ["sandbox", " gateway.internal, sandbox ,"] {
            let read = config(&[url, (PLAIN_HTTP_HOSTS, hosts)]).unwrap();
            assert!(read.plain_http_hosts.contains(&"sandbox".to_owned()), "{read:?}");
        }
        let text = problem(&[url, (PLAIN_HTTP_HOSTS, "sandbox.example")]);
        let expected =
            "KASSA_URL must be https, or http to a loopback address, or to a host that KASSA_PLAIN_HTTP_HOSTS names";
        assert_eq!(text, expected);
    }

    #[test]
    fn files_and_proxies_are_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/");
        let read = config(&[
            (DIALECT, &format!("{folder}sandbox-dialect.json")),
            (PROXY, "http://me:hunter2@proxy.example:3128"),
            (ROOT_CERTIFICATES, &format!("{folder}sandbox-dialect.json")),
        ]);
        let read = read.unwrap();
        assert_ne!(read.dialect.to_json(), Dialect::default().to_json());
        assert_eq!(format!("{:?}", read.proxy), "Proxy(url, ***)");
        assert_eq!(read.extra_root_certificates.len(), 1);
        assert_eq!(format!("{:?}", config(&[(PROXY, "environment")]).unwrap().proxy), "Proxy(environment)");
    }

    #[test]
    fn known_dialect_is_taken_by_its_name() {
        let read = |value: &str| config(&[(DIALECT, value)]).unwrap().dialect.to_json();
        assert_eq!(read("finipay"), Dialect::named("finipay").unwrap().to_json());
        assert_eq!(read("interface"), Dialect::default().to_json());
        for path in ["./finipay", "Finipay", "finipay "] {
            let text = problem(&[(DIALECT, path)]);
            assert!(text.contains("KASSA_DIALECT names a file that cannot be read: "), "{text}");
            assert!(text.ends_with("and is not one of the known dialects: interface, finipay"), "{text}");
        }
        // Another kind of file has no names.
        assert!(!problem(&[(ROOT_CERTIFICATES, "/no/such/file")]).contains("dialects"));
    }

    #[test]
    fn files_are_read_as_editors_write_them() {
        let path = env::temp_dir().join(format!("kassa-environment-{}.json", std::process::id()));
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let path = path.to_str().unwrap();
            config(&[(DIALECT, path), (ROOT_CERTIFICATES, path)])
        };
        let text = "{\"charged_words\": [\"\u{422}\u{4e8}\"]}";
        for right in [text.to_owned(), format!("\u{feff}{text}\r\n")] {
            let read = read(right.as_bytes()).unwrap();
            assert!(read.dialect.to_json().contains('\u{4e8}'), "{right:?}");
            assert!(read.extra_root_certificates[0].starts_with('{'), "{right:?}");
        }
        let utf_16 = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<_>>();
        let (little, big) = (utf_16(u16::to_le_bytes), utf_16(u16::to_be_bytes));
        for (wrong, why) in [
            ([&b"\xff\xfe"[..], &little].concat(), "is in UTF-16"),
            ([&b"\xfe\xff"[..], &big].concat(), "is in UTF-16"),
            (little, "is in UTF-16"),
            (big, "is in UTF-16"),
            (b"{\"charged_words\": [\"\xd2\"]}".to_vec(), "is not in UTF-8"),
        ] {
            let text = read(&wrong).unwrap_err().to_string();
            for name in [DIALECT, ROOT_CERTIFICATES] {
                assert!(text.contains(&format!("{name} names a file that {why}: save it as UTF-8")), "{text}");
            }
        }
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn invalid_variables_are_named_without_values() {
        let all = [(URL, ""), (LOGIN, ""), (PASSWORD, ""), (DIALECT, "/no/such/file"), (PROXY, "hunter2")];
        let detail = problem(&all);
        for (name, _) in all {
            assert_eq!(detail.matches(name).count(), 1, "{detail}");
        }
        for changes in [
            [(URL, "http://hunter2.example"), (LOGIN, "a:hunter2"), (PASSWORD, "hunter2\n")],
            [(URL, "https://me:hunter2@pay.example.kg"), (PROXY, "socks5://me:hunter2@proxy"), (LOGIN, "hunter2\0")],
            [(URL, "http://127.0.0.1"), (PROXY, "http://me:hunter2@proxy"), (LOGIN, "hunter2\0")],
            [(URL, "hunter2"), (ROOT_CERTIFICATES, "/no/hunter2"), (DIALECT, "/no/hunter2")],
        ] {
            let detail = problem(&changes);
            assert!(!detail.contains("hunter2"), "{detail}");
            assert!(changes.iter().all(|(name, _)| detail.contains(name)), "{detail}");
        }
        assert!(problem(&[(DIALECT, concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))]).contains("not a dialect"));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_utf8_is_named_once() {
        use std::os::unix::ffi::OsStringExt;
        let variable = |name: &str| match name {
            PASSWORD => Some(OsString::from_vec(b"hunter2\xff".to_vec())),
            name => RIGHT.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value)),
        };
        let read = Environment { variable: &variable, problems: Vec::new() }.config();
        let text = read.unwrap_err().to_string();
        assert_eq!(text, "Wrong configuration, nothing happened: KASSA_PASSWORD must be UTF-8.");
    }
}
