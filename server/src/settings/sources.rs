//! The sources of settings: flags, then environment variables, then a file.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsString,
    net::SocketAddr,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use strum::IntoEnumIterator;
use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};
use url::Url;

use super::{
    problem::{SettingProblem, Source},
    suggestions,
    table::{Setting, find},
    toml_error,
};
use crate::{
    events::EventKind,
    values::{Hidden, text_file},
};

/// The settings given to the program, unparsed.
pub struct Sources {
    /// The settings file, if there is one.
    pub file: Option<PathBuf>,
    /// The environment.
    pub variables: BTreeMap<OsString, OsString>,
    /// The values of flags, by the names of settings.
    pub flags: BTreeMap<&'static str, OsString>,
}

impl Sources {
    /// Only the environment.
    pub fn of_environment() -> Self {
        Self { file: None, variables: env::vars_os().collect(), flags: BTreeMap::new() }
    }

    /// A variable's value; an empty one counts as not set.
    pub(super) fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(&OsString::from(name)).filter(|value| !value.is_empty())
    }
}

// The settings file: TOML, read key by key, so that each problem has its line, and all are reported at once.

/// The values of a settings file.
#[derive(Debug, Default)]
pub(super) struct FileValues {
    pub(super) given: RawValues,
    /// Settings that a line with a problem probably means. Reporting them as missing would repeat that problem.
    pub(super) meant: BTreeSet<&'static str>,
}

/// Reads a file; `None` if nothing could be read.
pub(super) fn read(path: &Path, problems: &mut Vec<SettingProblem>) -> Option<FileValues> {
    match text_file::read_text(path) {
        Ok(text) => parse(path, &text, problems),
        Err(problem) => {
            problems.push(SettingProblem::at(path.display(), format!("cannot be read: {problem}")));
            None
        }
    }
}

fn parse(path: &Path, text: &str, problems: &mut Vec<SettingProblem>) -> Option<FileValues> {
    let mut reading = Reading { path, text, said: FileValues::default(), problems };
    match DeTable::parse(text) {
        Ok(table) => {
            reading.file(table.get_ref());
            Some(reading.said)
        }
        Err(problem) => {
            let at = problem.span().map_or(0, |span| span.start);
            let place = format!("{}:{}", reading.place(reading.line(at)), reading.column(at));
            // Only the first one: the parser's other errors often follow from it.
            let rule = format!("is not TOML: {}", toml_error::explain(text, at, problem.message()));
            reading.problems.push(SettingProblem::at(place, rule));
            None
        }
    }
}

struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
    said: FileValues,
    problems: &'a mut Vec<SettingProblem>,
}

impl Reading<'_> {
    fn file(&mut self, file: &DeTable<'_>) {
        for (key, value) in in_order(file) {
            let (name, line) = (&**key.get_ref(), self.line(key.span().start));
            match value.get_ref() {
                DeValue::Table(inner) if suggestions::has_table(name) => self.table(name, inner),
                DeValue::Table(inner) if find(name).is_none() => self.unknown_table(name, line, inner),
                _ if suggestions::has_table(name) => {
                    let rule = format!("must be a table: [{name}] on a line of its own, and its settings below it");
                    self.wrong(name, line, rule);
                    self.said.meant.extend(suggestions::in_table(name));
                }
                _ => self.setting(name, line, value),
            }
        }
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in in_order(table) {
            let line = self.line(key.span().start);
            self.setting(&format!("{prefix}.{}", key.get_ref()), line, value);
        }
    }

    /// A table with an unknown name, whose settings may still be valid.
    fn unknown_table(&mut self, name: &str, line: usize, inner: &DeTable<'_>) {
        let Some(meant) = suggestions::table(name) else { return self.table(name, inner) };
        self.wrong(name, line, format!("is no table of settings; did you mean [{meant}]?"));
        let settings = inner.iter().filter_map(|(key, _)| suggestions::moved_to(key.get_ref(), meant));
        self.said.meant.extend(settings.map(|setting| setting.name));
    }

    fn setting(&mut self, name: &str, line: usize, value: &Spanned<DeValue<'_>>) {
        match (find(name), suggestions::setting(name)) {
            (Some(setting), _) => self.value(setting, line, value),
            (None, Some(meant)) => {
                let is_below_a_table = name.contains('.') && !meant.name.contains('.');
                let place = if is_below_a_table { ", above the first [table] of the file" } else { "" };
                self.wrong(name, line, format!("is no setting; did you mean `{}`{place}?", meant.name));
                self.said.meant.insert(meant.name);
            }
            (None, None) => {
                self.wrong(name, line, "is no setting; `kassa-server --help` lists all settings".to_owned())
            }
        }
    }

    fn wrong(&mut self, name: &str, line: usize, rule: String) {
        let place = format!("{} ({})", shown(name), self.place(line));
        self.problems.push(SettingProblem::at(place, rule));
    }

    fn value(&mut self, setting: &'static Setting, line: usize, value: &Spanned<DeValue<'_>>) {
        let source = Source::File { path: PathBuf::from(self.path), line };
        match scalar(value.get_ref()) {
            Some(text) => {
                self.said.given.insert(setting.name, RawValue { text: Hidden::new(text), source });
            }
            None => {
                let rule = "must be a string in quotes, a number, true or false, or a list of strings";
                self.problems.push(SettingProblem::of(setting, &source, rule));
                self.said.meant.insert(setting.name);
            }
        }
    }

    fn line(&self, at: usize) -> usize {
        self.text.get(..at).map_or(1, |before| before.matches('\n').count() + 1)
    }

    /// The column, in characters, from 1.
    fn column(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        before.rsplit('\n').next().map_or(1, |line| line.chars().count() + 1)
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }
}

/// The keys of a table as the file has them, from its first line to its last.
fn in_order<'a, 'b>(table: &'a DeTable<'b>) -> Vec<(&'a Spanned<DeString<'b>>, &'a Spanned<DeValue<'b>>)> {
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    keys
}

/// A value in the form of a variable or flag.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Boolean(is_so) => Some(is_so.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Array(values) => {
            let texts = values.iter().map(|value| value.get_ref().as_str());
            texts.collect::<Option<Vec<_>>>().map(|texts| texts.join(","))
        }
        _ => None,
    }
}

/// An unknown key, shortened: it may be anything.
fn shown(name: &str) -> String {
    name.chars().take(60).flat_map(char::escape_debug).collect()
}

// A given value, and its source.

/// A value, unread. It may be a secret, so `Debug` prints nothing of it.
#[derive(Clone, Debug)]
pub(super) struct RawValue {
    pub(super) text: Hidden,
    pub(super) source: Source,
}

/// Given values, by the names of settings.
pub(super) type RawValues = BTreeMap<&'static str, RawValue>;

// Parsers of values other than durations.

/// An address to listen on.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "must be an IP address and a port, such as 127.0.0.1:8080 or [::]:8080".to_owned())
}

/// A whole number within limits.
pub(super) fn count(limits: RangeInclusive<u32>) -> impl Fn(&str) -> Result<u32, String> {
    move |text| {
        let number = text.parse().ok().filter(|number| limits.contains(number));
        number.ok_or_else(|| format!("must be a whole number from {} to {}", limits.start(), limits.end()))
    }
}

/// A share of a whole.
pub(super) fn ratio(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "must be a number from 0 to 1, such as 0.01".to_owned())
}

/// Parses true or false.
pub(super) fn is_so(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}

/// Event kinds, separated by commas.
pub(super) fn event_kinds(text: &str) -> Result<Vec<EventKind>, String> {
    let mut kinds = Vec::new();
    for (at, name) in text.split(',').map(str::trim).enumerate() {
        match name.parse::<EventKind>() {
            Ok(kind) if kinds.contains(&kind) => {}
            Ok(kind) => kinds.push(kind),
            Err(_) => return Err(unknown_kind(at, name)),
        }
    }
    Ok(kinds)
}

/// A value that does not look like a kind may be a secret in the wrong place, and is not repeated.
fn unknown_kind(at: usize, name: &str) -> String {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let looks_like_one = |(about, what): (&str, &str)| is_word(about) && is_word(what) && name.len() <= 40;
    let which = match name.split_once('.').is_some_and(looks_like_one) {
        true => name.to_owned(),
        false => format!("number {} of the list", at + 1),
    };
    let all = EventKind::iter().map(EventKind::name).collect::<Vec<_>>().join(", ");
    format!("must be a comma-separated list of event kinds, and {which} is none; there are {all}")
}

/// The server's own address, without the slash at its end.
pub(super) fn public_url(text: &str) -> Result<String, String> {
    let is_plain = |url: &Url| {
        let has_user = !url.username().is_empty() || url.password().is_some();
        url.has_host() && !has_user && url.query().is_none() && url.fragment().is_none()
    };
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && is_plain(&url) => {
            Ok(url.as_str().trim_end_matches('/').to_owned())
        }
        _ => Err("must be an http or https URL without user, query and fragment".to_owned()),
    }
}

/// A path of visible characters.
pub(super) fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err("must name a file".to_owned());
    }
    Ok(text.into())
}

/// Parses true or false.
pub(super) fn yes_or_no(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}

#[cfg(test)]
mod file_tests {
    use super::*;

    fn read_text(text: &str) -> (RawValues, Vec<String>) {
        let mut problems = Vec::new();
        let said = parse(Path::new("k.toml"), text, &mut problems);
        (said.unwrap_or_default().given, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn settings_file_value_keeps_its_line_number() {
        let text = "listen = '[::1]:80'\npoll_workers = 7\nproxies = ['10.0.0.1', '10.1.0.0/16']\n\n[gateway]\nlogin = \
             \"shop\"\n";
        let (said, problems) = read_text(text);
        assert_eq!(problems, [""; 0]);
        let found = said.iter().map(|(name, given)| (*name, given.text.expose(), given.source.to_string()));
        let expected = [
            ("gateway.login", "shop", "k.toml:6"),
            ("listen", "[::1]:80", "k.toml:1"),
            ("poll_workers", "7", "k.toml:2"),
            ("proxies", "10.0.0.1,10.1.0.0/16", "k.toml:3"),
        ];
        assert!(found.eq(expected.map(|(name, text, place)| (name, text, place.to_owned()))), "{said:?}");
    }

    #[test]
    fn settings_file_errors_hide_values() {
        let (_, problems) = read_text(
            "lisen = 'hunter2'\nlog = 2026-11-28\n[gateway]\nurl = {hunter2 = 1}\nx.y = 1\n[[limits]]\nper_token = 1\n",
        );
        let expected = [
            "lisen (k.toml:1) is no setting; did you mean `listen`?",
            "log (k.toml:2) must be",
            "gateway.url (k.toml:4) must be",
            "gateway.x (k.toml:5) is no setting",
            "limits (k.toml:6) must be a table: [limits] on a line of its own",
        ];
        assert!(problems.iter().zip(expected).all(|(problem, start)| problem.starts_with(start)), "{problems:?}");
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (text, start) in [
            ("listen = 'x'\n[gateway]\npassword = \"hunter2\n", "k.toml:3:"),
            ("listen = 'x'\nlogin = hunter2\n", "k.toml:2:9 "),
            ("listen = 'x'\n[gateway\npassword = 'hunter2'\n", "k.toml:2:"),
            ("listen = 'x'\nlisten = 'hunter2'\n", "k.toml:2:1 "),
        ] {
            let (said, problems) = read_text(text);
            let problem = problems.first().map(String::as_str).unwrap_or_default();
            assert!(problem.starts_with(start) && said.is_empty(), "{text}: {problems:?}");
            let why = problem.split_once(" is not TOML: ").map_or("", |(_, why)| why);
            assert!(why.len() > 5 && !problem.contains("hunter2") && problems.len() == 1, "{problems:?}");
        }
    }
}

#[cfg(test)]
mod parse_tests {
    use super::*;

    #[test]
    fn event_kinds_list_rejects_unknown_kind() {
        let both = [EventKind::CheckoutPaid, EventKind::PaymentStuck];
        assert_eq!(event_kinds("checkout.paid, payment.stuck,checkout.paid").unwrap(), both);
        let error = event_kinds("checkout.paid,checkout.payd").unwrap_err();
        assert!(error.contains("checkout.payd is none; there are checkout.paid, checkout.expired"), "{error}");
        for text in ["", "checkout.paid,", "Hunter2", "hunter.Two", "."] {
            let error = event_kinds(text).unwrap_err();
            assert!(error.contains(" of the list is none") && !error.contains("unter"), "{error}");
        }
    }
}
