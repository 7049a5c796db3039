//! The settings file: TOML, read key by key, so that each problem has its line, and all are told at once.

use std::path::{Path, PathBuf};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    given::{Given, Said},
    problem::{SettingProblem, Source},
    setting::Setting,
    table::find,
};
use crate::values::{hidden::Hidden, text_file};

/// Reads a file; nothing where none of it could be read.
pub(super) fn read(path: &Path, problems: &mut Vec<SettingProblem>) -> Option<Said> {
    match text_file::read_text(path) {
        Ok(text) => parse(path, &text, problems),
        Err(problem) => {
            problems.push(SettingProblem::at(path.display(), format!("cannot be read: {problem}")));
            None
        }
    }
}

fn parse(path: &Path, text: &str, problems: &mut Vec<SettingProblem>) -> Option<Said> {
    let mut reading = Reading { path, text, said: Said::new(), problems, is_whole: true };
    match DeTable::parse(text) {
        Ok(table) => reading.table("", table.get_ref()),
        Err(problem) => {
            let at = problem.span().map_or(0, |span| span.start);
            let place = format!("{}:{}", reading.place(reading.line(at)), reading.column(at));
            // Not the line itself: a secret may stand in it. The parser's message says what it expected, in its own words alone.
            let rule = format!("is not TOML: {}", problem.message());
            reading.problems.push(SettingProblem::at(place, rule));
            reading.is_whole = false;
        }
    }
    reading.is_whole.then_some(reading.said)
}

struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
    said: Said,
    problems: &'a mut Vec<SettingProblem>,
    is_whole: bool,
}

impl Reading<'_> {
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            let line = self.line(key.span().start);
            match (value.get_ref(), find(&name)) {
                (DeValue::Table(inner), None) if prefix.is_empty() => self.table(&format!("{name}."), inner),
                (_, None) => {
                    let place = format!("{} ({})", shown(&name), self.place(line));
                    self.problems
                        .push(SettingProblem::at(place, "is no setting; `kassa-server --help` names them all"));
                }
                (_, Some(setting)) => self.value(setting, line, value),
            }
        }
    }

    fn value(&mut self, setting: &'static Setting, line: usize, value: &Spanned<DeValue<'_>>) {
        let source = Source::File { path: PathBuf::from(self.path), line };
        match scalar(value.get_ref()) {
            Some(text) => {
                self.said.insert(setting.name, Given { text: Hidden::new(text), source });
            }
            None => {
                let rule = "must be a text in quotes, a number, true or false, or a list of texts";
                self.problems.push(SettingProblem::of(setting, &source, rule));
            }
        }
    }

    fn line(&self, at: usize) -> usize {
        self.text.get(..at).map_or(1, |before| before.matches('\n').count() + 1)
    }

    /// In characters, from 1.
    fn column(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        before.rsplit('\n').next().map_or(1, |line| line.chars().count() + 1)
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }
}

/// A value as a variable or a flag would have it.
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

/// A key that nobody knows, shortened: it may be anything.
fn shown(name: &str) -> String {
    name.chars().take(60).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Said, Vec<String>) {
        let mut problems = Vec::new();
        let said = parse(Path::new("k.toml"), text, &mut problems);
        (said.unwrap_or_default(), problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_it_says_has_its_line() {
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
    fn all_mistakes_are_told_and_no_value() {
        let (_, problems) = read_text(
            "lisen = 'hunter2'\nlog = 2026-11-28\n[gateway]\nurl = {hunter2 = 1}\nx.y = 1\n[[limits]]\nper_token = 1\n",
        );
        let expected = [
            "gateway.url (k.toml:4) must be",
            "gateway.x (k.toml:5) is no setting",
            "limits (k.toml:6) is no setting",
            "lisen (k.toml:1) is no setting",
            "log (k.toml:2) must be",
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
