//! The settings: the same names on the command line and in the TOML file. Everything is checked before anything starts.

use std::{collections::BTreeMap, fs, path::PathBuf};

use clap::{Args, Parser, ValueEnum};
use serde::Deserialize;
use url::Url;

/// Runs payment failure scenarios against your shop, and reports what the shop would have lost.
#[derive(Parser)]
#[command(name = "kassa-certify", version)]
pub(crate) struct Cli {
    /// TOML file with the settings below, such as order_body = "..."; a flag overrides it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// List the scenarios without running them
    #[arg(long)]
    pub(crate) list: bool,
    /// Write the report as an HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the report as JUnit XML, for CI
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: Options,
}

/// How the shop takes payments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Behind {
    /// Through kassa-server, whose events it receives.
    #[default]
    Server,
    /// By calling the gateway's interface itself.
    Gateway,
}

/// What the shop does with money that arrives after the checkout ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Late {
    /// Delivers or refunds: both are right.
    #[default]
    Either,
    /// Delivers.
    Deliver,
    /// Refunds, and does not deliver.
    Refund,
}

/// Placeholders: `{port}` (a free port), `{amount}`, `{n}`, `{reference}`, `{return_url}`; in `env` also the addresses and credentials.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Options {
    /// How the shop takes payments [default: server]
    #[arg(long, value_enum)]
    pub(crate) behind: Option<Behind>,
    /// Command that starts the shop, run by sh; without it, start the shop yourself
    #[arg(long, value_name = "COMMAND")]
    pub(crate) start: Option<String>,
    /// Folder in which the shop starts
    #[arg(long, value_name = "FOLDER")]
    pub(crate) directory: Option<PathBuf>,
    /// Environment of the shop; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// File to write the environment to, for a shop that you start yourself
    #[arg(long, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
    /// Request that creates an order, such as "POST http://127.0.0.1:8000/orders"
    #[arg(long, value_name = "METHOD URL")]
    pub(crate) order: Option<String>,
    /// Body of that request
    #[arg(long, value_name = "TEXT")]
    pub(crate) order_body: Option<String>,
    /// Header of that request [default: Content-Type: application/json, if the body begins with a brace]; repeatable
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) order_header: Vec<String>,
    /// JSON pointer to the order number in the response [default: the reference or order number that the shop sends]
    #[arg(long, value_name = "POINTER")]
    pub(crate) reference: Option<String>,
    /// Amounts for {amount}, used in turn [default: 390]
    #[arg(long, value_name = "AMOUNT", value_delimiter = ',')]
    pub(crate) amounts: Vec<String>,
    /// URL at which the shop receives events of kassa-server
    #[arg(long, value_name = "URL")]
    pub(crate) events: Option<String>,
    /// URL that shows the state of an order
    #[arg(long, value_name = "URL")]
    pub(crate) state: Option<String>,
    /// Command that prints the state of an order, instead of a URL
    #[arg(long, value_name = "COMMAND")]
    pub(crate) state_command: Option<String>,
    /// Text that the state contains once the order is delivered, or "/JSON/pointer = value"
    #[arg(long, value_name = "TEXT")]
    pub(crate) delivered: Option<String>,
    /// Line that the shop prints for each delivery, such as "deliver {reference}"
    #[arg(long, value_name = "TEXT")]
    pub(crate) deliveries_line: Option<String>,
    /// File with these lines [default: the output of the shop]
    #[arg(long, value_name = "FILE")]
    pub(crate) deliveries_file: Option<PathBuf>,
    /// JSON pointer to the number of deliveries in the state, instead of lines
    #[arg(long, value_name = "POINTER")]
    pub(crate) deliveries_pointer: Option<String>,
    /// Text that the return page shows only if the order is paid [default: the text of "delivered"]
    #[arg(long, value_name = "TEXT")]
    pub(crate) paid_page: Option<String>,
    /// What the shop does with a payment that arrives after the checkout ended [default: either]
    #[arg(long, value_enum)]
    pub(crate) late: Option<Late>,
    /// Seconds within which the shop must query the status if it receives no event or callback [default: not required]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) polls_within: Option<u64>,
    /// Run only scenarios whose name has this prefix; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Skip scenarios whose name has this prefix, with a reason; repeatable
    #[arg(long, value_name = "NAME: REASON")]
    pub(crate) skip: Vec<String>,
    /// Number of scenarios to run at the same time [default: 6]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) jobs: Option<usize>,
    /// Seconds that the shop has to deliver [default: 5]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait: Option<f64>,
    /// Path of kassa-server [default: the folder of this program, then PATH]
    #[arg(long, value_name = "FILE", env = "KASSA_CERTIFY_SERVER")]
    pub(crate) server: Option<PathBuf>,
}

/// A setting that cannot be used: its name and the rule.
pub(crate) type Problems = Vec<String>;

impl Options {
    /// Reads the file, if any. Paths in it are relative to its folder.
    pub(crate) fn merged(cli: &Cli) -> Result<Self, Problems> {
        let Some(path) = &cli.config else {
            return Ok(cli.options.clone());
        };
        let shown = path.display();
        let text =
            fs::read_to_string(path).map_err(|error| vec![format!("--config {shown} cannot be read: {error}")])?;
        let mut file: Self = toml::from_str(&text).map_err(|error| vec![format!("{shown}: {error}")])?;
        let folder = path.parent().map(PathBuf::from).unwrap_or_default();
        for path in [&mut file.directory, &mut file.env_file, &mut file.deliveries_file].into_iter().flatten() {
            *path = folder.join(&*path);
        }
        if file.directory.is_none() && !folder.as_os_str().is_empty() {
            file.directory = Some(folder);
        }
        Ok(file.overridden_by(cli.options.clone()))
    }

    fn overridden_by(self, by: Self) -> Self {
        fn list(own: Vec<String>, by: Vec<String>) -> Vec<String> {
            if by.is_empty() { own } else { by }
        }
        Self {
            behind: by.behind.or(self.behind),
            start: by.start.or(self.start),
            directory: by.directory.or(self.directory),
            // A variable of the command line replaces the file's variable of the same name.
            env: self.env.into_iter().chain(by.env).collect(),
            env_file: by.env_file.or(self.env_file),
            order: by.order.or(self.order),
            order_body: by.order_body.or(self.order_body),
            order_header: list(self.order_header, by.order_header),
            reference: by.reference.or(self.reference),
            amounts: list(self.amounts, by.amounts),
            events: by.events.or(self.events),
            state: by.state.or(self.state),
            state_command: by.state_command.or(self.state_command),
            delivered: by.delivered.or(self.delivered),
            deliveries_line: by.deliveries_line.or(self.deliveries_line),
            deliveries_file: by.deliveries_file.or(self.deliveries_file),
            deliveries_pointer: by.deliveries_pointer.or(self.deliveries_pointer),
            paid_page: by.paid_page.or(self.paid_page),
            late: by.late.or(self.late),
            polls_within: by.polls_within.or(self.polls_within),
            only: list(self.only, by.only),
            skip: list(self.skip, by.skip),
            jobs: by.jobs.or(self.jobs),
            wait: by.wait.or(self.wait),
            server: by.server.or(self.server),
        }
    }

    pub(crate) fn behind(&self) -> Behind {
        self.behind.unwrap_or_default()
    }

    /// All problems at once.
    pub(crate) fn problems(&self, port: u16) -> Problems {
        let mut found = Problems::new();
        let with_port = |text: &str| text.replace("{port}", &port.to_string());
        match self.order.as_deref().map(with_port) {
            None => found.push("order is needed: \"METHOD URL\" of the request that creates an order".to_owned()),
            Some(order) => {
                let url =
                    order.split_once(' ').filter(|(method, _)| method.bytes().all(|byte| byte.is_ascii_uppercase()));
                match url {
                    Some((_, url)) => found.extend(url_problem("order", url)),
                    None => found.push(format!(
                        "order must be \"METHOD URL\", such as POST http://127.0.0.1:8000/orders; it is {order}"
                    )),
                }
            }
        }
        match (self.behind(), &self.events) {
            (Behind::Server, None) => {
                found.push("events is needed: the URL at which the shop receives events".to_owned())
            }
            (Behind::Server, Some(url)) => found.extend(url_problem("events", &with_port(url))),
            (Behind::Gateway, Some(_)) => {
                found.push(
                    "events must not be set with behind = \"gateway\": the shop sends its callback URL itself"
                        .to_owned(),
                );
            }
            (Behind::Gateway, None) => {}
        }
        match (&self.state, &self.state_command) {
            (None, None) => {
                found.push("state is needed: the URL that shows an order's state, or state_command".to_owned())
            }
            (Some(_), Some(_)) => found.push("state and state_command must not both be set".to_owned()),
            (Some(url), None) if !url.starts_with("{return_url}") => {
                found.extend(url_problem("state", &with_port(url)))
            }
            _ => {}
        }
        match self.delivered.as_deref() {
            None => found.push("delivered is needed: a text, or \"/JSON/pointer = value\"".to_owned()),
            Some(text) if text.trim().is_empty() => found.push("delivered must not be empty".to_owned()),
            Some(text) if text.starts_with('/') && !text.contains(" = ") => {
                found.push(format!(
                    "delivered must be \"/JSON/pointer = value\" if it begins with a slash; it is {text}"
                ));
            }
            Some(_) => {}
        }
        for (name, pointer) in [("reference", &self.reference), ("deliveries_pointer", &self.deliveries_pointer)] {
            if let Some(pointer) = pointer.as_ref().filter(|pointer| !pointer.starts_with('/')) {
                found.push(format!("{name} must be a JSON pointer, which begins with a slash; it is {pointer}"));
            }
        }
        if self.deliveries_line.is_some() && self.deliveries_file.is_none() && self.start.is_none() {
            found.push("deliveries_file is needed with deliveries_line if you start the shop yourself".to_owned());
        }
        if self.jobs == Some(0) {
            found.push("jobs must be at least 1".to_owned());
        }
        if self.wait.is_some_and(|wait| !(0.1..=600.0).contains(&wait)) {
            found.push("wait must be from 0.1 to 600 seconds".to_owned());
        }
        found.extend(
            self.env
                .iter()
                .filter(|pair| !pair.contains('='))
                .map(|pair| format!("env must be NAME=VALUE; it is {pair}")),
        );
        let no_reason =
            self.skip.iter().filter(|skip| skip.split_once(": ").is_none_or(|(_, reason)| reason.trim().is_empty()));
        found.extend(no_reason.map(|skip| format!("skip must be \"NAME: REASON\"; it is {skip}")));
        found
    }

    /// The prefixes of skipped scenarios, with the reasons.
    pub(crate) fn skipped(&self) -> BTreeMap<String, String> {
        let pairs = self.skip.iter().filter_map(|skip| skip.split_once(": "));
        pairs.map(|(name, reason)| (name.to_owned(), reason.to_owned())).collect()
    }
}

fn url_problem(name: &str, url: &str) -> Option<String> {
    // A placeholder stands for a part of a path.
    let plain = url.replace(['{', '}'], "");
    let is_url = Url::parse(&plain).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    (!is_url).then(|| format!("{name} must be an http or https URL; it is {url}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Options {
        Options {
            order: Some("POST http://127.0.0.1:{port}/orders".to_owned()),
            events: Some("http://127.0.0.1:{port}/events".to_owned()),
            state: Some("http://127.0.0.1:{port}/orders/{reference}".to_owned()),
            delivered: Some("/state = delivered".to_owned()),
            ..Options::default()
        }
    }

    #[test]
    fn whole_settings_have_no_problem() {
        assert_eq!(whole().problems(8000), [""; 0]);
        let of_return = Options { state: Some("{return_url}".to_owned()), ..whole() };
        assert_eq!(of_return.problems(8000), [""; 0]);
    }

    #[test]
    fn every_problem_names_its_setting() {
        let wrong = Options {
            order: Some("post 127.0.0.1/orders".to_owned()),
            events: None,
            state_command: Some("cat state".to_owned()),
            delivered: Some("/state".to_owned()),
            reference: Some("id".to_owned()),
            deliveries_line: Some("deliver {reference}".to_owned()),
            env: vec!["PORT".to_owned()],
            skip: vec!["paid".to_owned()],
            jobs: Some(0),
            wait: Some(0.0),
            ..whole()
        };
        let problems = wrong.problems(8000);
        let names: Vec<&str> = problems.iter().filter_map(|problem| problem.split(' ').next()).collect();
        let expected =
            ["order", "events", "state", "delivered", "reference", "deliveries_file", "jobs", "wait", "env", "skip"];
        assert_eq!(names, expected, "{problems:#?}");
    }

    #[test]
    fn flag_overrides_the_file() {
        let file: Options = toml::from_str("jobs = 2\nwait = 3.0\nenv = [\"A=1\"]\nonly = [\"paid\"]").expect("TOML");
        let flags = Options { jobs: Some(9), env: vec!["A=2".to_owned()], ..Options::default() };
        let merged = file.overridden_by(flags);
        assert_eq!((merged.jobs, merged.wait), (Some(9), Some(3.0)));
        assert_eq!(merged.env, ["A=1", "A=2"]);
        assert_eq!(merged.only, ["paid"]);
    }

    #[test]
    fn unknown_setting_of_a_file_is_refused() {
        let error = toml::from_str::<Options>("ordr = \"POST http://127.0.0.1\"").err().expect("refused");
        assert!(error.to_string().contains("ordr"), "{error}");
    }

    #[test]
    fn skipped_scenario_has_its_reason() {
        let options = Options { skip: vec!["shop-killed: no database: an example".to_owned()], ..whole() };
        assert_eq!(options.skipped()["shop-killed"], "no database: an example");
    }
}
