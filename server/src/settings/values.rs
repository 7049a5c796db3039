//! Given values, by precedence: a flag over a variable over the file over the default; and their problems, all at once.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    database_place,
    problem::{SettingProblem, Source},
    sources::{self, FileValues, RawValue, RawValues, Sources},
    suggestions,
    table::{IfUnset, SETTINGS, Setting, Visibility},
};
use crate::values::{Hidden, text_file};

/// The longest file with a secret that is read.
const LONGEST_SECRET: u64 = 64 * 1024;
const PREFIX: &str = "KASSA_SERVER_";

/// The problem was recorded already.
#[derive(Clone, Copy, Debug)]
pub(super) struct AlreadyReported;

/// A setting that was read, or is wrong.
pub(super) type Parsed<T> = Result<T, AlreadyReported>;

/// The given values, and the problems found so far.
pub(super) struct Values {
    given: RawValues,
    /// Whether the settings file could not be read: settings that are missing elsewhere may be in it.
    has_unread_file: bool,
    /// Settings that a place with a problem of its own probably means.
    meant: BTreeSet<&'static str>,
    /// Misspelt variables, by the setting that each probably means.
    misspelt: BTreeMap<&'static str, String>,
    pub(super) problems: Vec<SettingProblem>,
    pub(super) warnings: Vec<String>,
}

impl Values {
    /// Collects what is given. Later ones win.
    pub(super) fn collect(sources: &Sources) -> Self {
        let mut values = Self {
            given: RawValues::new(),
            has_unread_file: false,
            meant: BTreeSet::new(),
            misspelt: BTreeMap::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        if let Some(path) = &sources.file {
            let said = sources::read(path, &mut values.problems);
            values.has_unread_file = said.is_none();
            FileValues { given: values.given, meant: values.meant } = said.unwrap_or_default();
            if values.given.keys().any(|name| SETTINGS.iter().any(|one| one.name == *name && one.is_secret())) {
                values.warn_of_readers(path);
            }
        }
        for setting in SETTINGS {
            if let Some(value) = sources.variable(setting.variable) {
                values.take(setting, value, Source::Variable(setting.variable));
            }
            if let (Some(flag), Some(value)) = (setting.flag, sources.flags.get(setting.name)) {
                values.take(setting, value, Source::Flag(flag));
            }
        }
        values.warn_of_unknown(sources);
        values
    }

    fn take(&mut self, setting: &'static Setting, value: &OsString, source: Source) {
        match value.to_str() {
            Some(text) => {
                self.given.insert(setting.name, RawValue { text: Hidden::new(text), source });
            }
            None => {
                self.problems.push(SettingProblem::of(setting, &source, "must be UTF-8"));
                self.meant.insert(setting.name);
            }
        }
    }

    /// Warns of unknown variables, because a misspelt one has no effect. Those that orchestrators set for a
    /// service of this name are ignored.
    fn warn_of_unknown(&mut self, sources: &Sources) {
        let is_known = |name: &str| name == "KASSA_SERVER_CONFIG" || SETTINGS.iter().any(|one| one.variable == name);
        let is_theirs =
            |name: &str| ["KASSA_SERVER_SERVICE_", "KASSA_SERVER_PORT"].iter().any(|it| name.starts_with(it));
        let names = sources.variables.keys().filter_map(|name| name.to_str());
        for name in names.filter(|name| name.starts_with(PREFIX) && !is_known(name) && !is_theirs(name)) {
            let meant = suggestions::variable(name);
            let suggestion = meant.map(|setting| format!("; did you mean {}?", setting.variable)).unwrap_or_default();
            self.warnings
                .push(format!("the environment variable {name} matches no setting and has no effect{suggestion}"));
            if let Some(setting) = meant {
                self.misspelt.insert(setting.name, name.to_owned());
            }
        }
    }

    /// A setting with a default, or a required one.
    pub(super) fn read<T>(
        &mut self,
        setting: &'static Setting,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Parsed<T> {
        match self.optional(setting, parse)? {
            Some(value) => Ok(value),
            None => Err(self.missing(setting, "")),
        }
    }

    /// An optional setting.
    pub(super) fn optional<T>(
        &mut self,
        setting: &'static Setting,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Parsed<Option<T>> {
        let Some(given) = self.given(setting) else { return Ok(None) };
        match parse(given.text.expose()) {
            Ok(value) => Ok(Some(value)),
            Err(rule) => Err(self.wrong(setting, rule)),
        }
    }

    /// The text of the file that a setting names, if it is set.
    pub(super) fn file(&mut self, setting: &'static Setting) -> Parsed<Option<String>> {
        self.optional(setting, |path| {
            text_file::read_text(Path::new(path))
                .map_err(|problem| format!("names a file that cannot be read: {problem}"))
        })
    }

    /// A secret, given directly or in a file of its own: the one from the stronger source counts.
    pub(super) fn secret<T>(
        &mut self,
        itself: &'static Setting,
        in_file: &'static Setting,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Parsed<Option<T>> {
        let rank = |given: Option<RawValue>| given.map_or(0, |given| given.source.rank());
        let ranks = (rank(self.given(itself)), rank(self.given(in_file)));
        if ranks.0 == ranks.1 && ranks.0 > 0 {
            return Err(
                self.wrong(in_file, format!("must not be set together with {} in the same source", itself.name))
            );
        }
        if ranks.0 >= ranks.1 {
            return self.optional(itself, parse);
        }
        if let Some(given) = self.given(in_file) {
            self.warn_of_readers(Path::new(given.text.expose()));
        }
        self.optional(in_file, |path| {
            let text = secret_in(Path::new(path))?;
            // Editors end a file with a line break.
            parse(text.trim_end_matches(['\r', '\n'])).map_err(|rule| format!("names a file whose content {rule}"))
        })
    }

    pub(super) fn given(&self, setting: &'static Setting) -> Option<RawValue> {
        let default = |text: &str| RawValue { text: Hidden::new(text), source: Source::Default };
        self.given.get(setting.name).cloned().or(match setting.if_unset {
            IfUnset::Value(text) => Some(default(text)),
            IfUnset::Nothing(_) | IfUnset::Needed => None,
        })
    }

    pub(super) fn is_given(&self, setting: &'static Setting) -> bool {
        self.given.contains_key(setting.name)
    }

    /// Records that a value cannot be used.
    pub(super) fn wrong(&mut self, setting: &'static Setting, rule: impl Into<String>) -> AlreadyReported {
        let source = self.given(setting).map_or(Source::Default, |given| given.source);
        self.problems.push(SettingProblem::of(setting, &source, rule));
        AlreadyReported
    }

    /// Records that one is missing, unless that follows from a recorded problem: it may be in a file that could not be read, or
    /// in a line with a misspelt name.
    pub(super) fn missing(&mut self, setting: &'static Setting, why: &str) -> AlreadyReported {
        let in_file = format!("{}_file", setting.name);
        let is_meant = self.meant.iter().any(|name| *name == setting.name || *name == in_file);
        if self.has_unread_file || is_meant {
            return AlreadyReported;
        }
        let by_variable = |name: &str| self.misspelt.get(name).map(|variable| (variable.clone(), name.to_uppercase()));
        self.problems.push(match by_variable(setting.name).or_else(|| by_variable(&in_file)) {
            Some((variable, meant)) => {
                let rule = format!("matches no setting; did you mean {PREFIX}{}?", meant.replace('.', "_"));
                SettingProblem::at(format!("the environment variable {variable}"), rule)
            }
            None => SettingProblem::missing(setting, why),
        });
        AlreadyReported
    }

    /// Warns if other users can read a file with a secret.
    pub(super) fn warn_of_readers(&mut self, path: &Path) {
        if is_readable_by_all(path) {
            let path = PathBuf::from(path);
            self.warnings.push(format!(
                "every user of this machine can read {path}, which contains a secret: chmod o= {path}",
                path = path.display()
            ));
        }
    }

    /// The given settings in printable form: name, value, place.
    pub(super) fn shown(&self) -> Vec<(&'static str, String, String)> {
        let rows = SETTINGS.iter().filter_map(|setting| Some((setting, self.given.get(setting.name)?)));
        rows.map(|(setting, given)| (setting.name, shown(setting, given.text.expose()), given.source.to_string()))
            .collect()
    }
}

fn secret_in(path: &Path) -> Result<String, String> {
    let unreadable = |problem: std::io::Error| format!("names a file that cannot be read: {problem}");
    if fs::metadata(path).map_err(unreadable)?.len() > LONGEST_SECRET {
        return Err("names a file that is too long to contain only a secret".to_owned());
    }
    text_file::read_text(path).map_err(unreadable)
}

fn shown(setting: &Setting, text: &str) -> String {
    match setting.shown {
        Visibility::Whole => text.to_owned(),
        Visibility::Origin => url::Url::parse(text).map_or_else(|_| "(an address)".to_owned(), |url| origin(&url)),
        Visibility::Place => database_place::shown(text),
        Visibility::Hidden => "(hidden)".to_owned(),
    }
}

fn origin(url: &url::Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let rest = if url.path().len() > 1 || url.query().is_some() { "/..." } else { "" };
    format!("{}://{}{port}{rest}", url.scheme(), url.host_str().unwrap_or_default())
}

#[cfg(unix)]
fn is_readable_by_all(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_all(_: &Path) -> bool {
    false
}

// Durations as people write them: `15m`, `1h30m`, `60s`, `500ms`.

const SENTENCE: &str = "must be a duration with its unit, such as 500ms, 60s, 15m, 1h30m or 2d";

/// Reads a duration: whole numbers, each with its unit, from the largest to the smallest.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let mut rest = text;
    let (mut total, mut last) = (0_u64, u64::MAX);
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        let letters = after.len() - after.trim_start_matches(|c: char| c.is_ascii_lowercase()).len();
        let (unit, after) = after.split_at(letters);
        let unit = unit_ms(unit).filter(|unit| *unit < last).ok_or(SENTENCE)?;
        let number: u64 = number.parse().map_err(|_| SENTENCE)?;
        total = number.checked_mul(unit).and_then(|time| time.checked_add(total)).ok_or("is too long")?;
        (rest, last) = (after, unit);
    }
    if text.is_empty() { Err(SENTENCE.to_owned()) } else { Ok(Duration::from_millis(total)) }
}

fn unit_ms(unit: &str) -> Option<u64> {
    Some(match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    })
}

/// A duration within limits, which are written like the setting.
pub(super) fn within(least: &'static str, most: &'static str) -> impl Fn(&str) -> Result<Duration, String> {
    move |text| {
        let time = parse(text)?;
        if parse(least).is_ok_and(|least| time < least) || parse(most).is_ok_and(|most| time > most) {
            return Err(format!("must be from {least} to {most}"));
        }
        Ok(time)
    }
}

#[cfg(test)]
mod time_tests {
    use super::*;

    #[test]
    fn duration_setting_requires_unit() {
        for (text, ms) in [("500ms", 500), ("60s", 60_000), ("15m", 900_000), ("1h30m", 5_400_000), ("2d", 172_800_000)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "15", "m", "15 m", "1.5h", "-1s", "30m1h", "1h1h", "15M", "s15", "15mm", "１５m"] {
            assert_eq!(parse(text), Err(SENTENCE.to_owned()), "{text}");
        }
        assert!(parse("213503982335d").is_err_and(|text| text == "is too long"));
        assert_eq!(within("1s", "1h")("1h1ms"), Err("must be from 1s to 1h".to_owned()));
        assert!(within("1s", "1h")("1h").is_ok());
    }
}
